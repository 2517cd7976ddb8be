//! The test's side of a [`FakeService`]: what it plays and what it saw.

use std::sync::{Arc, Mutex};

use rein_protocol::service::{
    GivenGrant, MemoryPlace, OpenSession, Prompt, ServiceError, SessionChange, SessionFilter,
};
use rein_protocol::{Ask, Content, EntryId, EventBody, Reply, Seq, SessionId};
use tokio::sync::watch;

use super::act::Act;
use super::history::FakeSession;
use super::{FakeService, Inner, State, waiting_asks};

/// Something that a face asked of the service.
#[derive(Debug, Clone, PartialEq)]
#[allow(missing_docs)]
pub enum FaceCall {
    Open(OpenSession),
    Prompt { session: SessionId, prompt: Prompt },
    Resume { session: SessionId },
    Interrupt { session: SessionId },
    Reply { session: SessionId, reply: Reply },
    Change { session: SessionId, change: SessionChange },
    Requeue { session: SessionId, queued: EntryId, content: Option<Vec<Content>> },
    Compact { session: SessionId, focus: Option<String> },
    Handoff { session: SessionId, focus: Option<String> },
    Travel { session: SessionId, to: Option<EntryId> },
    Fork { session: SessionId, at: Option<EntryId> },
    Tree { session: SessionId },
    Rename { session: SessionId, title: String },
    Shell { session: SessionId, command: String },
    Remember { session: SessionId, note: String, place: MemoryPlace },
    Grants { session: SessionId },
    Revoke { session: SessionId, grant: GivenGrant },
    Context { session: SessionId },
    List(SessionFilter),
    Get { session: SessionId },
    Subscribe { session: SessionId, after: Seq },
    Close { session: SessionId },
}

/// The methods of [`Service`](rein_protocol::Service).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Operation {
    Open,
    Prompt,
    Resume,
    Interrupt,
    Reply,
    Change,
    Requeue,
    Compact,
    Handoff,
    Travel,
    Fork,
    Tree,
    Rename,
    Shell,
    Remember,
    Grants,
    Revoke,
    Context,
    List,
    Get,
    Subscribe,
    Close,
}

impl FaceCall {
    /// The method that was called.
    #[must_use]
    pub fn operation(&self) -> Operation {
        match self {
            Self::Open(_) => Operation::Open,
            Self::Prompt { .. } => Operation::Prompt,
            Self::Resume { .. } => Operation::Resume,
            Self::Interrupt { .. } => Operation::Interrupt,
            Self::Reply { .. } => Operation::Reply,
            Self::Change { .. } => Operation::Change,
            Self::Requeue { .. } => Operation::Requeue,
            Self::Compact { .. } => Operation::Compact,
            Self::Handoff { .. } => Operation::Handoff,
            Self::Travel { .. } => Operation::Travel,
            Self::Fork { .. } => Operation::Fork,
            Self::Tree { .. } => Operation::Tree,
            Self::Rename { .. } => Operation::Rename,
            Self::Shell { .. } => Operation::Shell,
            Self::Remember { .. } => Operation::Remember,
            Self::Grants { .. } => Operation::Grants,
            Self::Revoke { .. } => Operation::Revoke,
            Self::Context { .. } => Operation::Context,
            Self::List(_) => Operation::List,
            Self::Get { .. } => Operation::Get,
            Self::Subscribe { .. } => Operation::Subscribe,
            Self::Close { .. } => Operation::Close,
        }
    }
}

/// What it plays.
impl FakeService {
    /// A service without sessions and without scenes.
    #[must_use]
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        let inner = Inner { state: Mutex::new(State::default()), changed: watch::Sender::new(()) };
        Self { inner: Arc::new(inner) }
    }

    /// With a session in the store.
    #[must_use]
    pub fn session(self, session: FakeSession) -> Self {
        self.inner.update(|state| state.sessions.insert(session.id, session.session));
        self
    }

    /// With a scene for the next prompt that has none, whatever its session.
    #[must_use]
    pub fn on_prompt(self, acts: impl IntoIterator<Item = impl Into<Act>>) -> Self {
        let scene = acts.into_iter().map(Into::into).collect();
        self.inner.update(|state| state.scenes.push_back(scene));
        self
    }

    /// With a scene for the next turn that is continued; without one it ends at once.
    #[must_use]
    pub fn on_resume(self, acts: impl IntoIterator<Item = impl Into<Act>>) -> Self {
        let scene = acts.into_iter().map(Into::into).collect();
        self.inner.update(|state| state.resume_scenes.push_back(scene));
        self
    }

    /// The next call of that method fails with this error, and changes nothing.
    #[must_use]
    pub fn fail_next(self, operation: Operation, error: ServiceError) -> Self {
        self.inner.update(|state| state.planned_errors.push((operation, error)));
        self
    }

    /// Opens a gate for good.
    pub fn open_gate(&self, gate: &str) {
        self.inner.update(|state| state.open_gates.insert(gate.to_owned()));
    }

    /// Emits an event in a session now, whatever is being played.
    pub fn emit(&self, session: &SessionId, body: EventBody) {
        self.inner.update(|state| state.session(session).expect("a known session").emit_scripted(body));
    }
}

/// What it saw.
impl FakeService {
    /// Everything that was asked of it, in order.
    #[must_use]
    pub fn calls(&self) -> Vec<FaceCall> {
        self.inner.lock().calls.clone()
    }

    /// What was said to the agent.
    #[must_use]
    pub fn prompts(&self) -> Vec<Prompt> {
        self.pick(|call| match call {
            FaceCall::Prompt { prompt, .. } => Some(prompt.clone()),
            _ => None,
        })
    }

    /// The answers to asks.
    #[must_use]
    pub fn replies(&self) -> Vec<Reply> {
        self.pick(|call| match call {
            FaceCall::Reply { reply, .. } => Some(reply.clone()),
            _ => None,
        })
    }

    /// The sessions that were interrupted.
    #[must_use]
    pub fn interrupts(&self) -> Vec<SessionId> {
        self.pick(|call| match call {
            FaceCall::Interrupt { session } => Some(session.clone()),
            _ => None,
        })
    }

    /// Waits until that method has been called `count` times.
    pub async fn wait_for_calls(&self, operation: Operation, count: usize) {
        let what = format!("{count} calls of {operation:?}");
        let ready = |state: &State| {
            let found = state.calls.iter().filter(|call| call.operation() == operation).count();
            (found >= count).then_some(())
        };
        self.until(&what, ready).await
    }

    /// Waits until an ask waits for a reply, and returns the first.
    pub async fn wait_for_ask(&self) -> Ask {
        self.until("an ask", |state| waiting_asks(state).next().cloned()).await
    }

    /// Waits until no turn is under way in a session.
    pub async fn wait_for_idle(&self, session: &SessionId) {
        let what = format!("{session} to be idle");
        self.until(&what, |state| state.sessions.get(session).filter(|it| !it.is_running()).map(|_| ())).await
    }

    /// Panics unless every scene was played and every prompt had one.
    #[track_caller]
    pub fn assert_done(&self) {
        let state = self.inner.lock();
        assert!(state.failures.is_empty(), "the service was not used as scripted: {:?}", state.failures);
        let left = state.scenes.len() + state.resume_scenes.len();
        assert!(left == 0, "{left} scenes were never played");
    }

    fn pick<T>(&self, choose: impl Fn(&FaceCall) -> Option<T>) -> Vec<T> {
        self.inner.lock().calls.iter().filter_map(choose).collect()
    }
}
