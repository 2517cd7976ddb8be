//! Reads values the way models write them: JSON, Python's literals and Gemma's
//! marks, with the slips of each.
//!
//! Owns no calls. What cannot be read is nothing, never half a value.

use serde_json::{Map, Number, Value};

/// Gemma's quote.
pub(super) const MARK: &str = "<|\"|>";
/// Deeper values are not read: they come from a model that has lost its way.
const DEEPEST: usize = 64;

/// What a word without quotes is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum BareWords {
    /// A slip.
    Refused,
    /// A string.
    Strings,
}

/// Reads from the front of a text.
#[derive(Debug, Clone)]
pub(super) struct Reader<'a> {
    rest: &'a str,
    bare: BareWords,
}

/// The whole text as one value.
pub(super) fn read(text: &str, bare: BareWords) -> Option<Value> {
    let mut reader = Reader::new(text, bare);
    let value = reader.value(0)?;
    reader.skip_blank();
    reader.rest.is_empty().then_some(value)
}

impl<'a> Reader<'a> {
    pub(super) fn new(rest: &'a str, bare: BareWords) -> Self {
        Self { rest, bare }
    }

    /// What has not been read.
    pub(super) fn rest(&self) -> &'a str {
        self.rest
    }

    /// Blanks and Python's comments.
    pub(super) fn skip_blank(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            let Some(comment) = self.rest.strip_prefix('#') else { return };
            self.rest = comment.find('\n').and_then(|end| comment.get(end..)).unwrap_or_default();
        }
    }

    /// Whether the text goes on with this, which is then read.
    pub(super) fn take(&mut self, token: &str) -> bool {
        match self.rest.strip_prefix(token) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    /// A name: letters, digits, `_`, `.` and `-`.
    pub(super) fn name(&mut self) -> Option<&'a str> {
        let end = self
            .rest
            .find(|character: char| !(character.is_alphanumeric() || matches!(character, '_' | '.' | '-')))
            .unwrap_or(self.rest.len());
        let (name, rest) = self.rest.split_at_checked(end).filter(|(name, _)| !name.is_empty())?;
        self.rest = rest;
        Some(name)
    }

    /// The next value.
    pub(super) fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > DEEPEST {
            return None;
        }
        self.skip_blank();
        match self.rest.chars().next()? {
            '{' => self.object(depth),
            '[' => self.list('[', ']', depth),
            '(' => self.list('(', ')', depth),
            _ => self.string().map(Value::String).or_else(|| self.scalar()),
        }
    }

    fn object(&mut self, depth: usize) -> Option<Value> {
        self.take("{").then_some(())?;
        let mut fields = Map::new();
        loop {
            self.skip_blank();
            if self.take("}") {
                return Some(Value::Object(fields));
            }
            let key = self.string().or_else(|| self.name().map(str::to_owned))?;
            self.skip_blank();
            self.take(":").then_some(())?;
            fields.insert(key, self.value(depth + 1)?);
            self.skip_blank();
            if !self.take(",") && !self.rest.starts_with('}') {
                return None;
            }
        }
    }

    fn list(&mut self, open: char, close: char, depth: usize) -> Option<Value> {
        let mut buffer = [0; 4];
        self.take(open.encode_utf8(&mut buffer)).then_some(())?;
        let mut items = Vec::new();
        loop {
            self.skip_blank();
            if self.rest.starts_with(close) {
                self.rest = self.rest.get(close.len_utf8()..)?;
                return Some(Value::Array(items));
            }
            items.push(self.value(depth + 1)?);
            self.skip_blank();
            if !self.take(",") && !self.rest.starts_with(close) {
                return None;
            }
        }
    }

    /// A string with any quotes; nothing is read if there is none.
    fn string(&mut self) -> Option<String> {
        if let Some(inner) = self.rest.strip_prefix(MARK) {
            let (text, rest) = inner.split_once(MARK)?;
            self.rest = rest;
            return Some(text.to_owned());
        }
        let letters = self.rest.find(['"', '\'']).filter(|length| *length <= 2)?;
        let (prefix, quoted) = self.rest.split_at_checked(letters)?;
        if !prefix.chars().all(|letter| "rRbBfFuU".contains(letter)) {
            return None;
        }
        let raw = prefix.contains(['r', 'R']);
        let quote = quoted.chars().next()?;
        let triple: String = [quote; 3].iter().collect();
        let single = quote.to_string();
        let delimiter = if quoted.starts_with(&triple) { &triple } else { &single };
        let body = quoted.get(delimiter.len()..)?;
        let (text, length) = unescaped(body, delimiter, raw)?;
        self.rest = body.get(length..)?;
        Some(text)
    }

    fn scalar(&mut self) -> Option<Value> {
        let end = self.rest.find([',', '}', ']', ')', '\n']).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end)?;
        let word = word.trim();
        let value = match word {
            "true" | "True" => Value::Bool(true),
            "false" | "False" => Value::Bool(false),
            "null" | "None" | "none" => Value::Null,
            _ => match (number(word), self.bare) {
                (Some(number), _) => Value::Number(number),
                (None, BareWords::Strings) => Value::String(word.to_owned()),
                (None, BareWords::Refused) => return None,
            },
        };
        self.rest = rest;
        Some(value)
    }
}

/// A number in anybody's form.
pub(super) fn number(word: &str) -> Option<Number> {
    let digits = word.strip_prefix('+').unwrap_or(word);
    if !digits.starts_with(|c: char| c.is_ascii_digit() || c == '-' || c == '.') {
        return None;
    }
    let whole = digits.parse::<i64>().ok().map(Number::from);
    let whole = whole.or_else(|| digits.parse::<u64>().ok().map(Number::from));
    whole.or_else(|| digits.parse::<f64>().ok().filter(|value| value.is_finite()).and_then(Number::from_f64))
}

/// A string's text up to its closing quotes, and how many bytes it took with them.
fn unescaped(body: &str, delimiter: &str, raw: bool) -> Option<(String, usize)> {
    let mut text = String::new();
    let mut at = 0;
    loop {
        let rest = body.get(at..)?;
        if rest.starts_with(delimiter) {
            return Some((text, at + delimiter.len()));
        }
        let character = rest.chars().next()?;
        at += character.len_utf8();
        if character != '\\' {
            text.push(character);
            continue;
        }
        let escaped = body.get(at..)?.chars().next()?;
        at += escaped.len_utf8();
        if raw {
            text.push('\\');
            text.push(escaped);
        } else {
            at += escape(escaped, body.get(at..)?, &mut text);
        }
    }
}

/// Writes what an escape means, and says how many bytes more it took. One that means nothing stays as it is: models
/// forget to double the backslashes of patterns.
fn escape(escaped: char, rest: &str, text: &mut String) -> usize {
    match escaped {
        'n' => text.push('\n'),
        't' => text.push('\t'),
        'r' => text.push('\r'),
        'b' => text.push('\u{8}'),
        'f' => text.push('\u{c}'),
        '"' | '\'' | '\\' | '/' => text.push(escaped),
        '\n' => {}
        'x' => return code(rest, 2, text).unwrap_or_else(|| kept(escaped, text)),
        'U' => return code(rest, 8, text).unwrap_or_else(|| kept(escaped, text)),
        'u' => {
            return pair(rest, text).or_else(|| code(rest, 4, text)).unwrap_or_else(|| kept(escaped, text));
        }
        other => return kept(other, text),
    }
    0
}

fn kept(escaped: char, text: &mut String) -> usize {
    text.push('\\');
    text.push(escaped);
    0
}

fn code(rest: &str, digits: usize, text: &mut String) -> Option<usize> {
    let value = u32::from_str_radix(rest.get(..digits)?, 16).ok()?;
    text.push(char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER));
    Some(digits)
}

/// Two halves of a character.
fn pair(rest: &str, text: &mut String) -> Option<usize> {
    let unit = |from: usize| u16::from_str_radix(rest.get(from..from + 4)?, 16).ok();
    let high = unit(0)?;
    let low = rest.get(4..6).filter(|mark| *mark == "\\u").and_then(|_| unit(6))?;
    let mut decoded = char::decode_utf16([high, low]);
    let character = decoded.next()?.ok().filter(|_| decoded.next().is_none())?;
    text.push(character);
    Some(10)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn values_are_read_in_anybodys_words() {
        for (text, expected) in [
            (r#"{"a": 1, "b": [true, null, 1.5],}"#, json!({"a": 1, "b": [true, null, 1.5]})),
            ("{'a': 'it\\'s', 'b': None, 'c': (1, 2)}", json!({"a": "it's", "b": null, "c": [1, 2]})),
            (r#"{"p": "\d+\n\u00e9\ud83d\ude00"}"#, json!({"p": "\\d+\n\u{e9}\u{1f600}"})),
            ("{\"p\": \"two\nlines\"}", json!({"p": "two\nlines"})),
            (r#"[r'\w', """a "b" c""", '\x41\U0001F600']"#, json!(["\\w", "a \"b\" c", "A\u{1f600}"])),
            ("{a: -3, # why\n b: +4}", json!({"a": -3, "b": 4})),
        ] {
            assert_eq!(read(text, BareWords::Refused), Some(expected), "{text}");
        }
        for bad in ["{", "{\"a\": x}", "{\"a\" 1}", "[1 2]", "'open", "{} {}", "", "\\"] {
            assert_eq!(read(bad, BareWords::Refused), None, "{bad}");
        }
    }

    #[test]
    fn marks_are_quotes_and_bare_words_are_strings_where_that_is_the_custom() {
        let text = "{path:<|\"|>a, \"b\" {c}<|\"|>,unit:celsius,n:2,l:[<|\"|>x<|\"|>]}";
        let expected = json!({"path": "a, \"b\" {c}", "unit": "celsius", "n": 2, "l": ["x"]});
        assert_eq!(read(text, BareWords::Strings), Some(expected));
    }

    #[test]
    fn what_is_nested_too_deeply_is_not_read() {
        assert_eq!(read(&"[".repeat(100_000), BareWords::Refused), None);
    }
}
