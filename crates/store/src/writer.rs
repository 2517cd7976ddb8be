//! The thread that writes: one connection, one transaction at a time.
//!
//! Owns the write connection and when its commits reach the disk; leaves what
//! rows look like to `record` and `journal`. The invariant: an append is one
//! transaction that checks that the entries follow what is there, adds them,
//! and brings the session's row up to date.

use std::time::{Duration, Instant};

use rein_protocol::{Entry, SessionId};
use rusqlite::{Connection, ErrorCode, Transaction, TransactionBehavior, params};

use crate::artifact::ArtifactRecord;
use crate::contention::patiently;
use crate::database::{close, report_damage};
use crate::error::{Fault, Result, StoreError};
use crate::lane::Attendant;
use crate::layout::Layout;
use crate::options::CommitHook;
use crate::record::{NewSession, SessionCopy, SessionRecord};
use crate::sync::Syncer;
use crate::{journal, record};

pub(crate) struct Writer {
    pub(crate) connection: Connection,
    pub(crate) layout: Layout,
    pub(crate) patience: Duration,
    pub(crate) syncer: Syncer,
    pub(crate) after_commit: Option<CommitHook>,
    pub(crate) appended: u64,
}

impl Writer {
    pub(crate) fn create_session(&mut self, new: NewSession) -> Result<()> {
        let session = SessionRecord::from(new);
        self.transact("create a session", |transaction| record::insert(transaction, &session))
    }

    pub(crate) fn append(&mut self, session: &SessionId, entries: &[Entry]) -> Result<()> {
        if entries.is_empty() {
            return Ok(());
        }
        let bodies = journal::encode(entries)?;
        self.transact("append to a session", |transaction| {
            let unknown = || StoreError::UnknownSession { session: session.clone() };
            let mut record = record::find(transaction, session)?.ok_or_else(unknown)?;
            add(transaction, &mut record, entries, &bodies)
        })?;
        self.count(entries);
        Ok(())
    }

    /// A session that begins with entries and with artifacts of another one, all or nothing.
    pub(crate) fn create_copy(&mut self, copy: SessionCopy) -> Result<()> {
        let SessionCopy { session, from, artifacts, entries } = copy;
        let bodies = journal::encode(&entries)?;
        let new = SessionRecord::from(session);
        self.transact("copy a session", |transaction| {
            let mut record = new.clone();
            record::insert(transaction, &record)?;
            let sql = "INSERT INTO artifacts (id, session, blob, bytes, created) \
                       SELECT ?2, ?3, blob, bytes, created FROM artifacts WHERE id = ?1 AND session = ?4";
            for (old, new) in &artifacts {
                let parameters = params![old.as_str(), new.as_str(), record.id.as_str(), from.as_str()];
                transaction.prepare_cached(sql)?.execute(parameters)?;
            }
            add(transaction, &mut record, &entries, &bodies)
        })?;
        self.count(&entries);
        Ok(())
    }

    fn count(&mut self, entries: &[Entry]) {
        self.appended += u64::try_from(entries.len()).unwrap_or(u64::MAX);
        if let Some(observe) = &self.after_commit {
            observe(self.appended);
        }
    }

    pub(crate) fn add_artifact(&mut self, artifact: &ArtifactRecord) -> Result<()> {
        let bytes = i64::try_from(artifact.bytes).unwrap_or(i64::MAX);
        self.transact("record an artifact", |transaction| {
            let inserted = transaction.execute(
                "INSERT INTO artifacts (id, session, blob, bytes, created) VALUES (?1, ?2, ?3, ?4, ?5)",
                params![
                    artifact.id.as_str(),
                    artifact.session.as_str(),
                    artifact.blob.0,
                    bytes,
                    artifact.created.0
                ],
            );
            match inserted {
                Err(error) if error.sqlite_error_code() == Some(ErrorCode::ConstraintViolation) => {
                    Err(StoreError::UnknownSession { session: artifact.session.clone() }.into())
                }
                other => Ok(other.map(|_| ())?),
            }
        })
    }

    /// Brings everything to the disk.
    pub(crate) fn flush(&mut self) -> Result<()> {
        self.syncer.sync()
    }

    fn transact<T>(
        &mut self,
        action: &'static str,
        work: impl Fn(&Transaction<'_>) -> Result<T, Fault>,
    ) -> Result<T> {
        let connection = &mut self.connection;
        let outcome = patiently(self.patience, || {
            let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
            let value = work(&transaction)?;
            transaction.commit()?;
            Ok(value)
        });
        if outcome.is_ok() {
            self.syncer.committed();
        }
        let named = |fault: Fault| fault.named(action, &self.layout.database, self.patience);
        outcome.map_err(named).inspect_err(|error| report_damage(&self.layout, error))
    }
}

/// Adds entries that follow what the session holds, and brings its row up to date.
fn add(
    transaction: &Transaction<'_>,
    record: &mut SessionRecord,
    entries: &[Entry],
    bodies: &[String],
) -> Result<(), Fault> {
    for (entry, body) in entries.iter().zip(bodies) {
        journal::check(record, entry)?;
        journal::check_place(transaction, entry)?;
        journal::insert(transaction, entry, body)?;
        record.absorb(entry);
    }
    record::update(transaction, record)
}

impl Attendant for Writer {
    fn due(&self) -> Option<Instant> {
        self.syncer.due()
    }

    fn wake(&mut self) {
        if let Err(error) = self.syncer.sync() {
            tracing::error!("{error}");
        }
    }

    fn finish(mut self) {
        self.wake();
        close(self.connection);
    }
}
