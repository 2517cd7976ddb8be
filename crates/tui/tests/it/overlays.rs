//! Commands and what covers the screen for them, at several sizes.

use std::sync::Arc;

use crossterm::event::{KeyCode, KeyModifiers};
use rein_protocol::{
    Block, ContextPart, ContextSection, Display, Effort, EntryId, GivenGrant, Grant, Mode, OpenSession,
    Scope, SessionId, Timestamp, TreeKind, TreeNode,
};
use rein_testkit::{Act, FaceCall, FakeCall, FakeService, FakeSession, Operation};
use rein_tui::model::Effect;
use rein_tui::{Bindings, Editing};
use serde_json::json;

use crate::host::TestHost;
use crate::stage::Stage;

const SIZES: [(u16, u16); 3] = [(20, 6), (80, 24), (120, 40)];
const DIFF: &str =
    "--- a/src/lib.rs\n+++ b/src/lib.rs\n@@ -1,3 +1,3 @@\n fn add() {\n-    a - b\n+    a + b\n }\n";

fn edit() -> FakeCall {
    let display = Display::titled("edit src/lib.rs").with_summary("+1 -1").with_block(Block::Diff {
        path: "src/lib.rs".into(),
        unified: DIFF.into(),
        added: 1,
        removed: 1,
    });
    FakeCall::new("edit", json!({"path": "src/lib.rs"})).display(display)
}

fn spoken() -> (SessionId, FakeService) {
    let session = FakeSession::new()
        .title("the sum")
        .turn("what is this?", [Act::say("A parser.")])
        .turn("fix the sum", [Act::call(edit()), Act::say("It is **fixed**.")]);
    let id = session.id();
    (id, FakeService::new().session(session))
}

/// A session with two turns, on a terminal of that size.
async fn open(service: FakeService, id: &SessionId, (columns, rows): (u16, u16)) -> Stage {
    let open = OpenSession { session: Some(id.clone()), ..OpenSession::default() };
    let mut stage = Stage::open_session(service, open, columns, rows).await;
    stage.host = Some(TestHost::shared());
    stage.model =
        std::mem::replace(&mut stage.model, rein_tui::model::Model::new(rein_tui::Size::new(columns, rows)))
            .with_host();
    stage
}

/// What a command shows, at every size.
async fn shown(command: &str, service: impl Fn() -> (SessionId, FakeService)) {
    for size in SIZES {
        let (id, service) = service();
        let mut stage = open(service, &id, size).await;
        stage.say(command).await;
        assert!(stage.is_covered(), "{command} at {size:?}:\n{}", stage.shown());
        let name = format!("{}_{}x{}", command.trim_start_matches('/'), size.0, size.1);
        insta::assert_snapshot!(name, stage.shown());
        stage.press(KeyCode::Esc).await;
        assert!(!stage.is_covered());
    }
}

fn calls(stage: &Stage, operation: Operation) -> Vec<FaceCall> {
    stage.service.calls().into_iter().filter(|call| call.operation() == operation).collect()
}

#[tokio::test]
async fn models_are_listed_with_why_not() {
    shown("/model", spoken).await;
    let (id, service) = spoken();
    let mut stage = open(service, &id, (80, 24)).await;
    stage.say("/model").await;
    stage.write("large").await;
    stage.press(KeyCode::Enter).await;
    assert!(stage.is_covered(), "one that cannot be used cannot be chosen");
    stage.press_with(KeyCode::Char('u'), KeyModifiers::CONTROL).await;
    stage.write("small").await;
    stage.press(KeyCode::Enter).await;
    stage.until("small · ").await;
}

#[tokio::test]
async fn effort_is_chosen_or_named() {
    shown("/effort", spoken).await;
    let (id, service) = spoken();
    let mut stage = open(service, &id, (80, 24)).await;
    stage.say("/effort high").await;
    stage.until("effort high").await;
    stage.say("/effort").await;
    stage.press(KeyCode::Down).await;
    stage.press(KeyCode::Enter).await;
    stage.until("effort max").await;
    stage.say("/effort loud").await;
    assert!(stage.shown().contains("there is no effort `loud`"), "{}", stage.shown());
    assert_eq!(calls(&stage, Operation::Change).len(), 2);
    assert!(matches!(&calls(&stage, Operation::Change)[1],
        FaceCall::Change { change, .. } if change.effort == Some(Effort::Max)));
}

#[tokio::test]
async fn sessions_are_renamed_and_forked() {
    let (id, service) = spoken();
    let other = FakeSession::new().title("another one").turn("hello", [Act::say("Hi.")]);
    let other_id = other.id();
    let mut stage = open(service.session(other), &id, (80, 24)).await;
    stage.say("/resume").await;
    stage.write("another").await;
    stage.press_with(KeyCode::Char('r'), KeyModifiers::CONTROL).await;
    assert!(stage.shown().contains("name: another one"), "{}", stage.shown());
    stage.write("!").await;
    stage.press(KeyCode::Enter).await;
    let renamed = FaceCall::Rename { session: other_id.clone(), title: "another one!".into() };
    assert_eq!(calls(&stage, Operation::Rename), [renamed]);
    assert!(!calls(&stage, Operation::Close).is_empty(), "it was opened for its name only");
    stage.say("/sessions").await;
    stage.write("another").await;
    stage.press_with(KeyCode::Char('f'), KeyModifiers::CONTROL).await;
    assert_eq!(calls(&stage, Operation::Fork), [FaceCall::Fork { session: other_id, at: None }]);
    assert!(stage.shown().contains("forked: the session before stays as it is"), "{}", stage.shown());
    assert_ne!(stage.model.session(), Some(&id));
}

fn tree() -> (SessionId, FakeService) {
    let (id, service) = spoken();
    let ids: Vec<EntryId> = (0..5).map(|_| EntryId::new()).collect();
    let node = |at: usize, parent: Option<usize>, kind, text: &str, active| TreeNode {
        entry: ids[at].clone(),
        parent: parent.map(|parent| ids[parent].clone()),
        at: Timestamp(0),
        kind,
        text: text.to_owned(),
        active,
    };
    let nodes = vec![
        node(0, None, TreeKind::User, "what is this?", true),
        node(1, Some(0), TreeKind::Agent, "A parser.", true),
        node(2, Some(1), TreeKind::User, "fix the sum", true),
        node(3, Some(1), TreeKind::User, "write a test", false),
        node(4, Some(2), TreeKind::Agent, "It is fixed.", true),
    ];
    (id.clone(), service.with_tree(&id, nodes))
}

#[tokio::test]
async fn a_tree_shows_branches_and_goes_to_places() {
    shown("/tree", tree).await;
    let (id, service) = tree();
    let mut stage = open(service, &id, (80, 24)).await;
    stage.say("/tree").await;
    stage.write("parser").await;
    stage.press(KeyCode::Enter).await;
    stage.until("went back").await;
    assert_eq!(calls(&stage, Operation::Travel).len(), 1);
    stage.say("/tree").await;
    stage.write("fixed").await;
    stage.press_with(KeyCode::Char('f'), KeyModifiers::CONTROL).await;
    assert!(matches!(&calls(&stage, Operation::Fork)[..], [FaceCall::Fork { at: Some(_), .. }]));
}

#[tokio::test]
async fn a_grant_is_taken_back_after_one_more_key() {
    let service = || {
        let (id, service) = spoken();
        let grant = Grant { permission: "bash".into(), pattern: "cargo *".into() };
        (id, service.with_grants(vec![GivenGrant { grant, scope: Scope::Project }]))
    };
    shown("/permissions", service).await;
    let (id, service) = service();
    let mut stage = open(service, &id, (80, 24)).await;
    stage.say("/permissions").await;
    stage.press_with(KeyCode::Char('d'), KeyModifiers::CONTROL).await;
    assert!(stage.shown().contains("take it back? y yes"), "{}", stage.shown());
    stage.press(KeyCode::Char('n')).await;
    assert!(calls(&stage, Operation::Revoke).is_empty());
    stage.press_with(KeyCode::Char('d'), KeyModifiers::CONTROL).await;
    stage.press(KeyCode::Char('y')).await;
    assert_eq!(calls(&stage, Operation::Revoke).len(), 1);
    assert!(stage.shown().contains("taken back"), "{}", stage.shown());
}

#[tokio::test]
async fn settings_are_searched_read_and_changed() {
    shown("/config", spoken).await;
    let (id, service) = spoken();
    let mut stage = open(service, &id, (80, 24)).await;
    let host = TestHost::shared();
    stage.host = Some(Arc::clone(&host) as Arc<dyn rein_tui::Host>);
    stage.say("/config").await;
    stage.write("steps").await;
    stage.press(KeyCode::Enter).await;
    assert!(stage.shown().contains("max_steps = 125"), "{}", stage.shown());
    stage.write("0").await;
    stage.press(KeyCode::Enter).await;
    assert!(stage.shown().contains("max_steps is set from the next start on"), "{}", stage.shown());
    stage.say("/settings").await;
    stage.write("tight").await;
    stage.press(KeyCode::Enter).await;
    stage.write("plan").await;
    stage.press(KeyCode::Enter).await;
    let value = |text: &str| Some(text.to_owned());
    let set = [("max_steps".to_owned(), value("1250")), ("mode".to_owned(), value("plan"))];
    assert_eq!(*host.set.lock().unwrap(), set);
}

#[tokio::test]
async fn what_the_model_is_sent_is_a_bar_and_a_table() {
    shown("/context", || {
        let (id, service) = spoken();
        let part = |section, name: &str, tokens| ContextPart {
            section,
            name: name.into(),
            why: "always sent".into(),
            tokens,
            bytes: tokens * 4,
        };
        let parts = vec![
            part(ContextSection::Tools, "bash", 900),
            part(ContextSection::Tools, "edit", 700),
            part(ContextSection::Head, "head", 1_200),
            part(ContextSection::Instructions, "AGENTS.md", 350),
            part(ContextSection::Conversation, "2 turns", 5_400),
        ];
        (id, service.with_context(parts))
    })
    .await;
}

#[tokio::test]
async fn changes_figures_and_the_machine_are_texts_to_read() {
    shown("/diff", spoken).await;
    shown("/doctor", spoken).await;
    shown("/keys", spoken).await;
    let (id, service) = spoken();
    let mut stage = open(service, &id, (80, 24)).await;
    stage.say("/stats").await;
    let text = stage.shown();
    assert!(text.contains("your messages        2") && text.contains("+1 -1 in 1 files"), "{text}");
    assert!(text.contains("    1  edit"), "{text}");
}

#[tokio::test]
async fn the_last_answer_is_copied() {
    let (id, service) = spoken();
    let mut stage = open(service, &id, (80, 24)).await;
    stage.say("/copy").await;
    assert!(stage.effects.contains(&Effect::Copy("It is **fixed**.".into())), "{:?}", stage.effects);
    assert!(stage.shown().contains("copied 16 characters"), "{}", stage.shown());
}

#[tokio::test]
async fn a_session_is_exported_named_compacted_and_handed_off() {
    let (id, service) = spoken();
    let mut stage = open(service, &id, (80, 24)).await;
    let host = TestHost::shared();
    stage.host = Some(Arc::clone(&host) as Arc<dyn rein_tui::Host>);
    stage.say("/export notes.md").await;
    assert!(stage.shown().contains("notes.md"), "{}", stage.shown());
    stage.say("/export").await;
    let named = stage.model.workspace().join("notes.md");
    assert_eq!(*host.exported.lock().unwrap(), [Some(named), None]);
    stage.say("/rename my parser").await;
    stage.until("named: my parser").await;
    stage.say("/rename").await;
    assert_eq!(stage.model.written(), "/rename my parser");
    stage.press_with(KeyCode::Char('c'), KeyModifiers::CONTROL).await;
    stage.say("/compact the tests").await;
    let compact = FaceCall::Compact { session: id.clone(), focus: Some("the tests".into()) };
    assert_eq!(calls(&stage, Operation::Compact), [compact]);
    stage.say("/handoff").await;
    assert_eq!(calls(&stage, Operation::Handoff), [FaceCall::Handoff { session: id.clone(), focus: None }]);
    assert_ne!(stage.model.session(), Some(&id));
}

#[tokio::test]
async fn what_was_queued_is_taken_back_to_be_edited() {
    let service = FakeService::new().on_prompt([Act::hold("gate")]);
    let mut stage = Stage::open(service, 80, 24).await;
    stage.say("begin").await;
    stage.until("working").await;
    stage.say("and then test it").await;
    stage.until("next: and then test it").await;
    stage.press(KeyCode::Up).await;
    stage.catch_up().await;
    assert_eq!(stage.model.written(), "and then test it");
    assert!(!stage.shown().contains("next:"), "{}", stage.shown());
    stage.press(KeyCode::Enter).await;
    stage.until("next: and then test it").await;
    stage.say("/queue").await;
    stage.press_with(KeyCode::Char('d'), KeyModifiers::CONTROL).await;
    stage.press(KeyCode::Char('y')).await;
    assert_eq!(stage.model.written(), "");
    assert_eq!(calls(&stage, Operation::Requeue).len(), 2);
}

#[tokio::test]
async fn escape_twice_goes_back_to_an_earlier_message() {
    for size in SIZES {
        let (id, service) = spoken();
        let mut stage = open(service, &id, size).await;
        stage.press(KeyCode::Esc).await;
        assert!(stage.shown().contains("Esc again"), "{}", stage.shown());
        stage.press(KeyCode::Esc).await;
        assert!(stage.is_covered());
        insta::assert_snapshot!(format!("earlier_{}x{}", size.0, size.1), stage.shown());
        stage.press(KeyCode::Down).await;
        stage.press(KeyCode::Enter).await;
        assert_eq!(stage.model.written(), "what is this?");
        let travelled = calls(&stage, Operation::Travel);
        assert_eq!(travelled, [FaceCall::Travel { session: id.clone(), to: None }]);
        // On the smallest terminal the line is in the scrollback by now.
        if size.1 > 6 {
            stage.until("went back").await;
        }
    }
}

#[tokio::test]
async fn escape_once_or_late_goes_nowhere() {
    let (id, service) = spoken();
    let mut stage = open(service, &id, (80, 24)).await;
    stage.press(KeyCode::Esc).await;
    stage.later(std::time::Duration::from_secs(3)).await;
    stage.press(KeyCode::Esc).await;
    assert!(!stage.is_covered());
    stage.write("words").await;
    stage.press(KeyCode::Esc).await;
    stage.press(KeyCode::Esc).await;
    assert!(!stage.is_covered());
    assert_eq!(stage.model.written(), "words");
}

#[tokio::test]
async fn a_theme_is_seen_before_it_is_taken() {
    shown("/theme", spoken).await;
    let (id, service) = spoken();
    let mut stage = open(service, &id, (80, 24)).await;
    let host = TestHost::shared();
    stage.host = Some(Arc::clone(&host) as Arc<dyn rein_tui::Host>);
    stage.say("/theme").await;
    let before = stage.colour_at(1, 0);
    stage.write("mine").await;
    assert_eq!(stage.colour_at(1, 0), vt100::Color::Rgb(1, 2, 3));
    stage.press(KeyCode::Esc).await;
    stage.say("/theme").await;
    assert_eq!(stage.colour_at(1, 0), before, "what was only looked at is forgotten");
    stage.write("mine").await;
    stage.press(KeyCode::Enter).await;
    stage.say("/theme wrong").await;
    assert!(stage.shown().contains("there is no theme `wrong`"), "{}", stage.shown());
    assert_eq!(*host.set.lock().unwrap(), [("theme".to_owned(), Some("mine".to_owned()))]);
}

#[tokio::test]
async fn without_a_host_commands_say_so() {
    let (id, service) = spoken();
    let open = OpenSession { session: Some(id), ..OpenSession::default() };
    let mut stage = Stage::open_session(service, open, 80, 24).await;
    for command in ["/doctor", "/config", "/export"] {
        stage.say(command).await;
        assert!(stage.shown().contains("cannot be seen from here"), "{command}: {}", stage.shown());
    }
}

#[tokio::test]
async fn the_transcript_is_searched_by_its_command() {
    let (id, service) = spoken();
    let mut stage = open(service, &id, (80, 24)).await;
    stage.say("/search parser").await;
    assert!(stage.shown().contains("1 of 1 lines with “parser”"), "{}", stage.shown());
}

#[tokio::test]
async fn the_mode_can_be_chosen_from_a_list() {
    let (id, service) = spoken();
    let mut stage = open(service, &id, (80, 24)).await;
    stage.say("/mode").await;
    stage.write("plan").await;
    stage.press(KeyCode::Enter).await;
    stage.until("plan · ").await;
    assert!(matches!(&calls(&stage, Operation::Change)[..],
        [FaceCall::Change { change, .. }] if change.mode == Some(Mode::Plan)));
}

#[tokio::test]
async fn keys_of_ones_own_hold_and_are_shown() {
    let (id, service) = spoken();
    let mut stage = open(service, &id, (80, 24)).await;
    let keys = |keys: &[&str]| keys.iter().map(|key| (*key).to_owned()).collect::<Vec<_>>();
    let settings = [("transcript", keys(&["f2"])), ("help", keys(&["f1"])), ("suspend", keys(&[]))];
    let bindings = Bindings::read(settings.iter().map(|(name, keys)| (*name, keys.as_slice()))).unwrap();
    let blank = rein_tui::model::Model::new(rein_tui::Size::new(80, 24));
    stage.model = std::mem::replace(&mut stage.model, blank).with_keys(bindings, Editing::Plain);
    stage.press_with(KeyCode::Char('o'), KeyModifiers::CONTROL).await;
    stage.press_with(KeyCode::Char('z'), KeyModifiers::CONTROL).await;
    assert!(!stage.is_covered() && !stage.effects.contains(&Effect::Suspend));
    stage.press(KeyCode::Char('?')).await;
    assert_eq!(stage.model.written(), "?");
    stage.press(KeyCode::Backspace).await;
    assert!(stage.shown().contains("F1 for help"), "{}", stage.shown());
    stage.press(KeyCode::F(1)).await;
    let help = stage.shown();
    assert!(help.contains("  f2                           the whole session"), "{help}");
    assert!(!help.contains("ctrl-z"), "{help}");
    stage.press(KeyCode::Esc).await;
    stage.press(KeyCode::F(2)).await;
    assert!(stage.is_covered() && stage.shown().contains("transcript"), "{}", stage.shown());
}
