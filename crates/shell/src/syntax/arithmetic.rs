//! Arithmetic: `$((…))`, `((…))`, `$[…]`, subscripts and slices.
//!
//! The text is kept in parts, so that substitutions inside are seen. Whether
//! evaluating it could run something is for [`crate::walk`] to judge.

use super::cursor::Cursor;
use super::tree::Part;
use super::words::{Quotes, push_text};
use super::{Read, Reader};

/// How far the end of arithmetic is looked for: the time to read a text must not grow with its square.
const FAR: usize = 4096;

impl Reader<'_> {
    /// Whether the `((` at the cursor closes as arithmetic does, with `))`. Bash asks the same question: what does
    /// not is a subshell in a subshell.
    pub(super) fn arithmetic_ahead(&self) -> bool {
        let mut ahead = self.cursor;
        ahead.bump();
        ahead.bump();
        closes(&mut ahead) && ahead.peek() == Some(')')
    }

    pub(super) fn arithmetic_expansion(&mut self) -> Read<Part> {
        self.cursor.bump();
        self.cursor.bump();
        let parts = self.deeper(|reader| reader.arithmetic_until(')'))?;
        self.expect(')', "`$((` is not closed")?;
        self.expect(')', "`$((` is not closed")?;
        Ok(Part::Arithmetic(parts))
    }

    pub(super) fn old_arithmetic(&mut self) -> Read<Part> {
        self.cursor.bump();
        let parts = self.deeper(|reader| reader.arithmetic_until(']'))?;
        self.expect(']', "`$[` is not closed")?;
        Ok(Part::Arithmetic(parts))
    }

    /// Arithmetic text up to the closing character at the same depth, which is left in place.
    pub(super) fn arithmetic_until(&mut self, close: char) -> Read<Vec<Part>> {
        let mut parts = Vec::new();
        let mut open = Vec::new();
        loop {
            let Some(next) = self.cursor.peek() else { return self.fail("arithmetic is not closed") };
            if open.is_empty() && next == close {
                return Ok(parts);
            }
            match next {
                '(' => open.push(')'),
                '[' => open.push(']'),
                ')' | ']' if open.last() == Some(&next) => _ = open.pop(),
                ')' | ']' => return self.fail("arithmetic with brackets that do not match"),
                '$' => {
                    self.dollar(Quotes::Double, &mut parts)?;
                    continue;
                }
                '`' => {
                    parts.push(self.backtick(Quotes::Double)?);
                    continue;
                }
                '\'' | '"' | '\\' => {
                    let start = self.cursor.place();
                    self.word_part(next, &mut parts)?;
                    self.odd(start, "quotes in arithmetic");
                    continue;
                }
                _ => {}
            }
            self.cursor.bump();
            push_text(&mut parts, next);
        }
    }
}

/// Moves past the parenthesis that closes the one before the cursor. Quotes hide parentheses.
fn closes(ahead: &mut Cursor<'_>) -> bool {
    let mut open = 1_usize;
    let start = ahead.raw_place();
    while let Some(next) = ahead.bump().filter(|_| ahead_by(ahead, start) <= FAR) {
        match next {
            '(' => open += 1,
            ')' => {
                open -= 1;
                if open == 0 {
                    return true;
                }
            }
            '\\' => {
                ahead.raw_bump();
            }
            '\'' | '"' => skip_quotes(ahead, next, start),
            _ => {}
        }
    }
    false
}

fn ahead_by(ahead: &Cursor<'_>, start: usize) -> usize {
    ahead.raw_place().saturating_sub(start)
}

fn skip_quotes(ahead: &mut Cursor<'_>, quote: char, start: usize) {
    while let Some(next) = ahead.raw_bump() {
        if next == quote || ahead_by(ahead, start) > FAR {
            return;
        }
        if next == '\\' && quote == '"' {
            ahead.raw_bump();
        }
    }
}
