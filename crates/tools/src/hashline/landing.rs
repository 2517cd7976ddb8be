//! Where inserted lines belong, by how far they are indented. Pure.
//!
//! Models name the last line of what they mean and write the new lines as deep
//! as they should be. Where the two disagree, and only the ends of blocks are in
//! between, the depth is right.

use super::block;

/// How far lines are indented, in columns.
#[derive(Debug, Clone, Copy)]
pub(super) struct Depth {
    /// Columns of a tab: as many as one level has in a file that is indented by spaces.
    tab: usize,
}

impl Depth {
    /// As it is counted in a file.
    pub(super) fn of(lines: &[&str]) -> Self {
        let spaces = |line: &&str| {
            let rest = line.trim_start_matches(' ');
            let depth = line.len() - rest.len();
            // The lines of a comment stand one column off.
            (depth > 1 && !rest.is_empty() && !rest.starts_with(['*', '\t'])).then_some(depth)
        };
        Self { tab: lines.iter().filter_map(spaces).min().unwrap_or(4) }
    }

    /// Columns before the first character of a line.
    pub(super) fn at(self, line: &str) -> usize {
        let blank = line.chars().take_while(|character| matches!(character, ' ' | '\t'));
        blank.map(|character| if character == '\t' { self.tab } else { 1 }).sum()
    }

    /// The depth of new lines: that of the first that is not blank.
    pub(super) fn claimed(self, body: &[String]) -> Option<usize> {
        first_of(body).map(|line| self.at(line))
    }
}

fn first_of(body: &[String]) -> Option<&String> {
    body.iter().find(|line| !line.trim().is_empty())
}

/// The line, counted from 1, after which new lines belong that were to come after `anchor`: behind the ends
/// of blocks that are deeper than they are.
pub(super) fn past_ends(lines: &[&str], anchor: usize, body: &[String]) -> usize {
    let depth = Depth::of(lines);
    let Some((claimed, own)) = shallower(depth, lines, anchor, body) else { return anchor };
    debug_assert!(claimed < own);
    let mut landing = anchor;
    for (index, line) in lines.iter().enumerate().skip(anchor) {
        if line.trim().is_empty() {
            continue;
        }
        if !block::closes(line) || depth.at(line) < claimed {
            break;
        }
        landing = index + 1;
    }
    landing
}

/// The same for an `anchor` that begins a block: the end of the block around it that is as deep as the new
/// lines, if there is one.
pub(super) fn out_of_block(lines: &[&str], anchor: usize, body: &[String]) -> Option<usize> {
    let depth = Depth::of(lines);
    let (claimed, _) = shallower(depth, lines, anchor, body)?;
    let opens = anchor.checked_sub(1).and_then(|at| lines.get(at))?.trim_end().ends_with(['{', '(', '[']);
    let mut below = lines.iter().enumerate().skip(anchor).filter(|(_, line)| !line.trim().is_empty());
    let (index, line) = below.find(|(_, line)| depth.at(line) <= claimed)?;
    (opens && depth.at(line) == claimed && block::closes(line)).then_some(index + 1)
}

/// The depths of new lines and of the line that they were to come after, if theirs is less.
fn shallower(depth: Depth, lines: &[&str], anchor: usize, body: &[String]) -> Option<(usize, usize)> {
    let line = anchor.checked_sub(1).and_then(|at| lines.get(at)).filter(|line| !line.trim().is_empty())?;
    let first = first_of(body).filter(|line| !block::closes(line))?;
    let (claimed, own) = (depth.at(first), depth.at(line));
    (claimed < own).then_some((claimed, own))
}

/// The line after which new lines belong that were to come after a block that ends in line `last`: inside,
/// if they are deeper than its end.
pub(super) fn into_block(lines: &[&str], first: usize, last: usize, body: &[String]) -> usize {
    let depth = Depth::of(lines);
    let Some(claimed) = depth.claimed(body) else { return last };
    let mut landing = last;
    while landing > first {
        let Some(line) = lines.get(landing - 1) else { break };
        let is_end = block::closes(line) && depth.at(line) < claimed;
        let is_gap = landing < last && line.trim().is_empty();
        if !is_end && !is_gap {
            break;
        }
        landing -= 1;
    }
    if landing > first { landing } else { last }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "fn a() {\n    if b {\n        c();\n\n    }\n    d();\n}\n";

    fn lines() -> Vec<&'static str> {
        TEXT.lines().collect()
    }

    fn body(line: &str) -> Vec<String> {
        vec![String::new(), line.to_owned()]
    }

    #[test]
    fn new_lines_go_behind_the_ends_of_deeper_blocks() {
        for (anchor, line, landing) in [
            (3, "    e();", 5),
            (3, "\te();", 5),
            (3, "        e();", 3),
            (3, "e();", 5),
            (6, "e();", 7),
            (3, "    }", 3),
            (4, "e();", 4),
            (0, "e();", 0),
        ] {
            assert_eq!(past_ends(&lines(), anchor, &body(line)), landing, "{anchor} {line:?}");
        }
    }

    #[test]
    fn new_lines_below_the_head_of_a_block_can_mean_its_end() {
        assert_eq!(out_of_block(&lines(), 2, &body("e();")), Some(7));
        assert_eq!(out_of_block(&lines(), 2, &body("    e();")), None);
        assert_eq!(out_of_block(&lines(), 3, &body("e();")), None);
    }

    #[test]
    fn new_lines_deeper_than_the_end_of_a_block_go_into_it() {
        assert_eq!(into_block(&lines(), 2, 5, &body("        e();")), 3);
        assert_eq!(into_block(&lines(), 2, 5, &body("    e();")), 5);
        assert_eq!(into_block(&lines(), 1, 7, &body("    e();")), 6);
    }
}
