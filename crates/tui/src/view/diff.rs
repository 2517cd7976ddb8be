//! A unified diff for a person: line numbers, signs, and marks on the words
//! that changed.

use similar::{ChangeTag, TextDiff};

use crate::line::{Color, Line, Style};
use crate::neutral::{Sequences, neutral};

/// A line of a hunk.
#[derive(Debug)]
struct Row {
    sign: char,
    number: usize,
    text: String,
    /// Byte ranges of what changed in the line that stands for this one.
    marks: Vec<std::ops::Range<usize>>,
}

/// Lines longer than this are not compared word by word.
const WORDY: usize = 2_000;

/// The diff in lines of at most so many cells; at most `limit` of them, and then how many there are.
pub(crate) fn lines(unified: &str, columns: u16, limit: usize) -> Vec<Line> {
    let rows = rows(unified);
    let digits = rows.iter().map(|row| row.number).max().unwrap_or(0).to_string().len().max(2);
    let shown = if rows.len() > limit { limit.saturating_sub(1) } else { rows.len() };
    let mut lines: Vec<Line> =
        rows.iter().take(shown).flat_map(|row| lay_out(row, digits, usize::from(columns))).collect();
    if shown < rows.len() {
        let left = rows.len() - shown;
        lines.push(Line::styled(format!("{:digits$} … {left} more lines", ""), Style::dimmed()));
    }
    lines
}

fn rows(unified: &str) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let (mut old, mut new, mut in_hunk) = (0, 0, false);
    // Where the run of removed lines began that added ones may stand for.
    let mut removed = 0..0;
    for line in unified.lines() {
        if let Some((from, to)) = header(line) {
            if in_hunk {
                rows.push(Row { sign: '⋮', number: 0, text: String::new(), marks: Vec::new() });
            }
            (old, new, in_hunk) = (from, to, true);
            removed = rows.len()..rows.len();
            continue;
        }
        if !in_hunk || line.starts_with('\\') {
            continue;
        }
        let (sign, text) = match line.as_bytes().first() {
            Some(b'-') => ('-', line.get(1..).unwrap_or_default()),
            Some(b'+') => ('+', line.get(1..).unwrap_or_default()),
            Some(b' ') => (' ', line.get(1..).unwrap_or_default()),
            _ => (' ', line),
        };
        let text = neutral(text, Sequences::Shown).into_owned();
        let number = if sign == '-' { old } else { new };
        let mut row = Row { sign, number, text, marks: Vec::new() };
        match sign {
            '-' => {
                if removed.end != rows.len() {
                    removed = rows.len()..rows.len();
                }
                removed.end = rows.len() + 1;
                old += 1;
            }
            '+' => {
                if let Some(place) = removed.next()
                    && let Some(before) = rows.get_mut(place)
                {
                    mark(before, &mut row);
                    // The run stays adjacent to what is added next.
                }
                new += 1;
            }
            _ => {
                (old, new) = (old + 1, new + 1);
                removed = 0..0;
            }
        }
        rows.push(row);
    }
    rows
}

/// The first numbers of a hunk: `@@ -1,2 +3,4 @@`.
fn header(line: &str) -> Option<(usize, usize)> {
    let mut words = line.strip_prefix("@@ ")?.split(' ');
    let mut number = |sign: char| -> Option<usize> {
        let word = words.next()?.strip_prefix(sign)?;
        word.split(',').next()?.parse().ok()
    };
    Some((number('-')?, number('+')?))
}

fn mark(before: &mut Row, after: &mut Row) {
    if before.text.len() > WORDY || after.text.len() > WORDY {
        return;
    }
    let diff = TextDiff::from_words(before.text.as_str(), after.text.as_str());
    // Two lines with little in common are two lines.
    if diff.ratio() < 0.4 {
        return;
    }
    let (mut old, mut new) = (0, 0);
    let (mut gone, mut come) = (Vec::new(), Vec::new());
    for change in diff.iter_all_changes() {
        let length = change.value().len();
        match change.tag() {
            ChangeTag::Equal => (old, new) = (old + length, new + length),
            ChangeTag::Delete => {
                gone.push(old..old + length);
                old += length;
            }
            ChangeTag::Insert => {
                come.push(new..new + length);
                new += length;
            }
        }
    }
    (before.marks, after.marks) = (gone, come);
}

fn lay_out(row: &Row, digits: usize, columns: usize) -> Vec<Line> {
    let style = match row.sign {
        '-' => Style::colored(Color::Red),
        '+' => Style::colored(Color::Green),
        _ => Style::dimmed(),
    };
    if row.sign == '⋮' {
        return vec![Line::styled(format!("{:digits$} …", ""), Style::dimmed())];
    }
    let mut line = Line::styled(format!("{:>digits$} ", row.number), Style::dimmed());
    line.push(format!("{} ", row.sign), style.clone());
    let mut at = 0;
    for marked in &row.marks {
        line.push(row.text.get(at..marked.start).unwrap_or_default(), style.clone());
        let mut strong = style.clone().bold();
        strong.underline = true;
        line.push(row.text.get(marked.clone()).unwrap_or_default(), strong);
        at = marked.end;
    }
    line.push(row.text.get(at..).unwrap_or_default(), style);
    line.wrapped(columns, digits + 3)
}

#[cfg(test)]
mod tests {
    use super::*;

    const DIFF: &str = "--- a/x\n+++ b/x\n@@ -9,4 +9,4 @@ fn main\n before\n-let one = 1;\n-let two = 2;\n+let one = 10;\n+let three = 3;\n after\n@@ -30 +30,2 @@\n last\n+more\n";

    #[test]
    fn numbers_signs_and_words() {
        let lines = lines(DIFF, 60, 100);
        let text: Vec<String> = lines.iter().map(Line::text).collect();
        assert_eq!(
            text,
            [
                " 9   before",
                "10 - let one = 1;",
                "11 - let two = 2;",
                "10 + let one = 10;",
                "11 + let three = 3;",
                "12   after",
                "   …",
                "30   last",
                "31 + more",
            ]
        );
        let marked = |line: &Line| -> Vec<String> {
            line.spans.iter().filter(|span| span.style.underline).map(|span| span.text.clone()).collect()
        };
        assert_eq!(marked(&lines[1]), ["1;"]);
        assert_eq!(marked(&lines[3]), ["10;"]);
    }

    #[test]
    fn a_long_diff_says_how_much_is_left() {
        let text: Vec<String> = lines(DIFF, 60, 3).iter().map(Line::text).collect();
        assert_eq!(text, [" 9   before", "10 - let one = 1;", "   … 7 more lines"]);
    }
}
