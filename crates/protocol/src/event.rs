//! What faces are told while it happens.
//!
//! Durable things arrive as [`EventBody::Entry`]; the rest is ephemeral and is
//! superseded by an entry: the deltas of a part by the part, the output of a
//! call by its end. So a subscriber that was away needs the entries it missed
//! and the deltas of what is still open, and nothing else.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::compaction::CompactionReason;
use crate::entry::Entry;
use crate::id::{CallId, PartId, Seq, SessionId, TurnId};
use crate::job::JobInfo;

/// Something that happened in a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Event {
    /// In which session.
    pub session: SessionId,
    /// Its place; strictly increasing within the session.
    pub seq: Seq,
    /// What happened.
    #[serde(flatten)]
    pub body: EventBody,
}

/// What happened.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum EventBody {
    /// An entry was appended and is durable.
    Entry {
        /// The entry.
        entry: Box<Entry>,
    },
    /// A part of the model's answer grew.
    PartDelta {
        /// In which turn.
        turn: TurnId,
        /// Which part; the entry that completes it has the same id.
        part: PartId,
        /// What it is a part of.
        kind: PartKind,
        /// What was added.
        delta: String,
    },
    /// A running call printed something.
    CallOutput {
        /// Which call.
        call: CallId,
        /// What was added.
        delta: String,
    },
    /// A command in the background began, changed or ended.
    Job {
        /// As it is now.
        job: JobInfo,
    },
    /// A model call failed and is going to be tried again.
    Retrying {
        /// In which turn.
        turn: TurnId,
        /// The try that is coming, counted from 2.
        attempt: u32,
        /// How long is waited before it.
        delay_ms: u64,
        /// What went wrong.
        error: String,
    },
    /// Room is being made in the model's window. A [`Compacted`](crate::EntryBody::Compacted) entry, a
    /// [`Notice`](Self::Notice) or the end of the turn follows.
    Compacting {
        /// Why.
        reason: CompactionReason,
    },
    /// The person's own command runs; its output comes as [`CallOutput`](Self::CallOutput), its end as a
    /// [`PersonRan`](crate::EntryBody::PersonRan) entry.
    PersonRuns {
        /// Names its output.
        call: CallId,
        /// What was run.
        command: String,
    },
    /// Something that a person should know now: a budget that is nearly spent, a key that was changed for
    /// another, a summary that could not be made.
    Notice {
        /// What.
        message: String,
    },
    /// The session cannot go on in this process, because nothing can be made
    /// durable any more. It ends here and can be opened again.
    Broken {
        /// What failed, and what to do.
        message: String,
    },
}

/// What a delta is a piece of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum PartKind {
    /// Words for the person.
    Text,
    /// Thinking aloud.
    Reasoning,
    /// The arguments of a call, as JSON text.
    Call {
        /// The tool's name.
        tool: String,
    },
}

/// What a session is doing.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SessionState {
    /// Waiting for a prompt.
    Idle,
    /// A turn is under way.
    Running {
        /// Which.
        turn: TurnId,
    },
    /// A turn was under way when rein's process died; it can be continued.
    Broken {
        /// Which.
        turn: TurnId,
    },
}
