//! Entries folded into what a face shows and what recovery needs.
//!
//! The fold is the same live and on replay: feeding a [`Transcript`] the events
//! of a running session or the entries of a stored one ends in the same value,
//! but for parts that are still open.

mod item;
mod liveness;

use std::collections::HashMap;

use crate::ask::Ask;

use crate::effort::Effort;
use crate::entry::{CallResult, Delivery, Entry, EntryBody, Finish, StopReason, Titler};
use crate::event::{Event, EventBody, PartKind, SessionState};
use crate::id::{CallId, EntryId, PartId, Seq, TurnId};
use crate::intent::Mode;
use crate::job::JobInfo;
use crate::message::{AssistantPart, Content, ModelRef, ToolCall};
use crate::usage::{Cost, Usage};
pub use item::{CallItem, Item, PersonRun};
pub use liveness::Liveness;

/// A session, folded.
#[derive(Debug, Clone, PartialEq)]
pub struct Transcript {
    /// What to show, in order.
    pub items: Vec<Item>,
    /// Messages that wait for their moment, in order.
    pub queue: Vec<QueuedMessage>,
    /// Asks that wait for an answer, in order.
    pub asks: Vec<Ask>,
    /// The turn under way, if there is one.
    pub turn: Option<TurnState>,
    /// How the last turn ended.
    pub stop: Option<(StopReason, Option<String>)>,
    /// The model that answers.
    pub model: Option<ModelRef>,
    /// The mode that holds.
    pub mode: Option<Mode>,
    /// How much the model thinks, if that was said.
    pub effort: Option<Effort>,
    /// The session's name, if it was given one.
    pub title: Option<(String, Titler)>,
    /// All tokens so far.
    pub usage: Usage,
    /// All money so far.
    pub cost: Cost,
    /// Commands in the background, in the order in which they went there.
    pub jobs: Vec<JobInfo>,
    /// The last event folded.
    pub seq: Seq,
    /// The last entry folded.
    pub leaf: Option<EntryId>,
    /// Where the words of the answer begin among the items.
    answer_start: usize,
    /// Items with words that go on where a broken answer had stopped.
    continuations: Vec<usize>,
    /// The last step broke off in the middle of its words.
    cut: bool,
    calls: HashMap<CallId, usize>,
    parts: HashMap<PartId, usize>,
}

/// A message that waits.
#[derive(Debug, Clone, PartialEq)]
pub struct QueuedMessage {
    /// The entry that made it durable.
    pub entry: EntryId,
    /// The turn it will belong to.
    pub turn: TurnId,
    /// What was said.
    pub content: Vec<Content>,
    /// When it is to be delivered.
    pub delivery: Delivery,
}

/// A turn under way.
#[derive(Debug, Clone, PartialEq)]
pub struct TurnState {
    /// Which.
    pub id: TurnId,
    /// Steps begun so far.
    pub steps: u32,
    /// Whether the last step is still open.
    pub step_open: bool,
}

impl Default for Transcript {
    fn default() -> Self {
        Self {
            items: Vec::new(),
            queue: Vec::new(),
            asks: Vec::new(),
            turn: None,
            stop: None,
            model: None,
            mode: None,
            effort: None,
            title: None,
            usage: Usage::default(),
            cost: Cost::ZERO,
            jobs: Vec::new(),
            seq: Seq::START,
            leaf: None,
            answer_start: 0,
            continuations: Vec::new(),
            cut: false,
            calls: HashMap::new(),
            parts: HashMap::new(),
        }
    }
}

impl Transcript {
    /// The fold of a branch.
    pub fn of<'a>(entries: impl IntoIterator<Item = &'a Entry>) -> Self {
        let mut transcript = Self::default();
        for entry in entries {
            transcript.apply_entry(entry);
        }
        transcript
    }

    /// Calls without a result, in order: with whether each has begun.
    pub fn open_calls(&self) -> impl Iterator<Item = (&ToolCall, bool)> {
        self.items.iter().filter_map(|item| match item {
            Item::Call(item) if item.result.is_none() => {
                item.call.as_ref().map(|call| (call, item.started.is_some()))
            }
            _ => None,
        })
    }

    /// A call by its id.
    #[must_use]
    pub fn call(&self, id: &CallId) -> Option<&CallItem> {
        match self.calls.get(id).and_then(|&index| self.items.get(index)) {
            Some(Item::Call(item)) => Some(item),
            _ => None,
        }
    }

    /// What the model last said to the person: its words since the last step that called something.
    #[must_use]
    pub fn answer(&self) -> String {
        let mut answer = String::new();
        for (index, item) in self.items.iter().enumerate().skip(self.answer_start) {
            let Item::Said { kind: PartKind::Text, text, .. } = item else { continue };
            if !answer.is_empty() && !self.continuations.contains(&index) {
                answer.push_str("\n\n");
            }
            answer.push_str(text);
        }
        answer
    }

    /// What the session is doing, seen from one that has it open (`live`) or not.
    #[must_use]
    pub fn state(&self, liveness: Liveness) -> SessionState {
        match (&self.turn, liveness) {
            (None, _) => SessionState::Idle,
            (Some(turn), Liveness::Running) => SessionState::Running { turn: turn.id.clone() },
            (Some(turn), Liveness::Dead) => SessionState::Broken { turn: turn.id.clone() },
        }
    }

    /// Folds one event.
    pub fn apply(&mut self, event: &Event) {
        self.seq = self.seq.max(event.seq);
        match &event.body {
            EventBody::Entry { entry } => self.apply_entry(entry),
            EventBody::PartDelta { part, kind, delta, .. } => self.grow(part, kind, delta),
            EventBody::CallOutput { call, delta } => {
                if let Some(item) = self.call_mut(call) {
                    item.output.push_str(delta);
                } else if let Some(run) = self.person_run_mut(call) {
                    run.output.push_str(delta);
                }
            }
            EventBody::PersonRuns { call, command } => {
                self.items.push(Item::PersonRan(Box::new(PersonRun {
                    call: call.clone(),
                    command: command.clone(),
                    output: String::new(),
                    result: None,
                })))
            }
            EventBody::Job { job } => self.apply_job(job),
            EventBody::Retrying { .. }
            | EventBody::Compacting { .. }
            | EventBody::Notice { .. }
            | EventBody::Broken { .. } => {}
        }
    }

    /// A command of the person that is not over.
    fn person_run_mut(&mut self, call: &CallId) -> Option<&mut PersonRun> {
        self.items.iter_mut().rev().find_map(|item| match item {
            Item::PersonRan(run) if run.call == *call && run.result.is_none() => Some(&mut **run),
            _ => None,
        })
    }

    fn apply_person_ran(&mut self, call: &CallId, command: &str, result: &CallResult) {
        if let Some(run) = self.person_run_mut(call) {
            run.result = Some(result.clone());
            run.output = String::new();
            return;
        }
        self.items.push(Item::PersonRan(Box::new(PersonRun {
            call: call.clone(),
            command: command.to_owned(),
            output: String::new(),
            result: Some(result.clone()),
        })));
    }

    fn apply_job(&mut self, job: &JobInfo) {
        match self.jobs.iter_mut().find(|known| known.id == job.id) {
            Some(known) => known.clone_from(job),
            None => self.jobs.push(job.clone()),
        }
    }

    /// Folds one entry.
    pub fn apply_entry(&mut self, entry: &Entry) {
        self.seq = self.seq.max(entry.seq);
        self.leaf = Some(entry.id.clone());
        match &entry.body {
            EntryBody::Queued { turn, content, delivery } => self.queue.push(QueuedMessage {
                entry: entry.id.clone(),
                turn: turn.clone(),
                content: content.clone(),
                delivery: *delivery,
            }),
            EntryBody::User { turn, content, delivery, queued, author } => {
                self.queue.retain(|message| Some(&message.entry) != queued.as_ref());
                self.cut = false;
                self.items.push(Item::User {
                    content: content.clone(),
                    delivery: *delivery,
                    author: *author,
                });
                if self.turn.as_ref().is_none_or(|current| current.id != *turn) {
                    self.turn = Some(TurnState { id: turn.clone(), steps: 0, step_open: false });
                    self.stop = None;
                }
            }
            EntryBody::StepStarted { step, model, .. } => {
                // An answer that was cut goes on in the next step; one with calls was not the last word.
                let since = self.items.get(self.answer_start..).unwrap_or_default();
                if since.iter().any(|item| matches!(item, Item::Call(_) | Item::User { .. })) {
                    self.answer_start = self.items.len();
                }
                self.model = Some(model.clone());
                if let Some(turn) = &mut self.turn {
                    turn.steps = *step;
                    turn.step_open = true;
                }
            }
            EntryBody::Part { part, body, .. } => self.complete(part, body),
            EntryBody::StepEnded { usage, cost, finish, .. } => {
                self.usage += usage.unwrap_or_default();
                self.cost += *cost;
                self.cut = matches!(finish, Finish::Error { .. } | Finish::Died)
                    && matches!(self.items.last(), Some(Item::Said { kind: PartKind::Text, .. }));
                self.end_step();
            }
            EntryBody::Asked { ask } => self.asks.push(ask.clone()),
            EntryBody::Decided { call, decision } => {
                self.asks.retain(|ask| ask.call != *call);
                if let Some(item) = self.call_mut(call) {
                    item.decision = Some(decision.clone());
                }
            }
            EntryBody::CallStarted { call, intent } => {
                if let Some(item) = self.call_mut(call) {
                    item.started = Some(intent.clone());
                }
            }
            EntryBody::CallEnded { call, result } => {
                self.asks.retain(|ask| ask.call != *call);
                if let Some(item) = self.call_mut(call) {
                    item.result = Some(result.clone());
                    item.ended = Some(entry.at);
                    item.output = String::new();
                }
            }
            EntryBody::TurnEnded { stop, message, .. } => {
                self.turn = None;
                self.asks.clear();
                self.stop = Some((*stop, message.clone()));
                if *stop != StopReason::EndTurn {
                    self.items.push(Item::Ended { stop: *stop, message: message.clone() });
                }
            }
            EntryBody::ModelChanged { model } => self.model = Some(model.clone()),
            EntryBody::ModeChanged { mode } => self.mode = Some(*mode),
            EntryBody::EffortChanged { effort } => self.effort = *effort,
            EntryBody::Titled { title, by, usage, cost } => {
                self.usage += usage.unwrap_or_default();
                self.cost += cost.unwrap_or(Cost::ZERO);
                self.title = Some((title.clone(), *by));
            }
            EntryBody::Travelled { .. } => self.items.push(Item::Travelled),
            EntryBody::PersonRan { call, command, result } => self.apply_person_ran(call, command, result),
            EntryBody::Recovered { message } => {
                // Nobody waits any more for what the dead process had asked.
                self.asks.clear();
                self.items.push(Item::Recovered { message: message.clone() });
            }
            EntryBody::QueueChanged { queued, content } => self.change_queue(queued, content.as_ref()),
            // What a person sees of a call stays as it was.
            EntryBody::Pruned { .. } => {}
            EntryBody::Compacted { compaction } => {
                self.usage += compaction.usage.unwrap_or_default();
                self.cost += compaction.cost;
                self.items.push(Item::Compacted(compaction.clone()));
            }
        }
    }

    fn change_queue(&mut self, queued: &EntryId, content: Option<&Vec<Content>>) {
        let Some(content) = content else { return self.queue.retain(|message| message.entry != *queued) };
        for message in self.queue.iter_mut().filter(|message| message.entry == *queued) {
            message.content.clone_from(content);
        }
    }

    fn end_step(&mut self) {
        if let Some(turn) = &mut self.turn {
            turn.step_open = false;
        }
        for index in std::mem::take(&mut self.parts).into_values() {
            if let Some(Item::Said { open, .. }) = self.items.get_mut(index) {
                *open = false;
            }
        }
    }

    /// Takes note of a new item with words: it may go on where a broken one had stopped.
    fn note_words(&mut self, kind: &PartKind) {
        if *kind == PartKind::Text && std::mem::take(&mut self.cut) {
            self.continuations.push(self.items.len());
        }
    }

    fn call_mut(&mut self, id: &CallId) -> Option<&mut CallItem> {
        match self.calls.get(id).and_then(|&index| self.items.get_mut(index)) {
            Some(Item::Call(item)) => Some(item),
            _ => None,
        }
    }

    fn grow(&mut self, part: &PartId, kind: &PartKind, delta: &str) {
        if !self.parts.contains_key(part) {
            self.note_words(kind);
        }
        let index = *self.parts.entry(part.clone()).or_insert_with(|| {
            self.items.push(match kind {
                PartKind::Call { tool } => Item::Call(Box::new(CallItem::proposed(tool))),
                PartKind::Text | PartKind::Reasoning => {
                    Item::Said { kind: kind.clone(), text: String::new(), open: true }
                }
            });
            self.items.len() - 1
        });
        match self.items.get_mut(index) {
            Some(Item::Said { text, .. }) => text.push_str(delta),
            Some(Item::Call(item)) => item.arguments.push_str(delta),
            _ => {}
        }
    }

    fn complete(&mut self, part: &PartId, body: &AssistantPart) {
        let item = match body {
            AssistantPart::Text { text } => {
                Item::Said { kind: PartKind::Text, text: text.clone(), open: false }
            }
            AssistantPart::Reasoning { text, .. } => {
                Item::Said { kind: PartKind::Reasoning, text: text.clone(), open: false }
            }
            AssistantPart::Call(call) => {
                let mut item = CallItem::proposed(&call.tool);
                item.call = Some(call.clone());
                Item::Call(Box::new(item))
            }
        };
        let index = match self.parts.remove(part) {
            Some(index) => {
                if let Some(place) = self.items.get_mut(index) {
                    *place = item;
                }
                index
            }
            None => {
                if let Item::Said { kind, .. } = &item {
                    self.note_words(&kind.clone());
                }
                self.items.push(item);
                self.items.len() - 1
            }
        };
        if let AssistantPart::Call(call) = body {
            self.calls.insert(call.id.clone(), index);
        }
    }
}

impl CallItem {
    fn proposed(tool: &str) -> Self {
        Self {
            call: None,
            tool: tool.to_owned(),
            arguments: String::new(),
            decision: None,
            started: None,
            output: String::new(),
            result: None,
            ended: None,
        }
    }
}

#[cfg(test)]
mod tests;
