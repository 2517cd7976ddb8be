//! A text to read and search, on the whole screen.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use super::input::Input;
use super::overlay::Outcome;
use crate::line::Line;

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
    /// The line in which it was found last.
    pub(crate) found: Option<usize>,
    pub(crate) remark: String,
    /// The same text folded or unfolded, whichever is not shown.
    pub(crate) other: Vec<Line>,
}

/// Rows of text on a screen: one is the title's, one the foot's.
pub(crate) fn page(height: u16) -> usize {
    usize::from(height).saturating_sub(2).max(1)
}

impl Pager {
    pub(crate) fn new(title: &str, lines: Vec<Line>) -> Self {
        Self {
            title: title.to_owned(),
            lines,
            top: 0,
            search: None,
            sought: String::new(),
            found: None,
            remark: String::new(),
            other: Vec::new(),
        }
    }

    pub(crate) fn at_end(title: &str, lines: Vec<Line>, height: u16) -> Self {
        let top = lines.len().saturating_sub(page(height));
        Self { top, ..Self::new(title, lines) }
    }

    /// Looks for words from the beginning on.
    pub(crate) fn seek(&mut self, words: &str, height: u16) {
        self.top = 0;
        self.sought = words.to_lowercase();
        self.find(1, page(height));
    }

    pub(crate) fn paste(&mut self, text: &str) {
        if let Some(input) = &mut self.search {
            input.paste(text);
        }
    }

    pub(crate) fn key(&mut self, key: KeyEvent, height: u16) -> Outcome {
        let page = page(height);
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        if let Some(input) = &mut self.search {
            match key.code {
                KeyCode::Enter => {
                    self.sought = input.text().to_lowercase();
                    self.search = None;
                    self.found = None;
                    self.find(1, page);
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
            KeyCode::Char('n') => self.find(1, page),
            KeyCode::Char('N') => self.find(-1, page),
            _ => {}
        }
        self.top = self.top.min(self.lines.len().saturating_sub(page));
        Outcome::Stays
    }

    /// Folds or unfolds; what is at the top stays there as far as can be.
    fn unfold(&mut self, page: usize) {
        let anchor =
            self.lines.iter().skip(self.top).take(page).map(Line::text).find(|text| !text.trim().is_empty());
        let before = self.lines.iter().take(self.top).filter(|line| Some(line.text()) == anchor).count();
        std::mem::swap(&mut self.lines, &mut self.other);
        self.found = None;
        let mut like = self.lines.iter().enumerate().filter(|(_, line)| Some(line.text()) == anchor);
        let place = like.nth(before).map(|(at, _)| at);
        self.top = place.unwrap_or(self.top).min(self.lines.len().saturating_sub(page));
    }

    /// Goes to the next line with what is sought; round the end.
    fn find(&mut self, step: isize, page: usize) {
        let count = self.lines.len();
        if self.sought.is_empty() || count == 0 {
            return;
        }
        let begin = match (self.found, step) {
            (Some(found), _) => found,
            // What is on the screen counts.
            (None, 1..) => self.top.checked_sub(1).unwrap_or(count - 1),
            (None, _) => self.top + page,
        };
        let mut at = begin.min(count);
        for _ in 0..count {
            at = at.checked_add_signed(step).filter(|at| *at < count).unwrap_or(match step {
                1.. => 0,
                _ => count - 1,
            });
            if self.lines.get(at).is_some_and(|line| line.text().to_lowercase().contains(&self.sought)) {
                self.found = Some(at);
                if !(self.top..self.top + page).contains(&at) {
                    self.top = at.min(count.saturating_sub(page));
                }
                self.remark = self.place_of(at);
                return;
            }
        }
        self.remark = format!("not found: {}", self.sought);
    }

    fn place_of(&self, at: usize) -> String {
        let has = |line: &&Line| line.text().to_lowercase().contains(&self.sought);
        let all = self.lines.iter().filter(has).count();
        let before = self.lines.iter().take(at + 1).filter(has).count();
        format!("{before} of {all} lines with “{}” · n next · N previous", self.sought)
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
        assert_eq!((pager.top, pager.found), (0, Some(1)));
        assert_eq!(pager.remark, "1 of 2 lines with “two” · n next · N previous");
        press(&mut pager, "n");
        assert_eq!((pager.top, pager.found), (3, Some(3)));
        press(&mut pager, "n");
        assert_eq!((pager.top, pager.found), (1, Some(1)));
        press(&mut pager, "N");
        assert_eq!(pager.found, Some(3));
        press(&mut pager, "/six\n");
        assert_eq!((pager.top, pager.remark.as_str()), (3, "not found: six"));
    }
}
