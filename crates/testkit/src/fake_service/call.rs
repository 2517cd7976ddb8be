//! A scripted tool call, from its proposal to its result.

use rein_protocol::ask::{Ask, AskItem, Grant};
use rein_protocol::event::{EventBody, PartKind};
use rein_protocol::intent::{Effect, Intent};
use rein_protocol::message::{AssistantPart, ToolCall, ToolInput};
use rein_protocol::{
    AskId, CallId, CallResult, CallStatus, Content, Display, EntryBody, Finish, SessionId, TurnId,
};
use serde_json::Value;

use super::act::{Beat, part};

/// A scripted tool call: proposed, asked for if it [asks](FakeCall::asks), run if it may, ended.
#[derive(Debug, Clone)]
#[must_use]
pub struct FakeCall {
    pub(super) id: CallId,
    pub(super) intent: Intent,
    tool: String,
    input: Value,
    items: Vec<AskItem>,
    always: Vec<Grant>,
    printed: Vec<String>,
    gate: Option<String>,
    result: CallResult,
}

impl FakeCall {
    /// A call that runs without asking and returns nothing.
    pub fn new(tool: impl Into<String>, input: Value) -> Self {
        let tool = tool.into();
        let display = Display::titled(format!("{tool} {input}"));
        Self {
            id: CallId::new(),
            intent: Intent { effects: Vec::new(), display: display.clone() },
            tool,
            input,
            items: Vec::new(),
            always: Vec::new(),
            printed: Vec::new(),
            gate: None,
            result: CallResult {
                status: CallStatus::Completed,
                content: Vec::new(),
                display,
                artifact: None,
                duration_ms: 0,
            },
        }
    }

    /// The id that its entries will have.
    #[must_use]
    pub fn id(&self) -> &CallId {
        &self.id
    }

    /// How it is shown, before and after.
    pub fn display(mut self, display: Display) -> Self {
        self.intent.display = display.clone();
        self.result.display = display;
        self
    }

    /// How its result is shown.
    pub fn result_display(mut self, display: Display) -> Self {
        self.result.display = display;
        self
    }

    /// Something it would do.
    pub fn effect(mut self, effect: Effect) -> Self {
        self.intent.effects.push(effect);
        self
    }

    /// It needs a yes for this. May be said several times.
    pub fn asks(mut self, permission: impl Into<String>, pattern: impl Into<String>) -> Self {
        let reason = "the script says so".to_owned();
        self.items.push(AskItem { permission: permission.into(), pattern: pattern.into(), reason });
        self
    }

    /// What "always" would allow.
    pub fn offers(mut self, permission: impl Into<String>, pattern: impl Into<String>) -> Self {
        self.always.push(Grant { permission: permission.into(), pattern: pattern.into() });
        self
    }

    /// Prints something while it runs.
    pub fn prints(mut self, output: impl Into<String>) -> Self {
        self.printed.push(output.into());
        self
    }

    /// Runs until the test opens the gate.
    pub fn holds(mut self, gate: impl Into<String>) -> Self {
        self.gate = Some(gate.into());
        self
    }

    /// What the model is told in the end.
    pub fn returns(mut self, text: impl Into<String>) -> Self {
        self.result.content = vec![Content::text(text)];
        self
    }

    /// It fails, with what the model is told.
    pub fn fails(mut self, text: impl Into<String>) -> Self {
        self.result.status = CallStatus::Failed;
        self.returns(text)
    }

    /// A step that proposes the calls; then all asks; then each call in order.
    pub(super) fn beats(calls: Vec<Self>) -> Vec<Beat> {
        let mut beats = vec![Beat::StepStart];
        beats.extend(calls.iter().flat_map(Self::proposal));
        beats.push(Beat::StepEnd(Finish::ToolCalls));
        let asks: Vec<Option<Ask>> = calls.iter().map(Self::ask).collect();
        beats.extend(asks.iter().flatten().map(|ask| Beat::Ask(EntryBody::Asked { ask: ask.clone() })));
        for (call, ask) in calls.into_iter().zip(asks) {
            beats.extend(ask.map(|ask| Beat::Await(ask.id)));
            beats.push(Beat::Run(Box::new(call)));
        }
        beats
    }

    /// What happens once it may run.
    pub(super) fn run(&self) -> Vec<Beat> {
        let call = self.id.clone();
        let mut beats =
            vec![Beat::Entry(EntryBody::CallStarted { call: call.clone(), intent: self.intent.clone() })];
        beats.extend(
            self.printed.iter().map(|output| {
                Beat::Event(EventBody::CallOutput { call: call.clone(), delta: output.clone() })
            }),
        );
        beats.extend(self.gate.clone().map(Beat::Hold));
        beats.push(Beat::Entry(EntryBody::CallEnded { call, result: self.result.clone() }));
        beats
    }

    /// Whether it runs only after a yes.
    pub(super) fn needs_yes(&self) -> bool {
        !self.items.is_empty()
    }

    fn proposal(&self) -> Vec<Beat> {
        let body = AssistantPart::Call(ToolCall {
            id: self.id.clone(),
            wire_id: format!("wire_{}", self.id),
            tool: self.tool.clone(),
            input: ToolInput::Json { value: self.input.clone() },
        });
        part(PartKind::Call { tool: self.tool.clone() }, &self.input.to_string(), body)
    }

    fn ask(&self) -> Option<Ask> {
        self.needs_yes().then(|| Ask {
            id: AskId::new(),
            session: SessionId::new(),
            turn: TurnId::new(),
            call: self.id.clone(),
            items: self.items.clone(),
            always: self.always.clone(),
            display: self.intent.display.clone(),
            question: None,
        })
    }
}

/// How a call is closed that did not come to its scripted end.
pub(super) fn closed(status: CallStatus, text: &str, display: Display) -> CallResult {
    CallResult { status, content: vec![Content::text(text)], display, artifact: None, duration_ms: 0 }
}
