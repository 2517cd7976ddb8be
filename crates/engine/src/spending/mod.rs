//! What may be spent: caps on money, tokens and time, for a run and for a day.
//!
//! A run is what one process does in one session. `caps` says what the figures
//! mean, without any clock or file; `ledger` knows what was spent; here a turn
//! asks before every step whether there is something left. The invariant: a
//! model is not asked once a cap is reached, and what is not known is never
//! taken for nothing.

mod caps;
mod ledger;

use std::sync::Arc;

use rein_config::UnknownCost;
use rein_llm::{Models, Spending};
use rein_protocol::{Cost, EventBody, ModelRef, Timestamp, TurnId, Usage};
use rein_store::{Deed, Fact, FactQuery, Facts, Store, StoreError};

pub use caps::{Caps, DayCaps};
pub(crate) use ledger::Ledger;

use crate::room;
use crate::session::link::{Link, Stopped};
use crate::turn::Workbench;
use caps::{Finding, Spent, judge};

/// Who looks after the money of a turn.
pub(crate) struct Cashier<'a> {
    pub(crate) link: &'a Link,
    pub(crate) bench: &'a Workbench,
    pub(crate) turn: &'a TurnId,
}

impl Cashier<'_> {
    /// Whether another step may be made; if not, why, in words for the person.
    pub(crate) async fn refusal(&self) -> Result<Option<String>, Stopped> {
        let ledger = &self.bench.ledger;
        let caps = ledger.caps();
        if caps.is_empty() {
            return Ok(None);
        }
        let survey = self.link.survey(self.turn).await?;
        let models = &self.bench.models;
        let uncounts = caps.counts_money() && caps.unknown_cost == UnknownCost::Accept;
        if uncounts && models.pricing(&survey.model).is_none() && ledger.first_time(&survey.model.to_string())
        {
            self.tell(uncounted(&survey.model)).await?;
        }
        let unsaid = ledger.take_unsaid();
        if !unsaid.is_empty() {
            // What is sent only grows: the next request is no smaller than the one that nobody counted.
            let sent = room::measure(self.bench, &survey.history, &survey.model).used;
            let usage = Usage { input: sent, ..Usage::default() };
            unsaid.iter().for_each(|model| ledger.estimate(usage, models.cost(model, &usage)));
        }
        for finding in findings(ledger, models, &survey.model).await {
            match finding {
                Finding::Over(message) => return Ok(Some(message)),
                Finding::Nearly { cap, message } if ledger.first_time(cap) => self.tell(message).await?,
                Finding::Nearly { .. } => {}
            }
        }
        Ok(None)
    }

    async fn tell(&self, message: String) -> Result<(), Stopped> {
        self.link.emit(EventBody::Notice { message }).await
    }
}

/// Why a model may not be asked outside of a turn, in words for the person, if it may not.
pub(crate) async fn refusal(ledger: &Ledger, models: &Models, model: &ModelRef) -> Option<String> {
    if ledger.caps().is_empty() {
        return None;
    }
    findings(ledger, models, model).await.into_iter().find_map(|finding| match finding {
        Finding::Over(message) => Some(message),
        Finding::Nearly { .. } => None,
    })
}

/// Whether a model is not asked at all, because a cap on cost could not be kept with it.
pub(crate) fn is_refused(caps: &Caps, models: &Models, model: &ModelRef) -> bool {
    caps.counts_money() && caps.unknown_cost == UnknownCost::Refuse && models.pricing(model).is_none()
}

/// What is to be said before a model is asked.
async fn findings(ledger: &Ledger, models: &Models, model: &ModelRef) -> Vec<Finding> {
    let caps = ledger.caps();
    if is_refused(caps, models, model) {
        return vec![Finding::Over(unpriced(model))];
    }
    let day = match caps.day.is_empty() {
        true => Spent::default(),
        false => match today(ledger.store()).await {
            Ok(spent) => spent,
            Err(error) => return vec![Finding::Over(unreadable(&error))],
        },
    };
    judge(caps, &ledger.spent(), &day)
}

tokio::task_local! {
    /// Who pays for small calls that a tool makes.
    static PAYER: Arc<Ledger>;
}

/// Has what tools ask of small models counted here.
pub(crate) async fn charged<T>(ledger: &Arc<Ledger>, work: impl Future<Output = T>) -> T {
    PAYER.scope(Arc::clone(ledger), work).await
}

/// Who pays for what is under way, if it is the work of a call.
pub(crate) fn payer() -> Option<Arc<Ledger>> {
    PAYER.try_with(Arc::clone).ok()
}

/// What all sessions spent since this machine's midnight.
async fn today(store: &Store) -> Result<Spent, StoreError> {
    let now = jiff::Zoned::now();
    let since = now.start_of_day().map_or(now.timestamp(), |midnight| midnight.timestamp());
    let query = FactQuery { since: Timestamp(since.as_millisecond()), session: None, facts: Facts::Spending };
    Ok(added_up(&store.facts(query).await?))
}

/// The sum. A call of which nothing is known, because it was cut off, counts like the mean of the others.
fn added_up(facts: &[Fact]) -> Spent {
    let (mut all, mut unsaid) = (Spending::default(), 0_u64);
    for fact in facts {
        match &fact.deed {
            Deed::Step { usage: None, cost: Cost::Unknown, .. } => unsaid += 1,
            Deed::Step { usage, cost, .. }
            | Deed::Compaction { usage, cost, .. }
            | Deed::Aside { usage, cost } => all.add(*usage, *cost, None),
            Deed::Call { .. } => {}
        }
    }
    let priced = all.calls.saturating_sub(all.unknown_calls).max(1);
    let more = |sum: u64, calls: u64| sum.saturating_add((sum / calls.max(1)).saturating_mul(unsaid));
    Spent {
        micro_usd: more(all.at_least_micro_usd, priced),
        tokens: more(all.usage.total(), all.calls),
        unknown_calls: all.unknown_calls,
        ..Spent::default()
    }
}

/// Runs a turn, and has it ended when the time of the run is over.
pub(crate) async fn timed<T>(
    ledger: &Arc<Ledger>,
    link: &Link,
    turn: &TurnId,
    work: impl Future<Output = T>,
) -> T {
    let began = tokio::time::Instant::now();
    tokio::pin!(work);
    for mark in ledger.marks() {
        tokio::select! {
            biased;
            done = &mut work => {
                ledger.add_time(began.elapsed());
                return done;
            }
            () = tokio::time::sleep_until(began + mark.after) => {}
        }
        match mark.finding {
            Finding::Over(message) => link.time_is_up(turn.clone(), message).await,
            Finding::Nearly { cap, message } if ledger.first_time(cap) => {
                // Without an actor there is nobody to tell.
                let _ = link.emit(EventBody::Notice { message }).await;
            }
            Finding::Nearly { .. } => {}
        }
    }
    let done = work.await;
    ledger.add_time(began.elapsed());
    done
}

fn unpriced(model: &ModelRef) -> String {
    format!(
        "there is a cap on cost, and what `{model}` costs is not known, so that the cap could not be kept\n\
         hint: set its prices in your settings (provider.{}.models.\"{}\".input_price and output_price), cap tokens \
         with --max-tokens instead, or accept it with budget.unknown_cost = \"accept\"",
        model.provider, model.model
    )
}

fn uncounted(model: &ModelRef) -> String {
    format!("what `{model}` costs is not known: its calls do not count against the cap on cost")
}

fn unreadable(error: &StoreError) -> String {
    format!("what was spent today cannot be read, so that the daily cap could not be kept: {error}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use rein_protocol::SessionId;

    fn step(usage: Option<u64>, cost: Cost) -> Fact {
        let usage = usage.map(|input| Usage { input, ..Usage::default() });
        let deed = Deed::Step { turn: TurnId::new(), step: 1, model: None, usage, cost, cache: None };
        Fact { session: SessionId::new(), at: Timestamp(0), deed }
    }

    #[test]
    fn a_call_that_nobody_counted_weighs_like_the_mean_of_the_others() {
        let facts = [
            step(Some(100), Cost::Known { micro_usd: 10 }),
            step(Some(300), Cost::Known { micro_usd: 30 }),
            step(None, Cost::Unknown),
            step(Some(200), Cost::Unknown),
            step(None, Cost::ZERO),
        ];
        let spent = added_up(&facts);
        // Four calls are counted: one of them cost nothing, and of one nobody knows what it cost.
        assert_eq!((spent.tokens, spent.micro_usd, spent.unknown_calls), (600 + 150, 40 + 13, 1));
    }
}
