//! The tables, and how an older database becomes a current one.
//!
//! Owns `PRAGMA user_version` and `application_id`. Migrations go forwards
//! only, each in a transaction of its own that looks at the version again, so
//! that two processes may migrate at once. The invariant: a step that was
//! released is never edited; a change is a new step.

use rusqlite::{Connection, TransactionBehavior};

use crate::error::Fault;

/// "rein" in ASCII.
pub(crate) const APPLICATION_ID: i64 = 0x7265_696e;

/// The steps from nothing to the current version; a database of version `n` has had the first `n`.
pub(crate) const STEPS: &[&str] = &["
    CREATE TABLE sessions (
        id        TEXT    NOT NULL PRIMARY KEY,
        workspace BLOB    NOT NULL,
        title     TEXT    NOT NULL,
        model     TEXT,
        mode      TEXT    NOT NULL,
        created   INTEGER NOT NULL,
        updated   INTEGER NOT NULL,
        entries   INTEGER NOT NULL,
        last_seq  INTEGER NOT NULL,
        leaf      TEXT,
        open_turn TEXT
    ) STRICT;

    CREATE TABLE entries (
        id      TEXT    NOT NULL PRIMARY KEY,
        session TEXT    NOT NULL REFERENCES sessions (id),
        parent  TEXT,
        seq     INTEGER NOT NULL,
        at      INTEGER NOT NULL,
        kind    TEXT    NOT NULL,
        body    TEXT    NOT NULL,
        UNIQUE (session, seq)
    ) STRICT;

    CREATE TRIGGER entries_are_not_changed BEFORE UPDATE ON entries
    BEGIN SELECT RAISE (ABORT, 'the journal is append-only'); END;

    CREATE TRIGGER entries_are_not_deleted BEFORE DELETE ON entries
    BEGIN SELECT RAISE (ABORT, 'the journal is append-only'); END;

    CREATE TABLE artifacts (
        id      TEXT    NOT NULL PRIMARY KEY,
        session TEXT    NOT NULL REFERENCES sessions (id),
        blob    TEXT    NOT NULL,
        bytes   INTEGER NOT NULL,
        created INTEGER NOT NULL
    ) STRICT;
"];

/// What a database file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Identity {
    /// Nothing yet.
    Empty,
    /// A store of this version.
    Store(i64),
    /// Somebody else's database.
    Foreign,
}

/// Looks at a database without changing it.
pub(crate) fn identify(connection: &Connection) -> Result<Identity, Fault> {
    let application = pragma(connection, "application_id")?;
    let version = pragma(connection, "user_version")?;
    if application == APPLICATION_ID {
        return Ok(Identity::Store(version));
    }
    let objects: i64 = connection.query_row("SELECT count(*) FROM sqlite_schema", [], |row| row.get(0))?;
    Ok(if (application, version, objects) == (0, 0, 0) { Identity::Empty } else { Identity::Foreign })
}

/// Takes the steps that the database has not had. Doing it again does nothing.
pub(crate) fn migrate(connection: &mut Connection, steps: &[&str]) -> Result<(), Fault> {
    if pragma(connection, "user_version")? >= version_after(steps) {
        return Ok(());
    }
    for (index, step) in steps.iter().enumerate() {
        let before = i64::try_from(index).unwrap_or(i64::MAX);
        let transaction = connection.transaction_with_behavior(TransactionBehavior::Immediate)?;
        if pragma(&transaction, "user_version")? == before {
            transaction.execute_batch(step)?;
            transaction.pragma_update(None, "application_id", APPLICATION_ID)?;
            transaction.pragma_update(None, "user_version", before.saturating_add(1))?;
            transaction.commit()?;
        }
    }
    Ok(())
}

/// The version of a database that has had these steps.
pub(crate) fn version_after(steps: &[&str]) -> i64 {
    i64::try_from(steps.len()).unwrap_or(i64::MAX)
}

fn pragma(connection: &Connection, name: &str) -> Result<i64, Fault> {
    Ok(connection.pragma_query_value(None, name, |row| row.get(0))?)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The schema as SQLite keeps it, with the version.
    fn shape(connection: &Connection) -> (i64, Vec<String>) {
        let mut statement = connection
            .prepare(
                "SELECT type || ' ' || name || ' ' || coalesce(sql, '') FROM sqlite_schema ORDER BY name",
            )
            .unwrap();
        let objects = statement.query_map([], |row| row.get(0)).unwrap().collect::<Result<_, _>>().unwrap();
        (pragma(connection, "user_version").unwrap(), objects)
    }

    fn at_version(version: usize) -> Connection {
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &STEPS[..version]).unwrap();
        connection
    }

    #[test]
    fn every_earlier_version_becomes_the_current_one() {
        let current = shape(&at_version(STEPS.len()));
        assert_eq!(current.0, version_after(STEPS));
        for version in 0..=STEPS.len() {
            let mut connection = at_version(version);
            migrate(&mut connection, STEPS).unwrap();
            assert_eq!(shape(&connection), current, "from version {version}");
        }
    }

    #[test]
    fn steps_are_taken_once_and_in_order_and_keep_the_rows() {
        let steps = ["CREATE TABLE a (x)", "ALTER TABLE a ADD COLUMN y DEFAULT 7", "UPDATE a SET y = y + 1"];
        let mut connection = Connection::open_in_memory().unwrap();
        migrate(&mut connection, &steps[..1]).unwrap();
        connection.execute_batch("INSERT INTO a VALUES (1)").unwrap();
        migrate(&mut connection, &steps).unwrap();
        migrate(&mut connection, &steps).unwrap();
        let row: (i64, i64) =
            connection.query_row("SELECT x, y FROM a", [], |row| Ok((row.get(0)?, row.get(1)?))).unwrap();
        assert_eq!(row, (1, 8));
        assert_eq!(identify(&connection).unwrap(), Identity::Store(3));
    }

    #[test]
    fn two_may_migrate_at_once() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("t.db");
        // Each step would fail if it were taken twice.
        let steps = ["CREATE TABLE a (x)", "CREATE TABLE b (x)", "CREATE TABLE c (x)", "CREATE TABLE d (x)"];
        std::thread::scope(|scope| {
            let migrate = || {
                let mut connection = Connection::open(&path).unwrap();
                connection.busy_timeout(std::time::Duration::from_secs(30)).unwrap();
                migrate(&mut connection, &steps).unwrap();
                shape(&connection)
            };
            let threads: Vec<_> = (0..4).map(|_| scope.spawn(migrate)).collect();
            for thread in threads {
                let (version, objects) = thread.join().unwrap();
                assert_eq!((version, objects.len()), (4, 4));
            }
        });
    }

    #[test]
    fn a_step_that_fails_leaves_the_version_before_it() {
        let steps = ["CREATE TABLE a (x)", "CREATE TABLE b (x); CREATE TABLE a (x)"];
        let mut connection = Connection::open_in_memory().unwrap();
        assert!(migrate(&mut connection, &steps).is_err());
        let (version, objects) = shape(&connection);
        assert_eq!((version, objects.len()), (1, 1));
    }

    #[test]
    fn a_database_says_whose_it_is() {
        let connection = Connection::open_in_memory().unwrap();
        assert_eq!(identify(&connection).unwrap(), Identity::Empty);
        connection.execute_batch("CREATE TABLE theirs (x)").unwrap();
        assert_eq!(identify(&connection).unwrap(), Identity::Foreign);
    }
}
