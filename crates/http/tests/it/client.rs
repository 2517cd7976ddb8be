//! The client against real sockets on loopback: good servers, slow ones and broken ones.

use std::time::Duration;

use rein_http::{BodyEnd, CancellationToken, Client, ClientOptions, HttpError, Method, Request};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::server::{answer_once, listen, read_request};

fn client() -> Client {
    Client::new(ClientOptions::default()).unwrap()
}

fn get(url: &str) -> Request {
    Request::new(Method::Get, url).unwrap()
}

#[tokio::test]
async fn a_request_arrives_as_it_was_built_and_the_answer_comes_back() {
    let (url, server) =
        answer_once("HTTP/1.1 429 Slow\r\nRetry-After: 7\r\nContent-Length: 4\r\n\r\nwait").await;
    let request = Request::new(Method::Post, &format!("{url}/v1/chat?x=1"))
        .unwrap()
        .with_secret_header("authorization", "Bearer sk-1")
        .unwrap()
        .with_body("{\"a\":1}");
    let mut response = client().send(request, &CancellationToken::new()).await.unwrap();
    assert_eq!((response.status, response.headers.get("retry-after")), (429, Some("7")));
    assert_eq!(response.read_limited(100).await, (b"wait".to_vec(), BodyEnd::Whole));
    let seen = server.await.unwrap();
    assert!(seen.starts_with("POST /v1/chat?x=1 HTTP/1.1\r\n"), "{seen}");
    assert!(seen.contains("authorization: Bearer sk-1\r\n"), "{seen}");
    assert!(seen.contains("user-agent: rein/"), "{seen}");
    assert!(seen.ends_with("\r\n\r\n{\"a\":1}"), "{seen}");
}

#[tokio::test]
async fn a_redirect_is_returned_and_not_followed() {
    let (url, server) = answer_once(
        "HTTP/1.1 307 Elsewhere\r\nLocation: http://127.0.0.1:1/steal\r\nContent-Length: 0\r\n\r\n",
    )
    .await;
    let request = Request::new(Method::Post, &url).unwrap().with_body("x");
    let response = client().send(request, &CancellationToken::new()).await.unwrap();
    assert_eq!((response.status, response.headers.get("location")), (307, Some("http://127.0.0.1:1/steal")));
    server.await.unwrap();
}

#[tokio::test]
async fn an_endless_body_is_read_up_to_the_limit() {
    let (listener, url) = listen().await;
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n").await.unwrap();
        while stream.write_all(&[b'x'; 1024]).await.is_ok() {}
    });
    let mut response = client().send(get(&url), &CancellationToken::new()).await.unwrap();
    let (body, end) = response.read_limited(10_000).await;
    assert_eq!((body.len(), end), (10_000, BodyEnd::Truncated));
    drop(response);
    server.await.unwrap();
}

#[tokio::test]
async fn a_body_cut_in_the_middle_is_told_from_its_end() {
    for head in ["Content-Length: 100", "Transfer-Encoding: chunked"] {
        let (listener, url) = listen().await;
        let server = tokio::spawn(async move {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_request(&mut stream).await;
            stream
                .write_all(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n5\r\nhello\r\n").as_bytes())
                .await
                .unwrap();
        });
        let mut response = client().send(get(&url), &CancellationToken::new()).await.unwrap();
        let host = response.host().to_owned();
        let (body, end) = response.read_limited(1000).await;
        assert!(body.ends_with(b"hello") || body.ends_with(b"hello\r\n"), "{body:?}");
        assert_eq!(end, BodyEnd::Broken(HttpError::Cut { host }), "{head}");
        server.await.unwrap();
    }
}

#[tokio::test]
async fn a_connection_closed_before_the_head_is_a_cut() {
    let (listener, url) = listen().await;
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
    });
    let error = client().send(get(&url), &CancellationToken::new()).await.unwrap_err();
    assert!(matches!(error, HttpError::Cut { .. }), "{error:?}");
    server.await.unwrap();
}

#[tokio::test]
async fn silence_is_a_stall_and_reading_can_go_on() {
    let (listener, url) = listen().await;
    let (go_on, wait) = tokio::sync::oneshot::channel::<()>();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\na").await.unwrap();
        wait.await.unwrap();
        stream.write_all(b"b").await.unwrap();
    });
    let request = get(&url).with_idle_timeout(Duration::from_millis(50));
    let mut response = client().send(request, &CancellationToken::new()).await.unwrap();
    assert_eq!(response.chunk().await.unwrap().unwrap(), "a");
    assert!(matches!(response.chunk().await, Err(HttpError::Stalled { .. })));
    go_on.send(()).unwrap();
    response.set_idle_timeout(Duration::from_secs(60));
    assert_eq!(response.chunk().await.unwrap().unwrap(), "b");
    assert_eq!(response.chunk().await, Ok(None));
    server.await.unwrap();
}

#[tokio::test]
async fn a_server_that_never_answers_is_a_stall() {
    let (listener, url) = listen().await;
    let request = get(&url).with_idle_timeout(Duration::from_millis(50));
    let error = client().send(request, &CancellationToken::new()).await.unwrap_err();
    assert!(matches!(error, HttpError::Stalled { .. }), "{error:?}");
    drop(listener);
}

#[tokio::test]
async fn cancelling_ends_waiting_and_closes_the_connection() {
    let (listener, url) = listen().await;
    let cancel = CancellationToken::new();
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        read_request(&mut stream).await;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nx").await.unwrap();
        let mut rest = Vec::new();
        stream.read_to_end(&mut rest).await.unwrap()
    });
    let mut response = client().send(get(&url), &cancel).await.unwrap();
    assert_eq!(response.chunk().await.unwrap().unwrap(), "x");
    let (waiting, ()) = tokio::join!(response.chunk(), async { cancel.cancel() });
    assert_eq!(waiting, Err(HttpError::Cancelled));
    drop(response);
    assert_eq!(server.await.unwrap(), 0);
    assert_eq!(client().send(get(&url), &cancel).await.unwrap_err(), HttpError::Cancelled);
}

#[tokio::test]
async fn nobody_listening_is_a_refused_connection() {
    let (listener, url) = listen().await;
    let host = listener.local_addr().unwrap().to_string();
    drop(listener);
    assert_eq!(
        client().send(get(&url), &CancellationToken::new()).await.unwrap_err(),
        HttpError::Refused { host }
    );
}

#[tokio::test]
async fn an_unknown_host_name_is_named() {
    let options = ClientOptions { proxy: rein_http::ProxyMode::Direct, ..ClientOptions::default() };
    let error = Client::new(options)
        .unwrap()
        .send(get("http://nowhere.invalid/"), &CancellationToken::new())
        .await
        .unwrap_err();
    assert_eq!(error, HttpError::Dns { host: "nowhere.invalid".to_owned() });
}

#[tokio::test]
async fn tls_to_a_server_that_speaks_none_is_a_tls_failure() {
    let (listener, url) = listen().await;
    let server = tokio::spawn(async move {
        let (mut stream, _) = listener.accept().await.unwrap();
        let mut buffer = [0; 64];
        let _ = stream.read(&mut buffer).await;
        stream.write_all(b"HTTP/1.1 400 Bad Request\r\n\r\n").await.unwrap();
    });
    let url = url.replace("http://", "https://");
    let options = ClientOptions { proxy: rein_http::ProxyMode::Direct, ..ClientOptions::default() };
    let error = Client::new(options).unwrap().send(get(&url), &CancellationToken::new()).await.unwrap_err();
    assert!(matches!(error, HttpError::Tls { .. }), "{error:?}");
    server.await.unwrap();
}

#[tokio::test]
async fn an_answer_that_is_not_http_is_said_to_be_none() {
    let (url, server) = answer_once("SSH-2.0-OpenSSH_9.9\r\n").await;
    let error = client().send(get(&url), &CancellationToken::new()).await.unwrap_err();
    assert!(matches!(error, HttpError::Protocol { .. }), "{error:?}");
    server.await.unwrap();
}

#[test]
fn a_certificate_file_is_checked_when_the_client_is_made() {
    let missing = std::path::PathBuf::from("/nonexistent/authorities.pem");
    let options = ClientOptions { certificate_file: Some(missing.clone()), ..ClientOptions::default() };
    match Client::new(options) {
        Err(HttpError::CertificateFile { path, .. }) => assert_eq!(path, missing),
        other => panic!("{other:?}"),
    }
    let not_pem = std::path::PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml"));
    let options = ClientOptions { certificate_file: Some(not_pem), ..ClientOptions::default() };
    assert!(matches!(Client::new(options), Err(HttpError::CertificateFile { .. })));
}

#[tokio::test]
async fn a_proxy_that_is_set_is_used_and_named_when_it_fails() {
    let (url, server) = answer_once("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi").await;
    let through = |proxy: String| {
        let proxy = rein_http::ProxyMode::Url(proxy);
        Client::new(ClientOptions { proxy, ..ClientOptions::default() }).unwrap()
    };
    let address = url.replace("http://", "http://user:secret@");
    let response =
        through(address).send(get("http://host.invalid/path"), &CancellationToken::new()).await.unwrap();
    assert_eq!(response.status, 200);
    let seen = server.await.unwrap();
    assert!(seen.starts_with("GET http://host.invalid/path HTTP/1.1\r\n"), "{seen}");

    let (listener, gone) = listen().await;
    drop(listener);
    let error = through(gone.clone())
        .send(get("https://host.invalid/"), &CancellationToken::new())
        .await
        .unwrap_err();
    match error {
        HttpError::Proxy { host, proxy, .. } => {
            assert_eq!((host.as_str(), proxy), ("host.invalid", gone.replace("http://", "")));
        }
        other => panic!("{other:?}"),
    }
}
