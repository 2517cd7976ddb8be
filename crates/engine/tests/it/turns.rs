//! The loop: prompts, steps, queues and how turns end.

use rein_protocol::{Cost, Delivery, Prompt, ServiceError, SessionState, StopReason, Usage};
use rein_testkit::{Project, Script, Turn};
use serde_json::json;

use crate::stage::{Setup, Stage, kinds};

#[tokio::test]
async fn a_plain_answer_is_one_step() {
    let stage = Stage::new(Script::new().turn(Turn::text("Hello there").usage(12, 3, 4))).await;
    let transcript = stage.run("hi").await;
    assert_eq!(transcript.answer(), "Hello there");
    assert_eq!(transcript.stop, Some((StopReason::EndTurn, None)));
    assert_eq!(transcript.usage, Usage { input: 8, output: 3, cache_read: 4, ..Usage::default() });
    assert_eq!(kinds(&stage.entries().await), ["user", "step_started", "part", "step_ended", "turn_ended"]);
    stage.server.assert_done();
}

#[tokio::test]
async fn calls_are_run_and_their_results_are_sent_back_in_order() {
    let project = Project::new().file("a.txt", "alpha\n").file("b.txt", "beta\n");
    let script = Script::new()
        .turn(
            Turn::call("read", json!({"path": "a.txt"}))
                .and_call("read", json!({"path": "b.txt"}))
                .interleaved(),
        )
        .turn(Turn::text("done"));
    let stage = Stage::with(project, script, Setup::default()).await;
    assert_eq!(stage.run("read both").await.answer(), "done");
    let requests = stage.server.requests();
    let results = requests[1].tool_results();
    assert!(results[0].1.contains("alpha") && results[1].1.contains("beta"), "{results:?}");
    stage.server.assert_done();
}

#[tokio::test]
async fn a_stop_with_calls_pending_still_runs_them_and_goes_round_again() {
    let project = Project::new().file("a.txt", "alpha\n");
    let script = Script::new()
        .turn(Turn::call("read", json!({"path": "a.txt"})).finish("stop"))
        .turn(Turn::text("done"));
    let stage = Stage::with(project, script, Setup::default()).await;
    assert_eq!(stage.run("go").await.answer(), "done");
    stage.server.assert_done();
}

#[tokio::test]
async fn the_first_request_holds_prompt_tools_and_workspace_and_is_small() {
    let stage = Stage::new(Script::new().turn(Turn::text("ok"))).await;
    stage.run("what is this?").await;
    let request = &stage.server.requests()[0];
    assert_eq!(request.last_user_text(), "what is this?");
    assert!(request.system_text().contains(&stage.project.path().display().to_string()));
    let tools: Vec<&str> = request.body["tools"]
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["function"]["name"].as_str().unwrap())
        .collect();
    let core = ["read", "write", "edit", "bash", "job", "glob", "grep", "list", "todo", "ask"];
    assert_eq!(tools[..core.len()], core);
    assert!(request.raw.len() <= 10_000, "the first request has {} bytes", request.raw.len());
}

#[tokio::test]
async fn every_request_begins_with_the_one_before() {
    let project = Project::new().file("a.txt", "alpha\n");
    let read = || Turn::call("read", json!({"path": "a.txt"})).and_text("hm");
    let script = Script::new()
        .turn(read())
        .turn(Turn::call("glob", json!({"pattern": "*"})))
        .turn(Turn::text("one"))
        .turn(Turn::text("two"));
    let stage = Stage::with(project, script, Setup::default()).await;
    stage.run("first").await;
    stage.run("second").await;
    let requests = stage.server.requests();
    for pair in requests.windows(2) {
        let (before, after) =
            (pair[0].body["messages"].as_array().unwrap(), pair[1].body["messages"].as_array().unwrap());
        assert_eq!(before[..], after[..before.len()]);
        assert_eq!(pair[0].body["tools"], pair[1].body["tools"]);
    }
}

#[tokio::test]
async fn the_cap_on_steps_ends_the_turn_gracefully() {
    let project = Project::new().file("a.txt", "alpha\n").file("b.txt", "beta\n").file("c.txt", "c\n");
    let read = |path: &str| Turn::call("read", json!({ "path": path }));
    let script = Script::new().turn(read("a.txt")).turn(read("b.txt")).turn(read("c.txt"));
    let mut setup = Setup::default();
    setup.settings.max_steps = 2;
    let stage = Stage::with(project, script, setup).await;
    let (stop, message) = stage.run("read all").await.stop.unwrap();
    assert_eq!(stop, StopReason::MaxSteps);
    assert!(message.unwrap().contains("--max-steps"));
    assert_eq!(stage.server.requests().len(), 2);
    let transcript = stage.transcript().await;
    assert_eq!(transcript.open_calls().count(), 0, "the calls of the last step have their results");
}

#[tokio::test]
async fn a_cut_answer_and_a_refusal_are_named() {
    let script = Script::new()
        .turn(Turn::text("very lo").finish("length"))
        .turn(Turn::text("no").finish("content_filter"));
    let stage = Stage::new(script).await;
    assert_eq!(stage.run("go").await.stop.unwrap().0, StopReason::Length);
    assert_eq!(stage.run("go").await.stop.unwrap().0, StopReason::Refusal);
}

#[tokio::test]
async fn an_empty_answer_ends_the_turn_and_says_so() {
    let stage = Stage::new(Script::new().turn(Turn::empty())).await;
    let (stop, message) = stage.run("go").await.stop.unwrap();
    assert_eq!(stop, StopReason::EndTurn);
    assert!(message.unwrap().contains("empty"));
}

#[tokio::test]
async fn a_steering_message_reaches_the_next_step_of_the_same_turn() {
    let project = Project::new().file("a.txt", "alpha\n");
    let script = Script::new()
        .turn(Turn::text("look").gate("steer").and_call("read", json!({"path": "a.txt"})))
        .turn(Turn::text("done"));
    let stage = Stage::with(project, script, Setup::default()).await;
    let mut run = stage.start("go").await;
    stage.server.wait_for_gate("steer").await;
    let steer = Prompt { delivery: Delivery::Steer, ..Prompt::text("only the first line") };
    let turn = stage.service.prompt(&stage.session, steer).await.unwrap();
    assert_eq!(turn, run.turn);
    stage.server.open_gate("steer");
    assert_eq!(run.finish().await.answer(), "done");
    let requests = stage.server.requests();
    assert!(requests[1].contains("only the first line"));
    let messages = requests[1].body["messages"].as_array().unwrap();
    assert_eq!(messages.last().unwrap()["role"], "user", "it comes after the result of the call");
}

#[tokio::test]
async fn a_steering_message_that_comes_with_the_last_words_prolongs_the_turn() {
    let script =
        Script::new().turn(Turn::text("do").gate("steer").and_text("ne")).turn(Turn::text("that too"));
    let stage = Stage::new(script).await;
    let mut run = stage.start("go").await;
    stage.server.wait_for_gate("steer").await;
    let steer = Prompt { delivery: Delivery::Steer, ..Prompt::text("and that") };
    stage.service.prompt(&stage.session, steer).await.unwrap();
    stage.server.open_gate("steer");
    assert_eq!(run.finish().await.answer(), "that too");
}

#[tokio::test]
async fn follow_ups_get_turns_of_their_own_in_their_order() {
    let script = Script::new()
        .turn(Turn::text("o").gate("later").and_text("ne"))
        .turn(Turn::text("two"))
        .turn(Turn::text("three"));
    let stage = Stage::new(script).await;
    let mut run = stage.start("first").await;
    stage.server.wait_for_gate("later").await;
    let mut turns = vec![run.turn.clone()];
    for text in ["second", "third"] {
        let prompt = Prompt { delivery: Delivery::FollowUp, ..Prompt::text(text) };
        turns.push(stage.service.prompt(&stage.session, prompt).await.unwrap());
    }
    stage.server.open_gate("later");
    for turn in &turns {
        run.follow_to_end_of(turn).await;
    }
    let said: Vec<String> =
        stage.server.requests().iter().map(|request| request.last_user_text().to_owned()).collect();
    assert_eq!(said, ["first", "second", "third"]);
}

#[tokio::test]
async fn an_empty_prompt_and_an_unknown_session_are_errors_that_change_nothing() {
    let stage = Stage::new(Script::new()).await;
    let empty = Prompt { content: vec![], delivery: Delivery::Prompt };
    assert!(stage.service.prompt(&stage.session, empty).await.is_err());
    let nobody = rein_protocol::SessionId::new();
    assert!(stage.service.prompt(&nobody, Prompt::text("x")).await.is_err());
    assert!(stage.service.get(&nobody).await.is_err());
    assert_eq!(stage.entries().await, []);
}

#[tokio::test]
async fn the_price_of_a_model_without_prices_is_unknown() {
    let stage = Stage::new(Script::new().turn(Turn::text("ok"))).await;
    assert_eq!(stage.run("hi").await.cost, Cost::Unknown);
    let snapshot = stage.service.get(&stage.session).await.unwrap();
    assert_eq!((snapshot.cost, snapshot.info.state), (Cost::Unknown, SessionState::Idle));
    assert_eq!(snapshot.info.title, "hi");
}

#[tokio::test]
async fn a_message_that_waits_can_be_changed_and_taken_back() {
    let script = Script::new()
        .turn(Turn::text("o").gate("go").and_text("ne"))
        .turn(Turn::text("two"))
        .turn(Turn::text("never"));
    let stage = Stage::new(script).await;
    let mut run = stage.start("first").await;
    stage.server.wait_for_gate("go").await;
    for text in ["wrong", "unwanted"] {
        let follow_up = Prompt { delivery: Delivery::FollowUp, ..Prompt::text(text) };
        stage.service.prompt(&stage.session, follow_up).await.unwrap();
    }
    let queue = stage.transcript().await.queue;
    let right = Some(vec![rein_protocol::Content::text("right")]);
    stage.service.requeue(&stage.session, &queue[0].entry, right).await.unwrap();
    stage.service.requeue(&stage.session, &queue[1].entry, None).await.unwrap();
    let gone = stage.service.requeue(&stage.session, &queue[1].entry, None).await;
    assert_eq!(gone, Err(ServiceError::NotQueued { queued: queue[1].entry.clone() }));
    stage.server.open_gate("go");
    run.finish().await;
    let transcript = run.follow_to_end_of(&queue[0].turn).await;
    assert_eq!((transcript.answer().as_str(), transcript.queue.len()), ("two", 0));
    let requests = stage.server.requests();
    assert_eq!(requests[1].last_user_text(), "right");
    assert!(!requests[1].contains("unwanted"));
    assert_eq!(stage.service.get(&stage.session).await.unwrap().info.state, SessionState::Idle);
    assert_eq!(requests.len(), 2);
}
