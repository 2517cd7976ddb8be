//! A branch as models see it: from the last compaction on, with the results
//! that are left out.
//!
//! Only this file knows which entries a compaction hides. A compaction whose
//! first kept entry is not on the branch hides everything before itself.

use std::collections::HashMap;

use rein_protocol::{CallId, Compaction, Entry, EntryBody};

use super::render;
use super::size::Size;

/// What of a branch is sent.
pub(crate) struct View<'a> {
    /// What stands for the part that is not.
    pub(crate) compaction: Option<&'a Compaction>,
    /// What is sent as it was, first to last.
    pub(crate) kept: Vec<&'a Entry>,
    /// Results that are left out, with what is sent in their place.
    pub(crate) pruned: HashMap<&'a CallId, &'a str>,
    /// How many of the kept entries come before the last change of what had been sent.
    pub(crate) settled: usize,
}

impl<'a> View<'a> {
    pub(crate) fn of(branch: &[&'a Entry]) -> Self {
        let compacted = branch.iter().enumerate().rev().find_map(|(place, entry)| match &entry.body {
            EntryBody::Compacted { compaction } => Some((place, compaction.as_ref())),
            _ => None,
        });
        let start = compacted.map_or(0, |(place, compaction)| {
            let before = branch.get(..place).unwrap_or_default();
            let first = compaction
                .first_kept
                .as_ref()
                .and_then(|first| before.iter().rposition(|entry| entry.id == *first));
            first.unwrap_or(place)
        });
        let mut pruned = HashMap::new();
        let (mut kept, mut settled) = (Vec::new(), 0);
        for entry in branch.get(start..).unwrap_or_default() {
            match &entry.body {
                EntryBody::Pruned { results } => {
                    pruned.extend(results.iter().map(|result| (&result.call, result.marker.as_str())));
                    settled = kept.len();
                }
                EntryBody::Compacted { .. } => settled = kept.len(),
                _ => kept.push(*entry),
            }
        }
        // A prune from before the compaction still holds for what it kept.
        for entry in branch.get(..start).unwrap_or_default() {
            if let EntryBody::Pruned { results } = &entry.body {
                for result in results {
                    pruned.entry(&result.call).or_insert(result.marker.as_str());
                }
            }
        }
        Self { compaction: compacted.map(|(_, compaction)| compaction), kept, pruned, settled }
    }

    /// What the words that stand for the hidden part take.
    pub(crate) fn preface(&self) -> Size {
        self.compaction.map_or_else(Size::default, |compaction| Size::of_text(&render::preface(compaction)))
    }

    pub(crate) fn size_of(&self, entry: &Entry) -> Size {
        Size::of_entry(entry, &self.pruned)
    }

    /// What all of it takes.
    pub(crate) fn size(&self) -> Size {
        self.kept.iter().fold(self.preface(), |size, entry| size + self.size_of(entry))
    }
}
