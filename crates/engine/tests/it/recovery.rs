//! Sessions that are opened again, after a good end and after a bad one.

use rein_protocol::message::AssistantPart;
use rein_protocol::{
    Author, CallId, CallStatus, Content, Delivery, Entry, EntryBody, EntryId, Intent, Mode, OpenSession,
    PartId, Prompt, Seq, ServiceError, SessionId, SessionState, StopReason, Timestamp, ToolCall, ToolInput,
    TurnId,
};
use rein_testkit::{Project, Script, Turn};
use serde_json::json;

use crate::stage::{Setup, Stage, kinds, statuses};

#[tokio::test]
async fn a_closed_session_is_opened_again_with_its_conversation() {
    let script = Script::new().turn(Turn::text("one")).turn(Turn::text("two"));
    let stage = Stage::new(script).await;
    stage.run("first").await;
    let stage = stage.reopened().await;
    assert_eq!(stage.run("second").await.answer(), "two");
    assert!(stage.server.requests()[1].contains("first") && stage.server.requests()[1].contains("one"));
}

#[tokio::test]
async fn a_file_that_was_read_before_may_be_edited_after_reopening_unless_it_changed() {
    let project = Project::new().file("a.txt", "one\n").file("b.txt", "one\n");
    let edit = |path: &str| json!({"path": path, "old": "one", "new": "two"});
    let script = Script::new()
        .turn(Turn::call("read", json!({"path": "a.txt"})).and_call("read", json!({"path": "b.txt"})))
        .turn(Turn::text("read"))
        .turn(Turn::call("edit", edit("a.txt")).and_call("edit", edit("b.txt")))
        .turn(Turn::text("done"));
    let stage = Stage::with(project, script, Setup::mode(Mode::Write)).await;
    stage.run("read").await;
    stage.project.write("b.txt", "one more\n");
    let future = std::time::SystemTime::now() + std::time::Duration::from_secs(60);
    std::fs::File::options()
        .write(true)
        .open(stage.project.join("b.txt"))
        .unwrap()
        .set_modified(future)
        .unwrap();
    let stage = stage.reopened().await;
    let transcript = stage.run("edit").await;
    assert_eq!(statuses(&transcript)[2..], [CallStatus::Completed, CallStatus::Failed]);
    assert_eq!(stage.project.read("a.txt"), "two\n");
}

#[tokio::test]
async fn a_session_that_is_open_elsewhere_cannot_be_opened() {
    let stage = Stage::new(Script::new().turn(Turn::text("one"))).await;
    stage.run("first").await;
    let other = stage.another_engine();
    let request = OpenSession { session: Some(stage.session.clone()), ..OpenSession::default() };
    let refused = other.open(request.clone()).await;
    assert!(matches!(refused, Err(ServiceError::InUse { .. })), "{refused:?}");
    assert_eq!(other.get(&stage.session).await.unwrap().info.title, "first", "but it can be read");
    stage.service.close(&stage.session).await.unwrap();
    other.open(request).await.unwrap();
}

/// A journal as a dead process left it: a step under way, one call begun, one proposed.
fn broken(session: &SessionId, turn: &TurnId, leaf: Option<EntryId>) -> (Vec<Entry>, CallId, CallId) {
    let call = |tool: &str, input: serde_json::Value| ToolCall {
        id: CallId::new(),
        wire_id: format!("w-{tool}"),
        tool: tool.to_owned(),
        input: ToolInput::Json { value: input },
    };
    let begun = call("bash", json!({"command": "touch begun"}));
    let proposed = call("write", json!({"path": "proposed.txt", "content": "x\n"}));
    let part = |call: &ToolCall| EntryBody::Part {
        turn: turn.clone(),
        part: PartId::new(),
        body: AssistantPart::Call(call.clone()),
    };
    let bodies = vec![
        EntryBody::User {
            turn: turn.clone(),
            content: vec![Content::text("go")],
            delivery: Delivery::Prompt,
            queued: None,
            author: Author::Person,
        },
        EntryBody::StepStarted { turn: turn.clone(), step: 1, model: "test/model".parse().unwrap() },
        part(&begun),
        EntryBody::CallStarted { call: begun.id.clone(), intent: Intent::default() },
        part(&proposed),
    ];
    let mut parent = leaf;
    let mut seq = Seq::START.next_epoch().next_epoch();
    let entries = bodies
        .into_iter()
        .map(|body| {
            seq = seq.next();
            let id = EntryId::new();
            let entry = Entry {
                id: id.clone(),
                session: session.clone(),
                parent: parent.take(),
                seq,
                at: Timestamp::now(),
                body,
            };
            parent = Some(id);
            entry
        })
        .collect();
    (entries, begun.id, proposed.id)
}

#[tokio::test]
async fn after_a_crash_the_turn_goes_on_where_it_was() {
    let stage =
        Stage::with(Project::new(), Script::new().turn(Turn::text("done")), Setup::mode(Mode::Write)).await;
    stage.service.close(&stage.session).await.unwrap();
    let turn = TurnId::new();
    let (entries, begun, proposed) = broken(&stage.session, &turn, None);
    stage.store.append(&stage.session, entries).await.unwrap();

    let stage = stage.reopened().await;
    let info = stage.service.get(&stage.session).await.unwrap().info;
    assert_eq!(info.state, SessionState::Broken { turn: turn.clone() });
    assert_eq!(kinds(&stage.entries().await)[5..], ["step_ended", "call_ended", "recovered"]);

    let mut run = stage.watch(&turn).await;
    assert_eq!(stage.service.resume(&stage.session).await.unwrap(), Some(turn.clone()));
    let transcript = run.finish().await;
    assert_eq!(transcript.answer(), "done");
    let status = |id: &CallId| transcript.call(id).unwrap().result.as_ref().unwrap().status;
    assert_eq!((status(&begun), status(&proposed)), (CallStatus::Unknown, CallStatus::Completed));
    assert!(!stage.project.exists("begun"), "what had begun is not run again");
    assert!(stage.project.exists("proposed.txt"), "what had not begun is run");
    let results = &stage.server.requests()[0];
    assert!(results.contains("effects unknown"));
    assert_eq!(stage.service.resume(&stage.session).await.unwrap(), None, "nothing is left to go on with");
}

#[tokio::test]
async fn after_a_crash_another_prompt_leaves_the_old_turn_behind() {
    let stage =
        Stage::with(Project::new(), Script::new().turn(Turn::text("as you say")), Setup::mode(Mode::Write))
            .await;
    stage.service.close(&stage.session).await.unwrap();
    let turn = TurnId::new();
    let (entries, begun, proposed) = broken(&stage.session, &turn, None);
    stage.store.append(&stage.session, entries).await.unwrap();

    let stage = stage.reopened().await;
    let transcript = stage.run("never mind").await;
    assert_eq!(transcript.answer(), "as you say");
    let status = |id: &CallId| transcript.call(id).unwrap().result.as_ref().unwrap().status;
    assert_eq!((status(&begun), status(&proposed)), (CallStatus::Unknown, CallStatus::NotRun));
    assert!(!stage.project.exists("proposed.txt"));
    let ended = stage.entries().await.into_iter().find_map(|entry| match entry.body {
        EntryBody::TurnEnded { turn: ended, stop, .. } if ended == turn => Some(stop),
        _ => None,
    });
    assert_eq!(ended, Some(StopReason::Interrupted));
}

#[tokio::test]
async fn a_message_that_was_queued_when_the_process_died_is_not_lost() {
    let script = Script::new().turn(Turn::text("o").gate("never").and_text("ne")).turn(Turn::text("both"));
    let stage = Stage::new(script).await;
    let mut run = stage.start("first").await;
    stage.server.wait_for_gate("never").await;
    let follow_up = Prompt { delivery: Delivery::FollowUp, ..Prompt::text("and then this") };
    stage.service.prompt(&stage.session, follow_up).await.unwrap();
    stage.service.interrupt(&stage.session).await.unwrap();
    run.finish().await;
    let stage = stage.reopened().await;
    stage.run("go on").await;
    assert!(stage.server.requests()[1].contains("and then this"));
    assert_eq!(stage.transcript().await.queue, []);
}
