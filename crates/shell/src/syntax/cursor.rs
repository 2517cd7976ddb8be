//! A place in a text, read the way bash reads it: a backslash before a line end
//! is not there at all, except where quotes say otherwise.

/// A place in a text. Cheap to copy, so looking ahead is reading with a copy.
#[derive(Clone, Copy)]
pub struct Cursor<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Cursor<'a> {
    pub fn new(text: &'a str) -> Self {
        Self { text, at: 0 }
    }

    /// The place as an offset in bytes, line continuations before it skipped.
    pub fn place(&mut self) -> usize {
        self.skip_continuations();
        self.at
    }

    /// The place without skipping anything: where something just ended.
    pub fn raw_place(&self) -> usize {
        self.at
    }

    pub fn set_place(&mut self, at: usize) {
        self.at = at.min(self.text.len());
    }

    pub fn text(&self) -> &'a str {
        self.text
    }

    pub fn slice(&self, from: usize, to: usize) -> &'a str {
        self.text.get(from..to).unwrap_or_default()
    }

    /// The next character.
    pub fn peek(&mut self) -> Option<char> {
        self.skip_continuations();
        self.raw_peek()
    }

    /// The character after the next one.
    pub fn second(&self) -> Option<char> {
        let mut ahead = *self;
        ahead.bump()?;
        ahead.peek()
    }

    /// The character after that.
    pub fn third(&self) -> Option<char> {
        let mut ahead = *self;
        ahead.bump()?;
        ahead.bump()?;
        ahead.peek()
    }

    pub fn bump(&mut self) -> Option<char> {
        self.skip_continuations();
        self.raw_bump()
    }

    /// Takes the next character if it is `wanted`.
    pub fn eat(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.raw_bump();
        }
        found
    }

    /// The next character as it stands, also a backslash before a line end.
    pub fn raw_peek(&self) -> Option<char> {
        let byte = *self.text.as_bytes().get(self.at)?;
        if byte < 0x80 {
            return Some(char::from(byte));
        }
        self.text.get(self.at..)?.chars().next()
    }

    pub fn raw_bump(&mut self) -> Option<char> {
        let next = self.raw_peek()?;
        self.at += next.len_utf8();
        Some(next)
    }

    fn skip_continuations(&mut self) {
        let bytes = self.text.as_bytes();
        while bytes.get(self.at) == Some(&b'\\') && bytes.get(self.at + 1) == Some(&b'\n') {
            self.at += 2;
        }
    }
}

/// Characters that end a bare word.
pub fn is_meta(character: char) -> bool {
    matches!(character, ' ' | '\t' | '\n' | '|' | '&' | ';' | '(' | ')' | '<' | '>')
}

pub fn starts_name(character: char) -> bool {
    character.is_ascii_alphabetic() || character == '_'
}

pub fn continues_name(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

/// Whether a text can be the name of a variable.
pub fn is_name(text: &str) -> bool {
    text.starts_with(starts_name) && text.chars().all(continues_name)
}
