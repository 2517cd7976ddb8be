//! A model that goes in circles.

use rein_protocol::{Answer, CallStatus, StopReason};
use rein_testkit::{Project, Script, Turn};
use serde_json::json;

use crate::stage::{Setup, Stage, statuses};

fn again() -> Turn {
    Turn::call("read", json!({"path": "a.txt"}))
}

fn project() -> Project {
    Project::new().file("a.txt", "alpha\n")
}

#[tokio::test]
async fn without_anybody_to_ask_the_third_identical_call_ends_the_turn() {
    let stage = Stage::with(project(), Script::new().repeat(3, again()), Setup::default()).await;
    let transcript = stage.run("go").await;
    assert_eq!(transcript.stop.as_ref().unwrap().0, StopReason::DoomLoop);
    assert_eq!(statuses(&transcript), [CallStatus::Completed, CallStatus::Completed, CallStatus::Refused]);
    stage.server.assert_done();
}

#[tokio::test]
async fn a_person_can_let_it_go_on() {
    let script = Script::new().repeat(3, again()).turn(Turn::text("done"));
    let stage = Stage::with(project(), script, Setup::interactive()).await;
    let mut run = stage.start("go").await;
    let ask = run.ask().await;
    assert_eq!((ask.items[0].permission.as_str(), ask.items[0].pattern.as_str()), ("doom_loop", "read"));
    stage.reply(&ask, Answer::Once).await.unwrap();
    let transcript = run.finish().await;
    assert_eq!(transcript.answer(), "done");
    assert_eq!(statuses(&transcript), [CallStatus::Completed; 3]);
}
