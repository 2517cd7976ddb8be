//! Words: quotes, escapes, and the `$` and backtick constructs in them.

use super::cursor::{continues_name, is_meta, starts_name};
use super::tree::{Operation, Parameter, Part, RawWord, Script};
use super::{Read, Reader};
use crate::analysis::Span;

/// Where a `$` or a backtick stands: the rules for quotes differ.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Quotes {
    Bare,
    Double,
    /// The body of a here-document: like double quotes, but `"` is a character.
    Document,
}

/// Adds a character to the last part if that is of the same kind.
pub(super) fn push_text(parts: &mut Vec<Part>, character: char) {
    if let Some(Part::Text(text)) = parts.last_mut() {
        text.push(character);
    } else {
        parts.push(Part::Text(character.to_string()));
    }
}

pub(super) fn push_quoted(parts: &mut Vec<Part>, character: char) {
    if let Some(Part::Quoted(text)) = parts.last_mut() {
        text.push(character);
    } else {
        parts.push(Part::Quoted(character.to_string()));
    }
}

impl Reader<'_> {
    /// The word at the cursor; none if something else stands there.
    pub(super) fn word(&mut self) -> Read<Option<RawWord>> {
        let start = self.cursor.place();
        let mut parts = Vec::new();
        while let Some(next) = self.cursor.peek() {
            let process = matches!(next, '<' | '>') && self.cursor.second() == Some('(');
            if is_meta(next) && !process {
                break;
            }
            if process {
                parts.push(self.process()?);
            } else {
                self.word_part(next, &mut parts)?;
            }
        }
        if parts.is_empty() {
            return Ok(None);
        }
        Ok(Some(RawWord { parts, span: Span { start, end: self.cursor.raw_place() } }))
    }

    /// One character or construct of a bare word.
    pub(super) fn word_part(&mut self, next: char, parts: &mut Vec<Part>) -> Read<()> {
        match next {
            '\\' => {
                self.cursor.bump();
                // A backslash at the very end stays.
                push_quoted(parts, self.cursor.raw_bump().unwrap_or('\\'));
            }
            '\'' => parts.push(Part::Quoted(self.single()?)),
            '"' => parts.push(Part::Double(self.double()?)),
            '$' => self.dollar(Quotes::Bare, parts)?,
            '`' => parts.push(self.backtick(Quotes::Bare)?),
            other => {
                self.cursor.bump();
                if !other.is_ascii() && other.is_whitespace() {
                    let at = self.cursor.raw_place();
                    self.odd(at, "a blank that is not a space or a tab");
                }
                push_text(parts, other);
            }
        }
        Ok(())
    }

    fn single(&mut self) -> Read<String> {
        self.cursor.bump();
        let mut text = String::new();
        loop {
            match self.cursor.raw_bump() {
                Some('\'') => return Ok(text),
                Some(other) => text.push(other),
                None => return self.fail("a single quote is not closed"),
            }
        }
    }

    fn double(&mut self) -> Read<Vec<Part>> {
        self.cursor.bump();
        let mut parts = Vec::new();
        loop {
            match self.cursor.peek() {
                Some('"') => {
                    self.cursor.bump();
                    return Ok(parts);
                }
                Some(next) => self.quoted_part(next, Quotes::Double, &mut parts)?,
                None => return self.fail("a double quote is not closed"),
            }
        }
    }

    /// One character or construct inside double quotes or a here-document.
    pub(super) fn quoted_part(&mut self, next: char, quotes: Quotes, parts: &mut Vec<Part>) -> Read<()> {
        match next {
            '\\' => {
                self.cursor.bump();
                match self.cursor.raw_peek() {
                    Some(escaped @ ('$' | '`' | '\\')) => {
                        self.cursor.raw_bump();
                        push_quoted(parts, escaped);
                    }
                    Some('"') if quotes == Quotes::Double => {
                        self.cursor.raw_bump();
                        push_quoted(parts, '"');
                    }
                    _ => push_quoted(parts, '\\'),
                }
            }
            '$' => self.dollar(quotes, parts)?,
            '`' => parts.push(self.backtick(quotes)?),
            other => {
                self.cursor.bump();
                push_quoted(parts, other);
            }
        }
        Ok(())
    }

    /// What a `$` begins.
    pub(super) fn dollar(&mut self, quotes: Quotes, parts: &mut Vec<Part>) -> Read<()> {
        let start = self.cursor.place();
        self.cursor.bump();
        match self.cursor.peek() {
            Some('\'') if quotes == Quotes::Bare => parts.push(Part::Quoted(self.ansi()?)),
            Some('"') if quotes == Quotes::Bare => parts.push(Part::Double(self.double()?)),
            Some('(') if self.cursor.second() == Some('(') && self.arithmetic_ahead() => {
                parts.push(self.arithmetic_expansion()?);
            }
            Some('(') => {
                self.cursor.bump();
                let script = Box::new(self.substitution()?);
                parts.push(Part::Substitution { script, outer: None });
            }
            Some('[') => parts.push(self.old_arithmetic()?),
            Some('{') => parts.push(self.braced(quotes)?),
            Some(first) if starts_name(first) => {
                let mut name = String::new();
                while let Some(next) = self.cursor.peek().filter(|next| continues_name(*next)) {
                    self.cursor.bump();
                    name.push(next);
                }
                parts.push(self.plain(name, start));
            }
            Some(special) if special.is_ascii_digit() || "@*#?-$!".contains(special) => {
                self.cursor.bump();
                parts.push(self.plain(special.to_string(), start));
            }
            _ if quotes == Quotes::Bare => push_text(parts, '$'),
            _ => push_quoted(parts, '$'),
        }
        Ok(())
    }

    fn plain(&self, name: String, start: usize) -> Part {
        let shown = self.cursor.slice(start, self.cursor.raw_place()).to_owned();
        Part::Parameter(Box::new(Parameter { name, subscript: None, operation: Operation::Plain, shown }))
    }

    /// The commands up to the parenthesis that closes `$(`, `<(` or `>(`.
    fn substitution(&mut self) -> Read<Script> {
        let start = self.cursor.raw_place();
        let outer_pending = std::mem::take(&mut self.pending);
        let outer = std::mem::replace(&mut self.substituting, true);
        let script = self.deeper(|reader| reader.list());
        let script = script?;
        self.substituting = outer;
        self.expect(')', "`$(` is not closed")?;
        if !self.pending.is_empty() {
            self.odd(start, "a here-document that its substitution cuts off");
        }
        let text = self.cursor.slice(start, self.cursor.raw_place());
        if !outer_pending.is_empty() && text.contains('\n') {
            self.odd(start, "a substitution over several lines before the body of a here-document");
        }
        self.pending = outer_pending;
        Ok(script)
    }

    pub(super) fn process(&mut self) -> Read<Part> {
        self.cursor.bump();
        self.cursor.bump();
        Ok(Part::Process { script: Box::new(self.substitution()?) })
    }

    /// Backticks: the text is unescaped first, then read on its own.
    pub(super) fn backtick(&mut self, quotes: Quotes) -> Read<Part> {
        let start = self.cursor.place();
        self.cursor.bump();
        let mut inner = String::new();
        loop {
            match self.cursor.raw_bump() {
                None => return self.fail("a backtick is not closed"),
                Some('`') => break,
                Some('\\') => match self.cursor.raw_bump() {
                    Some(escaped @ ('$' | '`' | '\\')) => inner.push(escaped),
                    Some('"') if quotes == Quotes::Double => inner.push('"'),
                    Some(other) => {
                        inner.push('\\');
                        inner.push(other);
                    }
                    None => return self.fail("a backtick is not closed"),
                },
                Some(other) => inner.push(other),
            }
        }
        if inner.contains("\\\n") {
            self.odd(start, "a line that continues inside backticks");
        }
        let outer = Span { start, end: self.cursor.raw_place() };
        let script = self.detached(&inner, outer, |reader| {
            let script = reader.list()?;
            reader.expect_end()?;
            Ok(script)
        })?;
        Ok(Part::Substitution { script: Box::new(script), outer: Some(outer) })
    }

    /// `$'…'` with its escapes resolved. A NUL ends the string, as in bash.
    fn ansi(&mut self) -> Read<String> {
        self.cursor.bump();
        let mut bytes = Vec::new();
        let mut ended = false;
        loop {
            let mut piece = Vec::new();
            match self.cursor.raw_bump() {
                None => return self.fail("a single quote is not closed"),
                Some('\'') => break,
                Some('\\') => self.ansi_escape(&mut piece)?,
                Some(other) => push_bytes(&mut piece, other),
            }
            ended = ended || piece.contains(&0);
            if !ended {
                bytes.extend(piece);
            }
        }
        Ok(String::from_utf8_lossy(&bytes).into_owned())
    }

    fn ansi_escape(&mut self, bytes: &mut Vec<u8>) -> Read<()> {
        let Some(escape) = self.cursor.raw_bump() else { return self.fail("a single quote is not closed") };
        match escape {
            'a' => bytes.push(7),
            'b' => bytes.push(8),
            'e' | 'E' => bytes.push(27),
            'f' => bytes.push(12),
            'n' => bytes.push(b'\n'),
            'r' => bytes.push(b'\r'),
            't' => bytes.push(b'\t'),
            'v' => bytes.push(11),
            '\\' | '\'' | '"' | '?' => push_bytes(bytes, escape),
            '0'..='7' => {
                let first = escape.to_digit(8).unwrap_or_default();
                bytes.push((self.digits(8, 2, first).0 & 0xff) as u8);
            }
            'x' | 'u' | 'U' => {
                let most = match escape {
                    'x' => 2,
                    'u' => 4,
                    _ => 8,
                };
                let (value, count) = self.digits(16, most, 0);
                match (escape, count) {
                    (_, 0) => bytes.extend([b'\\', escape as u8]),
                    ('x', _) => bytes.push((value & 0xff) as u8),
                    _ => push_bytes(bytes, char::from_u32(value).unwrap_or('\u{fffd}')),
                }
            }
            'c' => {
                let control = self.cursor.raw_bump().map_or(0, |next| next as u32);
                bytes.push((control & 0x1f) as u8);
            }
            other => {
                bytes.push(b'\\');
                push_bytes(bytes, other);
            }
        }
        Ok(())
    }

    fn digits(&mut self, radix: u32, most: usize, first: u32) -> (u32, usize) {
        let (mut value, mut count) = (first, 0);
        while count < most {
            let Some(digit) = self.cursor.raw_peek().and_then(|next| next.to_digit(radix)) else { break };
            self.cursor.raw_bump();
            value = value.wrapping_mul(radix).wrapping_add(digit);
            count += 1;
        }
        (value, count)
    }

    pub(super) fn expect(&mut self, wanted: char, why: &'static str) -> Read<()> {
        if self.cursor.eat(wanted) { Ok(()) } else { self.fail(why) }
    }
}

fn push_bytes(bytes: &mut Vec<u8>, character: char) {
    let mut buffer = [0; 4];
    bytes.extend_from_slice(character.encode_utf8(&mut buffer).as_bytes());
}
