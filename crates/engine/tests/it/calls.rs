//! Calls that go wrong, and calls that get in each other's way.

use rein_protocol::{Answer, CallStatus, Mode, PartKind};
use rein_testkit::{Project, Script, Turn};
use serde_json::json;

use crate::stage::{Setup, Stage, statuses};

#[tokio::test]
async fn wrong_calls_are_answered_with_what_to_write_instead() {
    let script = Script::new()
        .turn(
            Turn::call("raed", json!({"path": "a"}))
                .and_call("read", json!({"pth": "a"}))
                .and_call_text("read", "{\"path\": \"a")
                .and_call("read", json!({"path": "missing.txt"})),
        )
        .turn(Turn::text("sorry"));
    let stage = Stage::new(script).await;
    let transcript = stage.run("go").await;
    assert_eq!(statuses(&transcript), [CallStatus::Failed; 4]);
    let requests = stage.server.requests();
    let results = requests[1].tool_results();
    assert!(results[0].1.contains("read"), "the nearest name: {}", results[0].1);
    assert!(results[1].1.contains("path"), "the field that is meant: {}", results[1].1);
    assert!(results[2].1.to_lowercase().contains("json"), "{}", results[2].1);
    assert!(results[3].1.contains("missing.txt"), "{}", results[3].1);
}

#[tokio::test]
async fn calls_on_the_same_file_run_in_their_order() {
    let project = Project::new().file("a.txt", "one\n");
    let edit = |old: &str, new: &str| json!({"path": "a.txt", "old": old, "new": new});
    let script = Script::new()
        .turn(Turn::call("read", json!({"path": "a.txt"})))
        .turn(
            // The later edits only make sense after the earlier ones.
            Turn::call("edit", edit("one", "two"))
                .and_call("edit", edit("two", "three"))
                .and_call("edit", edit("three", "four"))
                .and_call("read", json!({"path": "a.txt"})),
        )
        .turn(Turn::text("done"));
    let stage = Stage::with(project, script, Setup::mode(Mode::Write)).await;
    let transcript = stage.run("go").await;
    assert_eq!(statuses(&transcript), [CallStatus::Completed; 5]);
    assert_eq!(stage.project.read("a.txt"), "four\n");
    let requests = stage.server.requests();
    assert!(requests[2].tool_results()[4].1.contains("four"));
}

#[tokio::test]
async fn a_file_may_be_read_and_edited_in_one_step() {
    let project = Project::new().file("a.txt", "one\n").file("b.txt", "one\n");
    let edit = |path: &str| json!({"path": path, "old": "one", "new": "two"});
    let script = Script::new()
        .turn(
            Turn::call("read", json!({"path": "a.txt"}))
                .and_call("read", json!({"path": "b.txt"}))
                .and_call("edit", edit("a.txt"))
                .and_call("edit", edit("b.txt")),
        )
        .turn(Turn::text("done"));
    let stage = Stage::with(project, script, Setup::mode(Mode::Write)).await;
    assert_eq!(statuses(&stage.run("go").await), [CallStatus::Completed; 4]);
    assert_eq!(stage.project.read("b.txt"), "two\n");
}

#[tokio::test]
async fn independent_calls_run_side_by_side() {
    // Both wait for a person at the same time: neither waits for the other.
    let write = |path: &str| json!({"path": path, "content": "x\n"});
    let script = Script::new()
        .turn(Turn::call("write", write("a.txt")).and_call("write", write("b.txt")))
        .turn(Turn::text("done"));
    let stage = Stage::with(Project::new(), script, Setup::interactive()).await;
    let mut run = stage.start("go").await;
    run.until(|transcript| transcript.asks.len() == 2).await;
    for ask in run.transcript.asks.clone().into_iter().rev() {
        stage.reply(&ask, Answer::Once).await.unwrap();
    }
    assert_eq!(statuses(&run.finish().await), [CallStatus::Completed; 2]);
}

#[tokio::test]
async fn commands_run_one_after_the_other() {
    let script = Script::new()
        .turn(
            Turn::call("bash", json!({"command": "echo first >> log"}))
                .and_call("bash", json!({"command": "echo second >> log"}))
                .and_call("read", json!({"path": "log"})),
        )
        .turn(Turn::text("done"));
    let stage = Stage::with(Project::new(), script, Setup::mode(Mode::Free)).await;
    assert_eq!(statuses(&stage.run("go").await), [CallStatus::Completed; 3]);
    assert_eq!(stage.project.read("log"), "first\nsecond\n");
}

#[tokio::test]
async fn a_call_begins_while_the_answer_still_streams() {
    let project = Project::new().file("a.txt", "alpha\n");
    // The second call's first delta completes the first call; the gate holds the rest of the answer back.
    let script = Script::new()
        .turn(
            Turn::call("read", json!({"path": "a.txt"}))
                .and_text("and now")
                .gate("rest")
                .and_text(" for something else"),
        )
        .turn(Turn::text("done"));
    let stage = Stage::with(project, script, Setup::default()).await;
    let mut run = stage.start("go").await;
    stage.server.wait_for_gate("rest").await;
    run.until(|transcript| statuses(transcript) == [CallStatus::Completed]).await;
    assert!(run.transcript.turn.as_ref().unwrap().step_open, "the step is still open");
    stage.server.open_gate("rest");
    assert_eq!(run.finish().await.answer(), "done");
}

#[tokio::test]
async fn repeated_ids_of_a_provider_do_not_mix_calls_up() {
    let project = Project::new().file("a.txt", "alpha\n").file("b.txt", "beta\n");
    let script = Script::new()
        .turn(
            Turn::call("read", json!({"path": "a.txt"}))
                .and_call("read", json!({"path": "b.txt"}))
                .duplicate_ids(),
        )
        .turn(Turn::text("done"));
    let stage = Stage::with(project, script, Setup::default()).await;
    let transcript = stage.run("go").await;
    assert_eq!(statuses(&transcript), [CallStatus::Completed; 2]);
    let requests = stage.server.requests();
    let results = requests[1].tool_results();
    assert!(results[0].1.contains("alpha") && results[1].1.contains("beta"));
    assert_ne!(results[0].0, results[1].0, "what goes back has ids that can be told apart");
}

#[tokio::test]
async fn arguments_are_shown_while_they_stream() {
    let project = Project::new().file("a.txt", "alpha\n");
    let script = Script::new()
        .turn(Turn::call("read", json!({"path": "a.txt"})).arguments_every(3))
        .turn(Turn::text("done"));
    let stage = Stage::with(project, script, Setup::default()).await;
    let mut run = stage.start("go").await;
    run.finish().await;
    let streamed: String = run
        .deltas
        .iter()
        .filter(|(kind, _)| matches!(kind, PartKind::Call { tool } if tool == "read"))
        .map(|(_, delta)| delta.as_str())
        .collect();
    assert_eq!(serde_json::from_str::<serde_json::Value>(&streamed).unwrap(), json!({"path": "a.txt"}));
}
