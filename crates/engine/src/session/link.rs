//! How a turn and its calls talk to the session's actor.
//!
//! The actor alone writes the journal, judges calls and publishes events, one
//! message after the other. Whoever works on a turn holds a [`Link`] and waits
//! for the answers. When the link says [`Stopped`], nothing can be recorded any
//! more, and so nothing more may be done.

use std::sync::Arc;

use rein_permission::{Presence, Rights};
use rein_protocol::{
    CallId, CallResult, CompactionReason, Content, ContextPart, Effort, Entry, EntryBody, EntryId, EventBody,
    GivenGrant, Intent, Mode, ModelRef, Prompt, Reply, Said, ServiceError, SessionChange, SessionState,
    Snapshot, StopReason, TurnId,
};
use tokio::sync::{mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use crate::small::Name;

/// Nothing can be recorded any more: the store failed or the session is closed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Stopped;

/// Where an answer goes.
pub(crate) type Answer<T> = oneshot::Sender<Result<T, ServiceError>>;

/// What the actor is told.
pub(crate) enum Message {
    /// Through the service.
    Prompt {
        prompt: Prompt,
        answer: Answer<TurnId>,
    },
    Resume {
        answer: Answer<Option<TurnId>>,
    },
    Interrupt {
        answer: Answer<()>,
    },
    Reply {
        reply: Reply,
        answer: Answer<()>,
    },
    Change {
        change: SessionChange,
        answer: Answer<()>,
    },
    Requeue {
        queued: EntryId,
        content: Option<Vec<Content>>,
        answer: Answer<()>,
    },
    Compact {
        wish: Wish,
        answer: Answer<()>,
    },
    Travel {
        to: Option<EntryId>,
        answer: Answer<()>,
    },
    Rename {
        title: String,
        answer: Answer<()>,
    },
    Shell {
        command: String,
        answer: Answer<CallId>,
    },
    Grants {
        answer: Answer<Vec<GivenGrant>>,
    },
    Revoke {
        grant: GivenGrant,
        answer: Answer<()>,
    },
    /// What it does, and how much the model thinks.
    State {
        answer: Answer<(SessionState, Option<Effort>)>,
    },
    Snapshot {
        answer: Answer<Snapshot>,
    },
    Close {
        answer: Answer<()>,
    },
    Context {
        answer: Answer<Vec<ContextPart>>,
    },
    /// A small model gave the session a name.
    Named {
        name: Box<Name>,
    },
    /// From a turn.
    Look {
        turn: TurnId,
        answer: oneshot::Sender<Look>,
    },
    Survey {
        turn: TurnId,
        answer: oneshot::Sender<Survey>,
    },
    /// The time of the run is over, in words for the person.
    TimeIsUp {
        turn: TurnId,
        message: String,
    },
    /// The mode is another one from these entries on.
    ChangeMode {
        mode: Mode,
        bodies: Vec<EntryBody>,
        answer: oneshot::Sender<()>,
    },
    BeginStep {
        turn: TurnId,
        answer: oneshot::Sender<StepStart>,
    },
    Record {
        bodies: Vec<EntryBody>,
        answer: oneshot::Sender<()>,
    },
    Emit {
        body: EventBody,
    },
    Gate {
        request: Box<GateRequest>,
        answer: oneshot::Sender<Gate>,
    },
    /// The time for the answer to this call's question is over.
    Expire {
        call: CallId,
    },
    EndTurn {
        turn: TurnId,
        stop: StopReason,
        message: Option<String>,
        answer: oneshot::Sender<AfterTurn>,
    },
    /// A command of the person is over.
    PersonRan {
        call: CallId,
        command: String,
        result: Box<CallResult>,
    },
    /// A compaction outside of a turn is over.
    CompactionOver {
        turn: TurnId,
    },
    /// The task of a turn is gone, whether it ended its turn or not.
    TurnGone {
        turn: TurnId,
    },
}

/// What a step starts from.
pub(crate) struct StepStart {
    /// The branch so far, with everything that was queued for this moment.
    pub(crate) history: Vec<Arc<Entry>>,
    /// Which model to ask.
    pub(crate) model: ModelRef,
    /// How much it is to think, if the person said so.
    pub(crate) effort: Option<Effort>,
    /// The number of the step.
    pub(crate) step: u32,
    /// Ends the step: its turn is interrupted, or something is said that cannot wait.
    pub(crate) nudge: CancellationToken,
}

/// A person wants room to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Wish {
    /// What matters above all.
    pub(crate) focus: Option<String>,
    /// A person's, or that nobody was there for long.
    pub(crate) reason: CompactionReason,
}

/// What there is before a step.
pub(crate) struct Look {
    /// The branch so far.
    pub(crate) history: Vec<Arc<Entry>>,
    /// Which model is going to be asked.
    pub(crate) model: ModelRef,
    /// Whether a person wants room to be made. Whoever looks grants it.
    pub(crate) wish: Option<Wish>,
}

/// A session in the middle of a turn.
pub(crate) struct Survey {
    /// The branch so far.
    pub(crate) history: Vec<Arc<Entry>>,
    /// The model that answers.
    pub(crate) model: ModelRef,
    /// The mode that holds.
    pub(crate) mode: Mode,
    /// The modes that may be chosen.
    pub(crate) modes: Vec<Mode>,
    /// Whether somebody can answer.
    pub(crate) presence: Presence,
    /// Whether something was said that the turn goes on with.
    pub(crate) steered: bool,
}

/// A call that wants to run.
pub(crate) struct GateRequest {
    pub(crate) turn: TurnId,
    pub(crate) call: CallId,
    pub(crate) tool: String,
    pub(crate) intent: Intent,
    /// How the model repeats itself with this call, if it does.
    pub(crate) doom: Option<String>,
    /// The time at the gate.
    pub(crate) span: tracing::Span,
}

/// Whether a call may run.
#[derive(Debug)]
pub(crate) enum Gate {
    /// It may, and that it is about to run is durable.
    Go { permit: Box<Permit> },
    /// A rule, a mode or the lack of a person says no, in these words for the model.
    Refused { text: String },
    /// Plan mode keeps it back until the plan is approved.
    Withheld,
    /// A person says no.
    Rejected { message: Option<String> },
    /// The model goes in circles and nobody is there to let it.
    DoomLoop { text: String },
    /// The turn was interrupted while the call waited.
    Withdrawn,
}

impl Gate {
    /// In one word.
    pub(crate) fn name(&self) -> &'static str {
        match self {
            Self::Go { .. } => "allowed",
            Self::Refused { .. } => "refused",
            Self::Withheld => "withheld",
            Self::Rejected { .. } => "rejected",
            Self::DoomLoop { .. } => "doom_loop",
            Self::Withdrawn => "withdrawn",
        }
    }
}

/// With what a call runs.
#[derive(Debug, Clone, Default)]
pub(crate) struct Permit {
    /// What its commands may do beyond what all may.
    pub(crate) rights: Rights,
    /// What the person said, if the call put a question.
    pub(crate) said: Option<Said>,
}

/// What follows the end of a turn.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum AfterTurn {
    /// It is over.
    Over,
    /// Something was said in the meantime: it goes on.
    GoOn,
}

/// The sending half.
#[derive(Clone)]
pub(crate) struct Link {
    actor: mpsc::Sender<Message>,
}

impl Link {
    pub(crate) fn new(actor: mpsc::Sender<Message>) -> Self {
        Self { actor }
    }

    /// Whether the actor is gone.
    pub(crate) fn is_closed(&self) -> bool {
        self.actor.is_closed()
    }

    pub(crate) async fn begin_step(&self, turn: &TurnId) -> Result<StepStart, Stopped> {
        self.call(|answer| Message::BeginStep { turn: turn.clone(), answer }).await
    }

    /// What there is before a step, or for a compaction that takes the place of a turn.
    pub(crate) async fn look(&self, turn: &TurnId) -> Result<Look, Stopped> {
        self.call(|answer| Message::Look { turn: turn.clone(), answer }).await
    }

    pub(crate) async fn named(&self, name: Name) {
        // An actor that is gone needs no name.
        let _ = self.actor.send(Message::Named { name: Box::new(name) }).await;
    }

    /// How the session stands, for whoever decides how a turn goes on.
    pub(crate) async fn survey(&self, turn: &TurnId) -> Result<Survey, Stopped> {
        self.call(|answer| Message::Survey { turn: turn.clone(), answer }).await
    }

    /// Makes entries durable, all or none, and has another mode hold from then on.
    pub(crate) async fn change_mode(&self, mode: Mode, bodies: Vec<EntryBody>) -> Result<(), Stopped> {
        self.call(|answer| Message::ChangeMode { mode, bodies, answer }).await
    }

    /// Has a turn ended because its time is over.
    pub(crate) async fn time_is_up(&self, turn: TurnId, message: String) {
        // An actor that is gone has no turn.
        let _ = self.actor.send(Message::TimeIsUp { turn, message }).await;
    }

    pub(crate) async fn compaction_over(&self, turn: TurnId) {
        // An actor that is gone needs no telling.
        let _ = self.actor.send(Message::CompactionOver { turn }).await;
    }

    /// What came of a command of the person.
    pub(crate) async fn person_ran(&self, call: CallId, command: String, result: CallResult) {
        // An actor that is gone has ended it.
        let _ = self.actor.send(Message::PersonRan { call, command, result: Box::new(result) }).await;
    }

    /// Makes entries durable, in order, all or none.
    pub(crate) async fn record(&self, bodies: Vec<EntryBody>) -> Result<(), Stopped> {
        self.call(|answer| Message::Record { bodies, answer }).await
    }

    pub(crate) async fn emit(&self, body: EventBody) -> Result<(), Stopped> {
        self.actor.send(Message::Emit { body }).await.map_err(|_| Stopped)
    }

    /// Publishes if there is room at once. What is not taken is handed back.
    pub(crate) fn try_emit(&self, body: EventBody) -> Result<(), EventBody> {
        self.actor.try_send(Message::Emit { body }).map_err(|error| match error.into_inner() {
            Message::Emit { body } => body,
            _ => EventBody::Broken { message: String::new() },
        })
    }

    pub(crate) async fn gate(&self, request: GateRequest) -> Result<Gate, Stopped> {
        self.call(|answer| Message::Gate { request: Box::new(request), answer }).await
    }

    /// Lets the question of a call go unanswered.
    pub(crate) async fn expire(&self, call: CallId) {
        // An actor that is gone has let go of it already.
        let _ = self.actor.send(Message::Expire { call }).await;
    }

    pub(crate) async fn end_turn(
        &self,
        turn: &TurnId,
        stop: StopReason,
        message: Option<String>,
    ) -> Result<AfterTurn, Stopped> {
        self.call(|answer| Message::EndTurn { turn: turn.clone(), stop, message, answer }).await
    }

    pub(crate) async fn turn_gone(&self, turn: TurnId) {
        // An actor that is gone needs no telling.
        let _ = self.actor.send(Message::TurnGone { turn }).await;
    }

    /// A request of the service: an actor that is gone is a closed session.
    pub(crate) async fn ask<T>(
        &self,
        message: impl FnOnce(Answer<T>) -> Message,
    ) -> Option<Result<T, ServiceError>> {
        let (sender, receiver) = oneshot::channel();
        self.actor.send(message(sender)).await.ok()?;
        receiver.await.ok()
    }

    async fn call<T>(&self, message: impl FnOnce(oneshot::Sender<T>) -> Message) -> Result<T, Stopped> {
        let (sender, receiver) = oneshot::channel();
        self.actor.send(message(sender)).await.map_err(|_| Stopped)?;
        receiver.await.map_err(|_| Stopped)
    }
}
