//! A text by its lines that are not blank, each told apart by what it is in the
//! lines of `old`: what the rungs that compare lines work on. One pass.

use std::collections::{HashMap, HashSet};
use std::ops::Range;

use crate::edit::stream::{self, Inner, Lead, Letters, Manner, Stream};
use crate::edit::work::Work;

/// Fewer lines tell too little to go by likeness.
const FEWEST_LINES: usize = 3;

/// Longer lines are the same or they are not.
const COMPARED_BYTES: usize = 400;

/// As white space and typography do not count.
const MANNER: Manner = Manner { lead: Lead::Dropped, inner: Inner::Collapsed, letters: Letters::Plain };

/// The lines of a text and of `old`.
pub(super) struct Outline {
    /// Every line of `old` that is not blank, plain.
    pub(super) wanted: Vec<String>,
    /// The first of them that is the same, for each of them.
    pub(super) wanted_ids: Vec<usize>,
    /// Every line of the text that is not blank.
    pub(super) lines: Vec<Line>,
}

/// A line of the text.
pub(super) struct Line {
    range: Range<usize>,
    /// Which line of `old` it is the same as.
    pub(super) id: Option<usize>,
}

impl Outline {
    /// Both as lines; nothing if `old` has too few of them.
    pub(super) fn of(text: &str, old: &str) -> Option<Self> {
        let wanted: Vec<String> = old.lines().map(plain).filter(|line| !line.is_empty()).collect();
        if wanted.len() < FEWEST_LINES {
            return None;
        }
        let mut known: HashMap<&str, usize> = HashMap::new();
        for (index, line) in wanted.iter().enumerate() {
            known.entry(line).or_insert(index);
        }
        let wanted_ids = wanted.iter().map(|line| known.get(line.as_str()).copied().unwrap_or(0)).collect();
        // Most lines begin with another character than any of them, and need not be looked at further.
        let begins: HashSet<u8> = wanted.iter().filter_map(|line| line.bytes().next()).collect();
        let may_be = |body: &str| match body.trim_start().bytes().next() {
            Some(first) if first.is_ascii() => begins.contains(&first),
            _ => true,
        };
        let mut lines = Vec::new();
        let mut at = 0;
        for line in text.split_inclusive('\n') {
            let body = line.strip_suffix('\n').unwrap_or(line);
            if !body.trim().is_empty() {
                let id = may_be(body).then(|| known.get(plain(body).as_str()).copied()).flatten();
                lines.push(Line { range: at..at + body.len(), id });
            }
            at += line.len();
        }
        Some(Self { wanted, wanted_ids, lines })
    }

    /// The lines from one to another as a place in the text.
    pub(super) fn place(&self, text: &str, old: &str, first: usize, last: usize) -> Option<Range<usize>> {
        let range = self.lines.get(first)?.range.start..self.lines.get(last)?.range.end;
        stream::widened(text, old, range, Lead::Dropped)
    }

    /// How alike a line of the text and one of `old` are, from 0 to 1.
    pub(super) fn likeness(&self, text: &str, line: usize, wanted: usize, work: &mut Work) -> f64 {
        let (Some(line), Some(id), Some(wanted)) =
            (self.lines.get(line), self.wanted_ids.get(wanted), self.wanted.get(wanted))
        else {
            return 0.0;
        };
        if line.id == Some(*id) {
            return 1.0;
        }
        let line = plain(text.get(line.range.clone()).unwrap_or_default());
        let lengths = (line.len(), wanted.len());
        let too_different = lengths.0 * 2 < lengths.1 || lengths.1 * 2 < lengths.0;
        if too_different
            || lengths.0.max(lengths.1) > COMPARED_BYTES
            || !work.spend(lengths.0.saturating_mul(lengths.1))
        {
            return 0.0;
        }
        strsim::normalized_levenshtein(&line, wanted)
    }
}

/// Of places with how alike they are, those that no better one overlaps.
pub(super) fn best(mut found: Vec<(f64, Range<usize>)>) -> Vec<Range<usize>> {
    found.sort_by(|(one, _), (other, _)| other.total_cmp(one));
    let mut kept: Vec<(f64, Range<usize>)> = Vec::new();
    for (score, place) in found {
        let is_worse = |(better, other): &(f64, Range<usize>)| {
            *better > score && other.start < place.end && place.start < other.end
        };
        if !kept.iter().any(is_worse) {
            kept.push((score, place));
        }
    }
    let mut places: Vec<Range<usize>> = kept.into_iter().map(|(_, place)| place).collect();
    places.sort_by_key(|place| place.start);
    places
}

/// A line without what does not matter.
pub(crate) fn plain(line: &str) -> String {
    Stream::of(line, MANNER).text().trim().to_owned()
}
