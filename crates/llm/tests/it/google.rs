//! Google's generateContent over real sockets, of Gemini and of Vertex.

use rein_http::CancellationToken;
use rein_llm::{Catalog, ErrorKind, ModelEvent, ModelRequest, Models, ProviderConfig, Wire};
use rein_protocol::{Finish, ModelRef, Usage};
use rein_testkit::{ModelServer, Script, Turn};
use serde_json::{Value, json};

use crate::responses::{answer, answered, collect, request, user};
use crate::server::models;

const KEY: &str = "AIzaSy-1234567890";

fn gemini(server: &ModelServer) -> Models {
    let origin = server.origin();
    models(Catalog::bundled(), &[("GOOGLE_GEMINI_BASE_URL", &origin), ("GEMINI_API_KEY", KEY)])
}

fn model() -> ModelRef {
    "google/gemini-3.8-flash".parse().unwrap()
}

#[tokio::test]
async fn a_conversation_with_signatures_and_calls_goes_round() {
    let script = Script::new().turns([
        Turn::reasoning("Let me see \u{e9}.")
            .and_text("Reading.")
            .and_call("read", json!({"path": "a"}))
            .and_call_with_id("", "read", json!({"path": "b"}))
            .usage(100, 20, 60),
        Turn::reasoning("So.").and_text("Done."),
        Turn::text("Bye."),
    ]);
    let server = ModelServer::start(script).await;
    let models = gemini(&server);
    let ask = async |request: &ModelRequest| {
        collect(models.stream(&model(), request, CancellationToken::new()).await).await
    };
    let (events, error) = ask(&request(vec![user("Read both")])).await;
    assert_eq!((error, events.last()), (None, Some(&ModelEvent::Finished(Finish::ToolCalls))));
    let counted =
        Usage { input: 40, output: 20, reasoning: 0, cache_read: 60, cache_write: 0, cache_write_hour: 0 };
    assert!(events.contains(&ModelEvent::Usage(counted)), "{events:?}");
    let mut messages = answered(user("Read both"), answer(&model(), &events));
    let (events, error) = ask(&request(messages.clone())).await;
    assert_eq!((error, events.last()), (None, Some(&ModelEvent::Finished(Finish::Stop))));
    messages.extend([answer(&model(), &events), user("Thanks")]);
    assert_eq!(ask(&request(messages)).await.1, None);

    let requests = server.requests();
    assert_eq!(requests[0].path, "/v1beta/models/gemini-3.8-flash:streamGenerateContent");
    assert_eq!((requests[0].query.as_str(), requests[0].header("x-goog-api-key")), ("alt=sse", Some(KEY)));
    let thinking = json!({"thinkingLevel": "low", "includeThoughts": true});
    assert_eq!(requests[0].body["generationConfig"]["thinkingConfig"], thinking);
    let contents = &requests[2].body["contents"];
    let signature = "c2lnbmVkIGJ5IHRoZSB0ZXN0";
    let said = |index: usize| contents[index]["parts"].clone();
    let id = said(1)[1]["functionCall"]["id"].clone();
    let expected = json!([
        {"text": "Reading."},
        {"functionCall": {"name": "read", "args": {"path": "a"}, "id": id}, "thoughtSignature": signature},
        {"functionCall": {"name": "read", "args": {"path": "b"}}},
    ]);
    assert_eq!(said(1), expected);
    let result = |id: Option<&Value>| match id {
        Some(id) => {
            json!({"functionResponse": {"id": id, "name": "read", "response": {"output": "content"}}})
        }
        None => json!({"functionResponse": {"name": "read", "response": {"output": "content"}}}),
    };
    assert_eq!(said(2), json!([result(Some(&id)), result(None)]));
    assert_eq!(said(3), json!([{"text": "Done."}, {"text": "", "thoughtSignature": signature}]));
    server.assert_done();
}

#[tokio::test]
async fn errors_before_and_within_an_answer_have_their_kind_and_words() {
    let event =
        json!({"error": {"code": 503, "message": "The model is overloaded.", "status": "UNAVAILABLE"}});
    let script = Script::new().turns([
        Turn::error(429, "Resource has been exhausted. Please retry in 7s."),
        Turn::error(400, "The input token count (9) exceeds the maximum number of tokens allowed (8)."),
        Turn::error(400, format!("API key not valid: {KEY}")),
        Turn::text("Hal").data(&event),
        Turn::text("x").finish("SAFETY"),
    ]);
    let server = ModelServer::start(script).await;
    let models = gemini(&server);
    let request = request(vec![user("hi")]);
    let ask = async || collect(models.stream(&model(), &request, CancellationToken::new()).await).await;
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
    assert_eq!(error.unwrap().kind, ErrorKind::Overloaded);
    assert!(events.contains(&ModelEvent::TextDelta { part: 0, delta: "Hal".to_owned() }));
    assert_eq!(ask().await.0.last(), Some(&ModelEvent::Finished(Finish::Refusal)));
}

#[tokio::test]
async fn models_are_listed_at_the_address_of_the_wire() {
    let server = ModelServer::start(Script::new()).await;
    gemini(&server).list("google", &CancellationToken::new()).await.unwrap();
    let asked = &server.other_requests()[0];
    assert_eq!((asked.path.as_str(), asked.header("x-goog-api-key")), ("/v1beta/models", Some(KEY)));
}

#[tokio::test]
async fn vertex_is_asked_with_a_token_in_a_project_and_a_place() {
    let model: ModelRef = "vertex/gemini-2.5-flash".parse().unwrap();
    let token = ("GOOGLE_VERTEX_ACCESS_TOKEN", "ya29.token");
    let address = |environment: &[(&str, &str)]| {
        models(Catalog::bundled(), environment).resolve(&model).map(|endpoint| endpoint.base_url)
    };
    let path = |location: &str| format!("/v1/projects/p-1/locations/{location}/publishers/google");
    let project = ("GOOGLE_CLOUD_PROJECT", "p-1");
    let global = format!("https://aiplatform.googleapis.com{}", path("global"));
    assert_eq!(address(&[token, project]), Ok(global));
    let regional = format!("https://us-east5-aiplatform.googleapis.com{}", path("us-east5"));
    assert_eq!(address(&[token, project, ("GOOGLE_CLOUD_LOCATION", "us-east5")]), Ok(regional));
    assert!(address(&[token]).unwrap_err().message.contains("GOOGLE_CLOUD_PROJECT"));

    let server = ModelServer::start(Script::new().turn(Turn::text("Hi"))).await;
    let config = ProviderConfig {
        name: "vertex".to_owned(),
        base_url: Some(format!("{}{}", server.origin(), path("global"))),
        ..ProviderConfig::default()
    };
    let models = models(Catalog::bundled().with_provider(config).unwrap(), &[token]);
    let request = request(vec![user("hi")]);
    let (events, error) = collect(models.stream(&model, &request, CancellationToken::new()).await).await;
    assert_eq!((error, events.last()), (None, Some(&ModelEvent::Finished(Finish::Stop))));
    let seen = &server.requests()[0];
    assert_eq!(seen.path, format!("{}/models/gemini-2.5-flash:streamGenerateContent", path("global")));
    assert_eq!(seen.header("authorization"), Some("Bearer ya29.token"));
    assert_eq!(seen.body["generationConfig"]["thinkingConfig"]["thinkingBudget"], 1024);
}

#[tokio::test]
async fn however_an_answer_is_sent_or_breaks_off_nothing_is_lost_on_either_wire() {
    let words = "H\u{e9}ll\u{f6} w\u{f6}rld \u{1f600} ".repeat(20);
    let turns = |words: &str| {
        [
            Turn::text(words).split_every(1).crlf().comments(),
            Turn::text(words).no_finish(),
            Turn::text(words).cut_after(700),
            Turn::text(words).garbage("{\"type\": oops"),
            Turn::hang_up(),
            Turn::empty(),
        ]
    };
    for wire in [Wire::OpenAiResponses, Wire::Google] {
        let server = ModelServer::start(Script::new().turns(turns(&words))).await;
        let base_url = if wire == Wire::Google { server.origin() } else { server.base_url() };
        let config = ProviderConfig {
            name: "own".to_owned(),
            wire: Some(wire),
            base_url: Some(base_url),
            ..ProviderConfig::default()
        };
        let models = models(Catalog::empty().with_provider(config).unwrap(), &[]);
        let model = "own/m".parse().unwrap();
        let request = request(vec![user("hi")]);
        let ask = async || {
            let (events, error) =
                collect(models.stream(&model, &request, CancellationToken::new()).await).await;
            let said: String = events
                .iter()
                .filter_map(|event| match event {
                    ModelEvent::TextDelta { delta, .. } => Some(delta.as_str()),
                    _ => None,
                })
                .collect();
            (said, error.map(|error| error.kind), events.last().cloned())
        };
        let finished = Some(ModelEvent::Finished(Finish::Stop));
        assert_eq!(ask().await, (words.clone(), None, finished.clone()), "{wire:?}");
        let (said, error, _) = ask().await;
        assert_eq!((said, error), (words.clone(), Some(ErrorKind::Cut)), "{wire:?}");
        let (said, error, _) = ask().await;
        assert_eq!(error, Some(ErrorKind::Cut), "{wire:?}");
        assert!(words.starts_with(&said), "{wire:?}");
        let (said, error, _) = ask().await;
        assert_eq!((said, error), (words.clone(), Some(ErrorKind::Protocol)), "{wire:?}");
        assert!(ask().await.1.is_some_and(ErrorKind::retryable), "{wire:?}");
        assert_eq!(ask().await, (String::new(), None, finished), "{wire:?}");
    }
}
