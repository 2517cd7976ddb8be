//! What a face asks about a session beside its turns: where it has been, what it
//! was allowed, what it consists of. What comes back is what the test said.

use std::path::PathBuf;

use rein_protocol::service::{GivenGrant, MemoryPlace, ServiceError, SessionInfo};
use rein_protocol::{
    CallId, CallResult, CallStatus, Content, ContextPart, Display, EntryBody, EntryId, EventBody, SessionId,
    Titler, TreeNode,
};

use super::{FaceCall, FakeService, Session, State};

/// What it says of sessions.
impl FakeService {
    /// With a tree for a session.
    #[must_use]
    pub fn with_tree(self, session: &SessionId, tree: Vec<TreeNode>) -> Self {
        self.inner.update(|state| state.trees.insert(session.clone(), tree));
        self
    }

    /// With grants that hold.
    #[must_use]
    pub fn with_grants(self, grants: Vec<GivenGrant>) -> Self {
        self.inner.update(|state| state.grants = grants);
        self
    }

    /// With what a request consists of.
    #[must_use]
    pub fn with_context(self, context: Vec<ContextPart>) -> Self {
        self.inner.update(|state| state.context = context);
        self
    }
}

impl State {
    pub(super) fn handoff(
        &mut self,
        session: &SessionId,
        focus: Option<String>,
    ) -> Result<SessionInfo, ServiceError> {
        self.called(FaceCall::Handoff { session: session.clone(), focus })?;
        self.copy(session)
    }

    pub(super) fn fork(
        &mut self,
        session: &SessionId,
        at: Option<EntryId>,
    ) -> Result<SessionInfo, ServiceError> {
        self.called(FaceCall::Fork { session: session.clone(), at })?;
        self.copy(session)
    }

    /// A new session in the same workspace. Nothing of the old one is in it.
    fn copy(&mut self, session: &SessionId) -> Result<SessionInfo, ServiceError> {
        let workspace = self.session(session)?.info().workspace;
        let copy = Session::new(SessionId::new(), workspace);
        let info = copy.info();
        self.sessions.insert(info.id.clone(), copy);
        Ok(info)
    }

    pub(super) fn travel(&mut self, session: &SessionId, to: Option<EntryId>) -> Result<(), ServiceError> {
        self.called(FaceCall::Travel { session: session.clone(), to })?;
        let opened = self.open_session(session)?;
        if opened.is_running() {
            let message = "a turn is under way: interrupt it first".to_owned();
            return Err(ServiceError::Invalid { message });
        }
        opened.append(EntryBody::Travelled { from: EntryId::new() });
        Ok(())
    }

    pub(super) fn tree(&mut self, session: &SessionId) -> Result<Vec<TreeNode>, ServiceError> {
        self.called(FaceCall::Tree { session: session.clone() })?;
        Ok(self.trees.get(session).cloned().unwrap_or_default())
    }

    pub(super) fn rename(&mut self, session: &SessionId, title: String) -> Result<(), ServiceError> {
        self.called(FaceCall::Rename { session: session.clone(), title: title.clone() })?;
        self.open_session(session)?.append(EntryBody::Titled {
            title,
            by: Titler::Person,
            usage: None,
            cost: None,
        });
        Ok(())
    }

    /// Every command prints its own text.
    pub(super) fn shell(&mut self, session: &SessionId, command: String) -> Result<CallId, ServiceError> {
        self.called(FaceCall::Shell { session: session.clone(), command: command.clone() })?;
        let opened = self.open_session(session)?;
        let call = CallId::new();
        opened.emit_scripted(EventBody::PersonRuns { call: call.clone(), command: command.clone() });
        let result = CallResult {
            status: CallStatus::Completed,
            content: vec![Content::text(command.clone())],
            display: Display::titled(command.clone()),
            artifact: None,
            duration_ms: 0,
        };
        opened.append(EntryBody::PersonRan { call: call.clone(), command, result });
        Ok(call)
    }

    pub(super) fn remember(
        &mut self,
        session: &SessionId,
        note: String,
        place: MemoryPlace,
    ) -> Result<PathBuf, ServiceError> {
        self.called(FaceCall::Remember { session: session.clone(), note, place })?;
        Ok(self.session(session)?.info().workspace.join("AGENTS.md"))
    }

    pub(super) fn grants(&mut self, session: &SessionId) -> Result<Vec<GivenGrant>, ServiceError> {
        self.called(FaceCall::Grants { session: session.clone() })?;
        Ok(self.grants.clone())
    }

    pub(super) fn revoke(&mut self, session: &SessionId, grant: GivenGrant) -> Result<(), ServiceError> {
        self.called(FaceCall::Revoke { session: session.clone(), grant: grant.clone() })?;
        self.grants.retain(|given| *given != grant);
        Ok(())
    }

    pub(super) fn context(&mut self, session: &SessionId) -> Result<Vec<ContextPart>, ServiceError> {
        self.called(FaceCall::Context { session: session.clone() })?;
        Ok(self.context.clone())
    }
}
