//! `!` and `#`, images, and what a session tells beside its turns.

use std::time::Duration;

use crossterm::event::KeyCode;
use rein_protocol::{
    CallId, CallResult, CallStatus, CompactionReason, Content, Display, Effort, EntryBody, EventBody,
    MemoryPlace, OpenSession, Service, SessionChange, Titler,
};
use rein_testkit::{Act, FakeService, FakeSession};
use rein_tui::model::{Effect, Message};

use crate::stage::Stage;

fn result(status: CallStatus, text: &str, summary: Option<&str>) -> CallResult {
    let mut display = Display::titled("");
    display.summary = summary.map(str::to_owned);
    CallResult { status, content: vec![Content::text(text)], display, artifact: None, duration_ms: 3_200 }
}

#[tokio::test]
async fn a_command_of_the_person_is_shown_while_it_runs_and_when_it_is_over() {
    let mut stage = Stage::open(FakeService::new(), 60, 16).await;
    stage.write("!").await;
    assert!(stage.shown().contains("$ !  a command that runs with your own rights"), "{}", stage.shown());
    stage.write("make test").await;
    assert!(stage.shown().contains("$ !make test"), "{}", stage.shown());
    stage.press(KeyCode::Enter).await;
    assert!(stage.effects.contains(&Effect::Shell("make test".into())));
    stage.until("! make test").await;
    let session = stage.model.session().cloned().unwrap();
    let call = CallId::new();
    let command = "cargo build".to_owned();
    stage.service.emit(&session, EventBody::PersonRuns { call: call.clone(), command: command.clone() });
    let delta = "\u{1b}[32mCompiling\u{1b}[0m one\nCompiling two\n".to_owned();
    stage.service.emit(&session, EventBody::CallOutput { call: call.clone(), delta });
    stage.until("Compiling two").await;
    stage.later(Duration::from_secs(2)).await;
    insta::assert_snapshot!("a_command_that_runs", stage.shown());
    stage.press(KeyCode::Esc).await;
    assert_eq!(stage.service.interrupts(), [session]);
    let result = result(CallStatus::Interrupted, "Compiling one\nCompiling two\n", None);
    let ran = EntryBody::PersonRan { call, command, result };
    stage.tell(ran).await;
    insta::assert_snapshot!("a_command_that_is_over", stage.shown());
}

#[tokio::test]
async fn much_output_of_a_command_is_cut_to_its_end() {
    let text: String = (1..=100).map(|number| format!("line {number}\n")).collect();
    let mut stage = Stage::open(FakeService::new(), 40, 40).await;
    let result = result(CallStatus::Failed, &text, Some("exit 2"));
    stage.tell(EntryBody::PersonRan { call: CallId::new(), command: "make".into(), result }).await;
    let shown = stage.shown();
    assert!(shown.contains("! make · exit 2 · 3.2 s\n  … 76 lines before\n  line 77\n"), "{shown}");
    assert!(shown.contains("  line 100\n"), "{shown}");
}

#[tokio::test]
async fn a_note_is_remembered_where_the_person_says() {
    let mut stage = Stage::open(FakeService::new(), 60, 16).await;
    stage.say("# use tabs").await;
    insta::assert_snapshot!("where_to_remember", stage.shown());
    stage.press(KeyCode::Esc).await;
    assert!(stage.shown().contains("+ #use tabs"), "{}", stage.shown());
    stage.press(KeyCode::Enter).await;
    stage.press(KeyCode::Down).await;
    stage.press(KeyCode::Enter).await;
    let note = Effect::Note { note: "use tabs".into(), place: MemoryPlace::User };
    assert!(stage.effects.contains(&note), "{:?}", stage.effects);
    assert!(stage.shown().contains("+ use tabs · remembered in "), "{}", stage.shown());
}

#[tokio::test]
async fn going_to_another_place_shows_what_is_there_once() {
    let session = FakeSession::new().turn("what is this?", [Act::say("A parser.")]);
    let open = OpenSession { session: Some(session.id()), ..OpenSession::default() };
    let service = FakeService::new().session(session);
    let mut stage = Stage::open_session(service, open, 60, 24).await;
    let session = stage.model.session().cloned().unwrap();
    stage.service.travel(&session, None).await.unwrap();
    stage.until("went back").await;
    assert_eq!(stage.effects.last(), Some(&Effect::Reload));
    stage.until_idle().await;
    insta::assert_snapshot!(stage.shown());
    stage.say("and now?").await;
    stage.until("› and now?").await;
}

#[tokio::test]
async fn making_room_notices_names_and_effort_are_told() {
    let service = FakeService::new().on_prompt([Act::say("Yes.")]);
    let mut stage = Stage::open(service, 60, 20).await;
    let session = stage.model.session().cloned().unwrap();
    stage.service.emit(&session, EventBody::Compacting { reason: CompactionReason::Manual });
    stage.until("making room as you asked").await;
    stage.press(KeyCode::Esc).await;
    assert_eq!(stage.service.interrupts().len(), 1);
    let message = "80 % of the budget is spent\u{1b}[2J".to_owned();
    stage.service.emit(&session, EventBody::Notice { message });
    stage.until("note: 80 %").await;
    stage
        .tell(EntryBody::Titled { title: "the parser".into(), by: Titler::Person, usage: None, cost: None })
        .await;
    stage
        .tell(EntryBody::Titled { title: "not shown".into(), by: Titler::Model, usage: None, cost: None })
        .await;
    stage
        .service
        .change(&session, SessionChange { effort: Some(Effort::High), ..Default::default() })
        .await
        .unwrap();
    stage.tell(EntryBody::EffortChanged { effort: Some(Effort::High) }).await;
    stage.say("ready?").await;
    stage.until_idle().await;
    insta::assert_snapshot!(stage.shown());
}

#[tokio::test]
async fn a_picture_that_cannot_be_sent_comes_back_with_its_words() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("a shot.png");
    let png =
        [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &[0, 0, 2, 128, 0, 0, 1, 224], &[0; 1000]].concat();
    std::fs::write(&path, png).unwrap();
    let mut stage = Stage::open(FakeService::new(), 70, 16).await;
    stage.write("what is ").await;
    stage.take(Message::Paste(format!("'{}'", path.display()))).await;
    assert!(stage.shown().contains("› what is [image 1 640x480 png 2 KB]"), "{}", stage.shown());
    stage.press(KeyCode::Enter).await;
    let Some(Effect::Prompt { text, attachments, .. }) = stage.effects.last().cloned() else { panic!() };
    assert_eq!(text, "what is [image 1 640x480 png 2 KB]");
    assert_eq!(attachments.iter().map(|image| &image.path).collect::<Vec<_>>(), [&path]);
    let error = rein_protocol::ServiceError::Model {
        message: "mine/small takes no images: choose another with /model".into(),
    };
    stage.take(Message::NotSent { text, attachments: attachments.clone(), error }).await;
    insta::assert_snapshot!(stage.shown());
    stage.press(KeyCode::Enter).await;
    let Some(Effect::Prompt { attachments: again, .. }) = stage.effects.last() else { panic!() };
    assert_eq!(again, &attachments);
}

#[tokio::test]
async fn a_picture_is_named_as_in_a_shell_and_one_that_is_none_is_told() {
    let directory = tempfile::tempdir().unwrap();
    let picture = directory.path().join("my pic.png");
    let mut bytes = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
    bytes.extend([0, 0, 0, 64, 0, 0, 0, 48]);
    std::fs::write(&picture, bytes).unwrap();
    let mut stage = Stage::open(FakeService::new(), 100, 24).await;
    let escaped = picture.to_str().unwrap().replace(' ', "\\ ");
    stage.say(&format!("/image {escaped}")).await;
    assert_eq!(stage.model.written().trim(), "[image 1 64x48 png 24 B]");
    stage.press_with(KeyCode::Char('u'), crossterm::event::KeyModifiers::CONTROL).await;
    stage.say("/image nowhere.png").await;
    let shown = stage.shown();
    assert!(shown.contains("error: `nowhere.png` is no picture that can be read"), "{shown}");
    assert_eq!(stage.model.written(), "/image nowhere.png");
}
