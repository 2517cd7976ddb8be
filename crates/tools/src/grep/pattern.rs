//! What a model wrote as a pattern, made into a matcher or into a complaint
//! that says where it is wrong.
//!
//! The invariant: no matcher takes much memory, and one that is slow on long
//! lines is known to be.

use grep_regex::{RegexMatcher, RegexMatcherBuilder};

use crate::contract::Complaint;

/// Bytes that a pattern may need once it is compiled.
const PATTERN_BYTES: usize = 2 * 1024 * 1024;

/// Bytes beyond which a pattern is heavy, not counting that a letter can be one of many.
const HEAVY_BYTES: usize = 64 * 1024;

/// Memory in which a matcher keeps what it worked out, on each thread.
const CACHE_BYTES: usize = 16 * 1024 * 1024;

/// How much work a pattern is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Weight {
    Light,
    Heavy,
}

/// How a pattern is to be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Syntax {
    Regex,
    Literal,
}

/// Whether capital letters count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Case {
    Sensitive,
    Insensitive,
}

/// Whether `.` and character classes go beyond the end of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// They do not; a line end that is written out still matches one.
    Line,
    /// They do.
    File,
}

/// Makes a matcher of what a model wrote.
pub(super) fn matcher(
    pattern: &str,
    syntax: Syntax,
    case: Case,
    reach: Reach,
) -> Result<(RegexMatcher, Weight), Complaint> {
    if pattern.is_empty() {
        return Err(Complaint("`pattern` is empty. Give what to search for.".to_owned()));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .multi_line(true)
        .case_insensitive(case == Case::Insensitive)
        .dot_matches_new_line(reach == Reach::File)
        .dfa_size_limit(CACHE_BYTES)
        .fixed_strings(syntax == Syntax::Literal);
    // Without line ends in it a match is in one line, and large files need not be held in memory.
    if reach == Reach::Line && !spans_lines(pattern, syntax) {
        builder.line_terminator(Some(b'\n'));
    }
    builder.size_limit(HEAVY_BYTES);
    let is_light =
        builder.unicode(false).build(pattern).is_ok() || builder.unicode(true).build(pattern).is_ok();
    let weight = if is_light { Weight::Light } else { Weight::Heavy };
    match builder.unicode(true).size_limit(PATTERN_BYTES).build(pattern) {
        Ok(matcher) => Ok((matcher, weight)),
        Err(error) if error.to_string().contains("size limit") => Err(Complaint(format!(
            "`pattern` needs more than {PATTERN_BYTES} bytes when compiled, which is the limit. \
             Use smaller counts in {{}}, or a shorter pattern."
        ))),
        Err(error) => {
            // The builder puts the pattern into a group; the place is wanted in what was written.
            let error =
                regex_syntax::parse(pattern).err().map_or(error.to_string(), |error| error.to_string());
            let advice = advice(pattern);
            Err(Complaint(format!("`pattern` is not a valid regular expression: {error}\n{advice}")))
        }
    }
}

fn spans_lines(pattern: &str, syntax: Syntax) -> bool {
    pattern.contains('\n') || (syntax == Syntax::Regex && pattern.contains("\\n"))
}

/// What to do about a pattern that is wrong.
fn advice(pattern: &str) -> &'static str {
    if pattern.contains("(?=")
        || pattern.contains("(?!")
        || pattern.contains("(?<=")
        || pattern.contains("(?<!")
    {
        "Leave the look-around out and pick from what the rest of the pattern finds."
    } else if looks_literal(pattern) {
        "It looks like plain text: call again with literal: true."
    } else {
        "Escape special characters like \\( or set literal to true."
    }
}

/// Whether nothing in a pattern can only have been meant as a regular expression.
fn looks_literal(pattern: &str) -> bool {
    const SIGNS: &[&str] = &["\\", ".*", ".+", "|", "[^", "[a-", "[A-", "[0-", "(?", "^", "$"];
    !SIGNS.iter().any(|sign| pattern.contains(sign))
}

#[cfg(test)]
mod tests {
    use super::*;
    use grep_matcher::Matcher;

    fn complaint(pattern: &str) -> String {
        matcher(pattern, Syntax::Regex, Case::Sensitive, Reach::Line).unwrap_err().0
    }

    #[test]
    fn a_wrong_pattern_is_shown_with_the_place_and_with_what_to_do() {
        let told = complaint("foo(bar");
        assert!(told.contains("\n    foo(bar\n       ^\nerror: unclosed group\n"), "{told}");
        assert!(told.ends_with("It looks like plain text: call again with literal: true."), "{told}");
        assert!(
            complaint(r"fn \w+(").ends_with("Escape special characters like \\( or set literal to true.")
        );
        assert!(
            complaint("a(?=b)")
                .ends_with("Leave the look-around out and pick from what the rest of the pattern finds.")
        );
    }

    #[test]
    fn only_a_pattern_that_may_span_lines_does() {
        let finds = |pattern: &str, reach| {
            let (matcher, _) = matcher(pattern, Syntax::Regex, Case::Sensitive, reach).unwrap();
            matcher.find(b"begin\nend").unwrap().is_some()
        };
        assert!(finds("begin.*end", Reach::File) && !finds("begin.*end", Reach::Line));
        assert!(finds("n\\ne", Reach::Line));
    }
}
