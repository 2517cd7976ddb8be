//! A process that dies, at any entry.

use futures_util::StreamExt;
use rein_protocol::message::AssistantPart;
use rein_protocol::{
    Author, Content, Delivery, Entry, EntryBody, EntryId, EventBody, Mode, Seq, SessionId, SessionState,
    StopReason, Timestamp, TurnId,
};
use rein_store::NewSession;
use rein_testkit::{Project, Script, Turn};
use serde_json::json;

use super::{again, is_valid_conversation, results};
use crate::stage::{Setup, Stage, kinds, statuses};

/// The entries as those of another session.
fn moved(entries: &[Entry], session: &SessionId) -> Vec<Entry> {
    let moved = entries.iter().map(|entry| Entry { session: session.clone(), ..entry.clone() });
    let mut moved: Vec<Entry> = moved.collect();
    let mut parent = None;
    for entry in &mut moved {
        entry.id = EntryId::new();
        entry.parent = parent.replace(entry.id.clone());
    }
    moved
}

/// A session that begins with these entries, as a process that died after them would have left it.
async fn died_after(stage: &Stage, entries: &[Entry]) -> SessionId {
    let id = SessionId::new();
    let new = NewSession {
        id: id.clone(),
        workspace: stage.project.path().to_owned(),
        model: Some("test/model".parse().unwrap()),
        mode: Mode::Tight,
        at: Timestamp::now(),
    };
    stage.store.create_session(new).await.unwrap();
    stage.store.append(&id, moved(entries, &id)).await.unwrap();
    id
}

/// Opens a session and goes on with what is left of it. Returns its entries.
async fn gone_on_with(stage: &Stage, session: &SessionId) -> Vec<Entry> {
    let info = stage.service.open(again(session)).await.unwrap();
    let mut events = stage.service.subscribe(session, Seq::START).await.unwrap();
    if let SessionState::Broken { .. } = info.state {
        stage.service.resume(session).await.unwrap();
        loop {
            let event = events.next().await.unwrap();
            if matches!(&event.body, EventBody::Entry { entry } if matches!(entry.body, EntryBody::TurnEnded { .. }))
            {
                break;
            }
        }
    }
    stage.service.get(session).await.unwrap().entries
}

fn words(entries: &[Entry]) -> Vec<String> {
    let words = entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::Part { body: AssistantPart::Text { text }, .. } => Some(text.clone()),
        _ => None,
    });
    words.collect()
}

#[tokio::test]
async fn killed_between_any_two_entries_and_once_more_nothing_is_said_or_asked_twice() {
    let script = Script::by_conversation([
        Turn::text("look")
            .and_call("read", json!({"path": "a.txt"}))
            .and_call("glob", json!({"pattern": "*"})),
        Turn::call("read", json!({"path": "b.txt"})),
        Turn::text("done"),
    ])
    .expect(is_valid_conversation);
    let project = Project::new().file("a.txt", "alpha\n").file("b.txt", "beta\n");
    let stage = Stage::with(project, script, Setup::default()).await;
    stage.run("go").await;
    let whole = stage.entries().await;
    for first in deaths(&whole, 1) {
        let session = died_after(&stage, &whole[..first]).await;
        let once = gone_on_with(&stage, &session).await;
        check_end(&once, &format!("died after {first}"));
        // And again, wherever it had come to after that.
        for second in deaths(&once, first + 1) {
            let session = died_after(&stage, &once[..second]).await;
            check_end(&gone_on_with(&stage, &session).await, &format!("died after {first} and {second}"));
        }
    }
    assert_eq!(stage.server.failures(), Vec::<String>::new());
}

/// The numbers of entries after which a process can die: the last words and the end of a step become
/// durable together.
fn deaths(entries: &[Entry], least: usize) -> Vec<usize> {
    let together = |place: usize| {
        let kinds = kinds(&entries[place - 1..entries.len().min(place + 1)]);
        kinds == ["part", "step_ended"] && !words(&entries[place - 1..place]).is_empty()
    };
    (least..=entries.len()).filter(|place| !together(*place)).collect()
}

fn check_end(entries: &[Entry], when: &str) {
    assert!(results(entries).iter().all(|results| results.len() == 1), "{when}");
    let ends = entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::TurnEnded { stop, .. } => Some(*stop),
        _ => None,
    });
    assert_eq!(ends.collect::<Vec<_>>(), [StopReason::EndTurn], "{when}");
    let done = words(entries).into_iter().filter(|words| words == "done").count();
    assert_eq!(done, 1, "{when}");
}

#[tokio::test]
async fn a_turn_that_had_been_interrupted_when_the_process_died_stays_interrupted() {
    let script = Script::new()
        .turn(Turn::text("so").and_call("read", json!({"path": "a.txt"})).and_text("far").gate("never"));
    let stage = Stage::with(Project::new().file("a.txt", "alpha\n"), script, Setup::default()).await;
    let mut run = stage.start("go").await;
    run.until(|transcript| !statuses(transcript).is_empty()).await;
    stage.service.interrupt(&stage.session).await.unwrap();
    run.finish().await;
    let mut entries = stage.entries().await;
    entries.pop();
    let session = died_after(&stage, &entries).await;
    let entries = gone_on_with(&stage, &session).await;
    let Some(EntryBody::TurnEnded { stop, .. }) = entries.last().map(|entry| &entry.body) else {
        panic!("the turn has no end: {:?}", kinds(&entries));
    };
    assert_eq!(*stop, StopReason::Interrupted);
    assert_eq!(stage.server.requests().len(), 1);
}

#[tokio::test]
async fn opening_a_broken_session_again_adds_nothing() {
    let stage = Stage::new(Script::new()).await;
    let turn = TurnId::new();
    let said = EntryBody::User {
        turn: turn.clone(),
        content: vec![Content::text("go")],
        delivery: Delivery::Prompt,
        queued: None,
        author: Author::Person,
    };
    let entry = Entry {
        id: EntryId::new(),
        session: stage.session.clone(),
        parent: None,
        seq: Seq(1),
        at: Timestamp::now(),
        body: said,
    };
    let session = died_after(&stage, &[entry]).await;
    for _ in 0..3 {
        let info = stage.service.open(again(&session)).await.unwrap();
        assert_eq!(info.state, SessionState::Broken { turn: turn.clone() });
        assert_eq!(kinds(&stage.service.get(&session).await.unwrap().entries), ["user", "recovered"]);
        stage.service.close(&session).await.unwrap();
    }
}

#[tokio::test]
async fn steps_are_counted_on_after_a_crash() {
    let read = |path: &str| Turn::call("read", json!({ "path": path }));
    let script = Script::by_conversation([read("a"), read("b"), read("c"), read("d")]);
    let mut setup = Setup::default();
    setup.settings.max_steps = 3;
    let project = Project::new().file("a", "a").file("b", "b").file("c", "c").file("d", "d");
    let stage = Stage::with(project, script, setup).await;
    stage.run("go").await;
    let whole = stage.entries().await;
    let steps = |entries: &[Entry]| {
        let steps = entries.iter().filter_map(|entry| match &entry.body {
            EntryBody::StepStarted { step, .. } => Some(*step),
            _ => None,
        });
        steps.collect::<Vec<u32>>()
    };
    assert_eq!(steps(&whole), [1, 2, 3]);
    let second = kinds(&whole).iter().rposition(|kind| *kind == "step_started").unwrap();
    let session = died_after(&stage, &whole[..second]).await;
    let entries = gone_on_with(&stage, &session).await;
    assert_eq!(steps(&entries), [1, 2, 3]);
    assert!(matches!(entries.last().unwrap().body, EntryBody::TurnEnded { stop: StopReason::MaxSteps, .. }));
}
