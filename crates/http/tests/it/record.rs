//! Recordings over real sockets: what is in them, what is not, and playing them.

use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Arc;

use rein_http::record::Difference;
use rein_http::{
    CancellationToken, Client, ClientOptions, Divergence, HttpError, Method, Player, Recorder, Request,
};
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt;

use crate::server::{listen, read_request};

const CANARY: &str = "canary-4711/value+x";

/// A directory of the test's own.
struct Place(PathBuf);

impl Place {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("rein-record-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Self(path)
    }

    fn file(&self) -> PathBuf {
        self.0.join("run.jsonl")
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// Answers each connection with the next of `answers`, byte by byte where that is asked for.
async fn serve(answers: Vec<(Vec<u8>, usize)>) -> String {
    let (listener, url) = listen().await;
    tokio::spawn(async move {
        for (answer, piece) in answers {
            let (mut stream, _) = listener.accept().await.unwrap();
            stream.set_nodelay(true).unwrap();
            read_request(&mut stream).await;
            for bytes in answer.chunks(piece) {
                if stream.write_all(bytes).await.is_err() {
                    break;
                }
                tokio::task::yield_now().await;
            }
            let _ = stream.shutdown().await;
        }
    });
    url
}

fn answer(head: &str, body: &[u8]) -> Vec<u8> {
    [format!("HTTP/1.1 {head}\r\ncontent-length: {}\r\n\r\n", body.len()).as_bytes(), body].concat()
}

fn post(url: &str, body: &Value) -> Request {
    Request::new(Method::Post, url)
        .unwrap()
        .with_header("content-type", "application/json")
        .unwrap()
        .with_secret_header("authorization", &format!("Bearer {CANARY}"))
        .unwrap()
        .with_body(body.to_string())
}

async fn read(client: &Client, request: Request) -> Result<Vec<u8>, HttpError> {
    let mut response = client.send(request, &CancellationToken::new()).await?;
    let mut body = Vec::new();
    while let Some(bytes) = response.chunk().await? {
        body.extend_from_slice(&bytes);
    }
    Ok(body)
}

fn client() -> Client {
    Client::new(ClientOptions::default()).unwrap()
}

#[tokio::test]
async fn no_secret_reaches_the_file_whatever_way_it_takes() {
    let place = Place::new("secrets");
    let escaped = CANARY.replace('/', "\\/");
    let body = format!(
        "data: {{\"echo\":\"{escaped}\"}}\n\ndata: {CANARY} sk-proj-abcdefghijklmnopqrstuvwxyz \u{e9}\n\n"
    );
    let head = format!("200 OK\r\nset-cookie: {CANARY}\r\nx-echo: {CANARY}");
    let binary = [b"\xFF\x00".as_slice(), CANARY.as_bytes(), b"\xFE"].concat();
    let tokens = format!("{{\"access_token\":\"{CANARY}2\"}}");
    let url = serve(vec![
        (answer(&head, body.as_bytes()), 1),
        (answer("200 OK", &binary), 1),
        (answer("200 OK", tokens.as_bytes()), 4096),
    ])
    .await;
    let recorder =
        Recorder::create(&place.file(), &json!({"prompt": format!("use {CANARY}")}), [CANARY.to_owned()])
            .unwrap();
    let client = client().recorded(recorder.clone());
    let percent = CANARY.replace('/', "%2F").replace('+', "%2B");
    let url_with_key = format!("{url}/v1?key=another-canary&alt=sse&x={percent}");
    let request =
        json!({"messages": [{"content": format!("the key is {CANARY}")}], "api_key": "third-canary"});
    assert_eq!(read(&client, post(&url_with_key, &request)).await.unwrap(), body.as_bytes());
    assert_eq!(read(&client, post(&url, &json!({}))).await.unwrap(), binary);
    let form = Request::new(Method::Post, &url)
        .unwrap()
        .with_header("content-type", "application/x-www-form-urlencoded")
        .unwrap()
        .with_body("grant_type=refresh_token&refresh_token=fourth-canary");
    read(&client, form).await.unwrap();
    recorder.finish().await.unwrap();

    let text = std::fs::read_to_string(place.file()).unwrap();
    for secret in ["canary", "abcdefghijklmnop", &percent] {
        assert!(!text.contains(secret), "{secret} in {text}");
    }
    // Bytes that are no text are written otherwise.
    let player = Arc::new(Player::read(text.as_bytes()).unwrap());
    let played = self::client().played(player);
    let masked = read(&played, post(&url, &json!({}))).await.unwrap();
    assert_eq!((masked.len(), masked.windows(6).any(|bytes| bytes == b"canary")), (binary.len(), false));
    assert!(text.contains("alt=sse") && text.contains("\"application/json\""), "{text}");
    assert_eq!(std::fs::metadata(place.file()).unwrap().permissions().mode() & 0o777, 0o600);
}

#[tokio::test]
async fn what_is_played_is_what_was_recorded() {
    let place = Place::new("played");
    let bodies: [&[u8]; 3] = ["data: \u{1F600} one\n\n".as_bytes(), b"\x00\x01\xFF\xFE", b""];
    let mut answers: Vec<(Vec<u8>, usize)> =
        bodies.iter().map(|body| (answer("200 OK\r\nx-a: b", body), 1)).collect();
    answers.push((answer("429 Slow", b"wait"), 4096));
    answers.push((b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nhalf".to_vec(), 4096));
    let url = serve(answers).await;
    let recorder = Recorder::create(&place.file(), &json!({"prompt": "hi"}), []).unwrap();
    let recorded = client().recorded(recorder.clone());
    let ask = |number: usize| post(&url, &json!({"n": number, "m": ["a", {"b": "c"}]}));
    for (number, body) in bodies.iter().enumerate() {
        assert_eq!(read(&recorded, ask(number)).await.unwrap(), *body);
    }
    assert_eq!(read(&recorded, ask(3)).await.unwrap(), b"wait");
    assert!(matches!(read(&recorded, ask(4)).await, Err(HttpError::Cut { .. })));
    recorder.finish().await.unwrap();

    let player = Arc::new(Player::open(&place.file()).unwrap());
    assert_eq!(player.run(), &json!({"prompt": "hi"}));
    let played = client().played(Arc::clone(&player));
    for (number, body) in bodies.iter().enumerate() {
        assert_eq!(read(&played, ask(number)).await.unwrap(), *body);
    }
    let limited = played.send(ask(3), &CancellationToken::new()).await.unwrap();
    assert_eq!((limited.status, limited.headers.get("content-length")), (429, Some("4")));
    assert_eq!(player.finish(), Some(Divergence::Fewer { recorded: 5, made: 4 }));
    assert!(matches!(read(&played, ask(4)).await, Err(HttpError::Cut { .. })));
    assert_eq!((player.finish(), player.served()), (None, 5));
    assert!(read(&played, ask(5)).await.is_err());
    assert_eq!(player.finish(), Some(Divergence::More { request: 6 }));
}

#[tokio::test]
async fn the_first_difference_is_named_and_nothing_is_answered_after_it() {
    let place = Place::new("differs");
    let url = serve(vec![(answer("200 OK", b"1"), 99), (answer("200 OK", b"2"), 99)]).await;
    let recorder = Recorder::create(&place.file(), &json!({}), []).unwrap();
    let recorded = client().recorded(recorder.clone());
    let ask = |text: &str| post(&url, &json!({"messages": [{"content": text}]}));
    read(&recorded, ask("in /old on monday")).await.unwrap();
    read(&recorded, ask("again")).await.unwrap();
    recorder.finish().await.unwrap();

    let player = Player::open(&place.file()).unwrap().replacing("/old", "/new");
    let player = Arc::new(player);
    let played = client().played(Arc::clone(&player));
    // Requests that were under way together may come in another order.
    assert_eq!(read(&played, ask("again")).await.unwrap(), b"2");
    let error = read(&played, ask("in /new on friday")).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        "the recording has no answer: request 2 differs at body.messages[0].content"
    );
    let difference = Difference {
        place: "body.messages[0].content".to_owned(),
        expected: "in /new on monday".to_owned(),
        got: "in /new on friday".to_owned(),
    };
    assert_eq!(player.divergence(), Some(Divergence::Differs { request: 2, difference }));
    assert!(read(&played, ask("in /new on monday")).await.is_err());
}

#[tokio::test]
async fn a_file_that_a_dying_process_left_is_read_up_to_there() {
    let place = Place::new("crash");
    let url = serve(vec![(answer("200 OK", b"first"), 99), (answer("200 OK", b"second"), 99)]).await;
    let recorder = Recorder::create(&place.file(), &json!({}), []).unwrap();
    let recorded = client().recorded(recorder.clone());
    for number in 0..2 {
        read(&recorded, post(&url, &json!({"n": number}))).await.unwrap();
    }
    recorder.finish().await.unwrap();
    let whole = std::fs::read(place.file()).unwrap();
    for length in 0..=whole.len() {
        let read = Player::read(&whole[..length]);
        let head = whole.iter().position(|byte| *byte == b'\n').unwrap();
        assert_eq!(read.is_ok(), length >= head, "{length}: {read:?}");
    }
    let middle =
        String::from_utf8(whole).unwrap().replacen("\"type\":\"response\"", "\"type\":\"nonsense\"", 1);
    let error = Player::read(middle.as_bytes()).unwrap_err();
    assert!(error.to_string().starts_with("this is not a recording: line 3: "), "{error}");
}

#[tokio::test]
async fn an_answer_that_nobody_read_to_its_end_breaks_off_when_played() {
    let place = Place::new("dropped");
    let url = serve(vec![(b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\ndata: x\n\n".to_vec(), 99)]).await;
    let recorder = Recorder::create(&place.file(), &json!({}), []).unwrap();
    let recorded = client().recorded(recorder.clone());
    let mut response = recorded.send(post(&url, &json!({})), &CancellationToken::new()).await.unwrap();
    assert_eq!(response.chunk().await.unwrap().unwrap(), "data: x\n\n");
    drop(response);
    recorder.finish().await.unwrap();
    let player = Arc::new(Player::open(&place.file()).unwrap());
    let error = read(&client().played(player), post(&url, &json!({}))).await.unwrap_err();
    assert_eq!(error.to_string(), "the recording has no answer: it breaks off here");
}

#[tokio::test]
async fn a_file_that_exists_is_not_overwritten() {
    let place = Place::new("exists");
    std::fs::write(place.file(), "precious").unwrap();
    let error = Recorder::create(&place.file(), &json!({}), []).unwrap_err();
    assert!(error.to_string().ends_with("it exists already and is not overwritten"), "{error}");
    assert_eq!(std::fs::read_to_string(place.file()).unwrap(), "precious");
    assert!(Recorder::create(&place.0.join("no/such"), &json!({}), []).is_err());
}
