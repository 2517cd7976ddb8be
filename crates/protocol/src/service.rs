//! The one door between a face and the engine.
//!
//! The engine implements [`Service`] in process and a client implements it over
//! a connection; every face consumes `Arc<dyn Service>` and nothing else.

use std::path::PathBuf;
use std::pin::Pin;

use async_trait::async_trait;
use futures_core::Stream;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::ask::{Ask, Reply};
use crate::compaction::ContextUse;
use crate::entry::{Delivery, Entry};
use crate::event::{Event, SessionState};
use crate::id::{AskId, EntryId, Seq, SessionId, Timestamp, TurnId};
use crate::intent::Mode;
use crate::job::JobInfo;
use crate::message::{Content, ModelRef};
use crate::usage::{Cost, Usage};

/// The events of a session, in order. It ends when the session is closed.
pub type EventStream = Pin<Box<dyn Stream<Item = Event> + Send>>;

/// What a face can ask of the engine.
///
/// Contract for implementers: every method may be called from any task at any
/// time; an error changes nothing; dropping a returned future changes nothing
/// that the call had not yet made durable; no method waits for a turn to end.
#[async_trait]
pub trait Service: Send + Sync {
    /// Opens a session: a new one, or one that exists. Opening one that this
    /// service has open already returns it as it is. A session whose process
    /// had died is recovered: calls that had begun are closed with their
    /// effects unknown, and its state is `Broken` until it is continued or
    /// prompted.
    async fn open(&self, request: OpenSession) -> Result<SessionInfo, ServiceError>;

    /// Says something to the agent. Returns once the message is durable, with
    /// the turn that it starts, joins or will start.
    async fn prompt(&self, session: &SessionId, prompt: Prompt) -> Result<TurnId, ServiceError>;

    /// Goes on with a turn that had broken off. `None` if there is none.
    async fn resume(&self, session: &SessionId) -> Result<Option<TurnId>, ServiceError>;

    /// Stops what is under way: the stream is dropped, running calls are
    /// killed, asks are withdrawn, the turn ends as interrupted. What is queued
    /// stays queued until the next prompt. Without a turn under way it does
    /// nothing.
    async fn interrupt(&self, session: &SessionId) -> Result<(), ServiceError>;

    /// Answers an ask. An ask that is unknown or settled is an error.
    async fn reply(&self, session: &SessionId, reply: Reply) -> Result<(), ServiceError>;

    /// Changes the model or the mode from the next step on.
    async fn change(&self, session: &SessionId, change: SessionChange) -> Result<(), ServiceError>;

    /// Changes what a message that waits says, or takes it back if `content` is
    /// absent. One that has been delivered in the meantime is an error.
    async fn requeue(
        &self,
        session: &SessionId,
        queued: &EntryId,
        content: Option<Vec<Content>>,
    ) -> Result<(), ServiceError>;

    /// Makes room in the model's window: what was said so far is replaced by a
    /// summary, with a view to `focus` if there is one. Returns once that is
    /// under way, or, while a turn is, once it is settled that it happens
    /// before the turn's next step. An [`EntryBody::Compacted`] says when it is
    /// done; an interrupt leaves everything as it was.
    ///
    /// [`EntryBody::Compacted`]: crate::entry::EntryBody::Compacted
    async fn compact(&self, session: &SessionId, focus: Option<String>) -> Result<(), ServiceError>;

    /// The sessions in the store, the last used first.
    async fn list(&self, filter: SessionFilter) -> Result<Vec<SessionInfo>, ServiceError>;

    /// A session as it is now. It need not be open.
    async fn get(&self, session: &SessionId) -> Result<Snapshot, ServiceError>;

    /// Every event after `after`, then those to come. No entry is missing and
    /// nothing comes twice. Deltas of what has been completed meanwhile may be
    /// left out, because the entry that completes it has it whole; of what is
    /// still open every delta comes. Of the output of a running call only the
    /// latest part is kept for those who come late.
    async fn subscribe(&self, session: &SessionId, after: Seq) -> Result<EventStream, ServiceError>;

    /// Ends a session's activity in this process: what is under way is
    /// interrupted, and everything is durable when this returns. A session that
    /// is not open stays as it is.
    async fn close(&self, session: &SessionId) -> Result<(), ServiceError>;
}

/// Which session to open, and how.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct OpenSession {
    /// An existing session, or a new one if absent.
    #[serde(default)]
    pub session: Option<SessionId>,
    /// The workspace. For an existing session, the one it had if absent.
    #[serde(default)]
    pub workspace: Option<PathBuf>,
    /// The model. For an existing session, the one it had if absent.
    #[serde(default)]
    pub model: Option<ModelRef>,
    /// The mode. For an existing session, the one it had if absent.
    #[serde(default)]
    pub mode: Option<Mode>,
}

/// Something said to the agent.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prompt {
    /// What is said.
    pub content: Vec<Content>,
    /// When it is to be delivered.
    #[serde(default)]
    pub delivery: Delivery,
}

impl Prompt {
    /// Words, to be delivered as a prompt.
    pub fn text(text: impl Into<String>) -> Self {
        Self { content: vec![Content::text(text)], delivery: Delivery::Prompt }
    }
}

/// What to change about a session. What is absent stays.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SessionChange {
    /// Another model.
    #[serde(default)]
    pub model: Option<ModelRef>,
    /// Another mode.
    #[serde(default)]
    pub mode: Option<Mode>,
}

/// Which sessions to list.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct SessionFilter {
    /// Only those of this workspace.
    #[serde(default)]
    pub workspace: Option<PathBuf>,
    /// At most this many; all if absent.
    #[serde(default)]
    pub limit: Option<usize>,
}

/// What a list shows of a session.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct SessionInfo {
    /// Its name.
    pub id: SessionId,
    /// Where it works.
    #[serde(with = "crate::path_text")]
    #[schemars(with = "String")]
    pub workspace: PathBuf,
    /// What it is about: the beginning of the first prompt.
    pub title: String,
    /// The model that answers.
    #[serde(default)]
    pub model: Option<ModelRef>,
    /// The mode that holds.
    pub mode: Mode,
    /// When it began.
    pub created: Timestamp,
    /// When something was last appended.
    pub updated: Timestamp,
    /// How many entries it has.
    pub entries: u64,
    /// The place of its last entry: subscribing after it gives everything that follows.
    pub seq: Seq,
    /// What it is doing. For a session that is not open here: idle or broken.
    pub state: SessionState,
}

/// A session as it was at one moment.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Snapshot {
    /// The session.
    pub info: SessionInfo,
    /// Its current branch, first to last.
    pub entries: Vec<Entry>,
    /// The asks that wait for an answer.
    pub asks: Vec<Ask>,
    /// Commands in the background.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobInfo>,
    /// What has come of parts and calls that are still open, first to last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub open: Vec<Event>,
    /// Subscribing after this gives exactly what is not in here.
    pub seq: Seq,
    /// All tokens so far.
    pub usage: Usage,
    /// All money so far.
    pub cost: Cost,
    /// How full the model's window is, where that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub context: Option<ContextUse>,
}

/// Why the engine did not do what was asked.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ServiceError {
    /// There is no such session.
    #[error("there is no session {session}")]
    UnknownSession {
        /// The session asked for.
        session: SessionId,
    },
    /// The session exists and must be opened first.
    #[error("session {session} is not open")]
    NotOpen {
        /// The session asked for.
        session: SessionId,
    },
    /// Another rein process works in this session.
    #[error("session {session} is in use by another rein process{}", .pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default())]
    InUse {
        /// The session asked for.
        session: SessionId,
        /// That process, where it is known.
        pid: Option<u32>,
    },
    /// The ask was never made or has been settled.
    #[error("ask {ask} is not waiting for an answer")]
    UnknownAsk {
        /// The ask replied to.
        ask: AskId,
    },
    /// The message does not wait any more, or never did.
    #[error("message {queued} is not waiting: it has been delivered or taken back")]
    NotQueued {
        /// The entry with which it was queued.
        queued: EntryId,
    },
    /// The request makes no sense.
    #[error("{message}")]
    Invalid {
        /// What is wrong with it and what to do.
        message: String,
    },
    /// The model cannot be used.
    #[error("{message}")]
    Model {
        /// Why, and what to do.
        message: String,
    },
    /// The store failed.
    #[error("the session store failed: {message}")]
    Store {
        /// What it said.
        message: String,
    },
    /// The connection to the engine failed.
    #[error("the engine is not reachable: {message}")]
    Unreachable {
        /// What was seen.
        message: String,
    },
}
