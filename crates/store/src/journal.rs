//! The entries of sessions, as rows and back.
//!
//! Owns the `entries` table and the order of a branch; leaves transactions to
//! the writer. A row is written once and never again. What an entry says is
//! kept as its JSON; its id, parent and place are columns beside it.

use std::collections::HashMap;

use rein_protocol::{Entry, EntryBody, EntryId, Seq, SessionId, Timestamp};
use rusqlite::{Connection, ErrorCode, Params, Row, params};

use crate::error::{Conflict, Fault, Result, StoreError};
use crate::record::SessionRecord;

/// What entries say, as JSON. Done before the transaction, to keep that short.
pub(crate) fn encode(entries: &[Entry]) -> Result<Vec<String>> {
    let body = |entry: &Entry| {
        serde_json::to_string(&entry.body).map_err(|error| StoreError::UnwritableEntry {
            entry: entry.id.clone(),
            reason: error.to_string(),
        })
    };
    entries.iter().map(body).collect()
}

/// Whether an entry follows what the session holds.
pub(crate) fn check(session: &SessionRecord, entry: &Entry) -> Result<()> {
    let conflict = if entry.session != session.id {
        Conflict::Session { found: entry.session.clone() }
    } else if comes_from(entry) != session.leaf.as_ref() {
        Conflict::Parent { found: comes_from(entry).cloned(), expected: session.leaf.clone() }
    } else if entry.seq <= session.last_seq || i64::try_from(entry.seq.0).is_err() {
        Conflict::Seq { found: entry.seq, last: session.last_seq }
    } else {
        return Ok(());
    };
    Err(refused(entry, conflict))
}

/// The entry that must be the last so far. One that goes to another place of the tree says where it comes from.
fn comes_from(entry: &Entry) -> Option<&EntryId> {
    match &entry.body {
        EntryBody::Travelled { from } => Some(from),
        _ => entry.parent.as_ref(),
    }
}

/// Whether an entry that goes to another place of the tree goes to one that there is.
pub(crate) fn check_place(connection: &Connection, entry: &Entry) -> Result<(), Fault> {
    let (EntryBody::Travelled { .. }, Some(place)) = (&entry.body, &entry.parent) else { return Ok(()) };
    let sql = "SELECT EXISTS (SELECT 1 FROM entries WHERE id = ?1 AND session = ?2)";
    let parameters = params![place.as_str(), entry.session.as_str()];
    match connection.prepare_cached(sql)?.query_row(parameters, |row| row.get(0))? {
        true => Ok(()),
        false => Err(refused(entry, Conflict::Place { found: place.clone() }).into()),
    }
}

fn refused(entry: &Entry, conflict: Conflict) -> StoreError {
    let (session, id) = (entry.session.clone(), entry.id.clone());
    StoreError::Conflict { session, entry: id, conflict: Box::new(conflict) }
}

/// A new row.
pub(crate) fn insert(connection: &Connection, entry: &Entry, body: &str) -> Result<(), Fault> {
    let sql =
        "INSERT INTO entries (id, session, parent, seq, at, kind, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let inserted = connection.prepare_cached(sql)?.execute(params![
        entry.id.as_str(),
        entry.session.as_str(),
        entry.parent.as_ref().map(EntryId::as_str),
        i64::try_from(entry.seq.0).unwrap_or(i64::MAX),
        entry.at.0,
        kind(&entry.body),
        body,
    ]);
    match inserted {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            Err(refused(entry, Conflict::Duplicate).into())
        }
        other => Ok(other.map(|_| ())?),
    }
}

/// An entry as it is stored, not yet understood.
pub(crate) struct StoredEntry {
    pub(crate) id: String,
    pub(crate) parent: Option<String>,
    pub(crate) seq: i64,
    pub(crate) at: i64,
    pub(crate) body: Vec<u8>,
}

impl StoredEntry {
    fn from_row(row: &Row<'_>) -> rusqlite::Result<Self> {
        // As bytes: an entry that is not UTF-8 shall be named like one that is not JSON.
        let body = row.get_ref(4)?.as_bytes()?.to_vec();
        Ok(Self { id: row.get(0)?, parent: row.get(1)?, seq: row.get(2)?, at: row.get(3)?, body })
    }

    /// Understands it.
    pub(crate) fn read(self, session: &SessionId) -> Result<Entry> {
        match self.parse(session) {
            Ok(entry) => Ok(entry),
            Err(reason) => {
                Err(StoreError::UnreadableEntry { session: session.clone(), entry: self.id, reason })
            }
        }
    }

    fn parse(&self, session: &SessionId) -> Result<Entry, String> {
        let parse_id = |text: &str| text.parse::<EntryId>().map_err(|error| error.to_string());
        Ok(Entry {
            id: parse_id(&self.id)?,
            session: session.clone(),
            parent: self.parent.as_deref().map(parse_id).transpose()?,
            seq: Seq(u64::try_from(self.seq).map_err(|_| "its place is negative".to_owned())?),
            at: Timestamp(self.at),
            body: serde_json::from_slice(&self.body).map_err(|error| error.to_string())?,
        })
    }
}

/// All entries of a session, in order.
pub(crate) fn all(connection: &Connection, session: &SessionId) -> Result<Vec<StoredEntry>, Fault> {
    select(connection, "WHERE session = ?1 ORDER BY seq", params![session.as_str()])
}

/// The entries of a session after a place, in order.
pub(crate) fn after(
    connection: &Connection,
    session: &SessionId,
    place: Seq,
    limit: usize,
) -> Result<Vec<StoredEntry>, Fault> {
    let clause = "WHERE session = ?1 AND seq > ?2 ORDER BY seq LIMIT ?3";
    let (place, limit) = (i64::try_from(place.0), i64::try_from(limit));
    let parameters = params![session.as_str(), place.unwrap_or(i64::MAX), limit.unwrap_or(i64::MAX)];
    select(connection, clause, parameters)
}

fn select(connection: &Connection, clause: &str, parameters: impl Params) -> Result<Vec<StoredEntry>, Fault> {
    let sql = format!("SELECT id, parent, seq, at, body FROM entries {clause}");
    let mut statement = connection.prepare_cached(&sql)?;
    let entries = statement.query_map(parameters, StoredEntry::from_row)?.collect::<Result<_, _>>()?;
    Ok(entries)
}

/// Those of a session's entries, given in order, that lead to the leaf.
///
/// Where a parent is missing, which happens only after a salvage, the entry
/// before it takes its place, so that what was saved can be seen.
pub(crate) fn chain(entries: Vec<StoredEntry>, leaf: Option<&EntryId>) -> Vec<StoredEntry> {
    let Some(leaf) = leaf else { return Vec::new() };
    let places: HashMap<&str, usize> =
        entries.iter().enumerate().map(|(place, entry)| (entry.id.as_str(), place)).collect();
    let mut on_branch = vec![false; entries.len()];
    let mut next = places.get(leaf.as_str()).copied().or(entries.len().checked_sub(1));
    while let Some((place, entry)) = next.and_then(|place| Some((place, entries.get(place)?))) {
        if let Some(mark) = on_branch.get_mut(place) {
            *mark = true;
        }
        next = match &entry.parent {
            None => None,
            Some(parent) => match places.get(parent.as_str()) {
                Some(&earlier) if earlier < place => Some(earlier),
                _ => place.checked_sub(1),
            },
        };
    }
    drop(places);
    entries.into_iter().zip(on_branch).filter_map(|(entry, kept)| kept.then_some(entry)).collect()
}

/// What sort of entry it is: the tag in its JSON.
pub(crate) fn kind(body: &EntryBody) -> &'static str {
    match body {
        EntryBody::Queued { .. } => "queued",
        EntryBody::User { .. } => "user",
        EntryBody::StepStarted { .. } => "step_started",
        EntryBody::Part { .. } => "part",
        EntryBody::StepEnded { .. } => "step_ended",
        EntryBody::Asked { .. } => "asked",
        EntryBody::Decided { .. } => "decided",
        EntryBody::CallStarted { .. } => "call_started",
        EntryBody::CallEnded { .. } => "call_ended",
        EntryBody::TurnEnded { .. } => "turn_ended",
        EntryBody::ModelChanged { .. } => "model_changed",
        EntryBody::ModeChanged { .. } => "mode_changed",
        EntryBody::Recovered { .. } => "recovered",
        EntryBody::QueueChanged { .. } => "queue_changed",
        EntryBody::Pruned { .. } => "pruned",
        EntryBody::Compacted { .. } => "compacted",
        EntryBody::Travelled { .. } => "travelled",
        EntryBody::PersonRan { .. } => "person_ran",
        EntryBody::Titled { .. } => "titled",
        EntryBody::EffortChanged { .. } => "effort_changed",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries `0, 1, 2, …` whose parents are given by position.
    fn tree(parents: &[Option<usize>]) -> (Vec<EntryId>, Vec<StoredEntry>) {
        let ids: Vec<EntryId> = parents.iter().map(|_| EntryId::new()).collect();
        let stored = parents.iter().zip(&ids).map(|(parent, id)| StoredEntry {
            id: id.to_string(),
            parent: parent.map(|place| ids[place].to_string()),
            seq: 1,
            at: 0,
            body: Vec::new(),
        });
        (ids.clone(), stored.collect())
    }

    fn places(ids: &[EntryId], chain: &[StoredEntry]) -> Vec<usize> {
        chain.iter().map(|entry| ids.iter().position(|id| id.as_str() == entry.id).unwrap()).collect()
    }

    #[test]
    fn a_branch_leads_from_the_root_to_the_leaf() {
        let (ids, stored) = tree(&[None, Some(0), Some(1), Some(0), Some(3)]);
        assert_eq!(places(&ids, &chain(stored, Some(&ids[4]))), [0, 3, 4]);
        let (ids, stored) = tree(&[None, Some(0), Some(1), Some(0), Some(3)]);
        assert_eq!(places(&ids, &chain(stored, Some(&ids[2]))), [0, 1, 2]);
        let (_, stored) = tree(&[None, Some(0)]);
        assert!(chain(stored, None).is_empty());
    }

    #[test]
    fn a_missing_parent_is_bridged_and_a_loop_ends() {
        let (ids, mut stored) = tree(&[None, Some(0), Some(1), Some(2), Some(3)]);
        stored.remove(2);
        assert_eq!(places(&ids, &chain(stored, Some(&ids[4]))), [0, 1, 3, 4]);
        let (ids, stored) = tree(&[Some(1), Some(2), Some(2)]);
        assert_eq!(places(&ids, &chain(stored, Some(&ids[2]))), [0, 1, 2]);
    }
}
