//! A recording served on loopback and asked for with the real client.

use rein_http::replay::{Mismatch, Pace, Recording, Server};
use rein_http::{BodyEnd, CancellationToken, Client, ClientOptions, Method, Request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

const RECORDING: &str = r#"{
  "models": ["demo"],
  "exchanges": [
    {"request": {"contains": ["hello"]},
     "response": {"headers": {"content-type": "text/event-stream"},
                  "chunks": [{"delay_ms": 60000, "text": "data: 1\n\n"}, {"text": "data: 2\n\n"}]}},
    {"response": {"status": 429, "headers": {"retry-after": "1"}, "chunks": [{"text": "slow down"}]}}
  ]
}"#;

async fn post(url: &str, body: &'static str) -> (u16, String) {
    let client = Client::new(ClientOptions::default()).unwrap();
    let request = Request::new(Method::Post, url).unwrap().with_body(body);
    let mut response = client.send(request, &CancellationToken::new()).await.unwrap();
    let (bytes, end) = response.read_limited(1000).await;
    assert_eq!(end, BodyEnd::Whole);
    (response.status, String::from_utf8(bytes).unwrap())
}

#[tokio::test]
async fn exchanges_are_served_in_order_and_differences_are_noted() {
    let server = Server::start(Recording::from_json(RECORDING).unwrap(), Pace::Fast).await.unwrap();
    let url = format!("{}/chat/completions", server.base_url());
    assert_eq!(post(&url, "say hi").await, (200, "data: 1\n\ndata: 2\n\n".to_owned()));
    assert_eq!(post(&url, "again").await, (429, "slow down".to_owned()));
    assert_eq!(post(&url, "too much").await.0, 500);
    assert_eq!(server.served(), 2);
    assert_eq!(
        server.mismatches(),
        [
            Mismatch { exchange: 0, message: "the request does not hold `hello`".to_owned() },
            Mismatch { exchange: 2, message: "the recording has only 2 exchanges".to_owned() },
        ]
    );
}

#[tokio::test]
async fn the_models_of_the_recording_are_listed_without_using_an_exchange() {
    let server = Server::start(Recording::from_json(RECORDING).unwrap(), Pace::Fast).await.unwrap();
    let client = Client::new(ClientOptions::default()).unwrap();
    let request = Request::new(Method::Get, &format!("{}/models", server.base_url())).unwrap();
    let mut response = client.send(request, &CancellationToken::new()).await.unwrap();
    let (body, _) = response.read_limited(1000).await;
    assert_eq!(String::from_utf8(body).unwrap(), r#"{"object":"list","data":[{"id":"demo"}]}"#);
    assert_eq!(server.served(), 0);
}

#[tokio::test]
async fn a_chunked_request_body_is_read() {
    let server = Server::start(Recording::from_json(RECORDING).unwrap(), Pace::Fast).await.unwrap();
    let address = server.base_url().replace("http://", "").replace("/v1", "");
    let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
    stream
        .write_all(b"POST /v1/chat/completions HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\n\r\n3\r\nhel\r\n2;x=y\r\nlo\r\n0\r\n\r\n")
        .await
        .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 "), "{answer}");
    assert_eq!(server.mismatches(), []);
}

#[tokio::test]
async fn a_dropped_server_serves_no_more() {
    let server = Server::start(Recording::from_json(RECORDING).unwrap(), Pace::Recorded).await.unwrap();
    let address = server.base_url().replace("http://", "").replace("/v1", "");
    let mut stream = tokio::net::TcpStream::connect(&address).await.unwrap();
    stream.write_all(b"POST / HTTP/1.1\r\ncontent-length: 0\r\n\r\n").await.unwrap();
    let mut first = [0; 8];
    stream.read_exact(&mut first).await.unwrap();
    drop(server);
    // The recorded delay of a minute is not waited for: the connection ends.
    let mut rest = Vec::new();
    let _ = stream.read_to_end(&mut rest).await;
    assert!(!String::from_utf8_lossy(&rest).contains("data: 1"));
}

#[test]
fn a_broken_recording_says_where() {
    let error = Recording::from_json("{\"exchanges\": [{}]}").unwrap_err();
    assert_eq!(error.to_string(), "this is not a recording: missing field `response` at line 1 column 17");
}
