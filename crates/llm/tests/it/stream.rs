//! Whole requests over real sockets: answers, errors, cuts and stalls.

use std::time::Duration;

use rein_http::CancellationToken;
use rein_http::replay::{Pace, Recording, Server};
use rein_llm::{
    Catalog, ErrorKind, ModelError, ModelEvent, ModelRequest, ModelStream, ModelsOptions, NextKey,
};
use rein_protocol::{Content, Cost, Finish, Message, ModelRef, Usage};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::server::{answer, answer_always, listen, models, read_request};

const KEY: &str = "sk-test-1234567890";

fn model() -> ModelRef {
    "openai/gpt-5".parse().unwrap()
}

fn request() -> ModelRequest {
    ModelRequest {
        messages: vec![Message::User { content: vec![Content::text("hi")] }],
        ..ModelRequest::default()
    }
}

async fn ask(url: &str) -> Result<ModelStream, ModelError> {
    let models = models(Catalog::bundled(), &[("OPENAI_BASE_URL", url), ("OPENAI_API_KEY", KEY)]);
    models.stream(&model(), &request(), CancellationToken::new()).await
}

/// Everything a stream says, and how it ended.
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

fn text(delta: &str) -> ModelEvent {
    ModelEvent::TextDelta { part: 0, delta: delta.to_owned() }
}

fn chunk(content: &str) -> String {
    format!("data: {{\"choices\":[{{\"index\":0,\"delta\":{{\"content\":\"{content}\"}}}}]}}\n\n")
}

const STOP: &str = "data: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\n";

#[tokio::test]
async fn a_model_is_asked_with_its_key_and_answers_in_batches() {
    let (listener, url) = listen().await;
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let seen = read_request(&mut stream).await;
        let body = format!("{}{}{}{STOP}data: [DONE]\n\n", chunk("a"), chunk("b"), chunk("c"));
        stream
            .write_all(answer("200 OK", "content-type: text/event-stream\r\n", &body).as_bytes())
            .await
            .unwrap();
        seen
    });
    let (events, error) = collect(ask(&format!("{url}/")).await.unwrap()).await;
    assert_eq!((events, error), (vec![text("abc"), ModelEvent::Finished(Finish::Stop)], None));
    let seen = server.await.unwrap();
    assert!(seen.starts_with("POST /v1/chat/completions HTTP/1.1\r\n"), "{seen}");
    assert!(seen.contains(&format!("authorization: Bearer {KEY}\r\n")), "{seen}");
    assert!(seen.contains("content-type: application/json\r\n"), "{seen}");
    assert!(seen.contains("\"model\":\"gpt-5\""), "{seen}");
}

#[tokio::test]
async fn an_error_says_what_the_provider_said_without_the_key_it_echoes() {
    let body = format!(
        "{{\"error\":{{\"message\":\"Incorrect API key provided: {KEY}.\",\"code\":\"invalid_api_key\"}}}}"
    );
    let (url, server) = answer_always(answer("401 Unauthorized", "x-request-id: req_7\r\n", &body)).await;
    let error = ask(&url).await.unwrap_err();
    let expected = ModelError {
        kind: ErrorKind::Auth,
        message: "Incorrect API key provided: ***.".to_owned(),
        status: Some(401),
        retry_after: None,
        longest_wait: rein_llm::retry::LONGEST_WAIT,
        hint: Some(
            "check the key in OPENAI_API_KEY, or replace it: export OPENAI_API_KEY=… (keys: https://platform.openai.com/api-keys)"
                .to_owned(),
        ),
        request_id: Some("req_7".to_owned()),
        next: NextKey::Same,
    };
    assert_eq!(error, expected);
    server.abort();
}

#[tokio::test]
async fn an_echoed_key_is_masked_inside_a_stream_too() {
    let body = format!("{}data: {{\"error\":{{\"message\":\"bad {KEY}\",\"code\":401}}}}\n\n", chunk("a"));
    let (url, server) = answer_always(answer("200 OK", "", &body)).await;
    let (events, error) = collect(ask(&url).await.unwrap()).await;
    assert_eq!(events, [text("a")]);
    assert_eq!(error.unwrap().message, "bad ***");
    let (url, garbage) = answer_always(answer("200 OK", "", &format!("data: {KEY}\n\n"))).await;
    let error = collect(ask(&url).await.unwrap()).await.1.unwrap();
    assert_eq!(error.kind, ErrorKind::Protocol);
    assert!(!error.message.contains(KEY) && error.message.contains("***"), "{}", error.message);
    server.abort();
    garbage.abort();
}

#[tokio::test]
async fn a_rate_limit_tells_how_long_to_wait() {
    let (url, server) =
        answer_always(answer("429 Slow", "retry-after: 3\r\n", "{\"error\":{\"message\":\"slow down\"}}"))
            .await;
    let error = ask(&url).await.unwrap_err();
    assert_eq!((error.kind, error.retry_after), (ErrorKind::RateLimit, Some(Duration::from_secs(3))));
    assert!(error.retryable());
    server.abort();
}

#[tokio::test]
async fn a_stream_cut_in_the_middle_keeps_what_came_and_can_be_tried_again() {
    let (listener, url) = listen().await;
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        let start = format!("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n{}data: {{\"choi", chunk("a"));
        stream.write_all(start.as_bytes()).await.unwrap();
    });
    let (events, error) = collect(ask(&url).await.unwrap()).await;
    assert_eq!(events, [text("a")]);
    assert_eq!(error.as_ref().map(|error| error.kind), Some(ErrorKind::Cut));
    assert!(error.unwrap().retryable());
    server.await.unwrap();
}

#[tokio::test]
async fn a_stream_that_ends_early_without_a_word_was_cut() {
    for body in [chunk("a"), format!("{}data: {{\"choi", chunk("a"))] {
        let (url, server) = answer_always(answer("200 OK", "", &body)).await;
        let (events, error) = collect(ask(&url).await.unwrap()).await;
        assert_eq!((events, error.unwrap().kind), (vec![text("a")], ErrorKind::Cut));
        server.abort();
    }
}

#[tokio::test]
async fn a_cut_after_the_finish_costs_nothing() {
    let (listener, url) = listen().await;
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        let start = format!("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n{}{STOP}", chunk("a"));
        stream.write_all(start.as_bytes()).await.unwrap();
    });
    let (events, error) = collect(ask(&url).await.unwrap()).await;
    assert_eq!((events.last(), error), (Some(&ModelEvent::Finished(Finish::Stop)), None));
    server.await.unwrap();
}

#[tokio::test]
async fn done_ends_the_answer_while_the_connection_stays_open() {
    let (listener, url) = listen().await;
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        let start =
            format!("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n{}data: [DONE]\n\n", chunk("a"));
        stream.write_all(start.as_bytes()).await.unwrap();
        // Ends when the client hangs up.
        stream.read_to_end(&mut Vec::new()).await.unwrap();
    });
    let (events, error) = collect(ask(&url).await.unwrap()).await;
    assert_eq!((events, error), (vec![text("a"), ModelEvent::Finished(Finish::Stop)], None));
    server.await.unwrap();
}

#[tokio::test]
async fn a_silent_stream_stalls_and_a_cancelled_one_ends() {
    let (listener, url) = listen().await;
    let server = tokio::spawn(async move {
        let mut held = Vec::new();
        for _ in 0..2 {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_request(&mut stream).await;
            let start = format!("HTTP/1.1 200 OK\r\ncontent-length: 100000\r\n\r\n{}", chunk("a"));
            stream.write_all(start.as_bytes()).await.unwrap();
            held.push(stream);
        }
        for mut stream in held {
            stream.read_to_end(&mut Vec::new()).await.unwrap();
        }
    });
    let options = ModelsOptions { idle_timeout: Some(Duration::from_secs(1)), ..ModelsOptions::default() };
    let hasty = models(Catalog::bundled(), &[("OPENAI_BASE_URL", &url)]).with_options(options);
    let stream = hasty.stream(&model(), &request(), CancellationToken::new()).await.unwrap();
    let (events, error) = collect(stream).await;
    assert_eq!((events, error.unwrap().kind), (vec![text("a")], ErrorKind::Stalled));

    let patient = models(Catalog::bundled(), &[("OPENAI_BASE_URL", &url)]);
    let cancel = CancellationToken::new();
    let mut stream = patient.stream(&model(), &request(), cancel.clone()).await.unwrap();
    assert_eq!(stream.next().await, Ok(Some(vec![text("a")])));
    let (next, ()) = tokio::join!(stream.next(), async { cancel.cancel() });
    assert_eq!(next.unwrap_err().kind, ErrorKind::Cancelled);
    assert_eq!(stream.next().await, Ok(None));
    server.await.unwrap();
}

#[tokio::test]
async fn a_plain_body_and_a_web_page_are_told_from_a_stream() {
    let body = "  \n{\"choices\":[{\"message\":{\"content\":\"a\"},\"finish_reason\":\"stop\"}]}";
    let (url, plain) = answer_always(answer("200 OK", "content-type: text/event-stream\r\n", body)).await;
    let (events, error) = collect(ask(&url).await.unwrap()).await;
    assert_eq!((events, error), (vec![text("a"), ModelEvent::Finished(Finish::Stop)], None));
    let (url, page) = answer_always(answer("200 OK", "", "<!doctype html><title>My blog</title>")).await;
    let error = collect(ask(&url).await.unwrap()).await.1.unwrap();
    assert_eq!(error.kind, ErrorKind::Protocol);
    assert_eq!(error.message, "the server answered with a web page instead of a model's answer: My blog");
    assert_eq!(
        error.hint,
        Some(format!("check that {url} is the address of an API: it usually ends in a version such as /v1"))
    );
    let (url, words) = answer_always(answer("200 OK", "", "upstream gone")).await;
    let error = collect(ask(&url).await.unwrap()).await.1.unwrap();
    assert_eq!(error.kind, ErrorKind::Protocol);
    assert_eq!(
        error.message,
        "the server answered with something that is not a model's answer: upstream gone"
    );
    let (url, empty) = answer_always(answer("200 OK", "", "")).await;
    assert_eq!(collect(ask(&url).await.unwrap()).await.1.unwrap().kind, ErrorKind::Cut);
    for server in [plain, page, words, empty] {
        server.abort();
    }
}

#[tokio::test]
async fn nobody_listening_is_a_network_error_that_names_the_address() {
    let (listener, url) = listen().await;
    drop(listener);
    let error = ask(&url).await.unwrap_err();
    assert_eq!(error.kind, ErrorKind::Network);
    assert!(error.message.contains("127.0.0.1:") && error.message.contains("refused"), "{}", error.message);
}

#[tokio::test]
async fn an_answer_is_the_same_at_every_pace() {
    let recording = Recording::from_json(
        r#"{"exchanges": [{"response": {"chunks": [
            {"text": "data: {\"choices\":[{\"delta\":{\"content\":\"Hel"}, {"text": "lo\"}}]}\n"}, {"text": "\ndata: [DONE]\n\n"}
        ]}}]}"#,
    )
    .unwrap();
    let server = Server::start(recording, Pace::Recorded).await.unwrap();
    let (events, error) = collect(ask(&server.base_url()).await.unwrap()).await;
    assert_eq!((events, error), (vec![text("Hello"), ModelEvent::Finished(Finish::Stop)], None));
}

#[test]
fn a_missing_key_names_the_variable_and_a_loopback_server_needs_none() {
    let bare = models(Catalog::bundled(), &[]);
    let error = bare.resolve(&model()).unwrap_err();
    assert_eq!(error.kind, ErrorKind::Auth);
    assert_eq!(error.message, "there is no key for `openai`: OPENAI_API_KEY is not set");
    let blank = models(Catalog::bundled(), &[("OPENAI_API_KEY", " \n")]);
    assert_eq!(blank.resolve(&model()).unwrap_err().kind, ErrorKind::Auth);
    let loopback = models(Catalog::bundled(), &[("OPENAI_BASE_URL", "http://localhost:9/v1/")]);
    let endpoint = loopback.resolve(&model()).unwrap();
    assert_eq!((endpoint.base_url.as_str(), endpoint.credential.is_none()), ("http://localhost:9/v1", true));
    let remote = models(Catalog::bundled(), &[("OPENAI_BASE_URL", "https://other.example/v1")]);
    assert_eq!(remote.resolve(&model()).unwrap_err().kind, ErrorKind::Auth);
}

#[test]
fn an_unknown_provider_is_told_with_similar_names() {
    let error = models(Catalog::bundled(), &[]).resolve(&"opnai/gpt-5".parse().unwrap()).unwrap_err();
    assert!(
        error.message.starts_with("there is no provider `opnai`; similar are: openai"),
        "{}",
        error.message
    );
    assert_eq!(
        error.hint.as_deref(),
        Some("to use another one, set provider.opnai.base_url in your settings to its address")
    );
}

#[test]
fn neither_endpoints_nor_models_show_keys() {
    let models = models(Catalog::bundled(), &[("OPENAI_API_KEY", KEY)]);
    let endpoint = models.resolve(&model()).unwrap();
    assert!(!format!("{models:?} {endpoint:?}").contains("1234567890"));
}

#[test]
fn costs_are_known_at_the_providers_own_address_only() {
    let usage = Usage { input: 1000, output: 100, ..Usage::default() };
    let own = models(Catalog::bundled(), &[("OPENAI_API_KEY", KEY)]);
    assert_eq!(own.cost(&model(), &usage), Cost::Known { micro_usd: 1250 + 1000 });
    assert_eq!(own.cost(&"openai/unheard-of".parse().unwrap(), &usage), Cost::Unknown);
    assert_eq!(own.limits(&model()).context, Some(400_000));
    let other = models(Catalog::bundled(), &[("OPENAI_BASE_URL", "http://127.0.0.1:9/v1")]);
    assert_eq!(other.cost(&model(), &usage), Cost::Unknown);
}
