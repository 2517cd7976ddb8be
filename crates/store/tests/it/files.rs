//! What is on the disk: modes, strangers, newer versions, obstacles.

use std::fs::{self, Permissions};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rein_protocol::SessionId;
use rein_store::{Store, StoreError, StoreOptions};
use rusqlite::Connection;

use crate::child::Actor;
use crate::sample::{Journal, open, session};

fn below(directory: &Path) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for entry in fs::read_dir(directory).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            paths.extend(below(&path));
        }
        paths.push(path);
    }
    paths
}

fn assert_private(root: &Path) {
    for path in below(root).into_iter().chain([root.to_owned()]) {
        let metadata = fs::metadata(&path).unwrap();
        let expected = if metadata.is_dir() { 0o700 } else { 0o600 };
        assert_eq!(metadata.permissions().mode() & 0o777, expected, "{}", path.display());
    }
}

/// Uses everything that makes files, then looks at all of them.
pub async fn everything_is_private(root: &Path) {
    let store = open(root);
    let id = session(&store).await;
    store.append(&id, vec![Journal::new(&id).text("secret")]).await.unwrap();
    store.put_blob(b"secret".to_vec()).await.unwrap();
    let mut finished = store.artifact_writer(&id).unwrap();
    finished.write(b"secret output").unwrap();
    finished.finish().await.unwrap();
    let _lease = store.lease(&id).await.unwrap();
    let mut writer = store.artifact_writer(&id).unwrap();
    writer.write(b"more").unwrap();
    let names: Vec<String> =
        below(root).iter().map(|path| path.strip_prefix(root).unwrap().display().to_string()).collect();
    for expected in ["sessions.db", "sessions.db-wal", "sessions.db-shm", "locks/store.lock"] {
        assert!(names.iter().any(|name| name == expected), "{expected} in {names:?}");
    }
    assert_eq!(below(&root.join("temp")).len(), 1);
    assert_eq!(below(&root.join("blobs")).len(), 4);
    assert_private(root);
}

#[test]
fn only_the_owner_can_read_anything_whatever_the_umask() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("parent/store");
    assert!(Actor::start("permissive umask", &root, &SessionId::new(), 0).succeeded());
    assert_private(&directory.path().join("parent"));
}

#[tokio::test]
async fn what_was_open_to_others_is_closed() {
    let directory = tempfile::tempdir().unwrap();
    let root = directory.path().join("store");
    let store = open(&root);
    let id = session(&store).await;
    store.put_blob(b"secret".to_vec()).await.unwrap();
    for path in below(&root).into_iter().chain([root.clone()]) {
        fs::set_permissions(&path, Permissions::from_mode(0o777)).unwrap();
    }
    let other = open(&root);
    assert_private(&root);
    assert!(other.session(&id).await.unwrap().is_some());

    fs::set_permissions(root.join("sessions.db"), Permissions::from_mode(0o644)).unwrap();
    drop(open(&root));
    assert_private(&root);
}

fn refused(root: &Path) -> StoreError {
    Store::open(StoreOptions::new(root)).unwrap_err()
}

#[tokio::test]
async fn a_newer_store_is_refused_and_not_touched() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    session(&store).await;
    store.close().await.unwrap();
    let path = directory.path().join("sessions.db");
    let newer = Connection::open(&path).unwrap();
    newer.pragma_update(None, "user_version", 99).unwrap();
    newer.execute_batch("CREATE TABLE from_the_future (x)").unwrap();
    // Left behind in the log, as by a process that died.
    newer.set_db_config(rusqlite::config::DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).unwrap();
    newer.close().unwrap();
    let before = (fs::read(&path).unwrap(), fs::read(directory.path().join("sessions.db-wal")).unwrap());

    let error = refused(directory.path());
    assert!(
        matches!(&error, StoreError::Newer { path: named, found: 99, supported: 1 } if *named == path),
        "{error}"
    );
    assert!(error.to_string().contains("upgrade rein"), "{error}");
    let after = (fs::read(&path).unwrap(), fs::read(directory.path().join("sessions.db-wal")).unwrap());
    assert!(before == after);
}

#[test]
fn a_file_that_is_not_ours_is_refused_and_not_touched() {
    let foreign = tempfile::tempdir().unwrap();
    let database = Connection::open(foreign.path().join("sessions.db")).unwrap();
    database.execute_batch("CREATE TABLE theirs (x); INSERT INTO theirs VALUES (1)").unwrap();
    database.close().unwrap();
    let text = tempfile::tempdir().unwrap();
    fs::write(text.path().join("sessions.db"), "dear diary, ".repeat(1_000)).unwrap();

    for (root, expected) in [(foreign.path(), "another program"), (text.path(), "not a database")] {
        let path = root.join("sessions.db");
        let before = fs::read(&path).unwrap();
        // Twice: the first try must not leave anything that changes the second.
        for _ in 0..2 {
            let error = refused(root);
            assert!(matches!(&error, StoreError::Foreign { path: named, .. } if *named == path), "{error}");
            assert!(error.to_string().contains(expected), "{error}");
            assert!(fs::read(&path).unwrap() == before);
        }
    }
}

#[test]
fn obstacles_are_named() {
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("file");
    fs::write(&file, "in the way").unwrap();
    for root in [file.clone(), file.join("below"), file.join("far/below")] {
        let error = refused(&root);
        assert!(matches!(&error, StoreError::NotADirectory { path } if *path == file), "{error}");
        assert!(error.to_string().contains("choose another data directory"), "{error}");
    }
    for name in ["blobs", "temp", "locks"] {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join(name), "").unwrap();
        let error = refused(root.path());
        assert!(
            matches!(&error, StoreError::NotADirectory { path } if *path == root.path().join(name)),
            "{error}"
        );
    }
    let root = tempfile::tempdir().unwrap();
    fs::create_dir(root.path().join("sessions.db")).unwrap();
    assert!(matches!(refused(root.path()), StoreError::Foreign { .. }));
    let root = tempfile::tempdir().unwrap();
    fs::create_dir_all(root.path().join("locks/store.lock")).unwrap();
    let error = refused(root.path());
    assert!(matches!(&error, StoreError::Io { path, .. } if path.ends_with("locks/store.lock")), "{error}");

    // Nobody can make directories there, not even root.
    let error = refused(Path::new("/proc/rein/store"));
    assert!(
        matches!(&error, StoreError::Io { path, .. } if path == Path::new("/proc/rein/store")),
        "{error}"
    );
}

#[tokio::test]
async fn a_store_that_was_deleted_begins_anew() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let id = session(&store).await;
    store.close().await.unwrap();
    fs::remove_file(directory.path().join("sessions.db")).unwrap();
    let store = open(directory.path());
    assert!(store.salvage_report().is_none());
    assert_eq!(store.session(&id).await.unwrap(), None);
}

#[tokio::test]
async fn a_root_with_an_odd_name_works() {
    let directory = tempfile::tempdir().unwrap();
    let name =
        <std::ffi::OsStr as std::os::unix::ffi::OsStrExt>::from_bytes(b"file:odd?mode=memory#%00 \xff");
    let root = directory.path().join(name);
    let store = open(&root);
    let id = session(&store).await;
    store.close().await.unwrap();
    assert!(root.join("sessions.db").exists());
    assert!(open(&root).session(&id).await.unwrap().is_some());
}
