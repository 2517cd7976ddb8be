//! Model servers that fail.

use rein_protocol::{CallStatus, StopReason};
use rein_testkit::{Project, Script, Turn};
use serde_json::json;

use crate::stage::{Setup, Stage, statuses};

#[tokio::test]
async fn a_busy_server_is_tried_again_and_the_faces_are_told() {
    let script = Script::new()
        .turn(Turn::error(429, "slow down").header("retry-after-ms", "1"))
        .turn(Turn::error(529, "overloaded"))
        .turn(Turn::text("here"));
    let stage = Stage::new(script).await;
    let mut run = stage.start("go").await;
    assert_eq!(run.finish().await.answer(), "here");
    let attempts: Vec<u32> = run.retries.iter().map(|(attempt, _)| *attempt).collect();
    assert_eq!(attempts, [2, 3]);
    assert!(run.retries[0].1.contains("slow down"));
}

#[tokio::test]
async fn a_server_that_stays_busy_ends_the_turn_with_its_words() {
    let script = Script::always(Turn::error(500, "the cluster is on fire"));
    let stage = Stage::new(script).await;
    let (stop, message) = stage.run("go").await.stop.unwrap();
    assert_eq!(stop, StopReason::ModelError);
    assert!(message.unwrap().contains("the cluster is on fire"));
    assert_eq!(stage.server.requests().len(), 3, "as often as the settings say");
}

#[tokio::test]
async fn what_cannot_get_better_is_not_tried_again() {
    for status in [400, 401, 403, 413] {
        let stage = Stage::new(Script::always(Turn::error(status, "no"))).await;
        let (stop, message) = stage.run("go").await.stop.unwrap();
        assert_eq!(stop, StopReason::ModelError, "{status}");
        assert!(message.unwrap().contains("no"), "{status}");
        assert_eq!(stage.server.requests().len(), 1, "{status}");
    }
}

#[tokio::test]
async fn an_answer_that_is_cut_is_kept_and_gone_on_with() {
    let script = Script::new()
        .turn(Turn::text("the first half").no_finish().no_done())
        .turn(Turn::text("the second half"));
    let stage = Stage::new(script).await;
    let transcript = stage.run("go").await;
    assert_eq!(transcript.stop.as_ref().unwrap().0, StopReason::EndTurn);
    assert!(stage.server.requests()[1].contains("the first half"));
    assert_eq!(transcript.answer(), "the first halfthe second half");
}

#[tokio::test]
async fn a_call_that_came_whole_before_the_cut_is_run_once() {
    let project = Project::new().file("a.txt", "alpha\n");
    let script = Script::new()
        .turn(Turn::call("read", json!({"path": "a.txt"})).and_text("and").no_finish().no_done())
        .turn(Turn::text("done"));
    let stage = Stage::with(project, script, Setup::default()).await;
    let transcript = stage.run("go").await;
    assert_eq!(statuses(&transcript), [CallStatus::Completed]);
    assert!(stage.server.requests()[1].tool_results()[0].1.contains("alpha"));
}

#[tokio::test]
async fn garbage_in_the_stream_is_an_error_that_shows_it() {
    let script = Script::always(Turn::text("x").garbage("{not json"));
    let stage = Stage::new(script).await;
    let (stop, message) = stage.run("go").await.stop.unwrap();
    assert_eq!(stop, StopReason::ModelError);
    assert!(message.unwrap().contains("{not json"));
}

#[tokio::test]
async fn any_split_of_the_bytes_gives_the_same_answer() {
    for size in [1, 2, 3, 7, 64] {
        let project = Project::new().file("ü.txt", "größe\n");
        let script = Script::new()
            .turn(Turn::text("Grüße ✓ ").and_call("read", json!({"path": "ü.txt"})).split_every(size))
            .turn(Turn::text("fertig ✓").split_every(size).crlf().comments());
        let stage = Stage::with(project, script, Setup::default()).await;
        let transcript = stage.run("go").await;
        assert_eq!(transcript.answer(), "fertig ✓", "split every {size}");
        assert_eq!(statuses(&transcript), [CallStatus::Completed], "split every {size}");
    }
}
