//! JSON as models write it when they do not quite write JSON.
//!
//! Read are comments, commas too many, single quotes, bare keys, the words of
//! Python, raw line ends in strings, backslashes that escape nothing, a fence
//! of Markdown around it all, and one brace too few or some too many at the
//! end. What could mean two things is not read: a string without an end, a list
//! without one, a number at the end of a cut text, two objects, one key twice.
//!
//! The invariant: what is valid JSON is read as the same value.

use serde_json::{Map, Number, Value};

/// How deep values may be in each other.
const MOST_DEPTH: usize = 100;

/// The object in a text, if there is one thing that it can mean.
pub(super) fn object(text: &str) -> Option<Map<String, Value>> {
    let mut reader = Reader { rest: unfenced(text) };
    reader.skip();
    reader.rest = reader.rest.strip_prefix('{')?;
    let (object, ending) = reader.members(1)?;
    reader.skip();
    let is_over = match ending {
        Ending::Closed => reader.rest.trim_end_matches(['}', ']', ';', ' ', '\n', '\r', '\t']).is_empty(),
        Ending::Cut => reader.rest.is_empty(),
    };
    is_over.then_some(object)
}

/// Without ```` ```json ```` and ```` ``` ````.
fn unfenced(text: &str) -> &str {
    let text = text.trim();
    let Some(inner) = text.strip_prefix("```") else { return text };
    let inner = inner.strip_prefix("json").unwrap_or(inner);
    inner.strip_suffix("```").unwrap_or(inner)
}

/// How an object ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ending {
    /// With its brace.
    Closed,
    /// With the text, after a value that was complete.
    Cut,
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    /// Goes past blanks and comments.
    fn skip(&mut self) {
        loop {
            self.rest = self.rest.trim_start();
            if let Some(comment) = self.rest.strip_prefix("//") {
                self.rest = comment.find('\n').and_then(|end| comment.get(end..)).unwrap_or_default();
            } else if let Some(comment) = self.rest.strip_prefix("/*") {
                self.rest = comment.find("*/").and_then(|end| comment.get(end + 2..)).unwrap_or_default();
            } else {
                return;
            }
        }
    }

    fn take(&mut self, character: char) -> bool {
        match self.rest.strip_prefix(character) {
            Some(rest) => {
                self.rest = rest;
                true
            }
            None => false,
        }
    }

    fn next(&mut self) -> Option<char> {
        let mut characters = self.rest.chars();
        let next = characters.next()?;
        self.rest = characters.as_str();
        Some(next)
    }

    /// What is between the braces of an object. Only the outermost may end with the text.
    fn members(&mut self, depth: usize) -> Option<(Map<String, Value>, Ending)> {
        let mut members = Map::new();
        loop {
            self.skip();
            if self.take('}') {
                return Some((members, Ending::Closed));
            }
            let key = self.key()?;
            self.skip();
            if !self.take(':') {
                return None;
            }
            let value = self.value(depth)?;
            // What valid JSON says twice counts the last time, but then nobody knows what was meant.
            if members.get(&key).is_some_and(|known| *known != value) {
                return None;
            }
            let is_number = value.is_number();
            members.insert(key, value);
            self.skip();
            if self.rest.is_empty() && depth == 1 && !is_number {
                return Some((members, Ending::Cut));
            }
            if !self.take(',') && !self.rest.starts_with('}') {
                return None;
            }
        }
    }

    fn key(&mut self) -> Option<String> {
        if self.rest.starts_with(['"', '\'']) {
            return self.string();
        }
        let is_part = |character: char| character.is_alphanumeric() || matches!(character, '_' | '-' | '$');
        let end = self.rest.find(|character| !is_part(character))?;
        let (key, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        (!key.is_empty()).then(|| key.to_owned())
    }

    fn value(&mut self, depth: usize) -> Option<Value> {
        if depth > MOST_DEPTH {
            return None;
        }
        self.skip();
        match self.rest.chars().next()? {
            '{' => {
                self.next();
                match self.members(depth + 1)? {
                    (members, Ending::Closed) => Some(Value::Object(members)),
                    (_, Ending::Cut) => None,
                }
            }
            '[' => {
                self.next();
                self.list(depth + 1)
            }
            '"' | '\'' => self.string().map(Value::String),
            _ => self.word(),
        }
    }

    fn list(&mut self, depth: usize) -> Option<Value> {
        let mut items = Vec::new();
        loop {
            self.skip();
            if self.take(']') {
                return Some(Value::Array(items));
            }
            items.push(self.value(depth)?);
            self.skip();
            if !self.take(',') && !self.rest.starts_with(']') {
                return None;
            }
        }
    }

    /// A number or one of the words that stand for values.
    fn word(&mut self) -> Option<Value> {
        let is_part = |character: char| character.is_alphanumeric() || matches!(character, '+' | '-' | '.');
        let end = self.rest.find(|character| !is_part(character)).unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at_checked(end)?;
        self.rest = rest;
        match word {
            "true" | "True" => Some(Value::Bool(true)),
            "false" | "False" => Some(Value::Bool(false)),
            "null" | "None" | "undefined" => Some(Value::Null),
            _ => word.parse::<Number>().ok().map(Value::Number),
        }
    }

    fn string(&mut self) -> Option<String> {
        let quote = self.next()?;
        let mut text = String::new();
        let mut escapes = Escapes::default();
        loop {
            match self.next()? {
                character if character == quote => break,
                '\\' => self.escape(&mut text, &mut escapes)?,
                character => text.push(character),
            }
        }
        // Where one backslash was meant as itself, another may have been too.
        (escapes.literal == 0 || escapes.usual == 0).then_some(text)
    }

    fn escape(&mut self, text: &mut String, escapes: &mut Escapes) -> Option<()> {
        let character = self.next()?;
        match character {
            '"' | '\'' => {
                text.push(character);
                return Some(());
            }
            '\\' | '/' => text.push(character),
            'b' => text.push('\u{8}'),
            'f' => text.push('\u{c}'),
            'n' => text.push('\n'),
            'r' => text.push('\r'),
            't' => text.push('\t'),
            'u' => text.push(self.unicode()?),
            other => {
                escapes.literal += 1;
                text.push('\\');
                text.push(other);
                return Some(());
            }
        }
        escapes.usual += 1;
        Some(())
    }

    /// The four digits after `\u`, and those of the other half if they are one half of a character.
    fn unicode(&mut self) -> Option<char> {
        let first = self.digits()?;
        if !(0xD800..0xDC00).contains(&first) {
            return char::from_u32(first);
        }
        self.rest = self.rest.strip_prefix("\\u")?;
        let second = self.digits()?;
        let low = second.checked_sub(0xDC00).filter(|low| *low < 0x400)?;
        char::from_u32(0x10000 + ((first - 0xD800) << 10) + low)
    }

    fn digits(&mut self) -> Option<u32> {
        let (digits, rest) = self.rest.split_at_checked(4)?;
        self.rest = rest;
        if !digits.bytes().all(|byte| byte.is_ascii_hexdigit()) {
            return None;
        }
        u32::from_str_radix(digits, 16).ok()
    }
}

/// What backslashes did in one string.
#[derive(Default)]
struct Escapes {
    /// Made something else of the next character.
    usual: usize,
    /// Stood for themselves.
    literal: usize,
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use serde_json::json;

    fn read(text: &str) -> Option<Value> {
        object(text).map(Value::Object)
    }

    #[test]
    fn what_means_one_thing_is_read() {
        for (text, value) in [
            (r#"{"a": 1, "b": [1, 2,],}"#, json!({"a": 1, "b": [1, 2]})),
            ("{'a': 'it\\'s', b: True, c-d: None}", json!({"a": "it's", "b": true, "c-d": null})),
            ("{\"a\": \"one\ntwo\t\"}", json!({"a": "one\ntwo\t"})),
            (r#"{"pattern": "\d+\.\w"}"#, json!({"pattern": r"\d+\.\w"})),
            ("// why\n{\"a\": /* so */ 1}", json!({"a": 1})),
            ("```json\n{\"a\": 1}\n```", json!({"a": 1})),
            (r#"{"a": 1}}"#, json!({"a": 1})),
            (r#"{"a": "x", "b": [1]"#, json!({"a": "x", "b": [1]})),
            ("{\"a\": \"\u{1F600} \\ud83d\\ude00\"}", json!({"a": "\u{1F600} \u{1F600}"})),
            (r#"{"a": "http://x // y"}"#, json!({"a": "http://x // y"})),
        ] {
            assert_eq!(read(text), Some(value), "{text}");
        }
    }

    #[test]
    fn what_may_mean_two_things_is_not_read() {
        for text in [
            r#"{"path": "a", "content": "cut of"#,
            r#"{"limit": 10"#,
            r#"{"edits": [{"old": "a", "new": "b"}"#,
            r#"{"a": {"b": "c"}"#.trim_end_matches('}'),
            r#"{"a": "x","#,
            r#"{"a": "x", "b""#,
            r#"{"a": 1}{"a": 2}"#,
            r#"{"a": 1, "a": 2}"#,
            r#"{"path": "C:\new\data"}"#,
            r#"{"a": "he said "no" to me"}"#,
            r#"{"a": 0x10}"#,
            r#"{"a": one}"#,
            r#"{"a": "\ud83d"}"#,
            r#"[{"a": 1}]"#,
            "",
            "grep for it",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        assert_eq!(read(&format!("{{\"a\": {}", "[".repeat(100_000))), None);
    }

    fn json_value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,20}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 32, 6, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..6).prop_map(Value::from),
                proptest::collection::btree_map(".{0,8}", inner, 0..6)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn valid_json_is_read_as_the_same_value(value in json_value()) {
            let value = json!({ "value": value });
            prop_assert_eq!(read(&value.to_string()), Some(value.clone()));
            prop_assert_eq!(read(&serde_json::to_string_pretty(&value).unwrap()), Some(value));
        }

        #[test]
        fn no_text_is_too_strange(text in "[{}\\[\\],:'\"\\\\/*a1 \\n\\-.]{0,40}") {
            let _ = read(&text);
            let _ = read(&format!("{{{text}"));
        }

        #[test]
        fn what_is_cut_inside_a_string_is_never_read(value in "[a-z \\\\\"\n]{1,30}", cut in 0_usize..40) {
            let text = json!({ "content": value }).to_string();
            let begin = "{\"content\":\"".len();
            let end = text.len() - 2;
            let at = begin + cut % (end - begin + 1);
            prop_assert_eq!(read(&text[..at]), None, "{}", &text[..at]);
        }
    }
}
