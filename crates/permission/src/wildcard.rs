//! Matching of patterns with `*` and `?`.
//!
//! No regular expression is built, nothing is allocated, and a match costs at
//! most pattern × text steps whatever the two contain.

use std::str::Chars;

/// Whether `pattern` covers the whole of `text`.
///
/// `*` stands for any run of characters, also across `/` and line ends, `?` for
/// exactly one. A trailing ` *` also covers the text without anything there:
/// `ls *` matches `ls`. A backslash and a slash are the same character.
#[must_use]
pub fn matches(pattern: &str, text: &str) -> bool {
    covers(pattern, text) || pattern.strip_suffix(" *").is_some_and(|bare| covers(bare, text))
}

/// Whether a pattern covers exactly one text.
#[must_use]
pub fn is_literal(pattern: &str) -> bool {
    !pattern.contains(['*', '?'])
}

#[cfg(test)]
thread_local! {
    /// How many characters have been compared.
    pub(crate) static COMPARED: std::cell::Cell<usize> = const { std::cell::Cell::new(0) };
}

fn covers(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // The last star: what follows it in the pattern, and the text it has not swallowed yet.
    let mut star: Option<(Chars<'_>, Chars<'_>)> = None;
    loop {
        #[cfg(test)]
        COMPARED.with(|compared| compared.set(compared.get() + 1));
        let mut pattern_rest = pattern.clone();
        let mut text_rest = text.clone();
        match (pattern_rest.next(), text_rest.next()) {
            (Some('*'), _) => {
                if pattern_rest.as_str().is_empty() {
                    return true;
                }
                star = Some((pattern_rest.clone(), text.clone()));
                pattern = pattern_rest;
            }
            (None, None) => return true,
            (Some(wanted), Some(found)) if wanted == '?' || slashed(wanted) == slashed(found) => {
                (pattern, text) = (pattern_rest, text_rest);
            }
            _ => {
                let Some((after, unswallowed)) = &mut star else { return false };
                if unswallowed.next().is_none() {
                    return false;
                }
                (pattern, text) = (after.clone(), unswallowed.clone());
            }
        }
    }
}

fn slashed(character: char) -> char {
    if character == '\\' { '/' } else { character }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn stars_cross_slashes_and_line_ends_and_question_marks_take_one() {
        for (pattern, text) in [
            ("*", ""),
            ("*", "a/b\nc"),
            ("src/*", "src/a/b.rs"),
            ("src/**", "src/a/b.rs"),
            ("file?.txt", "file1.txt"),
            ("file?.txt", "fileé.txt"),
            ("a*b*c", "a--b--b--c"),
            ("*.rs", ".rs"),
            ("", ""),
            ("a.b+(c)[d]", "a.b+(c)[d]"),
        ] {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [
            ("file?.txt", "file12.txt"),
            ("file?.txt", "file.txt"),
            ("src/*", "src"),
            ("a.b", "axb"),
            ("", "a"),
            ("LS", "ls"),
        ] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }

    #[test]
    fn a_trailing_space_and_star_also_covers_the_bare_command() {
        assert!(matches("ls *", "ls"));
        assert!(matches("ls *", "ls -la"));
        assert!(matches("git * *", "git status"));
        assert!(!matches("ls *", "lstmeval"));
        assert!(matches("ls*", "lstmeval"));
        assert!(matches(" *", ""));
    }

    #[test]
    fn a_backslash_is_a_slash() {
        assert!(matches("C:/Windows/*", "C:\\Windows\\system32"));
        assert!(matches("C:\\Windows\\*", "C:/Windows/system32"));
    }

    #[test]
    fn a_hostile_pattern_does_not_blow_up() {
        let text = "a".repeat(20_000);
        assert!(!matches(&format!("{}b", "a*".repeat(50)), &text));
        assert!(matches(&"*a".repeat(50), &text));
    }

    /// The definition, by cases, without any cleverness.
    fn naive(pattern: &[char], text: &[char]) -> bool {
        let same = |a: char, b: char| a == b || (['/', '\\'].contains(&a) && ['/', '\\'].contains(&b));
        match (pattern, text) {
            ([], []) => true,
            (['*', rest @ ..], _) => (0..=text.len()).any(|taken| naive(rest, &text[taken..])),
            (['?', rest @ ..], [_, others @ ..]) => naive(rest, others),
            ([one, rest @ ..], [other, others @ ..]) => same(*one, *other) && naive(rest, others),
            _ => false,
        }
    }

    fn reference(pattern: &str, text: &str) -> bool {
        let chars = |text: &str| text.chars().collect::<Vec<_>>();
        naive(&chars(pattern), &chars(text))
            || pattern.strip_suffix(" *").is_some_and(|bare| naive(&chars(bare), &chars(text)))
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 4_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_agrees_with_the_definition(pattern in "[ab/\\\\ é*?]{0,8}", text in "[ab/\\\\ é\n]{0,8}") {
            prop_assert_eq!(matches(&pattern, &text), reference(&pattern, &text));
        }

        #[test]
        fn every_text_matches_itself_and_the_star(text in "[^*?]{0,20}") {
            prop_assert!(matches(&text, &text));
            prop_assert!(matches("*", &text));
        }
    }
}
