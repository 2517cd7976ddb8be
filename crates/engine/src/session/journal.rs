//! The branch of one open session: what is appended is durable first, then
//! known here, then published.

use std::sync::Arc;

use rein_protocol::{Entry, EntryBody, EntryId, Seq, SessionId, Timestamp};
use rein_store::{Store, StoreError};

use crate::hub::Hub;
use crate::spending::Ledger;

/// The only writer of a session's entries.
pub(crate) struct Journal {
    session: SessionId,
    store: Store,
    hub: Hub,
    entries: Vec<Arc<Entry>>,
    ledger: Arc<Ledger>,
}

/// The way to another place of the tree.
pub(crate) struct Journey {
    /// What is said before, where the session is.
    pub(crate) before: Vec<EntryBody>,
    /// The entries that lead to the place.
    pub(crate) branch: Vec<Entry>,
    /// What is said there.
    pub(crate) after: Vec<EntryBody>,
}

impl Journal {
    pub(crate) fn new(
        session: SessionId,
        store: Store,
        hub: Hub,
        branch: Vec<Entry>,
        ledger: Arc<Ledger>,
    ) -> Self {
        Self { session, store, hub, entries: branch.into_iter().map(Arc::new).collect(), ledger }
    }

    /// The branch, first to last.
    pub(crate) fn entries(&self) -> &[Arc<Entry>] {
        &self.entries
    }

    /// Makes entries durable, all or none, and publishes them.
    pub(crate) async fn append(&mut self, bodies: Vec<EntryBody>) -> Result<(), StoreError> {
        if bodies.is_empty() {
            return Ok(());
        }
        let entries = self.entries_for(self.leaf(), self.hub.last(), bodies);
        self.store.append(&self.session, entries.iter().map(|entry| Entry::clone(entry)).collect()).await?;
        self.hub.publish_entries(&entries);
        entries.iter().for_each(|entry| self.ledger.note(&entry.body));
        self.entries.extend(entries);
        Ok(())
    }

    /// Goes to another place of the tree, with all that is said about it or not at all.
    pub(crate) async fn travel(&mut self, journey: Journey) -> Result<(), StoreError> {
        let Journey { before, branch, after } = journey;
        let here = self.entries_for(self.leaf(), self.hub.last(), before);
        let (from, seq) = match here.last() {
            Some(entry) => (Some(entry.id.clone()), entry.seq),
            None => (self.leaf(), self.hub.last()),
        };
        // Without any entry there is nowhere to go.
        let Some(from) = from else { return Ok(()) };
        let bodies = std::iter::once(EntryBody::Travelled { from }).chain(after).collect();
        let there = self.entries_for(branch.last().map(|entry| entry.id.clone()), seq, bodies);
        let all: Vec<Arc<Entry>> = here.iter().chain(&there).map(Arc::clone).collect();
        self.store.append(&self.session, all.iter().map(|entry| Entry::clone(entry)).collect()).await?;
        self.hub.publish_entries(&all);
        self.entries = branch.into_iter().map(Arc::new).chain(there).collect();
        Ok(())
    }

    fn leaf(&self) -> Option<EntryId> {
        self.entries.last().map(|entry| entry.id.clone())
    }

    fn entries_for(
        &self,
        mut parent: Option<EntryId>,
        mut seq: Seq,
        bodies: Vec<EntryBody>,
    ) -> Vec<Arc<Entry>> {
        let mut entries = Vec::with_capacity(bodies.len());
        for body in bodies {
            seq = seq.next();
            let id = EntryId::new();
            let entry = Entry {
                id: id.clone(),
                session: self.session.clone(),
                parent,
                seq,
                at: Timestamp::now(),
                body,
            };
            parent = Some(id);
            entries.push(Arc::new(entry));
        }
        entries
    }
}
