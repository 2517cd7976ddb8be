//! Replacing text in a text, found by the ladder. Pure.
//!
//! Line ends are not part of the question: `old` is found whether it or the
//! content uses LF or CRLF, and what is put in ends its lines as those around
//! it do. Every byte outside of what was found stays what it is.

use std::fmt;
use std::ops::Range;

use super::indent;
use super::plain::{Plain, lines_of};
use super::rung::{self, Found, Rung};
use super::work::{self, Work};
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
        /// How it was found.
        rung: Rung,
    },
    /// It would be replaced by itself.
    Identical,
    /// What was found is already what was to be put there.
    Unchanged {
        /// The line where it begins, counted from 1.
        line: usize,
    },
    /// There is nothing to look for, in a content that is not empty.
    EmptyOld,
}

impl std::error::Error for ReplaceError {}

impl fmt::Display for ReplaceError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound => f.write_str("`old` does not occur in it."),
            Self::Ambiguous { count, lines, rung } => {
                let named: Vec<String> = lines.iter().map(usize::to_string).collect();
                let more = if lines.len() < *count { ", …" } else { "" };
                let (how, all) = match rung {
                    Rung::Exact => (String::new(), ", or set replace_all"),
                    Rung::Anchored | Rung::Context => (format!(" ({rung})"), ""),
                    _ => (format!(" ({rung})"), ", or set replace_all"),
                };
                write!(
                    f,
                    "`old` occurs {count} times{how}, at lines {}{more}. Add lines around it until it occurs once{all}.",
                    named.join(", ")
                )
            }
            Self::Identical => f.write_str("`old` and `new` are the same. Nothing would change."),
            Self::Unchanged { line } => write!(
                f,
                "line {line} already is what `new` says. Nothing would change. Read it again before the next edit."
            ),
            Self::EmptyOld => {
                f.write_str("`old` is empty, but the file is not. Give the text to replace, or replace the whole file with write.")
            }
        }
    }
}

/// A content after a replacement.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Replaced {
    pub(super) bytes: Vec<u8>,
    /// Where something was replaced, counted from 1.
    pub(super) lines: Vec<usize>,
    pub(super) rung: Rung,
}

/// Replaces `old` by `new`: the only occurrence, or every one.
///
/// # Errors
///
/// [`ReplaceError`] if it cannot be done without guessing.
pub fn replace(content: &str, old: &str, new: &str, all: ReplaceAll) -> Result<String, ReplaceError> {
    let replaced = replace_bytes(content.as_bytes(), old, new, all)?;
    // Text was taken out of text and text was put in, so it is text; bytes would be lost only if it were not.
    Ok(String::from_utf8(replaced.bytes)
        .unwrap_or_else(|error| String::from_utf8_lossy(error.as_bytes()).into_owned()))
}

/// The same for bytes. What is no text is only searched exactly.
pub(super) fn replace_bytes(
    content: &[u8],
    old: &str,
    new: &str,
    all: ReplaceAll,
) -> Result<Replaced, ReplaceError> {
    replace_with(content, old, new, all, &mut Work::of(work::MOST))
}

pub(super) fn replace_with(
    content: &[u8],
    old: &str,
    new: &str,
    all: ReplaceAll,
    work: &mut Work,
) -> Result<Replaced, ReplaceError> {
    let (old, new) = (old.replace("\r\n", "\n"), new.replace("\r\n", "\n"));
    if old.is_empty() {
        return match content.is_empty() {
            true => Ok(Replaced { bytes: new.into_bytes(), lines: vec![1], rung: Rung::Exact }),
            false => Err(ReplaceError::EmptyOld),
        };
    }
    if old == new {
        return Err(ReplaceError::Identical);
    }
    let plain = Plain::of(content);
    let found = match std::str::from_utf8(&plain.bytes) {
        Ok(text) => rung::climb(text, &old, work),
        Err(_) => {
            let places = rung::exact(&plain.bytes, old.as_bytes());
            (!places.is_empty()).then_some(Found { rung: Rung::Exact, places })
        }
    };
    let found = chosen(found.ok_or(ReplaceError::NotFound)?, &plain.bytes, all)?;
    put(content, &plain, &found, &old, &new)
}

/// The places to replace: the only one, or all that do not overlap.
fn chosen(mut found: Found, content: &[u8], all: ReplaceAll) -> Result<Found, ReplaceError> {
    if found.places.len() > 1 && (all == ReplaceAll::No || !rung::many_allowed(found.rung)) {
        let places = found.places.iter().take(NAMED_LINES).map(|place| place.start);
        return Err(ReplaceError::Ambiguous {
            count: found.places.len(),
            lines: lines_of(content, places),
            rung: found.rung,
        });
    }
    let mut done = 0;
    found.places.retain(|place| {
        let is_free = place.start >= done;
        if is_free {
            done = place.end;
        }
        is_free
    });
    Ok(found)
}

fn put(
    content: &[u8],
    plain: &Plain<'_>,
    found: &Found,
    old: &str,
    new: &str,
) -> Result<Replaced, ReplaceError> {
    let lines = lines_of(&plain.bytes, found.places.iter().map(|place| place.start));
    let mut result = Vec::with_capacity(content.len() + found.places.len() * new.len());
    let mut done = 0;
    for place in &found.places {
        let (start, end) = (plain.original(place.start), plain.original(place.end));
        result.extend_from_slice(content.get(done..start).unwrap_or_default());
        let replaced = content.get(start..end).unwrap_or_default();
        // In a file of mixed line ends those of the piece itself count, if it has any.
        let like = if replaced.contains(&b'\n') { replaced } else { content };
        let fitted = fitted(&plain.bytes, place, found.rung, old, new);
        result.extend_from_slice(&LineEnds::of(like).applied_to(fitted.as_bytes()));
        done = end;
    }
    result.extend_from_slice(content.get(done..).unwrap_or_default());
    if result == content {
        return Err(ReplaceError::Unchanged { line: lines.first().copied().unwrap_or(1) });
    }
    Ok(Replaced { bytes: result, lines, rung: found.rung })
}

/// `new` as it belongs to the place that was found.
fn fitted(content: &[u8], place: &Range<usize>, rung: Rung, old: &str, new: &str) -> String {
    if rung == Rung::Exact {
        return new.to_owned();
    }
    let (old, new) = match rung {
        Rung::Escaped => (rung::unescaped(old), rung::unescaped(new)),
        _ => (old.into(), new.into()),
    };
    let block = content.get(place.clone()).map(String::from_utf8_lossy).unwrap_or_default();
    let begins_line = place.start == 0 || content.get(place.start - 1) == Some(&b'\n');
    let mut fitted = match begins_line {
        true => indent::moved(&old, &block, &new),
        // White space before a piece of a line is not the piece's own.
        false => {
            let lead = old.len() - old.trim_start_matches([' ', '\t']).len();
            let lead = old.get(..lead).unwrap_or_default();
            new.strip_prefix(lead).unwrap_or(&new).to_owned()
        }
    };
    // The last line of the file has no line end, and shall get none.
    if old.ends_with('\n') && !block.ends_with('\n') && fitted.ends_with('\n') {
        fitted.pop();
    }
    fitted
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn once(content: &str, old: &str, new: &str) -> Result<String, ReplaceError> {
        replace(content, old, new, ReplaceAll::No)
    }

    fn twice(lines: Vec<usize>) -> Result<String, ReplaceError> {
        Err(ReplaceError::Ambiguous { count: 2, lines, rung: Rung::Exact })
    }

    #[test]
    fn exactly_one_occurrence_is_replaced() {
        assert_eq!(once("a b c", "b", "x"), Ok("a x c".into()));
        assert_eq!(once("a b c", "b ", ""), Ok("a c".into()));
        assert_eq!(once("$1 a", "a", "$1$&\\1"), Ok("$1 $1$&\\1".into()));
        assert_eq!(once("a", "b", "x"), Err(ReplaceError::NotFound));
        assert_eq!(once("a", "a", "a"), Err(ReplaceError::Identical));
        assert_eq!(once("a\nb\na", "a", "x"), twice(vec![1, 3]));
        assert_eq!(once("aaa", "aa", "x"), twice(vec![1, 1]));
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
        fn without_carriage_returns_it_is_plain_replacing_where_that_finds_something(
            content in "[ab\n]{0,40}", old in "[ab\n]{1,3}", new in "[abc\n]{0,3}",
        ) {
            prop_assume!(old != new && content.contains(&old));
            prop_assert_eq!(replace(&content, &old, &new, ReplaceAll::Yes), Ok(content.replace(&old, &new)));
            let overlapping = (0..content.len()).filter(|at| content[*at..].starts_with(&old)).count();
            match once(&content, &old, &new) {
                Ok(result) => prop_assert_eq!((overlapping, result), (1, content.replacen(&old, &new, 1))),
                Err(ReplaceError::Ambiguous { count, .. }) => prop_assert!(count > 1 && (count == overlapping || count > 20)),
                Err(error) => prop_assert!(false, "{error:?}"),
            }
        }

        #[test]
        fn a_crlf_file_is_edited_like_its_lf_twin(
            content in "[ab \n]{0,40}", old in "[ab \n]{1,5}", new in "[abc\n]{0,3}",
        ) {
            let crlf = |text: &str| text.replace('\n', "\r\n");
            let twin = once(&content, &old, &new);
            prop_assume!(content.contains('\n'));
            prop_assert_eq!(once(&crlf(&content), &old, &new), twin.map(|result| crlf(&result)));
        }
    }
}
