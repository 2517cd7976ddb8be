//! A small editor that stands in until the real one is there.

use crossterm::event::{KeyCode, KeyEvent, KeyModifiers};

use crate::line::{Line, width};

/// What a person wrote.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Submission {
    /// The words.
    pub text: String,
}

/// What a key did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Reaction {
    /// Nothing.
    None,
    /// The text or the cursor changed.
    Changed,
    /// It is to be sent.
    Submit(Submission),
    /// It is to be sent after what is under way.
    FollowUp(Submission),
    /// There was nothing to cancel.
    Cancel,
}

/// What is to be shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Rendered {
    /// From top to bottom.
    pub lines: Vec<Line>,
    /// Column and row.
    pub cursor: (u16, u16),
}

/// A text with a cursor.
#[derive(Debug, Clone, Default)]
pub struct Editor {
    text: String,
    cursor: usize,
    history: Vec<String>,
    place: Option<usize>,
}

impl Editor {
    /// Empty.
    pub fn new() -> Self {
        Self::default()
    }

    /// What was sent before, the oldest first.
    pub fn set_history(&mut self, history: Vec<String>) {
        self.history = history;
    }

    /// The text.
    pub fn text(&self) -> String {
        self.text.clone()
    }

    /// Another text, with the cursor at its end.
    pub fn set_text(&mut self, text: &str) {
        text.clone_into(&mut self.text);
        self.cursor = self.text.len();
    }

    /// Text at the cursor.
    pub fn paste(&mut self, text: &str) {
        let text = text.replace("\r\n", "\n").replace('\r', "\n");
        self.text.insert_str(self.cursor, &text);
        self.cursor += text.len();
    }

    /// A key.
    pub fn handle(&mut self, key: KeyEvent) -> Reaction {
        let control = key.modifiers.contains(KeyModifiers::CONTROL);
        let alt = key.modifiers.contains(KeyModifiers::ALT);
        match key.code {
            KeyCode::Enter if key.modifiers.contains(KeyModifiers::SHIFT) => self.insert('\n'),
            KeyCode::Char('j') if control => self.insert('\n'),
            KeyCode::Enter => {
                if self.text.trim().is_empty() {
                    return Reaction::None;
                }
                let text = std::mem::take(&mut self.text);
                self.cursor = 0;
                self.place = None;
                self.history.push(text.clone());
                let submission = Submission { text };
                return if alt { Reaction::FollowUp(submission) } else { Reaction::Submit(submission) };
            }
            KeyCode::Esc if !self.text.is_empty() => {
                self.text.clear();
                self.cursor = 0;
            }
            KeyCode::Esc => return Reaction::Cancel,
            KeyCode::Char('a') if control => self.cursor = self.line_start(),
            KeyCode::Char('e') if control => self.cursor = self.line_end(),
            KeyCode::Home => self.cursor = self.line_start(),
            KeyCode::End => self.cursor = self.line_end(),
            KeyCode::Char('u') if control => {
                let start = self.line_start();
                self.text.replace_range(start..self.cursor, "");
                self.cursor = start;
            }
            KeyCode::Char('w') if control => {
                let head = self.text[..self.cursor].trim_end();
                let start = head.rfind(char::is_whitespace).map_or(0, |at| at + 1);
                self.text.replace_range(start..self.cursor, "");
                self.cursor = start;
            }
            KeyCode::Backspace => {
                if let Some((start, _)) = self.text[..self.cursor].char_indices().next_back() {
                    self.text.replace_range(start..self.cursor, "");
                    self.cursor = start;
                }
            }
            KeyCode::Left => {
                self.cursor = self.text[..self.cursor].char_indices().next_back().map_or(0, |(at, _)| at);
            }
            KeyCode::Right => {
                self.cursor += self.text[self.cursor..].chars().next().map_or(0, char::len_utf8);
            }
            KeyCode::Up => self.recall(-1),
            KeyCode::Down => self.recall(1),
            KeyCode::Char(character) if !control && !alt => self.insert(character),
            _ => return Reaction::None,
        }
        Reaction::Changed
    }

    fn insert(&mut self, character: char) {
        self.text.insert(self.cursor, character);
        self.cursor += character.len_utf8();
    }

    fn line_start(&self) -> usize {
        self.text[..self.cursor].rfind('\n').map_or(0, |at| at + 1)
    }

    fn line_end(&self) -> usize {
        self.text[self.cursor..].find('\n').map_or(self.text.len(), |at| self.cursor + at)
    }

    fn recall(&mut self, step: isize) {
        let count = self.history.len();
        let place = self.place.unwrap_or(count);
        let next = place.saturating_add_signed(step).min(count);
        self.place = Some(next);
        let text = self.history.get(next).cloned().unwrap_or_default();
        self.set_text(&text);
    }

    /// The text in rows of at most so many cells, and where the cursor is.
    pub fn render(&self, columns: u16, max_height: u16) -> Rendered {
        let columns = usize::from(columns).max(2);
        let mut rows = vec![String::new()];
        let mut cursor = (0, 0);
        let mut at = 0;
        for character in self.text.chars().chain(Some('\0')) {
            let cells = width(character.encode_utf8(&mut [0; 4]));
            let full = rows.last().is_some_and(|row| width(row) + cells > columns - 1);
            if full && character != '\n' && character != '\0' {
                rows.push(String::new());
            }
            if at == self.cursor {
                cursor = (rows.last().map_or(0, |row| width(row)), rows.len() - 1);
            }
            at += character.len_utf8();
            match character {
                '\n' => rows.push(String::new()),
                '\0' => {}
                other => rows.last_mut().into_iter().for_each(|row| row.push(other)),
            }
        }
        let height = usize::from(max_height).max(1);
        let start = (cursor.1 + 1).saturating_sub(height);
        Rendered {
            lines: rows.into_iter().skip(start).take(height).map(Line::plain).collect(),
            cursor: (
                u16::try_from(cursor.0).unwrap_or(u16::MAX),
                u16::try_from(cursor.1 - start).unwrap_or(u16::MAX),
            ),
        }
    }
}
