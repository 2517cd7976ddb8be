//! Appending and reading back.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;

use rein_protocol::{CallId, Effect, Entry, EntryBody, EntryId, Intent, Seq, SessionId};
use rein_store::{Conflict, Durability, Store, StoreError, StoreOptions};
use rusqlite::Connection;

use crate::sample::{Journal, every_body, open, session};

#[tokio::test]
async fn every_kind_of_entry_reads_back_as_it_was_appended() {
    for durability in [Durability::Second, Durability::Every] {
        let directory = tempfile::tempdir().unwrap();
        let options = StoreOptions { durability, ..StoreOptions::new(directory.path()) };
        let store = Store::open(options.clone()).unwrap();
        let id = session(&store).await;
        let mut journal = Journal::new(&id);
        let entries: Vec<Entry> = every_body(&id).into_iter().map(|body| journal.entry(body)).collect();
        let (one, rest) = entries.split_first().unwrap();
        store.append(&id, vec![one.clone()]).await.unwrap();
        store.append(&id, Vec::new()).await.unwrap();
        store.append(&id, rest.to_vec()).await.unwrap();
        assert_eq!(store.branch(&id).await.unwrap(), entries);
        store.close().await.unwrap();

        let store = Store::open(options).unwrap();
        assert_eq!(store.branch(&id).await.unwrap(), entries);
        assert_eq!(store.entries_after(&id, Seq::START, 1_000).await.unwrap(), entries);
        assert_eq!(store.entries_after(&id, entries[2].seq, 2).await.unwrap(), entries[3..5]);
        assert_eq!(store.entries_after(&id, Seq(u64::MAX), 2).await.unwrap(), []);
        store.close().await.unwrap();

        let database = Connection::open(directory.path().join("sessions.db")).unwrap();
        let sql = "SELECT count(*), sum(kind = json_extract(body, '$.type')) FROM entries";
        let counts: (usize, usize) = database
            .query_row(sql, [], |row| Ok((row.get::<_, u32>(0)? as usize, row.get::<_, u32>(1)? as usize)))
            .unwrap();
        assert_eq!(counts, (entries.len(), entries.len()));
    }
}

#[tokio::test]
async fn an_entry_cannot_be_changed_or_deleted() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let id = session(&store).await;
    let entry = Journal::new(&id).text("said");
    store.append(&id, vec![entry.clone()]).await.unwrap();
    let database = Connection::open(directory.path().join("sessions.db")).unwrap();
    for sql in ["UPDATE entries SET body = '{}'", "DELETE FROM entries"] {
        let error = database.execute(sql, ()).unwrap_err();
        assert!(error.to_string().contains("append-only"), "{error}");
    }
    assert_eq!(store.branch(&id).await.unwrap(), [entry]);
}

async fn conflict(store: &Store, session: &SessionId, entries: Vec<Entry>) -> (EntryId, Conflict) {
    match store.append(session, entries).await {
        Err(StoreError::Conflict { entry, conflict, .. }) => (entry, *conflict),
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn what_does_not_follow_is_refused_whole() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let (id, other) = (session(&store).await, session(&store).await);
    let mut journal = Journal::new(&id);
    let first = journal.text("first");
    let leaf = Some(first.id.clone());
    store.append(&id, vec![first.clone()]).await.unwrap();
    let good = journal.text("good");

    let orphan = Entry { parent: None, ..good.clone() };
    let expected = Conflict::Parent { found: None, expected: leaf.clone() };
    assert_eq!(conflict(&store, &id, vec![orphan]).await, (good.id.clone(), expected));

    let skipping = Entry { id: EntryId::new(), parent: leaf.clone(), seq: good.seq.next(), ..good.clone() };
    let expected = Conflict::Parent { found: leaf.clone(), expected: Some(good.id.clone()) };
    let (at, found) = conflict(&store, &id, vec![good.clone(), skipping.clone()]).await;
    assert_eq!((at, found), (skipping.id, expected));

    for seq in [first.seq, Seq(first.seq.0 - 1), Seq(0), Seq(u64::MAX)] {
        let misplaced = Entry { seq, ..good.clone() };
        let expected = Conflict::Seq { found: seq, last: first.seq };
        assert_eq!(conflict(&store, &id, vec![misplaced]).await, (good.id.clone(), expected));
    }

    let stray = Entry { session: other.clone(), ..good.clone() };
    let expected = Conflict::Session { found: other };
    assert_eq!(conflict(&store, &id, vec![stray]).await, (good.id.clone(), expected));

    let again = Entry { id: first.id.clone(), ..good.clone() };
    assert_eq!(conflict(&store, &id, vec![again]).await, (first.id.clone(), Conflict::Duplicate));

    let unknown = SessionId::new();
    let lost = Entry { session: unknown.clone(), parent: None, ..good.clone() };
    for error in [
        store.append(&unknown, vec![lost]).await.unwrap_err(),
        store.branch(&unknown).await.unwrap_err(),
        store.entries_after(&unknown, Seq::START, 1).await.unwrap_err(),
    ] {
        assert!(matches!(error, StoreError::UnknownSession { session } if session == unknown));
    }

    assert_eq!(store.branch(&id).await.unwrap(), std::slice::from_ref(&first));
    store.append(&id, vec![good.clone()]).await.unwrap();
    assert_eq!(store.branch(&id).await.unwrap(), [first, good]);
}

#[tokio::test]
async fn an_entry_with_a_path_that_is_not_utf_8_is_kept_with_replacement_characters() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let id = session(&store).await;
    let path = OsStr::from_bytes(b"/w/\xff").into();
    let intent = Intent { effects: vec![Effect::Read { path }], ..Intent::default() };
    let entry = Journal::new(&id).entry(EntryBody::CallStarted { call: CallId::new(), intent });
    store.append(&id, vec![entry]).await.unwrap();
    let kept = store.branch(&id).await.unwrap();
    let EntryBody::CallStarted { intent, .. } = &kept[0].body else { panic!("{kept:?}") };
    assert_eq!(intent.effects, [Effect::Read { path: "/w/\u{fffd}".into() }]);
}

#[tokio::test]
async fn an_entry_that_cannot_be_read_is_named() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let (id, healthy) = (session(&store).await, session(&store).await);
    let database = Connection::open(directory.path().join("sessions.db")).unwrap();
    for (seq, body) in [(1, "'{\"type\":\"nonsense\"}'"), (2, "'{'"), (3, "CAST(x'22ff22' AS TEXT)")] {
        let entry = EntryId::new();
        let insert = format!("INSERT INTO entries VALUES ('{entry}', '{id}', NULL, {seq}, 0, 'x', {body})");
        database.execute_batch(&insert).unwrap();
        database
            .execute("UPDATE sessions SET leaf = ?1 WHERE id = ?2", (entry.as_str(), id.as_str()))
            .unwrap();
        match store.branch(&id).await {
            Err(StoreError::UnreadableEntry { session, entry: named, .. }) => {
                assert_eq!((session, named), (id.clone(), entry.to_string()));
            }
            other => panic!("{other:?}"),
        }
    }
    assert_eq!(store.branch(&healthy).await.unwrap(), []);
}

#[tokio::test]
async fn ten_thousand_entries_are_one_branch_and_those_beside_it_are_not_on_it() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let id = session(&store).await;
    let mut journal = Journal::new(&id);
    let entries: Vec<Entry> =
        (0..10_000).map(|number| journal.text(format!("{number} {}", "x".repeat(300)))).collect();
    for batch in entries.chunks(500) {
        store.append(&id, batch.to_vec()).await.unwrap();
    }
    // Another branch, as a rewind will leave it: the leaf has moved back and on.
    let database = Connection::open(directory.path().join("sessions.db")).unwrap();
    let back = &entries[4_999].id;
    database.execute("UPDATE sessions SET leaf = ?1 WHERE id = ?2", (back.as_str(), id.as_str())).unwrap();
    let mut journal = Journal::resume(&store, &id).await;
    let beside = journal.text("another way");
    store.append(&id, vec![beside.clone()]).await.unwrap();

    let branch = store.branch(&id).await.unwrap();
    assert_eq!(branch.len(), 5_001);
    assert_eq!(branch[..5_000], entries[..5_000]);
    assert_eq!(branch[5_000], beside);
    assert_eq!(store.session(&id).await.unwrap().unwrap().entries, 10_001);
}
