//! One open session: its actor, and the handle that the service holds.

mod activity;
mod actor;
mod bench;
mod gatekeeper;
mod journal;
pub(crate) mod link;
mod queue;

use std::path::Path;
use std::sync::Arc;

use rein_protocol::transcript::Transcript;
use rein_protocol::{
    Content, EntryId, EventStream, Mode, ModelRef, Prompt, Reply, Seq, ServiceError, SessionChange,
    SessionId, SessionState, Snapshot, Timestamp, TurnId,
};
use rein_store::{Lease, SessionRecord, Store};
use tokio::sync::mpsc;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::hub::Hub;
use crate::options::EngineOptions;
use crate::prompt::{PromptPart, PromptRequest};
use crate::recover::Closing;
use crate::service::{Parts, store_error};
use crate::spending::Ledger;
use actor::Actor;
use journal::Journal;
use link::{Answer, Link, Message, Wish};

/// How many messages may wait for the actor.
const MAILBOX: usize = 256;

/// What is needed to open a session.
pub(crate) struct Opening {
    pub(crate) record: SessionRecord,
    pub(crate) workspace: std::path::PathBuf,
    pub(crate) lease: Lease,
    pub(crate) model: Option<ModelRef>,
    pub(crate) mode: Option<Mode>,
}

/// Reaches an open session.
#[derive(Clone)]
pub(crate) struct Handle {
    session: SessionId,
    link: Link,
    hub: Hub,
    /// When the last handle is gone, the session is closed.
    _owner: Arc<DropGuard>,
}

/// Reads the branch, recovers it if its process had died, and starts the actor.
pub(crate) async fn open(parts: Arc<Parts>, opening: Opening) -> Result<Handle, ServiceError> {
    let session = opening.record.id.clone();
    let store = parts.options.store.clone();
    let branch = store.branch(&session).await.map_err(store_error)?;
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

    let system =
        crate::prompt::blocks(&prompt_parts(&parts.options, &opening.workspace, opening.record.created));
    let bench = Arc::new(bench::workbench(&parts, &session, &opening.workspace, &transcript, system, ledger));
    let (sender, mailbox) = mpsc::channel(MAILBOX);
    let link = Link::new(sender);
    let abandoned = CancellationToken::new();
    let owner = Arc::new(abandoned.clone().drop_guard());
    let handle = Handle { session, link: link.clone(), hub: hub.clone(), _owner: owner };
    let change = SessionChange { model: opening.model.clone(), mode: opening.mode, effort: None };
    tokio::spawn(Actor::new(parts, opening, journal, hub, link, bench).run(mailbox, abandoned));
    handle.change(change).await?;
    Ok(handle)
}

/// What the system prompt of a session in a workspace is made of.
pub(crate) fn prompt_parts(options: &EngineOptions, workspace: &Path, began: Timestamp) -> Vec<PromptPart> {
    let may_read = gatekeeper::read_filter(options, workspace);
    let config = options.directories.as_ref().map(|directories| directories.config.as_path());
    crate::prompt::parts(&PromptRequest { workspace, config, began, may_read: &|path| may_read(path) })
}

impl Handle {
    pub(crate) fn session(&self) -> &SessionId {
        &self.session
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
        self.ask(|answer| Message::Compact { wish: Wish { focus }, answer }).await
    }

    pub(crate) async fn state(&self) -> Result<SessionState, ServiceError> {
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
