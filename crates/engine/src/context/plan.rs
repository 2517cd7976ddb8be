//! Where to cut a conversation, and what to do with the two halves.
//!
//! Pure: a branch and figures in, a plan out. A cut is never between a call and
//! its result. What follows it is kept as it was; what comes before is to be
//! summarised. A plan for a branch that has just been compacted is none.

use std::collections::HashMap;

use rein_protocol::message::AssistantPart;
use rein_protocol::{CallId, Carried, Compaction, Delivery, Entry, EntryBody, EntryId, JobInfo};

use super::size::{Ruler, Size};
use super::view::View;
use super::{carry, render};

/// Turns that are kept if there is any way.
const TURNS: usize = 2;

/// How much is kept.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Squeeze {
    /// As much as usual.
    Usual,
    /// As little as possible, because the usual was too much.
    Hard,
    /// Nothing: another session begins with what is made of it.
    All,
}

/// What a plan is made from.
pub(crate) struct Material<'a, 'b> {
    pub(crate) branch: &'b [&'a Entry],
    pub(crate) jobs: &'b [JobInfo],
    /// Tokens of instructions and tools.
    pub(crate) base: u64,
    /// Tokens that all may have.
    pub(crate) usable: u64,
    pub(crate) ruler: Ruler,
    pub(crate) squeeze: Squeeze,
}

/// What to do.
pub(crate) struct Plan<'a> {
    /// From here on the conversation stays as it is.
    pub(crate) first_kept: Option<EntryId>,
    /// What is to be summarised, after what the previous summary covers.
    pub(crate) head: Vec<&'a Entry>,
    /// The compaction that holds now.
    pub(crate) previous: Option<&'a Compaction>,
    pub(crate) carried: Carried,
    /// Tokens that the summary may have.
    pub(crate) summary_room: u64,
    /// Tokens of what stays as it is, with instructions and tools.
    kept: u64,
    ruler: Ruler,
}

impl Plan<'_> {
    /// Tokens of the next request with any summary, however short.
    pub(crate) fn least_tokens(&self) -> u64 {
        self.kept.saturating_add(self.ruler.tokens_of_text(&render::carried(&self.carried)))
    }

    /// Tokens of the next request with this compaction.
    pub(crate) fn tokens_with(&self, compaction: &Compaction) -> u64 {
        self.kept.saturating_add(self.ruler.tokens_of_text(&render::preface(compaction)))
    }
}

/// A plan, or nothing if there is nothing that could be replaced.
pub(crate) fn plan<'a>(material: &Material<'a, '_>) -> Option<Plan<'a>> {
    let view = View::of(material.branch);
    let cut = cut(&view, material);
    let head = view.kept.get(..cut)?.to_vec();
    if !head.iter().any(|entry| matches!(entry.body, EntryBody::User { .. } | EntryBody::Part { .. })) {
        return None;
    }
    let tail = view.kept.get(cut..)?;
    let first_kept = tail.first().map(|entry| entry.id.clone());
    let before = match &first_kept {
        Some(first) => material.branch.iter().position(|entry| entry.id == *first),
        None => None,
    };
    let before = material.branch.get(..before.unwrap_or(material.branch.len()))?;
    let (ruler, available) = (material.ruler, available(material));
    let room = (material.usable / 8).clamp(500, 8_000).min(available / 4);
    let carried = carry::carried(material.branch, before, material.jobs, room, ruler);
    let tail_tokens =
        ruler.tokens(tail.iter().fold(Size::default(), |size, entry| size + view.size_of(entry)));
    let taken = tail_tokens + ruler.tokens_of_text(&render::carried(&carried));
    Some(Plan {
        first_kept,
        head,
        previous: view.compaction,
        carried,
        summary_room: (available.saturating_sub(taken) / 2).clamp(300, 4_000),
        kept: material.base + tail_tokens,
        ruler,
    })
}

/// Tokens for everything but instructions and tools.
fn available(material: &Material<'_, '_>) -> u64 {
    material.usable.saturating_sub(material.base)
}

/// Tokens of the tail: as it should be, and at most.
fn tail_budget(material: &Material<'_, '_>) -> (u64, u64) {
    let available = available(material);
    match material.squeeze {
        Squeeze::Usual => {
            let usual = (material.usable / 4).clamp(2_000, 8_000).min(available / 2);
            (usual, (2 * usual).min(available / 2))
        }
        Squeeze::Hard => (available / 8, available / 8),
        Squeeze::All => (0, 0),
    }
}

/// How many of the kept entries are to be summarised.
fn cut(view: &View<'_>, material: &Material<'_, '_>) -> usize {
    if material.squeeze == Squeeze::All {
        return view.kept.len();
    }
    let (usual, most) = tail_budget(material);
    let places = places(&view.kept);
    let (mut tail, mut turns, mut end) = (0_u64, 0, view.kept.len());
    for place in places.into_iter().rev() {
        let unit = view.kept.get(place..end).unwrap_or_default();
        let size = unit.iter().fold(Size::default(), |size, entry| size + view.size_of(entry));
        let total = tail.saturating_add(material.ruler.tokens(size));
        if total > usual && (turns >= TURNS || total > most) {
            break;
        }
        turns += usize::from(unit.first().is_some_and(|entry| begins_a_turn(entry)));
        (tail, end) = (total, place);
    }
    end
}

fn begins_a_turn(entry: &Entry) -> bool {
    matches!(&entry.body, EntryBody::User { delivery: Delivery::Prompt | Delivery::FollowUp, .. })
}

/// Where a conversation can be cut: before a message or a step, with no call left open.
pub(crate) fn places(entries: &[&Entry]) -> Vec<usize> {
    let mut open: HashMap<&CallId, usize> = HashMap::new();
    // How many calls begin minus how many end before each place.
    let mut changes = vec![0_i64; entries.len() + 1];
    let mut change = |place: usize, by: i64| {
        if let Some(count) = changes.get_mut(place) {
            *count += by;
        }
    };
    for (place, entry) in entries.iter().enumerate() {
        match &entry.body {
            EntryBody::Part { body: AssistantPart::Call(call), .. } => {
                let is_new = open.insert(&call.id, place).is_none();
                change(place + 1, i64::from(is_new));
            }
            EntryBody::CallEnded { call, .. } => {
                let was_open = open.remove(call).is_some();
                change(place + 1, -i64::from(was_open));
            }
            _ => {}
        }
    }
    let mut level = 0;
    let mut places = Vec::new();
    for (place, entry) in entries.iter().enumerate() {
        level += changes.get(place).copied().unwrap_or_default();
        let boundary = matches!(entry.body, EntryBody::User { .. } | EntryBody::StepStarted { .. });
        if boundary && level == 0 {
            places.push(place);
        }
    }
    places
}
