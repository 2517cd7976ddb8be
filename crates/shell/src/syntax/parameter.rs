//! `${…}` in all its forms.

use super::cursor::{continues_name, starts_name};
use super::tree::{Operation, Parameter, Part};
use super::words::{Quotes, push_quoted, push_text};
use super::{Read, Reader};

impl Reader<'_> {
    /// What follows a `$`, from its `{` to its `}`.
    pub(super) fn braced(&mut self, quotes: Quotes) -> Read<Part> {
        let start = self.cursor.place();
        self.cursor.bump();
        let parameter = self.deeper(|reader| reader.braced_inside(quotes))?;
        self.expect('}', "`${` is not closed")?;
        let shown = format!("${}", self.cursor.slice(start, self.cursor.raw_place()));
        Ok(Part::Parameter(Box::new(Parameter { shown, ..parameter })))
    }

    fn braced_inside(&mut self, quotes: Quotes) -> Read<Parameter> {
        let next = self.cursor.peek();
        let after = self.cursor.second();
        if next == Some('#') && after != Some('}') {
            self.cursor.bump();
            let (name, subscript) = self.parameter_name()?;
            return Ok(parameter(name, subscript, Operation::Length));
        }
        if next == Some('!') && after.is_some_and(|after| starts_name(after) || after.is_ascii_digit()) {
            self.cursor.bump();
            return self.indirect(quotes);
        }
        let (name, subscript) = self.parameter_name()?;
        let operation = self.operation(quotes)?;
        Ok(parameter(name, subscript, operation))
    }

    fn indirect(&mut self, quotes: Quotes) -> Read<Parameter> {
        let (name, subscript) = self.parameter_name()?;
        let names = matches!(self.cursor.peek(), Some('*' | '@')) && self.cursor.second() == Some('}');
        if names {
            self.cursor.bump();
            return Ok(parameter(name, subscript, Operation::Names));
        }
        let keys = subscript.as_deref().is_some_and(is_whole_array);
        if keys && self.cursor.peek() == Some('}') {
            return Ok(parameter(name, subscript, Operation::Names));
        }
        // What follows is read for the substitutions in it; the value is unknown anyway.
        self.operation(quotes)?;
        Ok(parameter(name, subscript, Operation::Indirect))
    }

    fn parameter_name(&mut self) -> Read<(String, Option<Vec<Part>>)> {
        let mut name = String::new();
        match self.cursor.peek() {
            Some(first) if starts_name(first) => {
                while let Some(next) = self.cursor.peek().filter(|next| continues_name(*next)) {
                    self.cursor.bump();
                    name.push(next);
                }
            }
            Some(first) if first.is_ascii_digit() => {
                while let Some(next) = self.cursor.peek().filter(char::is_ascii_digit) {
                    self.cursor.bump();
                    name.push(next);
                }
            }
            Some(special) if "@*#?-$!".contains(special) => {
                self.cursor.bump();
                name.push(special);
            }
            _ => return self.fail("`${` without a name"),
        }
        let subscript = if name.starts_with(starts_name) && self.cursor.peek() == Some('[') {
            Some(self.subscript()?)
        } else {
            None
        };
        Ok((name, subscript))
    }

    fn operation(&mut self, quotes: Quotes) -> Read<Operation> {
        let colon =
            self.cursor.peek() == Some(':') && self.cursor.second().is_some_and(|next| "-=+?".contains(next));
        if colon {
            self.cursor.bump();
        }
        let Some(operator) = self.cursor.peek() else { return self.fail("`${` is not closed") };
        if operator == '}' {
            return Ok(Operation::Plain);
        }
        self.cursor.bump();
        match operator {
            '-' => Ok(Operation::Default { colon, word: self.braced_word(quotes, Literal::Single)? }),
            '=' => Ok(Operation::Assign { word: self.braced_word(quotes, Literal::Single)? }),
            '+' => Ok(Operation::Alternate { word: self.braced_word(quotes, Literal::Single)? }),
            '?' => Ok(Operation::Require { word: self.braced_word(quotes, Literal::Single)? }),
            '#' | '%' => {
                let longest = self.cursor.eat(operator);
                let pattern = self.braced_word(quotes, Literal::None)?;
                Ok(Operation::Trim { suffix: operator == '%', longest, pattern })
            }
            '/' | '^' | ',' | '~' => {
                Ok(Operation::Rewrite { words: self.braced_word(quotes, Literal::None)? })
            }
            ':' => Ok(Operation::Slice { header: self.slice_header()? }),
            '@' => match self.cursor.bump() {
                Some(transform) if transform.is_ascii_alphabetic() => Ok(Operation::Transform(transform)),
                _ => self.fail("`${…@}` without an operator"),
            },
            _ => self.fail("`${` with an operator that bash does not know"),
        }
    }

    /// The word after an operator, up to the brace that closes.
    fn braced_word(&mut self, quotes: Quotes, literal: Literal) -> Read<Vec<Part>> {
        let mut parts = Vec::new();
        loop {
            let start = self.cursor.place();
            match self.cursor.peek() {
                None => return self.fail("`${` is not closed"),
                Some('}') => return Ok(parts),
                Some('\'') if quotes != Quotes::Bare && literal == Literal::Single => {
                    // A character inside double quotes, says POSIX; a quote, said some versions.
                    self.cursor.bump();
                    push_quoted(&mut parts, '\'');
                    self.odd(start, "a single quote in a default inside double quotes");
                }
                Some('"') if quotes == Quotes::Document => {
                    self.cursor.bump();
                    self.odd(start, "a double quote in an expansion inside a here-document");
                }
                Some('<' | '>') if self.cursor.second() == Some('(') => {
                    parts.push(self.process()?);
                    if quotes != Quotes::Bare {
                        self.odd(start, "a process substitution in an expansion inside double quotes");
                    }
                }
                Some('$') if matches!(self.cursor.second(), Some('\'' | '"')) => {
                    // Bash resolves these before it knows which quotes are around them.
                    self.word_part('$', &mut parts)?;
                    self.odd(start, "a quoted string with a `$` in an expansion");
                }
                Some('\\') => {
                    self.cursor.bump();
                    match self.cursor.raw_bump() {
                        Some(escaped) if quotes == Quotes::Bare || "$`\"\\}".contains(escaped) => {
                            push_quoted(&mut parts, escaped);
                        }
                        Some(escaped) => {
                            push_quoted(&mut parts, '\\');
                            push_quoted(&mut parts, escaped);
                        }
                        None => return self.fail("`${` is not closed"),
                    }
                }
                Some(next @ ('\'' | '"')) => self.word_part(next, &mut parts)?,
                Some(next @ ('$' | '`')) if quotes == Quotes::Bare => self.word_part(next, &mut parts)?,
                Some(next @ ('$' | '`')) => self.quoted_part(next, quotes, &mut parts)?,
                Some(next) => {
                    self.cursor.bump();
                    push_text(&mut parts, next);
                }
            }
        }
    }

    fn slice_header(&mut self) -> Read<Vec<Part>> {
        self.arithmetic_until('}')
    }

    /// `[…]` after a name. The cursor stands on its bracket.
    pub(super) fn subscript(&mut self) -> Read<Vec<Part>> {
        self.cursor.bump();
        let parts = self.deeper(|reader| reader.arithmetic_until(']'))?;
        self.expect(']', "a subscript is not closed")?;
        Ok(parts)
    }
}

/// Which quotes are characters in the word of an operator inside double quotes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Literal {
    Single,
    None,
}

fn parameter(name: String, subscript: Option<Vec<Part>>, operation: Operation) -> Parameter {
    Parameter { name, subscript, operation, shown: String::new() }
}

/// `[@]` and `[*]`.
pub(in crate::syntax) fn is_whole_array(subscript: &[Part]) -> bool {
    matches!(subscript, [Part::Text(text)] if text == "@" || text == "*")
}
