//! The fake service: turns as a face sees them.

use std::time::Duration;

use futures_util::StreamExt;
use rein_protocol::entry::{CallStatus, Delivery, EntryBody, Finish, StopReason};
use rein_protocol::event::{Event, EventBody, PartKind, SessionState};
use rein_protocol::message::Content;
use rein_protocol::service::{EventStream, OpenSession, Prompt, Service, ServiceError};
use rein_protocol::transcript::{Item, Liveness, Transcript};
use rein_protocol::{Answer, Ask, AskId, Reply, Seq, SessionId};
use rein_testkit::{Act, FaceCall, FakeCall, FakeService, Operation};
use serde_json::json;

pub async fn opened(service: &FakeService) -> (SessionId, EventStream) {
    let info = service.open(OpenSession::default()).await.unwrap();
    let stream = service.subscribe(&info.id, Seq::START).await.unwrap();
    (info.id, stream)
}

/// The next events, up to the one that `last` recognises.
pub async fn until(stream: &mut EventStream, last: impl Fn(&EventBody) -> bool) -> Vec<Event> {
    let mut events = Vec::new();
    let collecting = async {
        while let Some(event) = stream.next().await {
            let found = last(&event.body);
            events.push(event);
            if found {
                return true;
            }
        }
        false
    };
    let found = tokio::time::timeout(Duration::from_secs(30), collecting).await;
    assert_eq!(found, Ok(true), "{:?}", words(&events));
    events
}

pub fn is_turn_end(body: &EventBody) -> bool {
    matches!(body, EventBody::Entry { entry } if matches!(entry.body, EntryBody::TurnEnded { .. }))
}

pub fn is_ask(body: &EventBody) -> bool {
    matches!(body, EventBody::Entry { entry } if matches!(entry.body, EntryBody::Asked { .. }))
}

/// What each event is, in a word.
pub fn words(events: &[Event]) -> Vec<&'static str> {
    let word = |event: &Event| match &event.body {
        EventBody::Job { .. } => "job",
        EventBody::PartDelta { .. } => "delta",
        EventBody::CallOutput { .. } => "output",
        EventBody::Retrying { .. } => "retrying",
        EventBody::Broken { .. } => "broken",
        EventBody::Compacting { .. } => "compacting",
        EventBody::PersonRuns { .. } => "person runs",
        EventBody::Notice { .. } => "notice",
        EventBody::Entry { entry } => match &entry.body {
            EntryBody::Queued { .. } => "queued",
            EntryBody::User { .. } => "user",
            EntryBody::StepStarted { .. } => "step",
            EntryBody::Part { .. } => "part",
            EntryBody::StepEnded { .. } => "step ended",
            EntryBody::Asked { .. } => "asked",
            EntryBody::Decided { .. } => "decided",
            EntryBody::CallStarted { .. } => "started",
            EntryBody::CallEnded { .. } => "ended",
            EntryBody::TurnEnded { .. } => "turn ended",
            EntryBody::ModelChanged { .. } => "model",
            EntryBody::ModeChanged { .. } => "mode",
            EntryBody::Recovered { .. } => "recovered",
            EntryBody::QueueChanged { .. } => "queue changed",
            EntryBody::Pruned { .. } => "pruned",
            EntryBody::Compacted { .. } => "compacted",
            EntryBody::Travelled { .. } => "travelled",
            EntryBody::PersonRan { .. } => "person ran",
            EntryBody::Titled { .. } => "titled",
            EntryBody::EffortChanged { .. } => "effort",
        },
    };
    events.iter().map(word).collect()
}

fn folded(events: &[Event]) -> Transcript {
    let mut transcript = Transcript::default();
    events.iter().for_each(|event| transcript.apply(event));
    transcript
}

fn statuses(transcript: &Transcript) -> Vec<Option<CallStatus>> {
    let calls = transcript.items.iter().filter_map(|item| match item {
        Item::Call(call) => Some(call.result.as_ref().map(|result| result.status)),
        _ => None,
    });
    calls.collect()
}

fn answer(ask: &Ask, answer: Answer) -> Reply {
    Reply { ask: ask.id.clone(), answer }
}

#[tokio::test]
async fn a_prompt_is_answered_by_its_scene_in_order_and_in_one_turn() {
    let service = FakeService::new().on_prompt([Act::think_and_say("hm", "Hello, this is a long answer.")]);
    let (id, mut stream) = opened(&service).await;
    let turn = service.prompt(&id, Prompt::text("hi")).await.unwrap();
    let events = until(&mut stream, is_turn_end).await;
    let expected = ["user", "step", "delta", "part", "delta", "delta", "part", "step ended", "turn ended"];
    assert_eq!(words(&events), expected);
    assert!(events.windows(2).all(|pair| pair[0].seq < pair[1].seq));
    assert!(events.iter().all(|event| event.session == id));
    let transcript = folded(&events);
    assert_eq!(transcript.answer(), "Hello, this is a long answer.");
    assert_eq!(transcript.stop, Some((StopReason::EndTurn, None)));
    let turns = events.iter().filter_map(|event| match &event.body {
        EventBody::Entry { entry } => match &entry.body {
            EntryBody::User { turn, .. } | EntryBody::TurnEnded { turn, .. } => Some(turn.clone()),
            _ => None,
        },
        EventBody::PartDelta { turn, .. } => Some(turn.clone()),
        _ => None,
    });
    assert!(turns.into_iter().all(|found| found == turn));
    assert_eq!(service.prompts(), [Prompt::text("hi")]);
    let info = service.get(&id).await.unwrap().info;
    assert_eq!((info.title.as_str(), info.state), ("hi", SessionState::Idle));
    service.assert_done();
}

#[tokio::test]
async fn raw_events_are_played_with_the_real_ids() {
    let delta = EventBody::PartDelta {
        turn: rein_protocol::TurnId::new(),
        part: rein_protocol::PartId::new(),
        kind: PartKind::Text,
        delta: "par".to_owned(),
    };
    let service = FakeService::new().on_prompt(vec![delta]);
    let (id, mut stream) = opened(&service).await;
    let turn = service.prompt(&id, Prompt::text("hi")).await.unwrap();
    let events = until(&mut stream, is_turn_end).await;
    assert_eq!(words(&events), ["user", "delta", "turn ended"]);
    assert!(matches!(&events[1].body, EventBody::PartDelta { turn: found, .. } if *found == turn));
}

#[tokio::test]
async fn an_ask_waits_for_its_reply_and_a_yes_runs_the_call() {
    let call = FakeCall::new("bash", json!({"command": "ls"})).asks("bash", "ls").prints("a\n").returns("a");
    let service = FakeService::new().on_prompt([Act::call(call), Act::say("done")]);
    let (id, mut stream) = opened(&service).await;
    let turn = service.prompt(&id, Prompt::text("hi")).await.unwrap();
    let ask = service.wait_for_ask().await;
    assert_eq!((&ask.session, &ask.turn), (&id, &turn));
    let mut events = until(&mut stream, is_ask).await;
    assert_eq!(service.get(&id).await.unwrap().asks, std::slice::from_ref(&ask));
    let wrong = Reply { ask: AskId::new(), answer: Answer::Once };
    let unknown = ServiceError::UnknownAsk { ask: wrong.ask.clone() };
    assert_eq!(service.reply(&id, wrong).await, Err(unknown));
    service.reply(&id, answer(&ask, Answer::Once)).await.unwrap();
    let settled = ServiceError::UnknownAsk { ask: ask.id.clone() };
    assert_eq!(service.reply(&id, answer(&ask, Answer::Once)).await, Err(settled));
    let rest = until(&mut stream, is_turn_end).await;
    let expected =
        ["decided", "started", "output", "ended", "step", "delta", "part", "step ended", "turn ended"];
    assert_eq!(words(&rest), expected);
    events.extend(rest);
    assert_eq!(statuses(&folded(&events)), [Some(CallStatus::Completed)]);
    assert_eq!(service.replies().len(), 3);
    service.assert_done();
}

#[tokio::test]
async fn a_no_with_words_goes_on_and_one_without_ends_the_turn() {
    let call = || FakeCall::new("bash", json!({})).asks("bash", "x");
    let service = FakeService::new()
        .on_prompt([Act::call(call()), Act::say("then this")])
        .on_prompt([Act::calls([call(), call()]), Act::say("never said")]);
    let (id, mut stream) = opened(&service).await;
    service.prompt(&id, Prompt::text("one")).await.unwrap();
    let ask = service.wait_for_ask().await;
    let no = Answer::Reject { message: Some("not now".to_owned()) };
    service.reply(&id, answer(&ask, no)).await.unwrap();
    let first = folded(&until(&mut stream, is_turn_end).await);
    assert_eq!((statuses(&first), first.answer().as_str()), (vec![Some(CallStatus::Rejected)], "then this"));
    let told = first.call(&ask.call).unwrap().result.clone().unwrap().content;
    assert_eq!(told, [Content::text("not now")]);

    service.prompt(&id, Prompt::text("two")).await.unwrap();
    let ask = service.wait_for_ask().await;
    service.reply(&id, answer(&ask, Answer::Reject { message: None })).await.unwrap();
    let second = folded(&until(&mut stream, is_turn_end).await);
    assert_eq!(statuses(&second), [Some(CallStatus::Rejected), Some(CallStatus::NotRun)]);
    assert_eq!(second.stop, Some((StopReason::Rejected, None)));
    assert_eq!(second.asks, []);
    service.assert_done();
}

#[tokio::test]
async fn an_interrupt_closes_everything_and_without_a_turn_does_nothing() {
    let running = FakeCall::new("bash", json!({})).holds("never");
    let service = FakeService::new()
        .on_prompt([Act::calls([running, FakeCall::new("read", json!({}))])])
        .on_prompt([Act::begin_to_say("half a sen"), Act::hold("never")]);
    let (id, mut stream) = opened(&service).await;
    service.interrupt(&id).await.unwrap();
    service.prompt(&id, Prompt::text("one")).await.unwrap();
    let started = |body: &EventBody| matches!(body, EventBody::Entry { entry } if matches!(entry.body, EntryBody::CallStarted { .. }));
    let mut events = until(&mut stream, started).await;
    assert_eq!(events[0].seq, Seq::START.next_epoch().next_epoch().next());
    service.interrupt(&id).await.unwrap();
    events.extend(until(&mut stream, is_turn_end).await);
    let first = folded(&events);
    assert_eq!(statuses(&first), [Some(CallStatus::Interrupted), Some(CallStatus::NotRun)]);
    assert_eq!(first.stop, Some((StopReason::Interrupted, None)));

    service.prompt(&id, Prompt::text("two")).await.unwrap();
    let mut events = until(&mut stream, |body| matches!(body, EventBody::PartDelta { .. })).await;
    service.interrupt(&id).await.unwrap();
    events.extend(until(&mut stream, is_turn_end).await);
    assert_eq!(words(&events), ["user", "delta", "part", "turn ended"]);
    assert_eq!(folded(&events).answer(), "half a sen");
    assert_eq!(service.interrupts(), [id.clone(), id.clone(), id]);
}

#[tokio::test]
async fn messages_wait_for_their_moment() {
    let service =
        FakeService::new().on_prompt([Act::hold("go"), Act::say("one")]).on_prompt([Act::say("two")]);
    let (id, mut stream) = opened(&service).await;
    let turn = service.prompt(&id, Prompt::text("one")).await.unwrap();
    let steer = Prompt { delivery: Delivery::Steer, ..Prompt::text("sooner") };
    let later = service.prompt(&id, Prompt::text("later")).await.unwrap();
    assert_eq!(service.prompt(&id, steer).await.unwrap(), turn);
    assert_ne!(later, turn);
    service.open_gate("go");
    let first = until(&mut stream, is_turn_end).await;
    let expected = ["user", "queued", "queued", "user", "step", "delta", "part", "step ended", "turn ended"];
    assert_eq!(words(&first), expected);
    let second = until(&mut stream, is_turn_end).await;
    assert_eq!(words(&second), ["user", "step", "delta", "part", "step ended", "turn ended"]);
    let transcript = folded(&[first, second].concat());
    assert_eq!(transcript.queue, []);
    assert_eq!(transcript.state(Liveness::Running), SessionState::Idle);
    service.assert_done();
}

#[tokio::test]
async fn a_prompt_without_a_scene_ends_as_an_error_and_is_remembered() {
    let service = FakeService::new();
    let (id, mut stream) = opened(&service).await;
    service.prompt(&id, Prompt::text("hi")).await.unwrap();
    let transcript = folded(&until(&mut stream, is_turn_end).await);
    assert_eq!(transcript.stop.map(|(stop, _)| stop), Some(StopReason::ModelError));
    let verdict = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| service.assert_done()));
    assert!(verdict.is_err());
}

#[tokio::test]
async fn a_planned_error_comes_once_and_changes_nothing() {
    let error = ServiceError::Unreachable { message: "gone".to_owned() };
    let service = FakeService::new().on_prompt([Act::say("ok")]).fail_next(Operation::Prompt, error.clone());
    let (id, mut stream) = opened(&service).await;
    assert_eq!(service.prompt(&id, Prompt::text("hi")).await, Err(error));
    assert_eq!(service.get(&id).await.unwrap().entries, []);
    service.prompt(&id, Prompt::text("hi")).await.unwrap();
    assert_eq!(folded(&until(&mut stream, is_turn_end).await).answer(), "ok");
    let operations: Vec<Operation> = service.calls().iter().map(FaceCall::operation).collect();
    use Operation::{Get, Open, Prompt as Prompted, Subscribe};
    assert_eq!(operations, [Open, Subscribe, Prompted, Get, Prompted]);
}

#[tokio::test]
async fn a_step_that_fails_is_told_as_scripted() {
    let finish = Finish::Error { message: "overloaded".to_owned() };
    let ended = EntryBody::StepEnded {
        turn: rein_protocol::TurnId::new(),
        step: 1,
        finish: finish.clone(),
        usage: None,
        cost: rein_protocol::Cost::Unknown,
        cache: None,
    };
    let service =
        FakeService::new().on_prompt([Act::from(ended), Act::fail("overloaded"), Act::say("never said")]);
    let (id, mut stream) = opened(&service).await;
    service.prompt(&id, Prompt::text("hi")).await.unwrap();
    let events = until(&mut stream, is_turn_end).await;
    assert_eq!(words(&events), ["user", "step ended", "turn ended"]);
    service.wait_for_idle(&id).await;
    assert_eq!(service.get(&id).await.unwrap().entries.len(), 3);
}
