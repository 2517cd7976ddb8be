//! Every way in which a provider can fail, over every wire and real sockets.

use std::time::Duration;

use rein_http::CancellationToken;
use rein_llm::{
    Catalog, ErrorKind, ModelError, ModelEvent, ModelRequest, ModelStream, Models, ModelsOptions,
    ProviderConfig, Wire,
};
use rein_protocol::{Content, Finish, Message, ModelRef};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::server::{listen, models, read_request};
use crate::speech::{self, End, Say};

const CALL: Say = Say::Call { id: "c1", tool: "read", arguments: "{\"path\":\"\u{e9}.txt\"}" };
const WHOLE: [Say; 5] = [
    Say::Thought("Let me \u{1F600} see."),
    Say::Text("Caf\u{e9} "),
    Say::Text("\u{4e16}\u{754c}."),
    CALL,
    Say::End(End::Calls),
];

pub fn model() -> ModelRef {
    "test/m".parse().unwrap()
}

/// Models of one provider that speaks a wire at an address.
pub fn models_at(wire: Wire, url: &str, options: ModelsOptions) -> Models {
    let provider = ProviderConfig {
        name: "test".to_owned(),
        wire: Some(wire),
        base_url: Some(url.to_owned()),
        ..ProviderConfig::default()
    };
    models(Catalog::empty().with_provider(provider).unwrap(), &[]).with_options(options)
}

fn request() -> ModelRequest {
    ModelRequest {
        messages: vec![Message::User { content: vec![Content::text("hi")] }],
        ..ModelRequest::default()
    }
}

/// What a stream said, and how it ended.
pub struct Told {
    pub events: Vec<ModelEvent>,
    pub error: Option<ModelError>,
}

impl Told {
    pub async fn of(mut stream: ModelStream) -> Self {
        let mut events = Vec::new();
        loop {
            match stream.next().await {
                Ok(Some(batch)) => events.extend(batch),
                Ok(None) => return Self { events, error: None },
                Err(error) => return Self { events, error: Some(error) },
            }
        }
    }

    fn words(&self) -> String {
        let said = self.events.iter().filter_map(|event| match event {
            ModelEvent::TextDelta { delta, .. } => Some(delta.as_str()),
            _ => None,
        });
        said.collect()
    }

    fn thoughts(&self) -> String {
        let thought = self.events.iter().filter_map(|event| match event {
            ModelEvent::ReasoningDelta { delta, .. } => Some(delta.as_str()),
            _ => None,
        });
        thought.collect()
    }

    fn calls(&self) -> Vec<(String, serde_json::Value)> {
        let calls = self.events.iter().filter_map(|event| match event {
            ModelEvent::CallCompleted { tool, arguments, .. } => {
                Some((tool.clone(), serde_json::from_str(arguments).unwrap()))
            }
            _ => None,
        });
        calls.collect()
    }

    fn finish(&self) -> Option<&Finish> {
        match self.events.last() {
            Some(ModelEvent::Finished(finish)) => Some(finish),
            _ => None,
        }
    }

    fn kind(&self) -> Option<ErrorKind> {
        self.error.as_ref().map(|error| error.kind)
    }
}

/// Answers one request with these bytes and hangs up.
async fn given(wire: Wire, bytes: Vec<u8>) -> Result<Told, ModelError> {
    given_with(wire, ModelsOptions::default(), bytes).await
}

async fn given_with(wire: Wire, options: ModelsOptions, bytes: Vec<u8>) -> Result<Told, ModelError> {
    let (listener, url) = listen().await;
    let serving = async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        // A client that has what it wanted may be gone.
        let _ = stream.write_all(&bytes).await;
        let _ = stream.shutdown().await;
    };
    let models = models_at(wire, &url, options);
    let (request, model) = (request(), model());
    let asking = async {
        match models.stream(&model, &request, CancellationToken::new()).await {
            Ok(stream) => Ok(Told::of(stream).await),
            Err(error) => Err(error),
        }
    };
    tokio::join!(asking, serving).0
}

fn success(body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

fn failure(status: &str, headers: &str, body: &str) -> Vec<u8> {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[tokio::test]
async fn an_answer_split_at_every_byte_is_the_same() {
    for wire in Wire::ALL {
        let body = speech::answer(wire, &WHOLE);
        let mut split = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n".to_vec();
        for byte in &body {
            split.extend_from_slice(&[b'1', b'\r', b'\n', *byte, b'\r', b'\n']);
        }
        split.extend_from_slice(b"0\r\n\r\n");
        for bytes in [success(&body), split] {
            let told = given(wire, bytes).await.unwrap();
            assert_eq!(told.error, None, "{wire:?}");
            assert_eq!(told.words(), "Caf\u{e9} \u{4e16}\u{754c}.", "{wire:?}");
            assert_eq!(told.thoughts(), "Let me \u{1F600} see.", "{wire:?}");
            let calls = vec![("read".to_owned(), serde_json::json!({"path": "\u{e9}.txt"}))];
            assert_eq!((told.calls(), told.finish()), (calls, Some(&Finish::ToolCalls)), "{wire:?}");
            let used = |event: &ModelEvent| matches!(event, ModelEvent::Usage(usage) if usage.output == 2);
            assert!(told.events.iter().any(used), "{wire:?}: {:?}", told.events);
        }
    }
}

#[tokio::test]
async fn a_cut_anywhere_keeps_what_came_and_can_be_tried_again() {
    for wire in Wire::ALL {
        let frames = speech::frames(wire, &[Say::Text("one "), Say::Text("two"), Say::End(End::Stop)]);
        let body = frames.concat();
        let mut longest = 0;
        for length in (0..body.len()).step_by(7) {
            let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
            let told = given(wire, [head.as_bytes(), &body[..length]].concat()).await.unwrap();
            let words = told.words();
            assert!("one two".starts_with(&words) && words.len() >= longest, "{wire:?} at {length}: {words}");
            longest = words.len();
            match told.kind() {
                None => {
                    assert_eq!((words.as_str(), told.finish()), ("one two", Some(&Finish::Stop)), "{wire:?}")
                }
                Some(kind) => {
                    assert_eq!((kind, told.finish()), (ErrorKind::Cut, None), "{wire:?} at {length}");
                    assert!(told.error.unwrap().retryable());
                }
            }
        }
        assert_eq!(longest, 7, "{wire:?}");
    }
}

#[tokio::test]
async fn a_stream_that_stalls_keeps_what_came_and_can_be_tried_again() {
    for wire in Wire::ALL {
        let options =
            ModelsOptions { idle_timeout: Some(Duration::from_secs(1)), ..ModelsOptions::default() };
        let (listener, url) = listen().await;
        let serving = async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_request(&mut stream).await;
            let body = speech::answer(wire, &[Say::Text("one ")]);
            let head = "HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n".as_bytes();
            stream.write_all(&[head, &body].concat()).await.unwrap();
            // Ends when the client has had enough.
            stream.read_to_end(&mut Vec::new()).await.unwrap();
        };
        let models = models_at(wire, &url, options);
        let asking = async {
            Told::of(models.stream(&model(), &request(), CancellationToken::new()).await.unwrap()).await
        };
        let (told, ()) = tokio::join!(asking, serving);
        assert_eq!((told.words().as_str(), told.kind()), ("one ", Some(ErrorKind::Stalled)), "{wire:?}");
        assert!(told.error.unwrap().retryable());
    }
}

#[tokio::test]
async fn whoever_cancels_gets_no_more_and_the_server_notices() {
    for wire in Wire::ALL {
        let (listener, url) = listen().await;
        let serving = async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_request(&mut stream).await;
            let body = speech::answer(wire, &[Say::Text("one ")]);
            let head = "HTTP/1.1 200 OK\r\ncontent-length: 99999\r\n\r\n".as_bytes();
            stream.write_all(&[head, &body].concat()).await.unwrap();
            stream.read_to_end(&mut Vec::new()).await.unwrap();
        };
        let models = models_at(wire, &url, ModelsOptions::default());
        let asking = async {
            let cancel = CancellationToken::new();
            let mut stream = models.stream(&model(), &request(), cancel.clone()).await.unwrap();
            let mut events = stream.next().await.unwrap().unwrap();
            events.retain(|event| matches!(event, ModelEvent::TextDelta { .. }));
            assert_eq!(events, [ModelEvent::TextDelta { part: 0, delta: "one ".to_owned() }], "{wire:?}");
            let (next, ()) = tokio::join!(stream.next(), async { cancel.cancel() });
            assert_eq!(next.unwrap_err().kind, ErrorKind::Cancelled, "{wire:?}");
            assert_eq!(stream.next().await, Ok(None), "{wire:?}");
        };
        tokio::join!(asking, serving);
    }
}

#[tokio::test]
async fn an_empty_body_was_cut_and_an_empty_answer_is_an_answer() {
    for wire in Wire::ALL {
        let told = given(wire, success(b"")).await.unwrap();
        assert_eq!((told.kind(), told.events.len()), (Some(ErrorKind::Cut), 0), "{wire:?}");
        let told = given(wire, success(&speech::answer(wire, &[Say::End(End::Stop)]))).await.unwrap();
        assert_eq!((told.error.clone(), told.finish()), (None, Some(&Finish::Stop)), "{wire:?}");
        assert_eq!(told.words(), "");
    }
}

#[tokio::test]
async fn no_room_for_a_single_word_is_an_overflow() {
    for wire in Wire::ALL {
        let told = given(wire, success(&speech::answer(wire, &[Say::End(End::Length)]))).await.unwrap();
        assert_eq!((told.kind(), told.finish()), (Some(ErrorKind::Overflow), None), "{wire:?}");
        let cut = speech::answer(wire, &[Say::Text("one"), Say::End(End::Length)]);
        let told = given(wire, success(&cut)).await.unwrap();
        assert_eq!((told.error.clone(), told.finish()), (None, Some(&Finish::Length)), "{wire:?}");
    }
}

#[tokio::test]
async fn a_finish_that_denies_its_calls_does_not_lose_them() {
    for wire in Wire::ALL {
        for end in [End::Stop, End::Calls] {
            let told =
                given(wire, success(&speech::answer(wire, &[CALL, CALL, Say::End(end)]))).await.unwrap();
            assert_eq!((told.error.clone(), told.calls().len()), (None, 2), "{wire:?}");
            // Whether it is called a stop or not, it is one that can be gone on from.
            assert!(matches!(told.finish(), Some(Finish::ToolCalls | Finish::Stop)), "{wire:?} {end:?}");
        }
    }
}

#[tokio::test]
async fn an_overflow_is_one_on_every_wire_and_is_not_tried_again() {
    for wire in Wire::ALL {
        for (status, words) in [
            ("400 Bad", "prompt is too long: 213462 tokens > 200000 maximum"),
            ("500 Oops", "Context size has been exceeded."),
            ("413 Large", ""),
        ] {
            let body = if words.is_empty() { String::new() } else { speech::error(wire, 400, words) };
            let error = given(wire, failure(status, "", &body)).await.err().unwrap();
            assert_eq!((error.kind, error.retryable()), (ErrorKind::Overflow, false), "{wire:?} {status}");
        }
    }
}

#[tokio::test]
async fn a_rate_limit_is_waited_for_in_every_form_in_which_it_is_said() {
    let forms = [
        ("retry-after-ms: 1500\r\n", "slow down", Some(1_500)),
        ("retry-after: 3\r\n", "slow down", Some(3_000)),
        ("x-ratelimit-reset-after: 2\r\n", "slow down", Some(2_000)),
        ("x-ratelimit-reset: 4\r\n", "slow down", Some(4_000)),
        ("x-ratelimit-remaining-tokens: 0\r\nx-ratelimit-reset-tokens: 1m1s\r\n", "slow down", Some(61_000)),
        ("", "Rate limit reached. Please try again in 28ms.", Some(28)),
        ("", "slow down", None),
    ];
    for wire in Wire::ALL {
        for (headers, words, expected) in forms {
            let body = speech::error(wire, 429, words);
            let error = given(wire, failure("429 Slow", headers, &body)).await.err().unwrap();
            let wait = error.retry_after.map(|wait| wait.as_millis());
            assert_eq!((error.kind, wait), (ErrorKind::RateLimit, expected), "{wire:?} {headers} {words}");
            assert!(error.retryable());
        }
        let later = jiff::Timestamp::now() + jiff::SignedDuration::from_secs(90);
        let date = format!("retry-after: {}\r\n", later.strftime("%a, %d %b %Y %H:%M:%S GMT"));
        let error = given(wire, failure("429 Slow", &date, "{}")).await.err().unwrap();
        let wait = error.retry_after.map(|wait| wait.as_secs()).unwrap_or_default();
        assert!((60..=90).contains(&wait), "{wire:?} {date} {wait}");
        let info = r#"{"error":{"code":429,"message":"m","details":[{"@type":"type.googleapis.com/google.rpc.RetryInfo","retryDelay":"34.5s"}]}}"#;
        let error = given(wire, failure("429 Slow", "", info)).await.err().unwrap();
        assert_eq!(error.retry_after, Some(Duration::from_millis(34_500)), "{wire:?}");
    }
}

#[tokio::test]
async fn a_script_is_told_when_to_come_back_instead_of_waiting_for_long() {
    for wire in Wire::ALL {
        let options =
            ModelsOptions { patience: rein_llm::retry::Patience::Headless, ..ModelsOptions::default() };
        let body = speech::error(wire, 429, "slow down");
        let answer = failure("429 Slow", "retry-after: 300\r\n", &body);
        let error = given_with(wire, options, answer).await.err().unwrap();
        assert_eq!((error.kind, error.retryable()), (ErrorKind::RateLimit, false), "{wire:?}");
        assert!(
            error.hint.as_ref().is_some_and(|hint| hint.starts_with("try again in 5 min (at ")),
            "{error:?}"
        );
    }
}

#[tokio::test]
async fn trouble_at_the_providers_is_tried_again_and_pages_are_told_by_their_title() {
    for wire in Wire::ALL {
        for status in ["500 A", "502 B", "503 C", "529 D"] {
            let error =
                given(wire, failure(status, "", &speech::error(wire, 500, "oh no"))).await.err().unwrap();
            assert_eq!((error.kind, error.retryable()), (ErrorKind::Overloaded, true), "{wire:?} {status}");
            assert_eq!(error.message, "oh no");
        }
        let page =
            "<!doctype html><html><head><title>502 Bad Gateway</title></head><body>nginx</body></html>";
        let error =
            given(wire, failure("502 Bad Gateway", "content-type: text/html\r\n", page)).await.err().unwrap();
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ErrorKind::Overloaded, "502 Bad Gateway"),
            "{wire:?}"
        );
        let told = given(wire, success(page.as_bytes())).await.unwrap();
        assert_eq!(told.kind(), Some(ErrorKind::Protocol), "{wire:?}");
        for status in ["400 A", "401 B", "403 C", "404 D", "422 E"] {
            let error =
                given(wire, failure(status, "", &speech::error(wire, 400, "no"))).await.err().unwrap();
            assert!(!error.retryable(), "{wire:?} {status} {error:?}");
        }
    }
}

#[tokio::test]
async fn an_error_inside_of_an_answer_comes_after_what_was_said() {
    for wire in Wire::ALL {
        let body = speech::answer(wire, &[Say::Text("one "), Say::Error("We are overloaded right now")]);
        let told = given(wire, success(&body)).await.unwrap();
        assert_eq!((told.words().as_str(), told.finish()), ("one ", None), "{wire:?}");
        let error = told.error.unwrap();
        assert_eq!(
            (error.kind, error.message.as_str()),
            (ErrorKind::Overloaded, "We are overloaded right now"),
            "{wire:?}"
        );
    }
}

#[tokio::test]
async fn an_answer_without_measure_is_not_read_for_ever() {
    for wire in Wire::ALL {
        let mut says = vec![Say::Text("on and on "); 400];
        says.push(Say::End(End::Stop));
        let body = speech::answer(wire, &says);
        let options = ModelsOptions { longest_answer: body.len() / 2, ..ModelsOptions::default() };
        let told = given_with(wire, options, success(&body)).await.unwrap();
        let error = told.error.clone().unwrap();
        assert_eq!((error.kind, error.retryable()), (ErrorKind::Protocol, false), "{wire:?}");
        assert!(error.message.starts_with("the answer is larger than"), "{wire:?} {error}");
        let options = ModelsOptions { longest_answer: body.len(), ..ModelsOptions::default() };
        let told = given_with(wire, options, success(&body)).await.unwrap();
        assert_eq!((told.error.clone(), told.words().len()), (None, 4_000), "{wire:?}");
    }
}
