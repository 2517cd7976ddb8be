//! Runs against a scripted service.

use std::io::{self, Write};
use std::sync::{Arc, Mutex};

use rein_protocol::message::{AssistantPart, ToolCall, ToolInput};
use rein_protocol::transcript::Transcript;
use rein_protocol::{
    CallId, CallResult, CallStatus, Content, Cost, Display, PartId, PartKind, Prompt, StopReason, TurnId,
    Usage, Verdict,
};
use rein_testkit::{Act, FakeCall, FakeService, FakeSession, Operation};
use serde_json::{Value, json};

use super::begin::GO_ON;
use super::*;
use crate::terminal::{Ink, Target};

/// A stream that a test can look at afterwards.
#[derive(Clone, Default)]
struct Captured(Arc<Mutex<Vec<u8>>>);

impl Captured {
    fn text(&self) -> String {
        String::from_utf8(self.0.lock().unwrap().clone()).unwrap()
    }
}

impl Write for Captured {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap().extend_from_slice(bytes);
        Ok(bytes.len())
    }
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

struct Ran {
    exit: Exit,
    out: String,
    notes: String,
    result: RunResult,
}

fn prompted(text: &str) -> Run {
    let open = OpenSession { workspace: Some("/project".into()), ..OpenSession::default() };
    Run { open, prompt: Some(text.to_owned()), pictures: Vec::new(), asks: Asks::Unexpected }
}

fn resumed(session: &SessionId, prompt: Option<&str>) -> Run {
    let open = OpenSession { session: Some(session.clone()), ..OpenSession::default() };
    Run { open, prompt: prompt.map(str::to_owned), pictures: Vec::new(), asks: Asks::Unexpected }
}

fn text_face() -> Text {
    Text::new(Target::Elsewhere, Ink::Plain, Activity::Told)
}

async fn ran(service: &FakeService, run: Run, face: &mut dyn Face) -> Ran {
    let (_sender, mut signals) = Signals::scripted();
    ran_with(service, run, face, &mut signals).await
}

async fn ran_with(service: &FakeService, run: Run, face: &mut dyn Face, signals: &mut Signals) -> Ran {
    let (out, notes) = (Captured::default(), Captured::default());
    let streams = Streams::onto(out.clone(), notes.clone()).unwrap();
    let (exit, result) = super::run(service, run, face, streams, signals).await.unwrap();
    Ran { exit, out: out.text(), notes: notes.text(), result }
}

/// A step with a call that is refused.
fn refused(title: &str, told: &str) -> Vec<Act> {
    let (turn, call) = (TurnId::new(), CallId::new());
    let proposal = ToolCall {
        id: call.clone(),
        wire_id: "1".to_owned(),
        tool: "edit".to_owned(),
        input: ToolInput::Json { value: json!({}) },
    };
    let decision = rein_protocol::Decision {
        verdict: Verdict::Deny,
        reasons: vec!["mode `tight` asks".to_owned()],
        ask: None,
        by: rein_protocol::Decider::Policy,
        waited_ms: 0,
    };
    let result = CallResult {
        status: CallStatus::Refused,
        content: vec![Content::text(told)],
        display: Display::titled(title),
        artifact: None,
        duration_ms: 0,
    };
    vec![
        EntryBody::Part { turn, part: PartId::new(), body: AssistantPart::Call(proposal) }.into(),
        EntryBody::Decided { call: call.clone(), decision }.into(),
        EntryBody::CallEnded { call, result }.into(),
    ]
}

#[tokio::test]
async fn words_go_to_standard_output_and_doings_to_standard_error() {
    let read = FakeCall::new("read", json!({"path": "a.rs"}))
        .display(Display::titled("read a.rs"))
        .result_display(Display::titled("read a.rs").with_summary("3 lines"))
        .returns("fn");
    let service = FakeService::new().on_prompt([
        Act::say("I look."),
        read.into(),
        Act::say("It is a function.\nDone."),
    ]);
    let ran = ran(&service, prompted("what is it?"), &mut text_face()).await;
    assert_eq!(ran.exit, Exit::Success);
    assert_eq!(ran.out, "I look.\n\nIt is a function.\nDone.\n");
    assert_eq!(ran.notes, "→ read a.rs\n✓ read a.rs (3 lines)\n");
    assert_eq!(ran.result.answer, "It is a function.\nDone.");
    service.assert_done();
}

#[tokio::test]
async fn quiet_says_nothing_of_what_is_done() {
    let service = FakeService::new().on_prompt([FakeCall::new("read", json!({})).into(), Act::say("Yes.\n")]);
    let mut face = Text::new(Target::Elsewhere, Ink::Plain, Activity::Quiet);
    let ran = ran(&service, prompted("?"), &mut face).await;
    assert_eq!((ran.out.as_str(), ran.notes.as_str()), ("Yes.\n", ""));
}

#[tokio::test]
async fn on_a_terminal_the_models_words_cannot_move_the_cursor_and_doings_get_lines_of_their_own() {
    let call = FakeCall::new("read", json!({})).display(Display::titled("read \u{1b}[2Ja\nb"));
    let service = FakeService::new().on_prompt([Act::say("one\u{1b}[1A"), call.into(), Act::say("two")]);
    let mut face = Text::new(Target::Terminal, Ink::Plain, Activity::Told);
    let ran = ran(&service, prompted("?"), &mut face).await;
    assert_eq!(ran.out, "one\\u{1b}[1A\n\ntwo\n");
    assert_eq!(ran.notes, "→ read \\u{1b}[2Ja…\n✓ read \\u{1b}[2Ja…\n");
}

#[tokio::test]
async fn words_of_which_no_delta_came_are_printed_from_their_entry_and_only_once() {
    let part = PartId::new();
    let entry = |text: &str| EntryBody::Part {
        turn: TurnId::new(),
        part: part.clone(),
        body: AssistantPart::Text { text: text.to_owned() },
    };
    let delta = EventBody::PartDelta {
        turn: TurnId::new(),
        part: part.clone(),
        kind: PartKind::Text,
        delta: "half ".to_owned(),
    };
    let service = FakeService::new().on_prompt([Act::from(delta), Act::from(entry("half and half"))]);
    assert_eq!(ran(&service, prompted("?"), &mut text_face()).await.out, "half and half\n");
    let service = FakeService::new().on_prompt([entry("whole")]);
    assert_eq!(ran(&service, prompted("?"), &mut text_face()).await.out, "whole\n");
}

#[tokio::test]
async fn a_refused_call_is_told_with_what_would_allow_it_even_when_quiet() {
    let told = "Refused: edit 'a'. Reason: mode `tight` asks. To allow it: --allow 'edit:a'.";
    let mut scene = refused("edit a", told);
    scene.push(Act::say("I could not."));
    let service = FakeService::new().on_prompt(scene);
    let mut face = Text::new(Target::Elsewhere, Ink::Plain, Activity::Quiet);
    let ran = ran(&service, prompted("edit it"), &mut face).await;
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Refused, "I could not.\n"));
    assert_eq!(
        ran.notes,
        format!("✗ edit a\n    {told}\nresume with: rein --resume {}\n", ran.result.session)
    );
    let refusal = serde_json::to_value(&ran.result.refused).unwrap();
    let call = &ran.result.calls[0].id;
    assert_eq!(
        refusal,
        json!([{"call": call, "tool": "edit", "title": "edit a", "reasons": ["mode `tight` asks"], "message": told}])
    );
}

#[tokio::test]
async fn the_json_format_is_one_object_with_everything() {
    let step_ended = EntryBody::StepEnded {
        turn: TurnId::new(),
        step: 1,
        finish: rein_protocol::Finish::Stop,
        usage: Some(Usage { input: 7, output: 3, reasoning: 1, cache_read: 2, ..Usage::default() }),
        cost: Cost::Known { micro_usd: 1500 },
        cache: None,
    };
    let said = EntryBody::Part {
        turn: TurnId::new(),
        part: PartId::new(),
        body: AssistantPart::Text { text: "42".to_owned() },
    };
    let service = FakeService::new().on_prompt([said, step_ended]);
    let ran = ran(&service, prompted("?"), &mut Json { ink: Ink::Plain }).await;
    assert_eq!(ran.notes, "");
    let mut object: Value = serde_json::from_str(&ran.out).unwrap();
    assert!(ran.out.ends_with("}\n") && ran.out.matches('\n').count() == 1);
    assert!(object["duration_ms"].take().is_u64());
    assert_eq!(
        object,
        json!({
            "type": "result",
            "session": ran.result.session,
            "turn": ran.result.turn,
            "model": "fake/model",
            "answer": "42",
            "stop_reason": "end_turn",
            "message": null,
            "exit_code": 0,
            "steps": 0,
            "calls": [],
            "refused": [],
            "withheld": [],
            "usage": {"input": 7, "output": 3, "reasoning": 1, "cache_read": 2, "cache_write": 0},
            "cost_usd": 0.0015,
            "duration_ms": null,
        })
    );
}

#[tokio::test]
async fn the_stream_format_is_the_session_then_every_event_as_it_is_then_the_object() {
    let service = FakeService::new().on_prompt([Act::say("a longer answer than one delta holds")]);
    let ran = ran(&service, prompted("?"), &mut StreamJson { ink: Ink::Plain }).await;
    let lines: Vec<Value> = ran.out.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let (first, last) = (&lines[0], &lines[lines.len() - 1]);
    assert_eq!(
        *first,
        json!({
            "type": "session", "session": ran.result.session, "turn": ran.result.turn,
            "workspace": "/project", "model": "fake/model", "mode": "tight"
        })
    );
    assert_eq!(last["type"], "result");
    let events: Vec<Event> =
        lines[1..lines.len() - 1].iter().map(|line| serde_json::from_value(line.clone()).unwrap()).collect();
    let mut transcript = Transcript::default();
    events.iter().for_each(|event| transcript.apply(event));
    assert_eq!(transcript.answer(), "a longer answer than one delta holds");
    assert_eq!(transcript.stop, Some((StopReason::EndTurn, None)));
}

#[tokio::test]
async fn a_failed_model_is_told_with_the_way_to_go_on() {
    let service = FakeService::new().on_prompt([Act::fail("the server said no\nhint: ask it nicely")]);
    let ran = ran(&service, prompted("?"), &mut text_face()).await;
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Failure, ""));
    let expected = "error: the server said no (model_error)\nhint: ask it nicely\n";
    assert_eq!(ran.notes, format!("{expected}resume with: rein --resume {}\n", ran.result.session));
}

#[tokio::test]
async fn the_first_signal_interrupts_and_the_end_of_the_turn_is_waited_for() {
    let service = FakeService::new().on_prompt([Act::begin_to_say("half an ans"), Act::hold("for ever")]);
    let (sender, mut signals) = Signals::scripted();
    sender.send(Signal::Terminate).await.unwrap();
    let ran = ran_with(&service, prompted("?"), &mut text_face(), &mut signals).await;
    assert_eq!(ran.exit, Exit::Interrupted(Signal::Terminate));
    assert_eq!(service.interrupts(), std::slice::from_ref(&ran.result.session));
    assert_eq!(ran.result.stop_reason, StopReason::Interrupted);
    assert!(
        ran.notes.ends_with(&format!("interrupted\nresume with: rein --resume {}\n", ran.result.session))
    );
}

#[tokio::test]
async fn a_reader_that_went_away_ends_the_run_quietly_and_well() {
    struct Gone;
    impl Write for Gone {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(io::ErrorKind::BrokenPipe.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let service = FakeService::new().on_prompt([Act::begin_to_say("words"), Act::hold("for ever")]);
    let notes = Captured::default();
    let streams = Streams::onto(Gone, notes.clone()).unwrap();
    let (_sender, mut signals) = Signals::scripted();
    let (exit, result) =
        super::run(&service, prompted("?"), &mut text_face(), streams, &mut signals).await.unwrap();
    assert_eq!((exit, notes.text().as_str()), (Exit::Success, ""));
    assert_eq!(result.stop_reason, StopReason::Interrupted);
    assert_eq!(service.interrupts().len(), 1);
}

#[tokio::test]
async fn a_turn_that_had_broken_off_is_gone_on_with() {
    let session = FakeSession::new().broken_turn("do it", [Act::say("I begin")]);
    let id = session.id();
    let service = FakeService::new().session(session).on_resume([Act::say("and end")]);
    let ran = ran(&service, resumed(&id, None), &mut text_face()).await;
    assert_eq!((ran.exit, ran.out.as_str()), (Exit::Success, "and end\n"));
    assert_eq!(service.prompts(), []);
}

#[tokio::test]
async fn a_turn_that_had_ended_early_is_gone_on_with_by_a_prompt() {
    let session = FakeSession::new().turn("do it", [Act::end(StopReason::Interrupted, None)]);
    let id = session.id();
    let service = FakeService::new().session(session).on_prompt([Act::say("done")]);
    let ran = ran(&service, resumed(&id, None), &mut text_face()).await;
    assert_eq!(ran.out, "done\n");
    assert_eq!(service.prompts(), [Prompt::text(GO_ON)]);
}

#[tokio::test]
async fn going_on_with_what_is_finished_gives_the_answer_once_more() {
    let read = FakeCall::new("read", json!({})).returns("x");
    let session = FakeSession::new()
        .turn("first", [Act::say("old")])
        .turn("do it", [Act::say("I look."), read.into(), Act::say("Done.")]);
    let id = session.id();
    let service = FakeService::new().session(session).on_prompt([Act::say("more")]);
    let again = ran(&service, resumed(&id, None), &mut text_face()).await;
    assert_eq!((again.exit, again.out.as_str(), again.notes.as_str()), (Exit::Success, "Done.\n", ""));
    assert_eq!((again.result.steps, again.result.answer.as_str()), (0, "Done."));
    assert_eq!(service.prompts(), []);
    assert_eq!(ran(&service, resumed(&id, Some("go")), &mut text_face()).await.out, "more\n");
}

#[tokio::test]
async fn a_session_in_which_nothing_was_said_needs_a_prompt() {
    let session = FakeSession::new();
    let id = session.id();
    let service = FakeService::new().session(session);
    let (_sender, mut signals) = Signals::scripted();
    let streams = Streams::onto(io::sink(), io::sink()).unwrap();
    let error =
        super::run(&service, resumed(&id, None), &mut text_face(), streams, &mut signals).await.unwrap_err();
    assert_eq!(error.exit(), Exit::Usage);
    service.wait_for_calls(Operation::Close, 1).await;
}

#[tokio::test]
async fn asks_are_answered_once_where_that_was_told_and_rejected_where_nobody_can() {
    let call = || FakeCall::new("bash", json!({"command": "ls"})).asks("bash", "ls").returns("a");
    let service = FakeService::new().on_prompt([Act::from(call()), Act::say("ok")]);
    let run = Run { asks: Asks::AllowedOnce(Duration::ZERO), ..prompted("?") };
    assert_eq!(ran(&service, run, &mut text_face()).await.exit, Exit::Success);
    assert_eq!(service.replies()[0].answer, Answer::Once);

    let service = FakeService::new().on_prompt([Act::from(call()), Act::say("ok")]);
    assert_eq!(ran(&service, prompted("?"), &mut text_face()).await.exit, Exit::Refused);
    assert_eq!(service.replies()[0].answer, Answer::Reject { message: None });
}

#[tokio::test]
async fn an_engine_that_is_gone_is_a_failure_and_not_a_hang() {
    let service = FakeService::new().on_prompt([Act::hold("for ever")]);
    let closing = service.clone();
    let mut face = text_face();
    let (closed, ran) = tokio::join!(
        async move {
            closing.wait_for_calls(Operation::Prompt, 1).await;
            let session = closing.list(rein_protocol::SessionFilter::default()).await.unwrap().remove(0);
            closing.close(&session.id).await
        },
        ran(&service, prompted("?"), &mut face),
    );
    closed.unwrap();
    assert!(matches!(ran.exit, Exit::Failure | Exit::Interrupted(_)), "{:?}", ran.exit);
}
