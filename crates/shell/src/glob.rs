//! Matching of shell patterns with `*`, `?` and backslashes.
//!
//! A match costs at most pattern × text steps and allocates nothing.

use std::str::Chars;

/// Whether `pattern` covers the whole of `text`. `*` crosses slashes.
#[must_use]
pub fn matches(pattern: &str, text: &str) -> bool {
    let (mut pattern, mut text) = (pattern.chars(), text.chars());
    // What follows the last star, and the text that it has not swallowed yet.
    let mut star: Option<(Chars<'_>, Chars<'_>)> = None;
    loop {
        let (mut pattern_rest, mut text_rest) = (pattern.clone(), text.clone());
        let mut wanted = pattern_rest.next();
        if wanted == Some('*') {
            if pattern_rest.as_str().is_empty() {
                return true;
            }
            star = Some((pattern_rest.clone(), text.clone()));
            pattern = pattern_rest;
            continue;
        }
        let any = wanted == Some('?');
        if wanted == Some('\\') {
            wanted = pattern_rest.next();
        }
        match (wanted, text_rest.next()) {
            (None, None) => return true,
            (Some(wanted), Some(found)) if any || wanted == found => {
                (pattern, text) = (pattern_rest, text_rest)
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

/// Whether some path is covered by a known pattern, whose stars cross slashes, and by a pattern of the shell, whose
/// stars do not. A bracket counts as any one character.
#[must_use]
pub fn overlap(known: &str, shell: &str) -> bool {
    let one = units(known, Unit::Many);
    let other = units(shell, Unit::Name);
    // reach[j]: the first i units of one and j of the other can cover the same text.
    let mut reach = vec![false; other.len() + 1];
    for i in 0..=one.len() {
        let mut next = vec![false; other.len() + 1];
        for j in 0..=other.len() {
            let above = |column: usize| reach.get(column).copied().unwrap_or(false);
            let mine = i.checked_sub(1).and_then(|i| one.get(i));
            let theirs = j.checked_sub(1).and_then(|j| other.get(j));
            let left = j.checked_sub(1).and_then(|j| next.get(j)).copied().unwrap_or(false);
            let met = match (mine, theirs) {
                (None, None) => true,
                (mine, theirs) => {
                    let swallows = |star: Option<&Unit>, unit: Option<&Unit>| match (star, unit) {
                        (Some(Unit::Many), Some(_)) => true,
                        (Some(Unit::Name), Some(unit)) => *unit != Unit::Exactly('/') && *unit != Unit::Many,
                        _ => false,
                    };
                    let is_star = |unit: Option<&Unit>| matches!(unit, Some(Unit::Many | Unit::Name));
                    let star = is_star(mine) && above(j) || left && swallows(mine, theirs);
                    let their_star = is_star(theirs) && left || above(j) && swallows(theirs, mine);
                    let pair = mine.zip(theirs).is_some_and(|(mine, theirs)| mine.meets(*theirs))
                        && j.checked_sub(1).is_some_and(above);
                    star || their_star || pair
                }
            };
            if let Some(cell) = next.get_mut(j) {
                *cell = met;
            }
        }
        reach = next;
    }
    reach.last().copied().unwrap_or(false)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Unit {
    /// Any text.
    Many,
    /// Any text without a slash.
    Name,
    One,
    Exactly(char),
}

impl Unit {
    fn meets(self, other: Self) -> bool {
        match (self, other) {
            (Self::Exactly(mine), Self::Exactly(theirs)) => mine == theirs,
            (Self::Many | Self::Name, _) | (_, Self::Many | Self::Name) => false,
            (Self::One, _) | (_, Self::One) => true,
        }
    }
}

fn units(pattern: &str, star: Unit) -> Vec<Unit> {
    let mut units = Vec::new();
    let mut characters = pattern.chars();
    while let Some(next) = characters.next() {
        match next {
            '*' if matches!(units.last(), Some(Unit::Many | Unit::Name)) => {
                units.pop();
                units.push(Unit::Many);
            }
            '*' => units.push(star),
            '?' => units.push(Unit::One),
            '[' => {
                let rest = characters.as_str();
                match rest.find(']') {
                    Some(end) => {
                        characters = rest.get(end + 1..).unwrap_or_default().chars();
                        units.push(Unit::One);
                    }
                    None => units.push(Unit::Exactly('[')),
                }
            }
            other => units.push(Unit::Exactly(other)),
        }
    }
    units
}

#[cfg(test)]
mod tests {
    use super::{matches, overlap};

    #[test]
    fn patterns_overlap_if_some_text_fits_both() {
        for (known, shell) in [
            (".env", ".e*"),
            (".env", ".[e]nv"),
            ("*/.ssh/*", "/home/u/.ss?/id*"),
            ("*/.ssh/*", "/home/*/.ssh/x"),
            ("*/.ssh/*", "/home/**/id_rsa"),
            ("*.pem", "server.*"),
            ("*", "*"),
            ("a*", "*b"),
            ("ab*", "*ac"),
        ] {
            assert!(overlap(known, shell), "{known} {shell}");
        }
        for (known, shell) in
            [(".env", "a*"), ("*.pem", "*.rs"), ("a?", "a"), ("*/.ssh/*", "/home/u/src/*.rs"), ("a/b", "a*b")]
        {
            assert!(!overlap(known, shell), "{known} {shell}");
        }
    }

    #[test]
    fn stars_question_marks_and_escapes() {
        for (pattern, text) in
            [("*", ""), ("a*c", "abc"), ("a?c", "abc"), ("\\*", "*"), ("*.env*", "x/.env.local")]
        {
            assert!(matches(pattern, text), "{pattern} {text}");
        }
        for (pattern, text) in [("a", "b"), ("a?", "a"), ("\\*", "x"), ("a*b*c", "acb"), ("", "x")] {
            assert!(!matches(pattern, text), "{pattern} {text}");
        }
    }
}
