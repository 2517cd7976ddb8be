//! What is known of sessions without reading their entries.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rein_protocol::{Delivery, EntryBody, Mode, Seq, SessionId, Timestamp, TurnId};
use rein_store::{NewSession, SessionQuery, SessionRecord, Store, StoreError};

use crate::sample::{Journal, model, new_session, open, turn_ended, user};

#[tokio::test]
async fn a_record_follows_the_entries() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let new = new_session();
    let id = new.id.clone();
    store.create_session(new.clone()).await.unwrap();
    let mut expected = SessionRecord {
        id: id.clone(),
        workspace: new.workspace.clone(),
        title: String::new(),
        model: new.model.clone(),
        mode: Mode::Tight,
        created: new.at,
        updated: new.at,
        entries: 0,
        last_seq: Seq::START,
        leaf: None,
        open_turn: None,
    };
    assert_eq!(store.session(&id).await.unwrap(), Some(expected.clone()));

    let (turn, next) = (TurnId::new(), TurnId::new());
    let queued = EntryBody::Queued { turn: next.clone(), content: Vec::new(), delivery: Delivery::FollowUp };
    let started = EntryBody::StepStarted { turn: turn.clone(), step: 1, model: model("a/one") };
    type Change = fn(&mut SessionRecord, &TurnId);
    let steps: Vec<(EntryBody, Change)> = vec![
        (EntryBody::ModeChanged { mode: Mode::Free }, |record, _| record.mode = Mode::Free),
        (user(&turn, " \u{7}"), |record, turn| record.open_turn = Some(turn.clone())),
        (user(&turn, "\n Fix\tthe   bug\nplease"), |record, _| record.title = "Fix the bug".into()),
        (started, |record, _| record.model = Some(model("a/one"))),
        (queued, |_, _| {}),
        (user(&turn, "another title?"), |_, _| {}),
        (EntryBody::ModelChanged { model: model("b/two") }, |record, _| record.model = Some(model("b/two"))),
        (turn_ended(&turn), |record, _| record.open_turn = None),
    ];
    let mut journal = Journal::new(&id);
    for (body, change) in steps {
        let entry = journal.entry(body);
        expected.entries += 1;
        expected.last_seq = entry.seq;
        expected.leaf = Some(entry.id.clone());
        expected.updated = entry.at;
        change(&mut expected, &turn);
        store.append(&id, vec![entry]).await.unwrap();
        assert_eq!(store.session(&id).await.unwrap(), Some(expected.clone()));
    }
    let error = store.create_session(new).await.unwrap_err();
    assert!(matches!(error, StoreError::SessionExists { session } if session == id));
    assert_eq!(store.session(&SessionId::new()).await.unwrap(), None);
}

async fn create(store: &Store, workspace: &Path, at: i64) -> SessionId {
    let new = NewSession { workspace: workspace.to_owned(), at: Timestamp(at), model: None, ..new_session() };
    store.create_session(new.clone()).await.unwrap();
    new.id
}

fn ids(records: Vec<SessionRecord>) -> Vec<SessionId> {
    records.into_iter().map(|record| record.id).collect()
}

#[tokio::test]
async fn sessions_are_listed_by_workspace_the_last_updated_first() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let (odd, plain) = (PathBuf::from(OsStr::from_bytes(b"/w/\xff\xfe")), PathBuf::from("/w"));
    let first = create(&store, &odd, 1).await;
    let second = create(&store, &plain, 2).await;
    let third = create(&store, &odd, 3).await;
    store.append(&first, vec![Journal::new(&first).text("touched")]).await.unwrap();

    let list = |workspace: Option<&PathBuf>, limit| SessionQuery { workspace: workspace.cloned(), limit };
    let all = store.sessions(SessionQuery::default()).await.unwrap();
    assert_eq!(all[0].workspace, odd);
    assert_eq!(ids(all), [first.clone(), third.clone(), second.clone()]);
    assert_eq!(ids(store.sessions(list(Some(&odd), None)).await.unwrap()), [first.clone(), third.clone()]);
    assert_eq!(ids(store.sessions(list(Some(&odd), Some(1))).await.unwrap()), [first]);
    assert_eq!(ids(store.sessions(list(Some(&plain), Some(9))).await.unwrap()), [second]);
    assert_eq!(store.sessions(list(None, Some(0))).await.unwrap(), []);
    assert_eq!(store.sessions(list(Some(&"/nowhere".into()), None)).await.unwrap(), []);
}

#[tokio::test]
async fn a_session_is_found_by_the_beginning_of_its_id() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let id = |text: &str| -> SessionId { format!("ses_{text:0<26}").parse().unwrap() };
    for (text, at) in [("01ab", 1), ("01ac", 2), ("02", 3)] {
        store.create_session(NewSession { id: id(text), at: Timestamp(at), ..new_session() }).await.unwrap();
    }
    let table: [(&str, &[&str]); 10] = [
        ("01", &["01ac", "01ab"]),
        ("ses_01", &["01ac", "01ab"]),
        ("SES_01AB", &["01ab"]),
        ("01ab0000000000000000000000", &["01ab"]),
        ("01ab00000000000000000000000", &[]),
        ("", &["02", "01ac", "01ab"]),
        ("03", &[]),
        ("%", &[]),
        ("0_", &[]),
        ("01ab\0", &[]),
    ];
    for (prefix, expected) in table {
        let expected: Vec<SessionId> = expected.iter().map(|text| id(text)).collect();
        assert_eq!(ids(store.find_session(prefix).await.unwrap()), expected, "{prefix:?}");
    }
}

#[tokio::test]
async fn a_session_that_cannot_be_read_does_not_hide_the_others() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let (broken, healthy) =
        (create(&store, Path::new("/w"), 1).await, create(&store, Path::new("/w"), 2).await);
    let database = rusqlite::Connection::open(directory.path().join("sessions.db")).unwrap();
    database.execute("UPDATE sessions SET mode = 'loose' WHERE id = ?1", [broken.as_str()]).unwrap();
    assert_eq!(ids(store.sessions(SessionQuery::default()).await.unwrap()), [healthy]);
    let error = store.session(&broken).await.unwrap_err();
    assert!(
        matches!(&error, StoreError::UnreadableSession { session, .. } if session == broken.as_str()),
        "{error}"
    );
}
