//! Branches: going to an earlier place, and sessions that begin with what is in another.

use rein_protocol::{ArtifactId, Entry, EntryBody, EntryId, Seq, SessionId, TurnId};
use rein_store::{Conflict, NewSession, SessionCopy, Store, StoreError};

use crate::sample::{Journal, new_session, open, session, turn_ended, user};

/// An entry that goes from the journal's last place to another.
fn travelled(journal: &mut Journal, from: &Entry, to: Option<&Entry>) -> Entry {
    let entry = journal.entry(EntryBody::Travelled { from: from.id.clone() });
    Entry { parent: to.map(|to| to.id.clone()), ..entry }
}

fn ids(entries: &[Entry]) -> Vec<EntryId> {
    entries.iter().map(|entry| entry.id.clone()).collect()
}

async fn branch(store: &Store, session: &SessionId) -> Vec<EntryId> {
    ids(&store.branch(session).await.unwrap())
}

#[tokio::test]
async fn what_follows_on_an_earlier_place_is_the_branch_also_after_opening_again() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let id = session(&store).await;
    let (mut journal, turn) = (Journal::new(&id), TurnId::new());
    let one: Vec<Entry> = [user(&turn, "one"), turn_ended(&turn)].map(|body| journal.entry(body)).into();
    let two: Vec<Entry> = [user(&turn, "two"), turn_ended(&turn)].map(|body| journal.entry(body)).into();
    store.append(&id, [one.clone(), two.clone()].concat()).await.unwrap();
    let back = travelled(&mut journal, &two[1], Some(&one[1]));
    let next = journal.entry(user(&turn, "other"));
    store.append(&id, vec![back.clone(), next.clone()]).await.unwrap();
    let expected = [ids(&one), ids(&[back.clone(), next.clone()])].concat();
    assert_eq!(branch(&store, &id).await, expected);
    let start = travelled(&mut journal, &next, None);
    store.append(&id, vec![start.clone()]).await.unwrap();
    assert_eq!(branch(&store, &id).await, ids(std::slice::from_ref(&start)));
    let record = store.session(&id).await.unwrap().unwrap();
    assert_eq!((record.leaf, record.open_turn, record.entries), (Some(start.id.clone()), None, 7));
    store.close().await.unwrap();

    let store = open(directory.path());
    assert_eq!(branch(&store, &id).await, ids(std::slice::from_ref(&start)));
    let earlier = store.branch_to(&id, &next.id).await.unwrap().unwrap();
    assert_eq!(ids(&earlier), expected);
    assert_eq!(store.branch_to(&id, &EntryId::new()).await.unwrap(), None);
    assert_eq!(store.entries_after(&id, Seq::START, 100).await.unwrap().len(), 7, "nothing is lost");
}

#[tokio::test]
async fn one_can_only_go_from_the_last_place_and_to_one_of_the_same_session() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let (id, other) = (session(&store).await, session(&store).await);
    let (mut journal, mut elsewhere) = (Journal::new(&id), Journal::new(&other));
    let (first, second, theirs) = (journal.text("first"), journal.text("second"), elsewhere.text("theirs"));
    store.append(&id, vec![first.clone(), second.clone()]).await.unwrap();
    store.append(&other, vec![theirs.clone()]).await.unwrap();
    let refusal = async |entry: Entry| match store.append(&id, vec![entry]).await {
        Err(StoreError::Conflict { conflict, .. }) => *conflict,
        other => panic!("{other:?}"),
    };
    let stale = travelled(&mut journal, &first, Some(&first));
    let expected = Conflict::Parent { found: Some(first.id.clone()), expected: Some(second.id.clone()) };
    assert_eq!(refusal(stale).await, expected);
    let stray = travelled(&mut journal, &second, Some(&theirs));
    assert_eq!(refusal(stray).await, Conflict::Place { found: theirs.id.clone() });
    assert_eq!(branch(&store, &id).await, ids(&[first, second]));
}

#[tokio::test]
async fn a_copy_has_entries_and_artifacts_or_is_not_there() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let id = session(&store).await;
    let mut writer = store.artifact_writer(&id).unwrap();
    writer.write(b"long output").unwrap();
    let artifact = writer.finish().await.unwrap();
    let new = NewSession { workspace: "/elsewhere".into(), ..new_session() };
    let (mut journal, turn, renamed) = (Journal::new(&new.id), TurnId::new(), ArtifactId::new());
    let entries: Vec<Entry> =
        [user(&turn, "hello"), turn_ended(&turn)].map(|body| journal.entry(body)).into();
    let copy = SessionCopy {
        session: new.clone(),
        from: id.clone(),
        artifacts: vec![(artifact.clone(), renamed.clone())],
        entries: entries.clone(),
    };
    store.create_copy(copy.clone()).await.unwrap();
    let record = store.session(&new.id).await.unwrap().unwrap();
    assert_eq!((record.title.as_str(), record.entries), ("hello", 2));
    assert_eq!(store.branch(&new.id).await.unwrap(), entries);
    let kept = store.artifact(&renamed).await.unwrap().unwrap();
    assert_eq!(kept.session, new.id);
    let path = store.artifact_path(&renamed).await.unwrap().unwrap();
    assert_eq!(std::fs::read(path).unwrap(), b"long output");
    assert_eq!(store.artifact(&artifact).await.unwrap().unwrap().session, id, "the other keeps its own");

    let another = NewSession { id: SessionId::new(), ..new };
    // Entries of the first copy cannot be in a second.
    let wrong = SessionCopy { session: another.clone(), from: id, artifacts: Vec::new(), entries };
    assert!(matches!(store.create_copy(wrong).await, Err(StoreError::Conflict { .. })));
    assert_eq!(store.session(&another.id).await.unwrap(), None);
}
