//! What a person would have seen: terminal output as lines of text.
//!
//! Bytes come in any pieces and give the same text. A progress bar that is
//! drawn over itself is one line, its last state; colours and titles are
//! nothing; what is no UTF-8 is replaced. Only the last lines can still be
//! drawn over; what has scrolled out of reach is handed on and forgotten, so
//! memory is constant, also for one line without an end.
//!
//! Layout: `escape` recognises control sequences, `screen` holds the lines that
//! can still change, and [`Terminal`] puts them together.

mod escape;
mod screen;

use escape::{Escape, Token};
use screen::Screen;

/// Makes lines of what a terminal is sent.
#[derive(Debug)]
pub struct Terminal {
    /// The beginning of a character that is not complete.
    partial: Vec<u8>,
    escape: Escape,
    screen: Screen,
}

impl Terminal {
    /// An empty one whose lines are cut after so many characters.
    #[must_use]
    pub fn new(line_chars: usize) -> Self {
        Self { partial: Vec::new(), escape: Escape::default(), screen: Screen::new(line_chars) }
    }

    /// Takes bytes, and hands on the lines that cannot change any more, each with its end.
    pub fn write(&mut self, bytes: &[u8], settled: &mut String) {
        let joined;
        let mut rest = if self.partial.is_empty() {
            bytes
        } else {
            let mut whole = std::mem::take(&mut self.partial);
            whole.extend_from_slice(bytes);
            joined = whole;
            joined.as_slice()
        };
        loop {
            match std::str::from_utf8(rest) {
                Ok(text) => return self.take(text, settled),
                Err(error) => {
                    let (valid, after) = rest.split_at(error.valid_up_to());
                    self.take(std::str::from_utf8(valid).unwrap_or_default(), settled);
                    let Some(invalid) = error.error_len() else {
                        self.partial = after.to_vec();
                        return;
                    };
                    self.take("\u{FFFD}", settled);
                    rest = after.get(invalid..).unwrap_or_default();
                }
            }
        }
    }

    /// The lines that could still have changed.
    pub fn finish(mut self, settled: &mut String) {
        if !self.partial.is_empty() {
            self.take("\u{FFFD}", settled);
        }
        self.screen.finish(settled);
    }

    /// Whether a line was cut.
    #[must_use]
    pub fn has_cut_lines(&self) -> bool {
        self.screen.has_cut_lines()
    }

    /// At most how many lines and bytes [`Self::finish`] would hand on.
    pub(crate) fn pending(&self) -> (usize, usize) {
        self.screen.pending()
    }

    fn take(&mut self, text: &str, settled: &mut String) {
        let mut rest = text;
        while !rest.is_empty() {
            let (token, after) = self.escape.next(rest);
            rest = after;
            match token {
                Token::Text(text) => self.screen.print(text),
                Token::Control(control) => self.control(control, settled),
                Token::Sequence(sequence) => self.screen.sequence(sequence),
                Token::Nothing => {}
            }
            self.screen.settle(settled);
        }
    }

    fn control(&mut self, control: char, settled: &mut String) {
        match control {
            '\n' | '\u{b}' => self.screen.line_feed(settled),
            '\r' => self.screen.carriage_return(),
            '\u{8}' => self.screen.backspace(),
            // Programs separate names with it; without it they would run together.
            '\0' => self.screen.print("\u{2400}"),
            _ => {}
        }
    }
}

/// All of a text at once.
#[must_use]
pub fn plain(bytes: &[u8], line_chars: usize) -> String {
    let mut terminal = Terminal::new(line_chars);
    let mut text = String::new();
    terminal.write(bytes, &mut text);
    terminal.finish(&mut text);
    text
}

#[cfg(test)]
mod tests;
