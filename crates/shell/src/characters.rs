//! Characters that do not look like what they are: controls, direction marks,
//! invisible ones.

use crate::analysis::Note;

/// Ranges that are shown as nothing, or turn what is around them.
const HIDDEN: [(char, char, &str); 28] = [
    ('\u{00ad}', '\u{00ad}', "a hyphen that is not shown"),
    ('\u{0600}', '\u{0605}', "a format character"),
    ('\u{061c}', '\u{061c}', "changes the direction of text"),
    ('\u{06dd}', '\u{06dd}', "a format character"),
    ('\u{070f}', '\u{070f}', "a format character"),
    ('\u{0890}', '\u{0891}', "a format character"),
    ('\u{08e2}', '\u{08e2}', "a format character"),
    ('\u{115f}', '\u{1160}', "a letter that is not shown"),
    ('\u{180b}', '\u{180f}', "a format character"),
    ('\u{200b}', '\u{200c}', "a character that is not shown"),
    ('\u{200d}', '\u{200d}', "a character that is not shown"),
    ('\u{200e}', '\u{200f}', "changes the direction of text"),
    ('\u{2028}', '\u{2029}', "a line end that bash does not see"),
    ('\u{202a}', '\u{202e}', "changes the direction of text"),
    ('\u{2060}', '\u{2065}', "a character that is not shown"),
    ('\u{2066}', '\u{2069}', "changes the direction of text"),
    ('\u{206a}', '\u{206f}', "a format character"),
    ('\u{3164}', '\u{3164}', "a letter that is not shown"),
    ('\u{e000}', '\u{f8ff}', "a private character, which can look like anything"),
    ('\u{feff}', '\u{feff}', "a character that is not shown"),
    ('\u{ffa0}', '\u{ffa0}', "a letter that is not shown"),
    ('\u{fff9}', '\u{fffb}', "a format character"),
    ('\u{110bd}', '\u{110cd}', "a format character"),
    ('\u{13430}', '\u{1345f}', "a format character"),
    ('\u{1bca0}', '\u{1bca3}', "a format character"),
    ('\u{1d173}', '\u{1d17a}', "a format character"),
    ('\u{e0000}', '\u{e0fff}', "a tag that is not shown"),
    ('\u{f0000}', '\u{10ffff}', "a private character, which can look like anything"),
];

/// How many are reported; one is enough to ask.
const REPORTED: usize = 20;

/// The characters of a command line that do not look like what they are.
pub(crate) fn notes(text: &str) -> Vec<Note> {
    if text.bytes().all(|byte| (b' '..0x7f).contains(&byte) || byte == b'\n' || byte == b'\t') {
        return Vec::new();
    }
    let mut before = None;
    let mut notes = Vec::new();
    for (at, character) in text.char_indices() {
        if let Some(reason) = reason(character) {
            let joins = character == '\u{200d}' && before.is_some_and(is_pictograph);
            if !joins && notes.len() < REPORTED {
                notes.push(Note { character, at, reason });
            }
        }
        before = Some(character);
    }
    notes
}

fn reason(character: char) -> Option<&'static str> {
    if matches!(character, '\n' | '\t' | ' '..='~') {
        return None;
    }
    if character == '\0' {
        return Some("a NUL, at which programs stop reading");
    }
    if character.is_control() {
        return Some("a control character");
    }
    HIDDEN.iter().find(|(first, last, _)| (*first..=*last).contains(&character)).map(|(_, _, reason)| *reason)
}

/// A joiner between pictures is what makes families and professions of them.
fn is_pictograph(character: char) -> bool {
    matches!(character, '\u{2600}'..='\u{27bf}' | '\u{1f300}'..='\u{1faff}' | '\u{fe0f}' | '\u{2190}'..='\u{21ff}')
}

/// A text for a person: every character that does not look like what it is as an escape.
#[must_use]
pub fn escaped(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut before = None;
    for character in text.chars() {
        let joins = character == '\u{200d}' && before.is_some_and(is_pictograph);
        if reason(character).is_some() && !joins {
            shown.extend(character.escape_unicode());
        } else {
            shown.push(character);
        }
        before = Some(character);
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_noted_and_escaped() {
        let text = "echo safe\u{202e}# dab ;\u{7}";
        let found: Vec<(usize, char)> = notes(text).iter().map(|note| (note.at, note.character)).collect();
        assert_eq!(found, [(9, '\u{202e}'), (text.len() - 1, '\u{7}')]);
        assert_eq!(escaped(text), "echo safe\\u{202e}# dab ;\\u{7}");
        assert_eq!(notes("a\rb").len(), 1);
        assert_eq!(notes("a\0b").len(), 1);
        assert_eq!(notes("\u{e0041}").len(), 1);
    }

    #[test]
    fn ordinary_text_of_any_language_has_no_notes() {
        assert_eq!(notes("echo 'élève 日本語 ✅ 👩\u{200d}💻'\n\tnext"), []);
    }
}
