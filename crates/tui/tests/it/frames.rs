//! What the terminal shows, as text, for every kind of thing that happens.

use std::time::Duration;

use crossterm::event::{KeyCode, KeyModifiers};
use rein_protocol::{Block, Delivery, Display, EventBody, OpenSession, TodoId, TodoItem, TodoState, TurnId};
use rein_testkit::{Act, FakeCall, FakeService, FakeSession};
use serde_json::json;

use crate::stage::Stage;

const DIFF: &str = "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1,4 +1,4 @@\n fn add(a: i32, b: i32) -> i32 {\n-    a - b\n+    a + b\n }\n \n";

fn edit() -> FakeCall {
    let display = Display::titled("edit src/lib.rs").with_summary("+1 -1").with_block(Block::Diff {
        path: "src/lib.rs".into(),
        unified: DIFF.into(),
        added: 1,
        removed: 1,
    });
    FakeCall::new("edit", json!({"path": "src/lib.rs"})).display(display)
}

fn read(path: &str) -> FakeCall {
    let display = Display::titled(format!("read {path}")).with_summary("12 lines");
    FakeCall::new("read", json!({"path": path})).display(display)
}

#[tokio::test]
async fn a_turn_with_looks_an_edit_and_an_answer() {
    let service = FakeService::new().on_prompt([
        Act::think_and_say("The sign is wrong in add. I should look first.", "I'll look at it first."),
        Act::calls([read("src/lib.rs"), read("src/main.rs")]),
        Act::call(edit()),
        Act::say("Fixed:\n\n- `add` adds\n- nothing else changed\n"),
    ]);
    let mut stage = Stage::open(service, 60, 30).await;
    stage.say("fix the sum").await;
    stage.until_idle().await;
    insta::assert_snapshot!(stage.shown());
}

#[tokio::test]
async fn a_small_terminal_shows_what_matters() {
    let service = FakeService::new().on_prompt([Act::call(edit()), Act::say("Fixed.")]);
    let mut stage = Stage::open(service, 20, 6).await;
    stage.say("fix the sum, please").await;
    stage.until_idle().await;
    insta::assert_snapshot!(stage.shown());
}

#[tokio::test]
async fn a_running_command_shows_its_last_lines() {
    let printed: String = (1..=9).map(|number| format!("\u{1b}[32mtest {number} ok\u{1b}[0m\n")).collect();
    let call = FakeCall::new("bash", json!({"command": "cargo test"}))
        .display(Display::titled("$ cargo test"))
        .prints(printed)
        .holds("gate");
    let service = FakeService::new().on_prompt([Act::call(call)]);
    let mut stage = Stage::open(service, 60, 16).await;
    stage.say("run the tests").await;
    stage.until("test 9 ok").await;
    stage.later(Duration::from_secs(3)).await;
    stage.write("and then?").await;
    stage.press_with(KeyCode::Enter, KeyModifiers::ALT).await;
    stage.until("after this").await;
    insta::assert_snapshot!(stage.shown());
    assert_eq!(stage.service.prompts()[1].delivery, Delivery::FollowUp);
}

#[tokio::test]
async fn a_failed_call_shows_the_end_of_what_it_said() {
    let call = FakeCall::new("bash", json!({"command": "make"}))
        .display(Display::titled("$ make"))
        .result_display(Display::titled("$ make").with_summary("exit 2"))
        .fails("one\ntwo\nthree\nfour\nfive\nmake: *** [all] Error 2\n");
    let service = FakeService::new().on_prompt([Act::call(call), Act::say("It failed.")]);
    let mut stage = Stage::open(service, 60, 18).await;
    stage.say("make it").await;
    stage.until_idle().await;
    insta::assert_snapshot!(stage.shown());
}

#[tokio::test]
async fn what_is_to_be_done_is_shown_while_it_is_being_done() {
    let item =
        |id: u32, text: &str, state| TodoItem { id: TodoId(id), text: text.into(), state, phase: None };
    let display = Display::titled("todo").with_summary("1 of 3").with_block(Block::Todo {
        items: vec![
            item(1, "read the code", TodoState::Done),
            item(2, "fix the bug", TodoState::Active),
            item(3, "write a test", TodoState::Pending),
        ],
    });
    let call = FakeCall::new("todo", json!({})).display(display);
    let service = FakeService::new().on_prompt([Act::call(call), Act::hold("gate")]);
    let mut stage = Stage::open(service, 50, 20).await;
    stage.say("do three things").await;
    stage.until("to do").await;
    insta::assert_snapshot!(stage.shown());
}

#[tokio::test]
async fn a_retry_counts_down_and_an_error_has_a_hint() {
    let retrying = EventBody::Retrying {
        turn: TurnId::new(),
        attempt: 2,
        delay_ms: 5_000,
        error: "529 overloaded".into(),
    };
    let service = FakeService::new().on_prompt([
        Act::from(retrying),
        Act::hold("gate"),
        Act::fail("529 overloaded: the provider is busy"),
    ]);
    let mut stage = Stage::open(service, 60, 14).await;
    stage.say("hello").await;
    stage.until("try 2 in 5 s").await;
    stage.later(Duration::from_secs(2)).await;
    assert!(stage.shown().contains("try 2 in 3 s: 529 overloaded"), "{}", stage.shown());
    stage.service.open_gate("gate");
    stage.until_idle().await;
    insta::assert_snapshot!(stage.shown());
}

#[tokio::test]
async fn a_session_that_goes_on_shows_its_end() {
    let session = FakeSession::new()
        .turn("what is this?", [Act::say("A parser.")])
        .turn("and that?", [Act::call(read("src/that.rs")), Act::say("A lexer.")]);
    let open = OpenSession { session: Some(session.id()), ..OpenSession::default() };
    let service = FakeService::new().session(session);
    let stage = Stage::open_session(service, open, 60, 20).await;
    insta::assert_snapshot!(stage.shown());
}

#[tokio::test]
async fn hostile_text_reaches_no_terminal() {
    let hostile = "\u{1b}]0;owned\u{7}\u{1b}[2J\u{1b}[1;1Hgone\u{9b}5A";
    let call = FakeCall::new("bash", json!({}))
        .display(Display::titled(format!("$ echo {hostile}")).with_summary(hostile))
        .prints(hostile)
        .fails(hostile);
    let service = FakeService::new().on_prompt([
        Act::think_and_say(format!("thinking {hostile}"), format!("saying {hostile} `{hostile}`")),
        Act::call(call),
        Act::fail(hostile),
    ]);
    let mut stage = Stage::open(service, 60, 30).await;
    stage.say("go").await;
    stage.until_idle().await;
    let shown = stage.shown();
    assert!(shown.starts_with("rein "), "the beginning of the screen is still there:\n{shown}");
    assert!(shown.contains("› go"), "{shown}");
}

#[tokio::test]
async fn help_covers_the_screen_and_leaves_no_trace() {
    let mut stage = Stage::open(FakeService::new(), 70, 20).await;
    let before = stage.shown();
    stage.press(KeyCode::Char('?')).await;
    assert!(stage.is_covered());
    insta::assert_snapshot!(stage.shown());
    stage.press(KeyCode::Esc).await;
    assert!(!stage.is_covered());
    assert_eq!(stage.shown(), before);
}

#[tokio::test]
async fn commands_are_hinted_completed_and_corrected() {
    let mut stage = Stage::open(FakeService::new(), 60, 16).await;
    stage.write("/mo").await;
    insta::assert_snapshot!("hints", stage.shown());
    stage.press(KeyCode::Down).await;
    stage.press(KeyCode::Tab).await;
    stage.write("plan").await;
    stage.press(KeyCode::Enter).await;
    stage.until("plan · ").await;
    stage.say("/hepl").await;
    assert!(stage.shown().contains("did you mean /help?"), "{}", stage.shown());
}

#[tokio::test]
async fn the_transcript_can_be_read_and_searched() {
    let service =
        FakeService::new().on_prompt([Act::say("first needle here"), Act::call(edit()), Act::say("done")]);
    let mut stage = Stage::open(service, 50, 10).await;
    stage.say("go").await;
    stage.until_idle().await;
    stage.press_with(KeyCode::Char('o'), KeyModifiers::CONTROL).await;
    assert!(stage.is_covered());
    stage.write("/needle").await;
    stage.press(KeyCode::Enter).await;
    insta::assert_snapshot!(stage.shown());
    stage.press(KeyCode::Char('q')).await;
    assert!(!stage.is_covered());
}

#[tokio::test]
async fn sessions_can_be_chosen() {
    let session =
        FakeSession::new().title("fix the parser").turn("fix the parser", [Act::say("It is fixed.")]);
    let service = FakeService::new().session(session);
    let mut stage = Stage::open(service, 60, 14).await;
    stage.say("/sessions").await;
    assert!(stage.is_covered());
    // The one that is open is not what is pointed at.
    stage.press(KeyCode::Enter).await;
    stage.until("It is fixed.").await;
    assert!(stage.shown().contains("session: fix the parser"), "{}", stage.shown());
}

#[tokio::test]
async fn nothing_is_drawn_and_nothing_ticks_when_idle() {
    let service = FakeService::new().on_prompt([Act::say("Hello.")]);
    let mut stage = Stage::open(service, 60, 14).await;
    assert_eq!(stage.model.wakes_at(), None);
    stage.say("hi").await;
    stage.until("working").await;
    assert!(stage.model.wakes_at().is_some());
    stage.until_idle().await;
    assert_eq!(stage.model.wakes_at(), None);
    let before = stage.frame();
    stage.later(Duration::from_secs(3600)).await;
    assert_eq!(stage.frame(), before);
}

#[tokio::test]
async fn thoughts_are_a_line_or_whole() {
    let thought = "First I look.\nThen I think about it.\n\nThen I answer.";
    let service = FakeService::new()
        .on_prompt([Act::think_and_say(thought, "One.")])
        .on_prompt([Act::think_and_say(thought, "Two.")]);
    let mut stage = Stage::open(service, 60, 24).await;
    stage.say("one?").await;
    stage.until_idle().await;
    stage.press_with(KeyCode::Char('t'), KeyModifiers::CONTROL).await;
    stage.say("two?").await;
    stage.until_idle().await;
    insta::assert_snapshot!(stage.shown());
}

#[tokio::test]
async fn cards_are_unfolded_in_the_pager() {
    let call =
        FakeCall::new("bash", json!({})).display(Display::titled("$ make")).returns("one\ntwo\nthree\n");
    let service = FakeService::new().on_prompt([Act::call(call), Act::say("done")]);
    let mut stage = Stage::open(service, 50, 16).await;
    stage.say("go").await;
    stage.until_idle().await;
    stage.press_with(KeyCode::Char('o'), KeyModifiers::CONTROL).await;
    assert!(stage.shown().contains("✓ $ make") && !stage.shown().contains("two"), "{}", stage.shown());
    stage.press(KeyCode::Char('e')).await;
    assert!(stage.shown().contains("  one\n  two\n  three"), "{}", stage.shown());
    stage.press(KeyCode::Char('e')).await;
    assert!(!stage.shown().contains("two"), "{}", stage.shown());
}

#[tokio::test]
async fn nothing_is_due_and_nothing_is_written_while_nothing_happens() {
    let service = FakeService::new().on_prompt([Act::say("done")]);
    let mut stage = Stage::open(service, 50, 16).await;
    assert_eq!(stage.model.wakes_at(), None);
    stage.say("go").await;
    stage.until_idle().await;
    stage.later(Duration::from_secs(10)).await;
    assert_eq!(stage.model.wakes_at(), None);
    let written = stage.written();
    stage.later(Duration::from_secs(3600)).await;
    assert_eq!(stage.written(), written);
}

#[tokio::test]
async fn hidden_thoughts_leave_no_trace() {
    let service = FakeService::new().on_prompt([Act::think_and_say("First I look.", "One.")]);
    let mut stage = Stage::open(service, 60, 24).await;
    stage.model = stage.model.with_thoughts(rein_tui::Thoughts::Hidden);
    stage.say("one?").await;
    stage.until_idle().await;
    let shown = stage.shown();
    assert!(shown.contains("› one?\n\nOne.\n") && !shown.contains("thought"), "{shown}");
}

#[tokio::test]
async fn what_rein_tells_the_model_is_a_line_and_not_the_persons_words() {
    use rein_protocol::{Author, Delivery, EntryBody, TurnId};
    let mut stage = Stage::open(FakeService::new(), 60, 24).await;
    for (author, text) in [
        (Author::ApprovedPlan, "[The user approved the plan.]\n\n1. do it"),
        (Author::FailedCheck, "[The check `make` failed.]\n\nerror"),
        (Author::Person, "[brackets] of my own"),
    ] {
        let content = vec![rein_protocol::Content::text(text)];
        let (turn, delivery) = (TurnId::new(), Delivery::Prompt);
        stage.tell(EntryBody::User { turn, content, delivery, queued: None, author }).await;
    }
    let shown = stage.shown();
    let lines: Vec<&str> = shown.lines().filter(|line| line.starts_with(['─', '›'])).collect();
    assert_eq!(
        lines,
        [
            "── the plan is approved: rein carries it out ───────────────",
            "── the check failed: rein reads what it printed ────────────",
            "› [brackets] of my own",
            "›",
        ]
    );
}

#[tokio::test]
async fn words_that_stream_leave_room_for_a_terminal_that_becomes_narrower() {
    let text = "long words that fill a row of the terminal ".repeat(40);
    let part = rein_protocol::PartId::new();
    let mut stage = Stage::open(FakeService::new(), 40, 24).await;
    let session = stage.model.session().cloned().unwrap();
    let body = rein_protocol::EventBody::PartDelta {
        turn: rein_protocol::TurnId::new(),
        part,
        kind: rein_protocol::PartKind::Text,
        delta: text,
    };
    let event = rein_protocol::Event { session, seq: rein_protocol::Seq(u64::MAX), body };
    stage.take(rein_tui::model::Message::Event(Box::new(event))).await;
    let live = rein_tui::view::frame(&stage.model).live;
    let rows: usize = live.iter().map(|line| line.width().div_ceil(39).max(1)).sum();
    assert!(rows <= 24, "{rows} rows of {}", live.len());
}
