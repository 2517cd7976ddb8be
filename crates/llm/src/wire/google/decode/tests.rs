//! Answers written after the provider's documentation.

use serde_json::json;

use super::*;
use crate::wire::{AnswerDecoder, Wire};

fn sse(chunks: &[Value]) -> String {
    chunks.iter().map(|chunk| format!("data: {chunk}\r\n\r\n")).collect()
}

fn decode(body: &str, split: usize) -> (Vec<ModelEvent>, Result<(), ModelError>) {
    let mut decoder = AnswerDecoder::new(Wire::Google);
    let mut out = Vec::new();
    for piece in body.as_bytes().chunks(split.max(1)) {
        if let Err(error) = decoder.push(piece, &mut out) {
            return (out, Err(error));
        }
        if decoder.ended() {
            return (out, Ok(()));
        }
    }
    let end = decoder.finish(&mut out);
    (out, end)
}

fn parts(parts: Value) -> Value {
    json!({"candidates": [{"content": {"parts": parts, "role": "model"}, "index": 0}], "modelVersion": "gemini"})
}

fn last(parts: Value, reason: &str) -> Value {
    json!({
        "candidates": [{"content": {"parts": parts, "role": "model"}, "finishReason": reason, "index": 0}],
        "usageMetadata": {"promptTokenCount": 100, "cachedContentTokenCount": 60, "candidatesTokenCount": 20,
            "thoughtsTokenCount": 7, "totalTokenCount": 127},
    })
}

fn text(part: u32, delta: &str) -> ModelEvent {
    ModelEvent::TextDelta { part, delta: delta.to_owned() }
}

fn reasoning(part: u32, delta: &str) -> ModelEvent {
    ModelEvent::ReasoningDelta { part, delta: delta.to_owned() }
}

fn opaque(part: u32, block: Value) -> ModelEvent {
    ModelEvent::ReasoningOpaque { part, opaque: json!({"wire": "google-generate", "block": block}) }
}

fn whole_call(part: u32, id: &str, arguments: &str) -> [ModelEvent; 3] {
    let (wire_id, tool) = (id.to_owned(), "read".to_owned());
    [
        ModelEvent::CallStarted { part, wire_id: wire_id.clone(), tool: tool.clone() },
        ModelEvent::CallDelta { part, delta: arguments.to_owned() },
        ModelEvent::CallCompleted { part, wire_id, tool, arguments: arguments.to_owned() },
    ]
}

fn whole_answer() -> Vec<Value> {
    vec![
        parts(json!([{"text": "Let me \u{e9}", "thought": true}])),
        parts(json!([{"text": " see.", "thought": true, "thoughtSignature": "t1"}])),
        parts(json!([{"text": "Read", "thoughtSignature": "t2"}])),
        parts(
            json!([{"text": "ing."}, {"functionCall": {"name": "read", "args": {"path": "a"}, "id": "f1"}, "thoughtSignature": "t3"}]),
        ),
        parts(json!([{"functionCall": {"name": "read"}}])),
        last(json!([{"text": "", "thoughtSignature": "t4"}]), "STOP"),
    ]
}

#[test]
fn thoughts_text_and_calls_are_told_as_they_come_and_signatures_with_what_they_are_on() {
    let usage = Usage { input: 40, output: 27, reasoning: 7, cache_read: 60, ..Usage::default() };
    let mut expected = vec![
        reasoning(0, "Let me \u{e9}"),
        reasoning(0, " see."),
        opaque(0, json!({"on": "thought", "signature": "t1"})),
        text(1, "Read"),
        text(1, "ing."),
        opaque(2, json!({"on": "text", "signature": "t2"})),
        opaque(3, json!({"on": "call", "signature": "t3", "id": "f1"})),
    ];
    expected.extend(whole_call(4, "f1", "{\"path\":\"a\"}"));
    expected.extend(whole_call(5, "call_5", "{}"));
    expected.push(ModelEvent::Usage(usage));
    expected.push(opaque(6, json!({"on": "nothing", "signature": "t4"})));
    expected.push(ModelEvent::Finished(Finish::ToolCalls));
    let body = sse(&whole_answer());
    assert_eq!(decode(&body, body.len()), (expected, Ok(())));
}

#[test]
fn every_split_of_the_bytes_gives_the_same_events() {
    let body = sse(&whole_answer());
    let whole = decode(&body, body.len());
    for at in 0..body.len() {
        let mut decoder = AnswerDecoder::new(Wire::Google);
        let mut out = Vec::new();
        let (before, after) = body.as_bytes().split_at(at);
        decoder.push(before, &mut out).unwrap();
        decoder.push(after, &mut out).unwrap();
        decoder.finish(&mut out).unwrap();
        assert_eq!(out, whole.0, "{at}");
    }
    assert_eq!(decode(&body, 1), whole);
    // A stream that was not asked for as events is a list of the same chunks.
    let list = json!(whole_answer()).to_string();
    assert_eq!(decode(&list, 7), whole);
    assert_eq!(decode(&list[..list.len() - 9], 7).1.unwrap_err().kind, ErrorKind::Cut);
}

#[test]
fn arguments_that_come_bit_by_bit_are_told_when_they_are_whole() {
    let bit = |call: Value| parts(json!([{ "functionCall": call }]));
    let body = sse(&[
        bit(json!({"name": "read", "willContinue": true})),
        bit(
            json!({"partialArgs": [{"jsonPath": "$.path", "stringValue": "a", "willContinue": true}], "willContinue": true}),
        ),
        bit(json!({"partialArgs": [{"jsonPath": "$.path", "stringValue": "b"}]})),
        bit(json!({"name": "read", "willContinue": true})),
        bit(json!({"partialArgs": [{"jsonPath": "$.path", "stringValue": "c"}], "willContinue": true})),
        last(json!([{"text": ""}]), "STOP"),
    ]);
    let (events, end) = decode(&body, 5);
    assert_eq!(end, Ok(()));
    let calls: Vec<ModelEvent> =
        [whole_call(0, "call_0", "{\"path\":\"ab\"}"), whole_call(1, "call_1", "{\"path\":\"c\"}")].concat();
    assert_eq!(events.get(..6), Some(calls.as_slice()));
}

#[test]
fn parts_that_nobody_knows_are_kept_as_they_came() {
    let code = json!({"executableCode": {"code": "1", "language": "PYTHON"}, "thoughtSignature": "s"});
    let body = sse(&[
        parts(json!([{"text": "So"}, code, {"codeExecutionResult": {"output": "1"}}])),
        last(json!([{"text": "Done"}, 7, {}]), "STOP"),
    ]);
    let (events, end) = decode(&body, 9);
    let expected = vec![
        text(0, "So"),
        opaque(1, json!({"on": "part", "part": code})),
        opaque(2, json!({"on": "part", "part": {"codeExecutionResult": {"output": "1"}}})),
        text(3, "Done"),
    ];
    assert_eq!((events.get(..4), end), (Some(expected.as_slice()), Ok(())));
}

#[test]
fn every_reason_to_stop_has_its_meaning() {
    let other = |reason: &str| Finish::Other { reason: reason.to_owned() };
    for (reason, finish) in [
        (json!("STOP"), Finish::Stop),
        (json!(1), Finish::Stop),
        (json!("MAX_TOKENS"), Finish::Length),
        (json!(2), Finish::Length),
        (json!("SAFETY"), Finish::Refusal),
        (json!("RECITATION"), Finish::Refusal),
        (json!("PROHIBITED_CONTENT"), Finish::Refusal),
        (json!("BLOCKLIST"), Finish::Refusal),
        (json!("LANGUAGE"), other("language")),
        (json!(99), other("99")),
    ] {
        let chunk = json!({"candidates": [{"content": {}, "finishReason": reason}]});
        assert_eq!(decode(&sse(&[chunk]), 9), (vec![ModelEvent::Finished(finish)], Ok(())), "{reason}");
    }
    let blocked =
        json!({"promptFeedback": {"blockReason": "SAFETY"}, "usageMetadata": {"promptTokenCount": 4}});
    let (events, end) = decode(&sse(&[blocked]), 9);
    assert_eq!((events.last(), end), (Some(&ModelEvent::Finished(Finish::Refusal)), Ok(())));
}

#[test]
fn a_call_of_an_unknown_tool_is_a_call_and_one_that_cannot_be_read_is_tried_again() {
    let call = json!([{"functionCall": {"name": "read", "args": {}}}]);
    let (events, _) = decode(&sse(&[last(call, "UNEXPECTED_TOOL_CALL")]), 9);
    assert_eq!(events.last(), Some(&ModelEvent::Finished(Finish::ToolCalls)));
    let malformed = json!({"candidates": [{"content": {}, "finishReason": "MALFORMED_FUNCTION_CALL",
        "finishMessage": "Malformed function call: print(read("}]});
    let error = decode(&sse(&[parts(json!([{"text": "Hal"}])), malformed]), 9).1.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Cut);
    assert!(error.retryable() && error.message.contains("print(read("), "{error}");
}

#[test]
fn errors_have_their_kind_wherever_they_come() {
    let error = |code: u16, status: &str, message: &str| json!({"error": {"code": code, "message": message, "status": status}});
    for (value, kind) in [
        (error(503, "UNAVAILABLE", "The model is overloaded."), ErrorKind::Overloaded),
        (error(429, "RESOURCE_EXHAUSTED", "Slow down"), ErrorKind::RateLimit),
        (error(400, "INVALID_ARGUMENT", "API key not valid."), ErrorKind::Auth),
        (
            error(
                400,
                "INVALID_ARGUMENT",
                "The input token count (9) exceeds the maximum number of tokens allowed (8).",
            ),
            ErrorKind::Overflow,
        ),
    ] {
        let (events, end) = decode(&sse(&[parts(json!([{"text": "Hal"}])), value.clone()]), 11);
        assert_eq!((events, end.unwrap_err().kind), (vec![text(0, "Hal")], kind));
        assert_eq!(decode(&value.to_string(), 8).1.unwrap_err().kind, kind);
        assert_eq!(decode(&json!([value]).to_string(), 8).1.unwrap_err().kind, kind);
    }
}

#[test]
fn a_stream_without_an_end_was_cut_and_garbage_is_shown() {
    let (events, end) = decode(&sse(&whole_answer()[..3]), 100);
    assert_eq!(end.unwrap_err().kind, ErrorKind::Cut);
    assert_eq!(events.last(), Some(&text(1, "Read")));
    let error = decode("data: {\"candidates\": oops}\r\n\r\n", 4).1.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Protocol);
    assert!(error.message.contains("oops"), "{error}");
    assert_eq!(decode("{\"a\": 1}", 8).1.unwrap_err().kind, ErrorKind::Protocol);
    assert_eq!(decode("", 8).1.unwrap_err().kind, ErrorKind::Cut);
}
