//! Ranges that are one line off, mended where the grammar of the file proves
//! what was meant; and a word where an edit breaks a file.
//!
//! A result that can be parsed is never touched. Of one that cannot, only the
//! ends of its ranges are looked at: lines without any word that went and are
//! needed, and new lines that stand beside the range already. What is mended is
//! said, and where the indentation leaves open what was meant, the edit is refused.

use super::apply::{Applied, apply_plain};
use super::block;
use super::echo::{self, Echo};
use super::error::HashlineError;
use super::landing::{self, Depth};
use super::parse::{Kind, Operation};
use crate::edit::lines::{Lines, LoneReturn};

/// Larger files are edited as written.
const MOST_BYTES: usize = 256 * 1024;

/// Results that are tried, at most.
const MOST_TRIES: usize = 48;

/// Lines at the end of a range that may be kept, at most.
const MOST_KEPT: usize = 3;

/// Edits that are mended together, at most.
const MOST_TOGETHER: usize = 3;

/// Makes edits that are not about blocks on the text of a file with this name.
pub(super) fn made(
    path: &str,
    text: &str,
    operations: &[Operation],
    mut notes: Vec<String>,
) -> Result<Applied, HashlineError> {
    let lines = Lines::of(text, LoneReturn::Stays).bodies;
    let mut settled = Vec::new();
    for (index, operation) in operations.iter().enumerate() {
        settled.push(beside(path, text, &lines, operations, index, operation, &mut notes)?);
    }
    let plain = apply_plain(text, &settled, notes.clone())?;
    if text.len() > MOST_BYTES || block::error_line(path, &plain.text).is_none() {
        return Ok(plain);
    }
    if let Some(mended) = mended(path, text, &lines, &settled, &notes)? {
        return Ok(mended);
    }
    let broken = block::error_line(path, &plain.text).filter(|_| block::parses(path, text));
    let note = broken.map(|line| {
        format!("This breaks the file near line {line}: it could be parsed before. It was done as written; check the numbers.")
    });
    Ok(Applied { notes: plain.notes.into_iter().chain(note).collect(), ..plain })
}

/// An operation as the lines beside it show that it is meant.
fn beside(
    path: &str,
    text: &str,
    lines: &[&str],
    operations: &[Operation],
    index: usize,
    operation: &Operation,
    notes: &mut Vec<String>,
) -> Result<Operation, HashlineError> {
    match operation.kind {
        Kind::After(anchor) if operations.len() == 1 => {
            let landing = landing::past_ends(lines, anchor, &operation.body);
            let moved = |line| Operation { kind: Kind::After(line), ..operation.clone() };
            let outside = landing::out_of_block(lines, anchor, &operation.body).filter(|line| {
                let result = apply_plain(text, &[moved(*line)], Vec::new());
                text.len() <= MOST_BYTES && result.is_ok_and(|result| block::parses(path, &result.text))
            });
            let landing = outside.unwrap_or(landing);
            if landing != anchor {
                notes.push(format!(
                    "The new lines are less deep than line {anchor}, so they came after line {landing}, behind what ends there."
                ));
            }
            Ok(moved(landing))
        }
        Kind::Swap(first, last) if first > 0 && first <= last && last <= lines.len() => {
            if operations
                .iter()
                .enumerate()
                .any(|(at, other)| at != index && is_beside(other.kind, first, last))
            {
                return Ok(operation.clone());
            }
            match echo::judged(lines, &(first - 1..last), &operation.body) {
                Echo::None => Ok(operation.clone()),
                Echo::Unclear(beside) => {
                    Err(HashlineError::Repeats { line: operation.line, first, last, beside })
                }
                Echo::Drop(leading, trailing) => {
                    notes.push(repeated(first, last, leading + trailing));
                    Ok(without(operation, leading, trailing))
                }
            }
        }
        _ => Ok(operation.clone()),
    }
}

fn repeated(first: usize, last: usize, count: usize) -> String {
    format!(
        "SWAP {first}.={last}: {count} new lines were left out that stand beside it already. Write only what the range becomes."
    )
}

fn without(operation: &Operation, leading: usize, trailing: usize) -> Operation {
    let end = operation.body.len().saturating_sub(trailing);
    let body = operation.body.get(leading..end).unwrap_or_default().to_vec();
    Operation { body, ..operation.clone() }
}

/// Whether another operation changes what is next to a range.
fn is_beside(other: Kind, first: usize, last: usize) -> bool {
    match other {
        Kind::Swap(from, to) | Kind::Delete(from, to) => from <= last + 1 && to + 1 >= first,
        Kind::Before(line) | Kind::After(line) => line <= last + 1 && line + 1 >= first,
        Kind::Head => first == 1,
        Kind::Tail | Kind::SwapBlock(_) | Kind::DeleteBlock(_) | Kind::AfterBlock(_) => false,
    }
}

/// What an operation may have meant.
struct Meant {
    operation: Operation,
    note: String,
    /// A line that must stay, of which it is not clear on which side of the new lines.
    unclear: Option<usize>,
}

/// The one way to mend as few operations as possible so that the result can be parsed.
fn mended(
    path: &str,
    text: &str,
    lines: &[&str],
    operations: &[Operation],
    notes: &[String],
) -> Result<Option<Applied>, HashlineError> {
    let meant: Vec<Vec<Meant>> = operations.iter().map(|operation| meant(lines, operation)).collect();
    let mut tries = 0;
    for together in 1..=MOST_TOGETHER.min(operations.len()) {
        let mut found: Option<(Applied, Option<HashlineError>)> = None;
        for choice in choices(&meant, together) {
            tries += 1;
            if tries > MOST_TRIES {
                return Ok(None);
            }
            let mut changed = operations.to_vec();
            let mut told = notes.to_vec();
            let mut unclear = None;
            for (index, meant) in &choice {
                if let Some(operation) = changed.get_mut(*index) {
                    operation.clone_from(&meant.operation);
                }
                told.push(meant.note.clone());
                let refused = |boundary| HashlineError::Boundary { line: meant.operation.line, boundary };
                unclear = unclear.or(meant.unclear.map(refused));
            }
            let Ok(applied) = apply_plain(text, &changed, told) else { continue };
            if !block::parses(path, &applied.text) {
                continue;
            }
            match &mut found {
                Some((other, doubt)) if other.text == applied.text => *doubt = doubt.take().and(unclear),
                Some(_) => return Ok(None),
                None => found = Some((applied, unclear)),
            }
        }
        match found {
            Some((_, Some(unclear))) => return Err(unclear),
            Some((applied, None)) => return Ok(Some(applied)),
            None => {}
        }
    }
    Ok(None)
}

/// Every way to take so many operations in another meaning.
fn choices(meant: &[Vec<Meant>], together: usize) -> Vec<Vec<(usize, &Meant)>> {
    let mut choices: Vec<Vec<(usize, &Meant)>> = vec![Vec::new()];
    for _ in 0..together {
        let mut longer = Vec::new();
        for choice in &choices {
            let from = choice.last().map_or(0, |(index, _)| index + 1);
            let more = meant.iter().enumerate().skip(from);
            for one in more.flat_map(|(index, several)| several.iter().map(move |one| (index, one))) {
                longer.push(choice.iter().copied().chain([one]).collect());
            }
            if longer.len() > MOST_TRIES {
                break;
            }
        }
        choices = longer;
    }
    choices
}

/// What else a replacement may have meant.
fn meant(lines: &[&str], operation: &Operation) -> Vec<Meant> {
    let Kind::Swap(first, last) = operation.kind else { return Vec::new() };
    let Some(replaced) = first.checked_sub(1).and_then(|start| lines.get(start..last)) else {
        return Vec::new();
    };
    let depth = Depth::of(lines);
    let Some(claimed) = depth.claimed(&operation.body) else { return Vec::new() };
    let mut found = Vec::new();
    let kept = |count: usize| {
        format!(
            "SWAP {first}.={last}: {count} lines at its end were kept, which the file needs. Leave lines that stay out of ranges."
        )
    };
    for count in 1..=MOST_KEPT.min(replaced.len()) {
        let rows = replaced.get(replaced.len() - count..).unwrap_or_default();
        let fits = rows.iter().all(|row| is_structure(row) && depth.at(row) < claimed);
        if fits && !ends_with(&operation.body, rows) {
            let body = operation.body.iter().cloned().chain(rows.iter().map(|row| (*row).to_owned()));
            let operation = Operation { body: body.collect(), ..operation.clone() };
            found.push(Meant { operation, note: kept(count), unclear: None });
        }
        let rows = replaced.get(..count).unwrap_or_default();
        if !rows.iter().all(|row| is_structure(row))
            || (count == replaced.len() && !fits_before(depth, rows, claimed))
        {
            continue;
        }
        let unclear = (!fits_before(depth, rows, claimed)).then_some(first);
        let body = rows.iter().map(|row| (*row).to_owned()).chain(operation.body.iter().cloned());
        let operation = Operation { body: body.collect(), ..operation.clone() };
        found.push(Meant { operation, note: kept(count), unclear });
    }
    let (leading, trailing) = echo::repeated(lines, &(first - 1..last), &operation.body);
    let dropped = (1..=trailing).rev().map(|count| (0, count));
    for (leading, trailing) in dropped.chain((1..=leading).rev().map(|count| (count, 0))) {
        if leading + trailing < operation.body.len() {
            let note = repeated(first, last, leading + trailing);
            found.push(Meant { operation: without(operation, leading, trailing), note, unclear: None });
        }
    }
    found
}

/// Whether new lines can stand behind rows that end or begin a block.
fn fits_before(depth: Depth, rows: &[&str], claimed: usize) -> bool {
    rows.iter().all(|row| !block::closes(row) || claimed <= depth.at(row))
}

/// A line that only begins or ends something.
fn is_structure(row: &str) -> bool {
    !row.trim().is_empty() && !row.contains(char::is_alphanumeric)
}

fn ends_with(body: &[String], rows: &[&str]) -> bool {
    let start = body.len().checked_sub(rows.len());
    let tail = start.and_then(|start| body.get(start..)).unwrap_or_default();
    !tail.is_empty() && tail.iter().zip(rows).all(|(new, row)| new.trim_end() == row.trim_end())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn swap(first: usize, last: usize, body: &[&str]) -> Operation {
        let body = body.iter().map(|line| (*line).to_owned()).collect();
        Operation { kind: Kind::Swap(first, last), body, line: 1 }
    }

    fn result(path: &str, text: &str, operations: &[Operation]) -> Result<(String, usize), HashlineError> {
        made(path, text, operations, Vec::new()).map(|applied| (applied.text, applied.notes.len()))
    }

    fn noted(text: &str) -> Result<(String, usize), HashlineError> {
        Ok((text.to_owned(), 1))
    }

    #[test]
    fn an_end_that_the_file_needs_is_kept() {
        let text = "fn a() {\n    b();\n}\n\nfn c() {\n    d();\n}\n";
        let mended = "fn a() {\n    x();\n}\n\nfn c() {\n    d();\n}\n";
        assert_eq!(result("a.rs", text, &[swap(2, 3, &["    x();"])]), noted(mended));
        let both = [swap(2, 3, &["    x();"]), swap(6, 7, &["    y();"])];
        let mended = "fn a() {\n    x();\n}\n\nfn c() {\n    y();\n}\n";
        assert_eq!(result("a.rs", text, &both), Ok((mended.to_owned(), 2)));
        // Nothing is known of the language, so nothing is mended.
        let plain = "fn a() {\n    x();\n\nfn c() {\n    d();\n}\n";
        assert_eq!(result("a.txt", text, &[swap(2, 3, &["    x();"])]), Ok((plain.to_owned(), 0)));
    }

    #[test]
    fn an_end_that_is_there_twice_is_left_out() {
        let text = "f(() => {\n  a();\n});\nb();\n";
        let mended = "f(() => {\n  c();\n});\nb();\n";
        assert_eq!(result("a.ts", text, &[swap(2, 2, &["  c();", "});"])]), noted(mended));
    }

    #[test]
    fn an_end_on_an_unclear_side_is_refused() {
        let text = "fn a() {\n    if b {\n        c();\n    }\n    d();\n}\n";
        let inside = [swap(4, 5, &["        e();", "        f();"])];
        assert_eq!(result("a.rs", text, &inside), Err(HashlineError::Boundary { line: 1, boundary: 4 }));
        let after = [swap(4, 5, &["    e();"])];
        assert_eq!(
            result("a.rs", text, &after),
            noted("fn a() {\n    if b {\n        c();\n    }\n    e();\n}\n")
        );
    }

    #[test]
    fn a_word_is_never_brought_back_but_a_broken_file_is_told() {
        let text = "fn a() {\n    b();\n}\n";
        assert_eq!(result("a.rs", text, &[swap(1, 2, &["    c();"])]), noted("    c();\n}\n"));
    }

    #[test]
    fn neighbours_that_another_edit_changes_are_no_echo() {
        let text = "one\ntwo\nthree\nfour\n";
        let edits = [swap(1, 1, &["1"]), swap(2, 3, &["one", "two", "three"])];
        assert_eq!(result("a.txt", text, &edits), Ok(("1\none\ntwo\nthree\nfour\n".to_owned(), 0)));
        assert_eq!(
            result("a.txt", text, &[swap(2, 4, &["one", "x"])]),
            Err(HashlineError::Repeats { line: 1, first: 2, last: 4, beside: 1 })
        );
    }
}
