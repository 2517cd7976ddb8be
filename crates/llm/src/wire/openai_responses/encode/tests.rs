//! Requests as the provider's documentation wants them.

use bytes::Bytes;
use rein_protocol::message::AssistantPart;
use rein_protocol::{BlobId, CallId, ModelRef, ToolCall, ToolInput};

use super::*;
use crate::catalog::Thinking;
use crate::request::Effort;

fn user(text: &str) -> Message {
    Message::User { content: vec![Content::text(text)] }
}

fn said(text: &str) -> AssistantPart {
    AssistantPart::Text { text: text.to_owned() }
}

fn kept(wire: &str, block: Value) -> AssistantPart {
    AssistantPart::Reasoning { text: "hm".to_owned(), opaque: Some(json!({"wire": wire, "block": block})) }
}

fn call(id: &str, arguments: &str) -> ToolCall {
    ToolCall {
        id: CallId::new(),
        wire_id: id.into(),
        tool: "read".into(),
        input: ToolInput::parse(arguments),
    }
}

fn assistant(name: &str, parts: Vec<AssistantPart>) -> Message {
    Message::Assistant { model: ModelRef { provider: "p".to_owned(), model: name.to_owned() }, parts }
}

fn result(call: &ToolCall, content: Vec<Content>, is_error: bool) -> Message {
    Message::Tool {
        call: call.id.clone(),
        wire_id: call.wire_id.clone(),
        tool: call.tool.clone(),
        content,
        is_error,
    }
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest { model: "m".to_owned(), messages, ..ModelRequest::default() }
}

fn body(request: &ModelRequest, quirks: &Quirks) -> Value {
    serde_json::from_slice(&encode(request, quirks).unwrap().body).unwrap()
}

fn input_of(messages: Vec<Message>) -> Value {
    body(&request(messages), &Quirks::default())["input"].clone()
}

fn tool_spec(schema: Value) -> ToolSpec {
    ToolSpec { name: "read".to_owned(), description: "Reads.".to_owned(), input_schema: schema }
}

fn thinking() -> Thinking {
    Thinking {
        style: ThinkingStyle::Level,
        highest: Effort::High,
        display: Some("auto".to_owned()),
        words: [(Effort::Off, "none".to_owned()), (Effort::Max, "xhigh".to_owned())].into(),
        ..Thinking::default()
    }
}

#[test]
fn a_whole_request_looks_like_this() {
    let first = call("call_1", "{\"path\":\"a\"}");
    let sealed = json!({"id": "rs_1", "type": "reasoning", "encrypted_content": "gAAA==", "summary": []});
    let search = json!({"id": "ws_1", "type": "web_search_call", "status": "completed"});
    let phase = json!({"type": "message", "phase": "commentary"});
    let parts = vec![
        kept("openai-responses", sealed.clone()),
        kept("openai-responses", search.clone()),
        kept("openai-responses", phase),
        said("Reading."),
        AssistantPart::Call(first.clone()),
    ];
    let request = ModelRequest {
        system: vec!["You are rein.".to_owned(), " ".to_owned(), "Today is Monday.".to_owned()],
        tools: vec![tool_spec(json!({"type": "object"}))],
        max_output: Some(1000),
        effort: Some(Effort::Max),
        ..request(vec![
            user("Read a"),
            assistant("m", parts),
            result(&first, vec![Content::text("hello")], false),
        ])
    };
    let quirks = Quirks {
        thinking: thinking(),
        verbosity: Some("low".to_owned()),
        system_role: "developer".to_owned(),
        ..Quirks::default()
    };
    let encoded = encode(&request, &quirks).unwrap();
    assert_eq!(encoded, encode(&request.clone(), &quirks).unwrap());
    assert_eq!(encoded.path, "/responses");
    let words = |text: &str| json!({"type": "input_text", "text": text});
    let expected = json!({
        "model": "m", "stream": true, "store": false,
        "include": ["reasoning.encrypted_content"],
        "reasoning": {"effort": "xhigh", "summary": "auto"},
        "text": {"verbosity": "low"},
        "max_output_tokens": 1000,
        "tools": [{"type": "function", "name": "read", "description": "Reads.",
                   "parameters": {"type": "object", "properties": {}}, "strict": false}],
        "input": [
            {"role": "developer", "content": [words("You are rein."), words("Today is Monday.")]},
            {"role": "user", "content": [words("Read a")]},
            sealed,
            search,
            {"type": "message", "role": "assistant", "phase": "commentary",
             "content": [{"type": "output_text", "text": "Reading."}]},
            {"type": "function_call", "call_id": "call_1", "name": "read", "arguments": "{\"path\":\"a\"}"},
            {"type": "function_call_output", "call_id": "call_1", "output": "hello"},
        ],
    });
    assert_eq!(serde_json::from_slice::<Value>(&encoded.body).unwrap(), expected);
}

#[test]
fn reasoning_goes_back_only_where_it_came_from_and_only_with_what_it_led_to() {
    let sealed = json!({"type": "reasoning", "encrypted_content": "secret", "summary": []});
    let input = input_of(vec![
        user("a"),
        assistant("m", vec![kept("anthropic-messages", sealed.clone()), said("One")]),
        assistant("other", vec![kept("openai-responses", sealed.clone()), said("Two")]),
        assistant("m", vec![said("Three"), kept("openai-responses", sealed.clone())]),
        assistant("m", vec![kept("openai-responses", sealed.clone())]),
        assistant("m", vec![AssistantPart::Reasoning { text: "cut".to_owned(), opaque: None }, said(" ")]),
        user("b"),
    ]);
    let text = input.to_string();
    assert!(!text.contains("secret") && !text.contains("cut"), "{text}");
    assert_eq!(input.as_array().unwrap().len(), 5);
}

#[test]
fn results_follow_their_calls_and_none_is_missing() {
    let calls = [call("x.1:0", "{}"), call("x.1:0", "{\"a\": "), call("", "{}")];
    let parts = calls.iter().cloned().map(AssistantPart::Call).collect();
    let stray = call("gone", "{}");
    let input = input_of(vec![
        assistant("m", parts),
        user("Also this."),
        result(&calls[1], vec![Content::text("no such file")], true),
        result(&calls[0], vec![], false),
        result(&stray, vec![Content::text("late")], false),
    ]);
    let call_of = |id: &str, arguments: &str| json!({"type": "function_call", "call_id": id, "name": "read", "arguments": arguments});
    let answer =
        |id: &str, text: &str| json!({"type": "function_call_output", "call_id": id, "output": text});
    let words = |text: &str| json!({"type": "input_text", "text": text});
    let malformed = calls[1].input.to_json_text();
    let expected = json!([
        call_of("x_1_0", "{}"),
        call_of("x_1_0_2", &malformed),
        call_of("call", "{}"),
        answer("x_1_0", "(no output)"),
        answer("x_1_0_2", "error:\n\nno such file"),
        answer("call", "error: there is no result; the call was not run, or its result was lost"),
        {"role": "user", "content": [words("Also this.")]},
        {"role": "user", "content": [words("The result of an earlier call of `read`:"), words("late")]},
    ]);
    assert_eq!(input, expected);
    assert_eq!(
        input_of(vec![user(" ")]),
        json!([{"role": "user", "content": [words("(The conversation goes on.)")]}])
    );
}

#[test]
fn images_are_sent_by_persons_and_tools() {
    let image =
        |blob: &str| Content::Image { media_type: "image/png".to_owned(), blob: BlobId(blob.to_owned()) };
    let called = call("a", "{}");
    let mut request = request(vec![
        Message::User { content: vec![image("known"), image("lost")] },
        assistant("m", vec![AssistantPart::Call(called.clone())]),
        result(&called, vec![Content::text("see"), image("known")], false),
    ]);
    request.images.insert(BlobId("known".to_owned()), Bytes::from_static(b"\x89PNG"));
    let input = body(&request, &Quirks::default())["input"].clone();
    let shown = json!({"type": "input_image", "image_url": "data:image/png;base64,iVBORw=="});
    let lost = json!({"type": "input_text", "text": "[an image (image/png), which is no longer there]"});
    assert_eq!(input[0]["content"], json!([shown, lost]));
    assert_eq!(input[2]["output"], json!([{"type": "input_text", "text": "see"}, shown]));
}

#[test]
fn what_is_asked_depends_on_data() {
    let asked = |effort, quirks: &Quirks| body(&ModelRequest { effort, ..request(vec![user("a")]) }, quirks);
    let plain = asked(Some(Effort::High), &Quirks::default());
    assert_eq!(
        (&plain["include"], &plain["reasoning"], &plain["text"]),
        (&Value::Null, &Value::Null, &Value::Null)
    );
    let thinks = Quirks { thinking: thinking(), ..Quirks::default() };
    assert_eq!(asked(None, &thinks)["reasoning"], json!({"summary": "auto"}));
    assert_eq!(asked(Some(Effort::Off), &thinks)["reasoning"]["effort"], "none");
    assert_eq!(asked(Some(Effort::Minimal), &thinks)["reasoning"]["effort"], "low");
    let field = Quirks { instructions: true, ..Quirks::default() };
    let request = ModelRequest { system: vec!["a".to_owned(), "b".to_owned()], ..request(vec![user("c")]) };
    let fielded = body(&request, &field);
    assert_eq!((&fielded["instructions"], fielded["input"].as_array().unwrap().len()), (&json!("a\n\nb"), 1));
}

#[test]
fn the_key_of_the_cache_stays_with_a_conversation() {
    let quirks = Quirks { cache_key: true, ..Quirks::default() };
    let key = |messages: Vec<Message>| body(&request(messages), &quirks)["prompt_cache_key"].clone();
    let short = key(vec![user("a")]);
    assert_eq!(short, key(vec![user("a"), assistant("m", vec![said("b")]), user("c")]));
    assert_ne!(short, key(vec![user("b")]));
    assert_eq!(short.as_str().unwrap().len(), 32);
}

#[test]
fn tools_are_strict_where_they_can_be() {
    let quirks = Quirks { strict_tools: true, ..Quirks::default() };
    let sent = |schema: Value| {
        let request = ModelRequest { tools: vec![tool_spec(schema)], ..request(vec![user("a")]) };
        let tool = body(&request, &quirks)["tools"][0].clone();
        (tool["strict"].clone(), tool["parameters"]["required"].clone())
    };
    let closed = json!({"type": "object", "properties": {"a": {"type": "string"}}});
    assert_eq!(sent(closed), (json!(true), json!(["a"])));
    let open =
        json!({"type": "object", "properties": {"a": {"type": "object", "additionalProperties": true}}});
    assert_eq!(sent(open), (json!(false), Value::Null));
}

#[test]
fn a_choice_of_tools_is_said() {
    let said = |tool_choice| {
        let tools = vec![tool_spec(json!({"type": "object"}))];
        let request = ModelRequest { tools, tool_choice, ..request(vec![user("a")]) };
        body(&request, &Quirks::default())["tool_choice"].clone()
    };
    assert_eq!(said(ToolChoice::Auto), Value::Null);
    assert_eq!(said(ToolChoice::None), json!("none"));
    assert_eq!(said(ToolChoice::Required), json!("required"));
    assert_eq!(said(ToolChoice::Tool("read".into())), json!({"type": "function", "name": "read"}));
}
