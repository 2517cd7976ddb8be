//! A model that goes in circles, and one that only seems to.

use rein_protocol::{Answer, CallStatus, Mode, StopReason};
use rein_testkit::{Project, Script, Turn};
use serde_json::json;

use crate::stage::{Setup, Stage, statuses};

#[tokio::test]
async fn a_call_that_is_wrong_in_the_same_way_three_times_ends_the_turn() {
    let wrong = [
        Turn::call("read", json!({"path": "missing.txt"})),
        Turn::call("no_such_tool", json!({})),
        Turn::call_text("read", "{\"path\": "),
    ];
    for turn in wrong {
        let mut setup = Setup::default();
        setup.settings.max_steps = 10;
        let stage = Stage::with(Project::new(), Script::always(turn), setup).await;
        let transcript = stage.run("go").await;
        assert_eq!(transcript.stop.as_ref().unwrap().0, StopReason::DoomLoop);
        assert_eq!(stage.server.requests().len(), 3);
    }
}

#[tokio::test]
async fn a_call_that_is_refused_three_times_ends_the_turn() {
    let mut setup = Setup::default();
    setup.settings.max_steps = 10;
    let turn = Turn::call("bash", json!({"command": "make"}));
    let stage = Stage::with(Project::new(), Script::always(turn), setup).await;
    let transcript = stage.run("go").await;
    assert_eq!(transcript.stop.as_ref().unwrap().0, StopReason::DoomLoop);
    assert_eq!(statuses(&transcript), [CallStatus::Refused; 3]);
}

#[tokio::test]
async fn a_person_can_say_what_to_do_instead_of_a_wrong_call_that_is_repeated() {
    let wrong = Turn::call("edit", json!({"path": "missing.txt", "old": "a", "new": "b"}));
    let script = Script::new().repeat(3, wrong).turn(Turn::text("I see"));
    let stage = Stage::with(Project::new(), script, Setup::interactive()).await;
    let mut run = stage.start("go").await;
    let ask = run.ask().await;
    assert_eq!(ask.items[0].permission, "doom_loop");
    let message = Some("it is called a.txt".to_owned());
    stage.reply(&ask, Answer::Reject { message }).await.unwrap();
    assert_eq!(run.finish().await.answer(), "I see");
    assert!(stage.server.requests()[3].contains("it is called a.txt"));
}

#[tokio::test]
async fn different_calls_that_are_refused_are_not_a_loop() {
    let write = |path: &str| Turn::call("write", json!({"path": path, "content": "x"}));
    let script = Script::new().turns(["a", "b", "c", "d", "e"].map(write)).turn(Turn::text("the plan"));
    let stage = Stage::with(Project::new(), script, Setup::mode(Mode::Plan)).await;
    assert_eq!(stage.run("go").await.answer(), "the plan");
}

#[tokio::test]
async fn searches_that_find_nothing_are_not_a_loop() {
    let search = |word: &str| Turn::call("bash", json!({"command": format!("grep -rn {word} .")}));
    let script =
        Script::new().turns(["one", "two", "three", "four", "five"].map(search)).turn(Turn::text("none"));
    let stage = Stage::with(Project::new(), script, Setup::mode(Mode::Free)).await;
    assert_eq!(stage.run("go").await.answer(), "none");
}
