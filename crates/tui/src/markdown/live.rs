//! How text that is not complete is shown, so that nothing flashes when the rest comes.
//!
//! Guesses the likely end of what is open: closes emphasis and code, takes the words of a link without its address, gives a
//! table its second line, keeps back what may yet become a marker. Only ever used for drawing; settled text is parsed as it is.

use super::Open;
use super::scan::Start;

/// The part of a line without newline that can be shown; none if it may yet become anything.
pub(super) fn visible<'a>(partial: &'a str, open: &Open) -> Option<&'a str> {
    let partial = partial.trim_end_matches('\r');
    let text = partial.trim();
    if let Open::Code { fence, .. } = open {
        let may_close = fence.maybe_closed_by(partial) && text.len() <= fence.length;
        return (!partial.is_empty() && !may_close).then_some(partial);
    }
    let only = |marks: &str| text.chars().all(|c| marks.contains(c));
    let fence = text.starts_with("```") || text.starts_with("~~~");
    (!only("-=_*+ ")
        && !only("#")
        && !only("`")
        && !only("~")
        && !only("|:- ")
        && !only("> ")
        && !fence
        && !is_marker(text))
    .then_some(partial)
}

/// Whether the text is the marker of an item, of a task at most.
fn is_marker(text: &str) -> bool {
    let text = text.trim_start_matches("> ");
    let after_digits = text.trim_start_matches(|c: char| c.is_ascii_digit());
    let rest = match after_digits.strip_prefix(['.', ')']) {
        Some(rest) if after_digits.len() < text.len() => rest,
        _ => match text.strip_prefix(['-', '*', '+']) {
            Some(rest) => rest,
            None => return after_digits.is_empty() && text.len() < 3,
        },
    };
    let rest_trimmed = rest.trim_start();
    let spaced = rest.len() > rest_trimmed.len();
    rest_trimmed.is_empty()
        || (spaced && ["[", "[ ", "[x", "[X", "[ ]", "[x]", "[X]"].contains(&rest_trimmed))
}

/// The open block with its likely end.
pub(super) fn completed(source: &str) -> String {
    let source = source.trim_end_matches('\n');
    let mut scope = 0;
    let mut at = 0;
    for line in source.split('\n') {
        let start = Start::of(line.trim_start().trim_start_matches("> "));
        if start == Start::Blank || start.interrupts() {
            scope = at;
        }
        at += line.len() + 1;
    }
    let (head, tail) = source.split_at_checked(scope).unwrap_or(("", source));
    if tail.trim_start().starts_with('|') {
        return format!("{head}{}\n", table(tail));
    }
    // Fenced code inside an item or a quote is shown as it is.
    let fences =
        source.lines().filter(|line| line.trim_start_matches(['>', ' ', '-']).starts_with("```")).count();
    if fences % 2 == 1 {
        return format!("{source}\n");
    }
    format!("{head}{}\n", inline(tail))
}

/// A table with its second line, whatever of it there is.
fn table(text: &str) -> String {
    let mut lines = text.lines();
    let head = lines.next().unwrap_or_default();
    let cells = head.trim().trim_matches('|').split('|').count();
    let is_delimiter = |line: &&str| !line.trim().is_empty() && line.chars().all(|c| "|:- ".contains(c));
    let rest: Vec<&str> = lines.collect();
    match rest.split_first() {
        Some((second, rows)) if is_delimiter(second) => {
            let done = second.trim().trim_matches('|').split('|').filter(|cell| cell.contains('-')).count();
            let delimiter = if done == cells { (*second).to_owned() } else { delimiter(cells) };
            let mut lines = vec![head.to_owned(), delimiter];
            lines.extend(rows.iter().map(|row| (*row).to_owned()));
            if rows.last().is_some()
                && let Some(last) = lines.last_mut()
            {
                *last = last_cell_completed(last);
            }
            lines.join("\n")
        }
        Some(_) => text.to_owned(),
        None => format!("{}\n{}", last_cell_completed(head), delimiter(cells)),
    }
}

fn delimiter(cells: usize) -> String {
    format!("|{}", "---|".repeat(cells))
}

fn last_cell_completed(row: &str) -> String {
    let at = row.rfind('|').map_or(0, |at| at + 1);
    let (cells, last) = row.split_at_checked(at).unwrap_or(("", row));
    format!("{cells}{}", inline(last))
}

struct Delimiter {
    mark: char,
    length: usize,
    at: usize,
}

/// A run of text with everything closed that is open at its end.
fn inline(text: &str) -> String {
    let text = unlinked(text);
    let mut open: Vec<Delimiter> = Vec::new();
    let mut at = 0;
    let mut before = ' ';
    let mut cut = text.len();
    while let Some(mark) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        match mark {
            '\\' => {
                at += 1 + rest.chars().nth(1).map_or(0, char::len_utf8);
                before = 'x';
                continue;
            }
            '`' => match code_end(rest) {
                CodeEnd::After(length) => {
                    at += length;
                    before = '`';
                    continue;
                }
                CodeEnd::Missing(run) => {
                    let content = rest.get(run..).unwrap_or_default();
                    let content = content.trim_end_matches('`');
                    let body = text.get(..at).unwrap_or_default();
                    return match content.trim().is_empty() {
                        true => closed(body, &open),
                        false => closed(&format!("{body}{0}{content}{0}", "`".repeat(run)), &open),
                    };
                }
            },
            '*' | '_' | '~' => {
                let length = rest.chars().take_while(|c| *c == mark).count();
                let after = rest.chars().nth(length);
                delimiter_run(&mut open, Delimiter { mark, length, at }, before, after, &mut cut);
                at += length;
                before = mark;
                continue;
            }
            c => before = c,
        }
        at += mark.len_utf8();
    }
    closed(text.get(..cut).unwrap_or_default(), &open)
}

/// Opens or closes emphasis, or notes that a run at the very end has to wait for what follows.
fn delimiter_run(
    open: &mut Vec<Delimiter>,
    run: Delimiter,
    before: char,
    after: Option<char>,
    cut: &mut usize,
) {
    let closes = !before.is_whitespace() && open.iter().any(|delimiter| delimiter.mark == run.mark);
    let inside_word = before.is_alphanumeric() && after.is_some_and(char::is_alphanumeric);
    if closes && !(run.mark == '_' && inside_word) {
        let Some(last) = open.iter().rposition(|delimiter| delimiter.mark == run.mark) else { return };
        let wanted = open.get(last).map_or(0, |delimiter| delimiter.length);
        if run.length < wanted && after.is_none() {
            *cut = run.at;
        } else if run.length >= wanted {
            open.truncate(last);
        } else if let Some(delimiter) = open.get_mut(last) {
            delimiter.length -= run.length;
        }
        return;
    }
    match after {
        None if !before.is_alphanumeric() || run.length > 1 => *cut = run.at,
        Some(after)
            if !after.is_whitespace()
                && !before.is_alphanumeric()
                && (run.mark != '~' || run.length == 2) =>
        {
            open.push(run);
        }
        _ => {}
    }
}

fn closed(text: &str, open: &[Delimiter]) -> String {
    let trimmed = text.trim_end();
    let mut out = trimmed.to_owned();
    for delimiter in open.iter().rev() {
        // An opener with nothing behind it is not shown.
        if out.len() == delimiter.at + delimiter.length {
            out.truncate(delimiter.at);
        } else {
            out.extend(std::iter::repeat_n(delimiter.mark, delimiter.length));
        }
    }
    out
}

enum CodeEnd {
    /// The span is closed and this long.
    After(usize),
    /// A run of this many backticks is not closed.
    Missing(usize),
}

fn code_end(rest: &str) -> CodeEnd {
    let run = rest.bytes().take_while(|byte| *byte == b'`').count();
    let mut at = run;
    while let Some(found) = rest.get(at..).and_then(|rest| rest.find('`')) {
        let start = at + found;
        let length = rest.get(start..).unwrap_or_default().bytes().take_while(|byte| *byte == b'`').count();
        if length == run {
            return CodeEnd::After(start + length);
        }
        at = start + length;
    }
    CodeEnd::Missing(run)
}

/// The text with the words of an unfinished link in place of it.
fn unlinked(text: &str) -> String {
    let Some(start) = last_open_bracket(text) else { return text.to_owned() };
    let (before, link) = text.split_at_checked(start).unwrap_or((text, ""));
    let before = before.strip_suffix('!').unwrap_or(before);
    let words = link.get(1..).unwrap_or_default();
    let words = words
        .find("](")
        .or_else(|| words.strip_suffix(']').map(str::len))
        .map_or(words, |end| words.get(..end).unwrap_or_default());
    format!("{before}{words}")
}

/// Where a link begins whose end has not come.
fn last_open_bracket(text: &str) -> Option<usize> {
    let mut stack: Vec<usize> = Vec::new();
    let mut at = 0;
    while let Some(c) = text.get(at..).and_then(|rest| rest.chars().next()) {
        let rest = text.get(at..).unwrap_or_default();
        match c {
            '\\' => at += rest.chars().nth(1).map_or(0, char::len_utf8),
            '`' => match code_end(rest) {
                CodeEnd::After(length) => {
                    at += length;
                    continue;
                }
                CodeEnd::Missing(_) => return None,
            },
            '[' => stack.push(at),
            ']' => {
                let start = stack.pop();
                let task =
                    start.is_some_and(|start| matches!(text.get(start..=at), Some("[ ]" | "[x]" | "[X]")));
                let after = rest.get(1..).unwrap_or_default();
                let unfinished = after.is_empty() || (after.starts_with('(') && !after.contains(')'));
                if unfinished && !task && start.is_some() {
                    return start;
                }
            }
            _ => {}
        }
        at += c.len_utf8();
    }
    stack.first().copied().filter(|start| text.get(*start..).is_some_and(|rest| rest.len() < 300))
}
