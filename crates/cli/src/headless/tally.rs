//! What a run came to: a pure fold over the events of one turn.
//!
//! Output of running calls is not kept, so that the fold stays small however
//! much a command prints.

use std::collections::HashMap;
use std::time::Duration;

use rein_protocol::message::AssistantPart;
use rein_protocol::{
    CallId, CallStatus, Content, Cost, EntryBody, Event, EventBody, Finish, ModelRef, SessionId, StopReason,
    ToolCall, TurnId, Usage, Verdict,
};
use serde::Serialize;

use crate::exit::{Exit, Permitted};
use crate::signals::Signal;

/// The object at the end of the machine formats. Fields are added, never renamed or removed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RunResult {
    #[serde(rename = "type")]
    kind: &'static str,
    /// Where it can be gone on with.
    pub session: SessionId,
    /// The turn that ran.
    pub turn: TurnId,
    /// The model that answered last.
    pub model: Option<ModelRef>,
    /// What the model said after its last call.
    pub answer: String,
    /// Why it stopped.
    pub stop_reason: StopReason,
    /// That in words, where there is something to say.
    pub message: Option<String>,
    /// What the process ends with.
    pub exit_code: Exit,
    /// How often the model was called.
    pub steps: u32,
    /// Every call, in the order in which they were proposed.
    pub calls: Vec<CallSummary>,
    /// Those that were not permitted.
    pub refused: Vec<Refusal>,
    /// Those that plan mode withheld: they are to be done when the plan is approved.
    pub withheld: Vec<CallSummary>,
    /// Tokens of this run.
    pub usage: Usage,
    /// Dollars of this run; null if a price or a count is not known.
    pub cost_usd: Option<f64>,
    /// From the prompt to the end.
    pub duration_ms: u64,
}

/// A call in one line.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CallSummary {
    /// Its name in the session.
    pub id: CallId,
    /// The tool.
    pub tool: String,
    /// What it did, in a line.
    pub title: String,
    /// What became of it; null if that is not known.
    pub status: Option<CallStatus>,
    /// How long it ran.
    pub duration_ms: u64,
}

/// A call that was not permitted.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Refusal {
    /// Its name in the session.
    pub call: CallId,
    /// The tool.
    pub tool: String,
    /// What it wanted to do, in a line.
    pub title: String,
    /// The rules, modes or persons that were against it, a sentence each.
    pub reasons: Vec<String>,
    /// What the model was told: what, why, and what would allow it.
    pub message: String,
}

/// The fold.
#[derive(Debug)]
pub struct Tally {
    turn: TurnId,
    model: Option<ModelRef>,
    answer: String,
    /// What came last was words, and then also that the step broke off in the middle of them.
    speaking: bool,
    cut: bool,
    steps: u32,
    calls: Vec<CallSummary>,
    places: HashMap<CallId, usize>,
    reasons: HashMap<CallId, Vec<String>>,
    refused: Vec<Refusal>,
    usage: Usage,
    cost: Cost,
    ended: Option<(StopReason, Option<String>)>,
}

impl Tally {
    /// Of a turn from which nothing has been seen yet.
    pub fn new(turn: TurnId, model: Option<ModelRef>) -> Self {
        Self {
            turn,
            model,
            answer: String::new(),
            speaking: false,
            cut: false,
            steps: 0,
            calls: Vec::new(),
            places: HashMap::new(),
            reasons: HashMap::new(),
            refused: Vec::new(),
            usage: Usage::default(),
            cost: Cost::ZERO,
            ended: None,
        }
    }

    /// Counts a call that was proposed: in this run, or before in the turn that it goes on with.
    pub fn proposed(&mut self, call: &ToolCall) {
        self.places.insert(call.id.clone(), self.calls.len());
        self.calls.push(CallSummary {
            id: call.id.clone(),
            tool: call.tool.clone(),
            title: call.tool.clone(),
            status: None,
            duration_ms: 0,
        });
    }

    /// Folds one event.
    pub fn apply(&mut self, event: &Event) {
        let entry = match &event.body {
            EventBody::Entry { entry } => entry,
            EventBody::Broken { message } => {
                self.ended = Some((StopReason::InternalError, Some(message.clone())));
                return;
            }
            EventBody::PartDelta { .. }
            | EventBody::CallOutput { .. }
            | EventBody::Job { .. }
            | EventBody::Retrying { .. }
            | EventBody::Compacting { .. }
            | EventBody::PersonRuns { .. }
            | EventBody::Notice { .. } => return,
        };
        match &entry.body {
            EntryBody::User { .. } => {
                self.answer.clear();
                self.speaking = false;
            }
            EntryBody::StepStarted { model, .. } => {
                self.model = Some(model.clone());
                self.steps += 1;
            }
            EntryBody::Part { body, .. } => self.part(body),
            EntryBody::StepEnded { usage, cost, finish, .. } => {
                self.cut = breaks_off(finish) && self.speaking;
                self.usage += usage.unwrap_or_default();
                self.cost += *cost;
            }
            EntryBody::Decided { call, decision } => match decision.verdict {
                Verdict::Allow => {}
                Verdict::Deny => drop(self.reasons.insert(call.clone(), decision.reasons.clone())),
            },
            EntryBody::CallStarted { call, intent } => {
                if let Some(summary) = self.call_mut(call) {
                    summary.title.clone_from(&intent.display.title);
                }
            }
            EntryBody::CallEnded { call, result } => self.call_ended(call, result),
            EntryBody::TurnEnded { turn, stop, message } if *turn == self.turn => {
                self.ended = Some((*stop, message.clone()));
            }
            EntryBody::Compacted { compaction } => {
                self.usage += compaction.usage.unwrap_or_default();
                self.cost += compaction.cost;
            }
            EntryBody::Titled { usage, cost, .. } => {
                self.usage += usage.unwrap_or_default();
                self.cost += cost.unwrap_or(rein_protocol::Cost::ZERO);
            }
            EntryBody::TurnEnded { .. }
            | EntryBody::Queued { .. }
            | EntryBody::Asked { .. }
            | EntryBody::ModelChanged { .. }
            | EntryBody::ModeChanged { .. }
            | EntryBody::Recovered { .. }
            | EntryBody::QueueChanged { .. }
            | EntryBody::Pruned { .. }
            | EntryBody::Travelled { .. }
            | EntryBody::PersonRan { .. }
            | EntryBody::EffortChanged { .. } => {}
        }
    }

    /// Whether the turn is over.
    pub fn is_over(&self) -> bool {
        self.ended.is_some()
    }

    /// Ends the fold for a stream that broke off without the end of the turn.
    pub fn break_off(&mut self, message: &str) {
        self.ended.get_or_insert_with(|| (StopReason::InternalError, Some(message.to_owned())));
    }

    /// What it came to.
    pub fn finish(self, session: SessionId, signal: Option<Signal>, took: Duration) -> RunResult {
        let (stop_reason, message) = self.ended.unwrap_or((StopReason::InternalError, None));
        let is_withheld = |call: &&CallSummary| call.status == Some(CallStatus::Withheld);
        let withheld = self.calls.iter().filter(is_withheld).cloned().collect();
        let permitted = if self.refused.is_empty() { Permitted::All } else { Permitted::Some };
        RunResult {
            kind: "result",
            session,
            turn: self.turn,
            model: self.model,
            answer: self.answer,
            stop_reason,
            message,
            exit_code: Exit::of_turn(stop_reason, permitted, signal),
            steps: self.steps,
            calls: self.calls,
            refused: self.refused,
            withheld,
            usage: self.usage,
            cost_usd: dollars(self.cost),
            duration_ms: u64::try_from(took.as_millis()).unwrap_or(u64::MAX),
        }
    }

    fn part(&mut self, body: &AssistantPart) {
        match body {
            AssistantPart::Text { text } => {
                if text.is_empty() {
                    return;
                }
                if !std::mem::take(&mut self.cut) && !self.answer.is_empty() {
                    self.answer.push_str("\n\n");
                }
                self.answer.push_str(text);
                self.speaking = true;
            }
            AssistantPart::Reasoning { .. } => {}
            AssistantPart::Call(call) => {
                self.answer.clear();
                self.speaking = false;
                self.proposed(call);
            }
        }
    }

    fn call_ended(&mut self, call: &CallId, result: &rein_protocol::CallResult) {
        let reasons = self.reasons.remove(call).unwrap_or_default();
        let Some(summary) = self.call_mut(call) else { return };
        summary.status = Some(result.status);
        summary.duration_ms = result.duration_ms;
        if !result.display.title.is_empty() {
            summary.title.clone_from(&result.display.title);
        }
        let (tool, title) = (summary.tool.clone(), summary.title.clone());
        match result.status {
            CallStatus::Refused | CallStatus::Rejected => {
                let message = words(&result.content);
                self.refused.push(Refusal { call: call.clone(), tool, title, reasons, message });
            }
            CallStatus::Completed
            | CallStatus::Failed
            | CallStatus::Interrupted
            | CallStatus::NotRun
            | CallStatus::Withheld
            | CallStatus::Unknown => {}
        }
    }

    fn call_mut(&mut self, call: &CallId) -> Option<&mut CallSummary> {
        let place = *self.places.get(call)?;
        self.calls.get_mut(place)
    }
}

/// Whether a step that ended like this may have stopped in the middle of a word, and is gone on with there.
pub fn breaks_off(finish: &Finish) -> bool {
    match finish {
        Finish::Died | Finish::Error { .. } => true,
        Finish::Stop
        | Finish::ToolCalls
        | Finish::Length
        | Finish::Refusal
        | Finish::Other { .. }
        | Finish::Interrupted => false,
    }
}

/// The words among the content.
pub fn words(content: &[Content]) -> String {
    let texts: Vec<&str> = content
        .iter()
        .filter_map(|piece| match piece {
            Content::Text { text } => Some(text.as_str()),
            Content::Image { .. } => None,
        })
        .collect();
    texts.join("\n")
}

/// What is known about the money, in dollars.
pub fn dollars(cost: Cost) -> Option<f64> {
    match cost {
        #[allow(clippy::cast_precision_loss)]
        Cost::Known { micro_usd } => Some(micro_usd as f64 / 1e6),
        Cost::Unknown => None,
    }
}
