//! Bedrock's Converse over real sockets: framing, signatures and tokens.

use rein_http::CancellationToken;
use rein_llm::{Catalog, ErrorKind, ModelEvent, ModelRequest};
use rein_protocol::{Content, Finish, Message, ModelRef};
use tokio::io::AsyncWriteExt;

use crate::server::{listen, models, read_request};

const SECRET: &str = "wJalrXUtnFEMI/K7MDENG+bPxRfiCYEXAMPLEKEY";

/// A message as the provider frames it.
pub fn message(kind: &str, payload: &str) -> Vec<u8> {
    let mut head = Vec::new();
    for (name, value) in [(":event-type", kind), (":message-type", "event")] {
        head.push(name.len() as u8);
        head.extend_from_slice(name.as_bytes());
        head.push(7);
        head.extend_from_slice(&(value.len() as u16).to_be_bytes());
        head.extend_from_slice(value.as_bytes());
    }
    let mut bytes = ((head.len() + payload.len() + 16) as u32).to_be_bytes().to_vec();
    bytes.extend_from_slice(&(head.len() as u32).to_be_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
    bytes.extend_from_slice(&head);
    bytes.extend_from_slice(payload.as_bytes());
    bytes.extend_from_slice(&crc32fast::hash(&bytes).to_be_bytes());
    bytes
}

/// Asks once and hands back what was sent and said.
async fn exchange(
    environment: &[(&str, &str)],
    status: &str,
    body: Vec<u8>,
) -> (String, Result<Vec<ModelEvent>, ErrorKind>) {
    let (listener, url) = listen().await;
    let url = url.trim_end_matches("/v1").to_owned();
    let head = format!("HTTP/1.1 {status}\r\ncontent-length: {}\r\n\r\n", body.len());
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let seen = read_request(&mut stream).await;
        stream.write_all(head.as_bytes()).await.unwrap();
        stream.write_all(&body).await.unwrap();
        seen
    });
    let mut environment = environment.to_vec();
    environment.push(("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", &url));
    let models = models(Catalog::bundled(), &environment);
    let model: ModelRef = "bedrock/us.amazon.nova-micro-v1:0".parse().unwrap();
    let request = ModelRequest {
        messages: vec![Message::User { content: vec![Content::text("hi")] }],
        ..ModelRequest::default()
    };
    let said = match models.stream(&model, &request, CancellationToken::new()).await {
        Err(error) => Err(error.kind),
        Ok(mut stream) => {
            let mut events = Vec::new();
            while let Some(batch) = stream.next().await.unwrap() {
                events.extend(batch);
            }
            Ok(events)
        }
    };
    (server.await.unwrap(), said)
}

fn answer() -> Vec<u8> {
    [
        message("contentBlockDelta", r#"{"contentBlockIndex":0,"delta":{"text":"Hi"}}"#),
        message("messageStop", r#"{"stopReason":"end_turn"}"#),
    ]
    .concat()
}

#[tokio::test]
async fn keys_of_an_account_sign_the_request_and_stay_here() {
    let environment = [
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
        ("AWS_SESSION_TOKEN", "session-token"),
        ("AWS_REGION", "eu-west-3"),
    ];
    let (seen, said) = exchange(&environment, "200 OK", answer()).await;
    let text = ModelEvent::TextDelta { part: 0, delta: "Hi".to_owned() };
    assert_eq!(said, Ok(vec![text, ModelEvent::Finished(Finish::Stop)]));
    assert!(
        seen.starts_with("POST /model/us.amazon.nova-micro-v1%3A0/converse-stream HTTP/1.1\r\n"),
        "{seen}"
    );
    let lower = seen.to_lowercase();
    assert!(lower.contains("authorization: aws4-hmac-sha256 credential=akidexample/"), "{seen}");
    assert!(lower.contains("/eu-west-3/bedrock/aws4_request"), "{seen}");
    assert!(
        lower.contains("signedheaders=accept;content-type;host;x-amz-date;x-amz-security-token"),
        "{seen}"
    );
    assert!(lower.contains("x-amz-security-token: session-token"), "{seen}");
    assert!(!seen.contains(SECRET));
}

#[tokio::test]
async fn a_token_is_preferred_and_sent_as_a_bearers() {
    let environment = [
        ("AWS_BEARER_TOKEN_BEDROCK", "bedrock-token"),
        ("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"),
        ("AWS_SECRET_ACCESS_KEY", SECRET),
    ];
    let (seen, said) = exchange(&environment, "200 OK", answer()).await;
    assert!(said.is_ok());
    assert!(seen.contains("authorization: Bearer bedrock-token\r\n"), "{seen}");
    assert!(!seen.to_lowercase().contains("x-amz-date"), "{seen}");
}

#[tokio::test]
async fn an_error_says_its_kind_in_a_header() {
    let environment = [("AWS_BEARER_TOKEN_BEDROCK", "bedrock-token")];
    let body = br#"{"message":"Oh no."}"#.to_vec();
    let status = "400 Bad Request\r\nx-amzn-errortype: ThrottlingException:http://internal.amazon.com/";
    assert_eq!(exchange(&environment, status, body).await.1, Err(ErrorKind::RateLimit));
}

#[tokio::test]
async fn an_account_is_the_last_resort_when_no_model_is_named() {
    let account = [("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE"), ("AWS_SECRET_ACCESS_KEY", SECRET)];
    let keyed = [account[0], account[1], ("GROQ_API_KEY", "gsk-123456")];
    let chosen = models(Catalog::bundled(), &keyed).choose(None, &CancellationToken::new()).await;
    assert_eq!(chosen.unwrap().provider, "groq");
    let named = models(Catalog::bundled(), &account)
        .choose(Some("bedrock/us.amazon.nova-pro-v1:0"), &CancellationToken::new())
        .await;
    assert_eq!(named.unwrap().provider, "bedrock");
}

#[test]
fn the_region_is_part_of_the_address_and_must_be_sound() {
    let address = |region: &str| {
        let environment = [("AWS_BEARER_TOKEN_BEDROCK", "bedrock-token"), ("AWS_REGION", region)];
        let model: ModelRef = "bedrock/m".parse().unwrap();
        models(Catalog::bundled(), &environment).resolve(&model).unwrap().base_url
    };
    assert_eq!(address("eu-west-3"), "https://bedrock-runtime.eu-west-3.amazonaws.com");
    assert_eq!(address("evil.example/?"), "https://bedrock-runtime.us-east-1.amazonaws.com");
    let bare = models(Catalog::bundled(), &[]).resolve(&"bedrock/m".parse().unwrap()).unwrap_err();
    assert_eq!(bare.kind, ErrorKind::Auth);
    let message = "there is no key for `bedrock`: AWS_BEARER_TOKEN_BEDROCK or AWS_ACCESS_KEY_ID with \
                   AWS_SECRET_ACCESS_KEY is not set";
    assert_eq!(bare.message, message);
}
