//! Where in an answer's text one is: on a fresh line, in a fence, in inline
//! code, behind a quote. What is in code or in quotes is talked about and not
//! meant.

/// A place in text.
#[derive(Debug)]
pub(super) struct Position {
    line_start: bool,
    /// Nothing but blanks has come since the beginning, a call or reasoning.
    fresh: bool,
    /// How many backticks opened the fence.
    fence: Option<usize>,
    /// How many backticks opened the inline code.
    inline: Option<usize>,
    previous: char,
    /// The last word, as far as it may matter.
    word: String,
}

impl Default for Position {
    fn default() -> Self {
        Self { line_start: true, fresh: true, fence: None, inline: None, previous: '\n', word: String::new() }
    }
}

impl Position {
    /// A character that is no backtick.
    pub(super) fn step(&mut self, character: char) {
        const LONGEST_WORD: usize = 24;
        if character.is_alphanumeric() {
            if !self.previous.is_alphanumeric() {
                self.word.clear();
            }
            if self.word.len() < LONGEST_WORD {
                self.word.push(character);
            }
        }
        if character == '\n' {
            self.line_start = true;
            self.inline = None;
        } else if !character.is_whitespace() {
            self.line_start = false;
            self.fresh = false;
        }
        self.previous = character;
    }

    /// So many backticks.
    pub(super) fn ticks(&mut self, run: usize) {
        match (self.fence, self.inline) {
            (Some(opened), _) if self.line_start && run >= opened => self.fence = None,
            (Some(_), _) => {}
            (None, _) if self.line_start && run >= 3 => self.fence = Some(run),
            (None, Some(opened)) if opened == run => self.inline = None,
            (None, Some(_)) => {}
            (None, None) => self.inline = Some(run),
        }
        self.line_start = false;
        self.fresh = false;
        self.previous = '`';
    }

    /// Something that is not words was here.
    pub(super) fn interrupt(&mut self) {
        *self = Self { fence: self.fence, ..Self::default() };
    }

    /// The word right before it; empty if there is something between.
    pub(super) fn lead(&self) -> &str {
        if self.previous.is_alphanumeric() { &self.word } else { "" }
    }

    pub(super) fn in_code(&self) -> bool {
        self.fence.is_some() || self.inline.is_some()
    }

    pub(super) fn at_line_start(&self) -> bool {
        self.line_start
    }

    pub(super) fn is_fresh(&self) -> bool {
        self.fresh
    }

    /// Whether a quote is right before it.
    pub(super) fn after_quote(&self) -> bool {
        matches!(self.previous, '"' | '\'' | '\u{201c}' | '\u{2018}' | '\u{ab}')
    }
}
