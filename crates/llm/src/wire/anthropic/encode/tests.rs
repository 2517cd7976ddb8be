//! Requests as the provider's documentation wants them.

use bytes::Bytes;
use rein_protocol::message::AssistantPart;
use rein_protocol::{BlobId, CallId, Content, Message, ModelRef, ToolCall, ToolInput};

use super::*;
use crate::catalog::{CacheStyle, ImageSupport, Thinking};
use crate::request::{CacheLifetime, CachePlan};

fn model(name: &str) -> ModelRef {
    ModelRef { provider: "p".to_owned(), model: name.to_owned() }
}

fn user(text: &str) -> Message {
    Message::User { content: vec![Content::text(text)] }
}

fn said(text: &str) -> AssistantPart {
    AssistantPart::Text { text: text.to_owned() }
}

fn thought(text: &str, wire: &str, block: Value) -> AssistantPart {
    AssistantPart::Reasoning { text: text.to_owned(), opaque: Some(json!({"wire": wire, "block": block})) }
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
    Message::Assistant { model: model(name), parts }
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

fn messages_of(messages: Vec<Message>) -> Value {
    body(&request(messages), &Quirks::default())["messages"].clone()
}

fn tool_spec() -> ToolSpec {
    ToolSpec {
        name: "read".to_owned(),
        description: "Reads a file.".to_owned(),
        input_schema: json!({"type": "object"}),
    }
}

#[test]
fn a_whole_request_looks_like_this() {
    let first = call("toolu_1", "{\"path\":\"a\"}");
    let signed = thought("hm", "anthropic-messages", json!({"type": "thinking", "signature": "sig"}));
    let redacted = thought("", "anthropic-messages", json!({"type": "redacted_thinking", "data": "d"}));
    let request = ModelRequest {
        system: vec!["You are rein.".to_owned(), " ".to_owned(), "Today is Monday.".to_owned()],
        tools: vec![tool_spec()],
        max_output: Some(1000),
        ..request(vec![
            user("Read a"),
            assistant("m", vec![signed, redacted, said("Reading."), AssistantPart::Call(first.clone())]),
            result(&first, vec![Content::text("hello")], false),
        ])
    };
    let quirks = Quirks { cache: CacheStyle::Marks, eager_arguments: true, ..Quirks::default() };
    let encoded = encode(&request, &quirks).unwrap();
    assert_eq!(encoded, encode(&request.clone(), &quirks).unwrap());
    assert_eq!(encoded.path, "/v1/messages");
    assert!(encoded.headers.contains(&("anthropic-version".to_owned(), "2023-06-01".to_owned())));
    let mark = json!({"type": "ephemeral"});
    let expected = json!({
        "model": "m", "max_tokens": 1000, "stream": true,
        "tools": [{"name": "read", "description": "Reads a file.", "input_schema": {"type": "object"},
                   "eager_input_streaming": true, "cache_control": mark}],
        "system": [{"type": "text", "text": "You are rein."},
                   {"type": "text", "text": "Today is Monday.", "cache_control": mark}],
        "messages": [
            {"role": "user", "content": [{"type": "text", "text": "Read a"}]},
            {"role": "assistant", "content": [
                {"type": "thinking", "signature": "sig", "thinking": "hm"},
                {"type": "redacted_thinking", "data": "d"},
                {"type": "text", "text": "Reading."},
                {"type": "tool_use", "id": "toolu_1", "name": "read", "input": {"path": "a"}, "cache_control": mark},
            ]},
            {"role": "user", "content": [
                {"type": "tool_result", "tool_use_id": "toolu_1", "content": [{"type": "text", "text": "hello"}],
                 "cache_control": mark},
            ]},
        ],
    });
    assert_eq!(serde_json::from_slice::<Value>(&encoded.body).unwrap(), expected);
}

#[test]
fn foreign_and_unsigned_reasoning_stays_here() {
    let block = json!({"type": "thinking", "signature": "sig"});
    let parts = vec![
        thought("other wire", "openai-responses", block.clone()),
        AssistantPart::Reasoning { text: "cut".to_owned(), opaque: None },
        said("Hi"),
    ];
    let messages = messages_of(vec![
        user("a"),
        assistant("m", parts),
        user("b"),
        assistant("other model", vec![thought("x", "anthropic-messages", block)]),
        user("c"),
    ]);
    let text = messages.to_string();
    assert!(!text.contains("sig") && !text.contains("cut") && text.contains("Hi"), "{text}");
    // A message that is left with nothing is left out, and its neighbours become one.
    assert_eq!(messages.as_array().unwrap().len(), 3);
}

#[test]
fn results_follow_their_calls_in_one_message_and_none_is_missing() {
    let calls = [call("x.1:0", "{}"), call("x.1:0", "{\"a\": "), call("", "{}")];
    let parts = vec![
        AssistantPart::Call(calls[0].clone()),
        said("Between."),
        AssistantPart::Call(calls[1].clone()),
        AssistantPart::Call(calls[2].clone()),
    ];
    let stray = call("gone", "{}");
    let messages = messages_of(vec![
        assistant("m", parts),
        user("Also this."),
        result(&calls[1], vec![Content::text(" ")], true),
        result(&calls[0], vec![Content::text("one")], false),
        result(&stray, vec![Content::text("late")], false),
    ]);
    let use_of = |id: &str| json!({"type": "tool_use", "id": id, "name": "read", "input": {}});
    let answer = |id: &str, text: &str| json!({"type": "tool_result", "tool_use_id": id, "content": [{"type": "text", "text": text}]});
    let mut failed = answer("x_1_0_2", "(no output)");
    failed["is_error"] = true.into();
    let mut missing =
        answer("call", "error: there is no result; the call was not run, or its result was lost");
    missing["is_error"] = true.into();
    let expected = json!([
        {"role": "user", "content": [{"type": "text", "text": "(The conversation goes on.)"}]},
        {"role": "assistant", "content": [
            {"type": "text", "text": "Between."}, use_of("x_1_0"), use_of("x_1_0_2"), use_of("call")]},
        {"role": "user", "content": [answer("x_1_0", "one"), failed, missing,
            {"type": "text", "text": "Also this."},
            {"type": "text", "text": "The result of an earlier call of `read`:"},
            {"type": "text", "text": "late"}]},
    ]);
    assert_eq!(messages, expected);
}

#[test]
fn the_last_words_of_the_model_do_not_end_in_blanks_and_nothing_is_empty() {
    let messages = messages_of(vec![user(" \n"), user("a"), assistant("m", vec![said(""), said("So: \n")])]);
    let expected = json!([
        {"role": "user", "content": [{"type": "text", "text": "a"}]},
        {"role": "assistant", "content": [{"type": "text", "text": "So:"}]},
    ]);
    assert_eq!(messages, expected);
    assert_eq!(messages_of(Vec::new())[0]["role"], "user");
}

#[test]
fn images_are_sent_by_persons_and_tools_or_told_of() {
    let image =
        |blob: &str| Content::Image { media_type: "image/png".to_owned(), blob: BlobId(blob.to_owned()) };
    let called = call("a", "{}");
    let mut request = request(vec![
        Message::User { content: vec![image("known"), image("lost")] },
        assistant("m", vec![AssistantPart::Call(called.clone())]),
        result(&called, vec![image("known")], false),
    ]);
    request.images.insert(BlobId("known".to_owned()), Bytes::from_static(b"\x89PNG"));
    let shown =
        json!({"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "iVBORw=="}});
    let blocks = |quirks: &Quirks| {
        let body = body(&request, quirks);
        let person = body["messages"][0]["content"].clone();
        (person, body["messages"][2]["content"][0]["content"].clone())
    };
    let lost = json!({"type": "text", "text": "[an image (image/png), which is no longer there]"});
    let unseen = json!({"type": "text", "text": "[an image (image/png), which this model cannot see]"});
    assert_eq!(blocks(&Quirks::default()), (json!([shown, lost]), json!([shown])));
    let persons = Quirks { images: ImageSupport::FromPersons, ..Quirks::default() };
    assert_eq!(blocks(&persons), (json!([shown, lost]), json!([unseen])));
    let blind = Quirks { images: ImageSupport::No, ..Quirks::default() };
    assert_eq!(blocks(&blind), (json!([unseen, unseen]), json!([unseen])));
}

#[test]
fn efforts_are_budgets_or_words() {
    let quirks = |style| Quirks {
        thinking: Thinking { style, highest: Effort::Max, ..Thinking::default() },
        max_output: Some(20_000),
        ..Quirks::default()
    };
    let asked = |effort, tool_choice, style| {
        let request = ModelRequest { effort, tool_choice, ..request(vec![user("a")]) };
        let body = body(&request, &quirks(style));
        (body["thinking"].clone(), body["output_config"].clone())
    };
    let budget = |tokens: u64| (json!({"type": "enabled", "budget_tokens": tokens}), Value::Null);
    let none = (Value::Null, Value::Null);
    let auto = || ToolChoice::Auto;
    assert_eq!(asked(Some(Effort::Low), auto(), ThinkingStyle::Budget), budget(4_096));
    assert_eq!(asked(Some(Effort::Max), auto(), ThinkingStyle::Budget), budget(18_976));
    assert_eq!(asked(Some(Effort::Off), auto(), ThinkingStyle::Budget), none);
    assert_eq!(asked(Some(Effort::High), ToolChoice::Required, ThinkingStyle::Budget), none);
    assert_eq!(asked(None, auto(), ThinkingStyle::Adaptive), none);
    assert_eq!(asked(Some(Effort::High), auto(), ThinkingStyle::Unasked), none);
    assert_eq!(
        asked(Some(Effort::Max), auto(), ThinkingStyle::Adaptive),
        (json!({"type": "adaptive"}), json!({"effort": "max"}))
    );
    assert_eq!(
        asked(Some(Effort::Off), auto(), ThinkingStyle::Adaptive),
        (json!({"type": "disabled"}), Value::Null)
    );
}

#[test]
fn who_did_not_think_before_its_calls_does_not_begin_between_them() {
    let called = call("a", "{}");
    let answered = result(&called, vec![Content::text("x")], false);
    let signed = thought("hm", "anthropic-messages", json!({"type": "thinking", "signature": "s"}));
    let quirks = Quirks {
        thinking: Thinking { style: ThinkingStyle::Budget, ..Thinking::default() },
        max_output: Some(64_000),
        ..Quirks::default()
    };
    let thinks = |messages: Vec<Message>| {
        let request = ModelRequest { effort: Some(Effort::Medium), ..request(messages) };
        body(&request, &quirks)["thinking"].is_object()
    };
    let bare = assistant("m", vec![AssistantPart::Call(called.clone())]);
    let thinking = assistant("m", vec![signed, AssistantPart::Call(called.clone())]);
    assert!(!thinks(vec![user("a"), bare.clone(), answered.clone()]));
    assert!(thinks(vec![user("a"), thinking, answered.clone()]));
    assert!(thinks(vec![user("a"), bare, answered, assistant("m", vec![said("Done.")]), user("b")]));
}

#[test]
fn marks_are_where_the_plan_says_and_never_more_than_four() {
    let quirks = Quirks { cache: CacheStyle::Marks, ..Quirks::default() };
    let plan = CachePlan { tools: true, system: true, messages: 5, lifetime: CacheLifetime::Hour1 };
    let many: Vec<Message> =
        (0..6).flat_map(|_| [user("a"), assistant("m", vec![said("b")])]).chain([user("c")]).collect();
    let request =
        ModelRequest { system: vec!["s".to_owned()], tools: vec![tool_spec()], cache: plan, ..request(many) };
    let text = body(&request, &quirks).to_string();
    assert_eq!(text.matches(r#""cache_control":{"type":"ephemeral","ttl":"1h"}"#).count(), 4);
    assert!(!body(&request, &Quirks::default()).to_string().contains("cache_control"));
}

#[test]
fn a_choice_of_tools_is_said() {
    let said = |tool_choice| {
        let request = ModelRequest { tools: vec![tool_spec()], tool_choice, ..request(vec![user("a")]) };
        body(&request, &Quirks::default())["tool_choice"].clone()
    };
    assert_eq!(said(ToolChoice::Auto), Value::Null);
    assert_eq!(said(ToolChoice::None), json!({"type": "none"}));
    assert_eq!(said(ToolChoice::Required), json!({"type": "any"}));
    assert_eq!(said(ToolChoice::Tool("read".into())), json!({"type": "tool", "name": "read"}));
}
