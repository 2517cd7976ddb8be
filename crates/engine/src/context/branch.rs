//! Branches for tests of what is made from them.

use rein_protocol::message::AssistantPart;
use rein_protocol::{
    Author, CallId, CallResult, CallStatus, Content, Cost, Delivery, Display, Effect, Entry, EntryBody,
    EntryId, Finish, Intent, ModelRef, PartId, PrunedResult, Seq, SessionId, Timestamp, ToolCall, ToolInput,
    TurnId, Usage,
};

pub(crate) struct Branch {
    turn: TurnId,
    session: SessionId,
    pub(crate) entries: Vec<Entry>,
}

impl Branch {
    pub(crate) fn new() -> Self {
        Self { turn: TurnId::new(), session: SessionId::new(), entries: Vec::new() }
    }

    pub(crate) fn view(&self) -> Vec<&Entry> {
        self.entries.iter().collect()
    }

    pub(crate) fn add(&mut self, body: EntryBody) -> &mut Self {
        self.entries.push(Entry {
            id: EntryId::new(),
            session: self.session.clone(),
            parent: None,
            seq: Seq(self.entries.len() as u64 + 1),
            at: Timestamp(0),
            body,
        });
        self
    }

    pub(crate) fn user(&mut self, text: &str, delivery: Delivery) -> &mut Self {
        let (turn, content) = (self.turn.clone(), vec![Content::text(text)]);
        self.add(EntryBody::User { turn, content, delivery, queued: None, author: Author::Person })
    }

    pub(crate) fn step(&mut self) -> &mut Self {
        let turn = self.turn.clone();
        self.add(EntryBody::StepStarted { turn, step: 1, model: model() })
    }

    pub(crate) fn part(&mut self, body: AssistantPart) -> &mut Self {
        let turn = self.turn.clone();
        self.add(EntryBody::Part { turn, part: PartId::new(), body })
    }

    pub(crate) fn end(&mut self, finish: Finish) -> &mut Self {
        self.end_with(finish, None)
    }

    pub(crate) fn end_with(&mut self, finish: Finish, usage: Option<Usage>) -> &mut Self {
        let turn = self.turn.clone();
        self.add(EntryBody::StepEnded { turn, step: 1, finish, usage, cost: Cost::Unknown, cache: None })
    }

    pub(crate) fn result(&mut self, call: &ToolCall, text: &str, status: CallStatus) -> &mut Self {
        self.add(ended(call, text, status, Display::titled(call.tool.clone())))
    }

    pub(crate) fn result_shown(&mut self, call: &ToolCall, text: &str, display: Display) -> &mut Self {
        self.add(ended(call, text, CallStatus::Completed, display))
    }

    /// A step with one call that did all this.
    pub(crate) fn called(&mut self, call: &ToolCall, effects: &[Effect], text: &str) -> &mut Self {
        self.step().part(AssistantPart::Call(call.clone()));
        let intent = Intent { effects: effects.to_vec(), display: Display::default() };
        self.add(EntryBody::CallStarted { call: call.id.clone(), intent });
        self.end(Finish::ToolCalls).result(call, text, CallStatus::Completed)
    }

    pub(crate) fn prune(&mut self, call: &ToolCall, marker: &str) -> &mut Self {
        let result = PrunedResult { call: call.id.clone(), marker: marker.to_owned() };
        self.add(EntryBody::Pruned { results: vec![result] })
    }
}

fn ended(call: &ToolCall, text: &str, status: CallStatus, display: Display) -> EntryBody {
    let content = vec![Content::text(text)];
    let result = CallResult { status, content, display, artifact: None, duration_ms: 0 };
    EntryBody::CallEnded { call: call.id.clone(), result }
}

pub(crate) fn model() -> ModelRef {
    "test/model".parse().unwrap()
}

pub(crate) fn words(text: &str) -> AssistantPart {
    AssistantPart::Text { text: text.to_owned() }
}

pub(crate) fn call(wire_id: &str) -> ToolCall {
    ToolCall { wire_id: wire_id.to_owned(), ..call_of("read", serde_json::json!({})) }
}

pub(crate) fn call_of(tool: &str, input: serde_json::Value) -> ToolCall {
    let input = ToolInput::Json { value: input };
    ToolCall { id: CallId::new(), wire_id: "w".to_owned(), tool: tool.to_owned(), input }
}

pub(crate) mod display {
    use rein_protocol::{Block, Display, TodoId, TodoItem, TodoState};

    pub(crate) fn todo() -> Display {
        let item =
            TodoItem { id: TodoId(1), text: "do it".to_owned(), state: TodoState::Active, phase: None };
        Display::titled("todo").with_block(Block::Todo { items: vec![item] })
    }
}
