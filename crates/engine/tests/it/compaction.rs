//! Work that is longer than the model's window.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::StreamExt;
use rein_protocol::transcript::{Item, Transcript};
use rein_protocol::{
    Author, CallStatus, Compaction, CompactionReason, Cost, Delivery, Entry, EntryBody, EntryId, Mode,
    OpenSession, Prompt, Seq, ServiceError, SessionId, SessionState, StopReason, SummarySource, Timestamp,
    ToolInput, TurnId,
};
use rein_store::NewSession;
use rein_testkit::{Project, RecordedRequest, Said, Script, Turn};
use rein_tools::Registry;
use serde_json::json;

use crate::stage::{Setup, Stage, kinds, statuses};

pub const STEPS: usize = 12;

/// A setup with few tools, so that a small window is not filled by them.
pub fn small(window: Option<u64>) -> Setup {
    let all = Registry::builtin();
    let tools = Registry::of(["read", "write"].map(|name| Arc::clone(all.get(name).unwrap())));
    Setup { window, tools, ..Setup::mode(Mode::Write) }
}

pub fn is_for_a_summary(request: &RecordedRequest) -> bool {
    request.tools.is_empty()
}

/// The steps of which the conversation shows that they were made.
fn seen(request: &RecordedRequest) -> Vec<usize> {
    let mut text = String::new();
    for said in &request.said {
        match said {
            Said::System(_) => {}
            Said::User(words) | Said::Tool { text: words, .. } => text.push_str(words),
            Said::Assistant { text: words, calls } => {
                text.push_str(words);
                calls.iter().for_each(|call| text.push_str(&call.arguments));
            }
        }
    }
    (1..=STEPS).filter(|step| text.contains(&format!("step-{step}.txt"))).collect()
}

/// An agent that knows nothing but the conversation: it makes the step after the last one that it can see.
pub fn next_step(request: &RecordedRequest) -> Turn {
    let tokens = request.body_bytes.len() as u64 / 4;
    let next = seen(request).last().map_or(1, |last| last + 1);
    let turn = match next > STEPS {
        true => Turn::text("all twelve are made"),
        false => {
            let content = format!("{next}\n").repeat(900);
            Turn::call("write", json!({ "path": format!("step-{next}.txt"), "content": content }))
        }
    };
    turn.usage(tokens, 600, 0)
}

/// A summary of what it was shown.
pub fn summary(request: &RecordedRequest) -> Turn {
    let made: Vec<String> = seen(request).iter().map(|step| format!("- step-{step}.txt")).collect();
    Turn::text(format!(
        "## Goal\ntwelve files\n## Instructions\nnone\n## Discoveries\nnone\n## Accomplished\n{}\n## Relevant files\nnone\n## Next\nthe next file",
        made.join("\n")
    ))
    .usage(request.body_bytes.len() as u64 / 4, 80, 0)
}

pub fn compactions(entries: &[Entry]) -> Vec<Compaction> {
    let found = entries.iter().filter_map(|entry| match &entry.body {
        EntryBody::Compacted { compaction } => Some(compaction.as_ref().clone()),
        _ => None,
    });
    found.collect()
}

async fn assert_twelve_steps_are_made_once(stage: &Stage) -> Vec<Compaction> {
    let transcript = stage.run("Make the twelve steps, in order, each once.").await;
    assert_eq!(transcript.stop, Some((StopReason::EndTurn, None)));
    assert_eq!(transcript.answer(), "all twelve are made");
    assert_eq!(statuses(&transcript), [CallStatus::Completed; STEPS], "no step is made twice");
    assert_eq!(stage.project.files().len(), STEPS);
    for request in stage.server.requests() {
        assert!(request.body_bytes.len() / 4 < 8_000, "{} bytes", request.body_bytes.len());
        if !is_for_a_summary(&request) {
            assert!(
                request.contains("Make the twelve steps, in order, each once."),
                "the task is never lost"
            );
        }
    }
    let compactions = compactions(&stage.entries().await);
    assert!(compactions.len() >= 3, "{}", compactions.len());
    assert!(compactions.iter().all(|compaction| compaction.tokens_after < compaction.tokens_before));
    compactions
}

#[tokio::test]
async fn a_task_of_twelve_steps_is_finished_in_a_window_for_five() {
    let script = Script::reply_with(|request| match is_for_a_summary(request) {
        true => summary(request),
        false => next_step(request),
    });
    let stage = Stage::with(Project::new(), script, small(Some(8_000))).await;
    let compactions = assert_twelve_steps_are_made_once(&stage).await;
    for compaction in &compactions {
        assert_eq!(compaction.reason, CompactionReason::Threshold);
        assert_eq!(compaction.source, SummarySource::Model { model: "test/model".parse().unwrap() });
        assert!(compaction.usage.is_some());
        assert!(!compaction.carried.files.is_empty());
    }
    let snapshot = stage.service.get(&stage.session).await.unwrap();
    let context = snapshot.context.unwrap();
    assert_eq!((context.window, context.usable), (Some(8_000), Some(5_334)));
    assert!(context.used > context.base && context.base > 500, "{context:?}");
}

#[tokio::test]
async fn it_is_finished_also_when_no_summary_can_be_used_or_had() {
    for answer in [Turn::text("I cannot help with that."), Turn::error(500, "down"), Turn::empty()] {
        let script = Script::reply_with(move |request| match is_for_a_summary(request) {
            true => answer.clone(),
            false => next_step(request),
        });
        let stage = Stage::with(Project::new(), script, small(Some(8_000))).await;
        let compactions = assert_twelve_steps_are_made_once(&stage).await;
        let digests =
            compactions.iter().filter(|compaction| matches!(compaction.source, SummarySource::Digest { .. }));
        assert_eq!(digests.count(), compactions.len());
    }
}

#[tokio::test]
async fn a_summary_that_cannot_be_used_is_asked_for_once_more() {
    let asked = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&asked);
    let script = Script::reply_with(move |request| match is_for_a_summary(request) {
        true if counted.fetch_add(1, Ordering::SeqCst).is_multiple_of(2) => Turn::text("Sure!"),
        true => summary(request),
        false => next_step(request),
    });
    let stage = Stage::with(Project::new(), script, small(Some(8_000))).await;
    let compactions = assert_twelve_steps_are_made_once(&stage).await;
    assert!(compactions.iter().all(|found| matches!(found.source, SummarySource::Model { .. })));
    assert_eq!(asked.load(Ordering::SeqCst), 2 * compactions.len());
    assert!(stage.server.requests().iter().any(|request| request.contains("it had no section `Goal`")));
}

#[tokio::test]
async fn an_overflow_of_an_unknown_window_is_compacted_and_gone_on_from() {
    let script = Script::reply_with(|request| {
        if request.body_bytes.len() > 24_000 {
            return Turn::error(400, "This model's maximum context length is 6000 tokens.");
        }
        if is_for_a_summary(request) { summary(request) } else { next_step(request).no_usage() }
    });
    let stage = Stage::with(Project::new(), script, small(None)).await;
    let transcript = stage.run("Make the twelve steps, in order, each once.").await;
    assert_eq!(transcript.answer(), "all twelve are made");
    assert_eq!(statuses(&transcript), [CallStatus::Completed; STEPS]);
    let compactions = compactions(&stage.entries().await);
    assert!(!compactions.is_empty());
    assert!(compactions.iter().all(|found| found.reason == CompactionReason::Overflow));
}

#[tokio::test]
async fn a_conversation_that_never_fits_stops_with_the_reason() {
    let script = Script::reply_with(|request| match (is_for_a_summary(request), seen(request).len()) {
        (false, 0 | 1) => next_step(request),
        _ => Turn::error(400, "This model's maximum context length is 10 tokens."),
    });
    let stage = Stage::with(Project::new(), script, small(None)).await;
    let transcript = stage.run("go").await;
    let (stop, message) = transcript.stop.unwrap();
    assert_eq!(stop, StopReason::ModelError);
    let message = message.unwrap();
    assert!(message.contains("fit the model's window") && message.contains("is 10 tokens"), "{message}");
    assert!(stage.server.requests().len() < 20, "{}", stage.server.requests().len());
}

#[tokio::test]
async fn a_person_can_have_it_compacted_with_a_focus() {
    let script = Script::reply_with(|request| match is_for_a_summary(request) {
        true => summary(request),
        false => Turn::text("w".repeat(30_000)),
    });
    let stage = Stage::with(Project::new(), script, small(Some(100_000))).await;
    let empty = stage.service.compact(&stage.session, None).await;
    assert!(matches!(empty, Err(ServiceError::Invalid { .. })), "{empty:?}");
    for prompt in ["one", "two", "three", "four"] {
        stage.run(prompt).await;
    }
    let mut run = stage.watch(&TurnId::new()).await;
    stage.service.compact(&stage.session, Some("the colour".to_owned())).await.unwrap();
    // What is said in the meantime waits its turn.
    let turn = stage.service.prompt(&stage.session, Prompt::text("five")).await.unwrap();
    run.follow_to_end_of(&turn).await;
    let entries = stage.entries().await;
    let found = compactions(&entries);
    assert_eq!(found.iter().map(|found| found.reason).collect::<Vec<_>>(), [CompactionReason::Manual]);
    let words: Vec<&str> = found[0].carried.words.iter().map(|words| words.text.as_str()).collect();
    assert_eq!(words, ["one", "two", "three"], "the last turn is kept as it was");
    let requests = stage.server.requests();
    assert!(requests.iter().any(|request| is_for_a_summary(request) && request.contains("the colour")));
    let last = requests.last().unwrap();
    assert_eq!(last.last_user_text(), "five");
    assert_eq!(last.assistant_messages(), 1, "of four");
    for said in ["one", "two", "three", "four"] {
        assert_eq!(
            last.said.iter().filter(|words| matches!(words, Said::User(text) if text.contains(said))).count(),
            1
        );
    }
}

#[tokio::test]
async fn an_interrupt_while_it_is_summarised_changes_nothing() {
    let script = Script::reply_with(|request| match is_for_a_summary(request) {
        true => Turn::text("## Goal").gate("never"),
        false => Turn::text("w".repeat(30_000)),
    });
    let stage = Stage::with(Project::new(), script, small(Some(100_000))).await;
    for prompt in ["one", "two", "three"] {
        stage.run(prompt).await;
    }
    let before = stage.entries().await;
    stage.service.compact(&stage.session, None).await.unwrap();
    stage.server.wait_for_gate("never").await;
    stage.service.interrupt(&stage.session).await.unwrap();
    stage.service.close(&stage.session).await.unwrap();
    let stage = stage.reopened().await;
    assert_eq!(stage.entries().await, before);
    assert_eq!(stage.service.get(&stage.session).await.unwrap().info.state, SessionState::Idle);
    assert!(stage.run("four").await.stop.is_some());
}

#[tokio::test]
async fn a_crash_after_a_compaction_loses_nothing() {
    let stage = Stage::with(Project::new(), Script::new().turn(Turn::text("done")), small(Some(8_000))).await;
    stage.service.close(&stage.session).await.unwrap();
    let turn = TurnId::new();
    let compaction = Compaction {
        reason: CompactionReason::Threshold,
        first_kept: None,
        summary: "SUMMARY OF IT".to_owned(),
        source: SummarySource::Digest { why: "a test".to_owned() },
        carried: Default::default(),
        tokens_before: 9,
        tokens_after: 3,
        usage: None,
        cost: Cost::ZERO,
    };
    let content = vec![rein_protocol::Content::text("HIDDEN WORDS")];
    let bodies = [
        EntryBody::User {
            turn: turn.clone(),
            content,
            delivery: Delivery::Prompt,
            queued: None,
            author: Author::Person,
        },
        EntryBody::Compacted { compaction: Box::new(compaction) },
    ];
    let mut parent = None;
    let mut seq = Seq::START.next_epoch().next_epoch();
    let entries = bodies.into_iter().map(|body| {
        seq = seq.next();
        let id = EntryId::new();
        Entry {
            parent: parent.replace(id.clone()),
            id,
            session: stage.session.clone(),
            seq,
            at: Timestamp::now(),
            body,
        }
    });
    stage.store.append(&stage.session, entries.collect()).await.unwrap();

    let stage = stage.reopened().await;
    let mut run = stage.watch(&turn).await;
    assert_eq!(stage.service.resume(&stage.session).await.unwrap(), Some(turn));
    assert_eq!(run.finish().await.answer(), "done");
    let request = &stage.server.requests()[0];
    assert!(request.contains("SUMMARY OF IT") && !request.contains("HIDDEN WORDS"));
    assert_eq!(kinds(&stage.entries().await)[..2], ["user", "compacted"]);
}

#[tokio::test]
async fn a_conversation_that_does_not_fit_the_summariser_is_shown_in_chunks() {
    let script = Script::reply_with(|request| match is_for_a_summary(request) {
        true if request.body_bytes.len() > 12_000 => Turn::error(400, "context_length_exceeded"),
        true => summary(request),
        false => Turn::text("w".repeat(3_000)),
    });
    let stage = Stage::with(Project::new(), script, small(Some(100_000))).await;
    for index in 0..24 {
        stage.run(&format!("prompt {index}")).await;
    }
    let mut run = stage.watch(&TurnId::new()).await;
    stage.service.compact(&stage.session, None).await.unwrap();
    run.until(|transcript| matches!(transcript.items.last(), Some(Item::Compacted(_)))).await;
    let found = compactions(&stage.entries().await);
    assert!(matches!(found[0].source, SummarySource::Model { .. }), "{:?}", found[0].source);
    let chunks = stage.server.requests().into_iter().filter(is_for_a_summary);
    let shown: String = chunks.map(|request| request.last_user_text().to_owned()).collect();
    let skipped = (0..10).filter(|index| !shown.contains(&format!("prompt {index}\n"))).count();
    assert_eq!(skipped, 0, "everything is shown");
    let carried: Vec<&str> = found[0].carried.words.iter().map(|words| words.text.as_str()).collect();
    assert_eq!(carried[..3], ["prompt 0", "prompt 1", "prompt 2"]);
}

#[tokio::test]
async fn results_are_left_out_before_anything_is_summarised() {
    // Thirty reads of 3 000 tokens in a window for twenty, of which all but the newest can be had again.
    let script = Script::reply_with(|request| {
        assert!(!is_for_a_summary(request), "nothing needs to be summarised");
        let read = request.assistant_messages();
        let turn = match read < 30 {
            true => Turn::call("read", json!({ "path": format!("f{read}.txt") })),
            false => Turn::text("read them all"),
        };
        turn.usage(request.body_bytes.len() as u64 / 4, 20, 0)
    });
    let mut project = Project::new();
    for index in 0..30 {
        project =
            project.file(format!("f{index}.txt"), format!("line of {index} with some words\n").repeat(350));
    }
    let stage = Stage::with(project, script, small(Some(90_000))).await;
    let transcript = stage.run("read them").await;
    assert_eq!(transcript.answer(), "read them all");
    let entries = stage.entries().await;
    let kinds = kinds(&entries);
    assert!(kinds.contains(&"pruned") && !kinds.contains(&"compacted"), "{kinds:?}");
    let requests = stage.server.requests();
    assert!(requests.iter().all(|request| request.body_bytes.len() / 4 < 70_000));
    let last = requests.last().unwrap();
    assert_eq!(last.tool_results().len(), 30, "every call still has a result");
    assert!(last.tool_results()[0].1.contains("f0.txt again if you need it"), "{:?}", last.tool_results()[0]);
    // Between two prunes each request begins with the one before.
    let prunes = kinds.iter().filter(|kind| **kind == "pruned").count();
    let changed = requests.windows(2).filter(|pair| {
        let messages = |request: &RecordedRequest| request.body["messages"].as_array().unwrap().clone();
        let (one, next) = (messages(&pair[0]), messages(&pair[1]));
        next[..one.len()] != one[..]
    });
    assert_eq!(changed.count(), prunes);
    stage.server.assert_done();
}

/// The entries as those of another session, with what they say of each other.
pub fn moved(entries: &[Entry], session: &SessionId) -> Vec<Entry> {
    let ids: HashMap<EntryId, EntryId> =
        entries.iter().map(|entry| (entry.id.clone(), EntryId::new())).collect();
    let moved = entries.iter().map(|entry| {
        let mut entry = Entry { session: session.clone(), ..entry.clone() };
        entry.id = ids[&entry.id].clone();
        entry.parent = entry.parent.map(|parent| ids[&parent].clone());
        if let EntryBody::Compacted { compaction } = &mut entry.body {
            compaction.first_kept = compaction.first_kept.take().map(|first| ids[&first].clone());
        }
        entry
    });
    moved.collect()
}

#[tokio::test]
async fn killed_before_or_after_any_compaction_the_work_goes_on_and_nothing_is_done_twice() {
    let script = Script::reply_with(|request| match is_for_a_summary(request) {
        true => summary(request),
        false => next_step(request),
    });
    let stage = Stage::with(Project::new(), script, small(Some(8_000))).await;
    assert_twelve_steps_are_made_once(&stage).await;
    let whole = stage.entries().await;
    let compacted =
        whole.iter().enumerate().filter(|(_, entry)| matches!(entry.body, EntryBody::Compacted { .. }));
    for place in compacted.flat_map(|(place, _)| [place, place + 1, place + 2, place + 4]) {
        stage.project.files().iter().for_each(|file| std::fs::remove_file(stage.project.join(file)).unwrap());
        let session = SessionId::new();
        let new = NewSession {
            id: session.clone(),
            workspace: stage.project.path().to_owned(),
            model: Some("test/model".parse().unwrap()),
            mode: Mode::Write,
            at: Timestamp::now(),
        };
        stage.store.create_session(new).await.unwrap();
        stage.store.append(&session, moved(&whole[..place], &session)).await.unwrap();
        let request = OpenSession { session: Some(session.clone()), ..OpenSession::default() };
        stage.service.open(request).await.unwrap();
        let mut events = stage.service.subscribe(&session, Seq::START).await.unwrap();
        if stage.service.resume(&session).await.unwrap().is_none() {
            assert!(place + 2 >= whole.len(), "only the last words end a turn; died after {place}");
            continue;
        }
        let mut transcript = Transcript::default();
        while transcript.stop.is_none() {
            transcript.apply(&events.next().await.unwrap());
        }
        assert_eq!(transcript.answer(), "all twelve are made", "died after {place}");
        let steps: Vec<String> = transcript.items.iter().filter_map(step_of).collect();
        let expected: Vec<String> = (1..=STEPS).map(|step| format!("step-{step}.txt")).collect();
        assert_eq!(steps, expected, "died after {place}");
    }
}

/// The file that a call writes.
fn step_of(item: &Item) -> Option<String> {
    let Item::Call(call) = item else { return None };
    let ToolInput::Json { value } = &call.call.as_ref()?.input else { return None };
    Some(value["path"].as_str()?.to_owned())
}

#[tokio::test]
async fn instructions_and_tools_that_fill_most_of_a_window_are_no_reason_not_to_ask() {
    let stage = Stage::with(Project::new(), Script::new().turn(Turn::text("here")), small(Some(1_200))).await;
    assert_eq!(stage.run("are you there?").await.answer(), "here");
    let context = stage.service.get(&stage.session).await.unwrap().context.unwrap();
    assert!(context.base >= context.usable.unwrap(), "{context:?}");
}
