//! Asks and questions: what is shown, and which keys answer.

use std::time::Duration;

use crossterm::event::KeyCode;
use rein_protocol::{
    Answer, Block, Choice, Display, EntryBody, Grant, Question, Reply, Said, Scope, Selection,
};
use rein_testkit::{Act, FakeCall, FakeService};
use rein_tui::model::{Effect, Focus, Message};
use serde_json::json;

use crate::stage::Stage;

const GUARD: Duration = Duration::from_millis(300);

fn command() -> FakeCall {
    let display = Display::titled("$ cd build && rm -rf cache && make").with_block(Block::Command {
        command: "cd build && rm -rf cache && make".into(),
        cwd: "/project".into(),
    });
    FakeCall::new("bash", json!({"command": "rm -rf cache"}))
        .display(display)
        .asks("bash", "rm -rf cache")
        .offers("bash", "rm -rf *")
}

async fn asked(service: FakeService) -> Stage {
    let mut stage = Stage::open(service, 60, 16).await;
    stage.say("clean up").await;
    stage.until("may this run?").await;
    stage
}

#[tokio::test]
async fn an_ask_shows_what_why_and_keys() {
    let mut stage = asked(FakeService::new().on_prompt([Act::call(command())])).await;
    stage.later(GUARD).await;
    insta::assert_snapshot!(stage.shown());
    stage.press(KeyCode::Char('y')).await;
    stage.until_idle().await;
    assert_eq!(
        stage.service.replies().into_iter().map(|reply| reply.answer).collect::<Vec<_>>(),
        [Answer::Once]
    );
}

#[tokio::test]
async fn keys_in_flight_go_to_the_editor_not_to_the_ask() {
    let mut stage = asked(FakeService::new().on_prompt([Act::call(command())])).await;
    stage.write("yes, any").await;
    assert_eq!(stage.model.written(), "yes, any");
    stage.later(GUARD / 2).await;
    stage.write("n").await;
    stage.later(GUARD / 2).await;
    stage.write("y").await;
    assert_eq!(
        (stage.model.written().as_str(), stage.service.replies()),
        ("yes, anyny", Vec::<Reply>::new())
    );
    stage.later(GUARD).await;
    stage.press(KeyCode::Char('n')).await;
    assert_eq!(stage.service.replies()[0].answer, Answer::Reject { message: None });
    assert_eq!(stage.model.written(), "yes, anyny");
}

#[tokio::test]
async fn always_shows_and_changes_pattern_and_scope() {
    let mut stage = asked(FakeService::new().on_prompt([Act::call(command())])).await;
    stage.later(GUARD).await;
    stage.press(KeyCode::Char('a')).await;
    insta::assert_snapshot!(stage.shown());
    stage.press(KeyCode::Backspace).await;
    stage.write("cache").await;
    stage.press(KeyCode::Tab).await;
    stage.press(KeyCode::Enter).await;
    let grants = Some(vec![Grant { permission: "bash".into(), pattern: "rm -rf cache".into() }]);
    assert_eq!(stage.service.replies()[0].answer, Answer::Always { grants, scope: Scope::Project });
}

#[tokio::test]
async fn several_asks_wait_their_turn_and_a_second_key_does_not_answer_the_second() {
    let mut stage = asked(FakeService::new().on_prompt([Act::calls([command(), command()])])).await;
    stage.until("(1 of 2)").await;
    stage.later(GUARD).await;
    stage.press(KeyCode::Char('y')).await;
    stage.press(KeyCode::Char('y')).await;
    assert_eq!((stage.service.replies().len(), stage.model.written().as_str()), (1, ""));
    stage.later(GUARD).await;
    stage.press(KeyCode::Char('y')).await;
    assert_eq!(stage.service.replies().len(), 2);
    stage.until_idle().await;
    assert!(!stage.shown().contains("may this run?"), "{}", stage.shown());
}

#[tokio::test]
async fn an_edit_is_asked_for_with_its_diff() {
    let lines: String = (1..=40).map(|number| format!("+line {number}\n")).collect();
    let display = Display::titled("write notes.txt").with_block(Block::Diff {
        path: "notes.txt".into(),
        unified: format!("@@ -0,0 +1,40 @@\n{lines}"),
        added: 40,
        removed: 0,
    });
    let call = FakeCall::new("write", json!({})).display(display).asks("edit", "notes.txt");
    let mut stage = asked(FakeService::new().on_prompt([Act::call(call)])).await;
    stage.later(GUARD).await;
    stage.press(KeyCode::PageDown).await;
    insta::assert_snapshot!(stage.shown());
}

#[tokio::test]
async fn somebody_who_looks_elsewhere_is_called() {
    let service = FakeService::new().on_prompt([Act::call(command())]);
    let mut stage = Stage::open(service, 60, 16).await;
    stage.take(Message::Focus(Focus::Elsewhere)).await;
    stage.say("clean up").await;
    stage.until("may this run?").await;
    let call = Effect::Notify("rein asks: $ cd build && rm -rf cache && make".into());
    assert!(stage.effects.contains(&call), "{:?}", stage.effects);
}

#[tokio::test]
async fn a_question_is_answered_by_choice_or_in_words() {
    let choice = |label: &str, about: &str| Choice { label: label.into(), description: Some(about.into()) };
    let question = Question {
        text: "Which database?".into(),
        choices: vec![choice("SQLite", "one file"), choice("Postgres", "a server")],
        selection: Selection::One,
        timeout: None,
    };
    let call = FakeCall::new("ask", json!({})).display(Display::titled("ask Which database?"));
    let ask = rein_protocol::Ask {
        id: rein_protocol::AskId::new(),
        session: rein_protocol::SessionId::new(),
        turn: rein_protocol::TurnId::new(),
        call: call.id().clone(),
        items: Vec::new(),
        always: Vec::new(),
        display: Display::titled("ask Which database?"),
        question: Some(question),
    };
    let service = FakeService::new().on_prompt([Act::from(EntryBody::Asked { ask })]);
    let mut stage = Stage::open(service, 60, 16).await;
    stage.say("set it up").await;
    stage.until("Which database?").await;
    stage.later(GUARD).await;
    stage.press(KeyCode::Down).await;
    insta::assert_snapshot!(stage.shown());
    stage.press(KeyCode::Enter).await;
    let said = Said { chosen: vec!["Postgres".into()], text: None };
    assert_eq!(stage.service.replies()[0].answer, Answer::Said { said });
}

#[tokio::test]
async fn an_ask_fits_a_small_terminal() {
    let mut stage = Stage::open(FakeService::new().on_prompt([Act::call(command())]), 20, 6).await;
    stage.say("clean").await;
    stage.until("may this").await;
    stage.later(GUARD).await;
    insta::assert_snapshot!(stage.shown());
}

#[tokio::test]
async fn a_plan_is_shown_whole_before_it_is_approved() {
    let plan = "# The plan\n\n1. Read `src/lib.rs`\n2. Fix **add**\n\n```rust\na + b\n```\n\u{1b}[2J";
    let call = FakeCall::new("plan", json!({})).display(Display::titled("plan"));
    let choice = |label: &str, about: &str| Choice { label: label.into(), description: Some(about.into()) };
    let ask = rein_protocol::Ask {
        id: rein_protocol::AskId::new(),
        session: rein_protocol::SessionId::new(),
        turn: rein_protocol::TurnId::new(),
        call: call.id().clone(),
        // Not shown: what it would say is the question.
        items: vec![rein_protocol::AskItem {
            permission: "question".into(),
            pattern: "Go ahead with this plan?".into(),
            reason: "the model asks you".into(),
        }],
        always: Vec::new(),
        display: Display::titled("plan").with_block(Block::Text { text: plan.into() }),
        question: Some(Question {
            text: "Go ahead with this plan?".into(),
            choices: vec![
                choice("Yes", "edits ask"),
                choice("Yes, and edit", "edits run"),
                choice("No", "go on planning"),
            ],
            selection: Selection::One,
            timeout: None,
        }),
    };
    let service = FakeService::new().on_prompt([Act::from(EntryBody::Asked { ask })]);
    let mut stage = Stage::open(service, 60, 20).await;
    stage.say("plan it").await;
    stage.until("Go ahead").await;
    stage.later(GUARD).await;
    insta::assert_snapshot!(stage.shown());
    stage.press(KeyCode::Char('2')).await;
    let said = Said { chosen: vec!["Yes, and edit".into()], text: None };
    assert!(
        matches!(stage.effects.last(), Some(Effect::Reply(Reply { answer: Answer::Said { said: this }, .. })) if *this == said)
    );
}

#[tokio::test]
async fn reasons_that_do_not_fit_are_seen_with_the_rest() {
    let command = format!("make all # {}", "words ".repeat(20));
    let display = Display::titled(format!("$ {command}"))
        .with_block(Block::Command { command: command.clone(), cwd: "/project".into() });
    let mut call = FakeCall::new("bash", json!({"command": command})).display(display);
    for number in 1..=9 {
        call = call.asks("bash", format!("part {number}"));
    }
    let call = call.asks("bash", command.trim());
    let mut stage = asked(FakeService::new().on_prompt([Act::call(call)])).await;
    stage.later(GUARD).await;
    assert!(!stage.shown().contains("bash make all"), "{}", stage.shown());
    for _ in 0..20 {
        stage.press(KeyCode::Down).await;
    }
    let shown = stage.shown();
    // The command is above in full: here it leaves room for why it asks.
    assert!(shown.contains("  ! bash make all # words words words words word…: the"), "{shown}");
    stage.press(KeyCode::Up).await;
    assert_ne!(stage.shown(), shown, "the first key back moves");
}
