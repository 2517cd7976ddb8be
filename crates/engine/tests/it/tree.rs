//! Going back in a session, its tree, copies of it, and its name.

use rein_protocol::transcript::Transcript;
use rein_protocol::{
    CallStatus, Delivery, Effort, Entry, EntryBody, EntryId, Mode, OpenSession, Prompt, Seq, ServiceError,
    SessionChange, StopReason, TreeKind,
};
use rein_testkit::{Project, Said, Script, Turn};
use serde_json::json;

use crate::stage::{Setup, Stage, kinds, statuses};

/// What the person and the model said in the last request.
fn conversation(stage: &Stage) -> Vec<String> {
    let requests = stage.server.requests();
    let said = requests.last().unwrap().said.iter().filter_map(|said| match said {
        Said::System(_) => None,
        Said::User(text) => Some(format!("user: {text}")),
        Said::Assistant { text, calls } if calls.is_empty() => Some(format!("model: {text}")),
        Said::Assistant { calls, .. } => Some(format!("model calls {}", calls[0].tool)),
        Said::Tool { text, .. } => Some(format!("result: {}", text.trim())),
    });
    said.collect()
}

/// The last entry that fits.
fn last(entries: &[Entry], fits: impl Fn(&EntryBody) -> bool) -> EntryId {
    entries.iter().rev().find(|entry| fits(&entry.body)).unwrap().id.clone()
}

fn is_end(body: &EntryBody) -> bool {
    matches!(body, EntryBody::TurnEnded { .. })
}

fn is_user(body: &EntryBody) -> bool {
    matches!(body, EntryBody::User { .. })
}

async fn travel(stage: &Stage, to: Option<EntryId>) -> Result<(), ServiceError> {
    stage.service.travel(&stage.session, to).await
}

#[tokio::test]
async fn what_is_said_next_follows_on_the_place_that_was_gone_to() {
    let turns = ["one", "two", "three", "four"].map(Turn::text);
    let stage = Stage::new(Script::new().turns(turns)).await;
    stage.run("first").await;
    let end = last(&stage.entries().await, is_end);
    stage.run("second").await;
    let before = stage.entries().await;
    travel(&stage, Some(end.clone())).await.unwrap();
    let after = stage.entries().await;
    let place = before.iter().position(|entry| entry.id == end).unwrap();
    assert_eq!(after[..=place], before[..=place]);
    let travelled = &after[place + 1];
    assert_eq!(travelled.parent, Some(end));
    assert_eq!(travelled.body, EntryBody::Travelled { from: before.last().unwrap().id.clone() });
    assert_eq!(after.len(), place + 2, "nothing else is said");
    stage.run("other").await;
    assert_eq!(conversation(&stage), ["user: first", "model: one", "user: other"]);

    // To before everything, and back to the branch that was left.
    travel(&stage, None).await.unwrap();
    stage.run("anew").await;
    assert_eq!(conversation(&stage), ["user: anew"]);
    let total = stage.service.get(&stage.session).await.unwrap();
    travel(&stage, Some(last(&before, is_end))).await.unwrap();
    let stage = stage.reopened().await;
    let back = stage.service.get(&stage.session).await.unwrap();
    assert_eq!(back.entries[..before.len()], before[..]);
    assert_eq!((back.usage, back.cost), (total.usage, total.cost), "what was paid elsewhere was paid");
    assert_eq!(stage.transcript().await.answer(), "two");
}

#[tokio::test]
async fn a_message_is_gone_back_to_in_order_to_say_something_else() {
    let turns = ["one", "two", "three"].map(Turn::text);
    let stage = Stage::new(Script::new().turns(turns)).await;
    stage.run("first").await;
    stage.run("second").await;
    let message = last(&stage.entries().await, is_user);
    travel(&stage, Some(message)).await.unwrap();
    let mut live = stage.start("second, but better").await;
    live.finish().await;
    assert_eq!(conversation(&stage), ["user: first", "model: one", "user: second, but better"]);
    let seen = kinds(&live.events.iter().filter_map(entry_of).collect::<Vec<_>>());
    assert_eq!(seen.iter().filter(|kind| **kind == "travelled").count(), 1, "subscribers are told");
}

fn entry_of(event: &rein_protocol::Event) -> Option<Entry> {
    match &event.body {
        rein_protocol::EventBody::Entry { entry } => Some(entry.as_ref().clone()),
        _ => None,
    }
}

#[tokio::test]
async fn one_cannot_go_between_a_call_and_its_result_nor_while_a_turn_is_under_way() {
    let project = Project::new().file("a.txt", "alpha\n");
    let script = Script::new()
        .turn(Turn::call("read", json!({"path": "a.txt"})))
        .turn(Turn::text("read"))
        .turn(Turn::text("so far").gate("never"));
    let stage = Stage::with(project, script, Setup::default()).await;
    stage.run("go").await;
    let entries = stage.entries().await;
    for kind in ["step_started", "part", "call_started"] {
        let place = kinds(&entries).iter().position(|known| *known == kind).unwrap();
        let refused = travel(&stage, Some(entries[place].id.clone())).await;
        assert!(matches!(&refused, Err(ServiceError::Invalid { message }) if message.contains("under way")));
    }
    let unknown = travel(&stage, Some(EntryId::new())).await;
    assert!(matches!(&unknown, Err(ServiceError::Invalid { message }) if message.contains("no entry")));
    assert_eq!(stage.entries().await, entries, "nothing has changed");

    let mut run = stage.start("more").await;
    run.until(|transcript| transcript.answer() == "so far").await;
    let refused = travel(&stage, None).await;
    assert!(matches!(&refused, Err(ServiceError::Invalid { message }) if message.contains("interrupt")));
    stage.service.interrupt(&stage.session).await.unwrap();
    run.finish().await;
    travel(&stage, None).await.unwrap();
}

#[tokio::test]
async fn before_a_steering_message_the_turn_ends_and_the_conversation_stays_valid() {
    let script = Script::new()
        .turn(Turn::call("bash", json!({"command": "until [ -e go ]; do sleep 0.02; done; echo done"})))
        .turn(Turn::text("steered"))
        .turn(Turn::text("other"));
    let stage = Stage::with(Project::new(), script, Setup::mode(Mode::Free)).await;
    let mut run = stage.start("work").await;
    run.until(|transcript| transcript.open_calls().any(|(_, begun)| begun)).await;
    let steer = Prompt { delivery: Delivery::Steer, ..Prompt::text("left") };
    stage.service.prompt(&stage.session, steer).await.unwrap();
    stage.project.write("go", "");
    run.finish().await;
    let entries = stage.entries().await;
    let message = last(&entries, |body| matches!(body, EntryBody::User { delivery: Delivery::Steer, .. }));
    travel(&stage, Some(message)).await.unwrap();
    let transcript = stage.transcript().await;
    assert_eq!((transcript.turn, transcript.queue.len()), (None, 0), "it does not wait again");
    assert_eq!(transcript.stop.unwrap().0, StopReason::Interrupted);
    stage.run("right").await;
    assert_eq!(conversation(&stage), ["user: work", "model calls bash", "result: done", "user: right"]);
}

#[tokio::test]
async fn mode_model_effort_name_and_what_waits_go_along() {
    let turns = [Turn::text("one"), Turn::text("so far").gate("never"), Turn::text("three")];
    let stage = Stage::with(Project::new(), Script::new().turns(turns), Setup::mode(Mode::Free)).await;
    let change = |change: SessionChange| stage.service.change(&stage.session, change);
    change(SessionChange { mode: Some(Mode::Write), ..SessionChange::default() }).await.unwrap();
    change(SessionChange { effort: Some(Effort::High), ..SessionChange::default() }).await.unwrap();
    stage.run("first").await;
    let end = last(&stage.entries().await, is_end);
    change(SessionChange { mode: Some(Mode::Tight), ..SessionChange::default() }).await.unwrap();
    change(SessionChange { effort: Some(Effort::Low), ..SessionChange::default() }).await.unwrap();
    stage.service.rename(&stage.session, "the plan".to_owned()).await.unwrap();
    let mut run = stage.start("second").await;
    run.until(|transcript| transcript.answer() == "so far").await;
    let later = Prompt { delivery: Delivery::FollowUp, ..Prompt::text("and then") };
    stage.service.prompt(&stage.session, later).await.unwrap();
    stage.service.interrupt(&stage.session).await.unwrap();
    run.finish().await;

    travel(&stage, Some(end)).await.unwrap();
    let mut live = stage.watch(&run.turn).await;
    live.until(|transcript| {
        matches!(transcript.items.last(), Some(rein_protocol::transcript::Item::Travelled))
    })
    .await;
    live.until(|transcript| transcript.queue.len() == 1).await;
    let check = |transcript: &Transcript, info: &rein_protocol::SessionInfo| {
        assert_eq!((transcript.mode, info.mode), (Some(Mode::Tight), Mode::Tight));
        assert_eq!((transcript.effort, info.effort), (Some(Effort::Low), Some(Effort::Low)));
        assert_eq!(info.title, "the plan");
        assert_eq!(transcript.queue.len(), 1);
    };
    check(&stage.transcript().await, &stage.service.get(&stage.session).await.unwrap().info);
    let stage = stage.reopened().await;
    check(&stage.transcript().await, &stage.service.get(&stage.session).await.unwrap().info);
    stage.run("third").await;
    assert_eq!(conversation(&stage), ["user: first", "model: one", "user: and then", "user: third"]);
    assert_eq!(stage.transcript().await.queue.len(), 0);
}

#[tokio::test]
async fn what_was_read_on_another_branch_is_not_known_here() {
    let project = Project::new().file("a.txt", "one\n");
    let edit = || Turn::call("edit", json!({"path": "a.txt", "old": "one", "new": "two"}));
    let script = Script::new()
        .turn(Turn::call("read", json!({"path": "a.txt"})).and_call("todo", json!({"items": ["x"]})))
        .turn(Turn::text("read"))
        .turn(edit())
        .turn(Turn::text("not read"))
        .turn(edit())
        .turn(Turn::text("edited"));
    let stage = Stage::with(project, script, Setup::mode(Mode::Write)).await;
    stage.run("read").await;
    let end = last(&stage.entries().await, is_end);
    travel(&stage, None).await.unwrap();
    stage.run("edit").await;
    assert_eq!(statuses(&stage.transcript().await), [CallStatus::Failed]);
    travel(&stage, Some(end)).await.unwrap();
    stage.run("edit").await;
    assert_eq!(statuses(&stage.transcript().await).last(), Some(&CallStatus::Completed));
    assert_eq!(stage.project.read("a.txt"), "two\n");
}

#[tokio::test]
async fn the_tree_has_every_place_and_says_which_are_active() {
    let turns = [Turn::text("\n one\nmore"), Turn::text("two"), Turn::text("three")];
    let stage = Stage::new(Script::new().turns(turns)).await;
    assert_eq!(stage.service.tree(&stage.session).await.unwrap(), []);
    stage.run("first\nline").await;
    stage.run(&format!("second {}", "x".repeat(500))).await;
    let entries = stage.entries().await;
    travel(&stage, Some(last(&entries, is_user))).await.unwrap();
    stage.run("other").await;
    let check = async |service: &dyn rein_protocol::Service| {
        let nodes = service.tree(&stage.session).await.unwrap();
        let shape: Vec<(TreeKind, String, Option<usize>, bool)> = nodes
            .iter()
            .map(|node| {
                let parent = node.parent.as_ref();
                let parent =
                    parent.map(|parent| nodes.iter().position(|node| node.entry == *parent).unwrap());
                (node.kind, node.text.clone(), parent, node.active)
            })
            .collect();
        let long: String = format!("second {}", "x".repeat(193));
        let expected = [
            (TreeKind::User, "first", None, true),
            (TreeKind::Agent, "one", Some(0), true),
            (TreeKind::User, long.as_str(), Some(1), false),
            (TreeKind::Agent, "two", Some(2), false),
            (TreeKind::Travelled, "came here from elsewhere", Some(1), true),
            (TreeKind::User, "other", Some(4), true),
            (TreeKind::Agent, "three", Some(5), true),
        ]
        .map(|(kind, text, parent, active)| (kind, text.to_owned(), parent, active));
        assert_eq!(shape, expected);
        nodes
    };
    let nodes = check(&*stage.service).await;
    check(&*stage.another_engine()).await;
    for node in nodes {
        travel(&stage, Some(node.entry)).await.unwrap();
    }
    let refused = stage.service.tree(&rein_protocol::SessionId::new()).await;
    assert!(matches!(refused, Err(ServiceError::UnknownSession { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_fork_has_everything_up_to_its_place_and_goes_its_own_way() {
    let long = json!({"command": "seq 1 20000"});
    let script = Script::new()
        .turn(Turn::call("bash", long))
        .turn(Turn::text("counted"))
        .turn(Turn::text("two"))
        .turn_by_artifact();
    let stage = Stage::with(Project::new(), script, Setup::mode(Mode::Free)).await;
    stage.run("count").await;
    let end = last(&stage.entries().await, is_end);
    stage.run("zweitens").await;
    let original = stage.entries().await;
    let fork = stage.service.fork(&stage.session, Some(end)).await.unwrap();
    assert_eq!((fork.title.as_str(), fork.mode), ("fork of count", Mode::Free));
    assert_eq!(stage.entries().await, original, "the other stays as it was");
    let copied = stage.service.get(&fork.id).await.unwrap();
    assert!(copied.entries.iter().all(|entry| entry.session == fork.id));
    assert!(copied.entries.iter().all(|entry| !original.iter().any(|known| known.id == entry.id)));
    let of = |entries: &[Entry]| Transcript::of(entries).items.len();
    assert_eq!(of(&copied.entries), of(&original) - 2);
    let artifact = |entries: &[Entry]| {
        entries.iter().find_map(|entry| match &entry.body {
            EntryBody::CallEnded { result, .. } => result.artifact.clone(),
            _ => None,
        })
    };
    assert_ne!(artifact(&copied.entries), artifact(&original));

    stage.service.close(&stage.session).await.unwrap();
    let mut stage = stage;
    stage.session = fork.id.clone();
    let request = OpenSession { session: Some(fork.id), ..OpenSession::default() };
    stage.service.open(request).await.unwrap();
    let transcript = stage.run("read the rest").await;
    assert_eq!(statuses(&transcript), [CallStatus::Completed; 2], "{:#?}", transcript.items);
    assert!(stage.server.requests().last().unwrap().contains("15000"));
    assert!(!stage.server.requests().last().unwrap().contains("zweitens"));
}

/// Reads the artifact that the model was told of.
trait ByArtifact {
    fn turn_by_artifact(self) -> Self;
}

impl ByArtifact for Script {
    fn turn_by_artifact(self) -> Self {
        let find = |request: &rein_testkit::RecordedRequest| {
            let results = request.tool_results();
            let text = results[0].1;
            let start = text.find("art_").unwrap();
            text[start..start + 30].to_owned()
        };
        self.then_reply_with(move |request| match request.tool_results().len() {
            1 => Turn::call(
                "read",
                json!({"path": format!("artifact:{}", find(request)), "offset": 15000, "limit": 3}),
            ),
            _ => Turn::text("read"),
        })
    }
}

#[tokio::test]
async fn a_fork_of_a_session_that_works_leaves_out_what_is_under_way() {
    let script = Script::new().turn(Turn::text("one")).turn(Turn::text("so far").gate("never"));
    let stage = Stage::new(script).await;
    stage.run("first").await;
    let mut run = stage.start("second").await;
    run.until(|transcript| transcript.answer() == "so far").await;
    let fork = stage.service.fork(&stage.session, None).await.unwrap();
    assert_eq!(fork.state, rein_protocol::SessionState::Idle);
    let transcript = Transcript::of(&stage.service.get(&fork.id).await.unwrap().entries);
    assert_eq!((transcript.turn, transcript.title.unwrap().0), (None, "fork of first".to_owned()));
    let part = stage.entries().await.into_iter().rev().find(|entry| !is_user(&entry.body)).unwrap();
    let refused = stage.service.fork(&stage.session, Some(part.id)).await;
    assert!(matches!(refused, Err(ServiceError::Invalid { .. })), "{refused:?}");
    stage.service.interrupt(&stage.session).await.unwrap();
    run.finish().await;
}

#[tokio::test]
async fn a_fork_has_the_mode_of_now_and_not_that_of_then() {
    let stage = Stage::with(Project::new(), Script::new().turn(Turn::text("one")), Setup::default()).await;
    let change = |mode| SessionChange { mode: Some(mode), ..SessionChange::default() };
    stage.service.change(&stage.session, change(Mode::Free)).await.unwrap();
    stage.run("first").await;
    let end = last(&stage.entries().await, is_end);
    stage.service.change(&stage.session, change(Mode::Tight)).await.unwrap();
    let fork = stage.service.fork(&stage.session, Some(end)).await.unwrap();
    let snapshot = stage.service.get(&fork.id).await.unwrap();
    assert_eq!(snapshot.info.mode, Mode::Tight);
    assert_eq!(Transcript::of(&snapshot.entries).mode, Some(Mode::Tight));
}

#[tokio::test]
async fn a_name_is_kept_for_open_and_closed_sessions_and_is_one_line() {
    let stage = Stage::new(Script::new().turn(Turn::text("one"))).await;
    stage.run("first").await;
    let rename = |title: &str| stage.service.rename(&stage.session, title.to_owned());
    rename(" My\n\u{1b}[2Jplan ").await.unwrap();
    let title = async || stage.service.get(&stage.session).await.unwrap().info.title;
    assert_eq!(title().await, "My [2Jplan");
    let other = stage.another_engine();
    let refused = other.rename(&stage.session, "x".to_owned()).await;
    assert!(matches!(refused, Err(ServiceError::InUse { .. })), "{refused:?}");
    stage.service.close(&stage.session).await.unwrap();
    rename("closed").await.unwrap();
    assert_eq!(title().await, "closed");
    assert!(matches!(rename(" \n").await, Err(ServiceError::Invalid { .. })));
    let stage = stage.reopened().await;
    let entries = stage.entries().await;
    assert_eq!(kinds(&entries).iter().filter(|kind| **kind == "titled").count(), 2);
    assert!(entries.windows(2).all(|pair| pair[0].seq < pair[1].seq) && entries[0].seq > Seq::START);
}

#[tokio::test]
async fn effort_is_that_of_the_session_from_the_next_step_on() {
    let thinking =
        rein_llm::catalog::Thinking { style: rein_llm::catalog::ThinkingStyle::Level, ..Default::default() };
    let effort_field = Some("reasoning_effort".to_owned());
    let quirks = Some(rein_llm::Quirks { thinking, effort_field, ..Default::default() });
    let script = Script::new().turns(["one", "two", "three"].map(Turn::text));
    let stage = Stage::with(Project::new(), script, Setup { quirks, ..Setup::default() }).await;
    stage.run("first").await;
    let change = SessionChange { effort: Some(Effort::High), ..SessionChange::default() };
    stage.service.change(&stage.session, change.clone()).await.unwrap();
    stage.service.change(&stage.session, change).await.unwrap();
    stage.run("second").await;
    let stage = stage.reopened().await;
    assert_eq!(stage.service.get(&stage.session).await.unwrap().info.effort, Some(Effort::High));
    stage.run("third").await;
    let sent: Vec<bool> =
        stage.server.requests().iter().map(|request| request.body["reasoning_effort"] == "high").collect();
    assert_eq!(sent, [false, true, true]);
    let changes = kinds(&stage.entries().await).iter().filter(|kind| **kind == "effort_changed").count();
    assert_eq!(changes, 1, "what stays as it is is not said again");
}
