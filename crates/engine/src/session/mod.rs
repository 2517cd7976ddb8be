//! One open session: its actor, and the handle that the service holds.

mod activity;
mod actor;
mod bench;
pub(crate) mod fork;
mod gatekeeper;
pub(crate) mod grants;
mod journal;
pub(crate) mod link;
pub(crate) mod note;
pub(crate) mod place;
mod queue;
pub(crate) mod tree;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rein_protocol::transcript::Transcript;
use rein_protocol::{
    CallId, CompactionReason, Content, ContextPart, Cost, Effort, EntryId, EventStream, GivenGrant, Mode,
    ModelRef, Prompt, Reply, Seq, ServiceError, SessionChange, SessionId, SessionState, Snapshot, Timestamp,
    TurnId, Usage,
};
use rein_store::{Lease, SessionRecord, Store};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::hub::Hub;
use crate::options::EngineOptions;
use crate::prompt::{PromptRequest, SystemPrompt};
use crate::recover::Closing;
use crate::service::{Parts, store_error};
use crate::spending::Ledger;
use actor::Actor;
pub(crate) use actor::person::given_title;
use journal::Journal;
use link::{Answer, Link, Message, Wish};

/// How many messages may wait for the actor.
const MAILBOX: usize = 256;

/// What is needed to open a session.
pub(crate) struct Opening {
    pub(crate) record: SessionRecord,
    pub(crate) workspace: PathBuf,
    pub(crate) lease: Lease,
    /// What was used and paid on other branches; found out while it is opened.
    pub(crate) elsewhere: (Usage, Cost),
    pub(crate) model: Option<ModelRef>,
    pub(crate) mode: Option<Mode>,
}

/// Reaches an open session.
#[derive(Clone)]
pub(crate) struct Handle {
    session: SessionId,
    workspace: PathBuf,
    link: Link,
    hub: Hub,
    /// When the last handle is gone, the session is closed.
    _owner: Arc<DropGuard>,
}

/// Reads the branch, recovers it if its process had died, and starts the actor.
pub(crate) async fn open(parts: Arc<Parts>, mut opening: Opening) -> Result<Handle, ServiceError> {
    let session = opening.record.id.clone();
    let store = parts.options.store.clone();
    let branch = store.branch(&session).await.map_err(store_error)?;
    opening.elsewhere = place::spent_elsewhere(&store, &session, &branch).await.map_err(store_error)?;
    let root = store.root().to_owned();
    // Nothing depends on it.
    let _ = tokio::task::spawn_blocking(move || crate::scratch::clear_old(&root)).await;
    let hub = Hub::new(session.clone(), opening.record.last_seq.next_epoch());
    let transcript = Transcript::of(&branch);
    let open_turn = transcript.turn.as_ref().map(|turn| &turn.id);
    let caps = parts.options.settings.caps.clone();
    let ledger = Arc::new(Ledger::begin(caps, store.clone(), branch.iter(), open_turn));
    let mut journal = Journal::new(session.clone(), store, hub.clone(), branch, Arc::clone(&ledger));
    let due = crate::closing::is_due(&parts.options, opening.record.mode, journal.entries());
    let closing = if due { Closing::Due } else { Closing::Over };
    let recovery = crate::recover::on_opening(&transcript, journal.entries(), closing);
    journal.append(recovery).await.map_err(store_error)?;

    let prompt = system_prompt(&parts.options, &opening.workspace, opening.record.created);
    let bench = bench::workbench(&parts, &session, &opening.workspace, &transcript, prompt, ledger);
    let bench = Arc::new(bench);
    let (sender, mailbox) = mpsc::channel(MAILBOX);
    let link = Link::new(sender);
    let abandoned = CancellationToken::new();
    let owner = Arc::new(abandoned.clone().drop_guard());
    let workspace = opening.workspace.clone();
    let handle = Handle { session, workspace, link: link.clone(), hub: hub.clone(), _owner: owner };
    let change = SessionChange { model: opening.model.clone(), mode: opening.mode, effort: None };
    tokio::spawn(Actor::new(parts, opening, journal, hub, link, bench).run(mailbox, abandoned));
    handle.change(change).await?;
    Ok(handle)
}

/// What the system prompt of a session in a workspace is made of.
pub(crate) fn system_prompt(options: &EngineOptions, workspace: &Path, began: Timestamp) -> SystemPrompt {
    let may_read = gatekeeper::read_filter(options, workspace);
    let config = options.directories.as_ref().map(|directories| directories.config.as_path());
    SystemPrompt::load(&PromptRequest { workspace, config, began, may_read: &|path| may_read(path) })
}

impl Handle {
    pub(crate) fn session(&self) -> &SessionId {
        &self.session
    }

    /// Where it works.
    pub(crate) fn workspace(&self) -> &Path {
        &self.workspace
    }

    pub(crate) fn is_alive(&self) -> bool {
        !self.link.is_closed()
    }

    /// The place of the last event.
    pub(crate) fn last_seq(&self) -> Seq {
        self.hub.last()
    }

    pub(crate) async fn prompt(&self, prompt: Prompt) -> Result<TurnId, ServiceError> {
        self.ask(|answer| Message::Prompt { prompt, answer }).await
    }

    pub(crate) async fn resume(&self) -> Result<Option<TurnId>, ServiceError> {
        self.ask(|answer| Message::Resume { answer }).await
    }

    pub(crate) async fn interrupt(&self) -> Result<(), ServiceError> {
        self.ask(|answer| Message::Interrupt { answer }).await
    }

    pub(crate) async fn reply(&self, reply: Reply) -> Result<(), ServiceError> {
        self.ask(|answer| Message::Reply { reply, answer }).await
    }

    pub(crate) async fn change(&self, change: SessionChange) -> Result<(), ServiceError> {
        self.ask(|answer| Message::Change { change, answer }).await
    }

    pub(crate) async fn requeue(
        &self,
        queued: EntryId,
        content: Option<Vec<Content>>,
    ) -> Result<(), ServiceError> {
        self.ask(|answer| Message::Requeue { queued, content, answer }).await
    }

    pub(crate) async fn compact(&self, focus: Option<String>) -> Result<(), ServiceError> {
        self.ask(|answer| Message::Compact { wish: Wish { focus, reason: CompactionReason::Manual }, answer })
            .await
    }

    pub(crate) async fn context(&self) -> Result<Vec<ContextPart>, ServiceError> {
        self.ask(|answer| Message::Context { answer }).await
    }

    pub(crate) async fn travel(&self, to: Option<EntryId>) -> Result<(), ServiceError> {
        self.ask(|answer| Message::Travel { to, answer }).await
    }

    pub(crate) async fn rename(&self, title: String) -> Result<(), ServiceError> {
        self.ask(|answer| Message::Rename { title, answer }).await
    }

    pub(crate) async fn shell(&self, command: String) -> Result<CallId, ServiceError> {
        self.ask(|answer| Message::Shell { command, answer }).await
    }

    pub(crate) async fn grants(&self) -> Result<Vec<GivenGrant>, ServiceError> {
        self.ask(|answer| Message::Grants { answer }).await
    }

    pub(crate) async fn revoke(&self, grant: GivenGrant) -> Result<(), ServiceError> {
        self.ask(|answer| Message::Revoke { grant, answer }).await
    }

    pub(crate) async fn state(&self) -> Result<(SessionState, Option<Effort>), ServiceError> {
        self.ask(|answer| Message::State { answer }).await
    }

    pub(crate) async fn snapshot(&self) -> Result<Snapshot, ServiceError> {
        self.ask(|answer| Message::Snapshot { answer }).await
    }

    pub(crate) async fn close(&self) -> Result<(), ServiceError> {
        self.ask(|answer| Message::Close { answer }).await
    }

    pub(crate) fn subscribe(&self, store: Store, after: Seq) -> EventStream {
        self.hub.subscribe(store, after)
    }

    async fn ask<T>(&self, message: impl FnOnce(Answer<T>) -> Message) -> Result<T, ServiceError> {
        let gone = || ServiceError::NotOpen { session: self.session.clone() };
        self.link.ask(message).await.unwrap_or_else(|| Err(gone()))
    }
}
