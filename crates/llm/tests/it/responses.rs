//! OpenAI's responses over real sockets, at OpenAI's own address and at Azure's.

use rein_http::CancellationToken;
use rein_llm::{
    Catalog, Effort, ErrorKind, ModelError, ModelEvent, ModelRequest, ModelStream, Models, ProviderConfig,
    Wire,
};
use rein_protocol::message::AssistantPart;
use rein_protocol::{CallId, Content, Finish, Message, ModelRef, ToolCall, ToolInput, ToolSpec, Usage};
use rein_testkit::{ModelServer, Said, Script, Turn};
use serde_json::json;

use crate::server::models;

const KEY: &str = "sk-proj-1234567890";

pub fn request(messages: Vec<Message>) -> ModelRequest {
    ModelRequest {
        system: vec!["You are rein.".to_owned()],
        tools: vec![ToolSpec {
            name: "read".to_owned(),
            description: "Reads.".to_owned(),
            input_schema: json!({"type": "object", "properties": {"path": {"type": "string"}}}),
        }],
        messages,
        effort: Some(Effort::Low),
        ..ModelRequest::default()
    }
}

pub fn user(text: &str) -> Message {
    Message::User { content: vec![Content::text(text)] }
}

pub async fn collect(stream: Result<ModelStream, ModelError>) -> (Vec<ModelEvent>, Option<ModelError>) {
    let mut stream = match stream {
        Ok(stream) => stream,
        Err(error) => return (Vec::new(), Some(error)),
    };
    let mut events = Vec::new();
    loop {
        match stream.next().await {
            Ok(Some(batch)) => events.extend(batch),
            Ok(None) => return (events, None),
            Err(error) => return (events, Some(error)),
        }
    }
}

/// The message that events come to, its parts in their order.
pub fn answer(model: &ModelRef, events: &[ModelEvent]) -> Message {
    let mut parts: Vec<(u32, AssistantPart)> = Vec::new();
    for event in events {
        let known = |parts: &mut Vec<(u32, AssistantPart)>, part: u32, empty: AssistantPart| {
            parts.iter().position(|(known, _)| *known == part).unwrap_or_else(|| {
                parts.push((part, empty));
                parts.len() - 1
            })
        };
        let nothing = AssistantPart::Reasoning { text: String::new(), opaque: None };
        match event {
            ModelEvent::TextDelta { part, delta } => {
                let place = known(&mut parts, *part, AssistantPart::Text { text: String::new() });
                if let AssistantPart::Text { text } = &mut parts[place].1 {
                    text.push_str(delta);
                }
            }
            ModelEvent::ReasoningDelta { part, delta } => {
                let place = known(&mut parts, *part, nothing);
                if let AssistantPart::Reasoning { text, .. } = &mut parts[place].1 {
                    text.push_str(delta);
                }
            }
            ModelEvent::ReasoningOpaque { part, opaque: sealed } => {
                let place = known(&mut parts, *part, nothing);
                if let AssistantPart::Reasoning { opaque, .. } = &mut parts[place].1 {
                    *opaque = Some(sealed.clone());
                }
            }
            ModelEvent::CallCompleted { part, wire_id, tool, arguments } => {
                let input = ToolInput::parse(arguments);
                let (wire_id, tool) = (wire_id.clone(), tool.clone());
                parts
                    .push((*part, AssistantPart::Call(ToolCall { id: CallId::new(), wire_id, tool, input })));
            }
            _ => {}
        }
    }
    parts.sort_by_key(|(part, _)| *part);
    Message::Assistant { model: model.clone(), parts: parts.into_iter().map(|(_, part)| part).collect() }
}

/// A conversation in which every call of an answer has a result.
pub fn answered(asked: Message, answer: Message) -> Vec<Message> {
    let Message::Assistant { parts, .. } = &answer else { panic!("no answer") };
    let results: Vec<Message> = parts
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
    [asked, answer].into_iter().chain(results).collect()
}

fn two_turns() -> Script {
    Script::new().turns([
        Turn::reasoning("Let me see \u{e9}.")
            .and_text("Reading.")
            .and_call("read", json!({"path": "a"}))
            .and_call("read", json!({"path": "b"}))
            .usage(100, 20, 60),
        Turn::text("Done."),
    ])
}

fn openai(server: &ModelServer) -> Models {
    let config = ProviderConfig {
        name: "openai".to_owned(),
        wire: Some(Wire::OpenAiResponses),
        base_url: Some(server.base_url()),
        ..ProviderConfig::default()
    };
    models(Catalog::bundled().with_provider(config).unwrap(), &[("OPENAI_API_KEY", KEY)])
}

#[tokio::test]
async fn a_conversation_with_sealed_reasoning_and_calls_goes_round() {
    let server = ModelServer::start(two_turns()).await;
    let (models, model) = (openai(&server), "openai/gpt-5.4".parse().unwrap());
    let first = request(vec![user("Read both")]);
    let (events, error) = collect(models.stream(&model, &first, CancellationToken::new()).await).await;
    assert_eq!((error, events.last()), (None, Some(&ModelEvent::Finished(Finish::ToolCalls))));
    let counted =
        Usage { input: 40, output: 20, reasoning: 0, cache_read: 60, cache_write: 0, cache_write_hour: 0 };
    assert!(events.contains(&ModelEvent::Usage(counted)), "{events:?}");
    let second = request(answered(user("Read both"), answer(&model, &events)));
    let (events, error) = collect(models.stream(&model, &second, CancellationToken::new()).await).await;
    assert_eq!((error, events.last()), (None, Some(&ModelEvent::Finished(Finish::Stop))));

    let requests = server.requests();
    assert_eq!(requests[0].path, "/v1/responses");
    assert_eq!(requests[0].header("authorization"), Some(format!("Bearer {KEY}").as_str()));
    let body = &requests[0].body;
    assert_eq!((&body["store"], &body["include"]), (&json!(false), &json!(["reasoning.encrypted_content"])));
    assert_eq!(body["reasoning"], json!({"effort": "low", "summary": "auto"}));
    assert_eq!(body["prompt_cache_key"], requests[1].body["prompt_cache_key"]);
    let sealed = json!({"id": "rs_test", "type": "reasoning", "encrypted_content": "c2VhbGVkIGJ5IHRoZSB0ZXN0",
        "summary": [{"type": "summary_text", "text": "Let me see \u{e9}."}]});
    assert_eq!(requests[1].body["input"][2], sealed);
    assert_eq!(requests[1].tool_results().len(), 2);
    assert!(matches!(&requests[1].said[0], Said::System(text) if text == "You are rein."));
    server.assert_done();
}

#[tokio::test]
async fn errors_before_and_within_an_answer_have_their_kind_and_words() {
    let failed = json!({"type": "response.failed", "response": {"status": "failed", "instructions": KEY,
        "error": {"code": "server_error", "message": "The model failed"}}});
    let script = Script::new().turns([
        Turn::error(429, "Rate limit reached").header("retry-after", "7"),
        Turn::error(400, "Your input exceeds the context window of this model"),
        Turn::error(401, format!("Incorrect API key provided: {KEY}")),
        Turn::text("Hal").data(&failed),
        Turn::text("long").finish("max_output_tokens"),
    ]);
    let server = ModelServer::start(script).await;
    let (models, model) = (openai(&server), "openai/gpt-5.4".parse().unwrap());
    let request = request(vec![user("hi")]);
    let ask = async || collect(models.stream(&model, &request, CancellationToken::new()).await).await;
    let limited = ask().await.1.unwrap();
    assert_eq!(
        (limited.kind, limited.retry_after.map(|wait| wait.as_secs())),
        (ErrorKind::RateLimit, Some(7))
    );
    assert_eq!(ask().await.1.unwrap().kind, ErrorKind::Overflow);
    let refused = ask().await.1.unwrap();
    assert_eq!(refused.kind, ErrorKind::Auth);
    assert!(!refused.message.contains(KEY), "{refused}");
    let (events, error) = ask().await;
    assert_eq!(error.unwrap().message, "The model failed");
    assert!(events.contains(&ModelEvent::TextDelta { part: 0, delta: "Hal".to_owned() }));
    assert_eq!(ask().await.0.last(), Some(&ModelEvent::Finished(Finish::Length)));
}

#[tokio::test]
async fn at_another_address_what_is_like_openai_is_asked_by_chat_unless_settings_say_otherwise() {
    let server = ModelServer::start(Script::new().turns([Turn::text("a"), Turn::text("b")])).await;
    let url = server.base_url();
    let model = "openai/gpt-5.4".parse().unwrap();
    let by_variable = models(Catalog::bundled(), &[("OPENAI_BASE_URL", &url), ("OPENAI_API_KEY", KEY)]);
    let config = ProviderConfig {
        name: "openai".to_owned(),
        base_url: Some(url.clone()),
        ..ProviderConfig::default()
    };
    let by_settings = models(Catalog::bundled().with_provider(config).unwrap(), &[("OPENAI_API_KEY", KEY)]);
    for models in [by_variable, by_settings] {
        let request = request(vec![user("hi")]);
        collect(models.stream(&model, &request, CancellationToken::new()).await).await;
    }
    let paths: Vec<String> = server.requests().iter().map(|request| request.path.clone()).collect();
    assert_eq!(paths, ["/v1/chat/completions", "/v1/chat/completions"]);
    let own = models(Catalog::bundled(), &[("OPENAI_API_KEY", KEY)]).resolve(&model).unwrap();
    assert_eq!((own.wire, own.base_url.as_str()), (Wire::OpenAiResponses, "https://api.openai.com/v1"));
}

#[tokio::test]
async fn azure_has_its_own_paths_and_header() {
    let turns = ["a", "b", "c", "d"].map(Turn::text);
    let server = ModelServer::start(Script::new().turns(turns)).await;
    let origin = server.origin();
    for (model, key) in [
        ("azure/gpt-5", ("AZURE_OPENAI_API_KEY", KEY)),
        ("azure/deepseek-v3.1", ("AZURE_OPENAI_API_KEY", KEY)),
        ("azure/mine", ("AZURE_OPENAI_AD_TOKEN", "token-123456")),
        ("azure-deployments/my gpt", ("AZURE_API_KEY", KEY)),
    ] {
        let models = models(Catalog::bundled(), &[("AZURE_OPENAI_ENDPOINT", &format!("{origin}/")), key]);
        let request = request(vec![user("hi")]);
        let stream = models.stream(&model.parse().unwrap(), &request, CancellationToken::new()).await;
        assert_eq!(collect(stream).await.1, None);
    }
    let seen: Vec<(String, String, Option<String>)> = server
        .requests()
        .iter()
        .map(|request| {
            (request.path.clone(), request.query.clone(), request.header("api-key").map(ToOwned::to_owned))
        })
        .collect();
    let at = |path: &str, query: &str, key: Option<&str>| {
        (path.to_owned(), query.to_owned(), key.map(ToOwned::to_owned))
    };
    let expected = [
        at("/openai/v1/responses", "", Some(KEY)),
        at("/openai/v1/chat/completions", "", Some(KEY)),
        at("/openai/v1/responses", "", None),
        at("/openai/deployments/my%20gpt/chat/completions", "api-version=2024-10-21", Some(KEY)),
    ];
    assert_eq!(seen, expected);
    assert_eq!(server.requests()[2].header("authorization"), Some("Bearer token-123456"));
}

#[test]
fn a_name_in_an_address_has_to_be_known() {
    let model: ModelRef = "azure/gpt-5".parse().unwrap();
    let key = ("AZURE_OPENAI_API_KEY", KEY);
    let known = models(Catalog::bundled(), &[key, ("AZURE_RESOURCE_NAME", "mine")]).resolve(&model).unwrap();
    assert_eq!(known.base_url, "https://mine.openai.azure.com");
    for strange in [None, Some("evil.example/x")] {
        let mut environment = vec![key];
        environment.extend(strange.map(|value| ("AZURE_RESOURCE_NAME", value)));
        let error = models(Catalog::bundled(), &environment).resolve(&model).unwrap_err();
        assert!(error.message.contains("AZURE_RESOURCE_NAME"), "{error}");
        assert!(error.hint.unwrap().contains("provider.azure.base_url"));
    }
}
