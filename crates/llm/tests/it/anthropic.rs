//! Anthropic's messages over real sockets, against the scripted model server.

use rein_http::CancellationToken;
use rein_llm::{Catalog, Effort, ErrorKind, ModelError, ModelEvent, ModelRequest, ModelStream};
use rein_protocol::message::AssistantPart;
use rein_protocol::{CallId, Content, Finish, Message, ModelRef, ToolCall, ToolInput, ToolSpec, Usage};
use rein_testkit::{ModelServer, Said, Script, Turn};
use serde_json::json;

use crate::server::models;

const KEY: &str = "sk-ant-api-1234567890";

fn model() -> ModelRef {
    "anthropic/claude-sonnet-4-5".parse().unwrap()
}

fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        system: vec!["You are rein.".to_owned()],
        tools: vec![ToolSpec {
            name: "read".to_owned(),
            description: "Reads.".to_owned(),
            input_schema: json!({"type": "object"}),
        }],
        messages,
        effort: Some(Effort::Low),
        ..ModelRequest::default()
    }
}

fn user(text: &str) -> Message {
    Message::User { content: vec![Content::text(text)] }
}

async fn ask(
    server: &ModelServer,
    key: (&str, &str),
    request: &ModelRequest,
) -> Result<ModelStream, ModelError> {
    let url = server.origin();
    let models = models(Catalog::bundled(), &[("ANTHROPIC_BASE_URL", &url), key]);
    models.stream(&model(), request, CancellationToken::new()).await
}

async fn collect(mut stream: ModelStream) -> (Vec<ModelEvent>, Option<ModelError>) {
    let mut events = Vec::new();
    loop {
        match stream.next().await {
            Ok(Some(batch)) => events.extend(batch),
            Ok(None) => return (events, None),
            Err(error) => return (events, Some(error)),
        }
    }
}

/// What the events come to: reasoning with what goes with it, words, calls.
fn parts(events: &[ModelEvent]) -> Vec<AssistantPart> {
    let (mut thought, mut sealed, mut said) = (String::new(), None, String::new());
    let mut calls = Vec::new();
    for event in events {
        match event {
            ModelEvent::ReasoningDelta { delta, .. } => thought.push_str(delta),
            ModelEvent::ReasoningOpaque { opaque, .. } => sealed = Some(opaque.clone()),
            ModelEvent::TextDelta { delta, .. } => said.push_str(delta),
            ModelEvent::CallCompleted { wire_id, tool, arguments, .. } => {
                calls.push(AssistantPart::Call(ToolCall {
                    id: CallId::new(),
                    wire_id: wire_id.clone(),
                    tool: tool.clone(),
                    input: ToolInput::parse(arguments),
                }));
            }
            _ => {}
        }
    }
    let words =
        [AssistantPart::Reasoning { text: thought, opaque: sealed }, AssistantPart::Text { text: said }];
    words.into_iter().chain(calls).collect()
}

#[tokio::test]
async fn a_conversation_with_thinking_and_calls_goes_round() {
    let script = Script::new().turns([
        Turn::reasoning("Let me see \u{e9}.")
            .and_text("Reading.")
            .and_call("read", json!({"path": "a"}))
            .and_call("read", json!({"path": "b"}))
            .usage(100, 20, 60),
        Turn::text("Done."),
    ]);
    let server = ModelServer::start(script).await;
    let key = ("ANTHROPIC_API_KEY", KEY);
    let first = request(vec![user("Read both")]);
    let (events, error) = collect(ask(&server, key, &first).await.unwrap()).await;
    assert_eq!(error, None);
    assert_eq!(events.last(), Some(&ModelEvent::Finished(Finish::ToolCalls)));
    let counted = Usage { input: 40, output: 20, cache_read: 60, ..Usage::default() };
    assert!(events.contains(&ModelEvent::Usage(counted)), "{events:?}");

    let answer = parts(&events);
    let results: Vec<Message> = answer
        .iter()
        .filter_map(|part| match part {
            AssistantPart::Call(call) => Some(Message::Tool {
                call: call.id.clone(),
                wire_id: call.wire_id.clone(),
                tool: call.tool.clone(),
                content: vec![Content::text("content")],
                is_error: false,
            }),
            _ => None,
        })
        .collect();
    assert_eq!(results.len(), 2);
    let mut messages = vec![user("Read both"), Message::Assistant { model: model(), parts: answer }];
    messages.extend(results);
    let (events, error) = collect(ask(&server, key, &request(messages)).await.unwrap()).await;
    assert_eq!((events.last(), error), (Some(&ModelEvent::Finished(Finish::Stop)), None));

    let requests = server.requests();
    assert_eq!(requests[0].path, "/v1/messages");
    assert_eq!(requests[0].header("x-api-key"), Some(KEY));
    assert_eq!(requests[0].header("authorization"), None);
    assert_eq!(requests[0].header("anthropic-version"), Some("2023-06-01"));
    assert_eq!(requests[0].body["thinking"], json!({"type": "enabled", "budget_tokens": 4096}));
    assert_eq!(requests[0].body["max_tokens"], 64_000);
    let back = &requests[1].body["messages"][1]["content"];
    let thinking = json!({"type": "thinking", "signature": "c2lnbmVkIGJ5IHRoZSB0ZXN0", "thinking": "Let me see \u{e9}."});
    assert_eq!(back[0], thinking);
    assert_eq!(requests[1].tool_results().len(), 2);
    assert!(matches!(&requests[1].said[0], Said::System(text) if text == "You are rein."));
    server.assert_done();
}

#[tokio::test]
async fn a_token_is_a_bearers_and_brings_its_header() {
    let server = ModelServer::start(Script::new().turns([Turn::text("a"), Turn::text("b")])).await;
    for key in [("ANTHROPIC_AUTH_TOKEN", "token-12345"), ("ANTHROPIC_API_KEY", "sk-ant-oat-12345")] {
        collect(ask(&server, key, &request(vec![user("hi")])).await.unwrap()).await;
    }
    for (seen, token) in server.requests().iter().zip(["token-12345", "sk-ant-oat-12345"]) {
        assert_eq!(seen.header("authorization"), Some(format!("Bearer {token}").as_str()));
        assert_eq!(seen.header("x-api-key"), None);
        assert_eq!(seen.header("anthropic-beta"), Some("oauth-2025-04-20"));
    }
}

#[tokio::test]
async fn errors_before_and_within_an_answer_have_their_kind_and_words() {
    let event = json!({"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}});
    let script = Script::new().turns([
        Turn::error(529, "Overloaded").header("retry-after", "7"),
        Turn::error(400, "prompt is too long: 3 tokens > 2 maximum"),
        Turn::error(401, format!("invalid x-api-key: {KEY}")),
        Turn::text("Hal").data(&event),
    ]);
    let server = ModelServer::start(script).await;
    let key = ("ANTHROPIC_API_KEY", KEY);
    let failed = async || ask(&server, key, &request(vec![user("hi")])).await.unwrap_err();
    let overloaded = failed().await;
    assert_eq!(
        (overloaded.kind, overloaded.retry_after.map(|wait| wait.as_secs())),
        (ErrorKind::Overloaded, Some(7))
    );
    assert_eq!(failed().await.kind, ErrorKind::Overflow);
    let refused = failed().await;
    assert_eq!(refused.kind, ErrorKind::Auth);
    assert!(!refused.message.contains(KEY), "{refused}");
    let (events, error) = collect(ask(&server, key, &request(vec![user("hi")])).await.unwrap()).await;
    let error = error.unwrap();
    assert_eq!((error.kind, error.message.as_str()), (ErrorKind::Overloaded, "Overloaded"));
    assert!(events.contains(&ModelEvent::TextDelta { part: 0, delta: "Hal".to_owned() }));
}

#[tokio::test]
async fn models_are_listed_with_the_headers_of_the_wire() {
    let server = ModelServer::start(Script::new()).await;
    let url = server.base_url();
    let models = models(Catalog::bundled(), &[("ANTHROPIC_BASE_URL", &url), ("ANTHROPIC_API_KEY", KEY)]);
    models.list("anthropic", &CancellationToken::new()).await.unwrap();
    let asked = &server.other_requests()[0];
    assert_eq!((asked.path.as_str(), asked.header("x-api-key")), ("/v1/models", Some(KEY)));
    assert_eq!(asked.header("anthropic-version"), Some("2023-06-01"));
}
