//! JSON as people write it in settings: with comments and trailing commas, and
//! with the line of every value.
//!
//! Bounded in depth; anything else that is no JSON is an error with its line.

use std::iter::Peekable;
use std::str::CharIndices;

/// How deep values may be nested.
const DEEPEST: usize = 64;

/// A value and where it begins.
#[derive(Debug, Clone, PartialEq)]
pub struct Json {
    /// The line, from 1.
    pub line: usize,
    /// What it is.
    pub value: Value,
}

/// What a value is.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// In the order of the file.
    Object(Vec<(String, Json)>),
    /// A list.
    List(Vec<Json>),
    /// A string.
    Text(String),
    /// `true` or `false`.
    Boolean(bool),
    /// A number, as it is written.
    Number(String),
    /// `null`.
    Null,
}

/// What is wrong with a text.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {problem}")]
pub struct JsonError {
    /// Where, from 1.
    pub line: usize,
    /// What.
    pub problem: &'static str,
}

impl Json {
    /// The value of a key, the last one if there are several.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<&Json> {
        self.entries().rev().find(|(name, _)| *name == key).map(|(_, value)| value)
    }

    /// The entries of an object; none of anything else.
    pub fn entries(&self) -> impl DoubleEndedIterator<Item = (&str, &Json)> {
        let entries: &[(String, Json)] = match &self.value {
            Value::Object(entries) => entries,
            _ => &[],
        };
        entries.iter().map(|(key, value)| (key.as_str(), value))
    }

    /// The items of a list; none of anything else.
    #[must_use]
    pub fn items(&self) -> &[Json] {
        match &self.value {
            Value::List(items) => items,
            _ => &[],
        }
    }

    /// Whether it is a list.
    #[must_use]
    pub fn is_list(&self) -> bool {
        matches!(self.value, Value::List(_))
    }

    /// A string's text.
    #[must_use]
    pub fn as_text(&self) -> Option<&str> {
        match &self.value {
            Value::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Reads a text.
///
/// # Errors
/// If it is no JSON, comments and trailing commas aside.
pub fn parse(text: &str) -> Result<Json, JsonError> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    let mut reader = Reader { text, rest: text.char_indices().peekable(), line: 1 };
    let value = reader.value(0)?;
    reader.skip()?;
    match reader.rest.peek() {
        None => Ok(value),
        Some(_) => Err(reader.wrong("nothing more is expected")),
    }
}

struct Reader<'a> {
    text: &'a str,
    rest: Peekable<CharIndices<'a>>,
    line: usize,
}

impl Reader<'_> {
    fn wrong(&self, problem: &'static str) -> JsonError {
        JsonError { line: self.line, problem }
    }

    fn next(&mut self) -> Option<char> {
        let (_, character) = self.rest.next()?;
        if character == '\n' {
            self.line += 1;
        }
        Some(character)
    }

    fn peek(&mut self) -> Option<char> {
        self.rest.peek().map(|(_, character)| *character)
    }

    fn at(&mut self) -> usize {
        self.rest.peek().map_or(self.text.len(), |(at, _)| *at)
    }

    /// Goes past blanks and comments.
    fn skip(&mut self) -> Result<(), JsonError> {
        while let Some(character) = self.peek() {
            match character {
                ' ' | '\t' | '\r' | '\n' => {
                    self.next();
                }
                '/' => self.comment()?,
                _ => break,
            }
        }
        Ok(())
    }

    fn comment(&mut self) -> Result<(), JsonError> {
        self.next();
        match self.next() {
            Some('/') => {
                while self.peek().is_some_and(|character| character != '\n') {
                    self.next();
                }
                Ok(())
            }
            Some('*') => {
                let mut star = false;
                while let Some(character) = self.next() {
                    if star && character == '/' {
                        return Ok(());
                    }
                    star = character == '*';
                }
                Err(self.wrong("a comment does not end"))
            }
            _ => Err(self.wrong("a value is expected")),
        }
    }

    fn value(&mut self, depth: usize) -> Result<Json, JsonError> {
        if depth > DEEPEST {
            return Err(self.wrong("values are nested too deep"));
        }
        self.skip()?;
        let line = self.line;
        let value = match self.peek() {
            Some('{') => self.object(depth)?,
            Some('[') => self.list(depth)?,
            Some('"') => Value::Text(self.string()?),
            _ => self.word()?,
        };
        Ok(Json { line, value })
    }

    fn object(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.next();
        let mut entries = Vec::new();
        loop {
            self.skip()?;
            match self.peek() {
                Some('}') => {
                    self.next();
                    return Ok(Value::Object(entries));
                }
                Some('"') => {}
                _ => return Err(self.wrong("a key in quotes or `}` is expected")),
            }
            let key = self.string()?;
            self.skip()?;
            if self.next() != Some(':') {
                return Err(self.wrong("`:` is expected"));
            }
            entries.push((key, self.value(depth + 1)?));
            self.comma('}')?;
        }
    }

    fn list(&mut self, depth: usize) -> Result<Value, JsonError> {
        self.next();
        let mut items = Vec::new();
        loop {
            self.skip()?;
            if self.peek() == Some(']') {
                self.next();
                return Ok(Value::List(items));
            }
            items.push(self.value(depth + 1)?);
            self.comma(']')?;
        }
    }

    /// A comma, or the end that may come without one.
    fn comma(&mut self, end: char) -> Result<(), JsonError> {
        self.skip()?;
        match self.peek() {
            Some(',') => {
                self.next();
                Ok(())
            }
            Some(found) if found == end => Ok(()),
            _ => Err(self.wrong("`,` or the end is expected")),
        }
    }

    fn string(&mut self) -> Result<String, JsonError> {
        let start = self.at();
        let line = self.line;
        self.next();
        let mut escaped = false;
        while let Some(character) = self.next() {
            match character {
                '\n' => break,
                _ if escaped => escaped = false,
                '\\' => escaped = true,
                '"' => {
                    let end = self.at();
                    let literal = self.text.get(start..end).unwrap_or_default();
                    return serde_json::from_str(literal)
                        .map_err(|_| JsonError { line, problem: "a string has a wrong escape in it" });
                }
                _ => {}
            }
        }
        Err(JsonError { line, problem: "a string does not end" })
    }

    fn word(&mut self) -> Result<Value, JsonError> {
        let start = self.at();
        while self.peek().is_some_and(|one| one.is_ascii_alphanumeric() || matches!(one, '+' | '-' | '.')) {
            self.next();
        }
        let end = self.at();
        match self.text.get(start..end).unwrap_or_default() {
            "true" => Ok(Value::Boolean(true)),
            "false" => Ok(Value::Boolean(false)),
            "null" => Ok(Value::Null),
            number if number.starts_with(is_digit_or_minus) && number.parse::<f64>().is_ok() => {
                Ok(Value::Number(number.to_owned()))
            }
            _ => Err(self.wrong("a value is expected")),
        }
    }
}

fn is_digit_or_minus(character: char) -> bool {
    character.is_ascii_digit() || character == '-'
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn comments_and_trailing_commas_are_taken_and_lines_counted() {
        let text = "\u{FEFF}// first\n{\n  \"a\": [1, \"x\\n\\u00e9\\ud83d\\ude00\", /* b\n */ true,],\r\n  \"a\": null,\n}\n// end";
        let parsed = parse(text).unwrap();
        assert_eq!(parsed.line, 2);
        let (_, list) = parsed.entries().next().unwrap();
        assert_eq!(list.items().iter().map(|item| item.line).collect::<Vec<_>>(), [3, 3, 4]);
        assert_eq!(list.items()[1].as_text(), Some("x\né😀"));
        assert_eq!(parsed.get("a"), Some(&Json { line: 5, value: Value::Null }));
        assert_eq!(
            parse("{\"url\": \"http://x/*y*/\"}").unwrap().get("url").unwrap().as_text(),
            Some("http://x/*y*/")
        );
    }

    #[test]
    fn what_is_no_json_is_told_with_its_line() {
        for (text, error) in [
            ("", "line 1: a value is expected"),
            ("{\n\"a\" 1}", "line 2: `:` is expected"),
            ("{a: 1}", "line 1: a key in quotes or `}` is expected"),
            ("[1\n2]", "line 2: `,` or the end is expected"),
            ("{\"a\": \"x\n\"}", "line 1: a string does not end"),
            ("{} x", "line 1: nothing more is expected"),
            ("/* x", "line 1: a comment does not end"),
            ("[,]", "line 1: a value is expected"),
            ("\"\\x\"", "line 1: a string has a wrong escape in it"),
        ] {
            assert_eq!(parse(text).unwrap_err().to_string(), error, "{text}");
        }
        assert_eq!(parse(&"[".repeat(100_000)).unwrap_err().problem, "values are nested too deep");
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_never_panics(text in "[\\[\\]{}\",:/*a1\\\\\n é]{0,40}") {
            let _ = parse(&text);
        }

        #[test]
        fn it_takes_what_serde_takes(text in "\\PC{0,20}", number in any::<i32>()) {
            let written = serde_json::json!({ "a": [text.clone(), number, true, null], "b": { "c": text } }).to_string();
            prop_assert!(parse(&written).is_ok());
        }
    }
}
