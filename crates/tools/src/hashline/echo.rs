//! New lines that say again what stands beside the lines they replace: models
//! write them as context, and they would be there twice. Pure.

use std::ops::Range;

/// Lines that are compared on either side, at most: nobody writes more as context, and time stays bounded.
const MOST: usize = 100;

/// What such lines come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Echo {
    /// They are meant, or there are none.
    None,
    /// So many at the begin and at the end are not meant.
    Drop(usize, usize),
    /// What is left is less than what is replaced, so it is not clear what is meant; a line beside, counted
    /// from 1.
    Unclear(usize),
}

/// How many new lines are those above a range, and how many those below it.
pub(super) fn repeated(lines: &[&str], range: &Range<usize>, body: &[String]) -> (usize, usize) {
    let same = |line: Option<&&str>, new: Option<&String>| match (line, new) {
        (Some(line), Some(new)) => line.trim_end() == new.trim_end(),
        _ => false,
    };
    let above = |count: usize| (0..count).all(|at| same(lines.get((range.start - count) + at), body.get(at)));
    let below = |count: usize| {
        (0..count).all(|at| same(lines.get(range.end + at), body.get(body.len() - count + at)))
    };
    let leading = (1..=body.len().min(range.start).min(MOST)).rev().find(|count| above(*count)).unwrap_or(0);
    let trailing = (1..=body.len().min(MOST)).rev().find(|count| below(*count)).unwrap_or(0);
    (leading, trailing)
}

/// What the lines come to that a replacement says again.
pub(super) fn judged(lines: &[&str], range: &Range<usize>, body: &[String]) -> Echo {
    let telling = |rows: Option<&[String]>| {
        rows.unwrap_or_default().iter().any(|row| row.contains(char::is_alphanumeric))
    };
    let (leading, trailing) = repeated(lines, range, body);
    let leading = if telling(body.get(..leading)) { leading } else { 0 };
    let tail = body.len() - trailing;
    let trailing = if telling(body.get(tail..)) { trailing } else { 0 };
    let left = body.len().saturating_sub(leading + trailing);
    match (leading, trailing) {
        (0, 0) => Echo::None,
        (1.., 1..) if left == 0 => Echo::None,
        (1.., 1..) => Echo::Drop(leading, trailing),
        _ if range.len() > 1 && left >= range.len() => Echo::Drop(leading, trailing),
        (0, _) if range.len() > 1 => Echo::Unclear(range.end + 1),
        _ if range.len() > 1 => Echo::Unclear(range.start),
        // Of one line many are made; only what belongs to the next line is certainly not meant.
        (0, _) if !body.iter().skip(tail).all(|row| is_annotation(row)) => Echo::None,
        (0, _) if left == 0 => Echo::Unclear(range.end + 1),
        (0, _) => Echo::Drop(0, trailing),
        _ => Echo::None,
    }
}

fn is_annotation(row: &str) -> bool {
    let row = row.trim();
    (row.starts_with("#[") && row.ends_with(']'))
        || row.strip_prefix('@').is_some_and(|name| name.starts_with(char::is_alphabetic))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str, first: usize, last: usize, body: &[&str]) -> Echo {
        let lines: Vec<&str> = text.lines().collect();
        let body: Vec<String> = body.iter().map(|line| (*line).to_owned()).collect();
        judged(&lines, &(first - 1..last), &body)
    }

    #[test]
    fn context_is_told_from_new_lines() {
        let text = "one\ntwo\nthree\nfour\nfive\n";
        assert_eq!(of(text, 2, 3, &["2", "3"]), Echo::None);
        assert_eq!(of(text, 2, 3, &["one", "2", "3"]), Echo::Drop(1, 0));
        assert_eq!(of(text, 2, 3, &["2", "3", "four", "five"]), Echo::Drop(0, 2));
        assert_eq!(of(text, 3, 3, &["two", "3", "four"]), Echo::Drop(1, 1));
        assert_eq!(of(text, 2, 4, &["one", "2"]), Echo::Unclear(1));
        assert_eq!(of(text, 2, 4, &["2", "five"]), Echo::Unclear(5));
    }

    #[test]
    fn what_can_be_meant_is_kept() {
        let text = "one\ntwo\nthree\n\n}\n";
        assert_eq!(of(text, 2, 2, &["2", "three"]), Echo::None);
        assert_eq!(of(text, 2, 2, &["one", "three"]), Echo::None);
        assert_eq!(of(text, 1, 3, &["1", "2", "3", ""]), Echo::None);
        assert_eq!(of(text, 2, 4, &["2", "3", "}"]), Echo::None);
    }

    #[test]
    fn an_annotation_belongs_to_the_line_below() {
        let text = "/// Old.\n#[test]\nfn a() {}\n";
        assert_eq!(of(text, 1, 1, &["/// New.", "#[test]"]), Echo::Drop(0, 1));
        assert_eq!(of(text, 1, 1, &["#[test]"]), Echo::Unclear(2));
        assert_eq!(of("// Old.\n@a.b(1)\nx\n", 1, 1, &["// New.", "@a.b(1)"]), Echo::Drop(0, 1));
    }
}
