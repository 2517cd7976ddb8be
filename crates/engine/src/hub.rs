//! The events of one open session, for any number of subscribers.
//!
//! The session's actor is the only publisher. A subscriber is a cursor: it
//! reads what lies after it from the recent events, or, when it is too far
//! behind, from the store and from what is still open. So a slow subscriber
//! neither blocks the session nor loses anything, and memory stays bounded by
//! the recent events and the open parts.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use futures_util::stream;
use rein_protocol::{
    CallId, Entry, EntryBody, Event, EventBody, EventStream, PartId, PartKind, Seq, SessionId, TurnId,
};
use rein_store::Store;
use tokio::sync::watch;

/// How many events are kept for subscribers that are a little behind.
const RECENT_EVENTS: usize = 1024;
/// How many bytes of text those may hold together.
const RECENT_BYTES: usize = 1 << 20;
/// How much of a running call's output is kept for late subscribers.
const OUTPUT_TAIL: usize = 64 << 10;
/// How many entries a subscriber that is far behind reads at a time.
const CATCH_UP_BATCH: usize = 256;

/// The place where a session's events are published.
#[derive(Clone)]
pub(crate) struct Hub {
    session: SessionId,
    state: Arc<Mutex<State>>,
    latest: watch::Sender<Progress>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Progress {
    seq: Seq,
    closed: bool,
}

struct State {
    last: Seq,
    recent: VecDeque<(Arc<Event>, usize)>,
    recent_bytes: usize,
    /// Everything up to here has been dropped from `recent`.
    forgotten: Seq,
    open_parts: HashMap<PartId, OpenPart>,
    open_output: HashMap<CallId, VecDeque<(Seq, String)>>,
    /// Commands of the person that run.
    open_runs: HashMap<CallId, (Seq, String)>,
}

/// Ends the subscriptions of a hub when it is dropped, also by a panic of the publisher.
pub(crate) struct CloseOnDrop(watch::Sender<Progress>);

impl Drop for CloseOnDrop {
    fn drop(&mut self) {
        self.0.send_modify(|progress| progress.closed = true);
    }
}

/// A part that is not yet an entry: its text once, and where each delta ended in it.
struct OpenPart {
    turn: TurnId,
    kind: PartKind,
    text: String,
    deltas: Vec<(Seq, usize)>,
}

impl Hub {
    /// A hub whose next event comes after `last`.
    pub(crate) fn new(session: SessionId, last: Seq) -> Self {
        let state = State {
            last,
            recent: VecDeque::new(),
            recent_bytes: 0,
            forgotten: last,
            open_parts: HashMap::new(),
            open_output: HashMap::new(),
            open_runs: HashMap::new(),
        };
        let (latest, _) = watch::channel(Progress { seq: last, closed: false });
        Self { session, state: Arc::new(Mutex::new(state)), latest }
    }

    /// The place of the last event.
    pub(crate) fn last(&self) -> Seq {
        self.lock().last
    }

    /// What has come of parts and calls that are still open: one event for each, in the order in
    /// which they began.
    pub(crate) fn open(&self) -> Vec<Event> {
        self.lock().open_whole(&self.session).into_values().collect()
    }

    /// Publishes something ephemeral.
    pub(crate) fn emit(&self, body: EventBody) {
        let seq = {
            let mut state = self.lock();
            let seq = state.last.next();
            state.publish(Event { session: self.session.clone(), seq, body });
            seq
        };
        self.announce(seq);
    }

    /// Publishes entries that have just become durable, with the places that they carry.
    pub(crate) fn publish_entries(&self, entries: &[Arc<Entry>]) {
        let last = {
            let mut state = self.lock();
            for entry in entries {
                let body = EventBody::Entry { entry: Box::new(Entry::clone(entry)) };
                state.publish(Event { session: self.session.clone(), seq: entry.seq, body });
            }
            state.last
        };
        self.announce(last);
    }

    /// Ends every subscription, once it has read what there is, when the value is dropped.
    pub(crate) fn close_on_drop(&self) -> CloseOnDrop {
        CloseOnDrop(self.latest.clone())
    }

    /// Everything after `after`, and then what comes.
    pub(crate) fn subscribe(&self, store: Store, after: Seq) -> EventStream {
        let reader = Reader {
            hub: self.clone(),
            store,
            cursor: after,
            progress: self.latest.subscribe(),
            ready: VecDeque::new(),
        };
        Box::pin(stream::unfold(reader, |mut reader| async move {
            let event = reader.next().await?;
            Some((event, reader))
        }))
    }

    fn announce(&self, seq: Seq) {
        self.latest.send_modify(|progress| progress.seq = seq);
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, State> {
        // The state is consistent after every statement, so a panic elsewhere does not spoil it.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    fn publish(&mut self, event: Event) {
        self.last = self.last.max(event.seq);
        self.track(&event);
        let bytes = weight(&event.body);
        self.recent.push_back((Arc::new(event), bytes));
        self.recent_bytes += bytes;
        while self.recent.len() > RECENT_EVENTS || self.recent_bytes > RECENT_BYTES {
            let Some((dropped, bytes)) = self.recent.pop_front() else { break };
            self.forgotten = dropped.seq;
            self.recent_bytes -= bytes;
        }
    }

    /// Keeps what a late subscriber will need of things that no entry holds yet.
    fn track(&mut self, event: &Event) {
        match &event.body {
            EventBody::PartDelta { turn, part, kind, delta } => {
                let open = self.open_parts.entry(part.clone()).or_insert_with(|| OpenPart {
                    turn: turn.clone(),
                    kind: kind.clone(),
                    text: String::new(),
                    deltas: Vec::new(),
                });
                open.text.push_str(delta);
                open.deltas.push((event.seq, open.text.len()));
            }
            EventBody::CallOutput { call, delta } => {
                let tail = self.open_output.entry(call.clone()).or_default();
                tail.push_back((event.seq, delta.clone()));
                let mut bytes: usize = tail.iter().map(|(_, delta)| delta.len()).sum();
                while bytes > OUTPUT_TAIL && tail.len() > 1 {
                    bytes -= tail.pop_front().map_or(0, |(_, delta)| delta.len());
                }
            }
            EventBody::Entry { entry } => match &entry.body {
                EntryBody::Part { part, .. } => {
                    self.open_parts.remove(part);
                }
                EntryBody::StepEnded { .. } => self.open_parts.clear(),
                EntryBody::CallEnded { call, .. } | EntryBody::PersonRan { call, .. } => {
                    self.open_output.remove(call);
                    self.open_runs.remove(call);
                }
                // The person's own commands go on.
                EntryBody::TurnEnded { .. } => {
                    self.open_output.retain(|call, _| self.open_runs.contains_key(call));
                }
                _ => {}
            },
            EventBody::PersonRuns { call, command } => {
                self.open_runs.insert(call.clone(), (event.seq, command.clone()));
            }
            EventBody::Job { .. }
            | EventBody::Retrying { .. }
            | EventBody::Compacting { .. }
            | EventBody::Notice { .. }
            | EventBody::Broken { .. } => {}
        }
    }

    /// The events after `cursor` if they are all still here.
    fn recent_after(&self, cursor: Seq) -> Option<Vec<Event>> {
        if cursor < self.forgotten {
            return None;
        }
        let start = self.recent.partition_point(|(event, _)| event.seq <= cursor);
        Some(
            self.recent
                .iter()
                .skip(start)
                .take(CATCH_UP_BATCH)
                .map(|(event, _)| Event::clone(event))
                .collect(),
        )
    }

    /// What is open, each thing whole, by the place where it began.
    fn open_whole(&self, session: &SessionId) -> BTreeMap<Seq, Event> {
        let parts = self.open_parts.iter().filter_map(|(part, open)| {
            let (turn, kind, delta) = (open.turn.clone(), open.kind.clone(), open.text.clone());
            let body = EventBody::PartDelta { turn, part: part.clone(), kind, delta };
            Some((open.deltas.first()?.0, body))
        });
        let outputs = self.open_output.iter().filter_map(|(call, tail)| {
            let delta = tail.iter().map(|(_, delta)| delta.as_str()).collect();
            Some((tail.front()?.0, EventBody::CallOutput { call: call.clone(), delta }))
        });
        let event = |(seq, body)| (seq, Event { session: session.clone(), seq, body });
        parts.chain(outputs).map(event).chain(self.runs_after(session, Seq::START)).collect()
    }

    /// The person's commands that run and began after `cursor`.
    fn runs_after<'a>(
        &'a self,
        session: &'a SessionId,
        cursor: Seq,
    ) -> impl Iterator<Item = (Seq, Event)> + 'a {
        self.open_runs.iter().filter(move |(_, (seq, _))| *seq > cursor).map(|(call, (seq, command))| {
            let body = EventBody::PersonRuns { call: call.clone(), command: command.clone() };
            (*seq, Event { session: session.clone(), seq: *seq, body })
        })
    }

    /// What is open and lies after `cursor`, by place: the first of it, because a long answer in
    /// small pieces is many events.
    fn open_after(&self, session: &SessionId, cursor: Seq) -> BTreeMap<Seq, Event> {
        let mut events = BTreeMap::new();
        for (part, open) in &self.open_parts {
            let from = open.deltas.partition_point(|(seq, _)| *seq <= cursor);
            let mut start =
                from.checked_sub(1).and_then(|before| open.deltas.get(before)).map_or(0, |(_, end)| *end);
            for (seq, end) in open.deltas.iter().skip(from).take(CATCH_UP_BATCH) {
                let delta = open.text.get(start..*end).unwrap_or_default().to_owned();
                start = *end;
                let (turn, kind) = (open.turn.clone(), open.kind.clone());
                let body = EventBody::PartDelta { turn, part: part.clone(), kind, delta };
                events.insert(*seq, Event { session: session.clone(), seq: *seq, body });
            }
        }
        for (call, tail) in &self.open_output {
            for (seq, delta) in tail.iter().filter(|(seq, _)| *seq > cursor).take(CATCH_UP_BATCH) {
                let body = EventBody::CallOutput { call: call.clone(), delta: delta.clone() };
                events.insert(*seq, Event { session: session.clone(), seq: *seq, body });
            }
        }
        events.extend(self.runs_after(session, cursor));
        while events.len() > CATCH_UP_BATCH {
            events.pop_last();
        }
        events
    }
}

/// Roughly how much memory an event holds.
fn weight(body: &EventBody) -> usize {
    match body {
        EventBody::PartDelta { delta, .. } | EventBody::CallOutput { delta, .. } => delta.len(),
        // Entries are in the store anyway; a large one should not push out many small ones for long.
        EventBody::Entry { .. } => 512,
        EventBody::Job { job } => job.command.len(),
        EventBody::Retrying { error, .. } => error.len(),
        EventBody::Compacting { .. } => 16,
        EventBody::PersonRuns { command, .. } => command.len(),
        EventBody::Notice { message } | EventBody::Broken { message } => message.len(),
    }
}

/// One subscriber.
struct Reader {
    hub: Hub,
    store: Store,
    cursor: Seq,
    progress: watch::Receiver<Progress>,
    ready: VecDeque<Event>,
}

/// How far a subscriber is behind.
struct Behind {
    /// Everything up to here must come from elsewhere than the recent events.
    forgotten: Seq,
    /// Up to here it is known what is open.
    horizon: Seq,
}

impl Reader {
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.ready.pop_front() {
                self.cursor = self.cursor.max(event.seq);
                return Some(event);
            }
            let progress = *self.progress.borrow_and_update();
            if progress.seq > self.cursor {
                self.fill().await?;
            } else if progress.closed || self.progress.changed().await.is_err() {
                return None;
            }
        }
    }

    /// Reads the next events after the cursor into `ready`. There are some.
    async fn fill(&mut self) -> Option<()> {
        let (behind, open) = {
            let state = self.hub.lock();
            if let Some(events) = state.recent_after(self.cursor) {
                self.ready.extend(events);
                if self.ready.is_empty() {
                    self.cursor = state.last;
                }
                return Some(());
            }
            let open = state.open_after(&self.hub.session, self.cursor);
            let horizon = match open.last_key_value() {
                Some((seq, _)) if open.len() >= CATCH_UP_BATCH => *seq,
                _ => state.last,
            };
            (Behind { forgotten: state.forgotten, horizon }, open)
        };
        self.catch_up(behind, open).await
    }

    /// Reads from the store up to the horizon, and mixes in by place what was open then.
    async fn catch_up(&mut self, behind: Behind, mut open: BTreeMap<Seq, Event>) -> Option<()> {
        let Behind { forgotten, horizon } = behind;
        // From there on the recent events have everything, also what is neither an entry nor open.
        let horizon = horizon.min(forgotten);
        let session = self.hub.session.clone();
        let entries = match self.store.entries_after(&session, self.cursor, CATCH_UP_BATCH).await {
            Ok(entries) => entries,
            Err(error) => {
                tracing::error!(%session, %error, "a subscription ended because the store could not be read");
                return None;
            }
        };
        let complete = entries.len() < CATCH_UP_BATCH;
        let limit =
            if complete { horizon } else { entries.last().map_or(horizon, |entry| entry.seq.min(horizon)) };
        for entry in entries.into_iter().filter(|entry| entry.seq <= limit) {
            let event = Event {
                session: session.clone(),
                seq: entry.seq,
                body: EventBody::Entry { entry: Box::new(entry) },
            };
            open.insert(event.seq, event);
        }
        self.ready.extend(open.into_values().take_while(|event| event.seq <= limit));
        if self.ready.is_empty() {
            self.cursor = limit;
        }
        Some(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn hub() -> (Hub, TurnId, PartId) {
        (Hub::new(SessionId::new(), Seq::START.next_epoch()), TurnId::new(), PartId::new())
    }

    fn grow(hub: &Hub, turn: &TurnId, part: &PartId, delta: &str) {
        let (turn, part, delta) = (turn.clone(), part.clone(), delta.to_owned());
        hub.emit(EventBody::PartDelta { turn, part, kind: PartKind::Text, delta });
    }

    #[test]
    fn whoever_is_far_behind_gets_a_long_answer_in_batches_and_in_order() {
        let (hub, turn, part) = hub();
        let other = PartId::new();
        for _ in 0..5_000 {
            grow(&hub, &turn, &part, "x");
            grow(&hub, &turn, &other, "y");
        }
        let state = hub.lock();
        let (mut cursor, mut text) = (Seq::START, String::new());
        while cursor < state.forgotten {
            let batch = state.open_after(&hub.session, cursor);
            assert!(!batch.is_empty() && batch.len() <= CATCH_UP_BATCH, "{} events at once", batch.len());
            for event in batch.into_values() {
                assert!(event.seq > cursor);
                cursor = event.seq;
                let EventBody::PartDelta { delta, .. } = event.body else { panic!("{:?}", event.body) };
                text.push_str(&delta);
            }
        }
        assert!("xy".repeat(5_000).starts_with(&text) && text.len() > 5_000);
    }

    #[test]
    fn subscriptions_end_when_the_publisher_is_gone() {
        let (hub, ..) = hub();
        let closing = hub.close_on_drop();
        assert!(!hub.latest.borrow().closed);
        drop(closing);
        assert!(hub.latest.borrow().closed);
    }
}
