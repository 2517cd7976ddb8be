//! Edits by line made on a text. Pure.
//!
//! All numbers are those of the text before. Lines that are in no range keep
//! their bytes, and so does the end of the file: with or without a line end.

use std::ops::Range;

use super::block;
use super::error::HashlineError;
use super::landing;
use super::mend;
use super::parse::{Kind, Operation};
use crate::edit::lines::{Lines, LoneReturn};

/// A text after edits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Applied {
    /// The text.
    pub text: String,
    /// Which lines of it are new or stand where some went, counted from 0.
    pub changed: Vec<Range<usize>>,
    /// What the model should know.
    pub notes: Vec<String>,
}

/// Makes edits by line on the text of a file with this name.
///
/// # Errors
///
/// [`HashlineError`] if any of them cannot be made.
pub fn apply(path: &str, text: &str, operations: &[Operation]) -> Result<Applied, HashlineError> {
    let mut notes = Vec::new();
    let operations = resolved(path, text, operations, &mut notes)?;
    mend::made(path, text, &operations, notes)
}

/// Operations without those about blocks.
pub(super) fn resolved(
    path: &str,
    text: &str,
    operations: &[Operation],
    notes: &mut Vec<String>,
) -> Result<Vec<Operation>, HashlineError> {
    operations.iter().map(|operation| resolve(path, text, operation, notes)).collect()
}

fn resolve(
    path: &str,
    text: &str,
    operation: &Operation,
    notes: &mut Vec<String>,
) -> Result<Operation, HashlineError> {
    let (anchor, verb) = match operation.kind {
        Kind::SwapBlock(anchor) => (anchor, "SWAP.BLK"),
        Kind::DeleteBlock(anchor) => (anchor, "DEL.BLK"),
        Kind::AfterBlock(anchor) => (anchor, "INS.BLK.POST"),
        _ => return Ok(operation.clone()),
    };
    let (first, last) = match block::at(path, text, anchor) {
        Some(lines) => lines,
        // After the end of a block is after the block.
        None if verb == "INS.BLK.POST" && block::is_closing(text, anchor) => (anchor, anchor),
        None => return Err(HashlineError::NoBlock { line: operation.line, anchor }),
    };
    notes.push(format!("{verb} {anchor} was lines {first} to {last}."));
    let kind = match operation.kind {
        Kind::SwapBlock(_) => Kind::Swap(first, last),
        Kind::DeleteBlock(_) => Kind::Delete(first, last),
        _ => {
            let lines: Vec<&str> = text.lines().collect();
            let landing = landing::into_block(&lines, first, last, &operation.body);
            if landing != last {
                notes.push(format!(
                    "The new lines are deeper than the end of that block, so they came into it, after line {landing}."
                ));
            }
            Kind::After(landing)
        }
    };
    Ok(Operation { kind, ..operation.clone() })
}

/// Makes edits that are not about blocks.
pub(super) fn apply_plain(
    text: &str,
    operations: &[Operation],
    mut notes: Vec<String>,
) -> Result<Applied, HashlineError> {
    let lines = Lines::of(text, LoneReturn::Stays);
    let mut changes: Vec<(Range<usize>, Vec<String>, usize)> = Vec::new();
    for operation in operations {
        let range = range_of(operation, lines.bodies.len(), text)?;
        if let Some((.., other)) = changes.iter().find(|(taken, ..)| is_in_the_way(taken, &range)) {
            return Err(HashlineError::Overlap { line: operation.line, other: *other });
        }
        notes.extend(echo(&lines, &range, operation, operations));
        changes.push((range, operation.body.clone(), operation.line));
    }
    changes.sort_by_key(|(range, ..)| (range.start, range.end));
    let mut changed = Vec::new();
    let (mut before, mut after) = (0, 0);
    for (range, new, _) in &changes {
        after += range.start - before;
        changed.push(after..after + new.len());
        after += new.len();
        before = range.end;
    }
    let reaches_end = before == lines.bodies.len() && !changes.is_empty();
    let mut result = lines.changed(changes.into_iter().map(|(range, new, _)| (range, new)).collect());
    // A file that ended without a line end still does.
    if reaches_end && !text.is_empty() && !text.ends_with('\n') {
        let body = result.strip_suffix("\r\n").or_else(|| result.strip_suffix('\n')).unwrap_or(&result).len();
        result.truncate(body);
    }
    Ok(Applied { text: result, changed, notes })
}

/// The lines that an operation replaces, counted from 0; none where it only inserts.
fn range_of(operation: &Operation, count: usize, text: &str) -> Result<Range<usize>, HashlineError> {
    let line = operation.line;
    let there = |number: usize| match number {
        0 => Err(HashlineError::NoSuchLine { line, number, count }),
        number if number <= count => Ok(number),
        number => Err(HashlineError::NoSuchLine { line, number, count }),
    };
    match operation.kind {
        Kind::Swap(first, last) | Kind::Delete(first, last) => {
            if last < first {
                return Err(HashlineError::Backwards { line, first, last });
            }
            // Behind the last line end an editor shows one more line, which is none.
            let last = if last == count + 1 && first <= count && text.ends_with('\n') { count } else { last };
            Ok(there(first)? - 1..there(last)?)
        }
        Kind::Before(number) => there(number).map(|number| number - 1..number - 1),
        Kind::After(number) => there(number).map(|number| number..number),
        Kind::Head => Ok(0..0),
        Kind::Tail => Ok(count..count),
        Kind::SwapBlock(anchor) | Kind::DeleteBlock(anchor) | Kind::AfterBlock(anchor) => {
            Err(HashlineError::NoBlock { line, anchor })
        }
    }
}

/// Whether two operations cannot both be made: they replace the same line, or one inserts into the
/// middle of what the other replaces.
fn is_in_the_way(one: &Range<usize>, other: &Range<usize>) -> bool {
    match (one.is_empty(), other.is_empty()) {
        (true, true) => false,
        (true, false) => other.start < one.start && one.start < other.end,
        (false, true) => one.start < other.start && other.start < one.end,
        (false, false) => one.start < other.end && other.start < one.end,
    }
}

/// A note if new lines repeat one beside the range, which models do when they count one line too few.
fn echo(lines: &Lines<'_>, range: &Range<usize>, operation: &Operation, all: &[Operation]) -> Option<String> {
    let is_swap = matches!(operation.kind, Kind::Swap(..));
    let above = range.start.checked_sub(1).and_then(|at| lines.bodies.get(at));
    let below = lines.bodies.get(range.end);
    let same = |line: Option<&&str>, new: Option<&String>| match (line, new) {
        (Some(line), Some(new)) => line.trim().len() > 1 && line.trim() == new.trim(),
        _ => false,
    };
    let twice = if is_swap && same(below, operation.body.last()) {
        range.end + 1
    } else if is_swap && same(above, operation.body.first()) {
        range.start
    } else {
        return None;
    };
    let changes = |other: &Operation| matches!(other.kind, Kind::Swap(first, last) | Kind::Delete(first, last) if (first..=last).contains(&twice));
    if all.iter().any(changes) {
        return None;
    }
    Some(format!(
        "Line {twice} stayed, and the new lines repeat it: check that it is not there twice by mistake."
    ))
}
