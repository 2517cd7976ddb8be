//! Answers written after the provider's documentation.

use super::*;
use crate::wire::AnswerDecoder;
use crate::wire::event_stream::tests::{event, message};

fn decode(body: &[u8], split: usize) -> (Vec<ModelEvent>, Result<(), ModelError>) {
    let mut decoder = AnswerDecoder::new(Wire::Bedrock);
    let mut out = Vec::new();
    for piece in body.chunks(split.max(1)) {
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

fn stream(events: &[(&str, Value)]) -> Vec<u8> {
    events.iter().flat_map(|(kind, payload)| event(kind, &payload.to_string())).collect()
}

fn delta(index: u64, delta: Value) -> (&'static str, Value) {
    ("contentBlockDelta", json!({"contentBlockIndex": index, "delta": delta, "p": "abcd"}))
}

fn stop(index: u64) -> (&'static str, Value) {
    ("contentBlockStop", json!({"contentBlockIndex": index}))
}

fn start(index: u64, start: Value) -> (&'static str, Value) {
    ("contentBlockStart", json!({"contentBlockIndex": index, "start": start}))
}

fn message_stop(reason: &str) -> (&'static str, Value) {
    ("messageStop", json!({"stopReason": reason}))
}

fn metadata() -> (&'static str, Value) {
    let usage = json!({"inputTokens": 30, "outputTokens": 20, "totalTokens": 95,
                       "cacheReadInputTokens": 40, "cacheWriteInputTokens": 5,
                       "cacheDetails": [{"ttl": "5m", "inputTokens": 3}, {"ttl": "1h", "inputTokens": 2}]});
    ("metadata", json!({"usage": usage, "metrics": {"latencyMs": 7}}))
}

fn opaque(part: u32, block: Value) -> ModelEvent {
    ModelEvent::ReasoningOpaque { part, opaque: json!({"wire": "bedrock-converse", "block": block}) }
}

fn text(part: u32, delta: &str) -> ModelEvent {
    ModelEvent::TextDelta { part, delta: delta.to_owned() }
}

fn whole_answer() -> Vec<(&'static str, Value)> {
    vec![
        ("messageStart", json!({"role": "assistant"})),
        delta(0, json!({"reasoningContent": {"text": "hm \u{e9}"}})),
        delta(0, json!({"reasoningContent": {"signature": "sig"}})),
        stop(0),
        delta(1, json!({"reasoningContent": {"redactedContent": "YWI="}})),
        delta(1, json!({"reasoningContent": {"redactedContent": "Yw=="}})),
        stop(1),
        delta(2, json!({"text": "Look"})),
        delta(2, json!({"citation": {"title": "x"}})),
        delta(2, json!({"text": "."})),
        stop(2),
        start(3, json!({"toolUse": {"toolUseId": "tooluse_1", "name": "read"}})),
        delta(3, json!({"toolUse": {"input": ""}})),
        delta(3, json!({"toolUse": {"input": "{\"a\":"}})),
        delta(3, json!({"toolUse": {"input": "1}"}})),
        stop(3),
        start(4, json!({"toolUse": {"toolUseId": "tooluse_2", "name": "list", "type": "tool_use"}})),
        stop(4),
        message_stop("tool_use"),
        metadata(),
    ]
}

#[test]
fn reasoning_text_calls_and_usage_are_told_as_they_come() {
    let started =
        |part, id: &str, tool: &str| ModelEvent::CallStarted { part, wire_id: id.into(), tool: tool.into() };
    let grown = |delta: &str| ModelEvent::CallDelta { part: 3, delta: delta.to_owned() };
    let completed = |part, id: &str, tool: &str, arguments: &str| ModelEvent::CallCompleted {
        part,
        wire_id: id.into(),
        tool: tool.into(),
        arguments: arguments.into(),
    };
    let usage = Usage {
        input: 30,
        output: 20,
        cache_read: 40,
        cache_write: 5,
        cache_write_hour: 2,
        ..Usage::default()
    };
    let expected = vec![
        ModelEvent::ReasoningDelta { part: 0, delta: "hm \u{e9}".into() },
        opaque(0, json!({"reasoningContent": {"reasoningText": {"signature": "sig"}}})),
        opaque(1, json!({"reasoningContent": {"redactedContent": "YWJj"}})),
        text(2, "Look"),
        text(2, "."),
        started(3, "tooluse_1", "read"),
        grown("{\"a\":"),
        grown("1}"),
        completed(3, "tooluse_1", "read", "{\"a\":1}"),
        started(4, "tooluse_2", "list"),
        completed(4, "tooluse_2", "list", "{}"),
        ModelEvent::Usage(usage),
        ModelEvent::Finished(Finish::ToolCalls),
    ];
    let body = stream(&whole_answer());
    assert_eq!(decode(&body, body.len()), (expected, Ok(())));
}

#[test]
fn every_split_of_the_bytes_gives_the_same_events() {
    let body = stream(&whole_answer());
    let whole = decode(&body, body.len());
    for at in 0..body.len() {
        let mut decoder = AnswerDecoder::new(Wire::Bedrock);
        let mut out = Vec::new();
        let (before, after) = body.split_at(at);
        decoder.push(before, &mut out).unwrap();
        decoder.push(after, &mut out).unwrap();
        assert_eq!(out, whole.0, "{at}");
    }
    assert_eq!(decode(&body, 1), whole);
}

#[test]
fn every_reason_to_stop_has_its_meaning_and_usage_may_be_missing() {
    for (reason, finish) in [
        ("end_turn", Finish::Stop),
        ("stop_sequence", Finish::Stop),
        ("max_tokens", Finish::Length),
        ("model_context_window_exceeded", Finish::Length),
        ("guardrail_intervened", Finish::Refusal),
        ("content_filtered", Finish::Refusal),
        ("malformed_tool_use", Finish::Other { reason: "malformed_tool_use".into() }),
    ] {
        let (events, end) = decode(&stream(&[delta(0, json!({"text": "a"})), message_stop(reason)]), 5);
        assert_eq!((events, end), (vec![text(0, "a"), ModelEvent::Finished(finish)], Ok(())), "{reason}");
    }
}

#[test]
fn an_exception_ends_the_answer_after_what_came() {
    let mut body = stream(&[delta(0, json!({"text": "Hal"}))]);
    let headers = [(":exception-type", "throttlingException"), (":message-type", "exception")];
    body.extend(message(&headers, r#"{"message":"Too many tokens, please wait before trying again."}"#));
    let (events, end) = decode(&body, 17);
    let error = end.unwrap_err();
    assert_eq!(error.kind, ErrorKind::RateLimit);
    assert_eq!(error.message, "Too many tokens, please wait before trying again.");
    assert_eq!(events, [text(0, "Hal")]);
}

#[test]
fn a_stream_that_breaks_off_was_cut_wherever_it_breaks() {
    let body = stream(&whole_answer());
    let settled = stream(&whole_answer()[..19]).len();
    for length in 1..body.len() {
        let (events, end) = decode(&body[..length], 64);
        match end {
            Ok(()) => assert!(length >= settled && matches!(events.last(), Some(ModelEvent::Finished(_)))),
            Err(error) => assert_eq!((error.kind, length < settled), (ErrorKind::Cut, true), "{length}"),
        }
    }
}

#[test]
fn blocks_of_the_providers_own_tools_are_kept() {
    let server = json!({"toolUse": {"toolUseId": "s", "name": "nova_code", "type": "server_tool_use"}});
    let found = json!({"toolResult": {"toolUseId": "s", "type": "nova_result", "status": "success"}});
    let body = stream(&[
        start(0, server),
        delta(0, json!({"toolUse": {"input": "{\"x\":"}})),
        delta(0, json!({"toolUse": {"input": "1}"}})),
        stop(0),
        start(1, found),
        delta(1, json!({"toolResult": [{"json": {"out": 1}}]})),
        delta(1, json!({"toolResult": [{"text": "more"}]})),
        stop(1),
        message_stop("end_turn"),
        metadata(),
    ]);
    let (events, end) = decode(&body, 30);
    assert_eq!(end, Ok(()));
    let use_block = json!({"toolUse": {"toolUseId": "s", "name": "nova_code", "type": "server_tool_use", "input": {"x": 1}}});
    let result_block = json!({"toolResult": {"toolUseId": "s", "type": "nova_result", "status": "success",
        "content": [{"json": {"out": 1}}, {"text": "more"}]}});
    assert_eq!(events[..2], [opaque(0, use_block), opaque(1, result_block)]);
    assert_eq!(events.last(), Some(&ModelEvent::Finished(Finish::Stop)));
}

#[test]
fn a_whole_body_is_read_like_a_stream() {
    let content = json!([
        {"reasoningContent": {"reasoningText": {"text": "hm", "signature": "s"}}},
        {"citationsContent": {"content": [{"text": "Cited"}], "citations": []}},
        {"text": " text"},
        {"toolUse": {"toolUseId": "a", "name": "f", "input": {"x": 1}}},
    ]);
    let body = json!({"output": {"message": {"role": "assistant", "content": content}},
        "stopReason": "tool_use", "usage": {"inputTokens": 1, "outputTokens": 2, "totalTokens": 3}});
    let (events, end) = decode(body.to_string().as_bytes(), 9);
    assert_eq!(end, Ok(()));
    assert_eq!(
        events[..3],
        [
            ModelEvent::ReasoningDelta { part: 0, delta: "hm".into() },
            opaque(0, json!({"reasoningContent": {"reasoningText": {"signature": "s"}}})),
            text(1, "Cited"),
        ]
    );
    assert_eq!(events.last(), Some(&ModelEvent::Finished(Finish::ToolCalls)));
    let error = decode(br#"{"message": "The security token included in the request is invalid."}"#, 4).1;
    assert_eq!(error.unwrap_err().message, "The security token included in the request is invalid.");
    assert_eq!(decode(b"{\"a\":1}", 4).1.unwrap_err().kind, ErrorKind::Protocol);
}
