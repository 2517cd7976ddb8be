//! JSON with line breaks, changing nothing but the spaces between its words: numbers too large for a
//! program and doubled keys stay as they are.

use serde::de::IgnoredAny;

/// A JSON text with one value a line, if it is JSON.
pub(super) fn indented(text: &str) -> Option<String> {
    serde_json::from_str::<IgnoredAny>(text).ok()?;
    let mut result = String::with_capacity(text.len() * 2);
    let mut depth = 0_usize;
    let mut characters = text.chars().filter(|c| !matches!(c, '\n' | '\r' | '\t')).peekable();
    while let Some(character) = characters.next() {
        match character {
            ' ' => {}
            '"' => {
                result.push('"');
                string(&mut characters, &mut result);
            }
            '{' | '[' => {
                while characters.next_if_eq(&' ').is_some() {}
                result.push(character);
                if let Some(end) = characters.next_if(|next| matches!(next, '}' | ']')) {
                    result.push(end);
                } else {
                    depth += 1;
                    new_line(&mut result, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut result, depth);
                result.push(character);
            }
            ',' => {
                result.push(',');
                new_line(&mut result, depth);
            }
            ':' => result.push_str(": "),
            other => result.push(other),
        }
    }
    Some(result)
}

/// The rest of a string. No raw line break can be in one.
fn string(characters: &mut impl Iterator<Item = char>, result: &mut String) {
    while let Some(character) = characters.next() {
        result.push(character);
        match character {
            '\\' => result.extend(characters.next()),
            '"' => return,
            _ => {}
        }
    }
}

fn new_line(result: &mut String, depth: usize) {
    result.push('\n');
    result.extend(std::iter::repeat_n("  ", depth));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn json_gets_lines_and_keeps_its_words() {
        assert_eq!(
            indented(
                "{\"a\" :[1,{\"b c\":\"x, \\\"y\\\" {\"}, [ ],{}],\n\t\"n\":12345678901234567890123.10}"
            )
            .unwrap(),
            "{\n  \"a\": [\n    1,\n    {\n      \"b c\": \"x, \\\"y\\\" {\"\n    },\n    [],\n    {}\n  ],\n  \
             \"n\": 12345678901234567890123.10\n}"
        );
        assert_eq!(indented("\"a\u{a0}b\"").unwrap(), "\"a\u{a0}b\"");
        for bad in ["", "{", "{\"a\":1,}", "words", &"[".repeat(100_000)] {
            assert_eq!(indented(bad), None);
        }
    }
}
