//! The engine: every open session of this process, behind `protocol::Service`.
//!
//! This file only finds sessions and opens them; what happens in one is its
//! actor's business.

mod past;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use rein_protocol::transcript::{Liveness, Transcript};
use rein_protocol::{
    CallId, Content, ContextPart, Cost, Effort, Entry, EntryId, EventStream, GivenGrant, MemoryPlace,
    ModelRef, OpenSession, Prompt, Reply, Seq, Service, ServiceError, SessionChange, SessionFilter,
    SessionId, SessionInfo, SessionState, Snapshot, Timestamp, TreeNode, TurnId, Usage,
};
use rein_store::{NewSession, SessionQuery, SessionRecord, Store, StoreError};

use crate::options::EngineOptions;
use crate::prompt::PromptPart;
use crate::session::{self, Handle, Opening, place};
use crate::turn::describe;

/// The engine.
pub struct Engine {
    parts: Arc<Parts>,
    sessions: Mutex<HashMap<SessionId, Handle>>,
    /// Held while a session is being opened, so that two openings of one session become one.
    opening: tokio::sync::Mutex<()>,
}

/// What every session of an engine shares.
pub(crate) struct Parts {
    pub(crate) options: EngineOptions,
    pub(crate) models: Arc<rein_llm::Models>,
    pub(crate) tools: Arc<rein_tools::Registry>,
}

impl Engine {
    /// An engine of these parts. It does nothing until a session is opened.
    #[must_use]
    pub fn new(options: EngineOptions) -> Arc<Self> {
        let (models, tools) = (Arc::clone(&options.models), Arc::clone(&options.tools));
        let parts = Parts { options, models, tools };
        Arc::new(Self {
            parts: Arc::new(parts),
            sessions: Mutex::new(HashMap::new()),
            opening: tokio::sync::Mutex::new(()),
        })
    }

    /// Everything that is sent with every request to a model of a session that begins now, and why.
    #[must_use]
    pub fn prompt_parts(&self, workspace: &Path, model: Option<&ModelRef>) -> Vec<PromptPart> {
        let prompt = session::system_prompt(&self.parts.options, workspace, Timestamp::now());
        crate::request::prompt_parts(&prompt, &self.parts, model)
    }

    fn store(&self) -> &Store {
        &self.parts.options.store
    }

    fn handle(&self, session: &SessionId) -> Result<Handle, ServiceError> {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        let handle = sessions.get(session).filter(|handle| handle.is_alive());
        handle.cloned().ok_or_else(|| ServiceError::NotOpen { session: session.clone() })
    }

    /// The last place that this engine gave away in a session, also to events that were not kept.
    fn last_told(&self, session: &SessionId) -> Seq {
        let sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        sessions.get(session).map_or(Seq::START, Handle::last_seq)
    }

    /// Lets go of a session that is over.
    fn forget(&self, session: &SessionId) {
        let mut sessions = self.sessions.lock().unwrap_or_else(PoisonError::into_inner);
        // It may have been opened again in the meantime.
        if sessions.get(session).is_some_and(|handle| !handle.is_alive()) {
            sessions.remove(session);
        }
    }

    async fn record(&self, session: &SessionId) -> Result<SessionRecord, ServiceError> {
        let found = self.store().session(session).await.map_err(store_error)?;
        found.ok_or_else(|| ServiceError::UnknownSession { session: session.clone() })
    }

    /// The session to open, created if it is new.
    async fn find_or_create(&self, request: &OpenSession) -> Result<SessionRecord, ServiceError> {
        if let Some(session) = &request.session {
            return self.record(session).await;
        }
        let workspace = request
            .workspace
            .clone()
            .ok_or_else(|| ServiceError::Invalid { message: "a new session needs a workspace".to_owned() })?;
        if let Some(model) = &request.model {
            // Before anything is created, so that a wrong name leaves no empty session behind.
            self.parts
                .models
                .resolve(model)
                .map_err(|error| ServiceError::Model { message: describe(&error) })?;
        }
        let new = NewSession {
            id: SessionId::new(),
            workspace: existing_directory(workspace)?,
            model: request.model.clone(),
            mode: request.mode.unwrap_or(self.parts.options.settings.mode),
            at: Timestamp::now(),
        };
        let id = new.id.clone();
        self.store().create_session(new).await.map_err(store_error)?;
        self.record(&id).await
    }

    /// What a list shows of a session, with what it is doing in this process.
    async fn describe(&self, record: SessionRecord) -> SessionInfo {
        let live = match self.handle(&record.id) {
            Ok(handle) => handle.state().await.ok(),
            Err(_) => None,
        };
        let stored = match &record.open_turn {
            None => SessionState::Idle,
            Some(turn) => SessionState::Broken { turn: turn.clone() },
        };
        let (state, effort) = live.unwrap_or((stored, None));
        info(record, effort, state)
    }
}

/// A session's record, as a face sees it.
pub(crate) fn info(record: SessionRecord, effort: Option<Effort>, state: SessionState) -> SessionInfo {
    SessionInfo {
        id: record.id,
        workspace: record.workspace,
        title: record.title,
        model: record.model,
        mode: record.mode,
        effort,
        created: record.created,
        updated: record.updated,
        entries: record.entries,
        seq: record.last_seq,
        state,
    }
}

#[async_trait]
impl Service for Engine {
    async fn open(&self, request: OpenSession) -> Result<SessionInfo, ServiceError> {
        let _one_at_a_time = self.opening.lock().await;
        if let Some(handle) = request.session.as_ref().and_then(|session| self.handle(session).ok()) {
            handle.change(SessionChange { model: request.model, mode: request.mode, effort: None }).await?;
            let record = self.record(handle.session()).await?;
            return Ok(self.describe(record).await);
        }
        let mut record = self.find_or_create(&request).await?;
        record.last_seq = record.last_seq.max(self.last_told(&record.id));
        let workspace = match request.workspace {
            Some(workspace) => existing_directory(workspace)?,
            None => existing_directory(record.workspace.clone())?,
        };
        let lease = self.store().lease(&record.id).await.map_err(store_error)?;
        let id = record.id.clone();
        let (model, mode) = (request.model, request.mode);
        let opening =
            Opening { record, workspace, lease, elsewhere: (Usage::default(), Cost::ZERO), model, mode };
        let handle = session::open(Arc::clone(&self.parts), opening).await?;
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner).insert(id.clone(), handle);
        let record = self.record(&id).await?;
        Ok(self.describe(record).await)
    }

    async fn prompt(&self, session: &SessionId, prompt: Prompt) -> Result<TurnId, ServiceError> {
        self.handle(session)?.prompt(prompt).await
    }

    async fn resume(&self, session: &SessionId) -> Result<Option<TurnId>, ServiceError> {
        self.handle(session)?.resume().await
    }

    async fn interrupt(&self, session: &SessionId) -> Result<(), ServiceError> {
        self.handle(session)?.interrupt().await
    }

    async fn reply(&self, session: &SessionId, reply: Reply) -> Result<(), ServiceError> {
        self.handle(session)?.reply(reply).await
    }

    async fn change(&self, session: &SessionId, change: SessionChange) -> Result<(), ServiceError> {
        self.handle(session)?.change(change).await
    }

    async fn requeue(
        &self,
        session: &SessionId,
        queued: &EntryId,
        content: Option<Vec<Content>>,
    ) -> Result<(), ServiceError> {
        self.handle(session)?.requeue(queued.clone(), content).await
    }

    async fn compact(&self, session: &SessionId, focus: Option<String>) -> Result<(), ServiceError> {
        self.handle(session)?.compact(focus).await
    }

    async fn handoff(&self, session: &SessionId, focus: Option<String>) -> Result<SessionInfo, ServiceError> {
        let record = self.record(session).await?;
        let branch = match self.handle(session) {
            Ok(handle) => handle.snapshot().await?.entries,
            Err(_) => self.store().branch(session).await.map_err(store_error)?,
        };
        let id = crate::room::hand_over(&self.parts, &record, &branch, focus.as_deref()).await?;
        let record = self.record(&id).await?;
        Ok(self.describe(record).await)
    }

    async fn travel(&self, session: &SessionId, to: Option<EntryId>) -> Result<(), ServiceError> {
        self.handle(session)?.travel(to).await
    }

    async fn fork(&self, session: &SessionId, at: Option<EntryId>) -> Result<SessionInfo, ServiceError> {
        self.fork_of(session, at).await
    }

    async fn tree(&self, session: &SessionId) -> Result<Vec<TreeNode>, ServiceError> {
        self.tree_of(session).await
    }

    async fn rename(&self, session: &SessionId, title: String) -> Result<(), ServiceError> {
        self.name(session, title).await
    }

    async fn shell(&self, session: &SessionId, command: String) -> Result<CallId, ServiceError> {
        self.handle(session)?.shell(command).await
    }

    async fn remember(
        &self,
        session: &SessionId,
        note: String,
        place: MemoryPlace,
    ) -> Result<PathBuf, ServiceError> {
        self.note_down(session, note, place).await
    }

    async fn grants(&self, session: &SessionId) -> Result<Vec<GivenGrant>, ServiceError> {
        self.grants_of(session).await
    }

    async fn revoke(&self, session: &SessionId, grant: GivenGrant) -> Result<(), ServiceError> {
        self.take_back(session, grant).await
    }

    async fn context(&self, session: &SessionId) -> Result<Vec<ContextPart>, ServiceError> {
        if let Ok(handle) = self.handle(session) {
            return handle.context().await;
        }
        let record = self.record(session).await?;
        let entries = self.store().branch(session).await.map_err(store_error)?;
        let branch: Vec<&Entry> = entries.iter().collect();
        let prompt = session::system_prompt(&self.parts.options, &record.workspace, record.created);
        Ok(crate::request::breakdown(&prompt, &self.parts, &branch, record.model.as_ref()))
    }

    async fn list(&self, filter: SessionFilter) -> Result<Vec<SessionInfo>, ServiceError> {
        let query = SessionQuery { workspace: filter.workspace, limit: filter.limit };
        let records = self.store().sessions(query).await.map_err(store_error)?;
        let mut infos = Vec::with_capacity(records.len());
        for record in records {
            infos.push(self.describe(record).await);
        }
        Ok(infos)
    }

    async fn get(&self, session: &SessionId) -> Result<Snapshot, ServiceError> {
        if let Ok(handle) = self.handle(session) {
            return handle.snapshot().await;
        }
        let record = self.record(session).await?;
        let entries = self.store().branch(session).await.map_err(store_error)?;
        let mut transcript = Transcript::of(&entries);
        let elsewhere = place::spent_elsewhere(self.store(), session, &entries).await.map_err(store_error)?;
        transcript.usage += elsewhere.0;
        transcript.cost += elsewhere.1;
        Ok(Snapshot {
            info: info(record, transcript.effort, transcript.state(Liveness::Dead)),
            entries,
            asks: transcript.asks,
            jobs: Vec::new(),
            open: Vec::new(),
            seq: transcript.seq,
            usage: transcript.usage,
            cost: transcript.cost,
            context: None,
        })
    }

    async fn subscribe(&self, session: &SessionId, after: Seq) -> Result<EventStream, ServiceError> {
        Ok(self.handle(session)?.subscribe(self.store().clone(), after))
    }

    async fn close(&self, session: &SessionId) -> Result<(), ServiceError> {
        let Ok(handle) = self.handle(session) else { return Ok(()) };
        match handle.close().await {
            // Somebody else closed it at the same time.
            Ok(()) | Err(ServiceError::NotOpen { .. }) => self.forget(session),
            Err(error) => return Err(error),
        }
        self.store().flush().await.map_err(store_error)
    }
}

/// A store's error as a face sees it.
pub(crate) fn store_error(error: StoreError) -> ServiceError {
    match error {
        StoreError::InUse { session, pid } => ServiceError::InUse { session, pid },
        other => ServiceError::Store { message: other.to_string() },
    }
}

/// The directory with links resolved, so that one workspace has one name.
fn existing_directory(path: PathBuf) -> Result<PathBuf, ServiceError> {
    let invalid = |reason: String| ServiceError::Invalid {
        message: format!("the workspace {} cannot be used: {reason}", path.display()),
    };
    let resolved = std::fs::canonicalize(&path).map_err(|error| invalid(error.to_string()))?;
    match resolved.is_dir() {
        true => Ok(resolved),
        false => Err(invalid("it is not a directory".to_owned())),
    }
}
