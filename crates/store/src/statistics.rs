//! What was done and spent, as the entries of all sessions tell it.
//!
//! Owns the one query over sessions that statistics and daily caps are made
//! of; adding up is left to those who ask. Only what is asked for is read of an
//! entry, and in one pass. A fork has copies of the entries that it began with:
//! nothing is told twice. The ids of entries sort by time, so that a day is
//! found without a look at the years before it.

use std::collections::{HashMap, HashSet};

use rein_protocol::{
    CallId, CallStatus, Cost, EntryId, ModelRef, SessionId, SummarySource, Timestamp, TurnId, Usage,
};
use rusqlite::types::ValueRef;
use rusqlite::{Connection, params};
use serde::Deserialize;
use serde_json::Value;

use crate::error::Fault;

/// How long before a moment a step may have begun that ended after it.
const LONGEST_STEP: i64 = 6 * 60 * 60 * 1000;

/// Which facts are wanted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FactQuery {
    /// Only what happened since then.
    pub since: Timestamp,
    /// Only of this session.
    pub session: Option<SessionId>,
    /// Of which kinds.
    pub facts: Facts,
}

/// Kinds of facts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Facts {
    /// Only what used a model.
    Spending,
    /// Calls of tools too.
    Everything,
}

/// Something that was done.
#[derive(Debug, Clone, PartialEq)]
pub struct Fact {
    /// In which session.
    pub session: SessionId,
    /// When it was over.
    pub at: Timestamp,
    /// What.
    pub deed: Deed,
}

/// What was done.
#[derive(Debug, Clone, PartialEq)]
pub enum Deed {
    /// A model was asked.
    Step {
        /// In which turn.
        turn: TurnId,
        /// Which step of it.
        step: u32,
        /// Which model, if that is known.
        model: Option<ModelRef>,
        /// What it used, if the provider said so.
        usage: Option<Usage>,
        /// What it cost.
        cost: Cost,
        /// What else is recorded of the provider's cache.
        cache: Option<Value>,
    },
    /// A conversation was compacted.
    Compaction {
        /// The model that wrote the summary, if one did.
        model: Option<ModelRef>,
        /// What that used, if the provider said so.
        usage: Option<Usage>,
        /// What it cost.
        cost: Cost,
    },
    /// A model was asked by the way, for a title.
    Aside {
        /// What it used, if the provider said so.
        usage: Option<Usage>,
        /// What it cost.
        cost: Cost,
    },
    /// A tool was called.
    Call {
        /// Which tool, if that is known.
        tool: Option<String>,
        /// What became of it.
        status: CallStatus,
        /// How long it ran.
        duration_ms: u64,
    },
}

/// Asks the database.
pub(crate) fn facts(connection: &Connection, query: &FactQuery) -> Result<Vec<Fact>, Fault> {
    let from = EntryId::earliest(Timestamp(query.since.0.saturating_sub(LONGEST_STEP)));
    // Calls are told by their parts; what else a model said is none of our business. A quotation mark inside of a
    // text has a backslash before it, so that no text looks like this.
    let calls = match query.facts {
        Facts::Spending => "",
        Facts::Everything => {
            "OR kind = 'call_ended' OR (kind = 'part' AND instr(body, '\"type\":\"call\"') > 0)"
        }
    };
    let order = match query.session {
        Some(_) => "ORDER BY seq",
        None => "ORDER BY id",
    };
    let sql = format!(
        "SELECT session, at, kind, body FROM entries \
         WHERE id >= ?1 AND (?2 IS NULL OR session = ?2) \
         AND (kind IN ('step_started', 'step_ended', 'compacted', 'titled') {calls}) {order}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(params![from.as_str(), query.session.as_ref().map(SessionId::as_str)])?;
    let mut reading = Reading::default();
    while let Some(row) = rows.next()? {
        let (session, at) = (row.get_ref(0)?, Timestamp(row.get(1)?));
        let (Some(session), Some(kind), Some(body)) =
            (text(session), text(row.get_ref(2)?), text(row.get_ref(3)?))
        else {
            continue;
        };
        let Some(deed) = reading.read(kind, body, at) else { continue };
        let Ok(session) = session.parse() else { continue };
        if at >= query.since {
            reading.facts.push(Fact { session, at, deed });
        }
    }
    Ok(reading.facts)
}

fn text(value: ValueRef<'_>) -> Option<&str> {
    match value {
        ValueRef::Text(bytes) => std::str::from_utf8(bytes).ok(),
        _ => None,
    }
}

/// What has been read so far.
#[derive(Default)]
struct Reading {
    facts: Vec<Fact>,
    models: HashMap<(TurnId, u32), ModelRef>,
    tools: HashMap<CallId, String>,
    steps: HashSet<(TurnId, u32)>,
    calls: HashSet<CallId>,
    compactions: HashSet<(i64, u64, u64)>,
    /// Small calls, by when they were over and what they were for.
    asides: HashSet<(i64, String)>,
}

impl Reading {
    fn read(&mut self, kind: &str, body: &str, at: Timestamp) -> Option<Deed> {
        match kind {
            "step_started" => {
                let begun: StepStarted = understood(body)?;
                self.models.insert((begun.turn, begun.step), begun.model);
                None
            }
            "step_ended" => {
                let ended: StepEnded = understood(body)?;
                let place = (ended.turn, ended.step);
                if !self.steps.insert(place.clone()) {
                    return None;
                }
                let model = self.models.get(&place).cloned();
                let (turn, step) = place;
                let StepEnded { usage, cost, cache, .. } = ended;
                Some(Deed::Step { turn, step, model, usage, cost, cache })
            }
            "compacted" => {
                let Compacted { compaction } = understood(body)?;
                let known = (at.0, compaction.tokens_before, compaction.tokens_after);
                if !self.compactions.insert(known) {
                    return None;
                }
                let model = match compaction.source {
                    SummarySource::Model { model } => Some(model),
                    SummarySource::Digest { .. } => None,
                };
                Some(Deed::Compaction { model, usage: compaction.usage, cost: compaction.cost })
            }
            "titled" => {
                let Titled { title, usage, cost } = understood(body)?;
                let spent = usage.is_some() || cost.is_some();
                (spent && self.asides.insert((at.0, title)))
                    .then(|| Deed::Aside { usage, cost: cost.unwrap_or(Cost::Unknown) })
            }
            "part" => {
                let Part { body: Proposed { id, tool } } = understood(body)?;
                self.tools.insert(id, tool);
                None
            }
            "call_ended" => {
                let CallEnded { call, result } = understood(body)?;
                if !self.calls.insert(call.clone()) {
                    return None;
                }
                let tool = self.tools.remove(&call);
                Some(Deed::Call { tool, status: result.status, duration_ms: result.duration_ms })
            }
            _ => None,
        }
    }
}

fn understood<'a, T: Deserialize<'a>>(body: &'a str) -> Option<T> {
    serde_json::from_str(body).inspect_err(|error| tracing::debug!("an entry is not counted: {error}")).ok()
}

#[derive(Deserialize)]
struct StepStarted {
    turn: TurnId,
    step: u32,
    model: ModelRef,
}

#[derive(Deserialize)]
struct StepEnded {
    turn: TurnId,
    step: u32,
    #[serde(default)]
    usage: Option<Usage>,
    cost: Cost,
    #[serde(default)]
    cache: Option<Value>,
}

#[derive(Deserialize)]
struct Compacted {
    compaction: Summarised,
}

#[derive(Deserialize)]
struct Summarised {
    source: SummarySource,
    #[serde(default)]
    tokens_before: u64,
    #[serde(default)]
    tokens_after: u64,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default = "nothing")]
    cost: Cost,
}

fn nothing() -> Cost {
    Cost::ZERO
}

#[derive(Deserialize)]
struct Titled {
    title: String,
    #[serde(default)]
    usage: Option<Usage>,
    #[serde(default)]
    cost: Option<Cost>,
}

#[derive(Deserialize)]
struct Part {
    body: Proposed,
}

#[derive(Deserialize)]
struct Proposed {
    id: CallId,
    tool: String,
}

#[derive(Deserialize)]
struct CallEnded {
    call: CallId,
    result: Ended,
}

#[derive(Deserialize)]
struct Ended {
    status: CallStatus,
    #[serde(default)]
    duration_ms: u64,
}
