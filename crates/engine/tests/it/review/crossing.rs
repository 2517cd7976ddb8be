//! Interrupts, prompts, replies and closings that cross something else.

use std::sync::{Arc, Mutex};

use futures_util::poll;
use rein_protocol::{Answer, CallStatus, Delivery, Mode, Prompt, ServiceError, SessionState, StopReason};
use rein_testkit::{Project, Script, Turn};
use serde_json::json;
use tokio::sync::mpsc;

use super::{again, is_alive, is_valid_conversation, later, prints, results};
use crate::stage::{Setup, Stage, kinds, statuses};

#[tokio::test]
async fn a_prompt_right_after_an_interrupt_gets_its_answer() {
    let script =
        Script::new().turn(Turn::text("so far").gate("never").and_text(" and more")).turn(Turn::text("ok"));
    let stage = Stage::new(script).await;
    let mut run = stage.start("go").await;
    run.until(|transcript| transcript.answer() == "so far").await;
    stage.service.interrupt(&stage.session).await.unwrap();
    // The turn is still being wound up.
    let turn = stage.service.prompt(&stage.session, Prompt::text("and now?")).await.unwrap();
    assert_eq!(run.follow_to_end_of(&turn).await.answer(), "ok");
    assert!(stage.server.requests()[1].last_user_text().contains("and now?"));
}

#[tokio::test]
async fn a_prompt_right_after_an_interrupt_takes_along_what_was_queued() {
    let script =
        Script::new().turn(Turn::text("so far").gate("never").and_text(" and more")).turn(Turn::text("ok"));
    let stage = Stage::new(script).await;
    let mut run = stage.start("go").await;
    run.until(|transcript| transcript.answer() == "so far").await;
    stage.service.prompt(&stage.session, later("afterwards", Delivery::FollowUp)).await.unwrap();
    stage.service.interrupt(&stage.session).await.unwrap();
    let turn = stage.service.prompt(&stage.session, Prompt::text("and now?")).await.unwrap();
    let transcript = run.follow_to_end_of(&turn).await;
    assert_eq!((transcript.answer().as_str(), transcript.queue.len()), ("ok", 0));
    assert!(stage.server.requests()[1].contains("afterwards"));
}

/// A store that waits after this many entries: it says that it has come there, and goes on when told.
fn held_after(entries: u64) -> (Setup, mpsc::UnboundedReceiver<()>, std::sync::mpsc::Sender<()>) {
    let (reached, there) = mpsc::unbounded_channel();
    let (go, may_go) = std::sync::mpsc::channel();
    let may_go = Mutex::new(may_go);
    let hook = move |appended: u64| {
        if appended == entries {
            reached.send(()).unwrap();
            may_go.lock().unwrap().recv().unwrap();
        }
    };
    (Setup { after_commit: Some(Arc::new(hook)), ..Setup::default() }, there, go)
}

#[tokio::test]
async fn an_interrupt_that_crosses_the_end_of_the_turn_leaves_the_queue_alone() {
    let script = Script::new().turn(Turn::text("o").gate("end").and_text("ne")).turn(Turn::text("two"));
    // The prompt, the beginning of the step, what is queued, the words, the end of the step.
    let (setup, mut step_ended, go) = held_after(5);
    let stage = Stage::with(Project::new(), script, setup).await;
    let mut run = stage.start("first").await;
    stage.server.wait_for_gate("end").await;
    stage.service.prompt(&stage.session, later("second", Delivery::FollowUp)).await.unwrap();
    stage.server.open_gate("end");
    step_ended.recv().await.unwrap();
    // The turn is over and does not know it yet.
    let interrupt = stage.service.interrupt(&stage.session);
    tokio::pin!(interrupt);
    assert!(poll!(&mut interrupt).is_pending());
    go.send(()).unwrap();
    interrupt.await.unwrap();
    assert_eq!(run.finish().await.stop.unwrap().0, StopReason::Interrupted);
    let snapshot = stage.service.get(&stage.session).await.unwrap();
    assert_eq!(snapshot.info.state, SessionState::Idle);
    assert_eq!(stage.transcript().await.queue.len(), 1, "it waits for the next prompt");
    assert_eq!(stage.server.requests().len(), 1);
}

#[tokio::test]
async fn closing_does_not_end_a_session_that_was_opened_again_meanwhile() {
    let stage = Stage::new(Script::new().turn(Turn::text("one")).turn(Turn::text("two"))).await;
    let mut run = stage.start("first").await;
    run.finish().await;
    let close = stage.service.close(&stage.session);
    tokio::pin!(close);
    assert!(poll!(&mut close).is_pending());
    run.follow_to_close().await;
    stage.service.open(again(&stage.session)).await.unwrap();
    close.await.unwrap();
    assert_eq!(stage.run("second").await.answer(), "two");
}

#[tokio::test]
async fn closing_twice_at_once_is_closing() {
    let stage = Stage::new(Script::new()).await;
    let both = futures_util::join!(stage.service.close(&stage.session), stage.service.close(&stage.session));
    assert_eq!(both, (Ok(()), Ok(())));
    stage.service.open(again(&stage.session)).await.unwrap();
}

#[tokio::test]
async fn closing_while_a_call_waits_for_a_person_withdraws_it() {
    let script = Script::new().turn(Turn::call("write", json!({"path": "a.txt", "content": "x"})));
    let stage = Stage::with(Project::new(), script, Setup::interactive()).await;
    let mut run = stage.start("go").await;
    let ask = run.ask().await;
    let (closed, replied) =
        futures_util::join!(stage.service.close(&stage.session), stage.reply(&ask, Answer::Once));
    closed.unwrap();
    assert!(replied.is_err(), "an ask is withdrawn before it can be answered");
    let transcript = run.follow_to_close().await;
    assert_eq!(statuses(&transcript), [CallStatus::NotRun]);
    assert_eq!(transcript.stop.unwrap().0, StopReason::Interrupted);
    assert!(!stage.project.exists("a.txt"));
}

#[tokio::test]
async fn a_reply_that_comes_before_an_interrupt_counts_and_the_call_has_one_result() {
    let script = Script::new().turn(Turn::call("write", json!({"path": "a.txt", "content": "x"})));
    let stage = Stage::with(Project::new(), script, Setup::interactive()).await;
    let mut run = stage.start("go").await;
    let ask = run.ask().await;
    let (replied, interrupted) =
        futures_util::join!(stage.reply(&ask, Answer::Once), stage.service.interrupt(&stage.session));
    replied.unwrap();
    interrupted.unwrap();
    let transcript = run.finish().await;
    assert_eq!(transcript.stop.as_ref().unwrap().0, StopReason::Interrupted);
    assert_eq!(statuses(&transcript).len(), 1);
    let begun = kinds(&stage.entries().await).contains(&"call_started");
    assert!(begun || !stage.project.exists("a.txt"), "nothing is done without a record");
}

#[tokio::test]
async fn an_engine_that_is_dropped_interrupts_its_sessions_and_lets_go_of_them() {
    let script =
        Script::new().turn(Turn::call("bash", json!({"command": "echo $$ > pid; echo on; sleep 1000"})));
    let mut stage = Stage::with(Project::new(), script, Setup::mode(Mode::Free)).await;
    let mut run = stage.start("go").await;
    run.until(prints("on")).await;
    stage.service = stage.another_engine();
    let transcript = run.follow_to_close().await;
    assert_eq!(statuses(&transcript), [CallStatus::Interrupted]);
    assert_eq!(transcript.stop.unwrap().0, StopReason::Interrupted);
    assert!(!is_alive(&stage.project.read("pid")));
    let info = stage.service.open(again(&stage.session)).await.unwrap();
    assert_eq!(info.state, SessionState::Idle);
}

#[tokio::test]
async fn interrupted_at_any_event_every_call_has_one_result_and_the_session_goes_on() {
    let script = || {
        Script::reply_with(|request| match request.tool_results().len() {
            _ if request.last_user_text().contains("and now?") => Turn::text("ok"),
            0 => Turn::reasoning("hm")
                .and_text("look")
                .and_call("read", json!({"path": "a.txt"}))
                .and_call("bash", json!({"command": "echo one"}))
                .and_call("write", json!({"path": "b.txt", "content": "b"})),
            3 => Turn::call("edit", json!({"path": "a.txt", "old": "alpha", "new": "beta"})).and_text("so"),
            _ => Turn::text("done"),
        })
        .expect(is_valid_conversation)
    };
    for place in 0.. {
        let project = Project::new().file("a.txt", "alpha\n");
        let stage = Stage::with(project, script(), Setup::mode(Mode::Free)).await;
        let mut run = stage.start("go").await;
        run.until_events(place).await;
        stage.service.interrupt(&stage.session).await.unwrap();
        let stop = run.finish().await.stop.unwrap().0;
        let entries = stage.entries().await;
        assert!(
            results(&entries).iter().all(|results| results.len() == 1),
            "interrupted after {place} events"
        );
        assert_eq!(stage.run("and now?").await.answer(), "ok", "interrupted after {place} events");
        assert_eq!(stage.server.failures(), Vec::<String>::new(), "interrupted after {place} events");
        if stop == StopReason::EndTurn {
            assert!(place > 25, "the turn has only {place} events");
            return;
        }
        assert_eq!(stop, StopReason::Interrupted);
    }
}

#[tokio::test]
async fn a_prompt_without_words_is_an_error_that_changes_nothing() {
    let stage = Stage::new(Script::new()).await;
    for blank in ["", " \n\t"] {
        let refused = stage.service.prompt(&stage.session, Prompt::text(blank)).await;
        assert!(matches!(refused, Err(ServiceError::Invalid { .. })), "{refused:?}");
    }
    assert_eq!(stage.entries().await, []);
}

#[tokio::test]
async fn after_a_rejection_without_words_no_other_call_of_the_turn_begins() {
    // The second waits for the first, because both are commands; the third would need no permission.
    let script = Script::new().turn(
        Turn::call("bash", json!({"command": "touch a"}))
            .and_call("bash", json!({"command": "touch b"}))
            .and_call("read", json!({"path": "c.txt"})),
    );
    let stage = Stage::with(Project::new().file("c.txt", "gamma\n"), script, Setup::interactive()).await;
    let mut run = stage.start("go").await;
    let ask = run.ask().await;
    stage.reply(&ask, Answer::Reject { message: None }).await.unwrap();
    let transcript = run.finish().await;
    assert_eq!(transcript.stop.as_ref().unwrap().0, StopReason::Rejected);
    assert_eq!(statuses(&transcript), [CallStatus::Rejected, CallStatus::Refused, CallStatus::Refused]);
    let asked = kinds(&stage.entries().await).into_iter().filter(|kind| *kind == "asked").count();
    assert_eq!(asked, 1, "nobody is asked about a turn that is over");
}
