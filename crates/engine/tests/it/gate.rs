//! Whether calls may run: modes, rules, asks and replies.

use rein_permission::{Action, LayerKind, Rule};
use rein_protocol::ask::Grant;
use rein_protocol::{
    Answer, CallStatus, EntryBody, Mode, Reply, Said, Scope, ServiceError, SessionChange, StopReason, Verdict,
};
use rein_testkit::{Project, Script, Turn};
use serde_json::json;

use crate::stage::{Setup, Stage, directories, kinds, statuses};

fn write(path: &str) -> serde_json::Value {
    json!({"path": path, "content": "x\n"})
}

#[tokio::test]
async fn without_anybody_to_ask_what_has_effects_is_refused_with_the_way_out() {
    let script = Script::new()
        .turn(Turn::call("write", write("a.txt")).and_call("bash", json!({"command": "touch b.txt; make"})))
        .turn(Turn::text("I could not"));
    let stage = Stage::new(script).await;
    let transcript = stage.run("go").await;
    assert_eq!(statuses(&transcript), [CallStatus::Refused; 2]);
    assert_eq!(stage.project.files(), Vec::<String>::new());
    let requests = stage.server.requests();
    let results = requests[1].tool_results();
    assert!(results[0].1.contains("--allow"), "{}", results[0].1);
    assert!(results[1].1.contains("--mode free"), "{}", results[1].1);
    let entries = stage.entries().await;
    assert!(!kinds(&entries).contains(&"call_started"), "nothing has begun");
}

#[tokio::test]
async fn a_rule_lets_through_what_it_names_and_nothing_else() {
    let allow = Rule::parse("edit:src/*", Action::Allow, "--allow").unwrap();
    let script = Script::new()
        .turn(Turn::call("write", write("src/a.txt")).and_call("write", write("b.txt")))
        .turn(Turn::text("done"));
    let stage =
        Stage::with(Project::new(), script, Setup::default().rules(LayerKind::User, vec![allow])).await;
    let transcript = stage.run("go").await;
    assert_eq!(statuses(&transcript), [CallStatus::Completed, CallStatus::Refused]);
    assert_eq!(stage.project.files(), ["src/a.txt"]);
}

#[tokio::test]
async fn a_deny_holds_in_every_mode_and_a_pattern_allows_only_the_commands_it_covers() {
    let rules = vec![
        Rule::parse("bash:git status *", Action::Allow, "--allow").unwrap(),
        Rule::parse("edit:secret.txt", Action::Deny, "--deny").unwrap(),
    ];
    let script = || {
        Script::new()
            .turn(
                Turn::call("write", write("secret.txt"))
                    .and_call("bash", json!({"command": "git status || true"}))
                    .and_call("bash", json!({"command": "git status; make || true"})),
            )
            .turn(Turn::text("done"))
    };
    for (mode, command) in [(Mode::Write, CallStatus::Refused), (Mode::Free, CallStatus::Completed)] {
        let setup = Setup::mode(mode).rules(LayerKind::User, rules.clone());
        let stage = Stage::with(Project::new(), script(), setup).await;
        let transcript = stage.run("go").await;
        assert_eq!(statuses(&transcript), [CallStatus::Refused, CallStatus::Completed, command], "{mode:?}");
        assert!(!stage.project.exists("secret.txt"));
    }
}

#[tokio::test]
async fn a_search_does_not_show_what_may_not_be_read() {
    let deny = Rule::parse("read:.env", Action::Deny, "--deny").unwrap();
    let project = Project::new().file(".env", "TOKEN=1\n").file("a.txt", "TOKEN here\n");
    let script = Script::new()
        .turn(
            Turn::call("grep", json!({"pattern": "TOKEN", "hidden": true}))
                .and_call("glob", json!({"pattern": "**/*", "hidden": true})),
        )
        .turn(Turn::text("done"));
    let stage = Stage::with(project, script, Setup::default().rules(LayerKind::User, vec![deny])).await;
    stage.run("go").await;
    let requests = stage.server.requests();
    for (_, result) in requests[1].tool_results() {
        assert!(result.contains("a.txt") && !result.contains("TOKEN=1"), "{result}");
    }
}

#[tokio::test]
async fn a_call_waits_for_its_answer_and_runs_once_it_is_allowed() {
    let script = Script::new().turn(Turn::call("write", write("a.txt"))).turn(Turn::text("done"));
    let stage = Stage::with(Project::new(), script, Setup::interactive()).await;
    let mut run = stage.start("go").await;
    let ask = run.ask().await;
    assert_eq!((ask.items[0].permission.as_str(), ask.items[0].pattern.as_str()), ("edit", "a.txt"));
    assert!(!stage.project.exists("a.txt"), "nothing happens before the answer");
    assert_eq!(stage.service.get(&stage.session).await.unwrap().asks, std::slice::from_ref(&ask));
    stage.reply(&ask, Answer::Once).await.unwrap();
    assert_eq!(run.finish().await.answer(), "done");
    assert!(stage.project.exists("a.txt"));
    assert_eq!(
        stage.reply(&ask, Answer::Once).await,
        Err(ServiceError::UnknownAsk { ask: ask.id.clone() }),
        "an ask is answered once"
    );
    let entries = stage.entries().await;
    let decided = entries.iter().find_map(|entry| match &entry.body {
        EntryBody::Decided { decision, .. } => Some(decision.clone()),
        _ => None,
    });
    let decided = decided.unwrap();
    assert_eq!((decided.verdict, decided.ask), (Verdict::Allow, Some(ask.id)));
}

#[tokio::test]
async fn a_rejection_ends_the_turn_and_takes_the_other_asks_along() {
    let script = Script::new().turn(Turn::call("write", write("a.txt")).and_call("write", write("b.txt")));
    let stage = Stage::with(Project::new(), script, Setup::interactive()).await;
    let mut run = stage.start("go").await;
    run.until(|transcript| transcript.asks.len() == 2).await;
    let first = run.transcript.asks[0].clone();
    stage.reply(&first, Answer::Reject { message: None }).await.unwrap();
    let transcript = run.finish().await;
    assert_eq!(transcript.stop.as_ref().unwrap().0, StopReason::Rejected);
    assert_eq!(statuses(&transcript), [CallStatus::Rejected, CallStatus::Refused]);
    assert_eq!(stage.project.files(), Vec::<String>::new());
}

#[tokio::test]
async fn a_rejection_with_words_goes_back_to_the_model() {
    let script = Script::new().turn(Turn::call("write", write("a.txt"))).turn(Turn::text("as you wish"));
    let stage = Stage::with(Project::new(), script, Setup::interactive()).await;
    let mut run = stage.start("go").await;
    let ask = run.ask().await;
    let message = Some("use b.txt instead".to_owned());
    stage.reply(&ask, Answer::Reject { message }).await.unwrap();
    assert_eq!(run.finish().await.answer(), "as you wish");
    assert!(stage.server.requests()[1].contains("use b.txt instead"));
}

#[tokio::test]
async fn always_settles_what_waits_and_is_not_asked_again() {
    let script = Script::new()
        .turn(Turn::call("write", write("src/a.txt")).and_call("write", write("src/b.txt")))
        .turn(Turn::call("write", write("src/c.txt")))
        .turn(Turn::text("done"));
    let stage = Stage::with(Project::new(), script, Setup::interactive()).await;
    let mut run = stage.start("go").await;
    run.until(|transcript| transcript.asks.len() == 2).await;
    let first = run.transcript.asks[0].clone();
    let grants = Some(vec![Grant { permission: "edit".to_owned(), pattern: "src/*".to_owned() }]);
    stage.reply(&first, Answer::Always { grants, scope: Scope::Session }).await.unwrap();
    let transcript = run.finish().await;
    assert_eq!(statuses(&transcript), [CallStatus::Completed; 3]);
    assert_eq!(stage.project.files(), ["src/a.txt", "src/b.txt", "src/c.txt"]);
}

#[tokio::test]
async fn an_always_for_the_project_is_kept_for_later_sessions() {
    let script = Script::new().turn(Turn::call("write", write("a.txt"))).turn(Turn::text("done"));
    let stage = Stage::with(Project::new(), script, Setup::interactive()).await;
    let mut run = stage.start("go").await;
    let ask = run.ask().await;
    stage.reply(&ask, Answer::Always { grants: None, scope: Scope::Project }).await.unwrap();
    run.finish().await;
    let kept = rein_config::Grants::load(&directories(&stage.project)).unwrap();
    let workspace = stage.project.path().canonicalize().unwrap();
    let rules: Vec<(String, String)> =
        kept.for_workspace(&workspace).into_iter().map(|rule| (rule.permission, rule.pattern)).collect();
    assert_eq!(rules, [("edit".to_owned(), "a.txt".to_owned())]);
}

#[tokio::test]
async fn a_looser_mode_settles_asks_that_wait() {
    let script = Script::new().turn(Turn::call("write", write("a.txt"))).turn(Turn::text("done"));
    let stage = Stage::with(Project::new(), script, Setup::interactive()).await;
    let mut run = stage.start("go").await;
    run.ask().await;
    let change = SessionChange { mode: Some(Mode::Write), ..SessionChange::default() };
    stage.service.change(&stage.session, change).await.unwrap();
    assert_eq!(run.finish().await.answer(), "done");
    assert!(stage.project.exists("a.txt"));
}

#[tokio::test]
async fn plan_mode_reads_and_withholds_the_rest() {
    let project = Project::new().file("a.txt", "alpha\n");
    let script = Script::new()
        .turn(Turn::call("read", json!({"path": "a.txt"})).and_call("write", write("b.txt")))
        .turn(Turn::text("the plan"));
    let stage = Stage::with(project, script, Setup::mode(Mode::Plan)).await;
    let transcript = stage.run("go").await;
    assert_eq!(statuses(&transcript), [CallStatus::Completed, CallStatus::Withheld]);
    assert!(stage.server.requests()[1].contains("plan mode"));
}

#[tokio::test]
async fn a_reply_to_an_ask_that_was_never_made_is_an_error() {
    let stage = Stage::with(Project::new(), Script::new(), Setup::interactive()).await;
    let ask = rein_protocol::AskId::new();
    let reply = Reply { ask: ask.clone(), answer: Answer::Once };
    assert_eq!(stage.service.reply(&stage.session, reply).await, Err(ServiceError::UnknownAsk { ask }));
}

fn question() -> serde_json::Value {
    json!({"question": "Which database?", "choices": ["sqlite", {"label": "postgres", "description": "a server"}]})
}

#[tokio::test]
async fn a_question_waits_for_words_and_the_model_is_told_them() {
    let script = Script::new().turn(Turn::call("ask", question())).turn(Turn::text("fine"));
    let stage = Stage::with(Project::new(), script, Setup::interactive().in_mode(Mode::Free)).await;
    let mut run = stage.start("go").await;
    let ask = run.ask().await;
    assert_eq!(ask.question.as_ref().map(|question| question.text.as_str()), Some("Which database?"));
    let refused = stage.reply(&ask, Answer::Once).await;
    assert!(matches!(refused, Err(ServiceError::Invalid { .. })), "{refused:?}");
    let said = Said { chosen: vec!["postgres".to_owned()], text: Some("version 17".to_owned()) };
    stage.reply(&ask, Answer::Said { said }).await.unwrap();
    let transcript = run.finish().await;
    assert_eq!(statuses(&transcript), [CallStatus::Completed]);
    assert_eq!(stage.server.requests()[1].tool_results()[0].1, "The user answered: postgres\nversion 17");
}

#[tokio::test]
async fn a_question_that_nobody_can_answer_is_refused_with_what_to_do() {
    let script = Script::new().turn(Turn::call("ask", question())).turn(Turn::text("fine"));
    let stage = Stage::with(Project::new(), script, Setup::default().in_mode(Mode::Free)).await;
    let transcript = stage.run("go").await;
    assert_eq!(statuses(&transcript), [CallStatus::Refused]);
    let requests = stage.server.requests();
    let told = requests[1].tool_results()[0].1.to_owned();
    assert!(told.contains("nobody is here to answer") && told.contains("Decide yourself"), "{told}");
}

#[tokio::test]
async fn no_face_chooses_a_mode_that_the_administrator_forbids() {
    let limit = rein_config::ModeLimit { mode: Mode::Write, origin: rein_config::Origin::default_value() };
    let setup = Setup { mode_limit: Some(limit), ..Setup::default() };
    let stage = Stage::with(Project::new(), Script::new(), setup).await;
    let change = SessionChange { mode: Some(Mode::Free), ..SessionChange::default() };
    stage.service.change(&stage.session, change).await.unwrap();
    let modes: Vec<Mode> = stage
        .entries()
        .await
        .iter()
        .filter_map(|entry| match &entry.body {
            EntryBody::ModeChanged { mode } => Some(*mode),
            _ => None,
        })
        .collect();
    assert_eq!(modes.last(), Some(&Mode::Write));
}
