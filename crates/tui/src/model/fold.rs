//! What the session tells, folded into the state of the face.
//!
//! The same for events that come and for entries of a session that is opened:
//! what is finished is committed in order, the rest is kept in `live`.

use std::time::Duration;

use rein_protocol::{
    Ask, CallId, CallResult, Content, Entry, EntryBody, Event, EventBody, SessionState, Snapshot, StopReason,
    Titler, TodoList,
};

use super::dialog::Dialog;
use super::live::{Card, Fold, Live};
use super::request::{Purpose, Request};
use super::{Effect, Focus, Kind, Model, Queued, Retry, Turn};
use crate::bindings::Deed;
use crate::view;

/// How many entries of an opened session are shown; the pager has the rest.
const SHOWN_ENTRIES: usize = 120;

impl Model {
    pub(super) fn opened(&mut self, snapshot: Snapshot) -> Vec<Effect> {
        let first = self.session.is_none();
        self.forget_session();
        let info = &snapshot.info;
        self.session = Some(info.id.clone());
        self.workspace.clone_from(&info.workspace);
        self.model.clone_from(&info.model);
        self.mode = info.mode;
        self.effort = info.effort;
        self.title.clone_from(&info.title);
        self.changes_are_shown();
        if let Some(how) = self.began.take() {
            self.note(view::note::remark(
                &format!("{how}: the session before stays as it is"),
                self.size.columns,
            ));
        }
        let banner = view::note::banner(self, if first { None } else { Some(&info.title) });
        self.note(banner);
        let mut effects = self.load(snapshot);
        effects.append(&mut self.unsent);
        effects
    }

    /// The person went to another place of the session: what is there now.
    pub(super) fn reloaded(&mut self, snapshot: Snapshot) -> Vec<Effect> {
        if self.session.as_ref() != Some(&snapshot.info.id) {
            return Vec::new();
        }
        self.forget_session();
        // That the person came here has been told.
        let mut snapshot = snapshot;
        let told =
            snapshot.entries.iter().rposition(|entry| matches!(entry.body, EntryBody::Travelled { .. }));
        if let Some(told) = told {
            snapshot.entries.remove(told);
        }
        self.load(snapshot)
    }

    fn load(&mut self, snapshot: Snapshot) -> Vec<Effect> {
        self.replay(&snapshot);
        self.jobs.clone_from(&snapshot.jobs);
        self.remember_use(&snapshot);
        self.mode = snapshot.info.mode;
        self.effort = snapshot.info.effort;
        self.model = snapshot.info.model.or(self.model.take());
        self.changes_are_shown();
        match snapshot.info.state {
            SessionState::Running { .. } => {}
            SessionState::Idle => self.turn = None,
            SessionState::Broken { .. } => {
                self.turn = None;
                let hint = "the last turn was cut off: /continue goes on with it, a prompt begins another";
                self.note(view::note::remark(hint, self.size.columns));
            }
        }
        let mut effects = Vec::new();
        for event in snapshot.open {
            effects.extend(self.event(event));
        }
        self.dialogs.clear();
        for ask in snapshot.asks {
            effects.extend(self.asked(ask));
        }
        self.loaded = Some(snapshot.seq);
        effects
    }

    /// What a session used so far, and how full the window is.
    pub(super) fn remember_use(&mut self, snapshot: &Snapshot) {
        (self.usage, self.cost) = (snapshot.usage, snapshot.cost);
        if let Some(used) = snapshot.context {
            self.window = used.window;
            self.context = if used.used > 0 { used.used } else { self.context };
        }
    }

    pub(super) fn forget_session(&mut self) {
        self.live.clear();
        self.runs.clear();
        self.loaded = None;
        self.compacting = None;
        self.fold = Fold::default();
        self.queue.clear();
        self.dialogs.clear();
        self.todo = None;
        self.turn = None;
        self.retry = None;
        self.context = 0;
        self.window = None;
        self.compacting = None;
    }

    /// The end of what was recorded, as if it happened now.
    pub(super) fn replay(&mut self, snapshot: &Snapshot) {
        let from = snapshot.entries.len().saturating_sub(SHOWN_ENTRIES);
        // A turn is shown from its beginning.
        let begins = |entry: &Entry| matches!(entry.body, EntryBody::User { .. });
        let start = snapshot.entries.iter().skip(from).position(begins).map_or(from, |at| from + at);
        if snapshot.entries.iter().take(start).any(begins) {
            let key = self.bindings.shown(Deed::Transcript).unwrap_or_else(|| "/transcript".to_owned());
            let told = format!("earlier messages: {key} shows them");
            self.note(view::note::remark(&told, self.size.columns));
        }
        for entry in snapshot.entries.iter().skip(start) {
            self.entry(entry);
        }
    }

    pub(super) fn event(&mut self, event: Event) -> Vec<Effect> {
        if self.session.as_ref().is_some_and(|session| *session != event.session) {
            return Vec::new();
        }
        if self.loaded.is_some_and(|loaded| event.seq <= loaded) {
            return Vec::new();
        }
        match event.body {
            EventBody::Entry { entry } => return self.entry(&entry),
            // Settled with the next frame: there may be thousands a second.
            EventBody::PartDelta { part, kind, delta, .. } => self.grew(part, &kind, &delta),
            EventBody::CallOutput { call, delta } => {
                if let Some(card) = self.card(&call) {
                    card.tail.push(&delta);
                }
            }
            EventBody::PersonRuns { call, command } => self.person_runs(call, &command),
            EventBody::Compacting { reason } => self.compacting = Some(reason),
            EventBody::Job { job } => match self.jobs.iter_mut().find(|known| known.id == job.id) {
                Some(known) => *known = job,
                None => self.jobs.push(job),
            },
            EventBody::Retrying { attempt, delay_ms, error, .. } => {
                let at = self.now + Duration::from_millis(delay_ms);
                self.retry = Some(Retry { at, attempt, error });
            }
            EventBody::Notice { message } => {
                self.compacting = None;
                let lines = view::note::notice(&message, self.size.columns);
                self.note(lines);
            }
            EventBody::Broken { message } => {
                self.turn = None;
                let hint = "what was recorded is kept: start rein again with --continue";
                let lines = view::note::error(&message, Some(hint), self.size.columns);
                self.note(lines);
            }
        }
        Vec::new()
    }

    /// One entry.
    fn entry(&mut self, entry: &Entry) -> Vec<Effect> {
        let mut effects = Vec::new();
        match &entry.body {
            EntryBody::Queued { content, delivery, .. } => self.queue.push(Queued {
                entry: entry.id.clone(),
                text: text_of(content),
                delivery: *delivery,
            }),
            EntryBody::User { content, queued, author, .. } => {
                self.queue.retain(|message| Some(&message.entry) != queued.as_ref());
                self.finish_all();
                self.show_changes();
                let lines = view::note::message(*author, &text_of(content), self.size.columns);
                self.commit(Kind::User, lines);
                effects.extend(self.pictures_of(content));
                self.spoken = true;
                let now = self.now;
                self.turn.get_or_insert(Turn { since: now, interrupting: false });
            }
            EntryBody::StepStarted { model, .. } => {
                (self.retry, self.compacting) = (None, None);
                self.model = Some(model.clone());
                let now = self.now;
                self.turn.get_or_insert(Turn { since: now, interrupting: false });
            }
            EntryBody::Part { part, body, .. } => self.completed(part, body),
            EntryBody::StepEnded { usage, cost, .. } => {
                if let Some(usage) = usage {
                    self.usage += *usage;
                    self.context = usage.total();
                }
                self.cost += *cost;
                self.finish_words();
            }
            EntryBody::Asked { ask } => effects.extend(self.asked(ask.clone())),
            EntryBody::Decided { call, .. } => self.withdraw(call),
            EntryBody::CallStarted { call, intent } => {
                let now = self.now;
                if let Some(card) = self.card(call) {
                    card.since = Some(now);
                    card.display = Some(intent.display.clone());
                }
            }
            EntryBody::CallEnded { call, result } => effects.extend(self.call_ended(call, result)),
            EntryBody::TurnEnded { stop, message, .. } => {
                effects.extend(self.turn_ended(*stop, message.as_deref()));
            }
            EntryBody::QueueChanged { queued, content } => match content {
                Some(content) => {
                    if let Some(message) = self.queue.iter_mut().find(|message| message.entry == *queued) {
                        message.text = text_of(content);
                    }
                }
                None => self.queue.retain(|message| message.entry != *queued),
            },
            EntryBody::Pruned { .. } => {}
            EntryBody::Travelled { .. } => {
                self.finish_all();
                let lines =
                    view::note::divider("went back: what follows goes on from here", self.size.columns);
                self.note(lines);
                effects.push(Effect::Reload);
            }
            EntryBody::PersonRan { call, command, result } => self.person_ran(call, command, result),
            EntryBody::Titled { title, by: Titler::Person, .. } => {
                self.title.clone_from(title);
                let lines = view::note::divider(&format!("session: {title}"), self.size.columns);
                self.note(lines);
            }
            EntryBody::Titled { title, by: Titler::Model, .. } => self.title.clone_from(title),
            EntryBody::EffortChanged { effort } => self.effort = *effort,
            EntryBody::Compacted { compaction } => {
                (self.compacting, self.remark) = (None, None);
                self.context = compaction.tokens_after;
                self.finish_all();
                let lines = view::note::divider(&view::note::compacted(compaction), self.size.columns);
                self.note(lines);
            }
            EntryBody::ModelChanged { model } => {
                self.model = Some(model.clone());
                // Another window; the old one would be a lie.
                self.window = None;
                effects.push(Effect::Request(Request::Look(Purpose::Window)));
            }
            EntryBody::ModeChanged { mode } => self.mode = *mode,
            EntryBody::Recovered { message } => {
                self.dialogs.clear();
                self.finish_all();
                let lines = view::note::divider(&format!("recovered: {message}"), self.size.columns);
                self.note(lines);
            }
        }
        self.settle();
        effects
    }

    fn call_ended(&mut self, call: &CallId, result: &CallResult) -> Vec<Effect> {
        self.withdraw(call);
        if let Some(list) = TodoList::in_display(&result.display) {
            self.todo = Some(list).filter(|list| list.items.iter().any(|item| item.state.is_open()));
        }
        if let Some(card) = self.card(call) {
            card.result = Some(result.clone());
        }
        self.pictures_of(&result.content)
    }

    fn turn_ended(&mut self, stop: StopReason, message: Option<&str>) -> Vec<Effect> {
        self.finish_all();
        self.dialogs.clear();
        (self.retry, self.compacting) = (None, None);
        let was_running = self.turn.take().is_some();
        let lines = view::note::ended(stop, message, self.size.columns);
        self.note(lines);
        self.flush_fold();
        match (was_running, self.focus) {
            (true, Focus::Elsewhere) => vec![Effect::Notify("rein is done".to_owned())],
            _ => Vec::new(),
        }
    }

    fn asked(&mut self, ask: Ask) -> Vec<Effect> {
        let title = view::one_line(&ask.display.title, 80);
        self.dialogs.push_back(Dialog::new(ask, self.now));
        match self.focus {
            Focus::Elsewhere => vec![Effect::Notify(format!("rein asks: {title}"))],
            Focus::Here => Vec::new(),
        }
    }

    /// An ask was settled, here or by somebody else.
    fn withdraw(&mut self, call: &CallId) {
        let now = self.now;
        let before = self.dialogs.front().map(|dialog| dialog.ask.id.clone());
        self.dialogs.retain(|dialog| dialog.ask.call != *call);
        if let Some(front) = self.dialogs.front_mut().filter(|front| Some(&front.ask.id) != before.as_ref()) {
            front.appears(now);
        }
    }

    /// Says that another model or mode holds, once it matters.
    fn show_changes(&mut self) {
        if self.model != self.shown_model && self.shown_model.is_some() {
            let name = self.model.as_ref().map(ToString::to_string).unwrap_or_default();
            self.note(view::note::divider(&format!("model: {name}"), self.size.columns));
        }
        if self.mode != self.shown_mode {
            self.note(view::note::divider(&format!("mode: {}", self.mode.name()), self.size.columns));
        }
        if self.effort != self.shown_effort {
            let name = self.effort.map_or("as the settings say", rein_protocol::Effort::name);
            self.note(view::note::divider(&format!("effort: {name}"), self.size.columns));
        }
        self.changes_are_shown();
    }

    fn changes_are_shown(&mut self) {
        (self.shown_mode, self.shown_model) = (self.mode, self.model.clone());
        self.shown_effort = self.effort;
    }

    fn card(&mut self, call: &CallId) -> Option<&mut Card> {
        let is_it = |card: &&mut Card| card.id.as_ref() == Some(call);
        if let Some(run) = self.runs.iter_mut().find(is_it) {
            return Some(run);
        }
        self.live.iter_mut().find_map(|live| match live {
            Live::Call(card) if card.id.as_ref() == Some(call) => Some(&mut **card),
            _ => None,
        })
    }
}

/// The words of a message; a picture that they do not name is a word.
pub(crate) fn text_of(content: &[Content]) -> String {
    let named =
        content.iter().any(|piece| matches!(piece, Content::Text { text } if text.contains("[image ")));
    let words: Vec<&str> = content
        .iter()
        .filter_map(|piece| match piece {
            Content::Text { text } => Some(text.as_str()),
            Content::Image { .. } if named => None,
            Content::Image { .. } => Some("[picture]"),
        })
        .collect();
    words.join("\n")
}
