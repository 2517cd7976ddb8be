//! Found once the escape sequences in `old` were read: some models escape what
//! they put into JSON twice.

use std::borrow::Cow;
use std::ops::Range;

use super::{exact, indented, trimmed, whitespace};

type Way = fn(&str, &str) -> Vec<Range<usize>>;

pub(super) fn find(text: &str, old: &str) -> Vec<Range<usize>> {
    let Cow::Owned(old) = unescaped(old) else { return Vec::new() };
    if old.is_empty() {
        return Vec::new();
    }
    let ways: [Way; 4] =
        [|text, old| exact(text.as_bytes(), old.as_bytes()), trimmed::find, indented::find, whitespace::find];
    ways.into_iter().map(|find| find(text, &old)).find(|found| !found.is_empty()).unwrap_or_default()
}

/// A text with one level of escape sequences read, as JSON has them and for other quotes. What is no
/// such sequence stays as it is.
pub(in crate::edit) fn unescaped(text: &str) -> Cow<'_, str> {
    let mut result = String::new();
    let mut rest = text;
    while let Some(at) = rest.find('\\') {
        let (before, sequence) = rest.split_at(at);
        result.push_str(before);
        let read = match sequence.as_bytes().get(1) {
            Some(b'n') => Some('\n'),
            Some(b't') => Some('\t'),
            Some(b'r') => Some('\r'),
            Some(b'"') => Some('"'),
            Some(b'\'') => Some('\''),
            Some(b'`') => Some('`'),
            Some(b'\\') => Some('\\'),
            Some(b'/') => Some('/'),
            Some(b'$') => Some('$'),
            Some(b'\n') => Some('\n'),
            _ => None,
        };
        let length = if read.is_some() { 2 } else { 1 };
        result.push(read.unwrap_or('\\'));
        rest = sequence.get(length..).unwrap_or_default();
    }
    result.push_str(rest);
    if result == text { Cow::Borrowed(text) } else { Cow::Owned(result) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_level_of_escapes_is_read() {
        for (escaped, plain) in [
            (r"a\nb", "a\nb"),
            (r#"say(\"x\")"#, "say(\"x\")"),
            (r"\\n", r"\n"),
            (r"C:\\Users", r"C:\Users"),
            (r"C:\Folder", r"C:\Folder"),
            (r"end\", r"end\"),
            (r"\`${x}\`", "`${x}`"),
            ("plain", "plain"),
        ] {
            assert_eq!(unescaped(escaped), plain, "{escaped}");
        }
    }
}
