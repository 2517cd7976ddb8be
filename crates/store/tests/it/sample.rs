//! Things to put into a store.

use std::path::Path;

use rein_protocol::ask::Grant;
use rein_protocol::message::AssistantPart;
use rein_protocol::{
    ArtifactId, Ask, AskId, AskItem, Author, BlobId, Block, CallId, CallResult, CallStatus, Content, Cost,
    Decider, Decision, Delivery, Display, Effect, Entry, EntryBody, EntryId, Finish, Intent, Mode, ModelRef,
    PartId, Seq, SessionId, StopReason, Timestamp, ToolCall, ToolInput, TurnId, Usage, Verdict,
};
use rein_store::{NewSession, Store, StoreOptions};
use serde_json::json;

pub fn open(root: &Path) -> Store {
    Store::open(StoreOptions::new(root)).unwrap()
}

pub fn model(name: &str) -> ModelRef {
    name.parse().unwrap()
}

pub fn new_session() -> NewSession {
    NewSession {
        id: SessionId::new(),
        workspace: "/home/ada/project".into(),
        model: Some(model("openai/gpt-5")),
        mode: Mode::Tight,
        at: Timestamp(1_000),
    }
}

pub async fn session(store: &Store) -> SessionId {
    let new = new_session();
    let id = new.id.clone();
    store.create_session(new).await.unwrap();
    id
}

/// Entries that follow each other, and whoever was before.
pub struct Journal {
    session: SessionId,
    leaf: Option<EntryId>,
    seq: Seq,
}

impl Journal {
    pub fn new(session: &SessionId) -> Self {
        Self { session: session.clone(), leaf: None, seq: Seq::START.next_epoch() }
    }

    /// Goes on where a session is.
    pub async fn resume(store: &Store, session: &SessionId) -> Self {
        let record = store.session(session).await.unwrap().unwrap();
        Self { session: session.clone(), leaf: record.leaf, seq: record.last_seq.next_epoch() }
    }

    pub fn entry(&mut self, body: EntryBody) -> Entry {
        self.seq = self.seq.next();
        let id = EntryId::new();
        let parent = self.leaf.replace(id.clone());
        let at = Timestamp(2_000 + i64::try_from(self.seq.0 & 0xffff_ffff).unwrap());
        Entry { id, session: self.session.clone(), parent, seq: self.seq, at, body }
    }

    pub fn text(&mut self, text: impl Into<String>) -> Entry {
        let body = AssistantPart::Text { text: text.into() };
        self.entry(EntryBody::Part { turn: TurnId::new(), part: PartId::new(), body })
    }
}

pub fn user(turn: &TurnId, text: &str) -> EntryBody {
    EntryBody::User {
        turn: turn.clone(),
        content: vec![Content::text(text)],
        delivery: Delivery::Prompt,
        queued: None,
        author: Author::Person,
    }
}

pub fn turn_ended(turn: &TurnId) -> EntryBody {
    EntryBody::TurnEnded { turn: turn.clone(), stop: StopReason::EndTurn, message: None }
}

pub fn intent() -> Intent {
    Intent {
        effects: vec![
            Effect::Read { path: "/w/a".into() },
            Effect::Write { path: "/w/b".into() },
            Effect::Execute { command: "make \"x\"\n".into(), cwd: "/w".into(), prelude: String::new() },
            Effect::Fetch { url: "https://example.com".into() },
        ],
        display: display(),
    }
}

fn display() -> Display {
    Display::titled("$ make").with_summary("exit 0").with_block(Block::Diff {
        path: "b".into(),
        unified: "@@ -1 +1 @@\n-a\r\n+b\u{0}\n".into(),
        added: 1,
        removed: 1,
    })
}

/// One of every kind, with every field that can be filled filled.
pub fn every_body(session: &SessionId) -> Vec<EntryBody> {
    let (turn, call, ask) = (TurnId::new(), CallId::new(), AskId::new());
    let content = vec![
        Content::text("häß\n\u{1f980}"),
        Content::Image { media_type: "image/png".into(), blob: BlobId("ab".repeat(32)) },
    ];
    let tool = |input| ToolCall { id: call.clone(), wire_id: "call_1".into(), tool: "bash".into(), input };
    let part = |body| EntryBody::Part { turn: turn.clone(), part: PartId::new(), body };
    let json = ToolInput::Json { value: json!({"z": 1.5, "a": [null, true, "\u{7f}"], "n": i64::MAX}) };
    let malformed = ToolInput::Malformed { text: "{\"a\":".into(), error: "cut".into() };
    let step_ended = |finish, usage, cost| EntryBody::StepEnded {
        turn: turn.clone(),
        step: 1,
        finish,
        usage,
        cost,
        cache: None,
    };
    let usage =
        Usage { input: 1, output: 2, reasoning: 1, cache_read: 3, cache_write: 4, cache_write_hour: 0 };
    vec![
        EntryBody::Queued { turn: turn.clone(), content: content.clone(), delivery: Delivery::FollowUp },
        EntryBody::User {
            turn: turn.clone(),
            content: content.clone(),
            delivery: Delivery::Steer,
            queued: Some(EntryId::new()),
            author: Author::Person,
        },
        EntryBody::StepStarted { turn: turn.clone(), step: 1, model: model("openrouter/meta/llama") },
        part(AssistantPart::Reasoning { text: "hm".into(), opaque: Some(json!({"signature": "x=="})) }),
        part(AssistantPart::Text { text: "I will".into() }),
        part(AssistantPart::Call(tool(json))),
        part(AssistantPart::Call(tool(malformed))),
        step_ended(Finish::ToolCalls, Some(usage), Cost::Known { micro_usd: 12 }),
        step_ended(Finish::Error { message: "503".into() }, None, Cost::Unknown),
        EntryBody::Asked {
            ask: Ask {
                id: ask.clone(),
                session: session.clone(),
                turn: turn.clone(),
                call: call.clone(),
                items: vec![AskItem {
                    permission: "bash".into(),
                    pattern: "make".into(),
                    reason: "no rule".into(),
                }],
                always: vec![Grant { permission: "bash".into(), pattern: "make *".into() }],
                display: display(),
                question: None,
            },
        },
        EntryBody::Decided {
            call: call.clone(),
            decision: Decision {
                verdict: Verdict::Allow,
                reasons: vec!["a person said so".into()],
                ask: Some(ask),
                by: Decider::Person,
                waited_ms: 17,
            },
        },
        EntryBody::CallStarted { call: call.clone(), intent: intent() },
        EntryBody::CallEnded {
            call,
            result: CallResult {
                status: CallStatus::Completed,
                content,
                display: display(),
                artifact: Some(ArtifactId::new()),
                duration_ms: 3,
            },
        },
        EntryBody::TurnEnded { turn, stop: StopReason::EndTurn, message: Some("done".into()) },
        EntryBody::ModelChanged { model: model("anthropic/claude") },
        EntryBody::ModeChanged { mode: Mode::Plan },
        EntryBody::Recovered { message: "closed one call".into() },
    ]
}
