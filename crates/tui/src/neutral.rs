//! Untrusted text without the power to move the cursor, change the title, hide
//! itself or reverse the reading direction.
//!
//! Everything that a model, a file, a server or a command produced goes through
//! [`neutral`] before it is laid out, and through [`is_harmless`] once more when
//! it is painted. The result has no control character but line feed.

use std::borrow::Cow;

/// What becomes of terminal sequences in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Sequences {
    /// They are shown as escapes: for what a person decides about.
    Shown,
    /// They are left out, and a carriage return begins its line anew: for what commands print.
    Dropped,
}

const TAB: &str = "    ";

/// The text without anything that a terminal would obey.
#[must_use]
pub fn neutral(text: &str, sequences: Sequences) -> Cow<'_, str> {
    if text.chars().all(|character| character == '\n' || is_harmless(character)) {
        return Cow::Borrowed(text);
    }
    Cow::Owned(match sequences {
        Sequences::Shown => shown(text),
        Sequences::Dropped => dropped(text),
    })
}

/// One line of it: breaks become spaces.
#[must_use]
pub fn neutral_line(text: &str) -> String {
    let text = neutral(text.trim(), Sequences::Shown);
    text.split('\n').map(str::trim_end).collect::<Vec<_>>().join(" ")
}

/// Whether a character only ever shows itself.
#[must_use]
pub fn is_harmless(character: char) -> bool {
    !matches!(character,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' | '\u{2028}' | '\u{2029}')
        && !character.is_control()
}

fn shown(text: &str) -> String {
    let mut safe = String::with_capacity(text.len() + 16);
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\n' => safe.push('\n'),
            '\t' => safe.push_str(TAB),
            '\r' if rest.peek() == Some(&'\n') => {}
            '\r' => safe.push_str("\\r"),
            other if is_harmless(other) => safe.push(other),
            other => safe.extend(other.escape_unicode()),
        }
    }
    safe
}

fn dropped(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut line = 0;
    let mut rest = text.chars().peekable();
    while let Some(character) = rest.next() {
        match character {
            '\n' => {
                safe.push('\n');
                line = safe.len();
            }
            '\t' => safe.push_str(TAB),
            '\r' if rest.peek().is_some_and(|next| *next != '\n') => safe.truncate(line),
            '\u{8}' if safe.len() > line => {
                safe.pop();
            }
            '\u{1b}' => skip_sequence(&mut rest),
            '\u{9b}' => skip_control_sequence(&mut rest),
            '\u{90}' | '\u{98}' | '\u{9d}' | '\u{9e}' | '\u{9f}' => skip_string(&mut rest),
            other if is_harmless(other) => safe.push(other),
            _ => {}
        }
    }
    safe
}

type Rest<'a> = std::iter::Peekable<std::str::Chars<'a>>;

fn skip_sequence(rest: &mut Rest<'_>) {
    match rest.peek() {
        Some('[') => {
            rest.next();
            skip_control_sequence(rest);
        }
        Some(']' | 'P' | 'X' | '^' | '_') => {
            rest.next();
            skip_string(rest);
        }
        Some(' '..='/') => {
            while rest.next_if(|character| matches!(character, ' '..='/')).is_some() {}
            rest.next_if(|character| matches!(character, '0'..='~'));
        }
        Some('0'..='~') => {
            rest.next();
        }
        _ => {}
    }
}

fn skip_control_sequence(rest: &mut Rest<'_>) {
    while rest.next_if(|character| matches!(character, ' '..='?')).is_some() {}
    rest.next_if(|character| matches!(character, '@'..='~'));
}

/// Up to its terminator; a line break ends it too, so that a lost terminator hides one line at most.
fn skip_string(rest: &mut Rest<'_>) {
    while let Some(character) = rest.next_if(|character| *character != '\n') {
        match character {
            '\u{7}' | '\u{9c}' => return,
            '\u{1b}' => {
                rest.next_if(|character| *character == '\\');
                return;
            }
            _ => {}
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn sequences_are_shown_where_a_person_decides() {
        assert_eq!(
            neutral("a\u{1b}]0;t\u{7}b\r\u{9b}31m\u{202e}c", Sequences::Shown),
            "a\\u{1b}]0;t\\u{7}b\\r\\u{9b}31m\\u{202e}c"
        );
        assert_eq!(neutral("a\tb\r\nc", Sequences::Shown), "a    b\nc");
    }

    #[test]
    fn what_commands_print_loses_colours_titles_and_overwritten_lines() {
        let printed = "\u{1b}[1;32mok\u{1b}[0m\n 10%\r 99%\rdone\n\u{1b}]8;;http://x\u{1b}\\link\u{1b}]8;;\u{7}\nab\u{8}c\u{1b}(B";
        assert_eq!(neutral(printed, Sequences::Dropped), "ok\ndone\nlink\nac");
    }

    proptest! {
        #[test]
        fn nothing_that_a_terminal_obeys_is_left(text in "(\\PC|[\\x00-\\x1f\\x7f-\\x9f]|\u{1b}\\[|\u{202e}|\u{1b}\\]){0,80}") {
            for sequences in [Sequences::Shown, Sequences::Dropped] {
                let safe = neutral(&text, sequences);
                prop_assert!(safe.chars().all(|character| character == '\n' || is_harmless(character)));
                prop_assert_eq!(neutral(&safe, sequences), safe.clone());
            }
        }

        #[test]
        fn harmless_text_stays_as_it_is(text in "[a-zäöü日本語 .,\n]{0,80}") {
            prop_assert_eq!(neutral(&text, Sequences::Shown), text.clone());
            prop_assert_eq!(neutral(&text, Sequences::Dropped), text.clone());
        }
    }
}
