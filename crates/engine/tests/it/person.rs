//! What a person does beside talking: commands of their own, notes, and taking
//! back what they allowed.

use rein_protocol::transcript::{Item, PersonRun};
use rein_protocol::{
    Answer, CallStatus, Content, EntryBody, EventBody, GivenGrant, Grant, MemoryPlace, Mode, Scope, Seq,
    ServiceError,
};
use rein_testkit::{Project, Script, Turn};
use serde_json::json;

use crate::stage::{Run, Setup, Stage, directories, kinds, statuses};

/// The person's commands, as a face sees them.
fn runs(run: &Run) -> Vec<PersonRun> {
    let runs = run.transcript.items.iter().filter_map(|item| match item {
        Item::PersonRan(run) => Some(run.as_ref().clone()),
        _ => None,
    });
    runs.collect()
}

async fn until_over(run: &mut Run) -> PersonRun {
    run.until(|transcript| {
        transcript.items.iter().any(|item| matches!(item, Item::PersonRan(run) if run.result.is_some()))
    })
    .await;
    runs(run).remove(0)
}

fn text(content: &[Content]) -> String {
    content.iter().map(|piece| if let Content::Text { text } = piece { text.as_str() } else { "" }).collect()
}

async fn watch(stage: &Stage) -> Run {
    stage.watch(&rein_protocol::TurnId::new()).await
}

fn is_alive(pid: &str) -> bool {
    std::fs::read_to_string(format!("/proc/{}/stat", pid.trim())).is_ok_and(|stat| !stat.contains(") Z "))
}

#[tokio::test]
async fn a_command_of_the_person_runs_without_asking_and_the_model_reads_of_it_with_the_next_message() {
    let project = Project::new().file("a.txt", "alpha\n");
    let script = Script::new().turn(Turn::text("one")).turn(Turn::text("two"));
    // Nobody could be asked, and in this mode models may not even write.
    let stage = Stage::with(project, script, Setup::mode(Mode::Plan)).await;
    let mut run = watch(&stage).await;
    let call = stage.service.shell(&stage.session, "cat a.txt; touch made; exit 3".to_owned()).await.unwrap();
    let ran = until_over(&mut run).await;
    let result = ran.result.unwrap();
    assert_eq!((ran.call, result.status), (call, CallStatus::Failed));
    assert_eq!(text(&result.content), "alpha\n[exit code 3]");
    assert_eq!(stage.project.files(), ["a.txt", "made"]);
    let first = run.events.iter().position(|event| matches!(event.body, EventBody::PersonRuns { .. }));
    let output = run.events.iter().position(|event| matches!(event.body, EventBody::CallOutput { .. }));
    assert!(first.is_some() && (output.is_none() || first < output));
    assert_eq!(stage.server.requests().len(), 0, "no turn begins");
    stage.run("what did I do?").await;
    let words = stage.server.requests()[0].last_user_text().to_owned();
    assert!(words.contains("$ cat a.txt; touch made; exit 3\nalpha\n[exit code 3]"), "{words}");
    assert!(words.contains("\n\nwhat did I do?"), "{words}");
    stage.run("and now?").await;
    let requests = stage.server.requests();
    assert!(!requests[1].last_user_text().contains("alpha"), "it is told once");
    assert!(requests[1].contains("alpha"));
}

#[tokio::test]
async fn it_runs_beside_a_turn_and_interrupting_ends_all_of_it() {
    let script = Script::new().turn(Turn::text("so far").gate("never")).turn(Turn::text("two"));
    let stage = Stage::new(script).await;
    let mut run = stage.start("go").await;
    run.until(|transcript| transcript.answer() == "so far").await;
    let command = "echo $$ > pid; (echo $BASHPID > child; exec sleep 1000) & echo started; wait";
    stage.service.shell(&stage.session, command.to_owned()).await.unwrap();
    run.until(|transcript| {
        transcript
            .items
            .iter()
            .any(|item| matches!(item, Item::PersonRan(run) if run.output.contains("started")))
    })
    .await;
    // Who comes late sees it too.
    let late = stage.service.get(&stage.session).await.unwrap();
    assert!(late.open.iter().any(|event| matches!(&event.body, EventBody::PersonRuns { .. })));
    stage.service.interrupt(&stage.session).await.unwrap();
    let ran = until_over(&mut run).await;
    assert_eq!(ran.result.unwrap().status, CallStatus::Interrupted);
    for file in ["pid", "child"] {
        assert!(!is_alive(&stage.project.read(file)), "{file} still runs");
    }
    run.until(|transcript| transcript.stop.is_some()).await;
    stage.run("next").await;
    assert!(stage.server.requests()[1].last_user_text().contains("started\n[interrupted by the user]"));
}

#[tokio::test]
async fn closing_ends_it_and_its_end_is_recorded() {
    let stage = Stage::new(Script::new()).await;
    let mut run = watch(&stage).await;
    stage.service.shell(&stage.session, "echo $$ > pid; echo up; sleep 1000".to_owned()).await.unwrap();
    run.until(|transcript| {
        transcript.items.iter().any(|item| matches!(item, Item::PersonRan(run) if run.output.contains("up")))
    })
    .await;
    stage.service.close(&stage.session).await.unwrap();
    assert!(!is_alive(&stage.project.read("pid")));
    assert_eq!(kinds(&stage.entries().await).last(), Some(&"person_ran"));
    let stage = stage.reopened().await;
    assert!(matches!(stage.transcript().await.items.last(), Some(Item::PersonRan(_))));
}

#[tokio::test]
async fn much_output_is_bounded_and_kept_whole_elsewhere() {
    let stage = Stage::new(Script::new()).await;
    let mut run = watch(&stage).await;
    stage.service.shell(&stage.session, "seq 1 200000".to_owned()).await.unwrap();
    let result = until_over(&mut run).await.result.unwrap();
    let told = text(&result.content);
    assert!(told.len() < 100_000 && told.contains("200000") && told.contains("artifact"), "{}", told.len());
    let path = stage.store.artifact_path(&result.artifact.unwrap()).await.unwrap().unwrap();
    assert_eq!(std::fs::read_to_string(path).unwrap().lines().count(), 200_000);
}

#[tokio::test]
async fn what_is_no_command_is_refused() {
    let stage = Stage::new(Script::new()).await;
    for command in ["", "  \n", "a\0b"] {
        let refused = stage.service.shell(&stage.session, command.to_owned()).await;
        assert!(matches!(refused, Err(ServiceError::Invalid { .. })), "{command:?}: {refused:?}");
    }
    stage.service.close(&stage.session).await.unwrap();
    let refused = stage.service.shell(&stage.session, "true".to_owned()).await;
    assert!(matches!(refused, Err(ServiceError::NotOpen { .. })), "{refused:?}");
}

#[tokio::test]
async fn a_note_is_read_by_the_next_session() {
    let stage = Stage::with(
        Project::new().file("AGENTS.md", "# Rules\r\n"),
        Script::new().turn(Turn::text("one")),
        Setup::default(),
    )
    .await;
    let remember = |note: &str, place| stage.service.remember(&stage.session, note.to_owned(), place);
    let file = remember("use tabs", MemoryPlace::Project).await.unwrap();
    assert_eq!(file, stage.project.path().canonicalize().unwrap().join("AGENTS.md"));
    assert_eq!(stage.project.read("AGENTS.md"), "# Rules\r\n- use tabs\r\n");
    let file = remember("be brief", MemoryPlace::User).await.unwrap();
    assert_eq!(std::fs::read_to_string(file).unwrap(), "- be brief\n");
    assert!(matches!(remember(" ", MemoryPlace::User).await, Err(ServiceError::Invalid { .. })));
    let stage = stage.in_a_new_session(Script::new().turn(Turn::text("two"))).await;
    stage.run("hello").await;
    let system = stage.server.requests()[0].system_text();
    assert!(system.contains("- use tabs") && system.contains("- be brief"), "{system}");
}

#[tokio::test]
async fn grants_are_listed_and_hold_no_more_once_they_are_taken_back() {
    let write = |path: &str| Turn::call("write", json!({"path": path, "content": "x\n"}));
    let script = Script::new()
        .turn(write("a.txt"))
        .turn(write("b.txt"))
        .turn(write("c.txt"))
        .turn(Turn::text("allowed"))
        .turn(write("a.txt").and_call("write", json!({"path": "b.txt", "content": "y\n"})))
        .turn(Turn::text("done"));
    let stage = Stage::with(Project::new(), script, Setup::interactive()).await;
    let mut run = stage.start("go").await;
    let scopes = [("a.txt", Scope::Session), ("b.txt", Scope::Project), ("c.txt", Scope::Everywhere)];
    for (path, scope) in scopes {
        run.until(|transcript| transcript.asks.first().is_some_and(|ask| ask.display.title.contains(path)))
            .await;
        let ask = run.transcript.asks[0].clone();
        stage.reply(&ask, Answer::Always { grants: None, scope }).await.unwrap();
    }
    run.finish().await;
    let given = |path: &str, scope| GivenGrant {
        grant: Grant { permission: "edit".to_owned(), pattern: path.to_owned() },
        scope,
    };
    let listed = async || stage.service.grants(&stage.session).await.unwrap();
    let all =
        [given("b.txt", Scope::Project), given("c.txt", Scope::Everywhere), given("a.txt", Scope::Session)];
    assert_eq!(listed().await, all);
    let revoke = |grant: GivenGrant| stage.service.revoke(&stage.session, grant);
    for grant in &all[..1] {
        revoke(grant.clone()).await.unwrap();
    }
    revoke(all[2].clone()).await.unwrap();
    assert_eq!(listed().await, all[1..2]);
    let again = revoke(all[0].clone()).await;
    assert!(matches!(again, Err(ServiceError::Invalid { .. })), "{again:?}");
    let kept = rein_config::Grants::load(&directories(&stage.project)).unwrap();
    assert_eq!(kept.list().len(), 1);

    let mut run = stage.start("again").await;
    run.until(|transcript| transcript.asks.len() == 2).await;
    for ask in run.transcript.asks.clone() {
        stage.reply(&ask, Answer::Once).await.unwrap();
    }
    assert_eq!(statuses(&run.finish().await).len(), 5);

    stage.service.close(&stage.session).await.unwrap();
    assert_eq!(listed().await, all[1..2], "also of a session that is not open");
    revoke(all[1].clone()).await.unwrap();
    assert_eq!(listed().await, []);
}

#[tokio::test]
async fn grants_of_an_earlier_session_can_be_taken_back_in_this_one() {
    use rein_permission::{Action, LayerKind, Rule};
    let project = Project::new();
    let grant = Grant { permission: "edit".to_owned(), pattern: "a.txt".to_owned() };
    let session = rein_protocol::SessionId::new();
    let new = rein_config::NewGrant::everywhere(grant.clone(), session);
    let kept = rein_config::Grants::add(&directories(&project), &[new]).unwrap();
    // As they are handed to the engine when it starts.
    let origin = format!("/config/grants.toml:3 ({})", kept[0].id);
    let rule = Rule::new("edit", "a.txt", Action::Allow, origin);
    let write = || Turn::call("write", json!({"path": "a.txt", "content": "x\n"}));
    let script = Script::new().turn(write()).turn(Turn::text("one")).turn(write()).turn(Turn::text("two"));
    let setup = Setup::default().rules(LayerKind::Session, vec![rule]);
    let stage = Stage::with(project, script, setup).await;
    stage.run("go").await;
    let given = GivenGrant { grant, scope: Scope::Everywhere };
    assert_eq!(stage.service.grants(&stage.session).await.unwrap(), std::slice::from_ref(&given));
    stage.service.revoke(&stage.session, given).await.unwrap();
    let transcript = stage.run("again").await;
    assert_eq!(statuses(&transcript), [CallStatus::Completed, CallStatus::Refused]);
}

#[tokio::test]
async fn a_command_that_ends_in_the_middle_of_a_turn_does_not_disturb_it() {
    let project = Project::new().file("a.txt", "alpha\n");
    let script = Script::new()
        .turn(Turn::text("thinking").gate("go").and_call("read", json!({"path": "a.txt"})))
        .turn(Turn::text("read"))
        .turn(Turn::text("two"));
    let stage = Stage::with(project, script, Setup::default()).await;
    let mut run = stage.start("go").await;
    run.until(|transcript| transcript.answer() == "thinking").await;
    stage.service.shell(&stage.session, "echo hello".to_owned()).await.unwrap();
    until_over(&mut run).await;
    stage.server.open_gate("go");
    assert_eq!(run.finish().await.answer(), "read");
    let entries = stage.entries().await;
    let order = kinds(&entries);
    let place = |kind: &str| order.iter().position(|known| *known == kind).unwrap();
    assert!(place("step_started") < place("person_ran") && place("person_ran") < place("step_ended"));
    assert!(!stage.server.requests()[1].contains("echo hello"), "not before the person says something");
    stage.run("next").await;
    assert!(stage.server.requests()[2].last_user_text().contains("$ echo hello\nhello"));
    assert!(
        entries.iter().any(|entry| matches!(entry.body, EntryBody::PersonRan { .. }))
            && Seq::START < entries[0].seq
    );
}
