//! Facts added up: a row for each day, model, project or tool, and all of them.
//! Pure but for the time zone of the machine.

use std::collections::{BTreeMap, HashMap, HashSet};

use jiff::tz::TimeZone;
use rein_llm::Spending;
use rein_protocol::{CallStatus, Cost, ModelRef, SessionId, Timestamp, Usage};
use rein_store::{Deed, Fact};
use serde_json::{Map, Value, json};

use super::name;
use crate::args::GroupBy;
use crate::headless::dollars;

/// What nobody knows the name of.
const UNKNOWN: &str = "unknown";

/// Everything that is shown.
#[derive(Debug, Clone, PartialEq, Default)]
pub(super) struct Report {
    pub(super) rows: Vec<(String, Totals)>,
    pub(super) total: Totals,
    pub(super) tools: Vec<(String, Totals)>,
    pub(super) sessions: usize,
}

/// A sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(super) struct Totals {
    pub(super) steps: u64,
    pub(super) compactions: u64,
    pub(super) spending: Spending,
    pub(super) calls: u64,
    pub(super) failed: u64,
    pub(super) refused: u64,
    pub(super) call_ms: u64,
}

impl Totals {
    fn add(&mut self, deed: &Deed) {
        match deed {
            Deed::Step { usage, cost, .. } => {
                self.steps += 1;
                self.spend(*usage, *cost);
            }
            Deed::Compaction { usage, cost, .. } => {
                self.compactions += 1;
                self.spend(*usage, *cost);
            }
            Deed::Aside { usage, cost } => self.spend(*usage, *cost),
            Deed::Call { status, duration_ms, .. } => {
                self.calls += 1;
                self.call_ms = self.call_ms.saturating_add(*duration_ms);
                match status {
                    CallStatus::Completed => {}
                    CallStatus::Refused | CallStatus::Rejected | CallStatus::Withheld => self.refused += 1,
                    CallStatus::Failed
                    | CallStatus::Interrupted
                    | CallStatus::NotRun
                    | CallStatus::Unknown => self.failed += 1,
                }
            }
        }
    }

    fn spend(&mut self, usage: Option<Usage>, cost: Cost) {
        self.spending.add(usage, cost, None);
    }

    /// All tokens.
    pub(super) fn tokens(&self) -> u64 {
        self.spending.usage.total()
    }

    /// How much of what was sent a cache served.
    pub(super) fn hit_rate(&self) -> Option<f64> {
        hit_rate(&self.spending.usage)
    }

    fn to_json(self) -> Map<String, Value> {
        let at_least = Cost::Known { micro_usd: self.spending.at_least_micro_usd };
        let fields = json!({
            "steps": self.steps,
            "compactions": self.compactions,
            "tokens": self.tokens(),
            "usage": self.spending.usage,
            "cost_usd": dollars(self.spending.cost),
            "known_cost_usd": dollars(at_least),
            "unknown_cost_calls": self.spending.unknown_calls,
            "cache_hit_rate": self.hit_rate(),
            "calls": self.calls,
            "failed_calls": self.failed,
            "refused_calls": self.refused,
            "call_ms": self.call_ms,
        });
        match fields {
            Value::Object(fields) => fields,
            _ => Map::new(),
        }
    }
}

/// The part of what was sent that a cache served; absent if nothing was sent.
pub(super) fn hit_rate(usage: &Usage) -> Option<f64> {
    let sent = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
    #[allow(clippy::cast_precision_loss)] // A rate needs no more digits.
    (sent > 0).then(|| usage.cache_read as f64 / sent as f64)
}

impl Report {
    /// With what it is about.
    pub(super) fn to_json(&self, mut about: Value, by: GroupBy) -> Value {
        let row = |(key, totals): &(String, Totals)| {
            let mut fields = Map::new();
            fields.insert("key".to_owned(), json!(key));
            fields.extend(totals.to_json());
            Value::Object(fields)
        };
        if let Some(fields) = about.as_object_mut() {
            fields.insert("by".to_owned(), json!(name(by)));
            fields.insert("sessions".to_owned(), json!(self.sessions));
            fields.insert("rows".to_owned(), self.rows.iter().map(row).collect());
            fields.insert("total".to_owned(), Value::Object(self.total.to_json()));
            fields.insert("tools".to_owned(), self.tools.iter().map(row).collect());
        }
        about
    }
}

/// Adds up.
pub(super) fn report(facts: &[Fact], projects: &HashMap<SessionId, String>, by: GroupBy) -> Report {
    let zone = TimeZone::system();
    let mut rows: BTreeMap<String, Totals> = BTreeMap::new();
    let mut tools: BTreeMap<String, Totals> = BTreeMap::new();
    let mut total = Totals::default();
    // A call of a tool has no model of its own: it is that of the session's last step.
    let mut models: HashMap<&SessionId, &ModelRef> = HashMap::new();
    let mut sessions: HashSet<&SessionId> = HashSet::new();
    for fact in facts {
        total.add(&fact.deed);
        sessions.insert(&fact.session);
        if let Deed::Step { model: Some(model), .. } = &fact.deed {
            models.insert(&fact.session, model);
        }
        let tool = match &fact.deed {
            Deed::Call { tool, .. } => Some(tool.clone().unwrap_or_else(|| UNKNOWN.to_owned())),
            _ => None,
        };
        if let Some(tool) = &tool {
            tools.entry(tool.clone()).or_default().add(&fact.deed);
        }
        let key = match by {
            GroupBy::Day => Some(day(fact.at, &zone)),
            GroupBy::Model => Some(match &fact.deed {
                Deed::Compaction { model: Some(model), .. } => model.to_string(),
                _ => models.get(&fact.session).map_or_else(|| UNKNOWN.to_owned(), ToString::to_string),
            }),
            GroupBy::Project => {
                Some(projects.get(&fact.session).cloned().unwrap_or_else(|| UNKNOWN.to_owned()))
            }
            GroupBy::Tool => tool,
        };
        if let Some(key) = key {
            rows.entry(key).or_default().add(&fact.deed);
        }
    }
    let mut rows: Vec<(String, Totals)> = rows.into_iter().collect();
    match by {
        // A day follows on the other; of the rest, the largest comes first.
        GroupBy::Day => {}
        GroupBy::Model | GroupBy::Project => {
            rows.sort_by_key(|(_, totals)| std::cmp::Reverse(totals.tokens()))
        }
        GroupBy::Tool => rows.sort_by_key(|(_, totals)| std::cmp::Reverse(totals.calls)),
    }
    let mut tools: Vec<(String, Totals)> = tools.into_iter().collect();
    tools.sort_by_key(|(_, totals)| std::cmp::Reverse(totals.calls));
    Report { rows, total, tools, sessions: sessions.len() }
}

fn day(at: Timestamp, zone: &TimeZone) -> String {
    match jiff::Timestamp::from_millisecond(at.0) {
        Ok(at) => at.to_zoned(zone.clone()).strftime("%Y-%m-%d").to_string(),
        Err(_) => UNKNOWN.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rein_protocol::TurnId;

    fn step(session: &SessionId, model: &str, input: u64, cache_read: u64, cost: Cost) -> Fact {
        let usage = Some(Usage { input, cache_read, output: 10, ..Usage::default() });
        let (turn, model) = (TurnId::new(), Some(model.parse().unwrap()));
        let deed = Deed::Step { turn, step: 1, model, usage, cost, cache: None };
        Fact { session: session.clone(), at: Timestamp(1_700_000_000_000), deed }
    }

    fn call(session: &SessionId, tool: &str, status: CallStatus) -> Fact {
        let deed = Deed::Call { tool: Some(tool.to_owned()), status, duration_ms: 5 };
        Fact { session: session.clone(), at: Timestamp(1_700_000_000_000), deed }
    }

    #[test]
    fn an_unknown_cost_stays_unknown_and_what_is_known_is_told() {
        let session = SessionId::new();
        let facts = [
            step(&session, "a/b", 100, 300, Cost::Known { micro_usd: 7 }),
            call(&session, "read", CallStatus::Completed),
            step(&session, "a/c", 100, 0, Cost::Unknown),
            call(&session, "bash", CallStatus::Failed),
            call(&session, "bash", CallStatus::Refused),
        ];
        let report = report(&facts, &HashMap::new(), GroupBy::Model);
        let keys: Vec<&str> = report.rows.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["a/b", "a/c"]);
        let json = report.to_json(json!({}), GroupBy::Model);
        assert_eq!(
            (&json["total"]["cost_usd"], &json["total"]["known_cost_usd"]),
            (&Value::Null, &json!(7e-6))
        );
        assert_eq!(json["rows"][0]["cache_hit_rate"], 0.75);
        assert_eq!(json["rows"][1]["calls"], 2);
        let bash = &json["tools"][0];
        assert_eq!(
            (&bash["key"], &bash["failed_calls"], &bash["refused_calls"]),
            (&json!("bash"), &json!(1), &json!(1))
        );
    }
}
