//! Replacing text in a text, exactly. Pure.
//!
//! Line ends are not part of the question: `old` is found whether it or the
//! content uses LF or CRLF, and what is put in ends its lines as those around
//! it do. Every byte outside of what was found stays what it is.

use std::borrow::Cow;
use std::fmt;

use memchr::memmem;

use crate::text::LineEnds;

/// Lines that are named when a text is found more than once.
const NAMED_LINES: usize = 20;

/// Whether every occurrence is meant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ReplaceAll {
    /// Every one.
    Yes,
    /// The only one.
    No,
}

/// Why nothing was replaced.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ReplaceError {
    /// The text is not there.
    NotFound,
    /// It is there more than once.
    Ambiguous {
        /// How often.
        count: usize,
        /// The lines where it begins, counted from 1; the first of them only.
        lines: Vec<usize>,
    },
    /// It would be replaced by itself.
    Identical,
    /// There is nothing to look for, in a content that is not empty.
    EmptyOld,
}

impl std::error::Error for ReplaceError {}

impl fmt::Display for ReplaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("`old` does not occur in it."),
            Self::Ambiguous { count, lines } => {
                let named: Vec<String> = lines.iter().map(usize::to_string).collect();
                let more = if lines.len() < *count { ", …" } else { "" };
                write!(
                    f,
                    "`old` occurs {count} times, at lines {}{more}. Add lines around it until it occurs once, or set replace_all.",
                    named.join(", ")
                )
            }
            Self::Identical => f.write_str("`old` and `new` are the same. Nothing would change."),
            Self::EmptyOld => {
                f.write_str("`old` is empty, but the file is not. Give the text to replace, or replace the whole file with write.")
            }
        }
    }
}

/// Replaces `old` by `new`: the only occurrence, or every one.
///
/// # Errors
///
/// [`ReplaceError`] if it cannot be done without guessing.
pub fn replace(content: &str, old: &str, new: &str, all: ReplaceAll) -> Result<String, ReplaceError> {
    let (bytes, _) = replace_bytes(content.as_bytes(), old.as_bytes(), new.as_bytes(), all)?;
    // Text was taken out of text and text was put in, so it is text; bytes would be lost only if it were not.
    Ok(String::from_utf8(bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// The same for bytes, with the lines where something was replaced.
pub(super) fn replace_bytes(
    content: &[u8],
    old: &[u8],
    new: &[u8],
    all: ReplaceAll,
) -> Result<(Vec<u8>, Vec<usize>), ReplaceError> {
    let (plain_old, plain_new) = (LineEnds::Lf.applied_to(old), LineEnds::Lf.applied_to(new));
    if plain_old.is_empty() {
        return if content.is_empty() { Ok((new.to_vec(), vec![1])) } else { Err(ReplaceError::EmptyOld) };
    }
    if plain_old == plain_new {
        return Err(ReplaceError::Identical);
    }
    let plain = Plain::of(content);
    let found: Vec<usize> = match all {
        ReplaceAll::Yes => memmem::find_iter(&plain.bytes, &plain_old).collect(),
        ReplaceAll::No => only(&plain.bytes, &plain_old)?,
    };
    if found.is_empty() {
        return Err(ReplaceError::NotFound);
    }
    let mut result = Vec::with_capacity(content.len() + found.len() * plain_new.len());
    let mut done = 0;
    for at in &found {
        let (start, end) = (plain.original(*at), plain.original(at + plain_old.len()));
        result.extend_from_slice(content.get(done..start).unwrap_or_default());
        let replaced = content.get(start..end).unwrap_or_default();
        // In a file of mixed line ends those of the piece itself count, if it has any.
        let like = if replaced.contains(&b'\n') { replaced } else { content };
        result.extend_from_slice(&LineEnds::of(like).applied_to(&plain_new));
        done = end;
    }
    result.extend_from_slice(content.get(done..).unwrap_or_default());
    Ok((result, lines_of(&plain.bytes, &found)))
}

/// The one place where a text is, also if another occurrence overlaps it.
fn only(content: &[u8], old: &[u8]) -> Result<Vec<usize>, ReplaceError> {
    let first = memmem::find(content, old);
    if first == memmem::rfind(content, old) {
        return Ok(first.into_iter().collect());
    }
    let finder = memmem::Finder::new(old);
    let mut places = Vec::new();
    let mut from = 0;
    while let Some(at) = content.get(from..).and_then(|rest| finder.find(rest)) {
        places.push(from + at);
        from += at + 1;
    }
    let count = places.len();
    places.truncate(NAMED_LINES);
    Err(ReplaceError::Ambiguous { count, lines: lines_of(content, &places) })
}

/// The lines, counted from 1, of places in ascending order.
fn lines_of(content: &[u8], places: &[usize]) -> Vec<usize> {
    let mut line = 1;
    let mut from = 0;
    places
        .iter()
        .map(|at| {
            line += memchr::memchr_iter(b'\n', content.get(from..*at).unwrap_or_default()).count();
            from = *at;
            line
        })
        .collect()
}

/// A content with every CRLF made LF, and the way back.
struct Plain<'a> {
    bytes: Cow<'a, [u8]>,
    /// Where in `bytes` the line feeds are that had a carriage return, in ascending order.
    shortened: Vec<usize>,
}

impl<'a> Plain<'a> {
    fn of(content: &'a [u8]) -> Self {
        let mut bytes = Vec::new();
        let mut shortened = Vec::new();
        let mut done = 0;
        for at in memmem::find_iter(content, b"\r\n") {
            bytes.extend_from_slice(content.get(done..at).unwrap_or_default());
            shortened.push(bytes.len());
            done = at + 1;
        }
        if shortened.is_empty() {
            return Self { bytes: Cow::Borrowed(content), shortened };
        }
        bytes.extend_from_slice(content.get(done..).unwrap_or_default());
        Self { bytes: Cow::Owned(bytes), shortened }
    }

    /// Where a place in `bytes` is in the content. A CRLF is never split.
    fn original(&self, at: usize) -> usize {
        at + self.shortened.partition_point(|place| *place < at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn once(content: &str, old: &str, new: &str) -> Result<String, ReplaceError> {
        replace(content, old, new, ReplaceAll::No)
    }

    #[test]
    fn exactly_one_occurrence_is_replaced() {
        assert_eq!(once("a b c", "b", "x"), Ok("a x c".into()));
        assert_eq!(once("a b c", "b ", ""), Ok("a c".into()));
        assert_eq!(once("$1 a", "a", "$1$&\\1"), Ok("$1 $1$&\\1".into()));
        assert_eq!(once("a", "b", "x"), Err(ReplaceError::NotFound));
        assert_eq!(once("a", "a", "a"), Err(ReplaceError::Identical));
        assert_eq!(once("a\nb\na", "a", "x"), Err(ReplaceError::Ambiguous { count: 2, lines: vec![1, 3] }));
        assert_eq!(once("aaa", "aa", "x"), Err(ReplaceError::Ambiguous { count: 2, lines: vec![1, 1] }));
        assert_eq!(once("", "", "x"), Ok("x".into()));
        assert_eq!(once("a", "", "x"), Err(ReplaceError::EmptyOld));
    }

    #[test]
    fn every_occurrence_is_replaced_when_asked() {
        assert_eq!(replace("a b a", "a", "aa", ReplaceAll::Yes), Ok("aa b aa".into()));
        assert_eq!(replace("aaa", "aa", "b", ReplaceAll::Yes), Ok("ba".into()));
        assert_eq!(replace("b", "a", "x", ReplaceAll::Yes), Err(ReplaceError::NotFound));
    }

    #[test]
    fn line_ends_follow_the_file() {
        assert_eq!(once("a\r\nb\r\nc\r\n", "a\nb", "x\ny\nz"), Ok("x\r\ny\r\nz\r\nc\r\n".into()));
        assert_eq!(once("a\nb\nc\n", "a\r\nb", "x\r\ny"), Ok("x\ny\nc\n".into()));
        assert_eq!(once("a\r\nb\r\n", "b", "b\nc"), Ok("a\r\nb\r\nc\r\n".into()));
        assert_eq!(once("a\r\nb\r\n", "\nb", "\nc"), Ok("a\r\nc\r\n".into()));
        assert_eq!(once("a\r\nb\r\n", "a\n", ""), Ok("b\r\n".into()));
        assert_eq!(once("a\nb\r\nc\r\nd\n", "b\nc", "x\ny"), Ok("a\nx\r\ny\r\nd\n".into()));
        assert_eq!(once("a\r\nb\r\nc\nd\n\n", "a\nb\nc", "a\nx\nc"), Ok("a\r\nx\r\nc\nd\n\n".into()));
        assert_eq!(once("a\r\nb", "a\nb", "a\r\nb"), Err(ReplaceError::Identical));
    }

    #[test]
    fn a_large_file_is_no_trouble() {
        let line = "some line of text that repeats\r\n";
        let content = format!("{}needle\r\n{}", line.repeat(160_000), line.repeat(160_000));
        let edited = once(&content, "needle\n", "thread\n").unwrap();
        assert_eq!(edited, content.replace("needle", "thread"));
    }

    proptest! {
        #[test]
        fn bytes_outside_of_the_match_never_change(
            before in "[ab\r\n]{0,20}", old in "[abc\n]{1,6}", new in "[abd\n]{0,6}", after in "[ab\r\n]{0,20}",
        ) {
            let content = format!("{before}{old}{after}");
            let plain = |bytes: &[u8]| LineEnds::Lf.applied_to(bytes);
            if let Ok(result) = once(&content, &old, &new) {
                // There is a piece such that everything before and after it is as it was, to the byte.
                let (content, result) = (content.as_bytes(), result.as_bytes());
                let fits = (0..=content.len()).any(|start| {
                    (start..=content.len()).any(|end| {
                        let (begin, rest) = (&content[..start], &content[end..]);
                        plain(&content[start..end]) == plain(old.as_bytes())
                            && result.len() >= begin.len() + rest.len()
                            && result.starts_with(begin)
                            && result.ends_with(rest)
                            && plain(&result[start..result.len() - rest.len()]) == plain(new.as_bytes())
                    })
                });
                prop_assert!(fits, "{content:?} {result:?}");
            }
        }

        #[test]
        fn without_carriage_returns_it_is_plain_replacing(
            content in "[ab\n]{0,40}", old in "[ab\n]{1,3}", new in "[abc\n]{0,3}",
        ) {
            prop_assume!(old != new);
            let expected = if content.contains(&old) { Ok(content.replace(&old, &new)) } else { Err(ReplaceError::NotFound) };
            prop_assert_eq!(replace(&content, &old, &new, ReplaceAll::Yes), expected);
            let overlapping = (0..content.len()).filter(|at| content[*at..].starts_with(&old)).count();
            match once(&content, &old, &new) {
                Ok(result) => prop_assert_eq!((overlapping, result), (1, content.replacen(&old, &new, 1))),
                Err(ReplaceError::NotFound) => prop_assert_eq!(overlapping, 0),
                Err(ReplaceError::Ambiguous { count, .. }) => prop_assert_eq!(overlapping, count),
                Err(error) => prop_assert!(false, "{error:?}"),
            }
        }

        #[test]
        fn a_crlf_file_is_edited_like_its_lf_twin(
            content in "[ab\n]{0,40}", old in "[ab\n]{1,3}", new in "[abc\n]{0,3}",
        ) {
            let crlf = |text: &str| text.replace('\n', "\r\n");
            let twin = once(&content, &old, &new);
            prop_assume!(content.contains('\n'));
            prop_assert_eq!(once(&crlf(&content), &old, &new), twin.map(|result| crlf(&result)));
        }
    }
}
