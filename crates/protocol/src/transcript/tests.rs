//! The fold: live and on replay, with what is open and what is over.

use super::*;
use crate::ask::AskItem;
use crate::display::Display;
use crate::entry::{Author, Decision};
use crate::entry::{CallStatus, Finish, Verdict};
use crate::id::Timestamp;
use crate::id::{AskId, SessionId};
use crate::intent::Intent;
use crate::message::ToolInput;

/// A session that is written by hand.
struct Story {
    session: SessionId,
    turn: TurnId,
    events: Vec<Event>,
}

impl Story {
    fn new() -> Self {
        Self { session: SessionId::new(), turn: TurnId::new(), events: Vec::new() }
    }

    fn seq(&self) -> Seq {
        Seq(self.events.len() as u64 + 1)
    }

    fn entry(&mut self, body: EntryBody) -> EntryId {
        let id = EntryId::new();
        let (session, seq) = (self.session.clone(), self.seq());
        let entry = Entry { id: id.clone(), session, parent: None, seq, at: Timestamp(7), body };
        self.event(EventBody::Entry { entry: Box::new(entry) });
        id
    }

    fn event(&mut self, body: EventBody) {
        self.events.push(Event { session: self.session.clone(), seq: self.seq(), body });
    }

    fn user(&mut self, text: &str) {
        let (turn, content) = (self.turn.clone(), vec![Content::text(text)]);
        self.entry(EntryBody::User {
            turn,
            content,
            delivery: Delivery::Prompt,
            queued: None,
            author: Author::Person,
        });
    }

    fn step(&mut self, step: u32) {
        let turn = self.turn.clone();
        self.entry(EntryBody::StepStarted { turn, step, model: "test/model".parse().unwrap() });
    }

    fn delta(&mut self, part: &PartId, kind: PartKind, delta: &str) {
        let (turn, part, delta) = (self.turn.clone(), part.clone(), delta.to_owned());
        self.event(EventBody::PartDelta { turn, part, kind, delta });
    }

    fn part(&mut self, part: &PartId, body: AssistantPart) {
        let (turn, part) = (self.turn.clone(), part.clone());
        self.entry(EntryBody::Part { turn, part, body });
    }

    fn call(&mut self) -> ToolCall {
        let call = ToolCall {
            id: CallId::new(),
            wire_id: "w".to_owned(),
            tool: "bash".to_owned(),
            input: ToolInput::parse("{}"),
        };
        self.part(&PartId::new(), AssistantPart::Call(call.clone()));
        call
    }

    fn end_step(&mut self, step: u32, micro_usd: u64) {
        let turn = self.turn.clone();
        let usage = Some(Usage { input: 10, output: 5, ..Usage::default() });
        let cost = Cost::Known { micro_usd };
        self.entry(EntryBody::StepEnded { turn, step, finish: Finish::Stop, usage, cost, cache: None });
    }

    fn live(&self) -> Transcript {
        let mut transcript = Transcript::default();
        self.events.iter().for_each(|event| transcript.apply(event));
        transcript
    }

    fn replayed(&self) -> Transcript {
        let entries: Vec<&Entry> = self
            .events
            .iter()
            .filter_map(|event| match &event.body {
                EventBody::Entry { entry } => Some(entry.as_ref()),
                _ => None,
            })
            .collect();
        Transcript::of(entries)
    }
}

fn result(status: CallStatus) -> CallResult {
    CallResult { status, content: vec![], display: Display::default(), artifact: None, duration_ms: 1 }
}

#[test]
fn live_and_replay_end_in_the_same_value() {
    let mut story = Story::new();
    story.user("go");
    story.step(1);
    let (words, call_part) = (PartId::new(), PartId::new());
    story.delta(&words, PartKind::Text, "hel");
    story.delta(&words, PartKind::Text, "lo");
    story.part(&words, AssistantPart::Text { text: "hello".to_owned() });
    let kind = PartKind::Call { tool: "bash".to_owned() };
    story.delta(&call_part, kind, "{\"command\"");
    let call = ToolCall {
        id: CallId::new(),
        wire_id: "w".to_owned(),
        tool: "bash".to_owned(),
        input: ToolInput::parse("{\"command\":\"ls\"}"),
    };
    story.part(&call_part, AssistantPart::Call(call.clone()));
    story.end_step(1, 20);
    story.entry(EntryBody::CallStarted { call: call.id.clone(), intent: Intent::default() });
    story.event(EventBody::CallOutput { call: call.id.clone(), delta: "file".to_owned() });
    story.entry(EntryBody::CallEnded { call: call.id.clone(), result: result(CallStatus::Completed) });
    let turn = story.turn.clone();
    story.entry(EntryBody::TurnEnded { turn, stop: StopReason::EndTurn, message: None });
    let (live, replayed) = (story.live(), story.replayed());
    assert_eq!(live, replayed);
    assert_eq!(live.state(Liveness::Running), SessionState::Idle);
    assert_eq!(live.usage, Usage { input: 10, output: 5, ..Usage::default() });
    assert_eq!(live.cost, Cost::Known { micro_usd: 20 });
    assert_eq!(live.items.len(), 3);
}

#[test]
fn an_open_part_shows_what_has_come_and_ends_with_its_step() {
    let mut story = Story::new();
    story.user("go");
    story.step(1);
    let words = PartId::new();
    story.delta(&words, PartKind::Text, "half");
    let said = |open| Item::Said { kind: PartKind::Text, text: "half".to_owned(), open };
    assert_eq!(story.live().items.last(), Some(&said(true)));
    story.end_step(1, 0);
    assert_eq!(story.live().items.last(), Some(&said(false)));
}

#[test]
fn an_open_call_is_known_with_whether_it_has_begun() {
    let mut story = Story::new();
    story.user("go");
    story.step(1);
    let (begun, waiting, over) = (story.call(), story.call(), story.call());
    story.entry(EntryBody::CallStarted { call: begun.id.clone(), intent: Intent::default() });
    story.entry(EntryBody::CallEnded { call: over.id.clone(), result: result(CallStatus::Refused) });
    let transcript = story.replayed();
    let open: Vec<(&ToolCall, bool)> = transcript.open_calls().collect();
    assert_eq!(open, [(&begun, true), (&waiting, false)]);
    let turn = transcript.turn.clone().unwrap();
    assert_eq!(turn, TurnState { id: story.turn.clone(), steps: 1, step_open: true });
    assert_eq!(transcript.state(Liveness::Dead), SessionState::Broken { turn: story.turn.clone() });
}

#[test]
fn a_queued_message_waits_until_it_is_delivered() {
    let mut story = Story::new();
    story.user("go");
    let turn = story.turn.clone();
    let content = vec![Content::text("also this")];
    let queued = story.entry(EntryBody::Queued {
        turn: turn.clone(),
        content: content.clone(),
        delivery: Delivery::Steer,
    });
    assert_eq!(story.replayed().queue.len(), 1);
    story.entry(EntryBody::User {
        turn,
        content,
        delivery: Delivery::Steer,
        queued: Some(queued),
        author: Author::Person,
    });
    let transcript = story.replayed();
    assert_eq!((transcript.queue.len(), transcript.items.len()), (0, 2));
}

#[test]
fn an_ask_waits_until_its_call_is_decided_or_its_process_is_gone() {
    let mut story = Story::new();
    story.user("go");
    story.step(1);
    let call = story.call();
    let ask = Ask {
        id: AskId::new(),
        session: story.session.clone(),
        turn: story.turn.clone(),
        call: call.id.clone(),
        items: vec![AskItem { permission: "bash".into(), pattern: "ls".into(), reason: "mode".into() }],
        always: vec![],
        display: Display::titled("$ ls"),
        question: None,
    };
    story.entry(EntryBody::Asked { ask: ask.clone() });
    assert_eq!(story.replayed().asks, std::slice::from_ref(&ask));
    let before = story.events.len();
    story.entry(EntryBody::Recovered { message: "died".to_owned() });
    assert_eq!(story.replayed().asks, []);
    story.events.truncate(before);
    let decision = Decision {
        verdict: Verdict::Allow,
        reasons: vec![],
        ask: Some(ask.id),
        by: crate::Decider::Person,
        waited_ms: 5,
    };
    story.entry(EntryBody::Decided { call: call.id, decision });
    assert_eq!(story.replayed().asks, []);
}

#[test]
fn the_answer_is_what_was_said_after_the_last_call() {
    let mut story = Story::new();
    story.user("go");
    story.step(1);
    story.part(&PartId::new(), AssistantPart::Text { text: "let me look".to_owned() });
    story.call();
    story.end_step(1, 0);
    story.step(2);
    story.part(&PartId::new(), AssistantPart::Reasoning { text: "hm".to_owned(), opaque: None });
    story.part(&PartId::new(), AssistantPart::Text { text: "it is".to_owned() });
    story.part(&PartId::new(), AssistantPart::Text { text: "done".to_owned() });
    assert_eq!(story.replayed().answer(), "it is\n\ndone");
}

#[test]
fn words_that_go_on_after_a_cut_are_joined_without_a_gap() {
    let mut story = Story::new();
    story.user("go");
    story.step(1);
    story.part(&PartId::new(), AssistantPart::Text { text: "par".to_owned() });
    let turn = story.turn.clone();
    let finish = Finish::Error { message: "cut".to_owned() };
    story.entry(EntryBody::StepEnded { turn, step: 1, finish, usage: None, cost: Cost::ZERO, cache: None });
    story.step(2);
    let rest = PartId::new();
    story.delta(&rest, PartKind::Text, "ti");
    assert_eq!(story.live().answer(), "parti");
    story.part(&rest, AssistantPart::Text { text: "tial".to_owned() });
    assert_eq!(
        (story.live().answer(), story.replayed().answer()),
        ("partial".to_owned(), "partial".to_owned())
    );
}

#[test]
fn events_keep_their_form_as_json() {
    let mut story = Story::new();
    story.user("go");
    story.delta(&PartId::new(), PartKind::Call { tool: "read".to_owned() }, "{");
    story.event(EventBody::Broken { message: "disk full".to_owned() });
    for event in &story.events {
        let text = serde_json::to_string(event).unwrap();
        assert_eq!(serde_json::from_str::<Event>(&text).unwrap(), *event);
    }
    let value = serde_json::to_value(&story.events[1]).unwrap();
    assert_eq!(
        (&value["type"], &value["seq"], &value["kind"]["tool"]),
        (&"part_delta".into(), &2.into(), &"read".into())
    );
}

#[test]
fn a_message_that_waits_is_changed_or_taken_back() {
    let mut story = Story::new();
    let mut queue = |text: &str| {
        let (turn, content) = (story.turn.clone(), vec![Content::text(text)]);
        story.entry(EntryBody::Queued { turn, content, delivery: Delivery::FollowUp })
    };
    let (first, second) = (queue("wrong"), queue("unwanted"));
    let content = Some(vec![Content::text("right")]);
    story.entry(EntryBody::QueueChanged { queued: first, content: content.clone() });
    story.entry(EntryBody::QueueChanged { queued: second, content: None });
    let waiting: Vec<Vec<Content>> =
        story.replayed().queue.into_iter().map(|message| message.content).collect();
    assert_eq!(waiting, Vec::from_iter(content));
}

#[test]
fn a_compaction_is_shown_below_what_it_replaces_and_costs_something() {
    let mut story = Story::new();
    story.user("go");
    // As little as an entry of it can say.
    let body: EntryBody = serde_json::from_value(serde_json::json!({
        "type": "compacted",
        "compaction": {
            "reason": "manual", "summary": "all of it", "source": {"type": "digest", "why": "a test"},
            "tokens_before": 10, "tokens_after": 5, "usage": {"input": 7, "output": 1},
            "cost": {"type": "known", "micro_usd": 3},
        },
    }))
    .unwrap();
    let EntryBody::Compacted { compaction } = body.clone() else { panic!("{body:?}") };
    story.entry(body);
    let transcript = story.replayed();
    assert_eq!(transcript.items.len(), 2);
    assert_eq!(transcript.items[1], Item::Compacted(compaction));
    assert_eq!((transcript.usage.input, transcript.cost), (7, Cost::Known { micro_usd: 3 }));
}
