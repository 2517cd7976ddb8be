//! Interrupting at any moment: nothing hangs, nothing is lost, nothing is left.

use rein_protocol::{CallStatus, EntryBody, Finish, Mode, SessionState, StopReason};
use rein_testkit::{Project, Script, Turn};
use serde_json::json;

use crate::stage::{Setup, Stage, statuses};

#[tokio::test]
async fn while_the_model_speaks_what_it_said_is_kept_and_the_connection_is_dropped() {
    let script =
        Script::new().turn(Turn::text("so far").gate("never").and_text(" and more")).turn(Turn::text("ok"));
    let stage = Stage::new(script).await;
    let mut run = stage.start("go").await;
    run.until(|transcript| transcript.answer() == "so far").await;
    stage.service.interrupt(&stage.session).await.unwrap();
    let transcript = run.finish().await;
    assert_eq!(transcript.stop.as_ref().unwrap().0, StopReason::Interrupted);
    assert_eq!(transcript.answer(), "so far");
    stage.server.wait_for_disconnect().await;
    let finish = stage.entries().await.into_iter().find_map(|entry| match entry.body {
        EntryBody::StepEnded { finish, .. } => Some(finish),
        _ => None,
    });
    assert_eq!(finish, Some(Finish::Interrupted));
    assert_eq!(stage.run("and now?").await.answer(), "ok");
    assert!(stage.server.requests()[1].contains("so far"));
}

#[tokio::test]
async fn before_the_model_has_answered() {
    let script = Script::new().turn(Turn::text("late").gate_before_head("never")).turn(Turn::text("ok"));
    let stage = Stage::new(script).await;
    let mut run = stage.start("go").await;
    stage.server.wait_for_request(1).await;
    stage.service.interrupt(&stage.session).await.unwrap();
    assert_eq!(run.finish().await.stop.unwrap().0, StopReason::Interrupted);
    assert_eq!(stage.run("again").await.answer(), "ok");
}

#[tokio::test]
async fn while_a_command_runs_its_whole_tree_is_killed() {
    let command = "echo $$ > pid; (echo $BASHPID > child; exec sleep 1000) & echo started; wait";
    let script = Script::new().turn(Turn::call("bash", json!({ "command": command })));
    let stage = Stage::with(Project::new(), script, Setup::mode(Mode::Free)).await;
    let mut run = stage.start("go").await;
    run.until(|transcript| {
        transcript.items.iter().any(
            |item| matches!(item, rein_protocol::transcript::Item::Call(call) if call.output.contains("started")),
        )
    })
    .await;
    stage.service.interrupt(&stage.session).await.unwrap();
    let transcript = run.finish().await;
    assert_eq!(transcript.stop.as_ref().unwrap().0, StopReason::Interrupted);
    assert_eq!(statuses(&transcript), [CallStatus::Interrupted]);
    for file in ["pid", "child"] {
        let pid = stage.project.read(file).trim().to_owned();
        let alive =
            std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
        assert!(!alive, "process {pid} ({file}) survived");
    }
}

#[tokio::test]
async fn while_a_call_waits_for_a_person_it_is_withdrawn() {
    let script = Script::new().turn(Turn::call("write", json!({"path": "a.txt", "content": "x"})));
    let stage = Stage::with(Project::new(), script, Setup::interactive()).await;
    let mut run = stage.start("go").await;
    run.ask().await;
    stage.service.interrupt(&stage.session).await.unwrap();
    let transcript = run.finish().await;
    assert_eq!(statuses(&transcript), [CallStatus::NotRun]);
    assert_eq!(stage.service.get(&stage.session).await.unwrap().asks, []);
    assert!(!stage.project.exists("a.txt"));
}

#[tokio::test]
async fn while_nothing_is_under_way_it_does_nothing() {
    let stage = Stage::new(Script::new()).await;
    stage.service.interrupt(&stage.session).await.unwrap();
    assert_eq!(stage.entries().await, []);
}

#[tokio::test]
async fn closing_a_session_interrupts_it_and_ends_its_subscriptions() {
    let script = Script::new().turn(Turn::text("so far").gate("never").and_text("!"));
    let stage = Stage::new(script).await;
    let mut run = stage.start("go").await;
    run.until(|transcript| transcript.answer() == "so far").await;
    stage.service.close(&stage.session).await.unwrap();
    let transcript = run.follow_to_close().await;
    assert_eq!(transcript.stop.unwrap().0, StopReason::Interrupted);
    let snapshot = stage.service.get(&stage.session).await.unwrap();
    assert_eq!(snapshot.info.state, SessionState::Idle);
    assert!(stage.service.prompt(&stage.session, rein_protocol::Prompt::text("x")).await.is_err());
}
