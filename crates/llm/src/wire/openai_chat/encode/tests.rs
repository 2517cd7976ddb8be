//! What is sent, to the byte.

use rein_protocol::{BlobId, CallId, Message, ToolCall, ToolInput};

use super::*;
use crate::catalog::{ImageSupport, ToolIdShape};

fn model(name: &str) -> ModelRef {
    format!("provider/{name}").parse().unwrap()
}

fn user(text: &str) -> Message {
    Message::User { content: vec![Content::text(text)] }
}

fn assistant_of(name: &str, parts: Vec<AssistantPart>) -> Message {
    Message::Assistant { model: model(name), parts }
}

fn said(text: &str) -> AssistantPart {
    AssistantPart::Text { text: text.to_owned() }
}

fn thought(text: &str) -> AssistantPart {
    AssistantPart::Reasoning { text: text.to_owned(), opaque: None }
}

fn called(wire_id: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: CallId::new(),
        wire_id: wire_id.to_owned(),
        tool: "read".to_owned(),
        input: ToolInput::parse(arguments),
    }
}

fn result(call: &ToolCall, text: &str, is_error: bool) -> Message {
    Message::Tool {
        call: call.id.clone(),
        wire_id: call.wire_id.clone(),
        tool: call.tool.clone(),
        content: vec![Content::text(text)],
        is_error,
    }
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest { model: "m".to_owned(), messages, ..ModelRequest::default() }
}

fn encoded(request: &ModelRequest, quirks: &Quirks) -> Value {
    serde_json::from_slice(&encode(request, quirks).unwrap().body).unwrap()
}

/// The messages of the encoded request, one line each.
fn lines(messages: Vec<Message>, quirks: &Quirks) -> String {
    let body = encoded(&request(messages), quirks);
    let lines: Vec<String> = body["messages"].as_array().unwrap().iter().map(Value::to_string).collect();
    lines.join("\n")
}

#[test]
fn a_whole_request_has_its_fields_in_a_fixed_order() {
    let call = called("call_1", r#"{"path":"a.txt","limit":3}"#);
    let request = ModelRequest {
        system: vec!["You are rein.".to_owned(), String::new(), "Today is Monday.".to_owned()],
        tools: vec![ToolSpec {
            name: "read".to_owned(),
            description: "Reads a file.".to_owned(),
            input_schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        }],
        max_output: Some(1000),
        ..request(vec![
            user("Read a.txt"),
            assistant_of("m", vec![thought("hm"), said("Reading."), AssistantPart::Call(call.clone())]),
            result(&call, "hello", false),
        ])
    };
    let first = encode(&request, &Quirks::default()).unwrap().body;
    assert_eq!(first, encode(&request.clone(), &Quirks::default()).unwrap().body);
    insta::assert_snapshot!(String::from_utf8(first.to_vec()).unwrap(), @r#"{"model":"m","stream":true,"stream_options":{"include_usage":true},"max_tokens":1000,"tools":[{"type":"function","function":{"name":"read","description":"Reads a file.","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}],"messages":[{"role":"system","content":"You are rein.\n\nToday is Monday."},{"role":"user","content":"Read a.txt"},{"role":"assistant","content":"Reading.","tool_calls":[{"id":"call_1","type":"function","function":{"name":"read","arguments":"{\"path\":\"a.txt\",\"limit\":3}"}}]},{"role":"tool","tool_call_id":"call_1","content":"hello"}]}"#);
}

#[test]
fn a_longer_conversation_begins_with_the_bytes_of_a_shorter_one() {
    let call = called("a", "{}");
    let mut messages = vec![
        user("one"),
        assistant_of("m", vec![AssistantPart::Call(call.clone())]),
        result(&call, "x", false),
    ];
    let shorter = encode(&request(messages.clone()), &Quirks::default()).unwrap().body;
    messages.push(assistant_of("m", vec![said("two")]));
    let longer = encode(&request(messages), &Quirks::default()).unwrap().body;
    assert!(longer.starts_with(shorter.strip_suffix(b"]}").unwrap()));
}

#[test]
fn quirks_change_names_and_leave_things_out() {
    let quirks = Quirks {
        max_tokens_field: "max_completion_tokens".to_owned(),
        system_role: "developer".to_owned(),
        stream_usage: false,
        reasoning_field: Some("reasoning_content".to_owned()),
        ..Quirks::default()
    };
    let request = ModelRequest {
        system: vec!["s".to_owned()],
        max_output: Some(5),
        ..request(vec![
            assistant_of("m", vec![thought("own"), said("a")]),
            assistant_of("n", vec![thought("other"), said("b")]),
        ])
    };
    assert_eq!(
        encoded(&request, &quirks),
        json!({"model": "m", "stream": true, "max_completion_tokens": 5, "messages": [
            {"role": "developer", "content": "s"},
            {"role": "assistant", "content": "a", "reasoning_content": "own"},
            {"role": "assistant", "content": "b", "reasoning_content": ""},
        ]})
    );
}

#[test]
fn every_call_gets_exactly_one_result_right_behind_it() {
    let (one, two, three) = (called("a", "{}"), called("b", "{}"), called("c", "not json"));
    let messages = vec![
        user("go"),
        assistant_of("m", [&one, &two, &three].map(|call| AssistantPart::Call(call.clone())).to_vec()),
        user("wait"),
        result(&three, "3", true),
        result(&one, "1", false),
        result(&one, "again", false),
    ];
    insta::assert_snapshot!(lines(messages, &Quirks::default()), @r#"
    {"role":"user","content":"go"}
    {"role":"assistant","content":null,"tool_calls":[{"id":"a","type":"function","function":{"name":"read","arguments":"{}"}},{"id":"b","type":"function","function":{"name":"read","arguments":"{}"}},{"id":"c","type":"function","function":{"name":"read","arguments":"{}"}}]}
    {"role":"tool","tool_call_id":"a","content":"1"}
    {"role":"tool","tool_call_id":"b","content":"error: there is no result; the call was not run, or its result was lost"}
    {"role":"tool","tool_call_id":"c","content":"error: 3"}
    {"role":"user","content":"wait"}
    "#);
}

#[test]
fn ids_that_providers_repeat_are_told_apart() {
    let (one, two) = (called("call_0", "{}"), called("call_0", "{}"));
    let messages = vec![
        assistant_of("m", vec![AssistantPart::Call(one.clone())]),
        result(&one, "first", false),
        assistant_of("m", vec![AssistantPart::Call(two.clone())]),
        result(&two, "second", false),
    ];
    insta::assert_snapshot!(lines(messages.clone(), &Quirks::default()), @r#"
    {"role":"assistant","content":null,"tool_calls":[{"id":"call_0","type":"function","function":{"name":"read","arguments":"{}"}}]}
    {"role":"tool","tool_call_id":"call_0","content":"first"}
    {"role":"assistant","content":null,"tool_calls":[{"id":"call_0_2","type":"function","function":{"name":"read","arguments":"{}"}}]}
    {"role":"tool","tool_call_id":"call_0_2","content":"second"}
    "#);
    let nine = Quirks { tool_id: ToolIdShape::Alphanumeric9, ..Quirks::default() };
    let body = encoded(&request(messages), &nine);
    assert_eq!(
        (&body["messages"][1]["tool_call_id"], &body["messages"][3]["tool_call_id"]),
        (&json!("0000call0"), &json!("0000call2"))
    );
}

#[test]
fn what_is_empty_is_left_out_and_a_stray_result_is_kept_as_words() {
    let gone = called("z", "{}");
    let messages = vec![
        user(""),
        user("  "),
        assistant_of("m", vec![]),
        assistant_of("m", vec![thought("only thoughts")]),
        assistant_of("m", vec![said("  \n")]),
        result(&gone, "stray", false),
        user("hi"),
    ];
    insta::assert_snapshot!(lines(messages, &Quirks::default()), @r#"
    {"role":"user","content":"The result of an earlier call of `read`:\n\nstray"}
    {"role":"user","content":"hi"}
    "#);
}

#[test]
fn an_error_is_said_once_and_no_output_is_said_at_all() {
    let (one, two) = (called("a", "{}"), called("b", "{}"));
    let messages = vec![
        assistant_of("m", vec![AssistantPart::Call(one.clone()), AssistantPart::Call(two.clone())]),
        result(&one, "Error: no such file", true),
        result(&two, "", false),
    ];
    let body = encoded(&request(messages), &Quirks::default());
    assert_eq!(body["messages"][1]["content"], "Error: no such file");
    assert_eq!(body["messages"][2]["content"], "(no output)");
}

#[test]
fn images_are_shown_by_persons_and_behind_the_results_that_hold_them() {
    let image = |blob: &str| Content::Image { media_type: "image/png".into(), blob: BlobId(blob.into()) };
    let (one, two) = (called("one", "{}"), called("two", "{}"));
    let showing = Message::Tool {
        call: one.id.clone(),
        wire_id: one.wire_id.clone(),
        tool: one.tool.clone(),
        content: vec![image("known")],
        is_error: false,
    };
    let mut request = request(vec![
        Message::User { content: vec![Content::text("See"), image("known"), image("lost")] },
        assistant_of("m", vec![AssistantPart::Call(one.clone()), AssistantPart::Call(two.clone())]),
        showing,
        result(&two, "text", false),
    ]);
    request.images.insert(BlobId("known".into()), bytes::Bytes::from_static(b"PNG"));
    let shown = json!({"type": "image_url", "image_url": {"url": "data:image/png;base64,UE5H"}});
    let text = |text: &str| json!({"type": "text", "text": text});
    let messages = encoded(&request, &Quirks::default())["messages"].clone();
    let lost = text("[an image (image/png), which is no longer there]");
    assert_eq!(messages[0]["content"], json!([text("See"), shown, lost]));
    assert_eq!(messages[2]["content"], "(an image, shown below)");
    assert_eq!(messages[3]["content"], "text");
    assert_eq!(messages[4], json!({"role": "user", "content": [text("What call one shows:"), shown]}));
    let blind = Quirks { images: ImageSupport::No, ..Quirks::default() };
    let told = encoded(&request, &blind)["messages"].clone();
    assert_eq!(told[2]["content"], "[an image (image/png), which this model cannot see]");
    assert_eq!(told.as_array().unwrap().len(), 4);
}

#[test]
fn a_made_up_tool_name_is_sent_back_in_a_form_that_is_taken() {
    assert_eq!(acceptable_name("read"), "read");
    assert_eq!(acceptable_name("mcp__x-y"), "mcp__x-y");
    assert_eq!(acceptable_name(""), "_");
    assert_eq!(acceptable_name("run it\n\u{e9}"), "run_it__");
    assert_eq!(acceptable_name(&"x".repeat(1000)).len(), 64);
}
