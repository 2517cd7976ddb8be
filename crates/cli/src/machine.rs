//! JSON for programs. Whoever looks at it on a terminal is safe too: what a
//! terminal would obey, or what some readers take for the end of a line, is
//! escaped. Such characters occur in strings only, where an escape means the same.

use serde::Serialize;

/// On one line, without the line feed.
pub fn line(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string(value).map(escaped)
}

/// Indented.
pub fn document(value: &impl Serialize) -> serde_json::Result<String> {
    serde_json::to_string_pretty(value).map(escaped)
}

fn escaped(json: String) -> String {
    if !json.chars().any(is_escaped) {
        return json;
    }
    let mut safe = String::with_capacity(json.len() + 32);
    for character in json.chars() {
        if is_escaped(character) {
            // None of them is outside of the first plane.
            safe.push_str(&format!("\\u{:04x}", u32::from(character)));
        } else {
            safe.push(character);
        }
    }
    safe
}

/// The control characters that JSON permits in strings, line separators, and what changes the reading direction.
fn is_escaped(character: char) -> bool {
    matches!(
        character,
        '\u{7f}'..='\u{9f}'
            | '\u{61c}'
            | '\u{200e}'
            | '\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2066}'..='\u{2069}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    #[test]
    fn what_a_terminal_would_obey_is_escaped_and_means_the_same() {
        let value = json!({"a\u{9b}": "\u{1b}[31m\u{7f}\u{85}\u{2028}\u{202e}\u{2066}\u{61c} ü → 😀"});
        let text = line(&value).unwrap();
        assert_eq!(text, r#"{"a\u009b":"\u001b[31m\u007f\u0085\u2028\u202e\u2066\u061c ü → 😀"}"#);
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), value);
        assert_eq!(serde_json::from_str::<Value>(&document(&value).unwrap()).unwrap(), value);
    }
}
