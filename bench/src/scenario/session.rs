//! A long session, made through the store as the engine would have made it.
//!
//! 250 turns of 40 entries: a prompt, five steps with a call of a tool each,
//! a last step with the answer.

use std::path::Path;

use rein_protocol::message::AssistantPart;
use rein_protocol::{
    CallId, CallResult, CallStatus, Content, Cost, Decision, Delivery, Display, Effect, Entry, EntryBody,
    EntryId, Finish, Intent, Mode, ModelRef, PartId, Seq, SessionId, StopReason, Timestamp, ToolCall,
    ToolInput, TurnId, Usage, Verdict,
};
use rein_store::{NewSession, Store, StoreOptions};
use serde_json::json;

use crate::error::BenchError;

const TURNS: usize = 250;
const CALLS: u32 = 5;
/// Entries of a turn.
const PER_TURN: usize = 40;

/// A session that was made.
pub struct Made {
    /// Its name.
    pub id: SessionId,
    /// How many calls are in it.
    pub calls: usize,
}

/// Makes the session in a store's directory.
pub fn make(data: &Path, workspace: &Path) -> Result<Made, BenchError> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
    let runtime = runtime.map_err(BenchError::io("start a runtime for", data))?;
    let id = SessionId::new();
    let new = NewSession {
        id: id.clone(),
        workspace: workspace.to_owned(),
        model: Some(model()),
        mode: Mode::Tight,
        at: Timestamp::now(),
    };
    runtime.block_on(async {
        let store = Store::open(StoreOptions::new(data))?;
        store.create_session(new).await?;
        for turn in entries(&id, workspace).chunks(PER_TURN) {
            store.append(&id, turn.to_vec()).await?;
        }
        store.close().await
    })?;
    Ok(Made { id, calls: TURNS * CALLS as usize })
}

/// The entries of such a session.
pub fn entries(session: &SessionId, workspace: &Path) -> Vec<Entry> {
    let mut parent = None;
    let mut seq = Seq::START.next_epoch();
    let bodies = (0..TURNS).flat_map(|number| turn(number, workspace));
    let entries = bodies.map(|body| {
        // A live session gives numbers to deltas too.
        seq = seq.next().next();
        let (id, at) = (EntryId::new(), Timestamp::now());
        Entry { id: id.clone(), session: session.clone(), parent: parent.replace(id), seq, at, body }
    });
    entries.collect()
}

fn model() -> ModelRef {
    ModelRef { provider: "openai".to_owned(), model: "test-model".to_owned() }
}

fn turn(number: usize, workspace: &Path) -> Vec<EntryBody> {
    let turn = TurnId::new();
    let prompt =
        format!("Please look at module {number}, find out why its test fails, and tell me what to change.");
    let content = vec![Content::text(prompt)];
    let mut bodies = vec![EntryBody::User {
        turn: turn.clone(),
        content,
        delivery: Delivery::Prompt,
        queued: None,
        author: rein_protocol::Author::Person,
    }];
    for step in 1..=CALLS {
        bodies.extend(step_with_call(&turn, step, number, workspace));
    }
    bodies.push(EntryBody::StepStarted { turn: turn.clone(), step: CALLS + 1, model: model() });
    let answer = format!(
        "The test of module {number} expects 7 where the function returns 8: change the test in line 12."
    );
    bodies.push(said(&turn, answer));
    bodies.push(ended(&turn, CALLS + 1, Finish::Stop));
    bodies.push(EntryBody::TurnEnded { turn, stop: StopReason::EndTurn, message: None });
    bodies
}

fn step_with_call(turn: &TurnId, step: u32, number: usize, workspace: &Path) -> [EntryBody; 7] {
    let call = CallId::new();
    let file = format!("src/module_{number}_{step}.rs");
    let display = Display::titled(format!("read {file}"));
    let body = AssistantPart::Call(ToolCall {
        id: call.clone(),
        wire_id: format!("call_{number}_{step}"),
        tool: "read".to_owned(),
        input: ToolInput::Json { value: json!({"path": file}) },
    });
    let decision = Decision {
        verdict: Verdict::Allow,
        reasons: vec!["mode `tight` lets reading in the workspace run".to_owned()],
        ask: None,
        by: rein_protocol::Decider::Policy,
        waited_ms: 0,
    };
    let intent =
        Intent { effects: vec![Effect::Read { path: workspace.join(&file) }], display: display.clone() };
    let lines = (1..=6).map(|line| format!("{line}: fn item_{number}_{line}() {{}} // as it was\n"));
    let result = CallResult {
        status: CallStatus::Completed,
        content: vec![Content::text(lines.collect::<String>())],
        display: display.with_summary("6 lines"),
        artifact: None,
        duration_ms: 1,
    };
    [
        EntryBody::StepStarted { turn: turn.clone(), step, model: model() },
        said(turn, format!("Let me look at {file}.")),
        EntryBody::Part { turn: turn.clone(), part: PartId::new(), body },
        ended(turn, step, Finish::ToolCalls),
        EntryBody::Decided { call: call.clone(), decision },
        EntryBody::CallStarted { call: call.clone(), intent },
        EntryBody::CallEnded { call, result },
    ]
}

fn said(turn: &TurnId, text: String) -> EntryBody {
    EntryBody::Part { turn: turn.clone(), part: PartId::new(), body: AssistantPart::Text { text } }
}

fn ended(turn: &TurnId, step: u32, finish: Finish) -> EntryBody {
    let usage = Usage { input: 100, output: 10, ..Usage::default() };
    EntryBody::StepEnded {
        turn: turn.clone(),
        step,
        finish,
        usage: Some(usage),
        cost: Cost::Unknown,
        cache: None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_session_has_ten_thousand_entries_and_is_idle() {
        let directory = tempfile::tempdir().unwrap();
        let made = make(directory.path(), Path::new("/workspace")).unwrap();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let record = runtime.block_on(async {
            let store = Store::open(StoreOptions::new(directory.path())).unwrap();
            store.session(&made.id).await.unwrap().unwrap()
        });
        assert_eq!((record.entries, record.open_turn, made.calls), (10_000, None, 1_250));
    }
}
