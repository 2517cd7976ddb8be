//! What is in an SQLite database: its tables with their definitions and how many
//! rows they have. No row is shown, and nothing is written, not even beside it.
//!
//! The file may be anybody's, so nothing that its schema would run is trusted,
//! and work and time are limited.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use rusqlite::config::DbConfig;
use rusqlite::limits::Limit;
use rusqlite::{Connection, OpenFlags};
use tokio_util::sync::CancellationToken;

use super::file::Asked;
use super::{View, units};

/// Definitions that are read.
const MOST_OBJECTS: i64 = 1_000;

/// Characters of one definition.
const MOST_DEFINITION: i64 = 4_000;

/// Rows that are counted of one table.
const MOST_ROWS: i64 = 1_000_000;

/// After this time rows are no longer counted.
const PATIENCE: Duration = Duration::from_secs(5);

/// Steps of the engine between two looks at the clock.
const STEPS: i32 = 10_000;

/// A table, view, index or trigger.
struct Object {
    kind: String,
    name: String,
    definition: String,
}

/// Whether others may be writing to a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Access {
    /// With locks, as the others.
    Shared,
    /// As if nobody did: without locks, and without the files beside it.
    Alone,
}

/// The tables of a database. `sample` is how it begins.
pub(super) fn view(sample: &[u8], bytes: u64, asked: &Asked<'_>) -> Result<View, String> {
    let access = match (sample.get(18), beside(asked.path)) {
        // To read what is still in its log a lock beside it is needed, and none is made here.
        (Some(2), false) => Access::Alone,
        _ => Access::Shared,
    };
    let shared = read(asked, access);
    let (mut view, access) = match shared {
        Err(_) if access == Access::Shared && !asked.cancel.is_cancelled() => {
            (read(asked, Access::Alone).map_err(|error| broken(asked, &error))?, Access::Alone)
        }
        read => (read.map_err(|error| broken(asked, &error))?, access),
    };
    view.notes
        .insert(0, format!("SQLite database of {bytes} bytes, its schema; query it with sqlite3 and bash"));
    if access == Access::Alone && log(asked.path).metadata().is_ok_and(|metadata| metadata.len() > 0) {
        view.notes.push("changes that are only in its log are not shown".to_owned());
    }
    Ok(view)
}

fn broken(asked: &Asked<'_>, error: &rusqlite::Error) -> String {
    format!("{} is an SQLite database that cannot be read: {error}.", asked.shown)
}

fn log(path: &Path) -> PathBuf {
    with_end(path, "-wal")
}

/// Whether the files that a log needs are there already.
fn beside(path: &Path) -> bool {
    log(path).exists() && with_end(path, "-shm").exists()
}

fn with_end(path: &Path, end: &str) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(end);
    PathBuf::from(name)
}

fn read(asked: &Asked<'_>, access: Access) -> rusqlite::Result<View> {
    let connection = open(asked.path, access, asked.cancel.clone())?;
    let objects = objects(&connection)?;
    let tables = objects.iter().filter(|object| object.kind == "table").count();
    let view = units::view(asked.selection, "object", objects.len() as u64, |number| {
        let object = usize::try_from(number - 1).ok().and_then(|index| objects.get(index));
        Ok(object.map(|object| described(&connection, object)).unwrap_or_default())
    });
    let mut view = view.unwrap_or_else(|message| View { notes: vec![message], ..View::default() });
    view.summary = format!("{tables} tables");
    Ok(view)
}

fn open(path: &Path, access: Access, cancel: CancellationToken) -> rusqlite::Result<Connection> {
    let plain =
        OpenFlags::SQLITE_OPEN_READ_ONLY | OpenFlags::SQLITE_OPEN_NO_MUTEX | OpenFlags::SQLITE_OPEN_NOFOLLOW;
    let mut connection = match access {
        Access::Shared => Connection::open_with_flags(path, plain)?,
        Access::Alone => {
            let address = format!("file:{}?immutable=1", escaped(path));
            Connection::open_with_flags(address, plain | OpenFlags::SQLITE_OPEN_URI)?
        }
    };
    connection.busy_timeout(Duration::from_millis(500))?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_DEFENSIVE, true)?;
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_TRUSTED_SCHEMA, false)?;
    connection.set_limit(Limit::SQLITE_LIMIT_LENGTH, 4 * 1024 * 1024)?;
    let deadline = Instant::now() + PATIENCE;
    connection.progress_handler(STEPS, Some(move || cancel.is_cancelled() || Instant::now() > deadline))?;
    Ok(connection)
}

/// A path in an address, byte for byte.
fn escaped(path: &Path) -> String {
    let bytes = std::os::unix::ffi::OsStrExt::as_bytes(path.as_os_str());
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"/._-".contains(byte);
    bytes
        .iter()
        .map(|byte| if plain(byte) { char::from(*byte).to_string() } else { format!("%{byte:02X}") })
        .collect()
}

fn objects(connection: &Connection) -> rusqlite::Result<Vec<Object>> {
    // Tables first; what has no definition the engine makes itself.
    let mut statement = connection.prepare(
        "SELECT type, substr(name, 1, 200), substr(sql, 1, ?1) FROM sqlite_schema WHERE sql IS NOT NULL \
         ORDER BY type <> 'table', type <> 'view', tbl_name, type, name LIMIT ?2",
    )?;
    let rows = statement.query_map([MOST_DEFINITION, MOST_OBJECTS], |row| {
        Ok(Object { kind: row.get(0)?, name: row.get(1)?, definition: row.get(2)? })
    })?;
    rows.collect()
}

fn described(connection: &Connection, object: &Object) -> String {
    let is_plain = object.kind == "table" && !is_virtual(&object.definition);
    let rows = if is_plain { rows(connection, &object.name) } else { String::new() };
    format!("{};{rows}", object.definition.trim())
}

/// The rows of such a table are what a program says they are.
fn is_virtual(definition: &str) -> bool {
    definition.split_whitespace().nth(1).is_some_and(|word| word.eq_ignore_ascii_case("virtual"))
}

fn rows(connection: &Connection, table: &str) -> String {
    let table = table.replace('"', "\"\"");
    let count = format!("SELECT count(*) FROM (SELECT 1 FROM \"{table}\" LIMIT {})", MOST_ROWS + 1);
    match connection.query_row(&count, [], |row| row.get::<_, i64>(0)) {
        Ok(count) if count > MOST_ROWS => format!(" -- more than {MOST_ROWS} rows"),
        Ok(1) => " -- 1 row".to_owned(),
        Ok(count) => format!(" -- {count} rows"),
        Err(_) => " -- rows not counted".to_owned(),
    }
}
