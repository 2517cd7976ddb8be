//! What every action does to the text.

use super::buffer::EditKind;
use super::keymap::Action;
use super::kill::Side;
use super::{Editor, Last, Reaction, Run, Walk};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Vertical {
    Up,
    Down,
}

impl Editor {
    pub(super) fn perform(&mut self, action: Action) -> Reaction {
        let at = self.buffer.cursor();
        match action {
            Action::Submit if self.buffer.before().ends_with('\\') && self.buffer.line_end(at) == at => {
                self.buffer.replace(EditKind::Alone, at - 1..at, "\n");
                self.changed()
            }
            Action::Submit => self.submit(Reaction::Submit),
            Action::FollowUp => self.submit(Reaction::FollowUp),
            Action::Now => self.submit(Reaction::Now),
            Action::Newline => self.insert(EditKind::Alone, "\n"),
            Action::Cancel => Reaction::Cancel,
            Action::Complete => self.completion().map_or(Reaction::None, Reaction::Complete),
            Action::MoveUp => self.vertical(Vertical::Up),
            Action::MoveDown => self.vertical(Vertical::Down),
            Action::DeleteLeft => self.erase(self.buffer.previous(at)..at),
            Action::DeleteRight => self.erase(at..self.buffer.next(at)),
            Action::DeleteWordLeft => self.kill(self.buffer.word_left(at), Side::Left),
            Action::KillBlankLeft => self.kill(self.buffer.blank_left(at), Side::Left),
            Action::DeleteWordRight => self.kill(self.buffer.word_right(at), Side::Right),
            Action::KillToStart => match self.buffer.line_start(at) {
                start if start == at => self.kill(self.buffer.previous(at), Side::Left),
                start => self.kill(start, Side::Left),
            },
            Action::KillLine => match self.buffer.line_end(at) {
                end if end == at => self.kill(self.buffer.next(at), Side::Right),
                end => self.kill(end, Side::Right),
            },
            Action::Yank => self.yank(),
            Action::YankPop => self.yank_pop(),
            Action::Undo => self.travelled(super::Buffer::undo),
            Action::Redo => self.travelled(super::Buffer::redo),
            Action::HistoryPrevious => self.history_previous(),
            Action::HistoryNext => self.history_next(),
            Action::HistorySearch => self.begin_search(),
            Action::External => Reaction::External,
            Action::MoveLeft => self.go(self.buffer.previous(at)),
            Action::MoveRight => self.go(self.buffer.next(at)),
            Action::WordLeft => self.go(self.buffer.word_left(at)),
            Action::WordRight => self.go(self.buffer.word_right(at)),
            Action::LineStart => self.go(self.buffer.line_start(at)),
            Action::LineEnd => self.go(self.buffer.line_end(at)),
            Action::TextStart => self.go(0),
            Action::TextEnd => self.go(self.buffer.text().len()),
        }
    }

    pub(super) fn go(&mut self, to: usize) -> Reaction {
        self.column = None;
        self.last = Last::Other;
        self.buffer.move_to(to);
        Reaction::Changed
    }

    fn erase(&mut self, range: std::ops::Range<usize>) -> Reaction {
        if range.is_empty() {
            return Reaction::None;
        }
        self.buffer.replace(EditKind::Erase, range, "");
        self.changed()
    }

    fn kill(&mut self, to: usize, side: Side) -> Reaction {
        let at = self.buffer.cursor();
        let range = at.min(to)..at.max(to);
        let run = if self.last == Last::Kill { Run::Next } else { Run::First };
        self.kills.kill(self.buffer.text().get(range.clone()).unwrap_or_default(), side, run);
        self.buffer.replace(EditKind::Alone, range, "");
        let reaction = self.changed();
        self.last = Last::Kill;
        reaction
    }

    fn yank(&mut self) -> Reaction {
        let Some(text) = self.kills.newest().map(str::to_owned) else { return Reaction::None };
        let at = self.buffer.cursor();
        let reaction = self.insert(EditKind::Alone, &text);
        self.last = Last::Yank(at);
        reaction
    }

    fn yank_pop(&mut self) -> Reaction {
        let Last::Yank(start) = self.last else { return Reaction::None };
        let Some(text) = self.kills.turn().map(str::to_owned) else { return Reaction::None };
        self.buffer.replace(EditKind::Alone, start..self.buffer.cursor(), &text);
        let reaction = self.changed();
        self.last = Last::Yank(start);
        reaction
    }

    fn travelled(&mut self, travel: impl FnOnce(&mut super::Buffer) -> bool) -> Reaction {
        match travel(&mut self.buffer) {
            true => {
                self.settle();
                Reaction::Changed
            }
            false => Reaction::None,
        }
    }

    fn vertical(&mut self, vertical: Vertical) -> Reaction {
        let layout = self.layout(self.view.get().width);
        let target = match vertical {
            Vertical::Up => layout.row.checked_sub(1),
            Vertical::Down => Some(layout.row + 1).filter(|row| *row < layout.height()),
        };
        let column = self.column.unwrap_or(layout.column);
        match (target.and_then(|row| layout.position(row, column)), vertical) {
            (Some(to), _) => {
                let walk = self.walk.take();
                let reaction = self.go(to);
                self.column = Some(column);
                self.walk = walk;
                reaction
            }
            (None, Vertical::Up) => self.history_previous(),
            (None, Vertical::Down) => self.history_next(),
        }
    }

    fn history_previous(&mut self) -> Reaction {
        let walk = self.walk.take().unwrap_or_else(|| {
            let stash = self.buffer.text().to_owned();
            Walk { prefix: stash.clone(), stash, at: self.history.entries().len() }
        });
        let found = self.history.older(walk.at, &walk.prefix).map(|(at, entry)| (at, entry.to_owned()));
        match found {
            Some((at, entry)) => {
                self.set_text(&entry);
                self.walk = Some(Walk { at, ..walk });
                Reaction::Changed
            }
            None => {
                self.walk = Some(walk).filter(|walk| walk.at < self.history.entries().len());
                Reaction::None
            }
        }
    }

    fn history_next(&mut self) -> Reaction {
        let Some(walk) = self.walk.take() else { return Reaction::None };
        let found = self.history.newer(walk.at, &walk.prefix).map(|(at, entry)| (at, entry.to_owned()));
        match found {
            Some((at, entry)) => {
                self.set_text(&entry);
                self.walk = Some(Walk { at, ..walk });
            }
            None => {
                // The stash may hold chips, which set_text would not let in.
                self.buffer.replace(EditKind::Alone, 0..self.buffer.text().len(), &walk.stash);
                self.settle();
            }
        }
        Reaction::Changed
    }
}
