//! The thread that reads: one connection that cannot write.
//!
//! Owns the read connection, opened when first needed. Reads never wait for
//! writes nor the other way round; each sees what was committed before it
//! began.

use std::time::{Duration, Instant};

use rein_protocol::{ArtifactId, BlobId, Entry, EntryId, Seq, SessionId, Timestamp};
use rusqlite::{Connection, OptionalExtension, params};

use crate::artifact::ArtifactRecord;
use crate::contention::patiently;
use crate::database::{close, connect_reader, report_damage};
use crate::error::{Fault, Result, StoreError};
use crate::journal::StoredEntry;
use crate::lane::Attendant;
use crate::layout::Layout;
use crate::{journal, record};

pub(crate) struct Reader {
    connection: Option<Connection>,
    layout: Layout,
    patience: Duration,
}

impl Reader {
    pub(crate) fn new(layout: Layout, patience: Duration) -> Self {
        Self { connection: None, layout, patience }
    }

    /// Asks a question of the database, again if somebody was in the way.
    pub(crate) fn ask<T>(&mut self, query: impl Fn(&Connection) -> Result<T, Fault>) -> Result<T> {
        let connection = match self.connection.take() {
            Some(connection) => connection,
            None => connect_reader(&self.layout, self.patience)?,
        };
        let outcome = patiently(self.patience, || query(&connection));
        self.connection = Some(connection);
        let named = |fault: Fault| fault.named("read", &self.layout.database, self.patience);
        outcome.map_err(named).inspect_err(|error| report_damage(&self.layout, error))
    }
}

impl Attendant for Reader {
    fn due(&self) -> Option<Instant> {
        None
    }

    fn wake(&mut self) {}

    fn finish(self) {
        if let Some(connection) = self.connection {
            close(connection);
        }
    }
}

/// The entries from the root to the leaf.
pub(crate) fn branch(connection: &Connection, session: &SessionId) -> Result<Vec<Entry>, Fault> {
    // The leaf first: what is appended afterwards is then not on the branch.
    let leaf = known(connection, session)?.leaf;
    let entries = journal::chain(journal::all(connection, session)?, leaf.as_ref());
    understand(entries, session)
}

/// The entries from the root to one of them.
pub(crate) fn branch_to(
    connection: &Connection,
    session: &SessionId,
    entry: &EntryId,
) -> Result<Option<Vec<Entry>>, Fault> {
    known(connection, session)?;
    let entries = journal::all(connection, session)?;
    if !entries.iter().any(|stored| stored.id == entry.as_str()) {
        return Ok(None);
    }
    understand(journal::chain(entries, Some(entry)), session).map(Some)
}

/// The entries after a place.
pub(crate) fn entries_after(
    connection: &Connection,
    session: &SessionId,
    place: Seq,
    limit: usize,
) -> Result<Vec<Entry>, Fault> {
    known(connection, session)?;
    understand(journal::after(connection, session, place, limit)?, session)
}

/// One artifact.
pub(crate) fn artifact(connection: &Connection, id: &ArtifactId) -> Result<Option<ArtifactRecord>, Fault> {
    let sql = "SELECT session, blob, bytes, created FROM artifacts WHERE id = ?1";
    let mut statement = connection.prepare_cached(sql)?;
    let row: Option<(String, String, i64, i64)> = statement
        .query_row(params![id.as_str()], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?, row.get(3)?)))
        .optional()?;
    let Some((session, blob, bytes, created)) = row else { return Ok(None) };
    let session = session.parse().map_err(|_| StoreError::UnreadableSession {
        session: session.clone(),
        reason: format!("artifact {id} names it, but that is not an id"),
    })?;
    Ok(Some(ArtifactRecord {
        id: id.clone(),
        session,
        blob: BlobId(blob),
        bytes: u64::try_from(bytes).unwrap_or_default(),
        created: Timestamp(created),
    }))
}

fn known(connection: &Connection, session: &SessionId) -> Result<record::SessionRecord, Fault> {
    record::find(connection, session)?
        .ok_or_else(|| StoreError::UnknownSession { session: session.clone() }.into())
}

fn understand(entries: Vec<StoredEntry>, session: &SessionId) -> Result<Vec<Entry>, Fault> {
    let entries = entries.into_iter().map(|entry| entry.read(session));
    Ok(entries.collect::<Result<_>>()?)
}
