//! A store that fails.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

use futures_util::StreamExt;
use rein_protocol::transcript::Transcript;
use rein_protocol::{
    Answer, CallStatus, Delivery, Entry, EntryBody, EntryId, EventBody, Mode, Prompt, Seq, ServiceError,
    SessionId, SessionState, Timestamp,
};
use rein_store::{Store, StoreOptions};
use rein_testkit::{Project, Script, Turn};
use serde_json::json;

use super::{again, is_alive, is_valid_conversation, later, prints, results};
use crate::stage::{Run, Setup, Stage};

/// Another writer gets in between, so that the session's next entry cannot be appended.
async fn spoil(store: &Store, session: &SessionId) {
    spoil_at(store, session, Seq::next_epoch).await;
}

async fn spoil_at(store: &Store, session: &SessionId, place_after: fn(Seq) -> Seq) {
    let record = store.session(session).await.unwrap().unwrap();
    let entry = Entry {
        id: EntryId::new(),
        session: session.clone(),
        parent: record.leaf,
        seq: place_after(record.last_seq),
        at: Timestamp::now(),
        body: EntryBody::ModeChanged { mode: record.mode },
    };
    store.append(session, vec![entry]).await.unwrap();
}

/// With a store that fails after this many entries.
fn spoilt_after(entries: u64, project: &Project, session: &Arc<OnceLock<SessionId>>) -> Setup {
    let (root, session) = (project.rein_home().join("store"), Arc::clone(session));
    let done = AtomicBool::new(false);
    let hook = move |appended: u64| {
        if appended < entries || done.swap(true, Ordering::SeqCst) {
            return;
        }
        // As another process would: with a store of its own.
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let store = Store::open(StoreOptions::new(&root)).unwrap();
        runtime.block_on(spoil(&store, session.get().unwrap()));
    };
    Setup { after_commit: Some(Arc::new(hook)), ..Setup::mode(Mode::Write) }
}

/// Nothing more is appended until a call is over or somebody says something.
fn step_is_over(transcript: &Transcript) -> bool {
    transcript.turn.as_ref().is_some_and(|turn| !turn.step_open)
}

fn saw_broken(run: &Run) -> bool {
    run.events.iter().any(|event| matches!(event.body, EventBody::Broken { .. }))
}

#[tokio::test]
async fn what_cannot_be_recorded_is_not_done_and_everybody_is_told() {
    let script = Script::new().turn(Turn::call("write", json!({"path": "a.txt", "content": "x"})));
    let stage = Stage::with(Project::new(), script, Setup::interactive()).await;
    let mut run = stage.start("go").await;
    let ask = run.ask().await;
    run.until(step_is_over).await;
    spoil(&stage.store, &stage.session).await;
    // The answer itself is taken; that it cannot be recorded is told to all.
    stage.reply(&ask, Answer::Once).await.unwrap();
    run.follow_to_close().await;
    assert!(saw_broken(&run));
    assert!(!stage.project.exists("a.txt"), "nothing is done without a record");
    assert!(matches!(
        stage.service.prompt(&stage.session, Prompt::text("x")).await,
        Err(ServiceError::NotOpen { .. })
    ));
    let stage = stage.reopened().await;
    let state = stage.service.get(&stage.session).await.unwrap().info.state;
    assert_eq!(state, SessionState::Broken { turn: run.turn.clone() }, "it can be gone on with");
}

#[tokio::test]
async fn when_the_store_fails_running_commands_are_ended() {
    let script =
        Script::new().turn(Turn::call("bash", json!({"command": "echo $$ > pid; echo on; sleep 1000"})));
    let stage = Stage::with(Project::new(), script, Setup::mode(Mode::Free)).await;
    let mut run = stage.start("go").await;
    run.until(prints("on")).await;
    run.until(step_is_over).await;
    spoil(&stage.store, &stage.session).await;
    let refused = stage.service.prompt(&stage.session, later("psst", Delivery::Steer)).await;
    assert!(matches!(refused, Err(ServiceError::Store { .. })), "{refused:?}");
    run.follow_to_close().await;
    assert!(saw_broken(&run));
    assert!(!is_alive(&stage.project.read("pid")));
    let stage = stage.reopened().await;
    assert_eq!(results(&stage.entries().await), [[CallStatus::Unknown]]);
}

#[tokio::test]
async fn whoever_has_read_nothing_yet_is_told_too_that_the_store_failed() {
    let stage = Stage::new(Script::new().turn(Turn::text("one"))).await;
    stage.run("first").await;
    let stage = stage.reopened().await;
    let mut late = stage.service.subscribe(&stage.session, Seq::START).await.unwrap();
    spoil(&stage.store, &stage.session).await;
    assert!(stage.service.prompt(&stage.session, Prompt::text("second")).await.is_err());
    let mut last = None;
    while let Some(event) = late.next().await {
        last = Some(event.body);
    }
    assert!(matches!(last, Some(EventBody::Broken { .. })), "{last:?}");
}

#[tokio::test]
async fn wherever_the_store_fails_nothing_is_done_without_a_record_and_it_can_be_gone_on_with() {
    let write = |path: &str| json!({"path": path, "content": "x\n"});
    let turns = || {
        [
            Turn::text("first").and_call("write", write("a")).and_call("write", write("b")),
            Turn::call("write", write("c")),
            Turn::text("done"),
        ]
    };
    for place in 1.. {
        let script = Script::by_conversation(turns()).expect(is_valid_conversation);
        let (project, session) = (Project::new(), Arc::new(OnceLock::new()));
        let setup = spoilt_after(place, &project, &session);
        let stage = Stage::with(project, script, setup).await;
        session.set(stage.session.clone()).unwrap();
        let mut run = stage.start("go").await;
        run.follow_to_close_or_end().await;
        if run.transcript.stop.is_some() {
            assert!(place > 20, "the turn has only {place} entries");
            return;
        }
        assert!(saw_broken(&run), "spoilt after {place} entries");
        let entries = stage.store.branch(&stage.session).await.unwrap();
        for file in stage.project.files() {
            assert!(announces(&entries, &file), "{file} was written without a record, spoilt after {place}");
        }
        let stage = stage.reopened().await;
        let mut run = stage.watch(&run.turn).await;
        if stage.service.resume(&stage.session).await.unwrap().is_some() {
            run.finish().await;
        }
        let entries = stage.entries().await;
        assert!(results(&entries).iter().all(|results| results.len() == 1), "spoilt after {place} entries");
        assert_eq!(stage.server.failures(), Vec::<String>::new(), "spoilt after {place} entries");
    }
}

#[tokio::test]
async fn whoever_was_told_of_the_failure_misses_nothing_when_the_session_is_opened_again() {
    let stage = Stage::new(Script::new().turn(Turn::text("one")).turn(Turn::text("two"))).await;
    stage.run("first").await;
    let stage = stage.reopened().await;
    let mut events = stage.service.subscribe(&stage.session, Seq::START).await.unwrap();
    // In the opening before this one, so that this one gets no number of its own.
    spoil_at(&stage.store, &stage.session, Seq::next).await;
    assert!(stage.service.prompt(&stage.session, Prompt::text("second")).await.is_err());
    let mut last = Seq::START;
    while let Some(event) = events.next().await {
        last = event.seq;
    }
    stage.service.open(again(&stage.session)).await.unwrap();
    let mut events = stage.service.subscribe(&stage.session, last).await.unwrap();
    stage.run("second").await;
    let next = events.next().await.unwrap().body;
    assert!(
        matches!(&next, EventBody::Entry { entry } if matches!(entry.body, EntryBody::User { .. })),
        "{next:?}"
    );
}

fn announces(entries: &[Entry], file: &str) -> bool {
    entries.iter().any(|entry| match &entry.body {
        EntryBody::CallStarted { intent, .. } => {
            intent.effects.iter().any(|effect| effect.resource().ends_with(&format!("/{file}")))
        }
        _ => false,
    })
}
