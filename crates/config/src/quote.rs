//! Text that comes from files, on its way to a terminal: keys and values as
//! TOML writes them, and everything else with what could drive a terminal or
//! turn the reading direction made visible.

use std::fmt::Write;

/// A dotted key, with quotes around the parts that need them.
pub(crate) fn key(path: &[String]) -> String {
    let parts: Vec<String> = path
        .iter()
        .map(|part| {
            let bare = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
            if !part.is_empty() && part.bytes().all(bare) { part.clone() } else { string(part) }
        })
        .collect();
    parts.join(".")
}

/// A basic string, with its quotes.
pub(crate) fn string(text: &str) -> String {
    let mut quoted = String::with_capacity(text.len() + 2);
    quoted.push('"');
    for character in text.chars() {
        match character {
            '"' => quoted.push_str("\\\""),
            '\\' => quoted.push_str("\\\\"),
            '\n' => quoted.push_str("\\n"),
            '\t' => quoted.push_str("\\t"),
            _ if is_unsafe(character) => {
                // Writing to a String cannot fail.
                let _ = write!(quoted, "\\u{:04X}", u32::from(character));
            }
            _ => quoted.push(character),
        }
    }
    quoted.push('"');
    quoted
}

/// The text as it is, except for characters that are not simply shown.
pub(crate) fn plain(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for character in text.chars() {
        if is_unsafe(character) {
            let _ = write!(shown, "\\u{:04X}", u32::from(character));
        } else {
            shown.push(character);
        }
    }
    shown
}

/// The text as [`plain`] has it, cut off where nobody would read on.
pub(crate) fn brief(text: &str) -> String {
    const MOST: usize = 100;
    match text.char_indices().nth(MOST) {
        Some((end, _)) => format!("{}…", plain(text.get(..end).unwrap_or_default())),
        None => plain(text),
    }
}

/// Control characters, and the ones that change the direction of what follows.
fn is_unsafe(character: char) -> bool {
    character.is_control()
        || matches!(character, '\u{200E}' | '\u{200F}' | '\u{202A}'..='\u{202E}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_quoted_where_toml_needs_it_and_read_back() {
        let path = ["permission", "bash", "git \"x\" \\ \u{1b}[2J\u{7f}\n"].map(str::to_owned);
        let written = key(&path);
        assert_eq!(written, r#"permission.bash."git \"x\" \\ \u001B[2J\u007F\n""#);
        let read: toml::Table = format!("{written} = 1").parse().unwrap();
        assert_eq!(read["permission"]["bash"][&path[2]].as_integer(), Some(1));
        assert_eq!(key(&[String::new()]), "\"\"");
    }

    #[test]
    fn what_would_drive_a_terminal_is_made_visible() {
        assert_eq!(plain("/tmp/\u{1b}]0;x\u{7}/ä\u{202e}"), "/tmp/\\u001B]0;x\\u0007/ä\\u202E");
    }
}
