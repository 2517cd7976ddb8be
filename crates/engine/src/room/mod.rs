//! Making room in the model's window: before a step, after an overflow, or
//! because a person wants it.
//!
//! What to do is planned by `context`; here it is done: results are left out
//! first, then the conversation is compacted, and only the finished entry is
//! recorded. Whoever interrupts before that changes nothing. Two compactions
//! without an answer between them are the end: a third would not help.

mod handover;
mod summarise;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;

use futures_util::FutureExt;
use rein_protocol::{
    Compaction, CompactionReason, Entry, EntryBody, EventBody, ModelRef, SummarySource, Timestamp, TurnId,
};
use tokio_util::sync::CancellationToken;

use crate::context::budget::{self, Budget};
use crate::context::plan::{Material, Plan, Squeeze, plan};
use crate::context::prune::{self, PruneFigures};
use crate::context::view::View;
use crate::request;
use crate::session::link::{Link, Look, Stopped, Wish};
use crate::spending;
use crate::turn::Workbench;
pub(crate) use handover::hand_over;
use summarise::{Spent, Summarised, Summariser, summarise};

/// How often a conversation is compacted without an answer of the model between.
const MOST_IN_A_ROW: u32 = 2;

/// Whether the model can be asked.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Room {
    Enough,
    Interrupted,
    /// There is no way to make room, in words for the person.
    Full(String),
}

/// What a turn knows of the room it has.
#[derive(Debug, Default)]
pub(crate) struct RoomState {
    /// Compactions since the model last answered.
    in_a_row: u32,
    /// The provider said, in these words, that the conversation does not fit.
    overflow: Option<String>,
}

impl RoomState {
    /// The model answered: what was sent did fit.
    pub(crate) fn answered(&mut self) {
        *self = Self::default();
    }

    /// The provider said that what was sent does not fit.
    pub(crate) fn overflowed(&mut self, words: String) {
        self.overflow = Some(words);
    }
}

/// Who makes room, and with what.
pub(crate) struct Maker<'a> {
    pub(crate) link: &'a Link,
    pub(crate) bench: &'a Workbench,
    pub(crate) cancel: &'a CancellationToken,
}

/// Why and how to compact.
struct Order<'a> {
    reason: CompactionReason,
    focus: Option<&'a str>,
    /// Tokens that may be used afterwards.
    usable: u64,
    squeeze: Squeeze,
}

impl Maker<'_> {
    /// Makes room if that is necessary or wanted before the next step of a turn.
    pub(crate) async fn before_step(&self, turn: &TurnId, state: &mut RoomState) -> Result<Room, Stopped> {
        let mut look = self.link.look(turn).await?;
        let overflow = state.overflow.take();
        let overflowed = overflow.is_some();
        if !overflowed && look.wish.is_none() && self.bench.models.limits(&look.model).context.is_none() {
            return Ok(Room::Enough);
        }
        if let Some(wish) = look.wish.take() {
            return self.grant(&look, &wish).await;
        }
        let budget = self.measure(&look);
        let usable = match (overflowed, budget.usable) {
            // What is known of the window is wrong, or what was counted.
            (true, usable) => usable.unwrap_or(u64::MAX).min(budget.used / 4 * 3),
            (false, usable) => usable.unwrap_or(u64::MAX),
        };
        let exceeded = overflowed || budget.is_exceeded();
        let (budget, look) = match self.prune(&look, &budget, usable, exceeded).await? {
            Pruned::Nothing => (budget, look),
            Pruned::Enough => return Ok(Room::Enough),
            Pruned::Some => {
                let mut look = self.link.look(turn).await?;
                if let Some(wish) = look.wish.take() {
                    return self.grant(&look, &wish).await;
                }
                (self.measure(&look), look)
            }
        };
        if !exceeded || self.promote(&look, overflowed).await? == Promoted::Enough {
            return Ok(Room::Enough);
        }
        let squeeze = match state.in_a_row {
            0 => Squeeze::Usual,
            count if count < MOST_IN_A_ROW => Squeeze::Hard,
            _ => return Ok(Room::Full(said_too(no_progress(&budget), overflow))),
        };
        state.in_a_row += 1;
        let reason = if overflowed { CompactionReason::Overflow } else { CompactionReason::Threshold };
        let room = self.compact(&look, &budget, Order { reason, focus: None, usable, squeeze }).await?;
        let fits = !overflowed && budget.window.is_some_and(|window| budget.used < window);
        match room {
            // It was only the reserve for a long answer: whether it is enough is for the provider to say.
            Room::Full(_) if fits => Ok(Room::Enough),
            Room::Full(message) => Ok(Room::Full(said_too(message, overflow))),
            room => Ok(room),
        }
    }

    /// Makes room after an answer that the full window cut, so that it can go on. Any other cut is left as it is.
    pub(crate) async fn after_length(&self, turn: &TurnId, state: &mut RoomState) -> Result<Room, Stopped> {
        let look = self.link.look(turn).await?;
        if let Some(wish) = &look.wish {
            return self.compact_as_wished(&look, wish).await;
        }
        let budget = self.measure(&look);
        let spoken = look.history.iter().rev().find_map(|entry| match &entry.body {
            EntryBody::StepEnded { usage, .. } => usage.map(|usage| usage.output),
            _ => None,
        });
        let own_limit = self.bench.models.limits(&look.model).output;
        let at_its_own_limit = spoken.is_some_and(|spoken| own_limit.is_some_and(|limit| spoken >= limit));
        if at_its_own_limit || !budget.is_exceeded() || state.in_a_row >= MOST_IN_A_ROW {
            return Ok(Room::Full(String::new()));
        }
        let squeeze = if state.in_a_row == 0 { Squeeze::Usual } else { Squeeze::Hard };
        state.in_a_row += 1;
        let usable = budget.usable.unwrap_or(u64::MAX);
        let order = Order { reason: CompactionReason::Length, focus: None, usable, squeeze };
        self.compact(&look, &budget, order).await
    }

    /// Goes on with a larger sibling of the model, if that is wanted and there is one.
    async fn promote(&self, look: &Look, overflowed: bool) -> Result<Promoted, Stopped> {
        let models = &self.bench.models;
        let wanted = self.bench.settings.compaction.promote;
        let larger = wanted.then(|| models.promotion(&look.model)).flatten();
        let Some(larger) = larger else { return Ok(Promoted::No) };
        let message = format!("the window of {} is full: {larger} goes on", look.model);
        self.link.record(vec![EntryBody::ModelChanged { model: larger.clone() }]).await?;
        self.link.emit(EventBody::Notice { message }).await?;
        let exceeded = measure(self.bench, &look.history, &larger).is_exceeded();
        Ok(if exceeded && !overflowed { Promoted::NotEnough } else { Promoted::Enough })
    }

    /// Grants a person's wish during a turn. That it cannot be granted is no reason to stop.
    async fn grant(&self, look: &Look, wish: &Wish) -> Result<Room, Stopped> {
        match self.compact_as_wished(look, wish).await? {
            Room::Full(why) => {
                self.link
                    .emit(EventBody::Notice { message: format!("nothing was compacted: {why}") })
                    .await?;
                Ok(Room::Enough)
            }
            room => Ok(room),
        }
    }

    /// Compacts because a person wants it, however much room there is.
    async fn compact_as_wished(&self, look: &Look, wish: &Wish) -> Result<Room, Stopped> {
        let budget = self.measure(look);
        let usable = wished_usable(&budget);
        let focus = wish.focus.as_deref();
        let order = Order { reason: wish.reason, focus, usable, squeeze: Squeeze::Usual };
        self.compact(look, &budget, order).await
    }

    fn measure(&self, look: &Look) -> Budget {
        measure(self.bench, &look.history, &look.model)
    }

    /// Leaves results out, if that is called for.
    async fn prune(
        &self,
        look: &Look,
        budget: &Budget,
        usable: u64,
        exceeded: bool,
    ) -> Result<Pruned, Stopped> {
        if !exceeded && budget.used < usable / 2 {
            return Ok(Pruned::Nothing);
        }
        let branch: Vec<&Entry> = look.history.iter().map(AsRef::as_ref).collect();
        let figures = PruneFigures::for_usable(Some(usable));
        let Some(prune) = prune::plan(&View::of(&branch), figures, budget.ruler) else {
            return Ok(Pruned::Nothing);
        };
        let last_step = branch.iter().rev().find_map(|entry| match &entry.body {
            EntryBody::StepEnded { .. } => Some(entry.at),
            _ => None,
        });
        if !exceeded && !prune.pays_off(last_step, Timestamp::now()) {
            return Ok(Pruned::Nothing);
        }
        let left = budget.used.saturating_sub(prune.saved);
        self.link.record(vec![EntryBody::Pruned { results: prune.results }]).await?;
        // With less to spare there would be no room for long.
        Ok(if left < usable / 5 * 4 { Pruned::Enough } else { Pruned::Some })
    }

    async fn compact(&self, look: &Look, budget: &Budget, order: Order<'_>) -> Result<Room, Stopped> {
        let branch: Vec<&Entry> = look.history.iter().map(AsRef::as_ref).collect();
        let jobs = self.bench.scene.jobs.list();
        let attempts = match order.squeeze {
            Squeeze::Usual => &[Squeeze::Usual, Squeeze::Hard][..],
            Squeeze::Hard | Squeeze::All => &[Squeeze::Hard],
        };
        // What was paid for a summary that could not be used belongs to the next one.
        let mut spent = Spent::NOTHING;
        for squeeze in attempts {
            let material = Material {
                branch: &branch,
                jobs: &jobs,
                base: budget.base,
                usable: order.usable,
                ruler: budget.ruler,
                squeeze: *squeeze,
            };
            // A summary that could not help is not asked for.
            let plan = plan(&material).filter(|plan| plan.least_tokens() < order.usable.min(budget.used));
            let Some(plan) = plan else { continue };
            self.link.emit(EventBody::Compacting { reason: order.reason }).await?;
            let mut compaction = match self.compaction(&plan, look, budget, &order).await {
                Summarised::Done(compaction) => compaction,
                Summarised::Interrupted(more) => {
                    spent.add(more.usage, more.cost);
                    return Ok(self.wasted(spent, Room::Interrupted));
                }
            };
            spent.add(compaction.usage, compaction.cost);
            if compaction.tokens_after >= order.usable.min(budget.used) {
                continue;
            }
            if self.cancel.is_cancelled() {
                return Ok(self.wasted(spent, Room::Interrupted));
            }
            (compaction.usage, compaction.cost) = (spent.usage, spent.cost);
            if let SummarySource::Digest { why } = &compaction.source {
                let message = format!(
                    "no model summarised the conversation ({why}): the record was made from what happened"
                );
                self.link.emit(EventBody::Notice { message }).await?;
            }
            self.link.record(vec![EntryBody::Compacted { compaction }]).await?;
            // What was shown with earlier results may be gone.
            self.bench.scene.instructions.forget();
            return Ok(Room::Enough);
        }
        Ok(self.wasted(spent, Room::Full(too_little(budget))))
    }

    /// What came of it, when what was spent is in no entry: it counts for the run.
    fn wasted(&self, spent: Spent, room: Room) -> Room {
        self.bench.ledger.add(spent.usage, spent.cost);
        room
    }

    async fn compaction(
        &self,
        plan: &Plan<'_>,
        look: &Look,
        budget: &Budget,
        order: &Order<'_>,
    ) -> Summarised<Box<Compaction>> {
        let who = self.bench.settings.compaction.model;
        let summariser = Summariser::new(&self.bench.models, self.cancel, who, Some(&look.model));
        let summariser = summariser.within(self.bench.ledger.caps());
        compaction(&summariser, plan, budget, order).await
    }
}

/// A compaction as planned, with its summary.
async fn compaction(
    summariser: &Summariser<'_>,
    plan: &Plan<'_>,
    budget: &Budget,
    order: &Order<'_>,
) -> Summarised<Box<Compaction>> {
    let summary = match summarise(summariser, plan, budget, order).await {
        Summarised::Done(summary) => summary,
        Summarised::Interrupted(spent) => return Summarised::Interrupted(spent),
    };
    let mut compaction = Compaction {
        reason: order.reason,
        first_kept: plan.first_kept.clone(),
        summary: summary.text,
        source: summary.source,
        carried: plan.carried.clone(),
        tokens_before: budget.used,
        tokens_after: 0,
        usage: summary.usage,
        cost: summary.cost,
    };
    compaction.tokens_after = plan.tokens_with(&compaction);
    Summarised::Done(Box::new(compaction))
}

/// Whether a larger model made room.
#[derive(Debug, PartialEq, Eq)]
enum Promoted {
    No,
    NotEnough,
    Enough,
}

/// What leaving results out achieved.
enum Pruned {
    Nothing,
    Some,
    Enough,
}

/// How full the window is with this branch.
pub(crate) fn measure(bench: &Workbench, history: &[Arc<Entry>], model: &ModelRef) -> Budget {
    let branch: Vec<&Entry> = history.iter().map(AsRef::as_ref).collect();
    let budget = budget::measure(&View::of(&branch), request::base(bench, model), bench.models.limits(model));
    budget.at_percent(bench.settings.compaction.threshold)
}

/// Whether there is something that a person could want to have compacted.
pub(crate) fn can_compact(bench: &Workbench, history: &[Arc<Entry>], model: &ModelRef) -> bool {
    let branch: Vec<&Entry> = history.iter().map(AsRef::as_ref).collect();
    let budget = measure(bench, history, model);
    let (base, usable, ruler) = (budget.base, wished_usable(&budget), budget.ruler);
    [Squeeze::Usual, Squeeze::Hard]
        .into_iter()
        .any(|squeeze| plan(&Material { branch: &branch, jobs: &[], base, usable, ruler, squeeze }).is_some())
}

/// What may be used after a compaction that a person wants.
fn wished_usable(budget: &Budget) -> u64 {
    budget.usable.unwrap_or(budget.used.max(20_000))
}

/// Compacts a session in which nothing else is under way, and tells the actor when it is over.
pub(crate) async fn compact_idle(
    link: Link,
    bench: Arc<Workbench>,
    turn: TurnId,
    wish: Wish,
    cancel: CancellationToken,
) {
    let work = async {
        let look = link.look(&turn).await?;
        if let Some(why) = spending::refusal(&bench.ledger, &bench.models, &look.model).await {
            return Ok(Room::Full(why));
        }
        let maker = Maker { link: &link, bench: &bench, cancel: &cancel };
        maker.compact_as_wished(&look, &wish).await
    };
    let told = match AssertUnwindSafe(work).catch_unwind().await {
        Ok(Ok(Room::Full(why))) => Some(format!("nothing was compacted: {why}")),
        Ok(Ok(Room::Interrupted)) => Some("nothing was compacted: it was interrupted".to_owned()),
        Ok(Ok(Room::Enough) | Err(Stopped)) => None,
        Err(_) => {
            tracing::error!(%turn, "a compaction panicked");
            Some("nothing was compacted: rein failed".to_owned())
        }
    };
    if let Some(message) = told {
        // An actor that is gone has nobody to tell it to.
        let _ = link.emit(EventBody::Notice { message }).await;
    }
    link.compaction_over(turn).await;
}

fn no_progress(budget: &Budget) -> String {
    format!(
        "the conversation was compacted twice and still does not fit the model's window ({}); use a model with a \
         larger window, or start a new session",
        figures(budget)
    )
}

fn too_little(budget: &Budget) -> String {
    format!(
        "the conversation does not fit the model's window ({}) and nothing is left that could be compacted; use a \
         model with a larger window, fewer tools, or start a new session",
        figures(budget)
    )
}

/// With the provider's words, if it said something.
fn said_too(message: String, overflow: Option<String>) -> String {
    match overflow {
        Some(words) => format!("{message}; the provider said: {words}"),
        None => message,
    }
}

fn figures(budget: &Budget) -> String {
    let window = budget.window.map_or_else(String::new, |window| format!(" of {window}"));
    format!("{}{window} tokens, {} of them instructions and tools", budget.used, budget.base)
}
