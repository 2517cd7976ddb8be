//! `rein stats cache`: what the provider's cache served of each step's prompt,
//! and where it served less than before, what changed first.

use std::io;

use rein_protocol::{ModelRef, SessionId, Timestamp, Usage};
use rein_store::{Deed, Fact, FactQuery, Facts, Store};
use serde_json::{Value, json};

use super::totals::hit_rate;
use super::unreadable;
use crate::error::CommandError;
use crate::sessions;
use crate::stdout;
use crate::terminal::{Target, neutralise};
use crate::wiring::Setup;

/// By how much the rate must fall to be worth a word.
const DROP: f64 = 0.2;
/// After so many milliseconds most caches have forgotten.
const LIFETIME: i64 = 5 * 60 * 1000;

/// A step, and what the cache did in it.
#[derive(Debug, Clone, PartialEq)]
struct Row {
    at: Timestamp,
    model: Option<ModelRef>,
    usage: Option<Usage>,
    rate: Option<f64>,
    /// The first part of the prompt that was not as before, if that is recorded.
    first_changed: Option<String>,
    /// Why the rate is lower than before, if it is.
    why: Option<String>,
}

/// Shows it.
pub(super) async fn execute(
    setup: &mut Setup,
    store: &Store,
    name: Option<&str>,
    as_json: bool,
) -> Result<(), CommandError> {
    let archive = setup.archive().await?;
    let session = match name {
        Some(name) => sessions::by_name(&*archive, name).await?.id,
        None => sessions::last_of(&*archive, setup.directory()).await?.id,
    };
    let query = FactQuery { since: Timestamp(0), session: Some(session.clone()), facts: Facts::Spending };
    let rows = rows(&store.facts(query).await.map_err(unreadable)?);
    if as_json {
        return stdout::print_json(&to_json(&session, &rows));
    }
    let ink = Target::of(&io::stdout()).ink();
    stdout::print(|out| {
        if rows.is_empty() {
            return writeln!(out, "nothing was asked of a model in session {session}");
        }
        for (index, row) in rows.iter().enumerate() {
            let served = match (row.usage, row.rate) {
                (Some(usage), Some(rate)) => {
                    let sent = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
                    format!("{:>3.0} % of {sent}", rate * 100.0)
                }
                _ => "  ? %".to_owned(),
            };
            let why = match &row.why {
                Some(why) => format!("  {}", ink.yellow(&neutralise(why))),
                None => String::new(),
            };
            writeln!(out, "{:>4}  {served}{why}", index + 1)?;
        }
        Ok(())
    })
}

fn rows(facts: &[Fact]) -> Vec<Row> {
    let mut rows: Vec<Row> = Vec::new();
    let mut compacted = false;
    for fact in facts {
        let (model, usage, cache) = match &fact.deed {
            Deed::Step { model, usage, cache, .. } => (model.clone(), *usage, cache),
            Deed::Compaction { .. } => {
                compacted = true;
                continue;
            }
            Deed::Aside { .. } | Deed::Call { .. } => continue,
        };
        let rate = usage.as_ref().and_then(hit_rate);
        let first_changed = cache.as_ref().and_then(first_changed);
        let before = rows.iter().rev().find(|row| row.rate.is_some());
        let dropped = before.and_then(|row| row.rate).zip(rate).is_some_and(|(was, is)| is < was - DROP);
        let why = dropped.then(|| {
            let was = before.map(|row| (row.model.as_ref(), row.at));
            reason(first_changed.as_deref(), compacted, was, model.as_ref(), fact.at)
        });
        compacted = compacted && usage.is_none();
        rows.push(Row { at: fact.at, model, usage, rate, first_changed, why });
    }
    rows
}

/// What the engine recorded, by name: whatever else it says there is of no interest here.
fn first_changed(cache: &Value) -> Option<String> {
    match cache.get("first_changed")? {
        Value::String(part) => Some(part.clone()),
        Value::Null => None,
        other => Some(other.to_string()),
    }
}

fn reason(
    recorded: Option<&str>,
    compacted: bool,
    before: Option<(Option<&ModelRef>, Timestamp)>,
    model: Option<&ModelRef>,
    at: Timestamp,
) -> String {
    if let Some(part) = recorded {
        return format!("changed first: {part}");
    }
    if compacted {
        return "the conversation was compacted".to_owned();
    }
    match before {
        Some((was, _)) if was != model => {
            let named = model.map_or_else(|| "another model".to_owned(), ToString::to_string);
            format!("another model answers: {named}")
        }
        Some((_, then)) if at.0.saturating_sub(then.0) > LIFETIME => {
            format!("{} minutes after the last step: caches forget", (at.0 - then.0) / 60_000)
        }
        _ => "what changed is not recorded".to_owned(),
    }
}

fn to_json(session: &SessionId, rows: &[Row]) -> Value {
    let steps: Vec<Value> = rows
        .iter()
        .enumerate()
        .map(|(index, row)| {
            json!({
                "step": index + 1,
                "at": row.at,
                "model": row.model,
                "usage": row.usage,
                "hit_rate": row.rate,
                "dropped": row.why.is_some(),
                "first_changed": row.first_changed,
                "why": row.why,
            })
        })
        .collect();
    json!({ "type": "cache", "session": session, "steps": steps })
}

#[cfg(test)]
mod tests {
    use super::*;
    use rein_protocol::{Cost, TurnId};

    fn step(at: i64, model: &str, served: u64, cache: Option<Value>) -> Fact {
        let usage = Some(Usage { input: 100 - served, cache_read: served, ..Usage::default() });
        let (turn, model) = (TurnId::new(), Some(model.parse().unwrap()));
        let deed = Deed::Step { turn, step: 1, model, usage, cost: Cost::ZERO, cache };
        Fact { session: SessionId::new(), at: Timestamp(at), deed }
    }

    fn compaction(at: i64) -> Fact {
        let deed = Deed::Compaction { model: None, usage: None, cost: Cost::ZERO };
        Fact { session: SessionId::new(), at: Timestamp(at), deed }
    }

    #[test]
    fn a_drop_is_explained_by_what_is_recorded_or_else_by_what_is_known() {
        let facts = [
            step(0, "a/b", 0, None),
            step(1, "a/b", 90, None),
            step(2, "a/b", 80, None),
            step(3, "a/b", 10, Some(json!({"first_changed": "tools"}))),
            step(4, "a/b", 90, Some(json!({"first_changed": null, "more": 1}))),
            step(5, "a/c", 0, None),
            step(6, "a/c", 90, None),
            compaction(7),
            step(8, "a/c", 20, None),
            step(9, "a/c", 90, None),
            step(9 + 11 * 60_000, "a/c", 0, None),
            step(10 + 11 * 60_000, "a/c", 90, None),
            step(11 + 11 * 60_000, "a/c", 0, None),
        ];
        let why: Vec<Option<String>> = rows(&facts).into_iter().map(|row| row.why).collect();
        let said: Vec<&str> = why.iter().flatten().map(String::as_str).collect();
        assert_eq!(
            said,
            [
                "changed first: tools",
                "another model answers: a/c",
                "the conversation was compacted",
                "11 minutes after the last step: caches forget",
                "what changed is not recorded"
            ]
        );
        assert!(why[..3].iter().all(Option::is_none));
    }
}
