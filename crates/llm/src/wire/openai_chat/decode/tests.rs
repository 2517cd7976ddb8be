//! What providers really send, one oddity a test.

use rein_http::sse;
use serde_json::json;

use super::*;

mod calls;

/// All events of a stream of data lines, and how it ended.
fn decode(lines: &[&str]) -> (Vec<ModelEvent>, Result<(), ModelError>) {
    let mut decoder = ChatDecoder::default();
    let mut events = Vec::new();
    let mut framing = sse::Decoder::default();
    for line in lines {
        framing.push(format!("data: {line}\n\n").as_bytes()).unwrap();
    }
    while let Some(event) = framing.next_event() {
        if let Err(error) = decoder.push(&event, &mut events) {
            return (events, Err(error));
        }
    }
    let end = decoder.finish(&mut events);
    (events, end)
}

fn complete(lines: &[&str]) -> Vec<ModelEvent> {
    let (events, end) = decode(lines);
    assert_eq!(end, Ok(()), "{events:?}");
    events
}

/// A chunk with one choice that has this delta.
fn delta(delta: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{delta}}}]}}"#)
}

fn finish(reason: &str) -> String {
    format!(r#"{{"choices":[{{"index":0,"delta":{{}},"finish_reason":"{reason}"}}]}}"#)
}

fn calls_delta(calls: &str) -> String {
    delta(&format!(r#"{{"tool_calls":[{calls}]}}"#))
}

fn text(part: u32, delta: &str) -> ModelEvent {
    ModelEvent::TextDelta { part, delta: delta.to_owned() }
}

fn reasoning(part: u32, delta: &str) -> ModelEvent {
    ModelEvent::ReasoningDelta { part, delta: delta.to_owned() }
}

fn started(part: u32, wire_id: &str, tool: &str) -> ModelEvent {
    ModelEvent::CallStarted { part, wire_id: wire_id.to_owned(), tool: tool.to_owned() }
}

fn call_delta(part: u32, delta: &str) -> ModelEvent {
    ModelEvent::CallDelta { part, delta: delta.to_owned() }
}

fn completed(part: u32, wire_id: &str, tool: &str, arguments: &str) -> ModelEvent {
    ModelEvent::CallCompleted {
        part,
        wire_id: wire_id.to_owned(),
        tool: tool.to_owned(),
        arguments: arguments.to_owned(),
    }
}

fn done(finish: Finish) -> ModelEvent {
    ModelEvent::Finished(finish)
}

/// Only the calls, whole.
fn calls(lines: &[&str]) -> Vec<(String, String, String)> {
    complete(lines)
        .into_iter()
        .filter_map(|event| match event {
            ModelEvent::CallCompleted { wire_id, tool, arguments, .. } => Some((wire_id, tool, arguments)),
            _ => None,
        })
        .collect()
}

fn call(id: &str, tool: &str, arguments: &str) -> (String, String, String) {
    (id.to_owned(), tool.to_owned(), arguments.to_owned())
}

#[test]
fn words_and_a_finish() {
    let events = complete(&[
        &delta(r#"{"role":"assistant","content":""}"#),
        &delta(r#"{"content":"Hel"}"#),
        &delta(r#"{"content":"lo"}"#),
        &finish("stop"),
        "[DONE]",
    ]);
    assert_eq!(events, [text(0, "Hel"), text(0, "lo"), done(Finish::Stop)]);
}

#[test]
fn an_answer_with_nothing_in_it_is_delivered_as_such() {
    assert_eq!(complete(&[&finish("stop"), "[DONE]"]), [done(Finish::Stop)]);
}

#[test]
fn a_stream_without_a_finish_and_without_done_was_cut() {
    let (events, end) = decode(&[&delta(r#"{"content":"Hel"}"#)]);
    assert_eq!((events, end.unwrap_err().kind), (vec![text(0, "Hel")], ErrorKind::Cut));
    let (events, end) =
        decode(&[&calls_delta(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#)]);
    assert_eq!(
        (events, end.unwrap_err().kind),
        (vec![started(0, "a", "f"), call_delta(0, "{}")], ErrorKind::Cut)
    );
}

#[test]
fn done_without_a_finish_is_an_end_and_so_is_a_finish_without_done() {
    assert_eq!(complete(&[&delta(r#"{"content":"a"}"#), "[DONE]"]), [text(0, "a"), done(Finish::Stop)]);
    assert_eq!(
        complete(&[&delta(r#"{"content":"a"}"#), &finish("stop")]),
        [text(0, "a"), done(Finish::Stop)]
    );
    let one = calls_delta(r#"{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}"#);
    assert_eq!(complete(&[&one, "[DONE]"]).last(), Some(&done(Finish::ToolCalls)));
}

#[test]
fn a_repeated_finish_ends_the_answer_once() {
    let usage = r#"{"choices":[{"index":0,"delta":{"content":""},"finish_reason":"stop"}],"usage":{"prompt_tokens":3,"completion_tokens":1}}"#;
    let counted = Usage { input: 3, output: 1, ..Usage::default() };
    assert_eq!(
        complete(&[&delta(r#"{"content":"a"}"#), &finish("stop"), usage, "[DONE]"]),
        [text(0, "a"), ModelEvent::Usage(counted), done(Finish::Stop)]
    );
}

#[test]
fn content_and_calls_in_or_after_the_finish_chunk_are_kept() {
    let last = r#"{"choices":[{"index":0,"delta":{"content":"b"},"finish_reason":"length"}]}"#;
    assert_eq!(
        complete(&[&delta(r#"{"content":"a"}"#), last]),
        [text(0, "a"), text(0, "b"), done(Finish::Length)]
    );
    let events = calls(&[
        r#"{"choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"a","function":{"name":"f","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}"#,
        &calls_delta(r#"{"index":1,"id":"b","function":{"name":"g","arguments":"{\"x\""}}"#),
        &calls_delta(r#"{"index":1,"function":{"arguments":":1}"}}"#),
        &finish("tool_calls"),
        "[DONE]",
    ]);
    assert_eq!(events, [call("a", "f", "{}"), call("b", "g", "{\"x\":1}")]);
}

#[test]
fn null_and_empty_fields_mean_nothing() {
    let nothing = [
        r#"{"content":null,"tool_calls":null,"refusal":null,"function_call":null,"reasoning_content":null}"#,
        r#"{"content":"","tool_calls":[],"refusal":"","function_call":{"name":"","arguments":""},"reasoning":""}"#,
        r#"{"content":[],"reasoning_details":[]}"#,
        r#"{"tool_calls":[{"index":0,"id":"","function":{"name":"","arguments":""}}]}"#,
    ];
    for fields in nothing {
        assert_eq!(complete(&[&delta(fields), &finish("stop")]), [done(Finish::Stop)], "{fields}");
    }
    let odd = [
        r#"{"choices":[],"prompt_filter_results":[]}"#,
        r#"{"choices":[{"index":0,"finish_reason":null}]}"#,
        r#"{"id":"x","usage":null}"#,
        r#"{"choices":null}"#,
        "{}",
        "null",
    ];
    for chunk in odd {
        assert_eq!(complete(&[chunk, &finish("stop")]), [done(Finish::Stop)], "{chunk}");
    }
}

#[test]
fn an_empty_finish_reason_is_none() {
    let (_, end) = decode(&[&delta(r#"{"content":"a"}"#), &finish("")]);
    assert_eq!(end.unwrap_err().kind, ErrorKind::Cut);
}

#[test]
fn reasoning_is_found_under_every_name_and_not_twice() {
    let table = [
        r#"{"reasoning_content":"hm"}"#,
        r#"{"reasoning":"hm","content":""}"#,
        r#"{"reasoning":"hm","reasoning_details":[{"type":"reasoning.text","text":"hm"}]}"#,
        r#"{"reasoning_details":[{"type":"reasoning.text","text":"hm","signature":"s"}]}"#,
        r#"{"reasoning_details":[{"type":"reasoning.summary","summary":"hm"},{"type":"reasoning.encrypted","data":"x"}]}"#,
        r#"{"content":[{"type":"thinking","thinking":[{"type":"text","text":"hm"}],"closed":true}]}"#,
        r#"{"content":[{"type":"thinking","thinking":"hm"}]}"#,
        r#"{"content":"<think>hm</think>"}"#,
    ];
    for fields in table {
        let events = complete(&[&delta(fields), &delta(r#"{"content":"So"}"#), &finish("stop")]);
        assert_eq!(events, [reasoning(0, "hm"), text(1, "So"), done(Finish::Stop)], "{fields}");
    }
}

#[test]
fn reasoning_that_resumes_is_a_part_of_its_own() {
    let events = complete(&[
        &delta(r#"{"reasoning":"a"}"#),
        &delta(r#"{"content":"b"}"#),
        &delta(r#"{"reasoning":"c"}"#),
        &finish("stop"),
    ]);
    assert_eq!(events, [reasoning(0, "a"), text(1, "b"), reasoning(2, "c"), done(Finish::Stop)]);
}

#[test]
fn content_may_be_a_list() {
    let list = delta(r#"{"content":[{"type":"text","text":"a"},"b",{"type":"image","url":"x"}]}"#);
    assert_eq!(complete(&[&list, &finish("stop")]), [text(0, "a"), text(0, "b"), done(Finish::Stop)]);
}

#[test]
fn a_refusal_is_said_and_named() {
    let events = complete(&[&delta(r#"{"refusal":"I cannot"}"#), &finish("stop")]);
    assert_eq!(events, [text(0, "I cannot"), done(Finish::Refusal)]);
    assert_eq!(complete(&[&finish("content_filter")]), [done(Finish::Refusal)]);
}

#[test]
fn only_the_first_choice_counts() {
    let other = r#"{"choices":[{"index":1,"delta":{"content":"x"}},{"index":0,"delta":{"content":"b"}}]}"#;
    let events = complete(&[&delta(r#"{"content":"a"}"#), other, &finish("stop")]);
    assert_eq!(events, [text(0, "a"), text(0, "b"), done(Finish::Stop)]);
}

#[test]
fn a_message_beside_a_delta_is_not_said_twice() {
    let last = r#"{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"whole"},"delta":{"content":""}}]}"#;
    assert_eq!(complete(&[&delta(r#"{"content":"whole"}"#), last]), [text(0, "whole"), done(Finish::Stop)]);
    let alone = r#"{"choices":[{"index":0,"finish_reason":"stop","message":{"content":"whole"}}]}"#;
    assert_eq!(complete(&[alone]), [text(0, "whole"), done(Finish::Stop)]);
}

#[test]
fn usage_is_found_wherever_it_is_and_zeros_do_not_replace_it() {
    let counts = r#"{"prompt_tokens":5,"completion_tokens":2}"#;
    let places = [
        format!(r#"{{"choices":[],"usage":{counts}}}"#),
        format!(r#"{{"choices":[{{"index":0,"delta":{{}},"usage":{counts}}}]}}"#),
        format!(r#"{{"choices":[],"x_groq":{{"id":"r","usage":{counts}}}}}"#),
    ];
    let usage = ModelEvent::Usage(Usage { input: 5, output: 2, ..Usage::default() });
    for chunk in &places {
        let zeros = r#"{"choices":[],"usage":{"prompt_tokens":0,"completion_tokens":0}}"#;
        let events = complete(&[&finish("stop"), chunk, chunk, zeros, "[DONE]"]);
        assert_eq!(events, [usage.clone(), done(Finish::Stop)], "{chunk}");
    }
}

#[test]
fn an_error_inside_a_stream_ends_it_after_what_had_come() {
    let table = [
        (r#"{"error":{"message":"Overloaded","code":503}}"#, ErrorKind::Overloaded, "Overloaded"),
        (
            r#"{"choices":[],"error":{"code":400,"message":"Provider returned error"}}"#,
            ErrorKind::BadRequest,
            "Provider returned error",
        ),
        (r#"{"error":"rate limit exceeded"}"#, ErrorKind::RateLimit, "rate limit exceeded"),
        (
            r#"{"object":"error","message":"maximum context length is 10","code":400}"#,
            ErrorKind::Overflow,
            "maximum context length is 10",
        ),
        (
            r#"{"choices":[{"delta":{},"finish_reason":"error"}],"error":{"message":"boom","code":502}}"#,
            ErrorKind::Overloaded,
            "boom",
        ),
    ];
    for (chunk, kind, message) in table {
        let (events, end) = decode(&[&delta(r#"{"content":"<th"}"#), chunk, "[DONE]"]);
        let error = end.unwrap_err();
        assert_eq!((error.kind, error.message.as_str()), (kind, message), "{chunk}");
        assert_eq!(events, [text(0, "<th")]);
    }
    for harmless in
        [r#"{"error":null,"choices":[]}"#, r#"{"error":"","choices":[]}"#, r#"{"error":{},"choices":[]}"#]
    {
        assert_eq!(complete(&[harmless, &finish("stop")]), [done(Finish::Stop)], "{harmless}");
    }
}

#[test]
fn an_error_event_is_an_error_whatever_its_data() {
    let mut decoder = ChatDecoder::default();
    let event = SseEvent {
        event: Some("error".into()),
        data: json!({"reason": "server error"}).to_string(),
        id: None,
    };
    assert_eq!(decoder.push(&event, &mut Vec::new()).unwrap_err().kind, ErrorKind::Overloaded);
}

#[test]
fn finish_reasons_that_are_failures_are_errors() {
    for (reason, kind) in [("error", ErrorKind::Overloaded), ("network_error", ErrorKind::Network)] {
        let (events, end) = decode(&[&delta(r#"{"content":"a"}"#), &finish(reason)]);
        assert_eq!((events, end.unwrap_err().kind), (vec![text(0, "a")], kind));
    }
    let other = Finish::Other { reason: "bored".to_owned() };
    assert_eq!(complete(&[&finish("bored")]), [done(other)]);
}

#[test]
fn garbage_is_shown_but_not_all_of_it() {
    let garbage = "x".repeat(10_000);
    let (_, end) = decode(&[&delta(r#"{"content":"a"}"#), &garbage]);
    let error = end.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Protocol);
    assert!(error.message.ends_with(&"x".repeat(200)), "{}", error.message);
    assert!(error.message.len() < 400, "{}", error.message);
}

#[test]
fn nothing_is_decoded_after_the_end() {
    let mut decoder = ChatDecoder::default();
    let mut events = Vec::new();
    for data in ["[DONE]", "[DONE]", "garbage", &delta(r#"{"content":"a"}"#)] {
        let event = SseEvent { data: data.to_owned(), ..SseEvent::default() };
        assert_eq!(decoder.push(&event, &mut events), Ok(()));
    }
    assert_eq!(decoder.finish(&mut events), Ok(()));
    assert_eq!(events, [done(Finish::Stop)]);
}

fn body(text: &str) -> (Vec<ModelEvent>, Result<(), ModelError>) {
    let mut events = Vec::new();
    let result = ChatDecoder::default().body(text.as_bytes(), &mut events);
    (events, result)
}

#[test]
fn a_body_that_was_not_streamed_is_decoded_alike() {
    let (events, result) = body(
        "  \n {\"choices\":[{\"index\":0,\"finish_reason\":\"tool_calls\",\"message\":{\"content\":\"Hi\",\"reasoning_content\":\"hm\",\
         \"tool_calls\":[{\"id\":\"a\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}},{\"id\":\"b\",\"function\":{\"name\":\"f\",\"arguments\":\"{}\"}}]}}],\
         \"usage\":{\"prompt_tokens\":5,\"completion_tokens\":2}}",
    );
    assert_eq!(result, Ok(()));
    assert_eq!(
        events,
        [
            ModelEvent::Usage(Usage { input: 5, output: 2, ..Usage::default() }),
            reasoning(0, "hm"),
            text(1, "Hi"),
            started(2, "a", "f"),
            call_delta(2, "{}"),
            completed(2, "a", "f", "{}"),
            started(3, "b", "f"),
            call_delta(3, "{}"),
            completed(3, "b", "f", "{}"),
            done(Finish::ToolCalls),
        ]
    );
}

#[test]
fn a_body_that_is_no_answer_says_what_it_is() {
    let kind = |text: &str| body(text).1.unwrap_err().kind;
    assert_eq!(kind(r#"{"error":{"message":"Provider returned error","code":400}}"#), ErrorKind::BadRequest);
    assert_eq!(kind(r#"{"detail":"Unauthorized"}"#), ErrorKind::Auth);
    assert_eq!(kind(r#"{"hello":"world"}"#), ErrorKind::Protocol);
    assert_eq!(kind(r#"{"choices":[{"message":{"content":"Hel"#), ErrorKind::Cut);
    assert_eq!(kind("hello"), ErrorKind::Protocol);
}

#[test]
fn an_error_in_a_list_and_an_error_event_in_plain_words_are_errors() {
    assert_eq!(
        body(r#"[{"error":{"code":429,"message":"slow"}}]"#).1.unwrap_err().kind,
        ErrorKind::RateLimit
    );
    let event = SseEvent { event: Some("error".into()), data: "upstream timed out".into(), id: None };
    let error = ChatDecoder::default().push(&event, &mut Vec::new()).unwrap_err();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Network, "upstream timed out"));
}
