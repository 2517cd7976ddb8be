//! The branch of one open session: what is appended is durable first, then
//! known here, then published.

use std::sync::Arc;

use rein_protocol::{Entry, EntryBody, EntryId, SessionId, Timestamp};
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
        let entries = self.entries_for(bodies);
        self.store.append(&self.session, entries.iter().map(|entry| Entry::clone(entry)).collect()).await?;
        self.hub.publish_entries(&entries);
        entries.iter().for_each(|entry| self.ledger.note(&entry.body));
        self.entries.extend(entries);
        Ok(())
    }

    fn entries_for(&self, bodies: Vec<EntryBody>) -> Vec<Arc<Entry>> {
        let mut parent: Option<EntryId> = self.entries.last().map(|entry| entry.id.clone());
        let mut seq = self.hub.last();
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
