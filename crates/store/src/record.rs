//! A session's row: what a list shows and what an append has to fit.
//!
//! Owns the `sessions` table. Everything in a row but the workspace and the
//! date of creation is derived from the session's entries by
//! [`SessionRecord::absorb`], in the transaction that appends them.

use std::ffi::OsString;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::PathBuf;
use std::str::FromStr;

use rein_protocol::{
    ArtifactId, Entry, EntryBody, EntryId, Mode, ModelRef, Seq, SessionId, Timestamp, TurnId,
};
use rusqlite::types::Value;
use rusqlite::{Connection, ErrorCode, Params, params};

use crate::error::{Fault, StoreError};
use crate::title::title;

/// A session as it begins.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewSession {
    /// Its name.
    pub id: SessionId,
    /// Where it works.
    pub workspace: PathBuf,
    /// The model that answers, if it is known.
    pub model: Option<ModelRef>,
    /// The mode that holds.
    pub mode: Mode,
    /// When it begins.
    pub at: Timestamp,
}

/// A session that begins with what is in another one.
#[derive(Debug, Clone, PartialEq)]
pub struct SessionCopy {
    /// As it begins.
    pub session: NewSession,
    /// The other session.
    pub from: SessionId,
    /// Artifacts of the other session, and the names that they have in this one.
    pub artifacts: Vec<(ArtifactId, ArtifactId)>,
    /// Its entries, under their own names.
    pub entries: Vec<Entry>,
}

/// Which sessions to list.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SessionQuery {
    /// Only those of this workspace.
    pub workspace: Option<PathBuf>,
    /// At most this many; all if absent.
    pub limit: Option<usize>,
}

/// What is known of a session without reading its entries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SessionRecord {
    /// Its name.
    pub id: SessionId,
    /// Where it works.
    pub workspace: PathBuf,
    /// The beginning of the first prompt; empty before there is one.
    pub title: String,
    /// The model that answers.
    pub model: Option<ModelRef>,
    /// The mode that holds.
    pub mode: Mode,
    /// When it began.
    pub created: Timestamp,
    /// When something was last appended.
    pub updated: Timestamp,
    /// How many entries it has.
    pub entries: u64,
    /// The place of the last entry.
    pub last_seq: Seq,
    /// The entry that the next one follows.
    pub leaf: Option<EntryId>,
    /// The turn that has begun and not ended.
    pub open_turn: Option<TurnId>,
}

impl From<NewSession> for SessionRecord {
    fn from(new: NewSession) -> Self {
        Self {
            id: new.id,
            workspace: new.workspace,
            title: String::new(),
            model: new.model,
            mode: new.mode,
            created: new.at,
            updated: new.at,
            entries: 0,
            last_seq: Seq::START,
            leaf: None,
            open_turn: None,
        }
    }
}

impl SessionRecord {
    /// Takes in an entry that was appended.
    pub(crate) fn absorb(&mut self, entry: &Entry) {
        self.updated = self.updated.max(entry.at);
        self.entries += 1;
        self.last_seq = self.last_seq.max(entry.seq);
        self.leaf = Some(entry.id.clone());
        match &entry.body {
            EntryBody::User { turn, content, .. } => {
                self.open_turn = Some(turn.clone());
                if self.title.is_empty() {
                    self.title = title(content).unwrap_or_default();
                }
            }
            // Nobody goes anywhere while a turn is under way.
            EntryBody::TurnEnded { .. } | EntryBody::Travelled { .. } => self.open_turn = None,
            EntryBody::StepStarted { model, .. } | EntryBody::ModelChanged { model } => {
                self.model = Some(model.clone());
            }
            EntryBody::ModeChanged { mode } => self.mode = *mode,
            EntryBody::Queued { .. }
            | EntryBody::Part { .. }
            | EntryBody::StepEnded { .. }
            | EntryBody::Asked { .. }
            | EntryBody::Decided { .. }
            | EntryBody::CallStarted { .. }
            | EntryBody::CallEnded { .. }
            | EntryBody::Recovered { .. }
            | EntryBody::QueueChanged { .. }
            | EntryBody::Pruned { .. }
            | EntryBody::Compacted { .. }
            | EntryBody::PersonRan { .. }
            | EntryBody::EffortChanged { .. } => {}
            EntryBody::Titled { title, .. } => self.title.clone_from(title),
        }
    }
}

/// In the order in which [`decode`] expects them.
pub(crate) const COLUMNS: usize = 11;

/// A new row.
pub(crate) fn insert(connection: &Connection, record: &SessionRecord) -> Result<(), Fault> {
    let inserted = connection
        .prepare_cached("INSERT INTO sessions VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)")?
        .execute(params![
            record.id.as_str(),
            record.workspace.as_os_str().as_bytes(),
            record.title,
            record.model.as_ref().map(ToString::to_string),
            record.mode.name(),
            record.created.0,
            record.updated.0,
            signed(record.entries),
            signed(record.last_seq.0),
            record.leaf.as_ref().map(EntryId::as_str),
            record.open_turn.as_ref().map(TurnId::as_str),
        ]);
    match inserted {
        Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
            Err(StoreError::SessionExists { session: record.id.clone() }.into())
        }
        other => Ok(other.map(|_| ())?),
    }
}

/// Writes what [`SessionRecord::absorb`] changes.
pub(crate) fn update(connection: &Connection, record: &SessionRecord) -> Result<(), Fault> {
    let sql = "UPDATE sessions SET title = ?2, model = ?3, mode = ?4, updated = ?5, entries = ?6, last_seq = ?7, \
               leaf = ?8, open_turn = ?9 WHERE id = ?1";
    connection.prepare_cached(sql)?.execute(params![
        record.id.as_str(),
        record.title,
        record.model.as_ref().map(ToString::to_string),
        record.mode.name(),
        record.updated.0,
        signed(record.entries),
        signed(record.last_seq.0),
        record.leaf.as_ref().map(EntryId::as_str),
        record.open_turn.as_ref().map(TurnId::as_str),
    ])?;
    Ok(())
}

/// One session.
pub(crate) fn find(connection: &Connection, session: &SessionId) -> Result<Option<SessionRecord>, Fault> {
    let found = select(connection, "WHERE id = ?1", params![session.as_str()])?.pop();
    Ok(found.transpose()?)
}

/// The last updated first.
pub(crate) fn list(connection: &Connection, query: &SessionQuery) -> Result<Vec<SessionRecord>, Fault> {
    let workspace = query.workspace.as_ref().map(|path| path.as_os_str().as_bytes());
    let limit = query.limit.map_or(-1, |limit| i64::try_from(limit).unwrap_or(i64::MAX));
    let clause = "WHERE ?1 IS NULL OR workspace = ?1 ORDER BY updated DESC, id DESC LIMIT ?2";
    Ok(readable(select(connection, clause, params![workspace, limit])?))
}

/// Sessions whose id begins like this, with or without `ses_`; the last updated first.
pub(crate) fn find_by_prefix(connection: &Connection, prefix: &str) -> Result<Vec<SessionRecord>, Fault> {
    let prefix = prefix.trim().to_ascii_lowercase();
    let body = prefix.strip_prefix("ses_").unwrap_or(&prefix);
    if !body.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return Ok(Vec::new());
    }
    // The braces come after every letter.
    let (from, to) = (format!("ses_{body}"), format!("ses_{body}{{"));
    let clause = "WHERE id >= ?1 AND id < ?2 ORDER BY updated DESC, id DESC";
    Ok(readable(select(connection, clause, params![from, to])?))
}

/// One session that cannot be read must not hide the others.
fn readable(records: Vec<Result<SessionRecord, StoreError>>) -> Vec<SessionRecord> {
    let records =
        records.into_iter().filter_map(|record| record.inspect_err(|error| tracing::warn!("{error}")).ok());
    records.collect()
}

fn select(
    connection: &Connection,
    clause: &str,
    parameters: impl Params,
) -> Result<Vec<Result<SessionRecord, StoreError>>, Fault> {
    let sql = format!(
        "SELECT id, workspace, title, model, mode, created, updated, entries, last_seq, leaf, open_turn \
         FROM sessions {clause}"
    );
    let mut statement = connection.prepare_cached(&sql)?;
    let mut rows = statement.query(parameters)?;
    let mut records = Vec::new();
    while let Some(row) = rows.next()? {
        let values = (0..COLUMNS).map(|index| row.get(index)).collect::<Result<Vec<Value>, _>>()?;
        records.push(decode(&values));
    }
    Ok(records)
}

/// Reads a row, wherever it comes from.
pub(crate) fn decode(values: &[Value]) -> Result<SessionRecord, StoreError> {
    let row = Columns(values);
    let read = || {
        Ok(SessionRecord {
            id: row.required(0, "id")?,
            workspace: row.workspace()?,
            title: row.text(2).unwrap_or_default().to_owned(),
            model: row.optional(3, "model")?,
            mode: row.mode()?,
            created: Timestamp(row.integer(5, "date of creation")?),
            updated: Timestamp(row.integer(6, "date of change")?),
            entries: row.count(7, "number of entries")?,
            last_seq: Seq(row.count(8, "last place")?),
            leaf: row.optional(9, "last entry")?,
            open_turn: row.optional(10, "open turn")?,
        })
    };
    read().map_err(|what: &str| StoreError::UnreadableSession {
        session: row.text(0).unwrap_or("?").to_owned(),
        reason: format!("its {what} makes no sense"),
    })
}

struct Columns<'a>(&'a [Value]);

impl Columns<'_> {
    fn text(&self, index: usize) -> Option<&str> {
        match self.0.get(index) {
            Some(Value::Text(text)) => Some(text),
            _ => None,
        }
    }

    fn required<T: FromStr>(&self, index: usize, what: &'static str) -> Result<T, &'static str> {
        self.text(index).and_then(|text| text.parse().ok()).ok_or(what)
    }

    fn optional<T: FromStr>(&self, index: usize, what: &'static str) -> Result<Option<T>, &'static str> {
        match self.0.get(index) {
            Some(Value::Null) => Ok(None),
            _ => self.required(index, what).map(Some),
        }
    }

    fn integer(&self, index: usize, what: &'static str) -> Result<i64, &'static str> {
        match self.0.get(index) {
            Some(Value::Integer(number)) => Ok(*number),
            _ => Err(what),
        }
    }

    fn count(&self, index: usize, what: &'static str) -> Result<u64, &'static str> {
        u64::try_from(self.integer(index, what)?).map_err(|_| what)
    }

    fn workspace(&self) -> Result<PathBuf, &'static str> {
        match self.0.get(1) {
            Some(Value::Blob(bytes)) => Ok(PathBuf::from(OsString::from_vec(bytes.clone()))),
            _ => Err("workspace"),
        }
    }

    fn mode(&self) -> Result<Mode, &'static str> {
        let name = self.text(4);
        Mode::ALL.into_iter().find(|mode| Some(mode.name()) == name).ok_or("mode")
    }
}

/// SQLite's integers are signed; [`crate::journal`] refuses places that are too large.
fn signed(number: u64) -> i64 {
    i64::try_from(number).unwrap_or(i64::MAX)
}
