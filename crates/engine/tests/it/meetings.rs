//! Where two things meet that each work alone: what is said at once with plans
//! and checks, small calls with caps, forks with sums, the person's commands
//! with records of the past.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rein_config::VerifyMode;
use rein_engine::{Caps, DayCaps, PageReader, Verify};
use rein_llm::{Catalog, ModelInfo, Models, ProviderConfig, Role, RoleChoice, Roles, Wire};
use rein_permission::{Action, LayerKind, Rule};
use rein_protocol::transcript::{Item, Transcript};
use rein_protocol::{
    Answer, CallStatus, Delivery, Display, Effort, EntryBody, EventBody, Finish, Intent, Mode, Prompt, Said,
    ServiceError, SessionChange, SessionState, StopReason, Timestamp, ToolSpec, TurnId,
};
use rein_store::{Deed, FactQuery, Facts};
use rein_testkit::{ModelServer, Project, RecordedRequest, Script, Turn};
use rein_tools::webfetch::Summarise;
use rein_tools::{Complaint, Outcome, Output, Plan, Registry, Scene, Tool};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use crate::compaction::{compactions, is_for_a_summary, small, summary};
use crate::stage::{Run, Setup, Stage, kinds};

fn now(text: &str) -> Prompt {
    Prompt { delivery: Delivery::Now, ..Prompt::text(text) }
}

fn write() -> Turn {
    Turn::call("write", json!({"path": "a.txt", "content": "x\n"}))
}

fn is_check(body: &EntryBody) -> bool {
    matches!(body, EntryBody::CallStarted { intent, .. } if intent.display.title.starts_with("verify: "))
}

fn verified(command: &str) -> Setup {
    let mut setup = Setup::mode(Mode::Free);
    setup.settings.verify = Some(Verify {
        command: command.to_owned(),
        mode: VerifyMode::Enforcing,
        attempts: 3,
        timeout: Duration::from_secs(600),
    });
    setup
}

fn tokens(tokens: u64) -> Caps {
    Caps { tokens: Some(tokens), ..Caps::default() }
}

/// Somebody is there, and a small model for names.
fn named(mut setup: Setup) -> Setup {
    setup.presence = rein_engine::Presence::Person;
    setup.settings.titles = true;
    setup.models = vec![ModelInfo { id: "tiny".to_owned(), ..ModelInfo::default() }];
    setup.roles = chosen(Role::Title);
    setup
}

fn chosen(role: Role) -> Roles {
    let choice = RoleChoice { model: Some("test/tiny".parse().unwrap()), fallback: Vec::new() };
    [(role, choice)].into_iter().collect()
}

fn is_for_a_name(request: &RecordedRequest) -> bool {
    request.model() == "tiny"
}

fn notices(run: &Run) -> Vec<String> {
    let notice = |body: &EventBody| match body {
        EventBody::Notice { message } => Some(message.clone()),
        _ => None,
    };
    run.events.iter().filter_map(|event| notice(&event.body)).collect()
}

async fn asides(stage: &Stage) -> usize {
    let query = FactQuery { since: Timestamp(0), session: None, facts: Facts::Spending };
    let facts = stage.store.facts(query).await.unwrap();
    facts.iter().filter(|fact| matches!(fact.deed, Deed::Aside { .. })).count()
}

#[tokio::test]
async fn what_is_said_at_once_at_the_question_about_a_plan_changes_the_plan() {
    let script = Script::new().turn(Turn::text("first plan")).turn(Turn::text("second plan"));
    let stage = Stage::with(Project::new(), script, Setup::interactive().in_mode(Mode::Plan)).await;
    let mut run = stage.start("plan it").await;
    let ask = run.ask().await;
    let turn = stage.service.prompt(&stage.session, now("with b.txt")).await.unwrap();
    assert_eq!(turn, run.turn);
    run.until(|transcript| transcript.asks.iter().any(|other| other.id != ask.id)).await;
    assert_eq!(run.transcript.answer(), "second plan");
    assert!(stage.server.requests()[1].last_user_text().contains("with b.txt"));
    assert_eq!(run.transcript.queue.len(), 0);
}

#[tokio::test]
async fn what_is_said_at_once_during_a_check_ends_the_check_and_not_the_turn() {
    let script = Script::new()
        .turn(write())
        .turn(Turn::text("done"))
        .turn(Turn::call("write", json!({"path": "go", "content": "x\n"})))
        .turn(Turn::text("now it can pass"));
    // It passes once the file is there, and else waits for ever.
    let stage = Stage::with(Project::new(), script, verified("[ -e go ] || sleep 600")).await;
    let mut run = stage.start("go").await;
    run.until_entry(is_check).await;
    stage.service.prompt(&stage.session, now("make the file")).await.unwrap();
    let transcript = run.finish().await;
    assert_eq!(transcript.stop, Some((StopReason::EndTurn, None)));
    assert_eq!(transcript.answer(), "now it can pass");
    let entries = stage.entries().await;
    assert_eq!(entries.iter().filter(|entry| is_check(&entry.body)).count(), 2, "it is proved after all");
    assert!(stage.server.requests()[2].last_user_text().ends_with("make the file"));
}

#[tokio::test]
async fn a_process_that_dies_between_an_answer_and_what_was_said_at_once_goes_on_with_it() {
    let script = Script::reply_with(|request| match request.last_user_text().ends_with("shorter") {
        true => Turn::text("heard"),
        false => Turn::text("so far").gate("never"),
    });
    let stage = Stage::new(script).await;
    let mut run = stage.start("go").await;
    run.until(|transcript| transcript.answer() == "so far").await;
    stage.service.prompt(&stage.session, now("shorter")).await.unwrap();
    run.finish().await;
    let entries = stage.entries().await;
    let cut = |body: &EntryBody| matches!(body, EntryBody::StepEnded { finish: Finish::Interrupted, .. });
    let place = entries.iter().position(|entry| cut(&entry.body)).unwrap();
    let stage = stage.killed_after(&entries[..=place]).await;
    let state = stage.service.get(&stage.session).await.unwrap().info.state;
    assert_eq!(state, SessionState::Broken { turn: run.turn.clone() });
    let mut again = stage.watch(&run.turn).await;
    stage.service.resume(&stage.session).await.unwrap();
    let transcript = again.finish().await;
    assert_eq!((transcript.answer().as_str(), transcript.queue.len()), ("heard", 0));
}

#[tokio::test]
async fn a_call_that_was_not_begun_when_something_was_said_at_once_is_not_run_after_a_crash() {
    let script = Script::new()
        .turn(Turn::call("bash", json!({ "command": "touch made" })))
        .turn(Turn::text("never sent"))
        .turn(Turn::text("left alone"));
    let stage = Stage::with(Project::new(), script, Setup::interactive()).await;
    let mut run = stage.start("go").await;
    run.ask().await;
    stage.service.prompt(&stage.session, now("leave it")).await.unwrap();
    run.finish().await;
    let entries = stage.entries().await;
    let queued = kinds(&entries).iter().position(|kind| *kind == "queued").unwrap();
    let stage = stage.killed_after(&entries[..=queued]).await;
    assert_eq!(crate::stage::statuses(&stage.transcript().await), [CallStatus::NotRun]);
    let mut again = stage.watch(&run.turn).await;
    stage.service.resume(&stage.session).await.unwrap();
    assert_eq!(again.finish().await.answer(), "left alone");
    assert!(!stage.project.exists("made"));
    let request = stage.server.requests().pop().unwrap();
    assert!(request.last_user_text().ends_with("leave it"), "{}", request.last_user_text());
}

/// Plans, writes once that is approved, and is done when it was told that it has written.
fn plans_and_writes(request: &RecordedRequest) -> Turn {
    let written =
        |result: &str| ["Withheld", "effects unknown", "Not run"].iter().all(|other| !result.contains(other));
    match request.contains("The user approved the plan") {
        true if request.tool_results().iter().any(|(_, text)| written(text)) => Turn::text("done"),
        true => write(),
        false if request.tool_results().is_empty() => write(),
        false => Turn::text("The plan."),
    }
}

#[tokio::test]
async fn killed_between_any_two_entries_a_plan_is_approved_carried_out_and_proved_once() {
    let mut setup = verified("true");
    (setup.presence, setup.mode) = (rein_engine::Presence::Person, Mode::Plan);
    let allow = Rule::parse("bash:true", Action::Allow, "--allow").unwrap();
    let setup = setup.rules(LayerKind::User, vec![allow]);
    let mut stage = Stage::with(Project::new(), Script::reply_with(plans_and_writes), setup).await;
    let mut run = stage.start("plan it").await;
    approve_all(&stage, &mut run).await;
    let turn = run.turn.clone();
    let entries = stage.entries().await;
    let first = kinds(&entries).iter().position(|kind| *kind == "user").unwrap();
    let mut deaths = 0;
    // The approval is recorded as one.
    let approved = |body: &EntryBody| matches!(body, EntryBody::ModeChanged { mode: Mode::Write });
    let approval = entries.iter().position(|entry| approved(&entry.body)).unwrap();
    for last in (first..entries.len() - 1).filter(|last| !(approval - 1..=approval).contains(last)) {
        // Or else it would have to be read first.
        let _ = std::fs::remove_file(stage.project.path().join("a.txt"));
        stage = stage.killed_after(&entries[..=last]).await;
        let mut again = stage.watch(&turn).await;
        if stage.service.resume(&stage.session).await.unwrap().is_some() {
            deaths += 1;
            approve_all(&stage, &mut again).await;
        }
        let (there, when) = (stage.entries().await, format!("killed after {:?}", kinds(&entries[..=last])));
        let told = kinds(&there);
        assert_eq!(told.iter().filter(|kind| **kind == "turn_ended").count(), 1, "{when}: {told:?}");
        let transcript = Transcript::of(&there);
        assert_eq!(transcript.stop, Some((StopReason::EndTurn, None)), "{when}: {told:?}");
        // An answer whose end was not recorded goes on where it stopped.
        assert!(transcript.answer().ends_with("done"), "{when}: {}", transcript.answer());
        assert_eq!(transcript.mode, Some(Mode::Write), "{when}");
        let approvals = there.iter().filter(|entry| approved(&entry.body));
        assert_eq!(approvals.count(), 1, "{when}: {told:?}");
        let open = there.iter().filter(|entry| is_check(&entry.body)).count();
        assert!((1..=2).contains(&open), "{when}: {open} checks");
    }
    assert!(deaths > 15, "{deaths}");
    for request in stage.server.requests() {
        crate::review::is_valid_conversation(&request).unwrap();
    }
}

/// Follows a turn to its end, and says yes to every plan.
async fn approve_all(stage: &Stage, run: &mut Run) {
    loop {
        run.until(|transcript| transcript.stop.is_some() || !transcript.asks.is_empty()).await;
        let Some(ask) = run.transcript.asks.first().cloned() else { return };
        let said = Said { chosen: vec!["Approve (mode write)".to_owned()], text: None };
        // One of a process that died waits for nobody.
        let _ = stage.reply(&ask, Answer::Said { said }).await;
        run.until(|transcript| transcript.asks.iter().all(|other| other.id != ask.id)).await;
    }
}

#[tokio::test]
async fn a_process_that_dies_with_a_message_for_its_finished_answer_goes_on_with_it() {
    let script = Script::reply_with(|request| match request.last_user_text().ends_with("left") {
        true => Turn::text("steered"),
        false => Turn::text("answered").gate("end"),
    });
    let stage = Stage::new(script).await;
    let mut run = stage.start("go").await;
    run.until(|transcript| transcript.answer() == "answered").await;
    let steer = Prompt { delivery: Delivery::Steer, ..Prompt::text("left") };
    stage.service.prompt(&stage.session, steer).await.unwrap();
    stage.server.open_gate("end");
    run.finish().await;
    let entries = stage.entries().await;
    let place = kinds(&entries).iter().position(|kind| *kind == "step_ended").unwrap();
    let stage = stage.killed_after(&entries[..=place]).await;
    let mut again = stage.watch(&run.turn).await;
    assert_eq!(stage.service.resume(&stage.session).await.unwrap(), Some(run.turn.clone()));
    assert_eq!(again.finish().await.answer(), "steered");
}

#[tokio::test]
async fn a_name_counts_against_the_cap_of_the_run() {
    let script = Script::reply_with(|request| match is_for_a_name(request) {
        true => Turn::text("A name").usage(900, 0, 0),
        false => Turn::text("ok").usage(100, 0, 0),
    });
    let mut setup = named(Setup::default());
    setup.settings.caps = tokens(1_000);
    let stage = Stage::with(Project::new(), script, setup).await;
    let mut run = stage.start("one").await;
    run.until(|transcript| transcript.title.is_some()).await;
    assert_eq!(stage.run("two").await.stop.unwrap().0, StopReason::Budget);
    assert_eq!(stage.server.requests().len(), 2);
}

#[tokio::test]
async fn nobody_is_asked_for_a_name_or_a_summary_once_a_cap_is_reached() {
    let script = Script::reply_with(|request| match is_for_a_summary(request) {
        true => summary(request),
        false => Turn::text("w".repeat(30_000)).usage(10_000, 0, 0),
    });
    let mut setup = named(small(Some(100_000)));
    setup.settings.caps = tokens(40_000);
    setup.settings.titles = false;
    let stage = Stage::with(Project::new(), script, setup.clone()).await;
    for prompt in ["one", "two", "three", "four"] {
        stage.run(prompt).await;
    }
    let asked = stage.server.requests().len();
    let mut run = stage.watch(&TurnId::new()).await;
    stage.service.compact(&stage.session, None).await.unwrap();
    let turn = stage.service.prompt(&stage.session, Prompt::text("five")).await.unwrap();
    assert_eq!(run.follow_to_end_of(&turn).await.stop.unwrap().0, StopReason::Budget);
    assert!(compactions(&stage.entries().await).is_empty());
    let told = notices(&run);
    assert!(told.iter().any(|told| told.starts_with("nothing was compacted: the budget")), "{told:?}");
    assert_eq!(stage.server.requests().len(), asked);

    let script = Script::always(Turn::text("ok").usage(50_000, 0, 0));
    setup.settings.titles = true;
    let stage = Stage::with(Project::new(), script, setup).await;
    stage.run("one").await;
    assert_eq!(stage.run("two").await.stop.unwrap().0, StopReason::Budget);
    stage.service.close(&stage.session).await.unwrap();
    assert_eq!(stage.server.requests().iter().filter(|request| is_for_a_name(request)).count(), 0);
}

#[tokio::test]
async fn a_compaction_that_is_interrupted_has_cost_what_it_cost() {
    // The first answer cannot be used, and the second never comes.
    let script = Script::reply_with(|request| match is_for_a_summary(request) {
        true if request.contains("An earlier attempt could not be used") => {
            Turn::text("## Goal").gate("never")
        }
        true => Turn::text("I would rather not.").usage(2_000_000, 0, 0),
        false => Turn::text("w".repeat(30_000)),
    });
    let mut setup = small(Some(100_000));
    setup.settings.caps = tokens(1_000_000);
    let stage = Stage::with(Project::new(), script, setup).await;
    for prompt in ["one", "two", "three"] {
        stage.run(prompt).await;
    }
    stage.service.compact(&stage.session, None).await.unwrap();
    stage.server.wait_for_gate("never").await;
    stage.service.interrupt(&stage.session).await.unwrap();
    let turn = stage.service.prompt(&stage.session, Prompt::text("four")).await.unwrap();
    let transcript = stage.watch(&turn).await.follow_to_end_of(&turn).await;
    assert_eq!(transcript.stop.unwrap().0, StopReason::Budget);
}

#[tokio::test]
async fn a_copy_of_a_name_is_not_paid_again_and_a_handed_over_one_not_at_all() {
    let script = Script::reply_with(|request| match (is_for_a_name(request), is_for_a_summary(request)) {
        (true, _) => Turn::text("A name").usage(70, 5, 0),
        (_, true) => summary(request),
        _ => Turn::text("ok").usage(100, 0, 0),
    });
    let stage = Stage::with(Project::new(), script, named(Setup::default())).await;
    let mut run = stage.start("one").await;
    run.until(|transcript| transcript.title.is_some()).await;
    assert_eq!(asides(&stage).await, 1);
    let fork = stage.service.fork(&stage.session, None).await.unwrap();
    assert_eq!(stage.service.get(&fork.id).await.unwrap().usage.input, 170, "the copy knows what it cost");
    assert_eq!(asides(&stage).await, 1, "and the day does not pay for it twice");
    stage.service.handoff(&stage.session, None).await.unwrap();
    assert_eq!(asides(&stage).await, 1);
}

#[tokio::test]
async fn how_much_a_model_thinks_goes_along_when_a_session_is_handed_over() {
    let script = Script::reply_with(|request| match is_for_a_summary(request) {
        true => summary(request),
        false => Turn::text("ok"),
    });
    let stage = Stage::with(Project::new(), script, small(Some(100_000))).await;
    let change = SessionChange { effort: Some(Effort::High), ..SessionChange::default() };
    stage.service.change(&stage.session, change).await.unwrap();
    stage.run("one").await;
    let made = stage.service.handoff(&stage.session, None).await.unwrap();
    assert_eq!(stage.service.get(&made.id).await.unwrap().info.effort, Some(Effort::High));
}

#[tokio::test]
async fn nothing_is_handed_over_when_the_day_is_spent() {
    let mut setup = small(Some(100_000));
    setup.settings.caps.day = DayCaps { tokens: Some(1_000), ..DayCaps::default() };
    let script = Script::always(Turn::text("ok").usage(1_000, 0, 0));
    let stage = Stage::with(Project::new(), script, setup).await;
    stage.run("one").await;
    let refused = stage.service.handoff(&stage.session, None).await;
    assert!(
        matches!(&refused, Err(ServiceError::Invalid { message }) if message.contains("of today is spent"))
    );
    assert_eq!(stage.server.requests().len(), 1);
    let filter = rein_protocol::SessionFilter::default();
    assert_eq!(stage.service.list(filter).await.unwrap().len(), 1);
}

#[tokio::test]
async fn what_the_person_ran_outlives_a_compaction() {
    for model_answers in [true, false] {
        let script = Script::reply_with(move |request| match is_for_a_summary(request) {
            true if model_answers => summary(request),
            true => Turn::error(400, "down"),
            false => Turn::text("w".repeat(30_000)),
        });
        let stage = Stage::with(Project::new(), script, small(Some(100_000))).await;
        stage.run("one").await;
        let mut run = stage.watch(&TurnId::new()).await;
        stage.service.shell(&stage.session, "echo forty-two".to_owned()).await.unwrap();
        run.until_entry(|body| matches!(body, EntryBody::PersonRan { .. })).await;
        for prompt in ["two", "three", "four"] {
            stage.run(prompt).await;
        }
        stage.service.compact(&stage.session, None).await.unwrap();
        run.until(|transcript| matches!(transcript.items.last(), Some(Item::Compacted(_)))).await;
        let found = compactions(&stage.entries().await).remove(0);
        if model_answers {
            let asked = stage.server.requests().into_iter().find(is_for_a_summary).unwrap();
            assert!(
                asked.contains("[the user ran] $ echo forty-two\\nforty-two"),
                "{}",
                asked.last_user_text()
            );
        } else {
            assert!(found.summary.contains("- the user ran `echo forty-two`: done"), "{}", found.summary);
        }
    }
}

/// A tool that asks a small model.
struct Asking(Arc<PageReader>);

struct AskingPlan(Arc<PageReader>, Intent);

#[async_trait]
impl Tool for Asking {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "asking".to_owned(),
            description: "asks".to_owned(),
            input_schema: json!({"type": "object"}),
        }
    }

    async fn plan(&self, _: Value, _: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        let intent = Intent { effects: Vec::new(), display: Display::titled("asking") };
        Ok(Box::new(AskingPlan(Arc::clone(&self.0), intent)))
    }
}

#[async_trait]
impl Plan for AskingPlan {
    fn intent(&self) -> &Intent {
        &self.1
    }

    async fn run(self: Box<Self>, _: &Scene, output: &mut dyn Output, _: &CancellationToken) -> Outcome {
        let said = self.0.summarise("which version?", "the page").await;
        output.write(said.unwrap_or_else(|why| why).as_bytes());
        Outcome::completed(Display::titled("asked"))
    }
}

fn reader(server: &ModelServer) -> Arc<PageReader> {
    let provider = ProviderConfig {
        name: "test".to_owned(),
        wire: Some(Wire::OpenAiChat),
        base_url: Some(server.base_url()),
        ..ProviderConfig::default()
    };
    let catalog = Catalog::empty().with_provider(provider).unwrap();
    let http = rein_http::Client::new(rein_http::ClientOptions::default()).unwrap();
    let models = Models::new(http, catalog, |_| None).with_roles(chosen(Role::Small));
    Arc::new(PageReader::new(Arc::new(models), "test/model".parse().unwrap()))
}

#[tokio::test]
async fn pages_that_small_models_read_count_against_the_cap_of_the_run() {
    let pages = ModelServer::start(Script::always(Turn::text("Version 3.").usage(900, 0, 0))).await;
    let call = || Turn::call("asking", json!({})).usage(50, 0, 0);
    let script = Script::new().turn(call().and_call("asking", json!({"again": 1}))).turn(Turn::text("never"));
    let mut setup = Setup::mode(Mode::Free);
    setup.tools = Registry::of([Arc::new(Asking(reader(&pages))) as Arc<dyn Tool>]);
    setup.settings.caps = tokens(1_850);
    let stage = Stage::with(Project::new(), script, setup).await;
    let transcript = stage.run("read").await;
    assert_eq!(transcript.stop.unwrap().0, StopReason::Budget);
    assert_eq!((pages.requests().len(), stage.server.requests().len()), (2, 1));
    assert_eq!(crate::stage::statuses(&stage.transcript().await), [CallStatus::Completed; 2]);
}
