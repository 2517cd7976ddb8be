//! What happened in a scripted session: entries, events and their fold.
//!
//! Invariants: places strictly increase; the transcript is the fold of the
//! events; nothing is ever taken away.

use std::collections::HashSet;

use rein_protocol::event::{Event, EventBody, PartKind};
use rein_protocol::transcript::Transcript;
use rein_protocol::{CallId, Entry, EntryBody, EntryId, PartId, Seq, SessionId, Timestamp};

pub(super) struct Log {
    session: SessionId,
    pub(super) entries: Vec<Entry>,
    pub(super) transcript: Transcript,
    events: Vec<Event>,
    /// How many events there were at the end of each opening.
    ends: Vec<usize>,
    seq: Seq,
    open_parts: Vec<OpenPart>,
}

/// A part that has grown and not been completed.
pub(super) struct OpenPart {
    pub(super) part: PartId,
    pub(super) kind: PartKind,
    pub(super) text: String,
}

/// What has come since a place in the log.
pub(super) struct News {
    pub(super) events: Vec<Event>,
    pub(super) closed: bool,
}

impl Log {
    pub(super) fn new(session: SessionId) -> Self {
        Self {
            session,
            entries: Vec::new(),
            transcript: Transcript::default(),
            events: Vec::new(),
            ends: Vec::new(),
            seq: Seq::START.next_epoch(),
            open_parts: Vec::new(),
        }
    }

    /// How many events there are.
    pub(super) fn len(&self) -> usize {
        self.events.len()
    }

    pub(super) fn begin_opening(&mut self) {
        self.seq = self.seq.next_epoch();
    }

    pub(super) fn end_opening(&mut self) {
        self.ends.push(self.events.len());
    }

    /// Which opening it is in.
    pub(super) fn opening(&self) -> usize {
        self.ends.len()
    }

    /// The place of the last event.
    pub(super) fn seq(&self) -> Seq {
        self.seq
    }

    /// What has come of parts and calls that are still open.
    pub(super) fn open(&self) -> Vec<Event> {
        let mut missed = self.catch_up(Seq::START);
        missed
            .retain(|event| matches!(event.body, EventBody::PartDelta { .. } | EventBody::CallOutput { .. }));
        missed
    }

    /// What a subscriber at `after` has missed.
    pub(super) fn catch_up(&self, after: Seq) -> Vec<Event> {
        let mut superseded = Superseded::default();
        let recent = self.events.iter().rev().take_while(|event| event.seq > after);
        let mut missed: Vec<Event> = recent.filter(|event| superseded.keeps(event)).cloned().collect();
        missed.reverse();
        missed
    }

    /// The events of an opening from a place on.
    pub(super) fn news(&self, opening: usize, position: usize) -> News {
        let end = self.ends.get(opening).copied().unwrap_or(self.events.len());
        let events = self.events.get(position..end).unwrap_or_default().to_vec();
        News { events, closed: self.ends.len() > opening }
    }

    pub(super) fn append(&mut self, body: EntryBody) {
        self.append_as(EntryId::new(), body);
    }

    pub(super) fn append_as(&mut self, id: EntryId, body: EntryBody) {
        match &body {
            EntryBody::Part { part, .. } => self.open_parts.retain(|open| open.part != *part),
            EntryBody::StepEnded { .. } | EntryBody::TurnEnded { .. } => self.open_parts.clear(),
            _ => {}
        }
        let parent = self.entries.last().map(|entry| entry.id.clone());
        let (session, seq) = (self.session.clone(), self.seq.next());
        let entry = Entry { id, session, parent, seq, at: Timestamp::now(), body };
        self.entries.push(entry.clone());
        self.emit(EventBody::Entry { entry: Box::new(entry) });
    }

    pub(super) fn emit(&mut self, body: EventBody) {
        if let EventBody::PartDelta { part, kind, delta, .. } = &body {
            match self.open_parts.iter_mut().find(|open| open.part == *part) {
                Some(open) => open.text.push_str(delta),
                None => {
                    let (part, kind, text) = (part.clone(), kind.clone(), delta.clone());
                    self.open_parts.push(OpenPart { part, kind, text });
                }
            }
        }
        self.seq = self.seq.next();
        let event = Event { session: self.session.clone(), seq: self.seq, body };
        self.transcript.apply(&event);
        self.events.push(event);
    }

    pub(super) fn take_open_parts(&mut self) -> Vec<OpenPart> {
        std::mem::take(&mut self.open_parts)
    }
}

/// What later events made unnecessary, met from the last event to the first.
#[derive(Default)]
struct Superseded {
    parts: HashSet<PartId>,
    calls: HashSet<CallId>,
    step_ended: bool,
    turn_ended: bool,
    anything: bool,
}

impl Superseded {
    fn keeps(&mut self, event: &Event) -> bool {
        let keeps = match &event.body {
            EventBody::Entry { entry } => {
                self.learn(entry);
                true
            }
            EventBody::PartDelta { part, .. } => !self.step_ended && !self.parts.contains(part),
            EventBody::CallOutput { call, .. } => !self.turn_ended && !self.calls.contains(call),
            EventBody::Retrying { .. } | EventBody::Compacting { .. } | EventBody::Notice { .. } => {
                !self.anything
            }
            EventBody::PersonRuns { call, .. } => !self.calls.contains(call),
            EventBody::Job { .. } | EventBody::Broken { .. } => true,
        };
        self.anything = true;
        keeps
    }

    fn learn(&mut self, entry: &Entry) {
        match &entry.body {
            EntryBody::Part { part, .. } => {
                self.parts.insert(part.clone());
            }
            EntryBody::CallEnded { call, .. } | EntryBody::PersonRan { call, .. } => {
                self.calls.insert(call.clone());
            }
            EntryBody::StepEnded { .. } => self.step_ended = true,
            EntryBody::TurnEnded { .. } => (self.step_ended, self.turn_ended) = (true, true),
            _ => {}
        }
    }
}
