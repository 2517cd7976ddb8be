//! JSON as providers send it: inside of events, or as a whole answer. Shared by
//! all wires. What cannot be read is said with the provider's own words.

use rein_http::Headers;
use rein_protocol::Timestamp;
use serde_json::Value;

use crate::error::{ErrorKind, ModelError, classify};

/// How much of what cannot be read is shown.
const LONGEST_EXCERPT: usize = 200;

/// The value that an event holds.
pub(in crate::wire) fn event(data: &str) -> Result<Value, ModelError> {
    let read =
        serde_json::from_str(data).or_else(|error| serde_json::from_str(&mended(data)).map_err(|_| error));
    read.map_err(|error| unreadable(data, &error))
}

/// The value that a whole answer is.
pub(in crate::wire) fn body(text: &str) -> Result<Value, ModelError> {
    serde_json::from_str(text.trim()).map_err(|error| {
        // A body that ends too early was cut; one that is garbled was not.
        if error.is_eof() { cut() } else { unreadable(text, &error) }
    })
}

/// The error that an answer without an end is.
pub(in crate::wire) fn cut() -> ModelError {
    ModelError::new(ErrorKind::Cut, "the provider's answer broke off before it was complete")
}

/// The error that a provider reported inside of an answer that began well.
pub(in crate::wire) fn reported(text: &str) -> ModelError {
    classify(None, &Headers::default(), text, Timestamp::now())
}

fn unreadable(text: &str, error: &serde_json::Error) -> ModelError {
    let message = format!("the provider sent something that is not JSON ({error}): {}", excerpt(text));
    ModelError::new(ErrorKind::Protocol, message)
}

pub(in crate::wire) fn excerpt(text: &str) -> String {
    text.trim().chars().take(LONGEST_EXCERPT).collect()
}

pub(in crate::wire) fn filled(value: Option<&Value>) -> Option<&str> {
    value.and_then(Value::as_str).filter(|text| !text.is_empty())
}

/// JSON in which halves of characters are replaced: servers that cut text by UTF-16 units send them.
fn mended(json: &str) -> String {
    let unit = |at: usize| {
        let digits = json.get(at..)?.strip_prefix("\\u")?.get(..4)?;
        u16::from_str_radix(digits, 16).ok()
    };
    let mut whole = String::with_capacity(json.len());
    let mut rest = 0;
    while let Some(found) = json.get(rest..).and_then(|text| text.find('\\')) {
        let at = rest + found;
        whole.push_str(json.get(rest..at).unwrap_or_default());
        let (length, piece) = match (unit(at), unit(at + 6)) {
            (Some(0xd800..=0xdbff), Some(0xdc00..=0xdfff)) => (12, None),
            (Some(0xd800..=0xdfff), _) => (6, Some("\\ufffd")),
            (Some(_), _) => (6, None),
            (None, _) => (1 + next_character(json, at + 1), None),
        };
        let end = (at + length).min(json.len());
        whole.push_str(piece.unwrap_or_else(|| json.get(at..end).unwrap_or_default()));
        rest = end;
    }
    whole.push_str(json.get(rest..).unwrap_or_default());
    whole
}

/// How many bytes the character at a place has.
fn next_character(text: &str, at: usize) -> usize {
    text.get(at..).and_then(|rest| rest.chars().next()).map_or(0, char::len_utf8)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn half_a_character_is_replaced_and_whole_ones_are_left_alone() {
        for (json, expected) in [
            (r#""\ud83d""#, r#""\ufffd""#),
            (r#""\ude00 hi""#, r#""\ufffd hi""#),
            (r#""\ud83d\ude00""#, r#""\ud83d\ude00""#),
            (r#""\\ud83d \n é""#, r#""\\ud83d \n é""#),
            (r#""\u00e9\ud83d\ud83d\ude00""#, r#""\u00e9\ufffd\ud83d\ude00""#),
            (r#""\"#, r#""\"#),
            ("\"\\é", "\"\\é"),
        ] {
            assert_eq!(mended(json), expected, "{json}");
        }
    }
}
