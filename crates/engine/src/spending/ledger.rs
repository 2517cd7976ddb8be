//! What a run has spent: the sum of what its entries say and of what is in no
//! entry, and the time that its turns took. Entries are taken in where they
//! become durable, so that nothing that is recorded is missed.

use std::collections::HashSet;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rein_llm::Spending;
use rein_protocol::{Cost, Entry, EntryBody, ModelRef, TurnId, Usage};
use rein_store::Store;

use super::caps::{Caps, Finding, Spent, time_nearly_over, time_over};

/// The books of one run in one session.
pub(crate) struct Ledger {
    caps: Caps,
    store: Store,
    books: Mutex<Books>,
}

#[derive(Default)]
struct Books {
    spending: Spending,
    time: Duration,
    /// The model that is asked at the moment.
    asked: Option<ModelRef>,
    /// Models of calls of which nobody said what they used.
    unsaid: Vec<ModelRef>,
    /// What has been said and need not be said again.
    told: HashSet<String>,
}

/// A moment of a turn at which something is to be said.
pub(crate) struct Mark {
    pub(crate) after: Duration,
    pub(crate) finding: Finding,
}

impl Ledger {
    /// Books that begin with what a turn spent that is going to be gone on with.
    pub(crate) fn begin<'a>(
        caps: Caps,
        store: Store,
        branch: impl Iterator<Item = &'a Entry>,
        open: Option<&TurnId>,
    ) -> Self {
        let ledger = Self { caps, store, books: Mutex::default() };
        let Some(open) = open else { return ledger };
        let begins = |entry: &&Entry| matches!(&entry.body, EntryBody::User { turn, .. } if turn == open);
        let (mut first, mut last) = (None, 0);
        for entry in branch.skip_while(|entry| !begins(entry)) {
            first = first.or(Some(entry.at.0));
            last = entry.at.0;
            ledger.note(&entry.body);
        }
        let took = first.map_or(0, |first| last.saturating_sub(first));
        ledger.add_time(Duration::from_millis(u64::try_from(took).unwrap_or_default()));
        ledger
    }

    pub(crate) fn caps(&self) -> &Caps {
        &self.caps
    }

    pub(super) fn store(&self) -> &Store {
        &self.store
    }

    /// Takes in what became durable.
    pub(crate) fn note(&self, body: &EntryBody) {
        match body {
            EntryBody::StepStarted { model, .. } => self.books().asked = Some(model.clone()),
            // Without caps nobody would ever ask.
            EntryBody::StepEnded { usage: None, cost: Cost::Unknown, .. } if self.caps.is_empty() => {}
            EntryBody::StepEnded { usage: None, cost: Cost::Unknown, .. } => {
                let mut books = self.books();
                let model = books.asked.clone();
                books.unsaid.extend(model);
            }
            EntryBody::StepEnded { usage, cost, .. } => self.add(*usage, *cost),
            EntryBody::Compacted { compaction } => self.add(compaction.usage, compaction.cost),
            EntryBody::Titled { usage, cost: Some(cost), .. } => self.add(*usage, *cost),
            _ => {}
        }
    }

    /// Adds a call.
    pub(crate) fn add(&self, usage: Option<Usage>, cost: Cost) {
        self.books().spending.add(usage, cost, None);
    }

    /// Adds a call of which only a guess is known.
    pub(super) fn estimate(&self, usage: Usage, cost: Cost) {
        self.add(Some(usage), cost);
    }

    /// Adds the time that a turn took.
    pub(super) fn add_time(&self, time: Duration) {
        let mut books = self.books();
        books.time = books.time.saturating_add(time);
    }

    /// The models of calls that nobody counted, each told once.
    pub(super) fn take_unsaid(&self) -> Vec<ModelRef> {
        std::mem::take(&mut self.books().unsaid)
    }

    /// Whether this is said for the first time.
    pub(super) fn first_time(&self, what: &str) -> bool {
        self.books().told.insert(what.to_owned())
    }

    /// What was spent so far.
    pub(crate) fn spent(&self) -> Spent {
        let books = self.books();
        Spent {
            micro_usd: books.spending.at_least_micro_usd,
            tokens: books.spending.usage.total(),
            time: books.time,
            unknown_calls: books.spending.unknown_calls,
        }
    }

    /// When, from now on, something is to be said about the time.
    pub(super) fn marks(&self) -> Vec<Mark> {
        let Some(limit) = self.caps.time else { return Vec::new() };
        let spent = self.books().time;
        let left = |moment: Duration| moment.saturating_sub(spent);
        let near = limit / 5 * 4;
        let warning = (spent < near).then(|| Mark { after: left(near), finding: time_nearly_over(limit) });
        let end = Mark { after: left(limit), finding: time_over(limit) };
        warning.into_iter().chain([end]).collect()
    }

    fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
