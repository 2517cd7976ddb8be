//! What is finished leaves here: lines and the pictures among them, once and in
//! order, with space between things of different kinds. Also remarks that stay
//! for a moment.

use rein_protocol::Content;

use super::{Effect, Kind, Model, REMARK};
use crate::graphics::{Graphics, Placed};
use crate::line::Line;
use crate::view;

impl Model {
    /// The pictures among the finished lines, as they were last taken.
    pub fn take_pictures(&mut self) -> Vec<Placed> {
        match self.overlay {
            Some(_) => Vec::new(),
            None => std::mem::take(&mut self.pictures),
        }
    }

    /// Reserves lines for a picture, if the terminal can show it.
    pub(super) fn show_picture(&mut self, bytes: &[u8]) {
        let Some((rows, sequence)) = self.graphics.place(bytes, self.size.columns, self.size.rows) else {
            return;
        };
        self.commit(Kind::Card, vec![Line::empty(); usize::from(rows)]);
        if let Some(line) = self.committed.len().checked_sub(1) {
            self.pictures.push(Placed { line, rows, sequence });
        }
    }

    /// Pictures that are worth being fetched.
    pub(crate) fn pictures_of(&self, content: &[Content]) -> Vec<Effect> {
        if self.graphics == Graphics::None {
            return Vec::new();
        }
        let blob = |piece: &Content| match piece {
            Content::Image { blob, .. } => Some(Effect::FetchPicture(blob.clone())),
            Content::Text { .. } => None,
        };
        content.iter().filter_map(blob).collect()
    }

    /// The finished lines since the last time. While something covers the screen they wait.
    pub fn take_committed(&mut self) -> Vec<Line> {
        self.settle();
        match self.overlay {
            Some(_) => Vec::new(),
            None => std::mem::take(&mut self.committed),
        }
    }

    /// Puts finished lines out for good.
    pub(crate) fn commit(&mut self, kind: Kind, lines: Vec<Line>) {
        if lines.is_empty() {
            return;
        }
        self.flush_fold();
        self.put(kind, lines);
    }

    fn put(&mut self, kind: Kind, lines: Vec<Line>) {
        let apart = match (self.last, kind) {
            (Kind::Nothing, _) => false,
            (Kind::Card, Kind::Card) | (Kind::Note, Kind::Note) => false,
            (_, _) => true,
        };
        if apart {
            self.committed.push(Line::empty());
        }
        self.commit_more(lines);
        self.last = kind;
    }

    /// More of the words that were put out last.
    pub(crate) fn commit_more(&mut self, lines: Vec<Line>) {
        let columns = usize::from(self.size.columns);
        self.committed.extend(lines.into_iter().map(|line| line.truncated(columns, "…")));
    }

    pub(crate) fn flush_fold(&mut self) {
        let fold = std::mem::take(&mut self.fold);
        let lines = view::card::folded(&fold, self.size.columns);
        if !lines.is_empty() {
            self.put(Kind::Card, lines);
        }
    }

    pub(crate) fn note(&mut self, lines: Vec<Line>) {
        self.commit(Kind::Note, lines);
    }

    pub(crate) fn note_error(&mut self, message: &str) {
        let lines = view::note::error(message, None, self.size.columns);
        self.note(lines);
    }

    pub(crate) fn remark(&mut self, text: impl Into<String>) {
        self.remark = Some((text.into(), self.now + REMARK));
    }
}
