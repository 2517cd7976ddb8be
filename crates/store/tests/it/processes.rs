//! Several at once, and sudden ends.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use rein_protocol::message::AssistantPart;
use rein_protocol::{Entry, EntryBody, SessionId};
use rein_store::{Store, StoreError, StoreOptions};
use rusqlite::Connection;

use crate::child::Actor;
use crate::sample::{Journal, open, session};

/// The numbers that a child has appended, in their order.
async fn numbers(store: &Store, session: &SessionId) -> Vec<usize> {
    let number = |entry: Entry| match entry.body {
        EntryBody::Part { body: AssistantPart::Text { text }, .. } => text.parse().unwrap(),
        other => panic!("{other:?}"),
    };
    store.branch(session).await.unwrap().into_iter().map(number).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn two_stores_in_one_process_lose_nothing() {
    let directory = tempfile::tempdir().unwrap();
    let stores = [open(directory.path()), open(directory.path())];
    let mut tasks = Vec::new();
    for store in stores.iter().chain(&stores) {
        let store = store.clone();
        tasks.push(tokio::spawn(async move {
            let id = session(&store).await;
            let mut journal = Journal::new(&id);
            let mut appended = Vec::new();
            for _ in 0..500 {
                let batch = vec![journal.text("a"), journal.text("b")];
                store.append(&id, batch.clone()).await.unwrap();
                appended.extend(batch);
            }
            (id, appended)
        }));
    }
    for task in tasks {
        let (id, appended) = task.await.unwrap();
        for store in &stores {
            assert_eq!(store.branch(&id).await.unwrap(), appended);
        }
    }
}

#[tokio::test]
async fn two_processes_lose_nothing_and_open_an_empty_store_at_once() {
    let directory = tempfile::tempdir().unwrap();
    let count = 2_000;
    let ids = [SessionId::new(), SessionId::new(), SessionId::new()];
    let children: Vec<Actor> =
        ids.iter().map(|id| Actor::start("append", directory.path(), id, count)).collect();
    for mut child in children {
        assert!(child.succeeded());
    }
    let store = open(directory.path());
    assert!(store.salvage_report().is_none());
    for id in ids {
        assert_eq!(numbers(&store, &id).await, (0..count).collect::<Vec<_>>());
    }
}

#[tokio::test]
async fn what_was_acknowledged_survives_a_kill_at_any_moment() {
    let directory = tempfile::tempdir().unwrap();
    let id = SessionId::new();
    let mut before = 0;
    for acknowledged in [1, 7, 150, 400] {
        let mut child = Actor::start("append", directory.path(), &id, usize::MAX);
        for number in 0..acknowledged {
            assert_eq!(child.next(), Some(number.to_string()));
        }
        child.kill();
        // What it had still said before it died.
        let mut acknowledged = acknowledged;
        while child.next().is_some() {
            acknowledged += 1;
        }
        let store = open(directory.path());
        assert!(store.salvage_report().is_none());
        let stored = numbers(&store, &id).await;
        let fresh = &stored[before..];
        assert_eq!(fresh, (0..fresh.len()).collect::<Vec<_>>());
        // The last one may have been committed without a chance to say so.
        assert!((acknowledged..=acknowledged + 1).contains(&fresh.len()), "{acknowledged} {}", fresh.len());
        let record = store.session(&id).await.unwrap().unwrap();
        assert_eq!(record.entries, stored.len() as u64);
        before = stored.len();
        store.close().await.unwrap();
    }
}

#[tokio::test]
async fn dying_right_after_a_commit_leaves_exactly_what_was_committed() {
    let directory = tempfile::tempdir().unwrap();
    let id = SessionId::new();
    let mut expected = Vec::new();
    for count in [1, 2, 33] {
        let mut child = Actor::start("die after commit", directory.path(), &id, count);
        assert!(!child.succeeded());
        expected.extend(0..count);
        assert_eq!(numbers(&open(directory.path()), &id).await, expected);
    }
}

#[tokio::test]
async fn durable_steps_can_be_observed() {
    let directory = tempfile::tempdir().unwrap();
    let seen = Arc::new(Mutex::new(Vec::new()));
    let observer = Arc::clone(&seen);
    let after_commit: rein_store::CommitHook = Arc::new(move |count| observer.lock().unwrap().push(count));
    let options = StoreOptions { after_commit: Some(after_commit), ..StoreOptions::new(directory.path()) };
    let store = Store::open(options).unwrap();
    let id = session(&store).await;
    let mut journal = Journal::new(&id);
    for size in [1, 3, 0, 2] {
        let batch: Vec<Entry> = (0..size).map(|_| journal.text("x")).collect();
        store.append(&id, batch.clone()).await.unwrap();
        store.append(&id, batch).await.ok();
    }
    assert_eq!(*seen.lock().unwrap(), [1, 4, 6]);
}

#[tokio::test]
async fn one_who_never_lets_go_is_not_waited_for_for_ever() {
    let directory = tempfile::tempdir().unwrap();
    let options = StoreOptions { patience: Duration::from_millis(60), ..StoreOptions::new(directory.path()) };
    let store = Store::open(options).unwrap();
    let id = session(&store).await;
    let entry = Journal::new(&id).text("patient");
    let other = Connection::open(directory.path().join("sessions.db")).unwrap();
    other.execute_batch("BEGIN IMMEDIATE").unwrap();
    let error = store.append(&id, vec![entry.clone()]).await.unwrap_err();
    assert!(matches!(error, StoreError::Busy { .. }), "{error}");
    assert_eq!(store.branch(&id).await.unwrap(), []);
    other.execute_batch("COMMIT").unwrap();
    store.append(&id, vec![entry.clone()]).await.unwrap();
    assert_eq!(store.branch(&id).await.unwrap(), [entry]);
}

#[tokio::test]
async fn an_append_whose_caller_has_gone_is_whole_or_absent_and_closing_waits_for_it() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let id = session(&store).await;
    let mut journal = Journal::new(&id);
    let batch = vec![journal.text("a"), journal.text("b")];
    tokio::select! {
        biased;
        _ = store.append(&id, batch.clone()) => {}
        () = std::future::ready(()) => {}
    }
    store.close().await.unwrap();
    assert!(!directory.path().join("sessions.db-wal").exists());
    assert_eq!(open(directory.path()).branch(&id).await.unwrap(), batch);
}
