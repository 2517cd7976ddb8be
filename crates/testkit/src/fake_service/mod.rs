//! A [`Service`] that plays scripted turns and records what a face asked of it.
//!
//! Owns the sessions and the tasks that play in them; what happens inside a
//! session is `session`'s, what a turn consists of is `act`'s. It keeps the
//! trait's contract: entries come before what follows from them, events have
//! strictly increasing places, nothing is missing or doubled after catching up,
//! an error changes nothing, and no method waits for a turn.
//!
//! A `FakeService` is a handle: a clone shares everything, so that a test keeps
//! one while the face has another.

mod act;
mod call;
mod history;
mod log;
mod places;
mod scripted;
mod session;

use std::collections::{BTreeMap, HashSet, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use async_trait::async_trait;
use futures_util::stream;
use rein_protocol::service::{
    EventStream, GivenGrant, MemoryPlace, OpenSession, Prompt, Service, ServiceError, SessionChange,
    SessionFilter, SessionInfo, Snapshot,
};
use rein_protocol::{
    Ask, CallId, Content, ContextPart, EntryId, Event, Reply, Seq, SessionId, TreeNode, TurnId,
};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

pub use act::Act;
pub use call::FakeCall;
pub use history::FakeSession;
pub use scripted::{FaceCall, Operation};

use session::{Session, Step};

/// How long a test waits for a face before it gives up.
const PATIENCE: Duration = Duration::from_secs(30);

/// A scripted [`Service`].
#[derive(Clone)]
pub struct FakeService {
    inner: Arc<Inner>,
}

pub(crate) struct Inner {
    state: Mutex<State>,
    changed: watch::Sender<()>,
}

#[derive(Default)]
struct State {
    sessions: BTreeMap<SessionId, Session>,
    /// The turn that plays in each session; dropping one stops it.
    players: BTreeMap<SessionId, AbortOnDropHandle<()>>,
    scenes: VecDeque<Vec<Act>>,
    resume_scenes: VecDeque<Vec<Act>>,
    open_gates: HashSet<String>,
    calls: Vec<FaceCall>,
    planned_errors: Vec<(Operation, ServiceError)>,
    failures: Vec<String>,
    /// What a session is said to consist of and to have been allowed.
    trees: BTreeMap<SessionId, Vec<TreeNode>>,
    grants: Vec<GivenGrant>,
    context: Vec<ContextPart>,
}

impl State {
    fn session(&mut self, id: &SessionId) -> Result<&mut Session, ServiceError> {
        self.sessions.get_mut(id).ok_or_else(|| ServiceError::UnknownSession { session: id.clone() })
    }

    fn open_session(&mut self, id: &SessionId) -> Result<&mut Session, ServiceError> {
        let session = self.session(id)?;
        if session.is_open() { Ok(session) } else { Err(ServiceError::NotOpen { session: id.clone() }) }
    }

    /// Records a call, and fails it if the test planned that.
    fn called(&mut self, call: FaceCall) -> Result<(), ServiceError> {
        let operation = call.operation();
        self.calls.push(call);
        match self.planned_errors.iter().position(|(planned, _)| *planned == operation) {
            Some(index) => Err(self.planned_errors.remove(index).1),
            None => Ok(()),
        }
    }

    fn next_scene(&mut self) -> Vec<Act> {
        self.scenes.pop_front().unwrap_or_else(|| {
            self.failures.push("a prompt came and no scene was left for it".to_owned());
            vec![Act::fail("the script has no scene for this prompt")]
        })
    }
}

impl Inner {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        let value = change(&mut self.lock());
        self.changed.send_replace(());
        value
    }
}

impl FakeService {
    async fn until<T>(&self, what: &str, mut ready: impl FnMut(&State) -> Option<T>) -> T {
        let mut changed = self.inner.changed.subscribe();
        let waiting = async {
            loop {
                if let Some(value) = ready(&self.inner.lock()) {
                    return value;
                }
                changed.changed().await.expect("the sender lives as long as this handle");
            }
        };
        match tokio::time::timeout(PATIENCE, waiting).await {
            Ok(value) => value,
            Err(_) => panic!("waited {PATIENCE:?} for {what}; the face called {:?}", self.calls()),
        }
    }

    /// Starts to play what the session has before it; the task is stopped with the session or this service.
    fn play(&self, state: &mut State, id: &SessionId) {
        let changed = self.inner.changed.subscribe();
        let task = tokio::spawn(play(Arc::downgrade(&self.inner), id.clone(), changed));
        state.players.insert(id.clone(), AbortOnDropHandle::new(task));
    }
}

/// Plays the turns of a session until it is idle.
async fn play(inner: Weak<Inner>, id: SessionId, mut changed: watch::Receiver<()>) {
    loop {
        changed.borrow_and_update();
        {
            let Some(inner) = inner.upgrade() else { return };
            let (step, progress) = advance(&mut inner.lock(), &id);
            // Only then: a notice of nothing would wake this very task again.
            if progress == Progress::Made {
                inner.changed.send_replace(());
            }
            if step == Step::Idle {
                return;
            }
        }
        if changed.changed().await.is_err() {
            return;
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum Progress {
    Made,
    None,
}

/// Plays a session as far as it goes.
fn advance(state: &mut State, id: &SessionId) -> (Step, Progress) {
    let mut progress = Progress::None;
    loop {
        let Some(session) = state.sessions.get_mut(id) else { return (Step::Idle, progress) };
        let before = session.log().len();
        let step = session.advance(&state.open_gates);
        if step == Step::Idle || session.log().len() > before {
            progress = Progress::Made;
        }
        if step != Step::WantsScene {
            return (step, progress);
        }
        let scene = state.next_scene();
        if let Some(session) = state.sessions.get_mut(id) {
            session.stage(scene);
        }
    }
}

#[async_trait]
impl Service for FakeService {
    async fn open(&self, request: OpenSession) -> Result<SessionInfo, ServiceError> {
        self.inner.update(|state| {
            state.called(FaceCall::Open(request.clone()))?;
            if let Some(id) = &request.session {
                let session = state.session(id)?;
                session.open(&request);
                return Ok(session.info());
            }
            let mut session =
                Session::new(SessionId::new(), request.workspace.clone().unwrap_or_else(default_workspace));
            session.open(&request);
            let info = session.info();
            state.sessions.insert(info.id.clone(), session);
            Ok(info)
        })
    }

    async fn prompt(&self, session: &SessionId, prompt: Prompt) -> Result<TurnId, ServiceError> {
        self.inner.update(|state| {
            state.called(FaceCall::Prompt { session: session.clone(), prompt: prompt.clone() })?;
            let opened = state.open_session(session)?;
            if prompt.content.is_empty() {
                return Err(ServiceError::Invalid {
                    message: "the prompt is empty: say something".to_owned(),
                });
            }
            let was_idle = !opened.is_running();
            let turn = opened.prompt(prompt);
            if was_idle {
                // Now, not when the player comes to it: which prompt gets which scene is the order of prompts.
                let scene = state.next_scene();
                state.open_session(session)?.stage(scene);
                self.play(state, session);
            }
            Ok(turn)
        })
    }

    async fn resume(&self, session: &SessionId) -> Result<Option<TurnId>, ServiceError> {
        self.inner.update(|state| {
            state.called(FaceCall::Resume { session: session.clone() })?;
            let Some(turn) = state.open_session(session)?.broken_turn() else { return Ok(None) };
            let scene = state.resume_scenes.pop_front().unwrap_or_default();
            state.open_session(session)?.resume(scene);
            self.play(state, session);
            Ok(Some(turn))
        })
    }

    async fn interrupt(&self, session: &SessionId) -> Result<(), ServiceError> {
        self.inner.update(|state| {
            state.called(FaceCall::Interrupt { session: session.clone() })?;
            state.open_session(session)?.interrupt();
            Ok(())
        })
    }

    async fn reply(&self, session: &SessionId, reply: Reply) -> Result<(), ServiceError> {
        self.inner.update(|state| {
            state.called(FaceCall::Reply { session: session.clone(), reply: reply.clone() })?;
            state.open_session(session)?.reply(reply)
        })
    }

    async fn change(&self, session: &SessionId, change: SessionChange) -> Result<(), ServiceError> {
        self.inner.update(|state| {
            state.called(FaceCall::Change { session: session.clone(), change: change.clone() })?;
            state.open_session(session)?.change(change);
            Ok(())
        })
    }

    async fn requeue(
        &self,
        session: &SessionId,
        queued: &EntryId,
        content: Option<Vec<Content>>,
    ) -> Result<(), ServiceError> {
        self.inner.update(|state| {
            let (session, queued) = (session.clone(), queued.clone());
            let call = FaceCall::Requeue {
                session: session.clone(),
                queued: queued.clone(),
                content: content.clone(),
            };
            state.called(call)?;
            state.open_session(&session)?.requeue(queued, content)
        })
    }

    async fn compact(&self, session: &SessionId, focus: Option<String>) -> Result<(), ServiceError> {
        self.inner.update(|state| {
            state.called(FaceCall::Compact { session: session.clone(), focus: focus.clone() })?;
            state.open_session(session).map(|_| ())
        })
    }

    async fn handoff(&self, session: &SessionId, focus: Option<String>) -> Result<SessionInfo, ServiceError> {
        self.inner.update(|state| state.handoff(session, focus))
    }

    async fn travel(&self, session: &SessionId, to: Option<EntryId>) -> Result<(), ServiceError> {
        self.inner.update(|state| state.travel(session, to))
    }

    async fn fork(&self, session: &SessionId, at: Option<EntryId>) -> Result<SessionInfo, ServiceError> {
        self.inner.update(|state| state.fork(session, at))
    }

    async fn tree(&self, session: &SessionId) -> Result<Vec<TreeNode>, ServiceError> {
        self.inner.update(|state| state.tree(session))
    }

    async fn rename(&self, session: &SessionId, title: String) -> Result<(), ServiceError> {
        self.inner.update(|state| state.rename(session, title))
    }

    async fn shell(&self, session: &SessionId, command: String) -> Result<CallId, ServiceError> {
        self.inner.update(|state| state.shell(session, command))
    }

    async fn remember(
        &self,
        session: &SessionId,
        note: String,
        place: MemoryPlace,
    ) -> Result<PathBuf, ServiceError> {
        self.inner.update(|state| state.remember(session, note, place))
    }

    async fn grants(&self, session: &SessionId) -> Result<Vec<GivenGrant>, ServiceError> {
        self.inner.update(|state| state.grants(session))
    }

    async fn revoke(&self, session: &SessionId, grant: GivenGrant) -> Result<(), ServiceError> {
        self.inner.update(|state| state.revoke(session, grant))
    }

    async fn context(&self, session: &SessionId) -> Result<Vec<ContextPart>, ServiceError> {
        self.inner.update(|state| state.context(session))
    }

    async fn list(&self, filter: SessionFilter) -> Result<Vec<SessionInfo>, ServiceError> {
        self.inner.update(|state| {
            state.called(FaceCall::List(filter.clone()))?;
            let mut all: Vec<SessionInfo> = state.sessions.values().map(Session::info).collect();
            all.retain(|info| filter.workspace.as_ref().is_none_or(|workspace| *workspace == info.workspace));
            // Ids are time-ordered: they settle a tie of the clock.
            all.sort_by(|one, other| (other.updated, &other.id).cmp(&(one.updated, &one.id)));
            all.truncate(filter.limit.unwrap_or(usize::MAX));
            Ok(all)
        })
    }

    async fn get(&self, session: &SessionId) -> Result<Snapshot, ServiceError> {
        self.inner.update(|state| {
            state.called(FaceCall::Get { session: session.clone() })?;
            Ok(state.session(session)?.snapshot())
        })
    }

    async fn subscribe(&self, session: &SessionId, after: Seq) -> Result<EventStream, ServiceError> {
        self.inner.update(|state| {
            state.called(FaceCall::Subscribe { session: session.clone(), after })?;
            let opened = state.open_session(session)?;
            let log = opened.log();
            let subscription = Subscription {
                inner: Arc::downgrade(&self.inner),
                session: session.clone(),
                opening: log.opening(),
                ready: log.catch_up(after).into(),
                position: log.len(),
                changed: self.inner.changed.subscribe(),
            };
            Ok(Box::pin(stream::unfold(subscription, Subscription::next)) as EventStream)
        })
    }

    async fn close(&self, session: &SessionId) -> Result<(), ServiceError> {
        self.inner.update(|state| {
            state.called(FaceCall::Close { session: session.clone() })?;
            state.session(session)?.close();
            state.players.remove(session);
            Ok(())
        })
    }
}

struct Subscription {
    inner: Weak<Inner>,
    session: SessionId,
    opening: usize,
    ready: VecDeque<Event>,
    position: usize,
    changed: watch::Receiver<()>,
}

impl Subscription {
    async fn next(mut self) -> Option<(Event, Self)> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                return Some((event, self));
            }
            self.changed.borrow_and_update();
            let news = {
                let inner = self.inner.upgrade()?;
                let state = inner.lock();
                state.sessions.get(&self.session)?.log().news(self.opening, self.position)
            };
            self.position += news.events.len();
            self.ready = news.events.into();
            match (self.ready.is_empty(), news.closed) {
                (false, _) => {}
                (true, true) => return None,
                (true, false) => self.changed.changed().await.ok()?,
            }
        }
    }
}

fn default_workspace() -> PathBuf {
    PathBuf::from("/project")
}

/// The asks that wait in any session.
fn waiting_asks(state: &State) -> impl Iterator<Item = &Ask> {
    state.sessions.values().flat_map(Session::asks)
}
