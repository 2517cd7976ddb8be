//! When and how room is made, and what is told of it.

use std::time::Duration;

use rein_config::Summariser;
use rein_engine::{CompactionSettings, EngineSettings};
use rein_llm::{ModelInfo, Role, RoleChoice};
use rein_protocol::transcript::{Item, Transcript};
use rein_protocol::{
    CallStatus, CompactionReason, ContextPart, ContextSection, EntryBody, EventBody, StopReason,
    SummarySource, TurnId,
};
use rein_testkit::{Project, RecordedRequest, Script, Turn};
use serde_json::json;

use crate::compaction::{STEPS, compactions, is_for_a_summary, next_step, small, summary};
use crate::stage::{Setup, Stage, statuses};

const TASK: &str = "Make the twelve steps, in order, each once.";

fn with(setup: Setup, compaction: CompactionSettings) -> Setup {
    Setup { settings: EngineSettings { compaction, ..setup.settings.clone() }, ..setup }
}

fn model(id: &str, context: u64) -> ModelInfo {
    ModelInfo { id: id.to_owned(), context: Some(context), ..ModelInfo::default() }
}

fn working() -> Script {
    Script::reply_with(|request| match is_for_a_summary(request) {
        true => summary(request),
        false => next_step(request),
    })
}

/// Twelve hundred tokens an answer; the fourth is cut.
fn cut_at_the_fourth(request: &RecordedRequest) -> Turn {
    if is_for_a_summary(request) {
        return summary(request);
    }
    let tokens = request.body_bytes.len() as u64 / 4;
    if request.contains("There was no room for the rest") {
        return Turn::text("and the rest").usage(tokens, 5, 0);
    }
    let turn = Turn::text("w ".repeat(2_400)).usage(tokens, 1_200, 0);
    if request.assistant_messages() == 3 { turn.finish("length") } else { turn }
}

#[tokio::test]
async fn an_answer_that_a_full_window_cut_goes_on_after_a_compaction() {
    let script = Script::reply_with(cut_at_the_fourth);
    let stage = Stage::with(Project::new(), script, small(Some(8_000))).await;
    for prompt in ["one", "two", "three"] {
        stage.run(prompt).await;
    }
    let transcript = stage.run("four").await;
    assert_eq!(transcript.stop, Some((StopReason::EndTurn, None)));
    assert!(transcript.answer().ends_with("and the rest"), "{}", transcript.answer().len());
    let found = compactions(&stage.entries().await);
    assert_eq!(found.iter().map(|found| found.reason).collect::<Vec<_>>(), [CompactionReason::Length]);
}

#[tokio::test]
async fn an_answer_that_its_own_limit_cut_stays_cut() {
    let models = vec![ModelInfo { output: Some(1_200), ..model("model", 8_000) }];
    let script = Script::reply_with(cut_at_the_fourth);
    let stage = Stage::with(Project::new(), script, Setup { models, ..small(None) }).await;
    for prompt in ["one", "two", "three"] {
        stage.run(prompt).await;
    }
    assert_eq!(stage.run("four").await.stop.unwrap().0, StopReason::Length);
    assert!(compactions(&stage.entries().await).is_empty());
}

fn is_compacted(transcript: &Transcript) -> bool {
    matches!(transcript.items.last(), Some(Item::Compacted(_)))
}

#[tokio::test]
async fn a_quiet_session_that_is_half_full_is_compacted_once() {
    let idle = Some(Duration::from_millis(1));
    let setup = with(small(Some(8_000)), CompactionSettings { idle, ..CompactionSettings::default() });
    let script = Script::reply_with(|request| match is_for_a_summary(request) {
        true => summary(request),
        false => Turn::text("w ".repeat(2_000)).usage(request.body_bytes.len() as u64 / 4, 1_000, 0),
    });
    let stage = Stage::with(Project::new(), script, setup).await;
    let mut run = stage.start("one").await;
    run.finish().await;
    let mut run = stage.start("two").await;
    run.until(is_compacted).await;
    let told: Vec<CompactionReason> = run
        .events
        .iter()
        .filter_map(|event| match &event.body {
            EventBody::Compacting { reason } => Some(*reason),
            _ => None,
        })
        .collect();
    assert!(!told.is_empty() && told.iter().all(|reason| *reason == CompactionReason::Idle), "{told:?}");
    let found = compactions(&stage.entries().await);
    assert!(found.iter().all(|found| found.reason == CompactionReason::Idle));
    // It is as good as any other time to say something.
    assert_eq!(stage.run("three").await.stop, Some((StopReason::EndTurn, None)));
}

#[tokio::test]
async fn a_larger_sibling_goes_on_where_that_is_wanted() {
    let promote = ModelInfo { promote: Some("large".to_owned()), ..model("model", 8_000) };
    let models = vec![promote, model("large", 100_000)];
    let wanted = CompactionSettings { promote: true, ..CompactionSettings::default() };
    let setup = with(Setup { models, ..small(None) }, wanted);
    let stage = Stage::with(Project::new(), working(), setup).await;
    let mut run = stage.start(TASK).await;
    let transcript = run.finish().await;
    assert_eq!(statuses(&transcript), [CallStatus::Completed; STEPS]);
    let entries = stage.entries().await;
    assert!(compactions(&entries).is_empty());
    let changed = entries.iter().filter(|entry| matches!(entry.body, EntryBody::ModelChanged { .. }));
    assert_eq!(changed.count(), 1);
    assert_eq!(transcript.model, Some("test/large".parse().unwrap()));
    assert!(run.events.iter().any(|event| matches!(
        &event.body, EventBody::Notice { message } if message.contains("test/large goes on")
    )));
}

#[tokio::test]
async fn an_overflow_is_also_a_reason_for_a_larger_sibling() {
    let promote = ModelInfo { promote: Some("large".to_owned()), ..model("model", 50_000) };
    let models = vec![promote, model("large", 100_000)];
    let wanted = CompactionSettings { promote: true, ..CompactionSettings::default() };
    let script = Script::reply_with(|request| match request.model() {
        "model" if request.body_bytes.len() > 16_000 => Turn::error(400, "context_length_exceeded"),
        _ => next_step(request),
    });
    let stage = Stage::with(Project::new(), script, with(Setup { models, ..small(None) }, wanted)).await;
    let transcript = stage.run(TASK).await;
    assert_eq!(transcript.answer(), "all twelve are made");
    assert_eq!(transcript.model, Some("test/large".parse().unwrap()));
}

/// A small model writes the summaries.
fn with_small() -> Setup {
    let choice = RoleChoice { model: Some("test/tiny".parse().unwrap()), fallback: Vec::new() };
    let models = vec![model("model", 8_000), model("tiny", 8_000)];
    let setup = Setup { models, roles: [(Role::Small, choice)].into_iter().collect(), ..small(None) };
    with(setup, CompactionSettings { model: Summariser::Small, ..CompactionSettings::default() })
}

#[tokio::test]
async fn the_small_model_summarises_where_settings_say_so() {
    let stage = Stage::with(Project::new(), working(), with_small()).await;
    let transcript = stage.run(TASK).await;
    assert_eq!(statuses(&transcript), [CallStatus::Completed; STEPS]);
    let found = compactions(&stage.entries().await);
    assert!(found.len() >= 3);
    for found in found {
        assert_eq!(found.source, SummarySource::Model { model: "test/tiny".parse().unwrap() });
    }
    for request in stage.server.requests() {
        assert_eq!(request.model(), if is_for_a_summary(&request) { "tiny" } else { "model" });
    }
}

#[tokio::test]
async fn a_small_model_of_unknown_cost_summarises_nothing_under_a_cap_on_cost() {
    let mut setup = with_small();
    setup.settings.caps.micro_usd = Some(1_000_000_000);
    let prices = serde_json::from_value(json!({"input": 1.0, "output": 1.0})).unwrap();
    setup.models[0].prices = Some(prices);
    let stage = Stage::with(Project::new(), working(), setup).await;
    let transcript = stage.run(TASK).await;
    assert_eq!(statuses(&transcript), [CallStatus::Completed; STEPS]);
    assert!(!compactions(&stage.entries().await).is_empty());
    assert!(stage.server.requests().iter().all(|request| request.model() == "model"));
}

#[tokio::test]
async fn the_working_model_summarises_where_the_small_one_cannot() {
    let script = Script::reply_with(|request| match (is_for_a_summary(request), request.model()) {
        (true, "tiny") => Turn::text("I would rather not."),
        (true, _) => summary(request),
        _ => next_step(request),
    });
    let stage = Stage::with(Project::new(), script, with_small()).await;
    let transcript = stage.run(TASK).await;
    assert_eq!(statuses(&transcript), [CallStatus::Completed; STEPS]);
    let found = compactions(&stage.entries().await);
    assert!(
        found
            .iter()
            .all(|found| found.source == SummarySource::Model { model: "test/model".parse().unwrap() })
    );
    // Both are paid for.
    assert!(found.iter().all(|found| found.usage.is_some()));
}

#[tokio::test]
async fn a_lower_threshold_makes_room_earlier_and_a_digest_is_told() {
    let earlier = CompactionSettings { threshold: 60, ..CompactionSettings::default() };
    let script = Script::reply_with(|request| match is_for_a_summary(request) {
        true => Turn::error(500, "down"),
        false => next_step(request),
    });
    let stage = Stage::with(Project::new(), script, with(small(Some(16_000)), earlier)).await;
    let mut run = stage.start(TASK).await;
    let transcript = run.finish().await;
    assert_eq!(statuses(&transcript), [CallStatus::Completed; STEPS]);
    let found = compactions(&stage.entries().await);
    // 60 percent of 10 667.
    assert!(!found.is_empty() && found[0].tokens_before < 9_000, "{found:?}");
    let context = stage.service.get(&stage.session).await.unwrap().context.unwrap();
    assert_eq!(context.usable, Some(6_400));
    let told =
        run.events.iter().position(|event| matches!(&event.body, EventBody::Compacting { .. })).unwrap();
    let noticed = run.events[told..].iter().any(|event| {
        matches!(
            &event.body, EventBody::Notice { message } if message.contains("no model summarised")
        )
    });
    assert!(noticed);
}

fn bytes(parts: &[ContextPart], section: ContextSection) -> u64 {
    parts.iter().filter(|part| part.section == section).map(|part| part.bytes).sum()
}

#[tokio::test]
async fn what_is_sent_is_told_part_by_part_whether_the_session_is_open_or_not() {
    let script = Script::new()
        .turn(Turn::call("read", json!({"path": "a.txt"})).usage(3_000, 20, 0))
        .turn(Turn::text("read").usage(3_400, 5, 0));
    let project = Project::new().file("a.txt", "line\n".repeat(400)).file("AGENTS.md", "Be kind.");
    let stage = Stage::with(project, script, small(Some(100_000))).await;
    stage.run("read it").await;
    let open = stage.service.context(&stage.session).await.unwrap();
    stage.service.close(&stage.session).await.unwrap();
    let parts = stage.service.context(&stage.session).await.unwrap();
    assert_eq!(parts, open);
    assert!(parts.is_sorted_by_key(|part| part.section), "in the order in which they are sent");
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    let agents = stage.project.join("AGENTS.md").canonicalize().unwrap().display().to_string();
    assert_eq!(
        names,
        ["read", "write", "system", &agents, "environment", "user", "answers", "calls", "results of read"]
    );
    let sent: u64 = parts.iter().map(|part| part.bytes).sum();
    let request = &stage.server.requests()[1];
    // Without the frame of the wire, and with an answer more.
    assert!(sent.abs_diff(request.body_bytes.len() as u64) < 1_500, "{sent} {}", request.body_bytes.len());
    assert!(bytes(&parts, ContextSection::Conversation) > 2_000);
    let unknown = stage.service.context(&rein_protocol::SessionId::new()).await;
    assert!(matches!(unknown, Err(rein_protocol::ServiceError::UnknownSession { .. })));
}

#[tokio::test]
async fn a_compaction_that_is_interrupted_or_cannot_help_is_told() {
    let script = Script::reply_with(|request| match is_for_a_summary(request) {
        true => Turn::text("## Goal").gate("never"),
        false => Turn::text("w".repeat(30_000)),
    });
    let stage = Stage::with(Project::new(), script, small(Some(100_000))).await;
    for prompt in ["one", "two", "three"] {
        stage.run(prompt).await;
    }
    let mut run = stage.watch(&TurnId::new()).await;
    stage.service.compact(&stage.session, None).await.unwrap();
    stage.server.wait_for_gate("never").await;
    stage.service.interrupt(&stage.session).await.unwrap();
    let noticed = |event: &rein_protocol::Event| matches!(&event.body, EventBody::Notice { message } if message == "nothing was compacted: it was interrupted");
    while !run.events.last().is_some_and(noticed) {
        let seen = run.events.len();
        run.until_events(seen + 1).await;
        run.transcript.stop = None;
    }
}
