//! What the store says was done and spent.

use rein_protocol::message::AssistantPart;
use rein_protocol::{
    CallId, CallResult, CallStatus, Content, Cost, Display, EntryBody, Finish, PartId, SessionId, Timestamp,
    ToolCall, ToolInput, TurnId, Usage,
};
use rein_store::{Deed, Fact, FactQuery, Facts, Store};
use serde_json::json;

use crate::sample::{Journal, model, open, session};

fn started(turn: &TurnId, step: u32, name: &str) -> EntryBody {
    EntryBody::StepStarted { turn: turn.clone(), step, model: model(name) }
}

fn ended(turn: &TurnId, step: u32, input: u64) -> EntryBody {
    let usage = Some(Usage { input, ..Usage::default() });
    let cost = Cost::Known { micro_usd: input };
    EntryBody::StepEnded { turn: turn.clone(), step, finish: Finish::Stop, usage, cost, cache: None }
}

fn called(tool: &str, status: CallStatus) -> [EntryBody; 2] {
    let call = ToolCall {
        id: CallId::new(),
        wire_id: "w".to_owned(),
        tool: tool.to_owned(),
        input: ToolInput::Json { value: json!({"a": 1}) },
    };
    let (id, content) = (call.id.clone(), vec![Content::text("\"type\":\"call\"")]);
    let result = CallResult { status, content, display: Display::default(), artifact: None, duration_ms: 7 };
    let part = EntryBody::Part { turn: TurnId::new(), part: PartId::new(), body: AssistantPart::Call(call) };
    [part, EntryBody::CallEnded { call: id, result }]
}

async fn add(store: &Store, session: &SessionId, bodies: Vec<EntryBody>) {
    let mut journal = Journal::resume(store, session).await;
    let entries = bodies.into_iter().map(|body| journal.entry(body)).collect();
    store.append(session, entries).await.unwrap();
}

async fn facts(store: &Store, session: Option<&SessionId>, facts: Facts) -> Vec<Fact> {
    store.facts(FactQuery { since: Timestamp(0), session: session.cloned(), facts }).await.unwrap()
}

fn inputs(facts: &[Fact]) -> Vec<(Option<String>, u64)> {
    let step = |fact: &Fact| match &fact.deed {
        Deed::Step { model, usage, .. } => {
            Some((model.as_ref().map(ToString::to_string), usage.unwrap_or_default().input))
        }
        _ => None,
    };
    facts.iter().filter_map(step).collect()
}

#[tokio::test]
async fn steps_of_all_sessions_are_told_with_their_models_in_order() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let (one, other, turn) = (session(&store).await, session(&store).await, TurnId::new());
    add(&store, &one, vec![started(&turn, 1, "a/b"), ended(&turn, 1, 10)]).await;
    let later = TurnId::new();
    add(&store, &other, vec![started(&later, 1, "a/c"), ended(&later, 1, 20)]).await;
    add(&store, &one, vec![started(&turn, 2, "a/d"), ended(&turn, 2, 30)]).await;
    let all = facts(&store, None, Facts::Spending).await;
    let named = |name: &str, input| (Some(name.to_owned()), input);
    assert_eq!(inputs(&all), [named("a/b", 10), named("a/c", 20), named("a/d", 30)]);
    assert_eq!(inputs(&facts(&store, Some(&one), Facts::Spending).await).len(), 2);
}

#[tokio::test]
async fn copies_in_a_fork_are_not_counted_again() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let (one, fork, turn) = (session(&store).await, session(&store).await, TurnId::new());
    let mut bodies = vec![started(&turn, 1, "a/b"), ended(&turn, 1, 10)];
    bodies.extend(called("read", CallStatus::Completed));
    add(&store, &one, bodies.clone()).await;
    add(&store, &fork, bodies).await;
    let all = facts(&store, None, Facts::Everything).await;
    assert_eq!(all.len(), 2);
    assert_eq!(facts(&store, Some(&fork), Facts::Everything).await.len(), 2, "but the fork has them too");
}

#[tokio::test]
async fn calls_are_told_only_if_wanted_and_words_are_not_taken_for_them() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let id = session(&store).await;
    let words = EntryBody::Part {
        turn: TurnId::new(),
        part: PartId::new(),
        body: AssistantPart::Text { text: "{\"type\":\"call\",\"tool\":\"rm\"}".to_owned() },
    };
    let bodies = [vec![words], called("bash", CallStatus::Failed).to_vec()].concat();
    add(&store, &id, bodies).await;
    assert_eq!(facts(&store, None, Facts::Spending).await, []);
    let all = facts(&store, None, Facts::Everything).await;
    let deed = Deed::Call { tool: Some("bash".to_owned()), status: CallStatus::Failed, duration_ms: 7 };
    assert_eq!(all.into_iter().map(|fact| fact.deed).collect::<Vec<_>>(), [deed]);
}

#[tokio::test]
async fn what_happened_before_is_left_out() {
    let directory = tempfile::tempdir().unwrap();
    let store = open(directory.path());
    let (id, turn) = (session(&store).await, TurnId::new());
    let mut journal = Journal::resume(&store, &id).await;
    let now = Timestamp::now();
    let mut entries: Vec<_> = [started(&turn, 1, "a/b"), ended(&turn, 1, 10), ended(&turn, 2, 20)]
        .into_iter()
        .map(|body| journal.entry(body))
        .collect();
    entries[0].at = Timestamp(now.0 - 2_000);
    entries[1].at = now;
    entries[2].at = Timestamp(now.0 - 1_000);
    store.append(&id, entries).await.unwrap();
    let query = FactQuery { since: now, session: None, facts: Facts::Spending };
    assert_eq!(inputs(&store.facts(query).await.unwrap()), [(Some("a/b".to_owned()), 10)]);
}
