//! Requests as the provider's documentation wants them.

use bytes::Bytes;
use rein_protocol::message::AssistantPart;
use rein_protocol::{BlobId, CallId, Content, Message, ModelRef, ToolCall, ToolInput};

use super::*;
use crate::catalog::{ImageSupport, Thinking};

fn user(text: &str) -> Message {
    Message::User { content: vec![Content::text(text)] }
}

fn said(text: &str) -> AssistantPart {
    AssistantPart::Text { text: text.to_owned() }
}

fn kept(wire: &str, block: Value) -> AssistantPart {
    AssistantPart::Reasoning { text: "hm".to_owned(), opaque: Some(json!({"wire": wire, "block": block})) }
}

fn own(block: Value) -> AssistantPart {
    kept("google-generate", block)
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

fn contents_of(messages: Vec<Message>, quirks: &Quirks) -> Value {
    body(&request(messages), quirks)["contents"].clone()
}

fn tool_spec() -> ToolSpec {
    let schema =
        json!({"type": "object", "additionalProperties": false, "properties": {"path": {"type": "string"}}});
    ToolSpec { name: "read".to_owned(), description: "Reads.".to_owned(), input_schema: schema }
}

fn level() -> Quirks {
    let thinking =
        Thinking { style: ThinkingStyle::Level, stand_in: Some("skip".to_owned()), ..Thinking::default() };
    Quirks { thinking, ..Quirks::default() }
}

#[test]
fn a_whole_request_looks_like_this() {
    let calls = [call("f1", "{\"path\":\"a\"}"), call("call_7", "{}")];
    let code = json!({"executableCode": {"code": "1"}});
    let parts = vec![
        own(json!({"on": "thought", "signature": "t1"})),
        said("Reading."),
        own(json!({"on": "text", "signature": "t2"})),
        own(json!({"on": "part", "part": code})),
        own(json!({"on": "call", "signature": "t3", "id": "f1"})),
        AssistantPart::Call(calls[0].clone()),
        AssistantPart::Call(calls[1].clone()),
        own(json!({"on": "nothing", "signature": "t4"})),
    ];
    let request = ModelRequest {
        system: vec!["You are rein.".to_owned(), " ".to_owned()],
        tools: vec![tool_spec()],
        tool_choice: ToolChoice::Tool("read".to_owned()),
        max_output: Some(1000),
        effort: Some(Effort::Medium),
        ..request(vec![
            user("Read a"),
            assistant("m", parts),
            result(&calls[0], vec![Content::text("hello")], false),
            result(&calls[1], vec![Content::text("no such file")], true),
        ])
    };
    let encoded = encode(&request, &level()).unwrap();
    assert_eq!(encoded, encode(&request.clone(), &level()).unwrap());
    assert_eq!(encoded.path, "/v1beta/models/m:streamGenerateContent?alt=sse");
    let expected = json!({
        "generationConfig": {"maxOutputTokens": 1000,
            "thinkingConfig": {"thinkingLevel": "medium", "includeThoughts": true}},
        "tools": [{"functionDeclarations": [{"name": "read", "description": "Reads.",
            "parameters": {"type": "object", "properties": {"path": {"type": "string"}}}}]}],
        "toolConfig": {"functionCallingConfig": {"mode": "ANY", "allowedFunctionNames": ["read"]}},
        "systemInstruction": {"parts": [{"text": "You are rein."}]},
        "contents": [
            {"role": "user", "parts": [{"text": "Read a"}]},
            {"role": "model", "parts": [
                {"text": "hm", "thought": true, "thoughtSignature": "t1"},
                {"text": "Reading.", "thoughtSignature": "t2"},
                code,
                {"functionCall": {"name": "read", "args": {"path": "a"}, "id": "f1"}, "thoughtSignature": "t3"},
                {"functionCall": {"name": "read", "args": {}}},
                {"text": "", "thoughtSignature": "t4"},
            ]},
            {"role": "user", "parts": [
                {"functionResponse": {"id": "f1", "name": "read", "response": {"output": "hello"}}},
                {"functionResponse": {"name": "read", "response": {"error": "no such file"}}},
            ]},
        ],
    });
    assert_eq!(serde_json::from_slice::<Value>(&encoded.body).unwrap(), expected);
}

#[test]
fn foreign_signatures_stay_here_and_something_stands_for_them_where_it_must() {
    let calls = [call("toolu_1", "{}"), call("toolu_2", "{}")];
    let history = || {
        vec![
            assistant(
                "m",
                vec![
                    kept("anthropic-messages", json!({"on": "call", "signature": "theirs", "id": "x"})),
                    AssistantPart::Reasoning { text: "cut".to_owned(), opaque: None },
                    AssistantPart::Call(calls[0].clone()),
                    AssistantPart::Call(calls[1].clone()),
                ],
            ),
            assistant("other", vec![own(json!({"on": "thought", "signature": "theirs"})), said(" ")]),
        ]
    };
    let bare = json!({"functionCall": {"name": "read", "args": {}}});
    let mut signed = bare.clone();
    signed["thoughtSignature"] = "skip".into();
    let missing = json!({"functionResponse": {"name": "read", "response":
        {"error": "error: there is no result; the call was not run, or its result was lost"}}});
    let expected = |first: Value| {
        json!([
            {"role": "user", "parts": [{"text": "(The conversation goes on.)"}]},
            {"role": "model", "parts": [first, bare]},
            {"role": "user", "parts": [missing, missing]},
        ])
    };
    assert_eq!(contents_of(history(), &level()), expected(signed));
    assert_eq!(contents_of(history(), &Quirks::default()), expected(bare.clone()));
}

#[test]
fn turns_alternate_and_nothing_is_empty() {
    let stray = call("gone", "{}");
    let contents = contents_of(
        vec![
            user("a"),
            user("b"),
            assistant("m", vec![said("\n\n"), own(json!({"on": "text", "signature": "s"}))]),
            assistant("m", vec![said("Yes")]),
            result(&stray, vec![Content::text("late")], false),
        ],
        &Quirks::default(),
    );
    let expected = json!([
        {"role": "user", "parts": [{"text": "a"}, {"text": "b"}]},
        {"role": "model", "parts": [{"text": "", "thoughtSignature": "s"}, {"text": "Yes"}]},
        {"role": "user", "parts": [{"text": "The result of an earlier call of `read`:"}, {"text": "late"}]},
    ]);
    assert_eq!(contents, expected);
}

#[test]
fn images_are_in_results_or_behind_them_or_told_of() {
    let image = Content::Image { media_type: "image/png".to_owned(), blob: BlobId("known".to_owned()) };
    let called = call("a", "{}");
    let mut request = request(vec![
        Message::User { content: vec![image.clone()] },
        assistant("m", vec![AssistantPart::Call(called.clone())]),
        result(&called, vec![image], false),
    ]);
    request.images.insert(BlobId("known".to_owned()), Bytes::from_static(b"\x89PNG"));
    let shown = json!({"inlineData": {"mimeType": "image/png", "data": "iVBORw=="}});
    let answer = |images| {
        let contents = body(&request, &Quirks { images, ..Quirks::default() })["contents"].clone();
        (contents[0]["parts"][0].clone(), contents[2]["parts"].clone())
    };
    let response = |words: &str| json!({"name": "read", "response": {"output": words}});
    let mut inside = response("(no output)");
    inside["parts"] = json!([shown]);
    assert_eq!(answer(ImageSupport::Yes), (shown.clone(), json!([{"functionResponse": inside}])));
    let behind = json!([{"functionResponse": response("(no output)")}, shown]);
    assert_eq!(answer(ImageSupport::FromPersons), (shown, behind));
    let unseen = "[an image (image/png), which this model cannot see]";
    assert_eq!(
        answer(ImageSupport::No),
        (json!({"text": unseen}), json!([{"functionResponse": response(unseen)}]))
    );
}

#[test]
fn efforts_are_budgets_or_words() {
    let asked = |effort, thinking: Thinking| {
        let request = ModelRequest { effort, ..request(vec![user("a")]) };
        body(&request, &Quirks { thinking, ..Quirks::default() })["generationConfig"]["thinkingConfig"]
            .clone()
    };
    let budget = |always| Thinking { style: ThinkingStyle::Budget, low: 512, always, ..Thinking::default() };
    let tokens = |count: u64| json!({"thinkingBudget": count, "includeThoughts": true});
    assert_eq!(asked(Some(Effort::Off), budget(false)), tokens(0));
    assert_eq!(asked(Some(Effort::Off), budget(true)), tokens(512));
    assert_eq!(asked(Some(Effort::High), budget(true)), tokens(24_576));
    assert_eq!(asked(None, budget(true)), json!({"includeThoughts": true}));
    assert_eq!(asked(Some(Effort::High), Thinking::default()), Value::Null);
    let words = Thinking {
        style: ThinkingStyle::Level,
        words: [(Effort::Off, "minimal".to_owned())].into(),
        ..Thinking::default()
    };
    assert_eq!(asked(Some(Effort::Off), words)["thinkingLevel"], "minimal");
}
