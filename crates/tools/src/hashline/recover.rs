//! Edits by line for a content that a file no longer has: moved to the lines
//! where they belong now, where that is certain. Pure.
//!
//! What an operation is about, and the lines next to it, must be in the file
//! as they were, and only once, then and now. So a line that was changed by
//! somebody else is never touched, and of lines that look alike none is.

use super::parse::{Kind, Operation};
use crate::apply_patch::seek::{Pass, places};

/// Lines beside that are looked at, at most.
const AROUND: usize = 6;

/// An operation without a certain place, and the lines that it named, counted from 1.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Lost {
    pub(super) first: usize,
    pub(super) last: usize,
}

/// Operations for one content moved to another.
pub(super) fn moved(before: &str, now: &str, operations: &[Operation]) -> Result<Vec<Operation>, Vec<Lost>> {
    let (before, now): (Vec<&str>, Vec<&str>) = (before.lines().collect(), now.lines().collect());
    let mut moved = Vec::new();
    let mut lost = Vec::new();
    for operation in operations {
        match kind(&before, &now, operation.kind) {
            Ok(kind) => moved.push(Operation { kind, ..operation.clone() }),
            Err(one) => lost.push(one),
        }
    }
    if lost.is_empty() { Ok(moved) } else { Err(lost) }
}

fn kind(before: &[&str], now: &[&str], kind: Kind) -> Result<Kind, Lost> {
    let (first, last) = match kind {
        Kind::Swap(first, last) | Kind::Delete(first, last) => (first, last),
        Kind::Before(line)
        | Kind::After(line)
        | Kind::SwapBlock(line)
        | Kind::DeleteBlock(line)
        | Kind::AfterBlock(line) => (line, line),
        Kind::Head | Kind::Tail => return Ok(kind),
    };
    let lost = Lost { first, last };
    let Some(start) = located(before, now, first, last) else { return Err(lost) };
    let end = start + (last - first);
    match kind {
        Kind::Swap(..) => Ok(Kind::Swap(start, end)),
        Kind::Delete(..) => Ok(Kind::Delete(start, end)),
        // At an end of the file it must still be the end.
        Kind::Before(1) if start != 1 => Err(lost),
        Kind::After(line) if line == before.len() && start != now.len() => Err(lost),
        Kind::Before(_) => Ok(Kind::Before(start)),
        Kind::After(_) => Ok(Kind::After(start)),
        Kind::SwapBlock(_) | Kind::DeleteBlock(_) | Kind::AfterBlock(_) | Kind::Head | Kind::Tail => {
            Err(lost)
        }
    }
}

/// Where lines are now that were at `first` to `last`, all counted from 1.
fn located(before: &[&str], now: &[&str], first: usize, last: usize) -> Option<usize> {
    if first == 0 || last < first || last > before.len() {
        return None;
    }
    for around in 1..=AROUND {
        let start = (first - 1).saturating_sub(around);
        let end = last.saturating_add(around).min(before.len());
        let window = before.get(start..end)?;
        match (places(now, window, Pass::Exact).as_slice(), places(before, window, Pass::Exact).as_slice()) {
            ([], _) => return None,
            ([at], [_]) => return Some(at + first - start),
            _ => {}
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn one(kind: Kind) -> Vec<Operation> {
        vec![Operation { kind, body: vec!["new".into()], line: 1 }]
    }

    fn to(before: &str, now: &str, kind: Kind) -> Option<Kind> {
        moved(before, now, &one(kind)).ok().map(|operations| operations[0].kind)
    }

    #[test]
    fn an_operation_follows_its_lines() {
        let before = "a\nb\nc\nd\ne\n";
        assert_eq!(to(before, "x\na\nb\nc\nd\ne\n", Kind::Swap(3, 3)), Some(Kind::Swap(4, 4)));
        assert_eq!(to(before, "b\nc\nd\ne\n", Kind::Delete(3, 4)), Some(Kind::Delete(2, 3)));
        assert_eq!(to(before, "a\nb\nc\nd\nx\n", Kind::After(2)), Some(Kind::After(2)));
        assert_eq!(to(before, "x\n", Kind::Tail), Some(Kind::Tail));
        assert_eq!(to("a\nx\nb\nx\nc\n", "new\na\nx\nb\nx\nc\n", Kind::Swap(4, 4)), Some(Kind::Swap(5, 5)));
    }

    #[test]
    fn what_is_not_certain_is_lost() {
        let before = "a\nb\nc\nd\ne\n";
        // The line itself changed, or one beside it.
        assert_eq!(to(before, "a\nb\nC\nd\ne\n", Kind::Swap(3, 3)), None);
        assert_eq!(to(before, "a\nb\nx\nc\nd\ne\n", Kind::Swap(3, 3)), None);
        // The same lines twice.
        assert_eq!(to("a\nb\nc\n", "a\nb\nc\na\nb\nc\n", Kind::Swap(2, 2)), None);
        assert_eq!(to("x\nx\nx\nx\nx\nx\nx\nx\nx\n", "x\nx\nx\nx\nx\nx\nx\nx\n", Kind::Swap(5, 5)), None);
        // The end is no longer the end.
        assert_eq!(to(before, "a\nb\nc\nd\ne\nf\n", Kind::After(5)), None);
        assert_eq!(to(before, "x\na\nb\nc\nd\ne\n", Kind::Before(1)), None);
        assert_eq!(moved(before, "", &one(Kind::Delete(2, 3))), Err(vec![Lost { first: 2, last: 3 }]));
    }

    proptest! {
        /// Whatever became of a file, an operation is about the same lines as before, with the same lines
        /// beside them, or about none.
        #[test]
        fn no_other_lines_are_ever_meant(
            before in proptest::collection::vec("[ab]{1,2}", 1..12),
            now in proptest::collection::vec("[ab]{1,2}", 0..12),
            cut in 0_usize..12, first in 0_usize..14, length in 0_usize..3,
        ) {
            // Something of the old is often in the new.
            let now: Vec<String> = now.iter().take(cut).chain(before.iter()).chain(now.iter().skip(cut)).cloned().collect();
            for now in [now.clone(), now.iter().filter(|line| *line != "b").cloned().collect()] {
                let last = first + length;
                if let Some(Kind::Swap(start, end)) = to(&before.join("\n"), &now.join("\n"), Kind::Swap(first, last)) {
                    prop_assert_eq!(&before[first - 1..last], &now[start - 1..end]);
                    let beside = |lines: &[String], first: usize, last: usize| (
                        (first > 1).then(|| lines[first - 2].clone()),
                        lines.get(last).cloned(),
                    );
                    let (above, below) = beside(&before, first, last);
                    let (above_now, below_now) = beside(&now, start, end);
                    prop_assert!(above.is_none() || above == above_now);
                    prop_assert!(below.is_none() || below == below_now);
                }
            }
        }
    }
}
