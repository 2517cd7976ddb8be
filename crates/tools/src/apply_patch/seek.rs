//! Finding the lines of a hunk in a file, from strict to lenient. Pure.

use std::collections::HashMap;

use crate::edit::plain_line;

/// How lines are compared.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pass {
    /// As they are.
    Exact,
    /// But for blanks at their ends.
    Trimmed,
    /// But for indentation.
    Moved,
    /// But for white space and typographic characters.
    Plain,
}

pub(super) const PASSES: [Pass; 4] = [Pass::Exact, Pass::Trimmed, Pass::Moved, Pass::Plain];

impl Pass {
    /// A line as it counts.
    fn key(self, line: &str) -> String {
        match self {
            Self::Exact => line.to_owned(),
            Self::Trimmed => line.trim_end().to_owned(),
            Self::Moved => line.trim().to_owned(),
            Self::Plain => plain_line(line),
        }
    }
}

/// Every place where lines follow each other in a file.
pub(crate) fn places(lines: &[&str], wanted: &[&str], pass: Pass) -> Vec<usize> {
    if wanted.is_empty() || wanted.len() > lines.len() {
        return Vec::new();
    }
    let mut known: HashMap<String, usize> = HashMap::new();
    let pattern: Vec<usize> = wanted
        .iter()
        .map(|line| {
            let next = known.len();
            *known.entry(pass.key(line)).or_insert(next)
        })
        .collect();
    let ids: Vec<usize> =
        lines.iter().map(|line| known.get(&pass.key(line)).copied().unwrap_or(usize::MAX)).collect();
    occurrences(&ids, &pattern)
}

/// Where a pattern occurs, also where it overlaps itself, in one pass over both.
fn occurrences(ids: &[usize], pattern: &[usize]) -> Vec<usize> {
    // For each length of a begin of the pattern, the longest shorter begin that it ends with.
    let mut shorter = vec![0; pattern.len() + 1];
    let mut matched = 0;
    for index in 1..pattern.len() {
        while matched > 0 && pattern.get(matched) != pattern.get(index) {
            matched = shorter.get(matched).copied().unwrap_or(0);
        }
        matched += usize::from(pattern.get(matched) == pattern.get(index));
        if let Some(slot) = shorter.get_mut(index + 1) {
            *slot = matched;
        }
    }
    let mut found = Vec::new();
    let mut matched = 0;
    for (index, id) in ids.iter().enumerate() {
        while matched > 0 && pattern.get(matched) != Some(id) {
            matched = shorter.get(matched).copied().unwrap_or(0);
        }
        matched += usize::from(pattern.get(matched) == Some(id));
        if matched == pattern.len() {
            found.push(index + 1 - matched);
            matched = shorter.get(matched).copied().unwrap_or(0);
        }
    }
    found
}

/// The first line from `from` on that a header names: as it is, by blanks or typography differing, or
/// as a part of it.
pub(super) fn context(lines: &[&str], context: &str, from: usize) -> Option<usize> {
    let same = |pass: Pass| {
        let key = pass.key(context);
        lines.iter().skip(from).position(|line| pass.key(line) == key)
    };
    let part = context.trim().trim_end_matches("()");
    let contains =
        || (part.len() > 2).then(|| lines.iter().skip(from).position(|line| line.contains(part))).flatten();
    PASSES.into_iter().find_map(same).or_else(contains).map(|index| from + index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn lines_are_found_by_what_counts() {
        let lines = ["  foo   ", "bar", "say “hi” – x"];
        let found = |wanted: &[&str], pass: Pass| places(&lines, wanted, pass);
        assert_eq!(found(&["  foo   "], Pass::Exact), [0]);
        assert_eq!(found(&["  foo"], Pass::Exact), [0; 0]);
        assert_eq!(found(&["  foo", "bar "], Pass::Trimmed), [0]);
        assert_eq!(found(&["foo", "bar"], Pass::Trimmed), [0; 0]);
        assert_eq!(found(&["foo", "bar"], Pass::Moved), [0]);
        assert_eq!(found(&["say \"hi\"  - x"], Pass::Plain), [2]);
        assert_eq!(places(&["a", "a", "a"], &["a", "a"], Pass::Exact), [0, 1]);
    }

    #[test]
    fn a_header_names_a_line_or_a_part_of_it() {
        let lines = ["impl A {", "    fn run(&self) {", "impl B {", "    fn run(&self) {"];
        assert_eq!(context(&lines, "fn run(&self) {", 0), Some(1));
        assert_eq!(context(&lines, "fn run", 2), Some(3));
        assert_eq!(context(&lines, "run()", 0), Some(1));
        assert_eq!(context(&lines, "fn stop", 0), None);
    }

    proptest! {
        #[test]
        fn every_occurrence_is_found(ids in proptest::collection::vec(0_usize..3, 0..40), pattern in proptest::collection::vec(0_usize..3, 1..5)) {
            let naive: Vec<usize> =
                (0..ids.len()).filter(|start| ids[*start..].starts_with(&pattern)).collect();
            prop_assert_eq!(occurrences(&ids, &pattern), naive);
        }
    }
}
