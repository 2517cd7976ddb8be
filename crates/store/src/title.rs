//! What a session is about, in one line: the beginning of what was first said.
//!
//! Pure. The invariant: a title is one line of at most [`LONGEST`] characters
//! that cannot move the cursor or turn the direction of a terminal's text.

use rein_protocol::Content;

/// Characters of a title.
pub const LONGEST: usize = 80;

/// The first line with something in it, if there are words at all.
pub(crate) fn title(content: &[Content]) -> Option<String> {
    content
        .iter()
        .filter_map(|piece| match piece {
            Content::Text { text } => Some(text.as_str()),
            Content::Image { .. } => None,
        })
        .flat_map(str::lines)
        .map(|line| one_line(line, LONGEST))
        .find(|line| !line.is_empty())
}

/// A text as one line of at most so many characters: what would make more of it is left out, the rest cut off.
#[must_use]
pub fn one_line(text: &str, longest: usize) -> String {
    let mut line = String::new();
    let mut length = 0;
    let mut space = false;
    for character in text.chars() {
        if character.is_whitespace() {
            space = length > 0;
            continue;
        }
        if character.is_control() || turns_direction(character) {
            continue;
        }
        if length + usize::from(space) >= longest {
            break;
        }
        if space {
            line.push(' ');
            length += 1;
            space = false;
        }
        line.push(character);
        length += 1;
    }
    line
}

fn turns_direction(character: char) -> bool {
    matches!(character, '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    fn titled(text: &str) -> Option<String> {
        title(&[Content::text(text)])
    }

    #[test]
    fn a_title_is_the_first_line_with_something_in_it() {
        let table = [
            ("Fix the parser", Some("Fix the parser")),
            ("Fix\tthe   parser  \r\nplease", Some("Fix the parser")),
            ("\n\r\n   second line\nthird", Some("second line")),
            ("\u{1b}[31mred\u{7}\u{202e} alert\u{0}", Some("[31mred alert")),
            ("a\rb", Some("a b")),
            ("\u{3000}wide\u{a0}spaces", Some("wide spaces")),
            ("", None),
            (" \n\t\u{7}\n", None),
        ];
        for (text, expected) in table {
            assert_eq!(titled(text).as_deref(), expected, "{text:?}");
        }
    }

    #[test]
    fn a_title_is_cut_between_characters() {
        assert_eq!(titled(&"é".repeat(500)), Some("é".repeat(80)));
        assert_eq!(titled(&format!("{} b", "a".repeat(79))), Some("a".repeat(79)));
        assert_eq!(titled(&format!("{} b", "a".repeat(78))), Some(format!("{} b", "a".repeat(78))));
    }

    #[test]
    fn pictures_have_no_title_and_words_after_them_do() {
        let image =
            Content::Image { media_type: "image/png".into(), blob: rein_protocol::BlobId("0".repeat(64)) };
        assert_eq!(title(std::slice::from_ref(&image)), None);
        assert_eq!(title(&[image, Content::text("what is this?")]), Some("what is this?".into()));
    }
}
