//! What is said with "now": what runs is stopped for it, and nothing is lost.

use rein_protocol::transcript::{Item, Transcript};
use rein_protocol::{CallStatus, Delivery, EntryBody, Finish, Mode, Prompt, StopReason};
use rein_testkit::{Project, Said, Script, Turn};
use serde_json::json;

use crate::stage::{Setup, Stage, kinds, statuses};

fn now(text: &str) -> Prompt {
    Prompt { delivery: Delivery::Now, ..Prompt::text(text) }
}

fn printed(transcript: &Transcript, text: &str) -> bool {
    transcript.items.iter().any(|item| matches!(item, Item::Call(call) if call.output.contains(text)))
}

#[tokio::test]
async fn a_running_command_is_stopped_and_the_model_reads_the_message_next() {
    let command = "echo $$ > pid; echo started; exec sleep 1000";
    let script =
        Script::new().turn(Turn::call("bash", json!({ "command": command }))).turn(Turn::text("as you wish"));
    let stage = Stage::with(Project::new(), script, Setup::mode(Mode::Free)).await;
    let mut run = stage.start("go").await;
    run.until(|transcript| printed(transcript, "started")).await;
    let turn = stage.service.prompt(&stage.session, now("not that")).await.unwrap();
    assert_eq!(turn, run.turn, "it joins the turn");
    let transcript = run.finish().await;
    assert_eq!(transcript.stop, Some((StopReason::EndTurn, None)), "the turn goes on");
    assert_eq!(transcript.answer(), "as you wish");
    assert_eq!(statuses(&transcript), [CallStatus::Interrupted]);
    let requests = stage.server.requests();
    let results = requests[1].tool_results();
    assert!(results[0].1.contains("started") && results[0].1.contains("because the user sent a message"));
    assert!(requests[1].last_user_text().ends_with("not that"));
    let pid = stage.project.read("pid").trim().to_owned();
    let alive = std::fs::read_to_string(format!("/proc/{pid}/stat")).is_ok_and(|stat| !stat.contains(") Z "));
    assert!(!alive);
}

#[tokio::test]
async fn an_answer_is_cut_and_kept_and_the_next_step_has_the_message() {
    let script = Script::new()
        .turn(Turn::text("so far").gate("never").and_text(" and more"))
        .turn(Turn::text("differently"));
    let stage = Stage::new(script).await;
    let mut run = stage.start("go").await;
    run.until(|transcript| transcript.answer() == "so far").await;
    stage.service.prompt(&stage.session, now("shorter")).await.unwrap();
    let transcript = run.finish().await;
    assert_eq!(transcript.answer(), "differently");
    stage.server.wait_for_disconnect().await;
    let entries = stage.entries().await;
    assert_eq!(
        kinds(&entries),
        [
            "user",
            "step_started",
            "queued",
            "part",
            "step_ended",
            "user",
            "step_started",
            "part",
            "step_ended",
            "turn_ended"
        ]
    );
    let finishes: Vec<&Finish> = entries
        .iter()
        .filter_map(|entry| match &entry.body {
            EntryBody::StepEnded { finish, .. } => Some(finish),
            _ => None,
        })
        .collect();
    assert_eq!(finishes, [&Finish::Interrupted, &Finish::Stop]);
    let said = &stage.server.requests()[1].said;
    assert!(
        said.iter().any(|said| matches!(said, Said::Assistant { text, .. } if text == "so far")),
        "{said:?}"
    );
}

#[tokio::test]
async fn a_question_that_waits_is_withdrawn_for_it() {
    let script =
        Script::new().turn(Turn::call("bash", json!({ "command": "touch made" }))).turn(Turn::text("fine"));
    let stage = Stage::with(Project::new(), script, Setup::interactive()).await;
    let mut run = stage.start("go").await;
    let ask = run.ask().await;
    stage.service.prompt(&stage.session, now("leave it")).await.unwrap();
    let transcript = run.finish().await;
    assert_eq!(statuses(&transcript), [CallStatus::NotRun]);
    assert_eq!(transcript.answer(), "fine");
    assert!(stage.server.requests()[1].tool_results()[0].1.contains("the user sent a message"));
    assert!(stage.project.files().is_empty());
    assert!(stage.reply(&ask, rein_protocol::Answer::Once).await.is_err(), "nobody waits for it any more");
}

#[tokio::test]
async fn without_a_turn_it_is_a_prompt() {
    let stage = Stage::new(Script::new().turn(Turn::text("here"))).await;
    let turn = stage.service.prompt(&stage.session, now("hello")).await.unwrap();
    assert_eq!(stage.watch(&turn).await.finish().await.answer(), "here");
    assert_eq!(stage.server.requests()[0].last_user_text(), "hello");
}

#[tokio::test]
async fn what_was_said_before_a_crash_is_there_after_it() {
    // The process dies when the message is durable and before anything else is: the third entry is the last.
    let script = Script::reply_with(|request| match request.last_user_text().ends_with("do not lose this") {
        true => Turn::text("heard"),
        false => Turn::text("never").gate("never"),
    });
    let stage = Stage::new(script).await;
    let mut run = stage.start("go").await;
    stage.server.wait_for_request(1).await;
    stage.service.prompt(&stage.session, now("do not lose this")).await.unwrap();
    run.until(|transcript| !transcript.queue.is_empty() || transcript.items.len() > 1).await;
    let entries = stage.entries().await;
    let queued = entries.iter().position(|entry| matches!(entry.body, EntryBody::Queued { .. })).unwrap();
    let stage = stage.killed_after(&entries[..=queued]).await;
    let mut run = stage.watch(&run.turn).await;
    stage.service.resume(&stage.session).await.unwrap();
    assert_eq!(run.finish().await.answer(), "heard");
    assert!(stage.server.requests().last().unwrap().last_user_text().ends_with("do not lose this"));
}
