//! The fake service: sessions that are found, opened, caught up with, closed.

use std::path::PathBuf;

use futures_util::{FutureExt, StreamExt};
use rein_protocol::entry::{CallStatus, EntryBody, StopReason};
use rein_protocol::event::{EventBody, SessionState};
use rein_protocol::service::{
    OpenSession, Prompt, Service, ServiceError, SessionChange, SessionFilter, SessionInfo,
};
use rein_protocol::transcript::Transcript;
use rein_protocol::{Mode, Seq, SessionId};
use rein_testkit::{Act, FakeCall, FakeService, FakeSession};
use serde_json::json;

use crate::fake_service::{is_turn_end, opened, until, words};

fn open(session: &SessionId) -> OpenSession {
    OpenSession { session: Some(session.clone()), ..OpenSession::default() }
}

#[tokio::test]
async fn one_who_comes_late_gets_entries_and_the_deltas_of_what_is_open() {
    let call = FakeCall::new("bash", json!({})).prints("a").prints("b").holds("never");
    let service = FakeService::new().on_prompt([
        Act::say("a sentence that takes more than one delta"),
        Act::begin_to_say("given up").clone(),
        Act::call(FakeCall::new("read", json!({})).prints("superseded")),
        Act::begin_to_say("still open"),
        Act::call(call),
    ]);
    let (id, mut live) = opened(&service).await;
    service.prompt(&id, Prompt::text("hi")).await.unwrap();
    let last = |body: &EventBody| matches!(body, EventBody::CallOutput { delta, .. } if delta == "b");
    let seen = until(&mut live, last).await;

    let mut late = service.subscribe(&id, Seq::START).await.unwrap();
    let caught_up = until(&mut late, last).await;
    let expected = [
        vec!["user", "step", "part", "step ended"],
        vec!["step", "part", "step ended", "decided", "started", "ended"],
        vec!["step", "part", "step ended", "decided", "started", "output", "output"],
    ];
    assert_eq!(words(&caught_up), expected.concat());
    assert!(caught_up.iter().all(|event| seen.contains(event)));

    for (index, event) in seen.iter().enumerate() {
        let mut from_here = service.subscribe(&id, event.seq).await.unwrap();
        let rest: Vec<_> = std::iter::from_fn(|| from_here.next().now_or_never().flatten()).collect();
        let after: Vec<_> = caught_up.iter().filter(|other| other.seq > event.seq).cloned().collect();
        assert_eq!(rest, after, "after event {index}");
    }
    service.interrupt(&id).await.unwrap();
    assert_eq!(until(&mut live, is_turn_end).await, until(&mut late, is_turn_end).await);
}

#[tokio::test]
async fn a_snapshot_and_what_comes_after_it_are_the_whole() {
    let service =
        FakeService::new().on_prompt([Act::say("first"), Act::begin_to_say("half"), Act::hold("go")]);
    let (id, mut live) = opened(&service).await;
    service.prompt(&id, Prompt::text("hi")).await.unwrap();
    let half = |body: &EventBody| matches!(body, EventBody::PartDelta { delta, .. } if delta == "half");
    let mut seen = until(&mut live, half).await;
    let snapshot = service.get(&id).await.unwrap();
    let mut late = service.subscribe(&id, snapshot.seq).await.unwrap();
    service.open_gate("go");
    seen.extend(until(&mut live, is_turn_end).await);
    let rest = until(&mut late, is_turn_end).await;
    assert_eq!(words(&snapshot.open), ["delta"]);
    assert_eq!(words(&rest), ["turn ended"]);
    let mut transcript = Transcript::of(&snapshot.entries);
    snapshot.open.iter().chain(&rest).for_each(|event| transcript.apply(event));
    let mut whole = Transcript::default();
    seen.iter().for_each(|event| whole.apply(event));
    assert_eq!(transcript.items, whole.items);
    assert_eq!(transcript.answer(), "first\n\nhalf");
}

#[tokio::test]
async fn a_stored_session_is_listed_read_and_opened_as_it_is() {
    let old = FakeSession::in_workspace("/a").turn("first", [Act::say("one")]);
    let new =
        FakeSession::in_workspace("/b").title("named").mode(Mode::Plan).turn("second", [Act::say("two")]);
    let (old_id, new_id) = (old.id(), new.id());
    let service = FakeService::new().session(old).session(new);
    let list = |workspace: Option<&str>, limit| {
        service.list(SessionFilter { workspace: workspace.map(PathBuf::from), limit })
    };
    let ids = |infos: Vec<SessionInfo>| infos.into_iter().map(|info| info.id).collect::<Vec<_>>();
    assert_eq!(ids(list(None, None).await.unwrap()), [new_id.clone(), old_id.clone()]);
    assert_eq!(ids(list(None, Some(1)).await.unwrap()), std::slice::from_ref(&new_id));
    assert_eq!(ids(list(Some("/a"), None).await.unwrap()), std::slice::from_ref(&old_id));
    let snapshot = service.get(&old_id).await.unwrap();
    assert_eq!(Transcript::of(&snapshot.entries).answer(), "one");
    let info = service.open(open(&new_id)).await.unwrap();
    assert_eq!(
        (info.title.as_str(), info.mode, info.entries, info.state),
        ("named", Mode::Plan, 5, SessionState::Idle)
    );
    let mut stream = service.subscribe(&new_id, Seq::START).await.unwrap();
    assert_eq!(
        words(&until(&mut stream, is_turn_end).await),
        ["user", "step", "part", "step ended", "turn ended"]
    );
}

#[tokio::test]
async fn what_is_unknown_or_not_open_is_an_error() {
    let stored = FakeSession::new();
    let id = stored.id();
    let service = FakeService::new().session(stored);
    let stranger = SessionId::new();
    let unknown = ServiceError::UnknownSession { session: stranger.clone() };
    assert_eq!(service.open(open(&stranger)).await, Err(unknown.clone()));
    assert_eq!(service.get(&stranger).await, Err(unknown.clone()));
    assert_eq!(service.prompt(&stranger, Prompt::text("x")).await, Err(unknown));
    let not_open = ServiceError::NotOpen { session: id.clone() };
    assert_eq!(service.prompt(&id, Prompt::text("x")).await, Err(not_open.clone()));
    assert_eq!(service.subscribe(&id, Seq::START).await.err(), Some(not_open));
}

#[tokio::test]
async fn a_broken_session_is_recovered_and_can_be_continued() {
    let begun = FakeCall::new("bash", json!({})).holds("death");
    let stored =
        FakeSession::new().broken_turn("go", [Act::calls([begun, FakeCall::new("read", json!({}))])]);
    let id = stored.id();
    let service = FakeService::new().session(stored).on_resume([Act::say("went on")]);
    let broken = service.get(&id).await.unwrap();
    let SessionState::Broken { turn } = broken.info.state else { panic!("{:?}", broken.info.state) };
    service.open(open(&id)).await.unwrap();
    let mut stream = service.subscribe(&id, broken.seq).await.unwrap();
    assert_eq!(service.resume(&id).await.unwrap(), Some(turn.clone()));
    let events = until(&mut stream, is_turn_end).await;
    let expected = ["ended", "ended", "recovered", "step", "delta", "part", "step ended", "turn ended"];
    assert_eq!(words(&events), expected);
    let statuses: Vec<CallStatus> = events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Entry { entry } => match &entry.body {
                EntryBody::CallEnded { result, .. } => Some(result.status),
                _ => None,
            },
            _ => None,
        })
        .collect();
    assert_eq!(statuses, [CallStatus::Unknown, CallStatus::NotRun]);
    assert_eq!(service.resume(&id).await.unwrap(), None);
    service.assert_done();
}

#[tokio::test]
async fn a_broken_session_can_be_prompted_instead() {
    let stored = FakeSession::new().broken_turn("go", [Act::begin_to_say("half")]);
    let id = stored.id();
    let service = FakeService::new().session(stored).on_prompt([Act::say("new")]);
    service.open(open(&id)).await.unwrap();
    let after = service.get(&id).await.unwrap();
    assert_eq!(Transcript::of(&after.entries).answer(), "half");
    let mut stream = service.subscribe(&id, after.seq).await.unwrap();
    service.prompt(&id, Prompt::text("other")).await.unwrap();
    assert_eq!(words(&until(&mut stream, is_turn_end).await), ["turn ended"]);
    let expected = ["user", "step", "delta", "part", "step ended", "turn ended"];
    assert_eq!(words(&until(&mut stream, is_turn_end).await), expected);
}

#[tokio::test]
async fn closing_interrupts_ends_the_streams_and_opening_again_begins_a_new_epoch() {
    let service = FakeService::new().on_prompt([Act::hold("never")]).on_prompt([Act::say("again")]);
    let (id, stream) = opened(&service).await;
    service.prompt(&id, Prompt::text("hi")).await.unwrap();
    service.close(&id).await.unwrap();
    service.open(open(&id)).await.unwrap();
    let before: Vec<_> = stream.collect().await;
    assert_eq!(words(&before), ["user", "turn ended"]);
    let mut second = service.subscribe(&id, before[1].seq).await.unwrap();
    service.prompt(&id, Prompt::text("hi")).await.unwrap();
    let after = until(&mut second, is_turn_end).await;
    assert!(after[0].seq > before[1].seq.next_epoch());
    let snapshot = service.get(&id).await.unwrap();
    assert_eq!(Transcript::of(&snapshot.entries).stop, Some((StopReason::EndTurn, None)));
}

#[tokio::test]
async fn a_session_whose_store_fails_ends_and_can_be_opened_again() {
    let broken = EventBody::Broken { message: "the disk is full".to_owned() };
    let service = FakeService::new().on_prompt([broken]);
    let (id, stream) = opened(&service).await;
    service.prompt(&id, Prompt::text("hi")).await.unwrap();
    assert_eq!(words(&stream.collect::<Vec<_>>().await), ["user", "broken"]);
    let refused = service.prompt(&id, Prompt::text("hi")).await;
    assert_eq!(refused, Err(ServiceError::NotOpen { session: id.clone() }));
    assert!(matches!(service.open(open(&id)).await.unwrap().state, SessionState::Broken { .. }));
}

#[tokio::test]
async fn a_change_is_an_entry_and_shows_in_the_session() {
    let service = FakeService::new();
    let (id, mut stream) = opened(&service).await;
    let model = "other/model".parse().unwrap();
    let change = SessionChange { model: Some(model), mode: Some(Mode::Free), effort: None };
    service.change(&id, change.clone()).await.unwrap();
    let events = until(&mut stream, |body| matches!(body, EventBody::Entry { entry } if matches!(entry.body, EntryBody::ModeChanged { .. }))).await;
    assert_eq!(words(&events), ["model", "mode"]);
    let info = service.get(&id).await.unwrap().info;
    assert_eq!((info.model, info.mode), (change.model, Mode::Free));
}

#[tokio::test]
async fn a_stream_ends_when_the_service_is_gone() {
    let service = FakeService::new().on_prompt([Act::hold("never")]);
    let (id, stream) = opened(&service).await;
    service.prompt(&id, Prompt::text("hi")).await.unwrap();
    drop(service);
    assert!(stream.collect::<Vec<_>>().await.len() <= 1);
}
