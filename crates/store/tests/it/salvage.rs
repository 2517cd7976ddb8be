//! Real damage to a real file.

use std::collections::BTreeMap;
use std::fs::{self, OpenOptions};
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;

use rein_protocol::{Entry, SessionId, TurnId};
use rein_store::{SessionQuery, SessionRecord, Store, StoreError};

use crate::child::Actor;
use crate::sample::{Journal, open, session, user};

const PAGE: u64 = 4096;

/// What was put into a store.
struct Kept {
    records: BTreeMap<SessionId, SessionRecord>,
    entries: BTreeMap<SessionId, Vec<Entry>>,
}

/// A store with a few hundred pages: small entries, and some of several pages each.
async fn fill(root: &Path) -> Kept {
    let store = open(root);
    let mut kept = Kept { records: BTreeMap::new(), entries: BTreeMap::new() };
    for number in 0..12 {
        let id = session(&store).await;
        let mut journal = Journal::new(&id);
        let mut entries = vec![journal.entry(user(&TurnId::new(), &format!("Task {number}")))];
        entries.extend(
            (0..120).map(|place| journal.text(format!("{place} {}", "lorem ".repeat(place * place % 1_500)))),
        );
        for batch in entries.chunks(7) {
            store.append(&id, batch.to_vec()).await.unwrap();
        }
        let mut writer = store.artifact_writer(&id).unwrap();
        writer.write(number.to_string().as_bytes()).unwrap();
        writer.finish().await.unwrap();
        kept.records.insert(id.clone(), store.session(&id).await.unwrap().unwrap());
        kept.entries.insert(id, entries);
    }
    store.close().await.unwrap();
    kept
}

fn damage(root: &Path, pages: impl IntoIterator<Item = u64>) {
    let mut file = OpenOptions::new().write(true).open(root.join("sessions.db")).unwrap();
    for page in pages {
        file.seek(SeekFrom::Start(page * PAGE)).unwrap();
        file.write_all(&[0xa5; PAGE as usize]).unwrap();
    }
}

fn page_count(root: &Path) -> u64 {
    fs::metadata(root.join("sessions.db")).unwrap().len() / PAGE
}

/// What is left is what was there, in its order; says how much it is.
async fn assert_part_of(store: &Store, kept: &Kept) -> usize {
    let mut found = 0;
    for record in store.sessions(SessionQuery::default()).await.unwrap() {
        let original = &kept.entries[&record.id];
        let branch = store.branch(&record.id).await.unwrap();
        let expected: Vec<Entry> =
            original.iter().filter(|entry| branch.iter().any(|left| left.id == entry.id)).cloned().collect();
        assert_eq!(branch, expected);
        assert_eq!(record.entries, branch.len() as u64);
        assert_eq!(record.leaf, branch.last().map(|entry| entry.id.clone()));
        found += branch.len();
    }
    found
}

async fn assert_can_go_on(store: &Store) {
    for record in store.sessions(SessionQuery::default()).await.unwrap() {
        let entry = Journal::resume(store, &record.id).await.text("goes on");
        store.append(&record.id, vec![entry.clone()]).await.unwrap();
        assert_eq!(store.branch(&record.id).await.unwrap().last(), Some(&entry));
    }
}

#[tokio::test]
async fn damage_that_is_met_in_use_is_reported_and_salvaged_at_the_next_opening() {
    let directory = tempfile::tempdir().unwrap();
    let kept = fill(directory.path()).await;
    let pages = page_count(directory.path());
    damage(directory.path(), (pages / 2..pages / 2 + 40).step_by(4));
    let damaged = fs::read(directory.path().join("sessions.db")).unwrap();

    let store = open(directory.path());
    assert!(store.salvage_report().is_none(), "a proper end is not doubted");
    let mut met = 0;
    for id in kept.entries.keys() {
        match store.branch(id).await {
            Ok(branch) => assert_eq!(branch, kept.entries[id]),
            Err(StoreError::Damaged { .. }) => met += 1,
            Err(other) => panic!("{other}"),
        }
    }
    assert!(met > 0);
    store.close().await.unwrap();

    let store = open(directory.path());
    let report = store.salvage_report().unwrap().clone();
    assert!(fs::read(&report.moved_to).unwrap() == damaged);
    assert!(report.moved_to.file_name().unwrap().to_str().unwrap().starts_with("sessions.db.damaged-"));
    assert_eq!(report.sessions, kept.records.len() as u64);
    let found = assert_part_of(&store, &kept).await;
    assert_eq!(found as u64, report.entries);
    // Ten pages of a few hundred, none of them near a root.
    let all: usize = kept.entries.values().map(Vec::len).sum();
    assert!(found < all && found > all / 2, "{found} of {all}");
    assert!(report.lost.iter().any(|hint| hint.contains("entries are lost")), "{:?}", report.lost);
    assert_can_go_on(&store).await;
    store.close().await.unwrap();

    assert!(open(directory.path()).salvage_report().is_none());
}

#[tokio::test]
async fn a_lost_first_page_or_root_loses_no_entry() {
    let directory = tempfile::tempdir().unwrap();
    let kept = fill(directory.path()).await;
    // The header with the schema, and the roots of all tables and their indexes.
    damage(directory.path(), [0, 1, 2, 3, 4, 5, 6, 7]);
    let store = open(directory.path());
    let report = store.salvage_report().unwrap().clone();
    let all: usize = kept.entries.values().map(Vec::len).sum();
    let found = assert_part_of(&store, &kept).await;
    assert_eq!((found, report.entries), (all, all as u64), "{:?}", report.lost);
    assert_can_go_on(&store).await;
}

#[tokio::test]
async fn records_and_artifacts_are_saved_too() {
    let directory = tempfile::tempdir().unwrap();
    let kept = fill(directory.path()).await;
    damage(directory.path(), [0]);
    let store = open(directory.path());
    let report = store.salvage_report().unwrap();
    assert_eq!(report.lost, Vec::<String>::new());
    for (id, record) in &kept.records {
        assert_eq!(store.session(id).await.unwrap().as_ref(), Some(record));
    }
    let database = rusqlite::Connection::open(directory.path().join("sessions.db")).unwrap();
    let artifacts: u32 = database.query_row("SELECT count(*) FROM artifacts", [], |row| row.get(0)).unwrap();
    assert_eq!(artifacts as usize, kept.records.len());
    let check: String = database.query_row("PRAGMA integrity_check", [], |row| row.get(0)).unwrap();
    assert_eq!(check, "ok");
    let strays = database.prepare("PRAGMA foreign_key_check").unwrap().exists([]).unwrap();
    assert!(!strays);
}

#[tokio::test]
async fn an_empty_or_torn_file_is_salvaged_as_far_as_it_goes() {
    for length in [0, 50, PAGE * 40 + 7] {
        let directory = tempfile::tempdir().unwrap();
        let kept = fill(directory.path()).await;
        let file = OpenOptions::new().write(true).open(directory.path().join("sessions.db")).unwrap();
        file.set_len(length).unwrap();
        drop(file);
        // A torn file may open; then the damage is met in use.
        let store = open(directory.path());
        for id in kept.entries.keys() {
            store.branch(id).await.ok();
        }
        let known = store.salvage_report().is_some();
        store.close().await.unwrap();
        let store = open(directory.path());
        assert!(known || store.salvage_report().is_some(), "{length}");
        let found = assert_part_of(&store, &kept).await;
        assert_eq!(found > 0, length > PAGE);
    }
}

/// A store whose process was killed, with damage in the file and much in the log.
fn killed_and_damaged(root: &Path, id: &SessionId) {
    let mut child = Actor::start("append", root, id, usize::MAX);
    while child.next().unwrap() != "1500" {}
    child.kill();
    assert!(fs::metadata(root.join("sessions.db-wal")).unwrap().len() > 0);
    damage(root, (20..page_count(root)).step_by(2));
}

#[tokio::test]
async fn pages_are_checked_when_the_machine_went_down_and_not_when_only_a_process_died() {
    let id = SessionId::new();
    let directory = tempfile::tempdir().unwrap();
    killed_and_damaged(directory.path(), &id);
    assert!(open(directory.path()).salvage_report().is_none());

    let directory = tempfile::tempdir().unwrap();
    killed_and_damaged(directory.path(), &id);
    let log = fs::read(directory.path().join("sessions.db-wal")).unwrap();
    fs::write(directory.path().join("locks/store.lock"), "rein session store\nanother boot\n").unwrap();
    let store = open(directory.path());
    let report = store.salvage_report().unwrap();
    let moved_log = format!("{}-wal", report.moved_to.display());
    assert!(fs::read(moved_log).unwrap() == log);
    // The last ones were in the log only, and are saved from there.
    let branch = store.branch(&id).await.unwrap();
    let record = store.session(&id).await.unwrap().unwrap();
    assert_eq!((branch.len() as u64, record.last_seq), (report.entries, branch.last().unwrap().seq));
    assert!(report.entries > 0 && report.entries < 1_501, "{report:?}");
}

#[tokio::test]
async fn a_salvage_that_was_interrupted_is_completed_or_begun_again() {
    let directory = tempfile::tempdir().unwrap();
    let path = |name: &str| directory.path().join(name);
    let kept = fill(directory.path()).await;
    let all: usize = kept.entries.values().map(Vec::len).sum();

    // Killed after the damaged file was moved away, before its log was.
    fs::rename(path("sessions.db"), path("sessions.db.salvaged-123")).unwrap();
    fs::write(path("sessions.db.damaged-123"), "damaged").unwrap();
    fs::write(path("sessions.db-wal"), "its log").unwrap();
    let store = open(directory.path());
    let report = store.salvage_report().unwrap().clone();
    assert_eq!((report.moved_to, report.entries), (path("sessions.db.damaged-123"), all as u64));
    assert_eq!(fs::read(path("sessions.db.damaged-123-wal")).unwrap(), b"its log");
    assert_eq!(assert_part_of(&store, &kept).await, all);
    store.close().await.unwrap();

    // Killed before the damaged file was moved away.
    fs::write(path("sessions.db.salvaging"), "half").unwrap();
    fs::write(path("sessions.db.salvaged-124"), "whole, but nobody knows").unwrap();
    damage(directory.path(), [0]);
    let store = open(directory.path());
    assert_eq!(store.salvage_report().unwrap().entries, all as u64);
    assert_eq!(assert_part_of(&store, &kept).await, all);
    assert!(!path("sessions.db.salvaging").exists() && !path("sessions.db.salvaged-124").exists());
}

#[tokio::test]
async fn a_file_that_others_have_open_is_not_moved_away() {
    let directory = tempfile::tempdir().unwrap();
    let id = SessionId::new();
    let mut child = Actor::start("hold", directory.path(), &id, 0);
    assert_eq!(child.next().as_deref(), Some("holding"));
    damage(directory.path(), [0]);
    let before = fs::read(directory.path().join("sessions.db")).unwrap();
    // The first page may still be in the log, where it is whole.
    let log = directory.path().join("sessions.db-wal");
    fs::write(&log, "").unwrap();
    let error = Store::open(rein_store::StoreOptions::new(directory.path())).unwrap_err();
    assert!(matches!(error, StoreError::Damaged { .. }), "{error}");
    assert!(fs::read(directory.path().join("sessions.db")).unwrap() == before);
    child.kill();
    assert!(open(directory.path()).salvage_report().is_some());
}
