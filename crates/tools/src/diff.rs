//! A change of one file, to be shown to a person. Bounded in cost and in size.

use rein_protocol::Block;
use similar::{ChangeTag, TextDiff};

/// Lines of a diff that are shown.
const SHOWN_LINES: usize = 200;

/// Characters of a line that are shown.
const SHOWN_CHARS: usize = 500;

/// Unchanged lines around a change.
const AROUND: usize = 3;

/// Comparing takes time by the product of the lines on both sides; beyond this one block replaces another.
const MOST_WORK: usize = 4_000_000;

/// The difference of two states of a file.
pub(crate) fn block(path: &str, before: &str, after: &str) -> Block {
    let (unified, added, removed) = unified(before, after);
    Block::Diff { path: path.to_owned(), unified, added, removed }
}

/// The difference in words for the model, and whether it is all of it.
pub(crate) fn told(before: &str, after: &str) -> (String, Extent) {
    let (text, ..) = unified(before, after);
    let extent = if text.ends_with(CUT_END) { Extent::Cut } else { Extent::Whole };
    (text, extent)
}

/// Whether something is all there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// It is.
    Whole,
    /// There is more.
    Cut,
}

/// What a diff ends with that does not show everything.
const CUT_END: &str = " more lines]\n";

fn unified(before: &str, after: &str) -> (String, usize, usize) {
    let old: Vec<&str> = before.split_inclusive('\n').collect();
    let new: Vec<&str> = after.split_inclusive('\n').collect();
    let same_begin = old.iter().zip(&new).take_while(|(one, other)| one == other).count();
    let rest = old.len().min(new.len()) - same_begin;
    let same_end =
        old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(one, other)| one == other).count();
    // Only what differs is compared, with a little of what does not on both sides.
    let from = same_begin.saturating_sub(AROUND);
    let old = old.get(from..(old.len() - same_end + AROUND).min(old.len())).unwrap_or_default();
    let new = new.get(from..(new.len() - same_end + AROUND).min(new.len())).unwrap_or_default();
    let mut hunks = Hunks { text: String::new(), lines: 0, cut: 0, added: 0, removed: 0 };
    if old.len().saturating_mul(new.len()) > MOST_WORK {
        hunks.replace_all(from, old, new);
    } else {
        hunks.compare(from, old, new);
    }
    hunks.finish()
}

struct Hunks {
    text: String,
    lines: usize,
    cut: usize,
    added: usize,
    removed: usize,
}

impl Hunks {
    fn compare(&mut self, from: usize, old: &[&str], new: &[&str]) {
        let diff = TextDiff::from_slices(old, new);
        for group in diff.grouped_ops(AROUND) {
            let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
            let (old_range, new_range) = (
                first.old_range().start..last.old_range().end,
                first.new_range().start..last.new_range().end,
            );
            self.header(from + old_range.start, old_range.len(), from + new_range.start, new_range.len());
            for change in group.iter().flat_map(|op| diff.iter_changes(op)) {
                self.line(change.tag(), change.value());
            }
        }
    }

    fn replace_all(&mut self, from: usize, old: &[&str], new: &[&str]) {
        self.header(from, old.len(), from, new.len());
        old.iter().for_each(|line| self.line(ChangeTag::Delete, line));
        new.iter().for_each(|line| self.line(ChangeTag::Insert, line));
    }

    fn header(&mut self, old_start: usize, old_count: usize, new_start: usize, new_count: usize) {
        // By convention a range without lines is said to begin at the line before it.
        let start = |start: usize, count: usize| start + usize::from(count > 0);
        self.push(&format!(
            "@@ -{},{old_count} +{},{new_count} @@",
            start(old_start, old_count),
            start(new_start, new_count)
        ));
    }

    fn line(&mut self, tag: ChangeTag, line: &str) {
        let sign = match tag {
            ChangeTag::Equal => ' ',
            ChangeTag::Delete => {
                self.removed += 1;
                '-'
            }
            ChangeTag::Insert => {
                self.added += 1;
                '+'
            }
        };
        if self.lines >= SHOWN_LINES {
            self.cut += 1;
            return;
        }
        let body = line.trim_end_matches(['\n', '\r']);
        let shown: String = body.chars().take(SHOWN_CHARS).collect();
        let more = if shown.len() < body.len() { "…" } else { "" };
        self.push(&format!("{sign}{shown}{more}"));
    }

    fn push(&mut self, line: &str) {
        self.lines += 1;
        self.text.push_str(line);
        self.text.push('\n');
    }

    fn finish(mut self) -> (String, usize, usize) {
        if self.cut > 0 {
            let cut = self.cut;
            self.push(&format!("[… {cut} more lines]"));
        }
        (self.text, self.added, self.removed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbered(count: usize) -> Vec<String> {
        (1..=count).map(|number| format!("line {number}\n")).collect()
    }

    #[test]
    fn a_change_is_shown_with_what_is_around_it_and_true_line_numbers() {
        let mut lines = numbered(1000);
        let before = lines.concat();
        lines[499] = "changed\n".into();
        lines.insert(500, "added\n".into());
        assert_eq!(
            unified(&before, &lines.concat()),
            (
                "@@ -497,7 +497,8 @@\n line 497\n line 498\n line 499\n-line 500\n+changed\n+added\n line 501\n line 502\n line 503\n"
                    .to_owned(),
                2,
                1
            )
        );
    }

    #[test]
    fn a_new_file_is_all_added() {
        assert_eq!(unified("", "a\nb"), ("@@ -0,0 +1,2 @@\n+a\n+b\n".to_owned(), 2, 0));
        assert_eq!(unified("a\n", "a\n"), (String::new(), 0, 0));
    }

    #[test]
    fn a_change_of_everything_is_bounded_and_counted_in_full() {
        let before = numbered(30_000).concat();
        let after = before.replace("line", "other");
        let (text, added, removed) = unified(&before, &after);
        assert_eq!((added, removed), (30_000, 30_000));
        assert_eq!(text.lines().count(), SHOWN_LINES + 1);
        assert!(text.ends_with("[… 59801 more lines]\n"), "{}", text.lines().last().unwrap());
    }
}
