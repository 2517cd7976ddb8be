//! What can go wrong, in words for the person who has to do something about it.
//!
//! Owns the crate's error type and the one place where SQLite's codes are told
//! apart. A cause is part of the message, not a `source`, so that the message
//! alone says everything.

use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rein_protocol::{EntryId, Seq, SessionId};
use rusqlite::ErrorCode;

/// What the store's functions return.
pub type Result<T, E = StoreError> = std::result::Result<T, E>;

/// Why the store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system refused.
    #[error("cannot {action} {}: {cause}; {}", .path.display(), advice(.cause))]
    Io {
        /// What was tried.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// What the system said.
        cause: io::Error,
    },
    /// Something else is where a directory should be.
    #[error("{} is not a directory, but one is needed there; move it away or choose another data directory", .path.display())]
    NotADirectory {
        /// What is in the way.
        path: PathBuf,
    },
    /// A later rein has written the store.
    #[error("{} was written by a newer rein (its format is {found}, this rein knows up to {supported}); nothing was changed, please upgrade rein to open it", .path.display())]
    Newer {
        /// The database.
        path: PathBuf,
        /// Its version.
        found: i64,
        /// The last version known here.
        supported: i64,
    },
    /// The file is somebody else's.
    #[error("{} is not a session store of rein: {found}; it was left as it is, move it away or choose another data directory", .path.display())]
    Foreign {
        /// The file.
        path: PathBuf,
        /// What it seems to be.
        found: &'static str,
    },
    /// The database is damaged.
    #[error("{} is damaged ({detail}); close every rein and start it again: what is readable is then copied into a new file, and the damaged one is kept", .path.display())]
    Damaged {
        /// The database.
        path: PathBuf,
        /// What was seen.
        detail: String,
    },
    /// Another process did not let go in time.
    #[error("{} was kept locked by another process for {} ms; try again, or end that process", .path.display(), .waited.as_millis())]
    Busy {
        /// What was waited for.
        path: PathBuf,
        /// How long.
        waited: Duration,
    },
    /// There is no space left.
    #[error("there is no space left for {}; free some and try again, nothing was written", .path.display())]
    Full {
        /// The database.
        path: PathBuf,
    },
    /// SQLite refused for a reason that has no variant of its own.
    #[error("cannot {action} in {}: {cause}", .path.display())]
    Database {
        /// What was tried.
        action: &'static str,
        /// The database.
        path: PathBuf,
        /// What SQLite said.
        cause: rusqlite::Error,
    },
    /// Somebody works in the session.
    #[error("session {session} is in use by another rein{}; close it there or start a new session", .pid.map(|pid| format!(" (pid {pid})")).unwrap_or_default())]
    InUse {
        /// Which session.
        session: SessionId,
        /// By whom, where it is known.
        pid: Option<u32>,
    },
    /// There is no such session.
    #[error("there is no session {session}; list the sessions to see which there are")]
    UnknownSession {
        /// Which was asked for.
        session: SessionId,
    },
    /// A session with this id is there already.
    #[error("session {session} exists already; open it instead of creating it")]
    SessionExists {
        /// Which.
        session: SessionId,
    },
    /// An entry does not follow what the session holds; nothing was appended.
    #[error(
        "entry {entry} cannot be appended to session {session}: {conflict}; read the session again, somebody else may have appended"
    )]
    Conflict {
        /// Which session.
        session: SessionId,
        /// The first entry that does not fit.
        entry: EntryId,
        /// In what way.
        conflict: Box<Conflict>,
    },
    /// A stored session cannot be understood.
    #[error("session {session} cannot be read: {reason}; the other sessions are not affected")]
    UnreadableSession {
        /// Its id as stored.
        session: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A stored entry cannot be understood.
    #[error(
        "entry {entry} of session {session} cannot be read: {reason}; the other sessions are not affected"
    )]
    UnreadableEntry {
        /// Which session.
        session: SessionId,
        /// Its id as stored.
        entry: String,
        /// What is wrong with it.
        reason: String,
    },
    /// An entry cannot be expressed in the journal's format.
    #[error("entry {entry} cannot be written: {reason}")]
    UnwritableEntry {
        /// Which.
        entry: EntryId,
        /// Why, for example a path that is not UTF-8.
        reason: String,
    },
    /// A text does not name a blob.
    #[error("`{text}` does not name a blob: it must be 64 digits of 0-9 and a-f")]
    InvalidBlob {
        /// The text.
        text: String,
    },
    /// A blob's content is not what its name says.
    #[error("{} is damaged: its content does not match its name; delete it, it is written anew when its content comes again", .path.display())]
    DamagedBlob {
        /// The file.
        path: PathBuf,
    },
    /// The store's thread has ended.
    #[error("the session store is closed; open it again")]
    Closed,
}

/// In what way an entry does not follow what the session holds.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Conflict {
    /// Its parent is not the entry before it.
    #[error("it follows {}, but the last entry is {}", named(.found), named(.expected))]
    Parent {
        /// The parent it names.
        found: Option<EntryId>,
        /// The entry before it.
        expected: Option<EntryId>,
    },
    /// Its place is not after that of the entry before it.
    #[error("its place {found} is not after {last}")]
    Seq {
        /// Its place.
        found: Seq,
        /// The last place taken.
        last: Seq,
    },
    /// It says that it belongs elsewhere.
    #[error("it says that it belongs to session {found}")]
    Session {
        /// The session it names.
        found: SessionId,
    },
    /// It goes to a place that the session does not have.
    #[error("it goes to entry {found}, which the session does not have")]
    Place {
        /// Where it goes.
        found: EntryId,
    },
    /// Its id is taken.
    #[error("an entry with its id exists already")]
    Duplicate,
}

fn named(entry: &Option<EntryId>) -> String {
    entry.as_ref().map_or_else(|| "nothing".to_owned(), |id| format!("entry {id}"))
}

fn advice(cause: &io::Error) -> &'static str {
    match cause.kind() {
        io::ErrorKind::ReadOnlyFilesystem => "the disk is read-only: choose another data directory",
        io::ErrorKind::PermissionDenied => {
            "change its owner or permissions, or choose another data directory"
        }
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => "free some space and try again",
        io::ErrorKind::NotADirectory => "one of its parents is a file: move that away",
        _ => "check the path and the disk, or choose another data directory",
    }
}

impl StoreError {
    /// For `map_err`: the file system refused to `action` this path.
    pub(crate) fn io(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |cause| Self::Io { action, path: path.to_owned(), cause }
    }
}

/// A failure inside of a database access, before it is known what to call it.
#[derive(Debug)]
pub(crate) enum Fault {
    /// SQLite said no.
    Sql(rusqlite::Error),
    /// We did.
    Store(StoreError),
}

impl From<rusqlite::Error> for Fault {
    fn from(error: rusqlite::Error) -> Self {
        Self::Sql(error)
    }
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        Self::Store(error)
    }
}

impl Fault {
    /// Whether waiting may help.
    pub(crate) fn is_busy(&self) -> bool {
        matches!(self.code(), Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked))
    }

    /// Gives the failure its name.
    pub(crate) fn named(self, action: &'static str, path: &Path, patience: Duration) -> StoreError {
        let path = path.to_owned();
        match (self.code(), self) {
            (_, Self::Store(error)) => error,
            (Some(ErrorCode::DatabaseBusy | ErrorCode::DatabaseLocked), Self::Sql(_)) => {
                StoreError::Busy { path, waited: patience }
            }
            (Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase), Self::Sql(cause)) => {
                StoreError::Damaged { path, detail: cause.to_string() }
            }
            (Some(ErrorCode::DiskFull), Self::Sql(_)) => StoreError::Full { path },
            (_, Self::Sql(cause)) => StoreError::Database { action, path, cause },
        }
    }

    fn code(&self) -> Option<ErrorCode> {
        match self {
            Self::Sql(error) => error.sqlite_error_code(),
            Self::Store(_) => None,
        }
    }
}
