//! A new database from the rows of a damaged one.
//!
//! Every row is understood before it is taken: its ids must be ids and an
//! entry's JSON must be an entry. A session's row is brought in line with the
//! entries that were saved, and made up from them if it was lost itself.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use rein_protocol::{ArtifactId, EntryBody, EntryId, Mode, SessionId, Timestamp};
use rusqlite::types::Value;
use rusqlite::{Connection, Transaction, params};

use super::pages::Pages;
use super::{Tally, cells};
use crate::error::{Fault, Result};
use crate::record::{self, NewSession, SessionRecord};
use crate::{journal, schema};

/// Builds a database in an empty file.
pub(super) fn rebuild(pages: &Pages, path: &Path) -> Result<Tally> {
    let build = || -> Result<Tally, Fault> {
        let mut connection = Connection::open(path)?;
        // Nobody else sees the file before it is complete and on the disk.
        connection.pragma_update(None, "synchronous", "OFF")?;
        connection.pragma_update(None, "foreign_keys", false)?;
        schema::migrate(&mut connection, schema::STEPS)?;
        let transaction = connection.transaction()?;
        let found = take_rows(pages, &transaction)?;
        let tally = take_sessions(found, &transaction)?;
        transaction.commit()?;
        connection.close().map_err(|(_, error)| error)?;
        Ok(tally)
    };
    build().map_err(|fault| fault.named("salvage sessions", path, Duration::ZERO))
}

/// What a salvaged database holds.
pub(super) fn count(path: &Path) -> Result<Tally> {
    let count = || -> Result<Tally, Fault> {
        let connection = Connection::open(path)?;
        let number = |table: &str| {
            connection.query_row(&format!("SELECT count(*) FROM {table}"), [], |row| row.get::<_, i64>(0))
        };
        let (sessions, entries) = (number("sessions")?, number("entries")?);
        Ok(Tally { sessions: sessions.unsigned_abs(), entries: entries.unsigned_abs(), lost: Vec::new() })
    };
    count().map_err(|fault| fault.named("count salvaged sessions", path, Duration::ZERO))
}

/// How many unreadable entries are named one by one.
const NAMED: usize = 10;

#[derive(Default)]
struct Found {
    sessions: BTreeMap<SessionId, SessionRecord>,
    unreadable: BTreeSet<String>,
}

/// Takes entries and artifacts; collects the sessions.
fn take_rows(pages: &Pages, transaction: &Transaction<'_>) -> Result<Found, Fault> {
    let mut found = Found::default();
    for row in pages.numbers().flat_map(|number| cells::rows(pages, number)) {
        match row.first() {
            Some(Value::Text(id)) if id.starts_with("ent_") => {
                found.unreadable.extend(take_entry(transaction, id, &row)?);
            }
            Some(Value::Text(id)) if id.starts_with("ses_") => found.take_session(&row),
            Some(Value::Text(id)) if id.starts_with("art_") => take_artifact(transaction, &row)?,
            _ => {}
        }
    }
    Ok(found)
}

impl Found {
    /// Pages that are not in use any more may hold an older state of a session.
    fn take_session(&mut self, row: &[Value]) {
        let Ok(session) = record::decode(row) else { return };
        let age = |session: &SessionRecord| (session.last_seq, session.entries);
        match self.sessions.get(&session.id) {
            Some(known) if age(known) >= age(&session) => {}
            _ => {
                self.sessions.insert(session.id.clone(), session);
            }
        }
    }
}

/// Gives the id back if the row makes no sense.
fn take_entry(transaction: &Transaction<'_>, id: &str, row: &[Value]) -> Result<Option<String>, Fault> {
    let unreadable = Ok(Some(id.to_owned()));
    let [
        _,
        Value::Text(session),
        parent @ (Value::Null | Value::Text(_)),
        Value::Integer(seq),
        Value::Integer(at),
        Value::Text(_),
        Value::Text(body),
        ..,
    ] = row
    else {
        return unreadable;
    };
    let parent_is_id = match parent {
        Value::Text(parent) => parent.parse::<EntryId>().is_ok(),
        _ => true,
    };
    let ids = id.parse::<EntryId>().is_ok() && session.parse::<SessionId>().is_ok() && parent_is_id;
    let understood = serde_json::from_str::<EntryBody>(body);
    let (true, Ok(understood), 0..) = (ids, understood, *seq) else { return unreadable };
    let sql = "INSERT OR IGNORE INTO entries (id, session, parent, seq, at, kind, body) VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)";
    let kind = journal::kind(&understood);
    transaction.prepare_cached(sql)?.execute(params![id, session, parent, seq, at, kind, body])?;
    Ok(None)
}

fn take_artifact(transaction: &Transaction<'_>, row: &[Value]) -> Result<(), Fault> {
    let [
        Value::Text(id),
        Value::Text(session),
        Value::Text(blob),
        Value::Integer(bytes),
        Value::Integer(created),
        ..,
    ] = row
    else {
        return Ok(());
    };
    if id.parse::<ArtifactId>().is_ok() && session.parse::<SessionId>().is_ok() {
        let sql =
            "INSERT OR IGNORE INTO artifacts (id, session, blob, bytes, created) VALUES (?1, ?2, ?3, ?4, ?5)";
        transaction.prepare_cached(sql)?.execute(params![id, session, blob, bytes, created])?;
    }
    Ok(())
}

/// Takes the sessions, in line with the entries that were taken.
fn take_sessions(mut found: Found, transaction: &Transaction<'_>) -> Result<Tally, Fault> {
    let mut tally = Tally::default();
    tally.lost.extend(found.unreadable.iter().take(NAMED).map(|id| format!("entry {id} cannot be read")));
    if let Some(more @ 1..) = found.unreadable.len().checked_sub(NAMED) {
        tally.lost.push(format!("{more} more entries cannot be read"));
    }
    let mut ids: BTreeSet<SessionId> = found.sessions.keys().cloned().collect();
    ids.extend(named_sessions(transaction)?);
    for id in ids {
        let row = found.sessions.remove(&id);
        let session = reconcile(transaction, &id, row, &mut tally)?;
        record::insert(transaction, &session)?;
        tally.sessions += 1;
        tally.entries += session.entries;
    }
    Ok(tally)
}

/// The sessions that entries and artifacts belong to.
fn named_sessions(transaction: &Transaction<'_>) -> Result<Vec<SessionId>, Fault> {
    let mut statement =
        transaction.prepare("SELECT session FROM entries UNION SELECT session FROM artifacts")?;
    let names = statement.query_map([], |row| row.get::<_, String>(0))?.collect::<Result<Vec<_>, _>>()?;
    Ok(names.iter().filter_map(|name| name.parse().ok()).collect())
}

fn reconcile(
    transaction: &Transaction<'_>,
    id: &SessionId,
    row: Option<SessionRecord>,
    tally: &mut Tally,
) -> Result<SessionRecord, Fault> {
    let entries = journal::all(transaction, id)?;
    let entries = entries.into_iter().map(|entry| entry.read(id)).collect::<Result<Vec<_>>>()?;
    let mut folded = SessionRecord::from(NewSession {
        id: id.clone(),
        workspace: row.as_ref().map(|row| row.workspace.clone()).unwrap_or_default(),
        model: row.as_ref().and_then(|row| row.model.clone()),
        mode: row.as_ref().map_or_else(Mode::default, |row| row.mode),
        at: row
            .as_ref()
            .map_or_else(|| entries.first().map_or(Timestamp(0), |entry| entry.at), |row| row.created),
    });
    for entry in &entries {
        folded.absorb(entry);
    }
    let Some(row) = row else {
        tally.lost.push(format!("session {id}: its workspace is not known any more"));
        return Ok(folded);
    };
    if row.entries > folded.entries {
        let missing = row.entries - folded.entries;
        tally.lost.push(format!("session {id}: {missing} of {} entries are lost", row.entries));
    }
    if row.last_seq < folded.last_seq {
        return Ok(folded);
    }
    // The row has seen entries that were lost, so its word counts; but it must not point to them.
    let leaf_is_there = entries.iter().any(|entry| Some(&entry.id) == row.leaf.as_ref());
    let leaf = if leaf_is_there { row.leaf.clone() } else { folded.leaf };
    Ok(SessionRecord { entries: folded.entries, leaf, ..row })
}
