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
            let (plain, after) = self.escape.split_plain(rest);
            if !plain.is_empty() {
                self.plain(plain, settled);
                rest = after;
                continue;
            }
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

    /// Text in which nothing happens but line ends. Of a flood, most will be out of reach at its end and
    /// need not be drawn.
    fn plain(&mut self, text: &str, settled: &mut String) {
        let first = text.find('\n');
        let last = text.rmatch_indices('\n').nth(screen::LINES).map(|(at, _)| at);
        if let (Some(first), Some(last)) = (first, last)
            && first < last
            && self.screen.can_scroll()
        {
            let (begin, rest) = text.split_at(first + 1);
            let (flood, end) = rest.split_at(last - first);
            self.lines(begin, settled);
            if self.screen.scroll(flood, settled) {
                return self.lines(end, settled);
            }
            return self.lines(rest, settled);
        }
        self.lines(text, settled);
    }

    fn lines(&mut self, text: &str, settled: &mut String) {
        for line in text.split_inclusive('\n') {
            match line.strip_suffix('\n') {
                Some(line) => {
                    self.screen.print(line);
                    self.screen.line_feed(settled);
                }
                None => self.screen.print(line),
            }
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
