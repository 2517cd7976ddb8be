//! Calls of the service, one after the other, away from the keyboard.
//!
//! A slow service never holds up a key. The order of calls is the order in
//! which they were asked for; what may take long has a lane of its own, so that
//! an interrupt never waits for it.

use std::path::PathBuf;
use std::sync::Arc;

use rein_protocol::{
    Content, EventStream, OpenSession, Prompt, Service, ServiceError, SessionFilter, SessionId, Snapshot,
    Timestamp,
};
use tokio::sync::mpsc;
use tokio_util::task::AbortOnDropHandle;

use crate::calls;
use crate::host::Host;
use crate::model::{Effect, Message};

/// What may wait to be done.
const CALLS: usize = 64;

/// What came of a call.
pub(crate) enum Answer {
    /// Something for the model.
    Message(Message),
    /// A session was opened: it is to be followed.
    Following(Box<Snapshot>, EventStream),
}

/// A call to be made.
struct Call {
    effect: Effect,
    session: Option<SessionId>,
    workspace: PathBuf,
}

/// Makes calls.
pub(crate) struct Worker {
    calls: mpsc::Sender<Call>,
    slow: mpsc::Sender<Call>,
    pub(crate) answers: mpsc::Receiver<Answer>,
    _tasks: [AbortOnDropHandle<()>; 2],
}

impl Worker {
    pub(crate) fn start(service: Arc<dyn Service>, host: Option<Arc<dyn Host>>) -> Self {
        let (sender, answers) = mpsc::channel(CALLS);
        let (calls, quick) = lane(Arc::clone(&service), host.clone(), sender.clone());
        let (slow, other) = lane(service, host, sender);
        Self { calls, slow, answers, _tasks: [quick, other] }
    }

    /// Whether there was room for it.
    pub(crate) fn call(&self, effect: Effect, session: Option<&SessionId>, workspace: PathBuf) -> bool {
        let lane = match &effect {
            Effect::Request(request) if request.is_slow() => &self.slow,
            _ => &self.calls,
        };
        lane.try_send(Call { effect, session: session.cloned(), workspace }).is_ok()
    }
}

fn lane(
    service: Arc<dyn Service>,
    host: Option<Arc<dyn Host>>,
    sender: mpsc::Sender<Answer>,
) -> (mpsc::Sender<Call>, AbortOnDropHandle<()>) {
    let (calls, mut waiting) = mpsc::channel::<Call>(CALLS);
    let task = tokio::spawn(async move {
        while let Some(call) = waiting.recv().await {
            let answer = make(&*service, host.as_ref(), call).await;
            if let Some(answer) = answer
                && sender.send(answer).await.is_err()
            {
                return;
            }
        }
    });
    (calls, AbortOnDropHandle::new(task))
}

async fn make(service: &dyn Service, host: Option<&Arc<dyn Host>>, call: Call) -> Option<Answer> {
    let Call { effect, session, workspace } = call;
    let effect = match effect {
        Effect::Open(request) => {
            return Some(match open(service, request, session).await {
                Ok((snapshot, events)) => Answer::Following(Box::new(snapshot), events),
                Err(error) => Answer::Message(Message::Failed(error)),
            });
        }
        Effect::Request(request) => {
            let answer = calls::answer(service, host.cloned(), session, request).await;
            return Some(Answer::Message(Message::Answered(Box::new(answer))));
        }
        effect => effect,
    };
    if effect == Effect::ListSessions {
        let filter = SessionFilter { workspace: Some(workspace), limit: Some(200) };
        return Some(Answer::Message(match service.list(filter).await {
            Ok(sessions) => Message::Sessions { sessions, at: Timestamp::now() },
            Err(error) => Message::Failed(error),
        }));
    }
    let session = session?;
    let done = match effect {
        Effect::Prompt { text, delivery } => {
            let prompt = Prompt { content: vec![Content::text(text.clone())], delivery };
            return match service.prompt(&session, prompt).await {
                Ok(_) => None,
                Err(error) => Some(Answer::Message(Message::NotSent { text, error })),
            };
        }
        Effect::FetchTranscript => {
            return Some(Answer::Message(match service.get(&session).await {
                Ok(snapshot) => Message::Transcript(Box::new(snapshot)),
                Err(error) => Message::Failed(error),
            }));
        }
        Effect::Resume => match service.resume(&session).await {
            Ok(None) => Err(ServiceError::Invalid {
                message: "no turn was cut off: there is nothing to go on with".to_owned(),
            }),
            Ok(Some(_)) => Ok(()),
            Err(error) => Err(error),
        },
        Effect::Interrupt => service.interrupt(&session).await,
        Effect::Reply(reply) => match service.reply(&session, reply).await {
            // Somebody else was quicker, or it was withdrawn: its end is told anyway.
            Err(ServiceError::UnknownAsk { .. }) => Ok(()),
            done => done,
        },
        Effect::Change(change) => service.change(&session, change).await,
        Effect::Open(_)
        | Effect::Request(_)
        | Effect::Copy(_)
        | Effect::FindBranch
        | Effect::ListSessions
        | Effect::FindFiles
        | Effect::Remember(_)
        | Effect::Notify(_)
        | Effect::Suspend
        | Effect::Redraw
        | Effect::Quit => Ok(()),
    };
    done.err().map(|error| Answer::Message(Message::Failed(error)))
}

/// Opens one session and closes the other.
async fn open(
    service: &dyn Service,
    request: OpenSession,
    before: Option<SessionId>,
) -> Result<(Snapshot, EventStream), ServiceError> {
    let info = service.open(request).await?;
    let snapshot = service.get(&info.id).await?;
    let events = service.subscribe(&info.id, snapshot.seq).await?;
    if let Some(before) = before.filter(|before| *before != info.id)
        && let Err(error) = service.close(&before).await
    {
        tracing::warn!(%error, "the session before was not closed");
    }
    Ok((snapshot, events))
}
