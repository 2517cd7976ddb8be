//! The hunks of a file applied to its text. Pure.
//!
//! Every hunk is placed in the text as it was before any of them; a hunk whose
//! place is not certain is refused. Lines that stay keep their bytes, with
//! their line ends, also where the hunk writes them a little differently. New
//! lines end as most lines of the file do.

use std::ops::Range;

use super::error::{Misfit, PatchError};
use super::parse::{End, Hunk, Row};
use super::seek::{self, PASSES, Pass};
use crate::edit::lines::{Lines, LoneReturn};
use crate::edit::{moved, nearest};

/// Lines that are named when a hunk fits more than once.
const NAMED_LINES: usize = 10;

/// The text of a file after its hunks.
///
/// # Errors
///
/// [`PatchError::Hunk`] for the first hunk whose place is not certain.
pub(super) fn updated(path: &str, text: &str, hunks: &[Hunk]) -> Result<String, PatchError> {
    let lines = Lines::of(text, LoneReturn::Ends);
    let mut changes: Vec<(Range<usize>, Vec<String>)> = Vec::new();
    let mut cursor = 0;
    for hunk in hunks {
        let misfit = |why: Misfit| PatchError::Hunk { path: path.to_owned(), line: hunk.line, why };
        let taken: Vec<Range<usize>> = changes.iter().map(|(range, _)| range.clone()).collect();
        let shorter = without_last_blank(hunk);
        let placed = place(&lines, hunk, cursor, &taken)
            .or_else(|why| match &shorter {
                Some(shorter) => place(&lines, shorter, cursor, &taken).map_err(|_| why),
                None => Err(why),
            })
            .map_err(misfit)?;
        if !placed.range.is_empty() {
            cursor = placed.range.end;
        }
        changes.extend(placed.changes(&lines));
    }
    Ok(lines.changed(changes))
}

/// A line end after the last line of a hunk is easily written as one more line.
fn without_last_blank(hunk: &Hunk) -> Option<Hunk> {
    match hunk.rows.split_last() {
        Some((Row::Stays(last), rest)) if last.trim().is_empty() && !rest.is_empty() => {
            Some(Hunk { rows: rest.to_vec(), ..hunk.clone() })
        }
        _ => None,
    }
}

/// A hunk and the lines that it is about.
struct Placed<'a> {
    hunk: &'a Hunk,
    range: Range<usize>,
    pass: Pass,
}

/// Finds the lines of a hunk.
fn place<'a>(
    lines: &Lines<'_>,
    hunk: &'a Hunk,
    cursor: usize,
    taken: &[Range<usize>],
) -> Result<Placed<'a>, Misfit> {
    let wanted: Vec<&str> = hunk.rows.iter().filter_map(Row::before).collect();
    let context = below(&lines.bodies, &hunk.contexts, cursor);
    if wanted.is_empty() {
        let at = insertion(lines, hunk, context)?;
        return Ok(Placed { hunk, range: at..at, pass: Pass::Exact });
    }
    let mut is_taken = false;
    for pass in PASSES {
        let mut found = seek::places(&lines.bodies, &wanted, pass);
        is_taken |= !found.is_empty();
        found.retain(|at| taken.iter().all(|range| at + wanted.len() <= range.start || *at >= range.end));
        if found.is_empty() {
            continue;
        }
        let at = choose(&found, wanted.len(), lines.bodies.len(), hunk, cursor, context)?;
        return Ok(Placed { hunk, range: at..at + wanted.len(), pass });
    }
    if is_taken {
        return Err(Misfit::Overlaps);
    }
    let nearest = nearest::explain(&lines.bodies.join("\n"), &wanted.join("\n"), "what it expects");
    Err(Misfit::NotFound { nearest })
}

/// The line that the headers of a hunk lead to: after the cursor, or anywhere.
fn below(lines: &[&str], contexts: &[String], cursor: usize) -> Option<usize> {
    let from = |start: usize| {
        contexts.iter().try_fold((start, None), |(from, _), context| {
            seek::context(lines, context, from).map(|at| (at + 1, Some(at)))
        })
    };
    from(cursor).or_else(|| from(0)).and_then(|(_, at)| at)
}

/// Where lines go that have no lines around them.
fn insertion(lines: &Lines<'_>, hunk: &Hunk, context: Option<usize>) -> Result<usize, Misfit> {
    let count = lines.bodies.len();
    match (hunk.contexts.last(), context, hunk.hint) {
        (_, Some(at), _) => Ok(at + 1),
        (Some(missing), None, _) => Err(Misfit::NoContext(missing.clone())),
        (None, None, Some(line)) if hunk.end == End::Anywhere => {
            if line > count {
                Err(Misfit::Beyond { line, count })
            } else {
                Ok(line)
            }
        }
        (None, None, _) => Ok(count),
    }
}

/// The place that is meant, of those where the lines are.
fn choose(
    found: &[usize],
    length: usize,
    count: usize,
    hunk: &Hunk,
    cursor: usize,
    context: Option<usize>,
) -> Result<usize, Misfit> {
    if let [only] = found {
        return Ok(*only);
    }
    if hunk.end == End::File
        && let Some(last) = found.iter().find(|at| **at + length == count)
    {
        return Ok(*last);
    }
    if let Some(context) = context {
        let after =
            found.iter().find(|at| **at > context).or_else(|| found.iter().find(|at| **at == context));
        if let Some(at) = after {
            return Ok(*at);
        }
    } else if let Some(missing) = hunk.contexts.last() {
        return Err(Misfit::NoContext(missing.clone()));
    }
    if let Some(hint) = hunk.hint {
        let distance = |at: &usize| at.abs_diff(hint.saturating_sub(1));
        if let Some(nearest) = found.iter().min_by_key(|at| distance(at)) {
            return Ok(*nearest);
        }
    }
    let mut after = found.iter().filter(|at| **at >= cursor);
    if cursor > 0
        && let (Some(at), None) = (after.next(), after.next())
    {
        return Ok(*at);
    }
    Err(Misfit::Ambiguous(found.iter().take(NAMED_LINES).map(|at| at + 1).collect()))
}

impl Row {
    /// What it is in the file before.
    fn before(&self) -> Option<&str> {
        match self {
            Self::Stays(text) | Self::Goes(text) => Some(text),
            Self::Comes(_) => None,
        }
    }

    /// What it is in the file after.
    fn after(&self) -> Option<&str> {
        match self {
            Self::Stays(text) | Self::Comes(text) => Some(text),
            Self::Goes(_) => None,
        }
    }
}

impl Placed<'_> {
    /// Which lines are replaced by which, without those that stay.
    fn changes(&self, lines: &Lines<'_>) -> Vec<(Range<usize>, Vec<String>)> {
        let new = self.new_lines(lines);
        let mut new = new.iter();
        let mut changes: Vec<(Range<usize>, Vec<String>)> = Vec::new();
        let mut at = self.range.start;
        let mut current: Option<(Range<usize>, Vec<String>)> = None;
        for row in &self.hunk.rows {
            match row {
                Row::Stays(_) => {
                    changes.extend(current.take());
                    new.next();
                    at += 1;
                }
                Row::Goes(_) => {
                    at += 1;
                    current.get_or_insert_with(|| (at - 1..at - 1, Vec::new())).0.end = at;
                }
                Row::Comes(_) => {
                    let line = new.next().cloned().unwrap_or_default();
                    current.get_or_insert_with(|| (at..at, Vec::new())).1.push(line);
                }
            }
        }
        changes.extend(current);
        changes
    }

    /// The lines after, indented as the file is where the hunk is not.
    fn new_lines(&self, lines: &Lines<'_>) -> Vec<String> {
        let new: Vec<&str> = self.hunk.rows.iter().filter_map(Row::after).collect();
        if !matches!(self.pass, Pass::Moved | Pass::Plain) {
            return new.into_iter().map(str::to_owned).collect();
        }
        let old: Vec<&str> = self.hunk.rows.iter().filter_map(Row::before).collect();
        let found = lines.bodies.get(self.range.clone()).unwrap_or_default();
        // A line break inside of a line cannot be, so there are as many lines after as before.
        moved(&old.join("\n"), &found.join("\n"), &new.join("\n")).split('\n').map(str::to_owned).collect()
    }
}
