//! Found by most of its lines, with the others alike: as many lines in the
//! text as in `old`, at least half of them the same, none of them another.

use std::collections::HashMap;
use std::ops::Range;

use super::outline::{Outline, best};
use crate::edit::work::Work;

/// How alike all lines must be on average. Half of them are the same, so the others are alike by
/// 0.7 at least.
const ALIKE: f64 = 0.85;

/// How alike each of them must be.
const LINE_ALIKE: f64 = 0.5;

/// Steps that a vote counts for.
const VOTE: usize = 50;

pub(super) fn find(text: &str, old: &str, outline: &Outline, work: &mut Work) -> Vec<Range<usize>> {
    let count = outline.wanted.len();
    let Some(votes) = votes(outline, work) else { return Vec::new() };
    let mut starts: Vec<usize> =
        votes.into_iter().filter(|(_, votes)| votes * 2 >= count.max(4)).map(|(start, _)| start).collect();
    starts.sort_unstable();
    let mut found = Vec::new();
    for start in starts {
        let alike: Vec<f64> =
            (0..count).map(|index| outline.likeness(text, start + index, index, work)).collect();
        if work.is_spent() {
            return Vec::new();
        }
        let score = alike.iter().sum::<f64>() / count as f64;
        if score >= ALIKE
            && alike.iter().all(|line| *line >= LINE_ALIKE)
            && let Some(place) = outline.place(text, old, start, start + count - 1)
        {
            found.push((score, place));
        }
    }
    best(found)
}

/// For every line where the block may begin, how many lines of the text say so.
fn votes(outline: &Outline, work: &mut Work) -> Option<HashMap<usize, usize>> {
    let mut offsets: HashMap<usize, Vec<usize>> = HashMap::new();
    for (offset, id) in outline.wanted_ids.iter().enumerate() {
        offsets.entry(*id).or_default().push(offset);
    }
    let mut votes = HashMap::new();
    for (index, line) in outline.lines.iter().enumerate() {
        for offset in line.id.and_then(|id| offsets.get(&id)).into_iter().flatten() {
            // A vote takes some memory too, so it counts for more than a step.
            if !work.spend(VOTE) {
                return None;
            }
            if let Some(start) = index.checked_sub(*offset) {
                *votes.entry(start).or_default() += 1;
            }
        }
    }
    Some(votes)
}
