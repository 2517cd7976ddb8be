//! What stands between `[[` and `]]`.

use super::cursor::is_meta;
use super::tree::{Part, RawWord, Test};
use super::words::push_text;
use super::{Read, Reader};
use crate::analysis::Span;

impl Reader<'_> {
    /// Tokens up to `]]`, which is taken.
    pub(super) fn condition(&mut self) -> Read<Vec<Test>> {
        let mut tests = Vec::new();
        loop {
            self.line_breaks()?;
            if self.eat_keyword("]]") {
                return if tests.is_empty() { self.fail("`[[` without a test") } else { Ok(tests) };
            }
            let regular = matches!(tests.last(), Some(Test::Word(word)) if word.bare() == Some("=~"));
            if regular {
                tests.push(Test::Word(self.regular_expression()?));
            } else if let Some(operator) = self.test_operator() {
                tests.push(Test::Operator(operator));
            } else if let Some(word) = self.word()? {
                tests.push(Test::Word(word));
            } else {
                return self.fail("`[[` is not closed");
            }
        }
    }

    fn test_operator(&mut self) -> Option<&'static str> {
        let next = self.cursor.peek()?;
        let second = self.cursor.second();
        let (operator, length) = match (next, second) {
            ('&', Some('&')) => ("&&", 2),
            ('|', Some('|')) => ("||", 2),
            ('(', _) => ("(", 1),
            (')', _) => (")", 1),
            ('<' | '>', Some('(')) => return None,
            ('<', _) => ("<", 1),
            ('>', _) => (">", 1),
            ('!', Some(' ' | '\t' | '\n' | '(')) => ("!", 1),
            _ => return None,
        };
        for _ in 0..length {
            self.cursor.bump();
        }
        Some(operator)
    }

    /// The word after `=~`: parentheses and bars belong to it.
    fn regular_expression(&mut self) -> Read<RawWord> {
        let start = self.cursor.place();
        let mut parts: Vec<Part> = Vec::new();
        let mut open = 0_usize;
        while let Some(next) = self.cursor.peek() {
            match next {
                '(' => open += 1,
                ')' if open > 0 => open -= 1,
                '|' => {}
                _ if is_meta(next) && open == 0 => break,
                ' ' | '\t' | '<' | '>' | '&' | ';' if open > 0 => {}
                _ if is_meta(next) => return self.fail("a regular expression is not closed"),
                _ => {
                    self.word_part(next, &mut parts)?;
                    continue;
                }
            }
            self.cursor.bump();
            push_text(&mut parts, next);
        }
        if open > 0 || parts.is_empty() {
            return self.fail("a regular expression is not closed");
        }
        Ok(RawWord { parts, span: Span { start, end: self.cursor.raw_place() } })
    }
}
