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
use crate::editor::Attachment;
use crate::hands::Hands;
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
    pub(crate) fn start(
        service: Arc<dyn Service>,
        host: Option<Arc<dyn Host>>,
        hands: Arc<dyn Hands>,
    ) -> Self {
        let (sender, answers) = mpsc::channel(CALLS);
        let others = Others { service, host, hands };
        let (calls, quick) = lane(others.clone(), sender.clone());
        let (slow, other) = lane(others, sender);
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

/// Whoever is asked.
#[derive(Clone)]
struct Others {
    service: Arc<dyn Service>,
    host: Option<Arc<dyn Host>>,
    hands: Arc<dyn Hands>,
}

fn lane(others: Others, sender: mpsc::Sender<Answer>) -> (mpsc::Sender<Call>, AbortOnDropHandle<()>) {
    let (calls, mut waiting) = mpsc::channel::<Call>(CALLS);
    let task = tokio::spawn(async move {
        while let Some(call) = waiting.recv().await {
            let answer = make(&others, call).await;
            if let Some(answer) = answer
                && sender.send(answer).await.is_err()
            {
                return;
            }
        }
    });
    (calls, AbortOnDropHandle::new(task))
}

async fn make(others: &Others, call: Call) -> Option<Answer> {
    let Others { service, host, hands } = others;
    let (service, hands) = (&**service, &**hands);
    let Call { effect, session, workspace } = call;
    let effect = match effect {
        Effect::Open(request) => {
            return Some(match open(service, request, session).await {
                Ok((snapshot, events)) => Answer::Following(Box::new(snapshot), events),
                Err(error) => Answer::Message(Message::Failed(error)),
            });
        }
        Effect::Request(request) => {
            let answer = calls::answer(service, host.clone(), session, request).await;
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
    if let Effect::FetchPicture(blob) = &effect {
        return hands.picture(blob).await.map(|bytes| Answer::Message(Message::Picture(bytes)));
    }
    let session = session?;
    let done = match effect {
        Effect::Prompt { text, attachments, delivery } => {
            let said = match content(hands, &text, &attachments).await {
                Ok(content) => service.prompt(&session, Prompt { content, delivery }).await,
                Err(message) => Err(ServiceError::Invalid { message }),
            };
            return said.err().map(|error| Answer::Message(Message::NotSent { text, attachments, error }));
        }
        Effect::Note { note, place } => {
            return Some(Answer::Message(match service.remember(&session, note.clone(), place).await {
                Ok(file) => Message::Noted { note, file },
                Err(error) => Message::Failed(error),
            }));
        }
        Effect::Reload => {
            return Some(Answer::Message(match service.get(&session).await {
                Ok(snapshot) => Message::Reloaded(Box::new(snapshot)),
                Err(error) => Message::Failed(error),
            }));
        }
        Effect::Shell(command) => service.shell(&session, command).await.map(drop),
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
        | Effect::EditOutside(_)
        | Effect::FetchPicture(_)
        | Effect::Suspend
        | Effect::Redraw
        | Effect::Quit => Ok(()),
    };
    done.err().map(|error| Answer::Message(Message::Failed(error)))
}

/// The words, and the pictures that they name.
async fn content(hands: &dyn Hands, text: &str, attachments: &[Attachment]) -> Result<Vec<Content>, String> {
    let mut content = vec![Content::text(text)];
    for image in attachments {
        content.push(hands.keep_picture(&image.path).await?);
    }
    Ok(content)
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
