//! Self-verification: when it runs, what its failure means, and what survives.

use std::time::Duration;

use rein_config::VerifyMode;
use rein_engine::Verify;
use rein_permission::{Action, LayerKind, Rule};
use rein_protocol::{CallStatus, Effect, EntryBody, Mode, SessionState, StopReason};
use rein_testkit::{Project, Script, Turn};
use serde_json::json;

use crate::stage::{Setup, Stage, kinds};

fn verified(command: &str, mode: VerifyMode) -> Setup {
    let verify = Verify { command: command.to_owned(), mode, attempts: 3, timeout: Duration::from_secs(60) };
    let mut setup = Setup::mode(Mode::Free);
    setup.settings.verify = Some(verify);
    setup
}

fn write(content: &str) -> Turn {
    Turn::call("write", json!({"path": "a.txt", "content": content}))
}

/// Passes once the file says so.
const CHECK: &str = "echo checking; grep -q good a.txt";

#[tokio::test]
async fn a_failure_goes_back_to_the_model_until_the_check_passes() {
    let script = Script::new()
        .turn(write("bad\n"))
        .turn(Turn::text("I am done"))
        .turn(write("good\n"))
        .turn(Turn::text("now it is"));
    let stage = Stage::with(Project::new(), script, verified(CHECK, VerifyMode::Enforcing)).await;
    let transcript = stage.run("go").await;
    assert_eq!(transcript.stop.as_ref().unwrap().0, StopReason::EndTurn);
    assert_eq!(transcript.answer(), "now it is");
    let requests = stage.server.requests();
    assert_eq!(requests.len(), 4);
    let told = requests[2].last_user_text().to_owned();
    assert!(told.starts_with(&format!("[The check `{CHECK}` failed (exit 1).")), "{told}");
    assert!(told.contains("attempt 1 of 3") && told.contains("checking\n[exit code 1]"), "{told}");
}

#[tokio::test]
async fn after_three_failures_the_turn_has_failed() {
    let script = Script::new()
        .turn(write("bad\n"))
        .turn(Turn::text("done"))
        .turn(Turn::text("done indeed"))
        .turn(Turn::text("really"));
    let stage = Stage::with(Project::new(), script, verified(CHECK, VerifyMode::Enforcing)).await;
    let (stop, message) = stage.run("go").await.stop.unwrap();
    assert_eq!(stop, StopReason::VerifyFailed);
    assert!(message.unwrap().contains("failed 3 times, the last time with exit 1"));
    let checks = stage.entries().await.iter().filter(|entry| is_check(&entry.body)).count();
    assert_eq!(checks, 3);
}

fn is_check(body: &EntryBody) -> bool {
    matches!(body, EntryBody::CallStarted { intent, .. } if intent.display.title.starts_with("verify: "))
}

#[tokio::test]
async fn advice_is_given_once_and_the_turn_ends_well() {
    let script = Script::new().turn(write("bad\n")).turn(Turn::text("done")).turn(Turn::text("so be it"));
    let stage = Stage::with(Project::new(), script, verified(CHECK, VerifyMode::Advisory)).await;
    let (stop, message) = stage.run("go").await.stop.unwrap();
    assert_eq!((stop, stage.server.requests().len()), (StopReason::EndTurn, 3));
    assert_eq!(message.unwrap(), format!("the check `{CHECK}` still fails (exit 1)"));
}

#[tokio::test]
async fn a_turn_that_only_looked_proves_nothing() {
    let script = Script::new()
        .turn(Turn::call("read", json!({"path": "b.txt"})).and_call("bash", json!({"command": "ls"})))
        .turn(Turn::text("looked"));
    let setup = verified("touch ran", VerifyMode::Enforcing);
    let stage = Stage::with(Project::new().file("b.txt", "b"), script, setup).await;
    assert_eq!(stage.run("look").await.stop.unwrap().0, StopReason::EndTurn);
    assert!(!stage.project.exists("ran"));
}

#[tokio::test]
async fn the_check_is_judged_like_any_command() {
    let script = || Script::new().turn(write("bad\n")).turn(Turn::text("done"));
    let mut setup = verified("make check", VerifyMode::Enforcing);
    setup.mode = Mode::Write;
    let stage = Stage::with(Project::new(), script(), setup.clone()).await;
    let (stop, message) = stage.run("go").await.stop.unwrap();
    assert_eq!(stop, StopReason::VerifyFailed);
    let message = message.unwrap();
    assert!(
        message.starts_with("the check `make check` was not run: Refused: bash 'make check'"),
        "{message}"
    );
    let allow = Rule::parse("bash:make *", Action::Allow, "--allow").unwrap();
    let allowed = setup.rules(LayerKind::User, vec![allow]);
    let project = Project::new().file("Makefile", "check:\n\t@touch checked\n");
    let stage = Stage::with(project, script(), allowed).await;
    assert_eq!(stage.run("go").await.stop.unwrap().0, StopReason::EndTurn);
    assert!(stage.project.exists("checked"));
    let mut intents = stage.entries().await.into_iter().filter_map(|entry| match entry.body {
        EntryBody::CallStarted { intent, .. } => Some(intent),
        _ => None,
    });
    let check = intents.next_back().unwrap();
    assert!(matches!(&check.effects[..], [Effect::Execute { command, .. }] if command == "make check"));
}

#[tokio::test]
async fn a_check_can_be_interrupted_and_has_its_time() {
    let script = || Script::new().turn(write("bad\n")).turn(Turn::text("done"));
    let setup = verified("touch began; sleep 600", VerifyMode::Enforcing);
    let stage = Stage::with(Project::new(), script(), setup.clone()).await;
    let mut run = stage.start("go").await;
    run.until_entry(is_check).await;
    stage.service.interrupt(&stage.session).await.unwrap();
    assert_eq!(run.finish().await.stop.unwrap().0, StopReason::Interrupted);

    let mut short = setup;
    short.settings.verify.as_mut().unwrap().timeout = Duration::from_secs(1);
    short.settings.verify.as_mut().unwrap().attempts = 1;
    let stage = Stage::with(Project::new(), script(), short).await;
    let (stop, message) = stage.run("go").await.stop.unwrap();
    assert_eq!(stop, StopReason::VerifyFailed);
    assert!(message.unwrap().contains("timed out after 1 s"));
}

#[tokio::test]
async fn a_process_that_died_before_the_check_was_over_runs_it_again_and_asks_no_model() {
    let script = Script::new().turn(write("good\n")).turn(Turn::text("done"));
    let stage = Stage::with(Project::new(), script, verified(CHECK, VerifyMode::Enforcing)).await;
    stage.run("go").await;
    let entries = stage.entries().await;
    let begun = entries.iter().position(|entry| is_check(&entry.body)).unwrap();
    let turn = entries.iter().find_map(|entry| match &entry.body {
        EntryBody::User { turn, .. } => Some(turn.clone()),
        _ => None,
    });
    let turn = turn.unwrap();
    let project = Project::new().file("a.txt", "good\n");
    let copy = Stage::with(project, Script::new(), verified(CHECK, VerifyMode::Enforcing)).await;
    let copy = copy.with_journal(entries[..=begun].iter().map(|entry| entry.body.clone())).await;
    let state = copy.service.get(&copy.session).await.unwrap().info.state;
    assert_eq!(state, SessionState::Broken { turn: turn.clone() }, "{:?}", kinds(&copy.entries().await));
    let mut run = copy.watch(&turn).await;
    copy.service.resume(&copy.session).await.unwrap();
    assert_eq!(run.finish().await.stop.unwrap().0, StopReason::EndTurn);
    assert_eq!(copy.server.requests().len(), 0);
    let ends: Vec<CallStatus> = copy
        .entries()
        .await
        .iter()
        .filter_map(|entry| match &entry.body {
            EntryBody::CallEnded { result, .. } if result.display.title.starts_with("verify: ") => {
                Some(result.status)
            }
            _ => None,
        })
        .collect();
    assert_eq!(ends, [CallStatus::Unknown, CallStatus::Completed]);
}
