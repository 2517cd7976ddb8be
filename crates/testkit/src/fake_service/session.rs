//! One scripted session: what happened in it and what is still to be played.
//!
//! A state machine without tasks: its owner calls it under a lock and lets it
//! [`advance`](Session::advance). What has happened is in its [`Log`].
//! Invariant: every call that was proposed in a turn is closed exactly once
//! before the turn is broken off.

use std::collections::{HashMap, HashSet, VecDeque};
use std::path::PathBuf;

use rein_protocol::event::{EventBody, PartKind};
use rein_protocol::message::{AssistantPart, Content, ModelRef};
use rein_protocol::service::{OpenSession, Prompt, ServiceError, SessionChange, SessionInfo, Snapshot};
use rein_protocol::transcript::{Liveness, QueuedMessage};
use rein_protocol::{
    Answer, Ask, Author, CallId, CallStatus, Cost, Decider, Decision, Delivery, Display, EntryBody, EntryId,
    Finish, Mode, Reply, Seq, SessionId, StopReason, Timestamp, TurnId, Usage, Verdict,
};

use super::act::{Act, Beat, entry_in_turn, event_in_turn};
use super::call::{FakeCall, closed};
use super::log::{Log, OpenPart};

pub(super) struct Session {
    id: SessionId,
    workspace: PathBuf,
    pub(super) title: String,
    pub(super) mode: Mode,
    pub(super) model: ModelRef,
    created: Timestamp,
    log: Log,
    open: bool,
    running: bool,
    wants_scene: bool,
    /// A person said no without words: the turn ends.
    dismissed: bool,
    beats: VecDeque<Beat>,
    /// What a person said instead of yes.
    objections: HashMap<CallId, String>,
}

/// Why a session does not go on by itself.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Step {
    Idle,
    Waiting,
    WantsScene,
}

impl Session {
    pub(super) fn new(id: SessionId, workspace: PathBuf) -> Self {
        Self {
            log: Log::new(id.clone()),
            id,
            workspace,
            title: String::new(),
            mode: Mode::default(),
            model: ModelRef { provider: "fake".to_owned(), model: "model".to_owned() },
            created: Timestamp::now(),
            open: false,
            running: false,
            wants_scene: false,
            dismissed: false,
            beats: VecDeque::new(),
            objections: HashMap::new(),
        }
    }

    pub(super) fn open(&mut self, request: &OpenSession) {
        if self.open {
            return;
        }
        self.open = true;
        self.log.begin_opening();
        if let Some(workspace) = &request.workspace {
            self.workspace.clone_from(workspace);
        }
        if self.log.transcript.turn.is_some() {
            self.break_off(Finish::Died, CallStatus::Unknown);
            let message = "the last turn broke off; what was open in it has been closed".to_owned();
            self.log.append(EntryBody::Recovered { message });
        }
        if self.log.entries.is_empty() {
            // A new session begins with what was asked for; only a change is an entry.
            self.model = request.model.clone().unwrap_or_else(|| self.model.clone());
            self.mode = request.mode.unwrap_or(self.mode);
        } else {
            self.change(SessionChange { model: request.model.clone(), mode: request.mode, effort: None });
        }
    }

    pub(super) fn close(&mut self) {
        if self.open {
            self.open = false;
            self.stop(StopReason::Interrupted, Finish::Interrupted);
            self.log.end_opening();
        }
    }

    pub(super) fn is_open(&self) -> bool {
        self.open
    }

    pub(super) fn is_running(&self) -> bool {
        self.running
    }

    pub(super) fn asks(&self) -> &[Ask] {
        &self.log.transcript.asks
    }

    pub(super) fn log(&self) -> &Log {
        &self.log
    }

    pub(super) fn info(&self) -> SessionInfo {
        let liveness = if self.running { Liveness::Running } else { Liveness::Dead };
        SessionInfo {
            id: self.id.clone(),
            workspace: self.workspace.clone(),
            title: self.log.transcript.title.as_ref().map_or(&self.title, |(title, _)| title).clone(),
            model: Some(self.model()),
            mode: self.log.transcript.mode.unwrap_or(self.mode),
            effort: self.log.transcript.effort,
            created: self.created,
            updated: self.log.entries.last().map_or(self.created, |entry| entry.at),
            entries: self.log.entries.len() as u64,
            seq: self.log.entries.last().map_or(Seq::START, |entry| entry.seq),
            state: self.log.transcript.state(liveness),
        }
    }

    pub(super) fn snapshot(&self) -> Snapshot {
        Snapshot {
            info: self.info(),
            entries: self.log.entries.clone(),
            asks: self.log.transcript.asks.clone(),
            jobs: self.log.transcript.jobs.clone(),
            open: self.log.open(),
            seq: self.log.seq(),
            usage: self.log.transcript.usage,
            cost: self.log.transcript.cost,
            context: None,
        }
    }

    pub(super) fn requeue(
        &mut self,
        queued: EntryId,
        content: Option<Vec<Content>>,
    ) -> Result<(), ServiceError> {
        if !self.log.transcript.queue.iter().any(|message| message.entry == queued) {
            return Err(ServiceError::NotQueued { queued });
        }
        self.log.append(EntryBody::QueueChanged { queued, content });
        Ok(())
    }

    pub(super) fn prompt(&mut self, prompt: Prompt) -> TurnId {
        let Prompt { content, delivery } = prompt;
        if self.running {
            let turn = match (delivery, &self.log.transcript.turn) {
                (Delivery::Steer | Delivery::Now, Some(current)) => current.id.clone(),
                _ => TurnId::new(),
            };
            self.log.append(EntryBody::Queued { turn: turn.clone(), content, delivery });
            return turn;
        }
        if let Some(turn) = self.broken_turn() {
            self.log.append(EntryBody::TurnEnded { turn, stop: StopReason::Interrupted, message: None });
        }
        let turn = TurnId::new();
        for waiting in self.log.transcript.queue.clone() {
            self.deliver(QueuedMessage { turn: turn.clone(), ..waiting });
        }
        self.begin(turn.clone(), content, delivery, None);
        turn
    }

    pub(super) fn broken_turn(&self) -> Option<TurnId> {
        self.log.transcript.turn.as_ref().filter(|_| !self.running).map(|turn| turn.id.clone())
    }

    pub(super) fn resume(&mut self, scene: Vec<Act>) {
        self.running = true;
        self.stage(scene);
    }

    pub(super) fn interrupt(&mut self) {
        self.stop(StopReason::Interrupted, Finish::Interrupted);
    }

    pub(super) fn reply(&mut self, reply: Reply) -> Result<(), ServiceError> {
        let Some(ask) = self.log.transcript.asks.iter().find(|ask| ask.id == reply.ask).cloned() else {
            return Err(ServiceError::UnknownAsk { ask: reply.ask });
        };
        let (verdict, reason) = match reply.answer {
            Answer::Once => (Verdict::Allow, "a person said yes"),
            Answer::Said { .. } => (Verdict::Allow, "a person answered the question"),
            Answer::Always { .. } => (Verdict::Allow, "a person said yes, always"),
            Answer::Reject { message: Some(message) } => {
                self.objections.insert(ask.call.clone(), message);
                (Verdict::Deny, "a person said no")
            }
            Answer::Reject { message: None } => {
                self.dismissed = true;
                (Verdict::Deny, "a person said no")
            }
        };
        let decision = Decision {
            verdict,
            reasons: vec![reason.to_owned()],
            ask: Some(ask.id),
            by: Decider::Person,
            waited_ms: 0,
        };
        self.log.append(EntryBody::Decided { call: ask.call, decision });
        Ok(())
    }

    pub(super) fn change(&mut self, change: SessionChange) {
        if let Some(model) = change.model {
            self.log.append(EntryBody::ModelChanged { model });
        }
        if let Some(mode) = change.mode {
            self.log.append(EntryBody::ModeChanged { mode });
        }
        if let Some(effort) = change.effort {
            self.log.append(EntryBody::EffortChanged { effort: Some(effort) });
        }
    }

    /// What the turn under way plays next.
    pub(super) fn stage(&mut self, scene: Vec<Act>) {
        self.wants_scene = false;
        self.beats.extend(scene.into_iter().flat_map(Act::beats));
    }

    /// Plays as far as it goes.
    pub(super) fn advance(&mut self, gates: &HashSet<String>) -> Step {
        while self.running {
            if self.wants_scene {
                return Step::WantsScene;
            }
            if self.dismissed {
                self.stop(StopReason::Rejected, Finish::Stop);
                continue;
            }
            match self.beats.pop_front() {
                None => self.come_to_the_end(),
                Some(beat) if self.waits_at(&beat, gates) => {
                    self.beats.push_front(beat);
                    return Step::Waiting;
                }
                Some(beat) => self.perform(beat),
            }
        }
        Step::Idle
    }

    /// Stops the process in which this session runs, as far as anyone can see.
    pub(super) fn die(&mut self) {
        self.running = false;
        self.beats.clear();
    }

    pub(super) fn begin(
        &mut self,
        turn: TurnId,
        content: Vec<Content>,
        delivery: Delivery,
        queued: Option<EntryId>,
    ) {
        if let (true, Some(Content::Text { text })) = (self.title.is_empty(), content.first()) {
            self.title = text.lines().next().unwrap_or_default().chars().take(80).collect();
        }
        self.log.append(EntryBody::User { turn, content, delivery, queued, author: Author::Person });
        self.running = true;
        self.wants_scene = true;
        self.dismissed = false;
    }

    /// With an entry, as it stands.
    pub(super) fn append(&mut self, body: EntryBody) {
        self.log.append(body);
    }

    /// Emits an event that the test made, in the turn under way if there is one.
    pub(super) fn emit_scripted(&mut self, body: EventBody) {
        let body = match &self.log.transcript.turn {
            Some(turn) => event_in_turn(body, &turn.id),
            None => body,
        };
        match body {
            EventBody::Entry { entry } => self.append_scripted(entry.id, entry.body),
            EventBody::Broken { message } => {
                self.log.emit(EventBody::Broken { message });
                self.die();
                self.open = false;
                self.log.end_opening();
            }
            other => self.log.emit(other),
        }
    }

    fn append_scripted(&mut self, id: EntryId, body: EntryBody) {
        let mut body = match &self.log.transcript.turn {
            Some(turn) => entry_in_turn(body, &turn.id),
            None => body,
        };
        if let EntryBody::Asked { ask } = &mut body {
            ask.session = self.id.clone();
            self.beats.push_front(Beat::Await(ask.id.clone()));
        }
        self.log.append_as(id, body);
        if self.running && self.log.transcript.turn.is_none() {
            self.after_the_turn();
        }
    }

    fn waits_at(&self, beat: &Beat, gates: &HashSet<String>) -> bool {
        match beat {
            Beat::Hold(gate) => !gates.contains(gate),
            Beat::Await(id) => self.log.transcript.asks.iter().any(|ask| ask.id == *id),
            _ => false,
        }
    }

    fn perform(&mut self, beat: Beat) {
        match beat {
            Beat::Hold(_) | Beat::Await(_) => {}
            Beat::Entry(body) => self.append_scripted(EntryId::new(), body),
            Beat::Event(body) => self.emit_scripted(body),
            Beat::StepStart => {
                while let Some(message) = self.next_steer() {
                    self.deliver(message);
                }
                let Some(turn) = &self.log.transcript.turn else { return };
                let (turn, step) = (turn.id.clone(), turn.steps + 1);
                self.log.append(EntryBody::StepStarted { turn, step, model: self.model() });
            }
            Beat::StepEnd(finish) => {
                let usage = Usage { input: 100, output: 10, ..Usage::default() };
                self.end_step(finish, Some(usage));
            }
            Beat::Ask(body) => {
                let Some(turn) = &self.log.transcript.turn else { return };
                let mut body = entry_in_turn(body, &turn.id);
                if let EntryBody::Asked { ask } = &mut body {
                    ask.session = self.id.clone();
                }
                self.log.append(body);
            }
            Beat::Run(call) => self.run(&call),
        }
    }

    fn run(&mut self, call: &FakeCall) {
        let decided = self.log.transcript.call(&call.id).and_then(|item| item.decision.clone());
        if decided.is_some_and(|decision| decision.verdict == Verdict::Deny) {
            let words = self.objections.remove(&call.id).unwrap_or_default();
            let result = closed(CallStatus::Rejected, &words, call.intent.display.clone());
            return self.log.append(EntryBody::CallEnded { call: call.id.clone(), result });
        }
        if !call.needs_yes() {
            let reasons = vec!["the script says so".to_owned()];
            let decision =
                Decision { verdict: Verdict::Allow, reasons, ask: None, by: Decider::Policy, waited_ms: 0 };
            self.log.append(EntryBody::Decided { call: call.id.clone(), decision });
        }
        for beat in call.run().into_iter().rev() {
            self.beats.push_front(beat);
        }
    }

    /// The scene is over: what steered the turn gets a scene of its own, else the turn ends.
    fn come_to_the_end(&mut self) {
        if let Some(message) = self.next_steer() {
            self.deliver(message);
            self.wants_scene = true;
            return;
        }
        if let Some(turn) = &self.log.transcript.turn {
            let turn = turn.id.clone();
            self.log.append(EntryBody::TurnEnded { turn, stop: StopReason::EndTurn, message: None });
        }
        self.after_the_turn();
        self.start_queued();
    }

    fn after_the_turn(&mut self) {
        self.die();
        self.wants_scene = false;
        self.dismissed = false;
    }

    /// After a turn that came to its own end the next message gets its turn.
    fn start_queued(&mut self) {
        // What is queued in a session that is being closed waits for its next opening.
        if let Some(next) = self.log.transcript.queue.first().filter(|_| self.open).cloned() {
            let turn = match next.delivery {
                // The turn that it was to steer is over.
                Delivery::Steer | Delivery::Now => TurnId::new(),
                Delivery::Prompt | Delivery::FollowUp => next.turn,
            };
            self.begin(turn, next.content, next.delivery, Some(next.entry));
        }
    }

    fn next_steer(&self) -> Option<QueuedMessage> {
        self.log.transcript.queue.iter().find(|message| message.delivery.joins_turn()).cloned()
    }

    fn deliver(&mut self, message: QueuedMessage) {
        let QueuedMessage { entry, turn, content, delivery } = message;
        self.log.append(EntryBody::User {
            turn,
            content,
            delivery,
            queued: Some(entry),
            author: Author::Person,
        });
    }

    /// Ends the turn under way before its time.
    fn stop(&mut self, stop: StopReason, finish: Finish) {
        if !self.running {
            return;
        }
        self.break_off(finish, CallStatus::Interrupted);
        if let Some(turn) = &self.log.transcript.turn {
            let turn = turn.id.clone();
            self.log.append(EntryBody::TurnEnded { turn, stop, message: None });
        }
        self.after_the_turn();
    }

    /// Closes everything that is open inside a turn; calls that had begun with the given status.
    fn break_off(&mut self, finish: Finish, begun: CallStatus) {
        let Some(turn) = self.log.transcript.turn.clone() else { return };
        for OpenPart { part, kind, text } in self.log.take_open_parts() {
            let body = match kind {
                PartKind::Text => AssistantPart::Text { text },
                PartKind::Reasoning => AssistantPart::Reasoning { text, opaque: None },
                PartKind::Call { .. } => continue,
            };
            self.log.append(EntryBody::Part { turn: turn.id.clone(), part, body });
        }
        if turn.step_open {
            self.end_step(finish, None);
        }
        let open: Vec<(CallId, bool)> =
            self.log.transcript.open_calls().map(|(call, started)| (call.id.clone(), started)).collect();
        for (call, started) in open {
            let denied = self.log.transcript.call(&call).and_then(|item| item.decision.as_ref());
            let denied = denied.is_some_and(|decision| decision.verdict == Verdict::Deny);
            let status = match (denied, started) {
                (true, _) => CallStatus::Rejected,
                (false, true) => begun,
                (false, false) => CallStatus::NotRun,
            };
            let result = closed(status, "the turn ended before this call did", Display::default());
            self.log.append(EntryBody::CallEnded { call, result });
        }
    }

    fn end_step(&mut self, finish: Finish, usage: Option<Usage>) {
        let Some(turn) = &self.log.transcript.turn else { return };
        let (turn, step) = (turn.id.clone(), turn.steps);
        self.log.append(EntryBody::StepEnded { turn, step, finish, usage, cost: Cost::ZERO, cache: None });
    }

    fn model(&self) -> ModelRef {
        self.log.transcript.model.clone().unwrap_or_else(|| self.model.clone())
    }
}
