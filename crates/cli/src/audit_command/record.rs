//! One line of the audit: an entry that asks, decides or does something, with
//! the tool that its call is about, and without secrets.

use std::collections::HashMap;

use rein_permission::mask;
use rein_protocol::message::AssistantPart;
use rein_protocol::{CallId, CallStatus, Decider, Decision, Effect, Entry, EntryBody, Verdict};
use rein_store::SessionRecord;
use serde_json::{Map, Value, json};

use crate::terminal::one_line;

/// How much of a command or a reason a line for a person shows.
const SHOWN: usize = 100;

/// The open calls of a session.
pub(super) struct Calls {
    session: String,
    workspace: String,
    tools: HashMap<CallId, String>,
}

/// One line.
#[derive(Debug, PartialEq)]
pub(super) struct Record {
    at: i64,
    session: String,
    workspace: String,
    event: &'static str,
    tool: Option<String>,
    /// What there is to say for a program.
    fields: Map<String, Value>,
    /// What there is to say for a person.
    brief: String,
}

impl Calls {
    pub(super) fn of(session: &SessionRecord) -> Self {
        Self {
            session: session.id.to_string(),
            workspace: session.workspace.to_string_lossy().into_owned(),
            tools: HashMap::new(),
        }
    }

    /// The line of an entry, if it has one.
    pub(super) fn record(&mut self, entry: &Entry) -> Option<Record> {
        let (event, call, fields, brief) = match &entry.body {
            EntryBody::Part { body: AssistantPart::Call(call), .. } => {
                self.tools.insert(call.id.clone(), call.tool.clone());
                return None;
            }
            EntryBody::Asked { ask } => {
                let title = masked(&ask.display.title);
                let fields =
                    json!({ "ask": ask.id, "title": title, "items": ask.items, "always": ask.always });
                ("asked", Some(&ask.call), fields, title)
            }
            EntryBody::Decided { call, decision } => {
                ("decided", Some(call), decided(decision), said(decision))
            }
            EntryBody::CallStarted { call, intent } => {
                let title = masked(&intent.display.title);
                (
                    "started",
                    Some(call),
                    json!({ "title": title, "effects": intent.effects }),
                    done(&intent.effects),
                )
            }
            EntryBody::CallEnded { call, result } => {
                let summary = result.display.summary.as_deref().map(masked);
                let fields = json!({
                    "status": result.status, "duration_ms": result.duration_ms, "summary": summary,
                    "artifact": result.artifact,
                });
                ("ended", Some(call), fields, ended(result.status, summary.as_deref()))
            }
            EntryBody::PersonRan { call, command, result } => {
                let summary = result.display.summary.as_deref().map(masked);
                let command = masked(command);
                let fields = json!({
                    "command": command, "status": result.status, "duration_ms": result.duration_ms,
                    "summary": summary, "artifact": result.artifact,
                });
                ("person_ran", Some(call), fields, format!("the person ran {command}"))
            }
            EntryBody::ModeChanged { mode } => {
                ("mode", None, json!({ "mode": mode }), format!("mode {}", mode.name()))
            }
            EntryBody::Recovered { message } => {
                ("recovered", None, json!({ "message": message }), message.clone())
            }
            EntryBody::Queued { .. }
            | EntryBody::User { .. }
            | EntryBody::StepStarted { .. }
            | EntryBody::Part { .. }
            | EntryBody::StepEnded { .. }
            | EntryBody::TurnEnded { .. }
            | EntryBody::ModelChanged { .. }
            | EntryBody::QueueChanged { .. }
            | EntryBody::Pruned { .. }
            | EntryBody::Compacted { .. }
            | EntryBody::Travelled { .. }
            | EntryBody::Titled { .. }
            | EntryBody::EffortChanged { .. } => return None,
        };
        let tool = match &entry.body {
            // Nothing more comes about this call.
            EntryBody::CallEnded { call, .. } => self.tools.remove(call),
            _ => call.and_then(|call| self.tools.get(call).cloned()),
        };
        let mut all = Map::new();
        if let Some(call) = call {
            all.insert("call".to_owned(), json!(call));
        }
        if let Value::Object(fields) = without_secrets(fields) {
            all.extend(fields);
        }
        Some(Record {
            at: entry.at.0,
            session: self.session.clone(),
            workspace: self.workspace.clone(),
            event,
            tool,
            fields: all,
            brief: masked(&brief),
        })
    }
}

impl Record {
    /// For a program.
    pub(super) fn to_json(&self) -> Value {
        let at = jiff::Timestamp::from_millisecond(self.at).unwrap_or_default().to_string();
        let mut line = Map::new();
        line.insert("at".to_owned(), json!(at));
        line.insert("session".to_owned(), json!(self.session));
        line.insert("workspace".to_owned(), json!(self.workspace));
        line.insert("event".to_owned(), json!(self.event));
        line.insert("tool".to_owned(), json!(self.tool));
        line.extend(self.fields.clone());
        Value::Object(line)
    }

    /// For a person.
    pub(super) fn to_line(&self) -> String {
        let at = jiff::Timestamp::from_millisecond(self.at)
            .map(|at| at.to_zoned(jiff::tz::TimeZone::system()).strftime("%Y-%m-%d %H:%M:%S").to_string())
            .unwrap_or_default();
        let end = self.session.get(self.session.len().saturating_sub(8)..).unwrap_or_default();
        let tool = one_line(self.tool.as_deref().unwrap_or("-"), 12);
        format!("{at}  {end}  {:<9}  {tool:<8}  {}", self.event, one_line(&self.brief, SHOWN))
    }
}

fn decided(decision: &Decision) -> Value {
    json!({
        "verdict": decision.verdict,
        "by": by(decision),
        "reasons": decision.reasons,
        "ask": decision.ask,
        "waited_ms": decision.waited_ms,
    })
}

/// Who decided: a person who was asked, or a rule, a mode or rein's own guards, as the reasons have it. What is
/// allowed without a rule and without a person, the mode allows.
fn by(decision: &Decision) -> &'static str {
    let says = |words: &str| decision.reasons.iter().any(|reason| reason.contains(words));
    if decision.by == Decider::Person {
        "person"
    } else if says(" rule `") {
        "rule"
    } else if decision.verdict == Verdict::Allow || says("mode") {
        "mode"
    } else {
        "rein"
    }
}

fn said(decision: &Decision) -> String {
    let verdict = match decision.verdict {
        Verdict::Allow => "allow",
        Verdict::Deny => "deny",
    };
    format!("{verdict} by {}: {}", by(decision), decision.reasons.join("; "))
}

fn done(effects: &[Effect]) -> String {
    let each: Vec<String> = effects
        .iter()
        .map(|effect| {
            let verb = match effect {
                Effect::Read { .. } => "read",
                Effect::Write { .. } => "write",
                Effect::Execute { .. } => "$",
                Effect::Fetch { .. } => "fetch",
                Effect::Widen { .. } => "sandbox",
                Effect::Consult { .. } => "ask",
            };
            format!("{verb} {}", effect.resource())
        })
        .collect();
    each.join(", ")
}

fn ended(status: CallStatus, summary: Option<&str>) -> String {
    let word = match status {
        CallStatus::Completed => "completed",
        CallStatus::Failed => "failed",
        CallStatus::Refused => "refused",
        CallStatus::Rejected => "rejected",
        CallStatus::Interrupted => "interrupted",
        CallStatus::NotRun => "not run",
        CallStatus::Withheld => "withheld",
        CallStatus::Unknown => "unknown",
    };
    match summary {
        Some(summary) => format!("{word}: {summary}"),
        None => word.to_owned(),
    }
}

fn masked(text: &str) -> String {
    mask::secrets(text).into_owned()
}

/// The same value with every text in it masked.
fn without_secrets(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(masked(&text)),
        Value::Array(items) => items.into_iter().map(without_secrets).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(key, value)| (key, without_secrets(value))).collect::<Map<_, _>>().into()
        }
        other @ (Value::Null | Value::Bool(_) | Value::Number(_)) => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rein_protocol::{AskId, EntryId, Seq, SessionId, Timestamp, ToolCall, ToolInput, TurnId};

    fn decision(reasons: &[&str], ask: Option<AskId>) -> Decision {
        let reasons = reasons.iter().map(|reason| (*reason).to_owned()).collect();
        let by = if ask.is_some() { Decider::Person } else { Decider::Policy };
        Decision { verdict: Verdict::Deny, reasons, ask, by, waited_ms: 7 }
    }

    #[test]
    fn who_decided_is_told_from_the_ask_or_the_reasons() {
        assert_eq!(by(&decision(&["a person allowed it once"], Some(AskId::new()))), "person");
        assert_eq!(by(&decision(&["the user rule `deny edit:x` (a:1) denies it"], None)), "rule");
        assert_eq!(by(&decision(&["mode `tight` asks before a file is changed"], None)), "mode");
        assert_eq!(
            by(&decision(&["plan mode: no file is changed until the plan is approved"], None)),
            "mode"
        );
        assert_eq!(by(&decision(&["it would destroy the home directory"], None)), "rein");
        let allowed = Decision { verdict: Verdict::Allow, ..decision(&["reads only: ls"], None) };
        assert_eq!(by(&allowed), "mode");
    }

    #[test]
    fn a_line_names_the_tool_and_hides_secrets() {
        let session = SessionId::new();
        let call = CallId::new();
        let entry = |body| Entry {
            id: EntryId::new(),
            session: session.clone(),
            parent: None,
            seq: Seq(1),
            at: Timestamp(0),
            body,
        };
        let mut calls =
            Calls { session: session.to_string(), workspace: "/w".to_owned(), tools: HashMap::new() };
        let proposed = ToolCall {
            id: call.clone(),
            wire_id: "1".to_owned(),
            tool: "bash".to_owned(),
            input: ToolInput::Json { value: json!({}) },
        };
        let part = EntryBody::Part {
            turn: TurnId::new(),
            part: rein_protocol::PartId::new(),
            body: AssistantPart::Call(proposed),
        };
        assert_eq!(calls.record(&entry(part)), None);
        let started = EntryBody::CallStarted {
            call: call.clone(),
            intent: rein_protocol::Intent {
                effects: vec![Effect::Execute {
                    command: "TOKEN=hunter2 make".into(),
                    cwd: "/w".into(),
                    prelude: String::new(),
                }],
                display: rein_protocol::Display::titled("$ TOKEN=hunter2 make"),
            },
        };
        let record = calls.record(&entry(started)).unwrap();
        assert_eq!(
            record.to_json(),
            json!({
                "at": "1970-01-01T00:00:00Z", "session": session, "workspace": "/w", "event": "started",
                "tool": "bash", "call": call, "title": "$ TOKEN=*** make",
                "effects": [{ "type": "execute", "command": "TOKEN=*** make", "cwd": "/w" }],
            })
        );
        assert!(record.to_line().ends_with("started    bash      $ TOKEN=*** make"), "{}", record.to_line());
        let decided = EntryBody::Decided { call: CallId::new(), decision: decision(&["x"], None) };
        assert_eq!(calls.record(&entry(decided)).unwrap().tool, None);
    }
}
