//! The session's actor: the one place where a session's state changes.
//!
//! It handles one message after the other and waits for nothing but the store,
//! so that an interrupt or a reply is never kept waiting by a model, a tool or
//! a person. When the store fails, the session ends here: nothing may happen
//! that cannot be recorded.

mod ending;
mod errands;
mod gates;
pub(super) mod person;
mod room;
mod spans;
mod travel;

use std::collections::HashMap;
use std::sync::Arc;

use rein_protocol::transcript::{QueuedMessage, Transcript};
use rein_protocol::{
    Author, CallId, Content, Cost, Delivery, Effort, EntryBody, EventBody, ModelRef, Prompt, ServiceError,
    SessionId, StopReason, ToolCall, TurnId, Usage,
};
use rein_store::{Lease, StoreError};
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;
use tracing::Instrument;

use super::Opening;
use super::activity::Activity;
use super::gatekeeper::Gatekeeper;
use super::journal::Journal;
use super::link::{AfterTurn, Answer, Link, Message, StepStart, Stopped, Wish};
use super::queue::Queue;
use crate::doom::DoomGuard;
use crate::hub::Hub;
use crate::recover;
use crate::service::{Parts, store_error};
use crate::turn::{Turn, Workbench};
use errands::Errands;

/// The state of an open session.
pub(super) struct Actor {
    session: SessionId,
    parts: Arc<Parts>,
    bench: Arc<Workbench>,
    journal: Journal,
    hub: Hub,
    link: Link,
    gatekeeper: Gatekeeper,
    model: Option<ModelRef>,
    /// How much the model thinks, if the person said so.
    effort: Option<Effort>,
    /// What was used and paid on other branches.
    elsewhere: (Usage, Cost),
    activity: Activity,
    /// The person's own commands that run.
    commands: HashMap<CallId, CancellationToken>,
    queue: Queue,
    /// A person wants room to be made.
    wish: Option<Wish>,
    /// What is done by the way, ended with the session.
    errands: Errands,
    /// Those who wait for the session to be closed.
    closing: Option<Vec<Answer<()>>>,
    /// A turn that is being ended because its time is over, and the words for it.
    overdue: Option<(TurnId, String)>,
    /// The store failed; nothing more is done.
    failed: bool,
    /// Room is being made.
    compacting: Option<tracing::Span>,
    _lease: Lease,
}

impl Actor {
    pub(super) fn new(
        parts: Arc<Parts>,
        opening: Opening,
        journal: Journal,
        hub: Hub,
        link: Link,
        bench: Arc<Workbench>,
    ) -> Self {
        let transcript = Transcript::of(journal.entries().iter().map(AsRef::as_ref));
        let pending = transcript.open_calls().map(|(call, _)| call.clone()).collect();
        let activity = match transcript.turn {
            Some(turn) => Activity::Broken { turn: turn.id, steps: turn.steps, pending },
            None => Activity::Idle,
        };
        Self {
            session: opening.record.id.clone(),
            gatekeeper: Gatekeeper::new(
                &parts.options,
                &opening.record.id,
                opening.workspace,
                opening.record.mode,
            ),
            parts,
            bench,
            journal,
            hub,
            link,
            model: opening.record.model,
            effort: transcript.effort,
            elsewhere: opening.elsewhere,
            activity,
            commands: HashMap::new(),
            queue: Queue::new(transcript.queue),
            wish: None,
            errands: Errands::default(),
            closing: None,
            overdue: None,
            failed: false,
            compacting: None,
            _lease: opening.lease,
        }
    }

    /// Handles messages until the session is closed or abandoned by every handle.
    pub(super) async fn run(mut self, mut mailbox: mpsc::Receiver<Message>, abandoned: CancellationToken) {
        let subscriptions = self.hub.close_on_drop();
        let jobs = Arc::clone(&self.bench.scene.jobs);
        let mut changes = jobs.subscribe();
        loop {
            let message = tokio::select! {
                biased;
                message = mailbox.recv() => message,
                () = abandoned.cancelled(), if self.closing.is_none() => {
                    self.begin_closing(None);
                    self.end_if_done();
                    if self.is_over() { break }
                    continue;
                }
                () = self.errands.quiet() => {
                    self.compact_when_quiet();
                    continue;
                }
                change = changes.recv() => {
                    // One that was missed is followed by a newer one.
                    if let Ok(job) = change { self.hub.emit(EventBody::Job { job }) }
                    continue;
                }
            };
            let Some(message) = message else { break };
            self.handle(message).await;
            self.end_if_done();
            if self.is_over() {
                break;
            }
        }
        mailbox.close();
        jobs.end_all().await;
        self.bench.scratch.remove();
        let closing = self.closing.take();
        // Whoever learns that the session is closed may open it again at once: the lease goes first.
        drop(self);
        drop(subscriptions);
        for answer in closing.into_iter().flatten() {
            let _ = answer.send(Ok(()));
        }
    }

    fn is_over(&self) -> bool {
        let is_busy = matches!(self.activity, Activity::Running { .. }) || !self.commands.is_empty();
        (self.closing.is_some() || self.failed) && !is_busy
    }

    fn end_if_done(&mut self) {
        if !self.failed {
            return;
        }
        self.end_commands();
        if let Activity::Running { cancel, .. } = &self.activity {
            cancel.cancel();
        }
    }

    async fn handle(&mut self, message: Message) {
        match message {
            Message::Prompt { prompt, answer } => reply_with(answer, self.prompt(prompt).await),
            Message::Resume { answer } => reply_with(answer, self.resume()),
            Message::Interrupt { answer } => reply_with(answer, self.interrupt().await),
            Message::Reply { reply, answer } => match self.gatekeeper.reply(&reply).await {
                Ok(settled) => {
                    let _ = answer.send(Ok(()));
                    self.settle(settled).await;
                }
                Err(error) => reply_with(answer, Err(error)),
            },
            Message::Change { change, answer } => reply_with(answer, self.change(change).await),
            Message::Requeue { queued, content, answer } => {
                reply_with(answer, self.requeue(queued, content).await)
            }
            Message::Travel { to, answer } => reply_with(answer, self.travel(to).await),
            Message::Rename { title, answer } => reply_with(answer, self.rename(&title).await),
            Message::Shell { command, answer } => reply_with(answer, self.shell(command)),
            Message::PersonRan { call, command, result } => self.person_ran(call, command, *result).await,
            Message::Grants { answer } => reply_with(answer, self.grants().await),
            Message::Revoke { grant, answer } => reply_with(answer, self.revoke(&grant).await),
            Message::Compact { wish, answer } => reply_with(answer, self.compact(wish)),
            Message::Named { name } => self.named(*name).await,
            Message::Context { answer } => reply_with(answer, self.context()),
            Message::CompactionOver { turn } => self.compaction_over(&turn).await,
            Message::Look { turn, answer } => {
                if let Ok(look) = self.look(&turn) {
                    let _ = answer.send(look);
                }
            }
            Message::Survey { turn, answer } => {
                if let Ok(survey) = self.survey(&turn) {
                    let _ = answer.send(survey);
                }
            }
            Message::ChangeMode { mode, bodies, answer } => {
                if self.change_mode(mode, bodies).await.is_ok() {
                    let _ = answer.send(());
                }
            }
            Message::TimeIsUp { turn, message } => self.time_is_up(&turn, message),
            Message::State { answer } => reply_with(answer, Ok((self.activity.state(), self.effort))),
            Message::Snapshot { answer } => reply_with(answer, self.snapshot().await),
            Message::Close { answer } => self.begin_closing(Some(answer)),
            Message::BeginStep { turn, answer } => {
                if let Ok(start) = self.begin_step(turn).await {
                    let _ = answer.send(start);
                }
            }
            Message::Record { bodies, answer } => {
                // A turn goes on with another model when one cannot answer.
                let model = bodies.iter().find_map(|body| match body {
                    EntryBody::ModelChanged { model } => Some(model.clone()),
                    _ => None,
                });
                self.model = model.or_else(|| self.model.take());
                self.trace_recorded(&bodies);
                if self.append(bodies).await.is_ok() {
                    let _ = answer.send(());
                }
            }
            Message::Emit { body } => {
                self.trace_told(&body);
                self.hub.emit(body);
            }
            Message::Gate { request, answer } => self.gate(*request, answer).await,
            Message::Expire { call } => {
                let settled = self.gatekeeper.expire(&call);
                self.settle(settled).await;
            }
            Message::EndTurn { turn, stop, message, answer } => {
                let (stop, message) = self.why_ended(&turn, stop, message);
                if let Ok(after) = self.end_turn(turn, stop, message).await {
                    let _ = answer.send(after);
                }
                self.start_follow_up(stop).await;
            }
            Message::TurnGone { turn } => self.turn_gone(&turn).await,
        }
    }

    /// Makes entries durable, or ends the session.
    async fn append(&mut self, bodies: Vec<EntryBody>) -> Result<(), Stopped> {
        if self.failed {
            return Err(Stopped);
        }
        match self.journal.append(bodies).await {
            Ok(()) => Ok(()),
            Err(error) => {
                self.fail(&error);
                Err(Stopped)
            }
        }
    }

    fn fail(&mut self, error: &StoreError) {
        tracing::error!(session = %self.session, %error, "the session ends because the store failed");
        self.failed = true;
        self.gatekeeper.withdraw_all();
        let message = format!("the session store failed, so nothing more is done: {error}");
        self.hub.emit(EventBody::Broken { message });
    }

    /// For requests of the service: the error that the store gave is told.
    async fn append_for_service(&mut self, bodies: Vec<EntryBody>) -> Result<(), ServiceError> {
        if self.failed {
            return Err(ServiceError::NotOpen { session: self.session.clone() });
        }
        let appended = self.journal.append(bodies).await;
        appended.map_err(|error| {
            self.fail(&error);
            store_error(error)
        })
    }

    async fn prompt(&mut self, prompt: Prompt) -> Result<TurnId, ServiceError> {
        if self.closing.is_some() {
            return Err(ServiceError::NotOpen { session: self.session.clone() });
        }
        if prompt.content.iter().all(is_blank) {
            return Err(ServiceError::Invalid { message: "the prompt is empty".to_owned() });
        }
        let Some(model) = &self.model else {
            let message = "the session has no model; choose one first".to_owned();
            return Err(ServiceError::Model { message });
        };
        crate::pictures::check(&self.parts.models, model, &prompt.content)?;
        if let Activity::Running { turn, .. } = &self.activity {
            let turn = match prompt.delivery {
                Delivery::Steer | Delivery::Now if !self.activity.is_interrupted() => turn.clone(),
                Delivery::Steer | Delivery::Now | Delivery::Prompt | Delivery::FollowUp => TurnId::new(),
            };
            let now = prompt.delivery == Delivery::Now;
            let turn = self.enqueue(turn, prompt).await?;
            // It is durable: whatever happens to the step, the next one has it.
            if now {
                self.nudge();
            }
            return Ok(turn);
        }
        let turn = TurnId::new();
        let mut bodies = self.abandon_broken();
        bodies.extend(self.mode_to_tell());
        bodies.extend(self.queue.deliver_all(&turn));
        bodies.push(EntryBody::User {
            turn: turn.clone(),
            content: prompt.content,
            delivery: Delivery::Prompt,
            queued: None,
            author: Author::Person,
        });
        self.append_for_service(bodies).await?;
        self.start(turn.clone(), 0, Vec::new());
        Ok(turn)
    }

    async fn enqueue(&mut self, turn: TurnId, prompt: Prompt) -> Result<TurnId, ServiceError> {
        let (content, delivery) = (prompt.content, prompt.delivery);
        let body = EntryBody::Queued { turn: turn.clone(), content: content.clone(), delivery };
        self.append_for_service(vec![body]).await?;
        if let Some(entry) = self.journal.entries().last() {
            let entry = entry.id.clone();
            self.queue.push(QueuedMessage { entry, turn: turn.clone(), content, delivery });
        }
        // What was queued before an interrupt waits for the next prompt, and this is it.
        if self.activity.is_interrupted() {
            self.queue.expect(&turn);
        }
        Ok(turn)
    }

    fn abandon_broken(&mut self) -> Vec<EntryBody> {
        let Activity::Broken { turn, .. } = &self.activity else { return Vec::new() };
        let transcript = Transcript::of(self.journal.entries().iter().map(AsRef::as_ref));
        let bodies = recover::abandon(&transcript, turn);
        self.activity = Activity::Idle;
        bodies
    }

    fn resume(&mut self) -> Result<Option<TurnId>, ServiceError> {
        if self.model.is_none() {
            return Err(ServiceError::Model {
                message: "the session has no model; choose one first".to_owned(),
            });
        }
        match std::mem::replace(&mut self.activity, Activity::Idle) {
            Activity::Broken { turn, steps, pending } => {
                self.start(turn.clone(), steps, pending);
                Ok(Some(turn))
            }
            running @ Activity::Running { .. } => {
                self.activity = running;
                Ok(None)
            }
            Activity::Idle => Ok(None),
        }
    }

    /// Starts a turn that is durable.
    fn start(&mut self, turn: TurnId, steps: u32, pending: Vec<ToolCall>) {
        let cancel = CancellationToken::new();
        let nudge = cancel.child_token();
        let task = Turn {
            id: turn.clone(),
            link: self.link.clone(),
            bench: Arc::clone(&self.bench),
            cancel: cancel.clone(),
            nudge: nudge.clone(),
            doom: DoomGuard::default(),
            steps,
            lost: 0,
            failures: 0,
            chain: None,
            room: crate::room::RoomState::default(),
        };
        let span = spans::turn(&self.session, &turn);
        self.activity = Activity::Running { turn, steps, cancel, nudge };
        tokio::spawn(task.run_and_report(pending).instrument(span));
    }

    async fn interrupt(&mut self) -> Result<(), ServiceError> {
        self.end_commands();
        match &self.activity {
            Activity::Idle => Ok(()),
            Activity::Running { cancel, .. } => {
                cancel.cancel();
                self.gatekeeper.withdraw_all();
                Ok(())
            }
            Activity::Broken { .. } => {
                let bodies = self.abandon_broken();
                self.append_for_service(bodies).await
            }
        }
    }

    fn begin_closing(&mut self, answer: Option<Answer<()>>) {
        self.closing.get_or_insert_default().extend(answer);
        self.end_commands();
        if let Activity::Running { cancel, .. } = &self.activity {
            cancel.cancel();
            self.gatekeeper.withdraw_all();
        }
    }

    async fn begin_step(&mut self, turn: TurnId) -> Result<StepStart, Stopped> {
        let Some(model) = self.model.clone() else { return Err(Stopped) };
        let (step, nudged) = match &mut self.activity {
            Activity::Running { turn: current, steps, cancel, nudge } if *current == turn => {
                *steps += 1;
                *nudge = cancel.child_token();
                (*steps, nudge.clone())
            }
            _ => return Err(Stopped),
        };
        let mut bodies = self.queue.deliver_steering(&turn);
        bodies.push(EntryBody::StepStarted { turn, step, model: model.clone() });
        self.append(bodies).await?;
        let history = self.journal.entries().to_vec();
        Ok(StepStart { history, model, effort: self.effort, step, nudge: nudged })
    }

    async fn end_turn(
        &mut self,
        turn: TurnId,
        stop: StopReason,
        message: Option<String>,
    ) -> Result<AfterTurn, Stopped> {
        if stop == StopReason::EndTurn && self.closing.is_none() {
            let said = self.queue.deliver_steering(&turn);
            if !said.is_empty() {
                self.append(said).await?;
                return Ok(AfterTurn::GoOn);
            }
        }
        self.append(vec![EntryBody::TurnEnded { turn, stop, message }]).await?;
        self.compacting = None;
        self.activity = Activity::Idle;
        self.after_turn();
        Ok(AfterTurn::Over)
    }

    /// After a turn that ended by itself, the next message in the queue gets its turn.
    async fn start_follow_up(&mut self, stop: StopReason) {
        let idle = matches!(self.activity, Activity::Idle);
        if !idle || self.closing.is_some() || self.failed {
            return;
        }
        let Some(turn) = self.queue.next(stop) else { return };
        let bodies = self.queue.deliver_first(&turn);
        if self.append(bodies).await.is_ok() {
            self.start(turn, 0, Vec::new());
        }
    }

    /// The task of a turn is gone. If it did not end its turn, that is done here.
    async fn turn_gone(&mut self, turn: &TurnId) {
        let unended = matches!(&self.activity, Activity::Running { turn: current, .. } if current == turn);
        if !unended {
            return;
        }
        self.activity = Activity::Idle;
        self.gatekeeper.withdraw_all();
        if !self.failed {
            let transcript = Transcript::of(self.journal.entries().iter().map(AsRef::as_ref));
            let _ = self.append(recover::after_failure(&transcript, turn)).await;
        }
        self.start_follow_up(StopReason::InternalError).await;
    }
}

fn is_blank(content: &Content) -> bool {
    matches!(content, Content::Text { text } if text.trim().is_empty())
}

fn reply_with<T>(answer: Answer<T>, result: Result<T, ServiceError>) {
    // Whoever asked may have gone away; what was done stays done.
    let _ = answer.send(result);
}
