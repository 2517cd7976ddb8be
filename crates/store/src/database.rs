//! Opening the database: whose it is, whether it is whole, how it is configured.
//!
//! Owns connections from their birth to their end; leaves the tables to
//! `schema` and repair to `salvage`. The invariants: a file that is not ours
//! or is newer than we are is not changed; nothing but SQLite opens the
//! database or its shared memory in this process while a connection may be
//! open, because closing such a descriptor would drop SQLite's locks.

use std::fs;
use std::io;
use std::time::Duration;

use rusqlite::config::DbConfig;
use rusqlite::{Connection, OpenFlags};

use crate::contention::{BUSY_TIMEOUT, patiently};
use crate::error::{Fault, Result, StoreError};
use crate::layout::{Layout, create_private, open_private, remove, sync_directory};
use crate::options::{Durability, StoreOptions};
use crate::presence::{Company, Doubt, History, Presence};
use crate::salvage::{self, SalvageReport};
use crate::schema::{self, Identity};

/// A log that has grown beyond this is cut back once it was taken into the database.
const LOG_LIMIT: i64 = 16 << 20;

/// The database, ready for use.
pub(crate) struct Opened {
    pub(crate) connection: Connection,
    pub(crate) presence: Presence,
    pub(crate) salvage: Option<SalvageReport>,
}

/// Opens the database, makes it if there is none, and salvages it if it is damaged.
pub(crate) fn open(layout: &Layout, options: &StoreOptions) -> Result<Opened> {
    let mut presence = Presence::enter(layout, options.patience)?;
    let mut salvage = match presence.company {
        Company::Alone => salvage::resume(layout)?,
        Company::Others => None,
    };
    let connection = match connect_writer(layout, options, &presence, presence.doubt) {
        Err(StoreError::Damaged { detail, .. }) if presence.company == Company::Alone => {
            tracing::warn!("{} is damaged: {detail}", layout.database.display());
            salvage = Some(salvage::run(layout)?);
            connect_writer(layout, options, &presence, Doubt::None)?
        }
        outcome => outcome?,
    };
    if presence.doubt == Doubt::Reported {
        remove(&layout.suspect)?;
    }
    presence.settle(options.patience)?;
    Ok(Opened { connection, presence, salvage })
}

fn connect_writer(
    layout: &Layout,
    options: &StoreOptions,
    presence: &Presence,
    doubt: Doubt,
) -> Result<Connection> {
    let history = provide_file(layout, presence.history())?;
    let mut connection = connect(layout, options.patience)?;
    patiently(options.patience, || {
        // Until it is known whose database this is, closing it must not change it.
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true)?;
        recognise(&connection, layout, history)?;
        check_pages(&connection, layout, doubt)?;
        let journal = use_log(&connection)?;
        // While SQLite still waits for the disk at every commit.
        schema::migrate(&mut connection, schema::STEPS)?;
        configure(&connection, options.durability, journal)?;
        connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, false)?;
        Ok(())
    })
    .map_err(|fault| fault.named("open the sessions", &layout.database, options.patience))?;
    Ok(connection)
}

/// A connection that only reads.
pub(crate) fn connect_reader(layout: &Layout, patience: Duration) -> Result<Connection> {
    let connection = connect(layout, patience)?;
    patiently(patience, || Ok(connection.pragma_update(None, "query_only", true)?))
        .map_err(|fault| fault.named("open the sessions", &layout.database, patience))?;
    Ok(connection)
}

/// Ends a connection. The last one takes the log into the database and removes it.
pub(crate) fn close(connection: Connection) {
    if let Err((_, error)) = connection.close() {
        tracing::warn!("the session store was not closed properly: {error}");
    }
}

/// Leaves word for the next one who opens the store that its pages must be checked.
pub(crate) fn report_damage(layout: &Layout, error: &StoreError) {
    if let StoreError::Damaged { detail, .. } = error {
        tracing::error!("{} is damaged: {detail}", layout.database.display());
        if let Err(error) = open_private(&layout.suspect) {
            tracing::warn!("cannot create {}: {error}", layout.suspect.display());
        }
    }
}

/// Makes the file if it is not there, in which case there is no history any more.
/// SQLite would make it readable for others; the log and the shared memory get
/// the mode of the database.
fn provide_file(layout: &Layout, history: History) -> Result<History> {
    let path = &layout.database;
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => {
            Err(StoreError::Foreign { path: path.clone(), found: "it is a directory" })
        }
        // SQLite would take this for a new database and delete the log.
        Ok(metadata) if metadata.len() == 0 && history == History::Store => {
            Err(StoreError::Damaged { path: path.clone(), detail: "the file is empty".to_owned() })
        }
        Ok(_) => Ok(history),
        Err(_) => match create_private(path) {
            Ok(_) => sync_directory(&layout.root).map(|()| History::None),
            Err(cause) if cause.kind() == io::ErrorKind::AlreadyExists => Ok(history),
            Err(cause) => Err(StoreError::io("create", path)(cause)),
        },
    }
}

fn connect(layout: &Layout, patience: Duration) -> Result<Connection> {
    let flags = OpenFlags::SQLITE_OPEN_READ_WRITE | OpenFlags::SQLITE_OPEN_NO_MUTEX;
    let open = || -> Result<Connection, Fault> {
        let connection = Connection::open_with_flags(&layout.database, flags)?;
        connection.busy_timeout(BUSY_TIMEOUT)?;
        connection.pragma_update(None, "trusted_schema", false)?;
        connection.pragma_update(None, "cell_size_check", true)?;
        Ok(connection)
    };
    patiently(patience, open).map_err(|fault| fault.named("open the sessions", &layout.database, patience))
}

fn recognise(connection: &Connection, layout: &Layout, history: History) -> Result<(), Fault> {
    let path = layout.database.clone();
    let supported = schema::version_after(schema::STEPS);
    match (schema::identify(connection), history) {
        (Ok(Identity::Store(found)), _) if found > supported => {
            Err(StoreError::Newer { path, found, supported }.into())
        }
        (Ok(Identity::Store(_)), _) | (Ok(Identity::Empty), History::None) => Ok(()),
        (Ok(Identity::Empty | Identity::Foreign), History::Store) => {
            Err(StoreError::Damaged { path, detail: "it has lost its mark".to_owned() }.into())
        }
        (Ok(Identity::Foreign), History::None) => {
            Err(StoreError::Foreign { path, found: "it is a database of another program" }.into())
        }
        (Err(Fault::Sql(error)), History::None)
            if error.sqlite_error_code() == Some(rusqlite::ErrorCode::NotADatabase) =>
        {
            Err(StoreError::Foreign { path, found: "it is not a database" }.into())
        }
        (Err(fault), _) => Err(fault),
    }
}

fn check_pages(connection: &Connection, layout: &Layout, doubt: Doubt) -> Result<(), Fault> {
    let check = match doubt {
        Doubt::None => return Ok(()),
        Doubt::PowerFailure => "PRAGMA quick_check(1)",
        Doubt::Reported => "PRAGMA integrity_check(1)",
    };
    let finding: String = connection.query_row(check, [], |row| row.get(0))?;
    if finding == "ok" {
        return Ok(());
    }
    Err(StoreError::Damaged { path: layout.database.clone(), detail: finding }.into())
}

/// Whether commits go to a write-ahead log. Not every file system can have one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Journal {
    Log,
    Rollback,
}

fn use_log(connection: &Connection) -> Result<Journal, Fault> {
    let mode: String = connection.pragma_update_and_check(None, "journal_mode", "WAL", |row| row.get(0))?;
    Ok(if mode == "wal" { Journal::Log } else { Journal::Rollback })
}

fn configure(connection: &Connection, durability: Durability, journal: Journal) -> Result<(), Fault> {
    let synchronous = match (durability, journal) {
        (Durability::Second, Journal::Log) => "NORMAL",
        // Without a log, less than this does not survive a power failure.
        (Durability::Second, Journal::Rollback) | (Durability::Every, _) => "FULL",
    };
    connection.pragma_update(None, "synchronous", synchronous)?;
    connection.pragma_update(None, "foreign_keys", true)?;
    connection.pragma_update_and_check(None, "journal_size_limit", LOG_LIMIT, |_| Ok(()))?;
    Ok(())
}
