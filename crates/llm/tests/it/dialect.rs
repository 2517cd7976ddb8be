//! Calls written into text, over real sockets: found however the stream is split,
//! and asked for in words where a server takes no tools.

use rein_http::CancellationToken;
use rein_llm::{Catalog, Dialect, ModelEvent, ModelInfo, ModelRequest, Models, ProviderConfig};
use rein_protocol::message::AssistantPart;
use rein_protocol::{CallId, Content, Finish, Message, ToolCall, ToolInput, ToolSpec};
use rein_testkit::{ModelServer, Script, Turn};
use serde_json::{Value, json};

use crate::server::models;

/// Models of one server, of which one is described.
fn models_at(server: &ModelServer, model: ModelInfo) -> Models {
    let config = ProviderConfig {
        name: "here".to_owned(),
        base_url: Some(server.base_url()),
        models: vec![model],
        ..ProviderConfig::default()
    };
    models(Catalog::empty().with_provider(config).unwrap(), &[])
}

fn request() -> ModelRequest {
    let schema =
        json!({"type": "object", "properties": {"path": {"type": "string"}, "count": {"type": "integer"}}});
    let tool = ToolSpec { name: "read".to_owned(), description: "Reads.".to_owned(), input_schema: schema };
    ModelRequest {
        system: vec!["Be brief.".to_owned()],
        tools: vec![tool],
        messages: vec![Message::User { content: vec![Content::text("look")] }],
        ..ModelRequest::default()
    }
}

/// Everything that a model says, with deltas joined.
async fn said(models: &Models, model: &str, request: &ModelRequest) -> Vec<ModelEvent> {
    let model = format!("here/{model}").parse().unwrap();
    let mut stream = models.stream(&model, request, CancellationToken::new()).await.unwrap();
    let mut events: Vec<ModelEvent> = Vec::new();
    while let Some(batch) = stream.next().await.unwrap() {
        for event in batch {
            match (events.last_mut(), event) {
                (_, ModelEvent::Usage(_)) => {}
                (
                    Some(ModelEvent::TextDelta { part, delta }),
                    ModelEvent::TextDelta { part: same, delta: more },
                )
                | (
                    Some(ModelEvent::CallDelta { part, delta }),
                    ModelEvent::CallDelta { part: same, delta: more },
                ) if *part == same => delta.push_str(&more),
                (_, event) => events.push(event),
            }
        }
    }
    events
}

fn text(part: u32, delta: &str) -> ModelEvent {
    ModelEvent::TextDelta { part, delta: delta.to_owned() }
}

/// The events of one whole call.
fn call(part: u32, arguments: &str) -> [ModelEvent; 3] {
    let (wire_id, tool) = (format!("written_{part}"), "read".to_owned());
    [
        ModelEvent::CallStarted { part, wire_id: wire_id.clone(), tool: tool.clone() },
        ModelEvent::CallDelta { part, delta: arguments.to_owned() },
        ModelEvent::CallCompleted { part, wire_id, tool, arguments: arguments.to_owned() },
    ]
}

#[tokio::test]
async fn calls_in_text_are_found_wherever_the_stream_is_split() {
    let texts = [
        "Let me see.\n<tool_call>\n{\"name\": \"read\", \"arguments\": {\"path\":\"a\"}}\n</tool_call>",
        "Let me see.\n```json\n{\"name\": \"read\", \"arguments\": {\"path\":\"a\"}}\n```",
        "Let me see.\n<tool_call>\n<function=read>\n<parameter=path>\na\n</parameter>\n</function>\n</tool_call>",
        "Let me see.<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>read<｜tool▁sep｜>{\"path\":\"a\"}<｜tool▁call▁end｜><｜tool▁calls▁end｜>",
    ];
    let mut expected = vec![text(0, "Let me see.")];
    expected.extend(call(1, "{\"path\":\"a\"}"));
    expected.push(ModelEvent::Finished(Finish::ToolCalls));
    for written in texts {
        for size in 1..=written.chars().count() {
            let server = ModelServer::start(Script::always(Turn::text(written).delta_size(size))).await;
            let models = models_at(&server, ModelInfo { id: "known".to_owned(), ..ModelInfo::default() });
            assert_eq!(said(&models, "unknown", &request()).await, expected, "{size}: {written}");
        }
    }
}

#[tokio::test]
async fn native_calls_keep_their_place_among_written_ones() {
    let turn = Turn::text("One.\n```json\n{\"name\": \"read\", \"arguments\": {}}\n```\n").and_call_with_id(
        "native",
        "read",
        json!({"path": "b"}),
    );
    let server = ModelServer::start(Script::always(turn.arguments_whole())).await;
    let models = models_at(&server, ModelInfo::default());
    let events = said(&models, "m", &request()).await;
    let completed: Vec<(u32, &str, &str)> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::CallCompleted { part, wire_id, arguments, .. } => {
                Some((*part, wire_id.as_str(), arguments.as_str()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(completed, [(1, "written_1", "{}"), (2, "native", "{\"path\":\"b\"}")]);
}

#[tokio::test]
async fn a_call_cut_by_the_output_limit_is_not_whole() {
    let turn = Turn::text("<tool_call>{\"name\": \"read\", \"arguments\": {\"path\": \"a\"").finish("length");
    let server = ModelServer::start(Script::always(turn)).await;
    let events = said(&models_at(&server, ModelInfo::default()), "m", &request()).await;
    assert_eq!(
        events.last_chunk::<2>().unwrap().clone(),
        [
            ModelEvent::CallCompleted {
                part: 0,
                wire_id: "written_0".to_owned(),
                tool: "read".to_owned(),
                arguments: "{\"path\": \"a\"".to_owned()
            },
            ModelEvent::Finished(Finish::Length)
        ]
    );
}

#[tokio::test]
async fn text_is_text_for_a_model_that_was_offered_no_tools() {
    let written = "<tool_call>\n{\"name\": \"read\", \"arguments\": {}}\n</tool_call>";
    let server = ModelServer::start(Script::always(Turn::text(written))).await;
    let request = ModelRequest { tools: Vec::new(), ..request() };
    let events = said(&models_at(&server, ModelInfo::default()), "m", &request).await;
    assert_eq!(events, [text(0, written), ModelEvent::Finished(Finish::Stop)]);
}

/// A conversation with a call and its result.
fn conversation() -> ModelRequest {
    let call = ToolCall {
        id: CallId::new(),
        wire_id: "w".to_owned(),
        tool: "read".to_owned(),
        input: ToolInput::Json { value: json!({"path": "a", "count": 2}) },
    };
    let mut request = request();
    request.messages.push(Message::Assistant {
        model: "here/m".parse().unwrap(),
        parts: vec![
            AssistantPart::Text { text: "Let me see.".to_owned() },
            AssistantPart::Call(call.clone()),
        ],
    });
    request.messages.push(Message::Tool {
        call: call.id,
        wire_id: "w".to_owned(),
        tool: "read".to_owned(),
        content: vec![Content::text("hello")],
        is_error: false,
    });
    request.messages.push(Message::User { content: vec![Content::text("and?")] });
    request
}

fn roles(body: &Value) -> Vec<(String, String)> {
    let messages = body["messages"].as_array().unwrap();
    let text = |value: &Value| value.as_str().unwrap().to_owned();
    messages.iter().map(|message| (text(&message["role"]), text(&message["content"]))).collect()
}

#[tokio::test]
async fn a_model_that_must_be_taught_gets_tools_calls_and_results_in_words() {
    for dialect in Dialect::ALL {
        let server = ModelServer::start(Script::always(Turn::text("Fine."))).await;
        let info = ModelInfo {
            id: "m".to_owned(),
            dialect: Some(dialect),
            teach: Some(true),
            ..ModelInfo::default()
        };
        said(&models_at(&server, info), "m", &conversation()).await;
        let body: Value = server.requests()[0].body.clone();
        assert_eq!(body.get("tools"), None, "{dialect}");
        let said = roles(&body);
        let order: Vec<&str> = said.iter().map(|(role, _)| role.as_str()).collect();
        assert_eq!(order, ["system", "user", "assistant", "user"], "{dialect}");
        assert!(said[0].1.starts_with("Be brief.\n\n# Tools\n\n{\"name\":\"read\""), "{dialect}");
        assert!(said[3].1.contains("hello") && said[3].1.ends_with("and?"), "{dialect}");

        // What it is shown as its own words reads as the same call.
        let again = ModelServer::start(Script::always(Turn::text(&said[2].1))).await;
        let info = ModelInfo { id: "m".to_owned(), dialect: Some(dialect), ..ModelInfo::default() };
        let events = self::said(&models_at(&again, info), "m", &request()).await;
        let mut expected = vec![text(0, "Let me see.")];
        expected.extend(call(1, "{\"path\":\"a\",\"count\":2}"));
        expected.push(ModelEvent::Finished(Finish::ToolCalls));
        assert_eq!(events, expected, "{dialect}");
    }
}

#[tokio::test]
async fn a_server_that_takes_no_tools_is_asked_in_words_and_that_is_remembered() {
    let server = ModelServer::start(Script::reply_with(|request| {
        if request.body.get("tools").is_some() {
            return Turn::error(400, "registry.ollama.ai/library/m:latest does not support tools");
        }
        Turn::text("```json\n{\"name\": \"read\", \"arguments\": {\"path\":\"a\"}}\n```")
    }))
    .await;
    let models = models_at(&server, ModelInfo::default());
    let mut expected = call(0, "{\"path\":\"a\"}").to_vec();
    expected.push(ModelEvent::Finished(Finish::ToolCalls));
    assert_eq!(said(&models, "m", &request()).await, expected);
    assert_eq!(said(&models, "m", &request()).await, expected);
    let offered: Vec<bool> =
        server.requests().iter().map(|request| request.body.get("tools").is_some()).collect();
    assert_eq!(offered, [true, false, false]);
}

#[tokio::test]
async fn a_stream_that_breaks_hands_over_what_was_held_back() {
    let turn = Turn::text("Use <tool_ca").no_finish().no_done();
    let server = ModelServer::start(Script::always(turn)).await;
    let models = models_at(&server, ModelInfo::default());
    let mut stream =
        models.stream(&"here/m".parse().unwrap(), &request(), CancellationToken::new()).await.unwrap();
    let mut words = String::new();
    let error = loop {
        match stream.next().await {
            Ok(Some(events)) => {
                for event in events {
                    if let ModelEvent::TextDelta { delta, .. } = event {
                        words.push_str(&delta);
                    }
                }
            }
            Ok(None) => panic!("the stream was cut"),
            Err(error) => break error,
        }
    };
    assert_eq!(words, "Use <tool_ca");
    assert_eq!(error.kind, rein_llm::ErrorKind::Cut);
}

#[tokio::test]
async fn what_harmony_spills_reaches_neither_the_person_nor_the_tool() {
    let turn = Turn::text("Done. analysis to=functions.read code \u{5927}\u{53d1} more")
        .and_call_text("read", "{\"path\":\"a\"} commentary to=functions.read code \u{5927}");
    let server = ModelServer::start(Script::always(turn)).await;
    let info = ModelInfo { id: "m".to_owned(), dialect: Some(Dialect::Harmony), ..ModelInfo::default() };
    let events = said(&models_at(&server, info), "m", &request()).await;
    assert_eq!(events.first(), Some(&text(0, "Done. analysis")));
    let arguments: Vec<&str> = events
        .iter()
        .filter_map(|event| match event {
            ModelEvent::CallCompleted { arguments, .. } => Some(arguments.as_str()),
            _ => None,
        })
        .collect();
    assert_eq!(arguments, ["{\"path\":\"a\"}"]);
}
