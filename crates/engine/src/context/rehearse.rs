//! All the planning that a step may need, without doing any of it: for figures
//! of what it costs.

use rein_llm::Limits;
use rein_protocol::{Entry, Timestamp};

use super::budget;
use super::plan::{Material, Squeeze, plan};
use super::prune::{self, PruneFigures};
use super::size::Size;
use super::view::View;

/// What making room would come to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rehearsal {
    /// Messages of the conversation as it is.
    pub messages: usize,
    /// Tokens that it has, estimated.
    pub used: u64,
    /// Results that would be left out.
    pub pruned: usize,
    /// Entries that would be summarised.
    pub summarised: usize,
}

/// Plans what would make room for a branch in a window of so many tokens. Nothing is done.
#[must_use]
pub fn rehearse(branch: &[Entry], window: u64) -> Rehearsal {
    let entries: Vec<&Entry> = branch.iter().collect();
    let view = View::of(&entries);
    let limits = Limits { context: Some(window), output: None };
    let budget = budget::measure(&view, Size::default(), limits);
    let usable = budget.usable.unwrap_or(window);
    let pruned = prune::plan(&view, PruneFigures::for_usable(Some(usable)), budget.ruler)
        .filter(|plan| budget.is_exceeded() || plan.pays_off(None, Timestamp::now()));
    let material = Material {
        branch: &entries,
        jobs: &[],
        base: budget.base,
        usable,
        ruler: budget.ruler,
        squeeze: Squeeze::Usual,
    };
    Rehearsal {
        messages: super::messages(branch).len(),
        used: budget.used,
        pruned: pruned.map_or(0, |plan| plan.results.len()),
        summarised: plan(&material).map_or(0, |plan| plan.head.len()),
    }
}
