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

use crate::ask::{Ask, Grant, Reply, Scope};
use crate::compaction::ContextUse;
use crate::context::ContextPart;
use crate::effort::Effort;
use crate::entry::{Delivery, Entry};
use crate::event::{Event, SessionState};
use crate::id::{AskId, CallId, EntryId, Seq, SessionId, Timestamp, TurnId};
use crate::intent::Mode;
use crate::job::JobInfo;
use crate::message::{Content, ModelRef};
use crate::tree::TreeNode;
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

    /// A new session that begins with a summary of this one, with a view to `focus` if there is one. This
    /// one stays as it is. Takes as long as the summary does.
    async fn handoff(&self, session: &SessionId, focus: Option<String>) -> Result<SessionInfo, ServiceError>;

    /// Goes to an earlier place of the tree, or to before everything: what comes next follows on that entry.
    /// What had been said since stays in the tree. The mode and the model stay as they are now. Refused while
    /// a turn is under way.
    async fn travel(&self, session: &SessionId, to: Option<EntryId>) -> Result<(), ServiceError>;

    /// A new session that has everything of this one's active branch up to an entry, that included; all of it
    /// if absent. The session need not be open, and the new one is not.
    async fn fork(&self, session: &SessionId, at: Option<EntryId>) -> Result<SessionInfo, ServiceError>;

    /// The places of a session to which one can travel, oldest first. The session need not be open.
    async fn tree(&self, session: &SessionId) -> Result<Vec<TreeNode>, ServiceError>;

    /// Names a session.
    async fn rename(&self, session: &SessionId, title: String) -> Result<(), ServiceError>;

    /// Runs a command of the person in the workspace, with the person's own rights and without asking. Returns
    /// once it runs; [`interrupt`](Self::interrupt) ends it. The model reads of it with the next message.
    async fn shell(&self, session: &SessionId, command: String) -> Result<CallId, ServiceError>;

    /// Writes a line into the instructions that every later session reads, and returns the file.
    async fn remember(
        &self,
        session: &SessionId,
        note: String,
        place: MemoryPlace,
    ) -> Result<PathBuf, ServiceError>;

    /// What a person allowed for longer than once, as far as it holds in this session.
    async fn grants(&self, session: &SessionId) -> Result<Vec<GivenGrant>, ServiceError>;

    /// Takes a grant back from now on.
    async fn revoke(&self, session: &SessionId, grant: GivenGrant) -> Result<(), ServiceError>;

    /// What the next request of a session would consist of, and why.
    async fn context(&self, session: &SessionId) -> Result<Vec<ContextPart>, ServiceError>;

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
    /// How much the model thinks from now on.
    #[serde(default)]
    pub effort: Option<Effort>,
}

/// Where something is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum MemoryPlace {
    /// In the instructions of the project.
    #[default]
    Project,
    /// In the instructions of the user, for all projects.
    User,
}

/// Something that a person allowed for longer than once.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct GivenGrant {
    /// What is allowed.
    pub grant: Grant,
    /// Where it holds.
    pub scope: Scope,
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
    /// How much the model thinks, if that was said for this session.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effort: Option<Effort>,
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
