//! What may be spent, as a face meets it.

use std::time::Duration;

use rein_engine::{Caps, DayCaps};
use rein_protocol::{EntryBody, EventBody, SessionState, StopReason};
use rein_testkit::{Project, Script, Turn};
use serde_json::json;

use crate::stage::{Run, Setup, Stage};

fn capped(caps: Caps) -> Setup {
    let mut setup = Setup::default();
    setup.settings.caps = caps;
    setup
}

fn tokens(tokens: u64) -> Caps {
    Caps { tokens: Some(tokens), ..Caps::default() }
}

fn notices(run: &Run) -> Vec<String> {
    let notice = |body: &EventBody| match body {
        EventBody::Notice { message } => Some(message.clone()),
        _ => None,
    };
    run.events.iter().filter_map(|event| notice(&event.body)).collect()
}

#[tokio::test]
async fn a_cap_holds_for_all_turns_of_a_run_and_is_warned_of_once() {
    let script = Script::always(Turn::text("one").usage(400, 0, 0));
    let stage = Stage::with(Project::new(), script, capped(tokens(1_000))).await;
    let (mut said, mut told) = (Vec::new(), Vec::new());
    for prompt in ["one", "two", "three", "four"] {
        let mut run = stage.start_live(prompt).await;
        said.push(run.finish().await.stop.unwrap().0);
        told.extend(notices(&run));
    }
    assert_eq!(told, ["80 % of the budget of this run is used: 800 of 1000 tokens"]);
    use StopReason::{Budget, EndTurn};
    assert_eq!(said, [EndTurn, EndTurn, EndTurn, Budget]);
    assert_eq!(stage.server.requests().len(), 3);
}

#[tokio::test]
async fn an_answer_that_nobody_counted_is_estimated_and_not_free() {
    let script = Script::new().turn(Turn::text("one").no_usage()).turn(Turn::text("two"));
    let stage = Stage::with(Project::new(), script, capped(tokens(100))).await;
    assert_eq!(stage.run("go").await.stop.unwrap().0, StopReason::EndTurn);
    let (stop, message) = stage.run("go").await.stop.unwrap();
    assert_eq!(stop, StopReason::Budget, "{message:?}");
    assert_eq!(stage.server.requests().len(), 1);
}

#[tokio::test]
async fn a_turn_that_is_gone_on_with_keeps_what_it_had_spent() {
    let script = Script::new()
        .turn(Turn::call("read", json!({"path": "a"})).usage(900, 100, 0))
        .turn(Turn::text("never asked"));
    let setup = capped(tokens(1_000));
    let stage = Stage::with(Project::new().file("a", "1"), script, setup).await;
    let mut run = stage.start("go").await;
    run.until(|transcript| transcript.usage.total() == 1_000).await;
    // The journal as a process leaves it that dies now.
    let entries = stage.entries().await;
    let place = entries.iter().position(|entry| matches!(entry.body, EntryBody::StepEnded { .. })).unwrap();
    run.finish().await;
    assert_eq!(stage.server.requests().len(), 1);
    let copy = Stage::with(Project::new().file("a", "1"), Script::new(), capped(tokens(1_000))).await;
    let bodies = entries[..=place].iter().map(|entry| entry.body.clone());
    let copy = copy.with_journal(bodies).await;
    let info = &copy.service.get(&copy.session).await.unwrap().info;
    assert!(matches!(info.state, SessionState::Broken { .. }), "{:?}", info.state);
    let turn = copy.service.resume(&copy.session).await.unwrap().unwrap();
    let transcript = copy.watch(&turn).await.finish().await;
    assert_eq!(transcript.stop.unwrap().0, StopReason::Budget);
    assert_eq!(copy.server.requests().len(), 0);
}

#[tokio::test]
async fn a_day_counts_every_session_of_the_store() {
    let day = DayCaps { tokens: Some(1_000), ..DayCaps::default() };
    let setup = capped(Caps { day, ..Caps::default() });
    let script = || Script::new().turn(Turn::text("one").usage(600, 0, 0));
    let stage = Stage::with(Project::new(), script(), setup).await;
    assert_eq!(stage.run("go").await.stop.unwrap().0, StopReason::EndTurn);
    let stage = stage.in_a_new_session(script()).await;
    assert_eq!(stage.run("go").await.stop.unwrap().0, StopReason::EndTurn);
    let stage = stage.in_a_new_session(script()).await;
    let (stop, message) = stage.run("go").await.stop.unwrap();
    assert_eq!(stop, StopReason::Budget);
    assert!(message.unwrap().contains("the budget of today is spent: 1200 of 1000 tokens"));
    assert_eq!(stage.server.requests().len(), 0);
}

#[tokio::test]
async fn time_that_is_over_withdraws_a_question_that_waits() {
    let script = Script::new().turn(Turn::call("write", json!({"path": "a.txt", "content": "x"})));
    let caps = Caps { time: Some(Duration::from_millis(1_500)), ..Caps::default() };
    let mut setup = capped(caps);
    setup.presence = rein_engine::Presence::Person;
    let stage = Stage::with(Project::new(), script, setup).await;
    let mut run = stage.start_live("go").await;
    run.ask().await;
    let transcript = run.finish().await;
    assert_eq!(transcript.stop.unwrap().0, StopReason::Budget);
    assert!(!stage.project.exists("a.txt"));
    assert_eq!(notices(&run), ["80 % of the budget of this run is used: 1s of 1s"]);
    // There is nothing left for another turn.
    assert_eq!(stage.run("again").await.stop.unwrap().0, StopReason::Budget);
}
