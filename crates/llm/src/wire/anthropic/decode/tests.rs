//! Answers written after the provider's documentation.

use rein_protocol::Usage;

use super::*;
use crate::wire::AnswerDecoder;

fn sse(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect()
}

fn decode(body: &str, split: usize) -> (Vec<ModelEvent>, Result<(), ModelError>) {
    let mut decoder = AnswerDecoder::new(Wire::Anthropic);
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

fn start(input: u64) -> Value {
    json!({"type": "message_start", "message": {"id": "msg_1", "type": "message", "role": "assistant",
        "model": "claude", "content": [], "stop_reason": null, "stop_sequence": null,
        "usage": {"input_tokens": input, "cache_creation_input_tokens": 7, "cache_read_input_tokens": 11,
                  "cache_creation": {"ephemeral_5m_input_tokens": 4, "ephemeral_1h_input_tokens": 3},
                  "output_tokens": 1}}})
}

fn block(index: u64, block: Value) -> Value {
    json!({"type": "content_block_start", "index": index, "content_block": block})
}

fn delta(index: u64, delta: Value) -> Value {
    json!({"type": "content_block_delta", "index": index, "delta": delta})
}

fn stop(index: u64) -> Value {
    json!({"type": "content_block_stop", "index": index})
}

fn message_delta(reason: &str, usage: Value) -> Value {
    json!({"type": "message_delta", "delta": {"stop_reason": reason, "stop_sequence": null}, "usage": usage})
}

fn message_stop() -> Value {
    json!({"type": "message_stop"})
}

fn text(part: u32, delta: &str) -> ModelEvent {
    ModelEvent::TextDelta { part, delta: delta.to_owned() }
}

fn reasoning(part: u32, delta: &str) -> ModelEvent {
    ModelEvent::ReasoningDelta { part, delta: delta.to_owned() }
}

fn opaque(part: u32, block: Value) -> ModelEvent {
    ModelEvent::ReasoningOpaque { part, opaque: json!({"wire": "anthropic-messages", "block": block}) }
}

fn completed(part: u32, id: &str, tool: &str, arguments: &str) -> ModelEvent {
    ModelEvent::CallCompleted { part, wire_id: id.into(), tool: tool.into(), arguments: arguments.into() }
}

fn whole_answer() -> Vec<Value> {
    vec![
        start(25),
        json!({"type": "ping"}),
        block(0, json!({"type": "thinking", "thinking": "", "signature": ""})),
        delta(0, json!({"type": "thinking_delta", "thinking": "Let me \u{e9}"})),
        delta(0, json!({"type": "signature_delta", "signature": "EqQ"})),
        delta(0, json!({"type": "signature_delta", "signature": "Bgo="})),
        stop(0),
        block(1, json!({"type": "redacted_thinking", "data": "EmwKAhgB"})),
        stop(1),
        block(2, json!({"type": "text", "text": ""})),
        delta(2, json!({"type": "text_delta", "text": "Okay"})),
        stop(2),
        block(3, json!({"type": "text", "text": "", "citations": []})),
        delta(3, json!({"type": "citations_delta", "citation": {"type": "char_location"}})),
        delta(3, json!({"type": "text_delta", "text": ", so."})),
        stop(3),
        block(4, json!({"type": "tool_use", "id": "toolu_1", "name": "read", "input": {}})),
        delta(4, json!({"type": "input_json_delta", "partial_json": ""})),
        delta(4, json!({"type": "input_json_delta", "partial_json": "{\"path\": \"a"})),
        delta(4, json!({"type": "input_json_delta", "partial_json": ".txt\"}"})),
        stop(4),
        block(5, json!({"type": "tool_use", "id": "toolu_2", "name": "list", "input": {}})),
        stop(5),
        message_delta(
            "tool_use",
            json!({"output_tokens": 89, "output_tokens_details": {"thinking_tokens": 40}}),
        ),
        message_stop(),
    ]
}

#[test]
fn thinking_text_and_calls_are_told_as_they_come() {
    let started =
        |part, id: &str, tool: &str| ModelEvent::CallStarted { part, wire_id: id.into(), tool: tool.into() };
    let grown = |delta: &str| ModelEvent::CallDelta { part: 3, delta: delta.to_owned() };
    let usage = |output, reasoning| {
        ModelEvent::Usage(Usage {
            input: 25,
            output,
            reasoning,
            cache_read: 11,
            cache_write: 7,
            cache_write_hour: 3,
        })
    };
    let expected = vec![
        usage(1, 0),
        reasoning(0, "Let me \u{e9}"),
        opaque(0, json!({"type": "thinking", "signature": "EqQBgo="})),
        opaque(1, json!({"type": "redacted_thinking", "data": "EmwKAhgB"})),
        text(2, "Okay"),
        text(2, ", so."),
        started(3, "toolu_1", "read"),
        grown("{\"path\": \"a"),
        grown(".txt\"}"),
        completed(3, "toolu_1", "read", "{\"path\": \"a.txt\"}"),
        started(4, "toolu_2", "list"),
        completed(4, "toolu_2", "list", "{}"),
        usage(89, 40),
        ModelEvent::Finished(Finish::ToolCalls),
    ];
    let body = sse(&whole_answer());
    assert_eq!(decode(&body, body.len()), (expected, Ok(())));
}

#[test]
fn every_split_of_the_bytes_gives_the_same_events() {
    let body = sse(&whole_answer());
    let whole = decode(&body, body.len());
    for at in 0..body.len() {
        let mut decoder = AnswerDecoder::new(Wire::Anthropic);
        let mut out = Vec::new();
        let (before, after) = body.as_bytes().split_at(at);
        decoder.push(before, &mut out).unwrap();
        decoder.push(after, &mut out).unwrap();
        assert_eq!(out, whole.0, "{at}");
    }
    assert_eq!(decode(&body, 1), whole);
}

#[test]
fn blocks_that_nobody_knows_are_kept_as_they_came() {
    let body = sse(&[
        start(1),
        block(0, json!({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {}})),
        delta(0, json!({"type": "input_json_delta", "partial_json": "{\"query\":"})),
        delta(0, json!({"type": "input_json_delta", "partial_json": "\"x\"}"})),
        stop(0),
        block(
            1,
            json!({"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [{"url": "u"}]}),
        ),
        stop(1),
        block(2, json!({"type": "compaction", "content": null, "items": [1]})),
        delta(2, json!({"type": "compaction_delta", "content": "Ear", "items": [2]})),
        delta(2, json!({"type": "compaction_delta", "content": "lier.", "items": null})),
        stop(2),
        message_delta("pause_turn", json!({"output_tokens": 3})),
        message_stop(),
    ]);
    let (events, end) = decode(&body, 5);
    let kept: Vec<&ModelEvent> =
        events.iter().filter(|event| matches!(event, ModelEvent::ReasoningOpaque { .. })).collect();
    let expected = [
        opaque(
            0,
            json!({"type": "server_tool_use", "id": "srv_1", "name": "web_search", "input": {"query": "x"}}),
        ),
        opaque(
            1,
            json!({"type": "web_search_tool_result", "tool_use_id": "srv_1", "content": [{"url": "u"}]}),
        ),
        opaque(2, json!({"type": "compaction", "content": "Earlier.", "items": [1, 2]})),
    ];
    assert_eq!(kept, expected.iter().collect::<Vec<_>>());
    assert_eq!(events.last(), Some(&ModelEvent::Finished(Finish::Other { reason: "pause_turn".into() })));
    assert_eq!(end, Ok(()));
}

#[test]
fn every_reason_to_stop_has_its_meaning() {
    for (reason, finish) in [
        ("end_turn", Finish::Stop),
        ("stop_sequence", Finish::Stop),
        ("tool_use", Finish::ToolCalls),
        ("max_tokens", Finish::Length),
        ("model_context_window_exceeded", Finish::Length),
        ("refusal", Finish::Refusal),
        ("pause_turn", Finish::Other { reason: "pause_turn".into() }),
    ] {
        let (events, end) = decode(&sse(&[start(1), message_delta(reason, json!({})), message_stop()]), 9);
        assert_eq!((events.last(), end), (Some(&ModelEvent::Finished(finish)), Ok(())), "{reason}");
    }
}

#[test]
fn a_call_that_is_cut_keeps_what_came() {
    let body = sse(&[
        start(1),
        block(0, json!({"type": "tool_use", "id": "a", "name": "write", "input": {}})),
        delta(0, json!({"type": "input_json_delta", "partial_json": "{\"text\": \"lo"})),
        message_delta("max_tokens", json!({"output_tokens": 9})),
    ]);
    let (events, end) = decode(&body, 3);
    assert_eq!(end, Ok(()));
    assert!(events.contains(&completed(0, "a", "write", "{\"text\": \"lo")));
    assert_eq!(events.last(), Some(&ModelEvent::Finished(Finish::Length)));
}

#[test]
fn counts_in_the_last_event_replace_earlier_ones() {
    let last = json!({"input_tokens": 30, "cache_read_input_tokens": 0, "output_tokens": 12});
    let (events, _) = decode(&sse(&[start(25), message_delta("end_turn", last), message_stop()]), 50);
    let counted = Usage { input: 30, output: 12, cache_write: 7, cache_write_hour: 3, ..Usage::default() };
    assert!(events.contains(&ModelEvent::Usage(counted)), "{events:?}");
}

#[test]
fn errors_inside_of_a_stream_are_what_they_say() {
    for (kind, message, expected) in [
        ("overloaded_error", "Overloaded", ErrorKind::Overloaded),
        ("api_error", "Internal server error", ErrorKind::Overloaded),
        ("rate_limit_error", "Slow down", ErrorKind::RateLimit),
        ("invalid_request_error", "prompt is too long: 9 tokens > 8 maximum", ErrorKind::Overflow),
        ("authentication_error", "invalid x-api-key", ErrorKind::Auth),
    ] {
        let event = json!({"type": "error", "error": {"type": kind, "message": message}});
        let body = sse(&[start(1), block(0, json!({"type": "text", "text": "Hal"})), event]);
        let (events, end) = decode(&body, 11);
        let error = end.unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (expected, message));
        assert_eq!(events.last(), Some(&text(0, "Hal")));
    }
}

#[test]
fn a_stream_without_an_end_was_cut_and_garbage_is_shown() {
    let (events, end) = decode(&sse(&whole_answer()[..11]), 100);
    assert_eq!(end.unwrap_err().kind, ErrorKind::Cut);
    assert_eq!(events.last(), Some(&text(2, "Okay")));
    let (_, end) = decode("event: message_start\ndata: {\"type\": oops}\n\n", 4);
    let error = end.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Protocol);
    assert!(error.message.contains("oops"), "{error}");
}

#[test]
fn a_whole_body_is_read_like_a_stream() {
    let body = json!({"type": "message", "role": "assistant", "stop_reason": "tool_use", "content": [
        {"type": "thinking", "thinking": "hm", "signature": "s"},
        {"type": "text", "text": "Look."},
        {"type": "tool_use", "id": "a", "name": "f", "input": {"x": 1}},
    ], "usage": {"input_tokens": 3, "output_tokens": 4}});
    let (events, end) = decode(&body.to_string(), 13);
    assert_eq!(end, Ok(()));
    assert!(events.contains(&opaque(0, json!({"type": "thinking", "signature": "s"}))));
    assert!(events.contains(&completed(2, "a", "f", "{\"x\":1}")));
    assert_eq!(events.last(), Some(&ModelEvent::Finished(Finish::ToolCalls)));
    let refused = json!({"type": "error", "error": {"type": "not_found_error", "message": "model: x"}});
    assert_eq!(decode(&refused.to_string(), 8).1.unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(decode("{\"a\": 1}", 8).1.unwrap_err().kind, ErrorKind::Protocol);
}
