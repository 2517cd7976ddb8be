//! What happens in a scripted turn, and the beats that it is played in.
//!
//! An [`Act`] is what a test writes; a `Beat` is one thing that a session does
//! under its lock. Turn and session ids in scripted values are replaced by the
//! real ones when they are played.

use rein_protocol::event::{EventBody, PartKind};
use rein_protocol::message::AssistantPart;
use rein_protocol::{AskId, EntryBody, Finish, PartId, StopReason, TurnId};

use super::call::FakeCall;

/// Characters in one delta.
const DELTA: usize = 20;

/// Something that happens in a scripted turn. A turn that is not ended by its acts ends with
/// [`StopReason::EndTurn`] after the last.
#[derive(Debug, Clone)]
pub enum Act {
    /// Appends an entry. If it is [`EntryBody::Asked`], the turn then waits for the reply.
    Entry(Box<EntryBody>),
    /// Emits an event; one with an entry appends it as above.
    Event(Box<EventBody>),
    /// A step in which the model thinks and speaks; see [`Act::say`].
    Say {
        /// What it thinks; nothing if empty.
        reasoning: String,
        /// What it says; nothing if empty.
        text: String,
    },
    /// A step in which the model proposes calls, and what becomes of them; see [`FakeCall`].
    Calls(Vec<FakeCall>),
    /// Waits until [`FakeService::open_gate`](super::FakeService::open_gate).
    Hold(String),
}

impl Act {
    /// A whole step: the model speaks, in deltas and then as an entry.
    pub fn say(text: impl Into<String>) -> Self {
        Self::Say { reasoning: String::new(), text: text.into() }
    }

    /// A whole step: the model thinks aloud, then speaks.
    pub fn think_and_say(reasoning: impl Into<String>, text: impl Into<String>) -> Self {
        Self::Say { reasoning: reasoning.into(), text: text.into() }
    }

    /// A whole step with one call, and what becomes of it.
    #[must_use]
    pub fn call(call: FakeCall) -> Self {
        Self::Calls(vec![call])
    }

    /// A whole step with parallel calls, and what becomes of them in this order. All asks are made first.
    pub fn calls(calls: impl IntoIterator<Item = FakeCall>) -> Self {
        Self::Calls(calls.into_iter().collect())
    }

    /// Words as far as they came: deltas without an entry and without a step of their own.
    pub fn begin_to_say(text: impl Into<String>) -> Self {
        EventBody::PartDelta {
            turn: TurnId::new(),
            part: PartId::new(),
            kind: PartKind::Text,
            delta: text.into(),
        }
        .into()
    }

    /// Waits until the test opens the gate.
    pub fn hold(gate: impl Into<String>) -> Self {
        Self::Hold(gate.into())
    }

    /// Ends the turn.
    #[must_use]
    pub fn end(stop: StopReason, message: Option<&str>) -> Self {
        EntryBody::TurnEnded { turn: TurnId::new(), stop, message: message.map(str::to_owned) }.into()
    }

    /// Ends the turn because the model could not be reached.
    #[must_use]
    pub fn fail(message: &str) -> Self {
        Self::end(StopReason::ModelError, Some(message))
    }

    /// What is to be played, in order.
    pub(super) fn beats(self) -> Vec<Beat> {
        match self {
            Self::Entry(body) => vec![Beat::Entry(*body)],
            Self::Event(body) => vec![Beat::Event(*body)],
            Self::Hold(gate) => vec![Beat::Hold(gate)],
            Self::Calls(calls) => FakeCall::beats(calls),
            Self::Say { reasoning, text } => {
                let mut beats = vec![Beat::StepStart];
                if !reasoning.is_empty() {
                    let body = AssistantPart::Reasoning { text: reasoning.clone(), opaque: None };
                    beats.extend(part(PartKind::Reasoning, &reasoning, body));
                }
                if !text.is_empty() {
                    beats.extend(part(PartKind::Text, &text, AssistantPart::Text { text: text.clone() }));
                }
                beats.push(Beat::StepEnd(Finish::Stop));
                beats
            }
        }
    }
}

impl From<EntryBody> for Act {
    fn from(body: EntryBody) -> Self {
        Self::Entry(Box::new(body))
    }
}

impl From<EventBody> for Act {
    fn from(body: EventBody) -> Self {
        Self::Event(Box::new(body))
    }
}

impl From<FakeCall> for Act {
    fn from(call: FakeCall) -> Self {
        Self::call(call)
    }
}

/// One thing that a session does.
#[derive(Debug, Clone)]
pub(super) enum Beat {
    Entry(EntryBody),
    Event(EventBody),
    StepStart,
    StepEnd(Finish),
    /// Asks without waiting.
    Ask(EntryBody),
    Await(AskId),
    /// Runs a call that was proposed, if it may.
    Run(Box<FakeCall>),
    Hold(String),
}

/// A part of the model's answer: its deltas, then its entry.
pub(super) fn part(kind: PartKind, text: &str, body: AssistantPart) -> Vec<Beat> {
    let (turn, part) = (TurnId::new(), PartId::new());
    let characters: Vec<char> = text.chars().collect();
    let mut beats: Vec<Beat> = characters
        .chunks(DELTA)
        .map(|delta| {
            let (turn, part, kind) = (turn.clone(), part.clone(), kind.clone());
            Beat::Event(EventBody::PartDelta { turn, part, kind, delta: delta.iter().collect() })
        })
        .collect();
    beats.push(Beat::Entry(EntryBody::Part { turn, part, body }));
    beats
}

/// The same body, in the turn where it is played.
pub(super) fn entry_in_turn(body: EntryBody, here: &TurnId) -> EntryBody {
    let turn = here.clone();
    match body {
        EntryBody::Queued { content, delivery, .. } => EntryBody::Queued { turn, content, delivery },
        EntryBody::User { content, delivery, queued, author, .. } => {
            EntryBody::User { turn, content, delivery, queued, author }
        }
        EntryBody::StepStarted { step, model, .. } => EntryBody::StepStarted { turn, step, model },
        EntryBody::Part { part, body, .. } => EntryBody::Part { turn, part, body },
        EntryBody::StepEnded { step, finish, usage, cost, .. } => {
            EntryBody::StepEnded { turn, step, finish, usage, cost, cache: None }
        }
        EntryBody::Asked { mut ask } => {
            ask.turn = turn;
            EntryBody::Asked { ask }
        }
        EntryBody::TurnEnded { stop, message, .. } => EntryBody::TurnEnded { turn, stop, message },
        other @ (EntryBody::Decided { .. }
        | EntryBody::CallStarted { .. }
        | EntryBody::CallEnded { .. }
        | EntryBody::ModelChanged { .. }
        | EntryBody::ModeChanged { .. }
        | EntryBody::Recovered { .. }
        | EntryBody::QueueChanged { .. }
        | EntryBody::Pruned { .. }
        | EntryBody::Compacted { .. }
        | EntryBody::Travelled { .. }
        | EntryBody::PersonRan { .. }
        | EntryBody::Titled { .. }
        | EntryBody::EffortChanged { .. }) => other,
    }
}

/// The same body, in the turn where it is played.
pub(super) fn event_in_turn(body: EventBody, here: &TurnId) -> EventBody {
    let turn = here.clone();
    match body {
        EventBody::Entry { mut entry } => {
            entry.body = entry_in_turn(entry.body, here);
            EventBody::Entry { entry }
        }
        EventBody::PartDelta { part, kind, delta, .. } => EventBody::PartDelta { turn, part, kind, delta },
        EventBody::Retrying { attempt, delay_ms, error, .. } => {
            EventBody::Retrying { turn, attempt, delay_ms, error }
        }
        other @ (EventBody::CallOutput { .. }
        | EventBody::Job { .. }
        | EventBody::Compacting { .. }
        | EventBody::PersonRuns { .. }
        | EventBody::Notice { .. }
        | EventBody::Broken { .. }) => other,
    }
}
