//! Answers written after the provider's documentation.

use super::*;
use crate::wire::{AnswerDecoder, Wire};

fn sse(events: &[Value]) -> String {
    events
        .iter()
        .map(|event| format!("event: {}\ndata: {event}\n\n", event["type"].as_str().unwrap()))
        .collect()
}

fn decode(body: &str, split: usize) -> (Vec<ModelEvent>, Result<(), ModelError>) {
    let mut decoder = AnswerDecoder::new(Wire::OpenAiResponses);
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

fn added(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.added", "output_index": index, "item": item})
}

fn done(index: u64, item: Value) -> Value {
    json!({"type": "response.output_item.done", "output_index": index, "item": item})
}

fn delta(kind: &str, index: u64, delta: &str) -> Value {
    json!({"type": format!("response.{kind}.delta"), "output_index": index, "item_id": "x", "delta": delta,
           "obfuscation": "zzz"})
}

fn last(kind: &str, fields: Value) -> Value {
    let mut response = json!({"id": "resp_1", "object": "response", "status": kind, "error": null, "output": [],
        "instructions": "rate limit exceeded", "usage": null});
    response.as_object_mut().unwrap().extend(fields.as_object().unwrap().clone());
    json!({"type": format!("response.{kind}"), "response": response})
}

fn text(part: u32, delta: &str) -> ModelEvent {
    ModelEvent::TextDelta { part, delta: delta.to_owned() }
}

fn reasoning(part: u32, delta: &str) -> ModelEvent {
    ModelEvent::ReasoningDelta { part, delta: delta.to_owned() }
}

fn opaque(part: u32, block: Value) -> ModelEvent {
    ModelEvent::ReasoningOpaque { part, opaque: json!({"wire": "openai-responses", "block": block}) }
}

fn started(part: u32, id: &str, tool: &str) -> ModelEvent {
    ModelEvent::CallStarted { part, wire_id: id.into(), tool: tool.into() }
}

fn grown(part: u32, delta: &str) -> ModelEvent {
    ModelEvent::CallDelta { part, delta: delta.to_owned() }
}

fn completed(part: u32, id: &str, tool: &str, arguments: &str) -> ModelEvent {
    ModelEvent::CallCompleted { part, wire_id: id.into(), tool: tool.into(), arguments: arguments.into() }
}

fn call(id: &str, arguments: &str) -> Value {
    json!({"id": format!("fc_{id}"), "type": "function_call", "status": "completed", "call_id": id,
           "name": "read", "arguments": arguments})
}

fn thought(sealed: &str, summary: &[&str]) -> Value {
    let summary: Vec<Value> =
        summary.iter().map(|text| json!({"type": "summary_text", "text": text})).collect();
    json!({"id": "rs_1", "type": "reasoning", "encrypted_content": sealed, "summary": summary})
}

fn message(phase: Option<&str>) -> Value {
    json!({"id": "msg_1", "type": "message", "role": "assistant", "content": [], "phase": phase})
}

fn whole_answer() -> Vec<Value> {
    vec![
        json!({"type": "response.created", "response": {"id": "resp_1", "status": "in_progress", "error": null}}),
        added(0, thought("early", &[])),
        json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 0}),
        delta("reasoning_summary_text", 0, "Let me \u{e9}"),
        json!({"type": "response.reasoning_summary_part.added", "output_index": 0, "summary_index": 1}),
        delta("reasoning_summary_text", 0, "Then"),
        done(0, thought("gAAA==", &["Let me \u{e9}", "Then"])),
        added(1, message(Some("commentary"))),
        delta("output_text", 1, "Read"),
        delta("output_text", 1, "ing."),
        json!({"type": "response.output_text.done", "output_index": 1, "text": "Reading."}),
        done(1, message(Some("commentary"))),
        added(2, call("call_1", "")),
        added(3, call("call_2", "")),
        delta("function_call_arguments", 2, "{\"path\":"),
        delta("function_call_arguments", 3, "{\"path\": \"b\"}"),
        delta("function_call_arguments", 2, "\"a\"}"),
        done(2, call("call_1", "{\"path\":\"a\"}")),
        done(3, call("call_2", "{\"path\": \"b\"}")),
        last(
            "completed",
            json!({"usage": {"input_tokens": 100, "input_tokens_details": {"cached_tokens": 60},
                "output_tokens": 30, "output_tokens_details": {"reasoning_tokens": 12}, "total_tokens": 130}}),
        ),
    ]
}

#[test]
fn reasoning_text_and_parallel_calls_are_told_as_they_come() {
    let usage = Usage { input: 40, output: 30, reasoning: 12, cache_read: 60, ..Usage::default() };
    let expected = vec![
        reasoning(0, "Let me \u{e9}"),
        reasoning(0, "\n\n"),
        reasoning(0, "Then"),
        opaque(0, thought("gAAA==", &["Let me \u{e9}", "Then"])),
        opaque(1, json!({"type": "message", "phase": "commentary"})),
        text(2, "Read"),
        text(2, "ing."),
        started(3, "call_1", "read"),
        started(4, "call_2", "read"),
        grown(3, "{\"path\":"),
        grown(4, "{\"path\": \"b\"}"),
        grown(3, "\"a\"}"),
        completed(3, "call_1", "read", "{\"path\":\"a\"}"),
        completed(4, "call_2", "read", "{\"path\": \"b\"}"),
        ModelEvent::Usage(usage),
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
        let mut decoder = AnswerDecoder::new(Wire::OpenAiResponses);
        let mut out = Vec::new();
        let (before, after) = body.as_bytes().split_at(at);
        decoder.push(before, &mut out).unwrap();
        decoder.push(after, &mut out).unwrap();
        assert_eq!(out, whole.0, "{at}");
    }
    assert_eq!(decode(&body, 1), whole);
}

#[test]
fn items_that_nobody_knows_are_kept_and_reasoning_that_is_only_a_name_is_not() {
    let search =
        json!({"id": "ws_1", "type": "web_search_call", "status": "completed", "action": {"query": "x"}});
    let open = json!({"id": "rs_2", "type": "reasoning", "summary": [],
        "content": [{"type": "reasoning_text", "text": "in the open"}]});
    let name = json!({"id": "rs_3", "type": "reasoning", "summary": []});
    let body = sse(&[
        added(0, json!({"id": "ws_1", "type": "web_search_call", "status": "in_progress"})),
        json!({"type": "response.web_search_call.searching", "output_index": 0}),
        done(0, search.clone()),
        done(1, open.clone()),
        done(2, name),
        last("completed", json!({})),
    ]);
    let expected = vec![
        opaque(0, search),
        reasoning(1, "in the open"),
        opaque(1, open),
        ModelEvent::Finished(Finish::Stop),
    ];
    assert_eq!(decode(&body, 7), (expected, Ok(())));
}

#[test]
fn look_alikes_leave_things_out() {
    // No deltas, no beginnings, another id in every event, the number of an item only once, arguments that differ.
    let said = json!({"type": "message", "content": [{"type": "output_text", "text": "Hi"}]});
    let body = sse(&[
        added(0, message(None)),
        json!({"type": "response.output_text.delta", "item_id": "other", "delta": "A"}),
        done(0, said.clone()),
        done(1, said),
        done(2, call("a", "{\"x\":1}")),
        added(3, call("b", "")),
        delta("function_call_arguments", 3, "{\"y\": 1}"),
        done(3, call("b", "{\"y\":1}")),
        json!({"type": "ping"}),
        last("completed", json!({"output": [call("a", "{}")]})),
    ]);
    let expected = vec![
        text(0, "A"),
        text(1, "Hi"),
        started(2, "a", "read"),
        grown(2, "{\"x\":1}"),
        completed(2, "a", "read", "{\"x\":1}"),
        started(3, "b", "read"),
        grown(3, "{\"y\": 1}"),
        completed(3, "b", "read", "{\"y\":1}"),
        ModelEvent::Finished(Finish::ToolCalls),
    ];
    assert_eq!(decode(&body, 9), (expected, Ok(())));
}

#[test]
fn what_was_never_told_in_events_is_read_from_the_end() {
    let output = json!([
        thought("s", &["hm"]),
        {"type": "message", "content": [{"type": "output_text", "text": "Hi"}]},
        call("a", ""),
    ]);
    let body = sse(&[last("completed", json!({"output": output}))]);
    let expected = vec![
        reasoning(0, "hm"),
        opaque(0, thought("s", &["hm"])),
        text(1, "Hi"),
        started(2, "a", "read"),
        completed(2, "a", "read", "{}"),
        ModelEvent::Finished(Finish::ToolCalls),
    ];
    assert_eq!(decode(&body, 11), (expected.clone(), Ok(())));
    let whole = json!({"id": "r", "status": "completed", "error": null, "output": output});
    assert_eq!(decode(&whole.to_string(), 11), (expected, Ok(())));
}

#[test]
fn a_call_with_text_for_input_is_an_object_that_holds_it() {
    let item =
        |input: &str| json!({"type": "custom_tool_call", "call_id": "c", "name": "patch", "input": input});
    let body = sse(&[
        added(0, item("")),
        delta("custom_tool_call_input", 0, "a \"b\"\n"),
        delta("custom_tool_call_input", 0, "\\c"),
        done(0, item("a \"b\"\n\\c")),
        done(1, item("whole")),
        last("completed", json!({})),
    ]);
    let (events, end) = decode(&body, 5);
    assert_eq!(end, Ok(()));
    assert!(
        events.contains(&completed(0, "c", "patch", "{\"input\":\"a \\\"b\\\"\\n\\\\c\"}")),
        "{events:?}"
    );
    assert!(events.contains(&completed(1, "c", "patch", "{\"input\":\"whole\"}")), "{events:?}");
}

#[test]
fn an_answer_that_is_not_complete_says_why() {
    for (reason, finish) in [
        ("max_output_tokens", Finish::Length),
        ("content_filter", Finish::Refusal),
        ("novel", Finish::Other { reason: "novel".into() }),
    ] {
        let cut = sse(&[
            added(0, call("a", "")),
            delta("function_call_arguments", 0, "{\"te"),
            last("incomplete", json!({"incomplete_details": {"reason": reason}})),
        ]);
        let (events, end) = decode(&cut, 6);
        assert!(events.contains(&completed(0, "a", "read", "{\"te")));
        assert_eq!((events.last(), end), (Some(&ModelEvent::Finished(finish)), Ok(())), "{reason}");
    }
}

#[test]
fn a_refusal_is_told_and_is_one() {
    let part = json!({"type": "message", "content": [{"type": "refusal", "refusal": "No."}]});
    let streamed = sse(&[added(0, message(None)), delta("refusal", 0, "No."), last("completed", json!({}))]);
    let whole = sse(&[last("completed", json!({"output": [part]}))]);
    for body in [streamed, whole] {
        let expected = vec![text(0, "No."), ModelEvent::Finished(Finish::Refusal)];
        assert_eq!(decode(&body, 8), (expected, Ok(())));
    }
}

#[test]
fn errors_in_the_middle_of_a_stream_are_what_they_say() {
    let error = |code: &str, message: &str| json!({"code": code, "message": message});
    let failed = |code: &str, message: &str| last("failed", json!({"error": error(code, message)}));
    let flat =
        |code: &str, message: &str| json!({"type": "error", "code": code, "message": message, "param": null});
    for (event, kind, message) in [
        (failed("server_error", "The model failed"), ErrorKind::Overloaded, "The model failed"),
        (failed("rate_limit_exceeded", "Slow down"), ErrorKind::RateLimit, "Slow down"),
        (flat("context_length_exceeded", "Too long"), ErrorKind::Overflow, "Too long"),
        (
            json!({"type": "error", "error": {"code": "server_error", "message": "Oh"}}),
            ErrorKind::Overloaded,
            "Oh",
        ),
        (last("failed", json!({})), ErrorKind::Cut, "the provider broke the answer off (status `failed`)"),
    ] {
        let (events, end) = decode(&sse(&[delta("output_text", 0, "Hal"), event]), 11);
        let error = end.unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (kind, message));
        assert_eq!(events, [text(0, "Hal")]);
    }
}

#[test]
fn a_stream_without_an_end_was_cut_and_garbage_is_shown() {
    let (events, end) = decode(&sse(&whole_answer()[..10]), 100);
    assert_eq!(end.unwrap_err().kind, ErrorKind::Cut);
    assert_eq!(events.last(), Some(&text(2, "ing.")));
    let (_, end) = decode("data: {\"type\": oops}\n\n", 4);
    let error = end.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Protocol);
    assert!(error.message.contains("oops"), "{error}");
    let refused = json!({"error": {"message": "no such model", "code": "model_not_found"}});
    assert_eq!(decode(&refused.to_string(), 8).1.unwrap_err().kind, ErrorKind::NotFound);
    assert_eq!(decode("{\"a\": 1}", 8).1.unwrap_err().kind, ErrorKind::Protocol);
    assert_eq!(decode("", 8).1.unwrap_err().kind, ErrorKind::Cut);
}
