//! Who may append to a session.

use rein_protocol::SessionId;
use rein_store::{Lease, Result, StoreError};

use crate::child::Actor;
use crate::sample::open;

fn holder(lease: Result<Lease>) -> Option<u32> {
    match lease {
        Err(StoreError::InUse { pid, .. }) => pid,
        other => panic!("{other:?}"),
    }
}

#[tokio::test]
async fn a_session_has_one_lease_at_a_time() {
    let directory = tempfile::tempdir().unwrap();
    let (store, other) = (open(directory.path()), open(directory.path()));
    let (id, elsewhere) = (SessionId::new(), SessionId::new());
    let lease = store.lease(&id).await.unwrap();
    assert_eq!(lease.session(), &id);
    assert_eq!(holder(store.lease(&id).await), Some(std::process::id()));
    assert_eq!(holder(other.clone().lease(&id).await), Some(std::process::id()));
    let _unrelated = other.lease(&elsewhere).await.unwrap();
    drop(lease);
    let lease = other.lease(&id).await.unwrap();
    assert_eq!(holder(store.lease(&id).await), Some(std::process::id()));
    drop(lease);
    assert!(!directory.path().join(format!("locks/{id}.lock")).exists());
}

#[tokio::test]
async fn a_lease_is_refused_to_other_processes_and_ends_with_its_own() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let id = SessionId::new();
    let mut child = Actor::start("hold", directory.path(), &id, 0);
    assert_eq!(child.next().as_deref(), Some("holding"));
    assert_eq!(holder(store.lease(&id).await), Some(child.pid()));
    child.kill();
    let _lease = store.lease(&id).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 4)]
async fn of_many_who_want_a_lease_never_two_have_it() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let id = SessionId::new();
    let held = std::sync::Arc::new(std::sync::atomic::AtomicUsize::new(0));
    let tasks = (0..8).map(|_| {
        let (store, id, held) = (store.clone(), id.clone(), held.clone());
        tokio::spawn(async move {
            let mut taken = 0;
            while taken < 40 {
                let Ok(lease) = store.lease(&id).await else {
                    tokio::task::yield_now().await;
                    continue;
                };
                let before = held.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                assert_eq!(before, 0);
                tokio::task::yield_now().await;
                held.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                drop(lease);
                taken += 1;
            }
        })
    });
    for task in tasks.collect::<Vec<_>>() {
        task.await.unwrap();
    }
}
