//! Found by its first and last lines, with everything between alike.
//!
//! Everything that is found is replaced, so a line of the file may be in it
//! only if `old` has one like it: a model that forgot a line of its own block
//! loses nothing, and one that did not know of a line deletes none. Taking
//! whatever stands between two lines, as is done elsewhere when there is only
//! one such pair, deletes what the model has never seen.

use std::ops::Range;

use super::outline::{Outline, best};
use crate::edit::work::Work;

/// How alike all lines between must be on average. One line in four may be missing, or all of them
/// differ by a quarter of their characters; with less in common it is another block with the same frame.
const ALIKE: f64 = 0.75;

/// How alike each of them must be to be the same line at all.
const LINE_ALIKE: f64 = 0.5;

/// Places that are compared.
const MOST_PLACES: usize = 2_000;

pub(super) fn find(text: &str, old: &str, outline: &Outline, work: &mut Work) -> Vec<Range<usize>> {
    let count = outline.wanted.len();
    let (Some(first), Some(last)) = (outline.wanted_ids.first(), outline.wanted_ids.last()) else {
        return Vec::new();
    };
    let at = |id: usize| {
        let lines = outline.lines.iter().enumerate();
        lines.filter(move |(_, line)| line.id == Some(id)).map(|(index, _)| index)
    };
    let lasts: Vec<usize> = at(*last).collect();
    let mut found = Vec::new();
    for start in at(*first) {
        let from = lasts.partition_point(|end| *end < start + (count / 2).max(1));
        let ends = lasts.iter().skip(from).take_while(|end| **end < start + count);
        for end in ends {
            if work.is_spent() || !work.spend(count) || found.len() >= MOST_PLACES {
                return Vec::new();
            }
            let score = likeness(text, outline, start, *end, work);
            if score >= ALIKE
                && let Some(place) = outline.place(text, old, start, *end)
            {
                found.push((score, place));
            }
        }
    }
    best(found)
}

/// How alike the lines between two lines of the text are to those of `old`; 0 if the text has one that
/// `old` has not.
fn likeness(text: &str, outline: &Outline, start: usize, end: usize, work: &mut Work) -> f64 {
    let between = outline.wanted.len() - 2;
    let mut missing = (outline.wanted.len() + start).saturating_sub(end + 1);
    let mut sum = 0.0;
    let mut wanted = 1;
    for line in start + 1..end {
        loop {
            let alike = outline.likeness(text, line, wanted, work);
            wanted += 1;
            if alike >= LINE_ALIKE {
                sum += alike;
                break;
            }
            if missing == 0 {
                return 0.0;
            }
            missing -= 1;
        }
    }
    sum / between.max(1) as f64
}
