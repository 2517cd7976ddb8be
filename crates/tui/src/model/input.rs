//! One line of text that is being written: a pattern, a few words, a search.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::line::width;
use crate::neutral::is_harmless;

/// A line with a cursor.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Input {
    before: String,
    after: String,
}

impl Input {
    /// With a text, and the cursor at its end.
    pub(crate) fn with(text: &str) -> Self {
        Self { before: text.to_owned(), after: String::new() }
    }

    pub(crate) fn text(&self) -> String {
        format!("{}{}", self.before, self.after)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.before.is_empty() && self.after.is_empty()
    }

    /// The text as it is shown: whatever a terminal would obey has a sign in its place.
    pub(crate) fn shown(&self) -> String {
        format!("{}{}", shown(&self.before), shown(&self.after))
    }

    /// Cells before the cursor.
    pub(crate) fn column(&self) -> usize {
        width(&shown(&self.before))
    }

    pub(crate) fn paste(&mut self, text: &str) {
        self.before
            .extend(text.chars().map(|character| if character.is_control() { ' ' } else { character }));
    }

    /// Whether the key meant something here.
    pub(crate) fn handle(&mut self, key: KeyEvent) -> bool {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        match key.code {
            KeyCode::Char('a') if control => self.home(),
            KeyCode::Char('e') if control => self.end(),
            KeyCode::Char('u') if control => self.before.clear(),
            KeyCode::Char('k') if control => self.after.clear(),
            KeyCode::Char('w') if control => {
                let kept = self.before.trim_end().rfind(' ').map_or(0, |at| at + 1);
                self.before.truncate(kept);
            }
            KeyCode::Home => self.home(),
            KeyCode::End => self.end(),
            KeyCode::Left => {
                if let Some(character) = self.before.pop() {
                    self.after.insert(0, character);
                }
            }
            KeyCode::Right => {
                if !self.after.is_empty() {
                    self.before.push(self.after.remove(0));
                }
            }
            KeyCode::Backspace => {
                self.before.pop();
            }
            KeyCode::Delete => {
                if !self.after.is_empty() {
                    self.after.remove(0);
                }
            }
            KeyCode::Char(character) if !control && !key.modifiers.contains(KeyModifiers::ALT) => {
                self.before.push(character);
            }
            _ => return false,
        }
        true
    }

    fn home(&mut self) {
        self.after.insert_str(0, &std::mem::take(&mut self.before));
    }

    fn end(&mut self) {
        self.before.push_str(&std::mem::take(&mut self.after));
    }
}

fn shown(text: &str) -> String {
    text.chars().map(|letter| if is_harmless(letter) { letter } else { '\u{fffd}' }).collect()
}
