//! What covers the screen for a while: a text to read, or a list to choose from.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};
use rein_protocol::{Mode, ModelRef, SessionId, SessionInfo, Timestamp};

use super::input::Input;
use crate::line::Line;
use crate::neutral::neutral_line;
use crate::picker::{self, Item, Picker, PickerReaction};

/// Something that covers the screen.
pub(crate) enum Overlay {
    /// To read.
    Pager(Pager),
    /// To choose from.
    List(Box<Picker<Choice>>),
}

impl std::fmt::Debug for Overlay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Pager(pager) => pager.fmt(f),
            Self::List(list) => f.debug_tuple("List").field(&list.filter()).finish(),
        }
    }
}

/// A text to read and search.
#[derive(Debug)]
pub(crate) struct Pager {
    pub(crate) title: String,
    pub(crate) lines: Vec<Line>,
    /// The first line shown.
    pub(crate) top: usize,
    /// What is searched for while it is being written.
    pub(crate) search: Option<Input>,
    /// What was searched for last.
    pub(crate) sought: String,
    pub(crate) remark: String,
    /// The same text folded or unfolded, whichever is not shown.
    pub(crate) other: Vec<Line>,
}

/// What was chosen.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Choice {
    Session(SessionId),
    Model(ModelRef),
    Mode(Mode),
}

/// What a key led to.
#[derive(Debug, PartialEq)]
pub(crate) enum Outcome {
    Stays,
    Closes,
    Chose(Choice),
}

impl Overlay {
    pub(crate) fn pager(title: &str, lines: Vec<Line>, height: u16) -> Self {
        let top = lines.len().saturating_sub(page(height));
        Self::Pager(Pager { top, ..Pager::new(title, lines) })
    }

    /// A text that can be unfolded.
    pub(crate) fn folding_pager(title: &str, lines: Vec<Line>, other: Vec<Line>, height: u16) -> Self {
        let mut overlay = Self::pager(title, lines, height);
        if let Self::Pager(pager) = &mut overlay {
            pager.other = other;
        }
        overlay
    }

    pub(crate) fn text(title: &str, lines: Vec<Line>) -> Self {
        Self::Pager(Pager::new(title, lines))
    }

    pub(crate) fn list(title: &str, items: Vec<Item<Choice>>) -> Self {
        Self::List(Box::new(Picker::new(title, items, picker::Choice::One)))
    }

    pub(crate) fn key(&mut self, key: KeyEvent, height: u16) -> Outcome {
        match self {
            Self::Pager(pager) => pager.key(key, height),
            Self::List(list) => match list.handle(key) {
                PickerReaction::None | PickerReaction::Changed => Outcome::Stays,
                PickerReaction::Cancel => Outcome::Closes,
                PickerReaction::Chosen(places) => {
                    let chosen = places.first().and_then(|place| list.items().get(*place));
                    chosen.map_or(Outcome::Closes, |item| Outcome::Chose(item.value.clone()))
                }
            },
        }
    }
}

/// Rows of text on a screen: one is the title's, one the foot's.
pub(crate) fn page(height: u16) -> usize {
    usize::from(height).saturating_sub(2).max(1)
}

impl Pager {
    fn new(title: &str, lines: Vec<Line>) -> Self {
        Self {
            title: title.to_owned(),
            lines,
            top: 0,
            search: None,
            sought: String::new(),
            remark: String::new(),
            other: Vec::new(),
        }
    }

    fn key(&mut self, key: KeyEvent, height: u16) -> Outcome {
        let page = page(height);
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if let Some(input) = &mut self.search {
            match key.code {
                KeyCode::Enter => {
                    self.sought = input.text().to_lowercase();
                    self.search = None;
                    self.find(1);
                }
                KeyCode::Esc => self.search = None,
                _ => {
                    input.handle(key);
                }
            }
            return Outcome::Stays;
        }
        self.remark.clear();
        match key.code {
            KeyCode::Esc | KeyCode::Char('q') => return Outcome::Closes,
            KeyCode::Char('o' | 'c') if control => return Outcome::Closes,
            KeyCode::Up | KeyCode::Char('k') => self.top = self.top.saturating_sub(1),
            KeyCode::Down | KeyCode::Char('j') => self.top += 1,
            KeyCode::PageUp | KeyCode::Char('b') => self.top = self.top.saturating_sub(page),
            KeyCode::PageDown | KeyCode::Char(' ' | 'f') => self.top += page,
            KeyCode::Home | KeyCode::Char('g') => self.top = 0,
            KeyCode::End | KeyCode::Char('G') => self.top = usize::MAX,
            KeyCode::Char('e') | KeyCode::Tab if !self.other.is_empty() => self.unfold(page),
            KeyCode::Char('/') => self.search = Some(Input::default()),
            KeyCode::Char('n') => self.find(1),
            KeyCode::Char('N') => self.find(-1),
            _ => {}
        }
        self.top = self.top.min(self.lines.len().saturating_sub(page));
        Outcome::Stays
    }

    /// Folds or unfolds; what is at the bottom stays there as far as can be.
    fn unfold(&mut self, page: usize) {
        let anchor =
            self.lines.iter().skip(self.top).take(page).map(Line::text).find(|text| !text.trim().is_empty());
        let before = self.lines.iter().take(self.top).filter(|line| Some(line.text()) == anchor).count();
        std::mem::swap(&mut self.lines, &mut self.other);
        let mut like = self.lines.iter().enumerate().filter(|(_, line)| Some(line.text()) == anchor);
        let place = like.nth(before).map(|(at, _)| at);
        self.top = place.unwrap_or(self.top).min(self.lines.len().saturating_sub(page));
    }

    /// Goes to the next line with what is sought; round the end.
    fn find(&mut self, step: isize) {
        let count = self.lines.len();
        if self.sought.is_empty() || count == 0 {
            return;
        }
        let mut at = self.top;
        for _ in 0..count {
            at = at.checked_add_signed(step).filter(|at| *at < count).unwrap_or(match step {
                1.. => 0,
                _ => count - 1,
            });
            if self.lines.get(at).is_some_and(|line| line.text().to_lowercase().contains(&self.sought)) {
                self.top = at;
                return;
            }
        }
        self.remark = format!("not found: {}", self.sought);
    }
}

/// Sessions to choose from, with their age.
pub(crate) fn session_items(sessions: &[SessionInfo], now: Timestamp) -> Vec<Item<Choice>> {
    let item = |info: &SessionInfo| {
        let title = match neutral_line(&info.title) {
            title if title.is_empty() => "(nothing said yet)".to_owned(),
            title => title,
        };
        let detail = format!("{} · {} entries", age(now.0.saturating_sub(info.updated.0)), info.entries);
        Item::new(title, detail, Choice::Session(info.id.clone()))
    };
    sessions.iter().map(item).collect()
}

fn age(milliseconds: i64) -> String {
    let seconds = milliseconds.max(0) / 1000;
    match seconds {
        0..60 => "just now".to_owned(),
        60..3600 => format!("{} min ago", seconds / 60),
        3600..86_400 => format!("{} h ago", seconds / 3600),
        _ => format!("{} d ago", seconds / 86_400),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn press(pager: &mut Pager, text: &str) {
        for character in text.chars() {
            let code = if character == '\n' { KeyCode::Enter } else { KeyCode::Char(character) };
            pager.key(KeyEvent::new(code, KeyModifiers::NONE), 4);
        }
    }

    #[test]
    fn a_pager_finds_what_is_sought_round_the_end() {
        let lines = ["one", "TWO", "three", "two", "five"].map(Line::plain).to_vec();
        let mut pager = Pager::new("", lines);
        press(&mut pager, "/two\n");
        assert_eq!(pager.top, 1);
        press(&mut pager, "n");
        assert_eq!(pager.top, 3);
        press(&mut pager, "n");
        assert_eq!(pager.top, 1);
        press(&mut pager, "/six\n");
        assert_eq!((pager.top, pager.remark.as_str()), (1, "not found: six"));
    }
}
