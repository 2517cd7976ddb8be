//! The port that a browser comes back to.

use rein_http::{CallbackListener, CancellationToken, HttpError};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

async fn send(port: u16, bytes: &[u8]) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    stream.write_all(bytes).await.unwrap();
    stream
}

#[tokio::test]
async fn a_browser_is_heard_although_idle_connections_and_nonsense_came_before() {
    let mut listener = CallbackListener::bind(0).await.unwrap();
    let port = listener.port();
    let _idle = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let _half = send(port, b"GET /half").await;
    let mut posting = send(port, b"POST /callback HTTP/1.1\r\n\r\n").await;
    drop(send(port, b"\x16\x03\x01 nonsense").await);
    let mut browser = send(port, b"GET /callback?code=hunter2&state=s HTTP/1.1\r\nHost: x\r\n\r\n").await;
    let request = listener.next(&CancellationToken::new()).await.unwrap();
    assert_eq!((request.path(), request.query()), ("/callback", "code=hunter2&state=s"));
    assert!(!format!("{request:?}").contains("hunter2"));
    request.answer(200, "done").await;
    let mut answer = String::new();
    browser.read_to_string(&mut answer).await.unwrap();
    assert!(answer.starts_with("HTTP/1.1 200 ") && answer.ends_with("\r\n\r\ndone"), "{answer}");
    let mut refusal = String::new();
    posting.read_to_string(&mut refusal).await.unwrap();
    assert!(refusal.starts_with("HTTP/1.1 405 "), "{refusal}");
}

#[tokio::test]
async fn a_head_without_end_is_not_read_forever() {
    let mut listener = CallbackListener::bind(0).await.unwrap();
    let port = listener.port();
    let mut flood = send(port, b"GET /x HTTP/1.1\r\n").await;
    let flooding = tokio::spawn(async move { while flood.write_all(&[b'x'; 4096]).await.is_ok() {} });
    let next = tokio::spawn(async move { listener.next(&CancellationToken::new()).await });
    flooding.await.unwrap();
    drop(send(port, b"GET /after HTTP/1.1\r\n\r\n").await);
    assert_eq!(next.await.unwrap().unwrap().path(), "/after");
}

#[tokio::test]
async fn waiting_for_a_browser_can_be_cancelled_and_a_port_is_had_once() {
    let mut listener = CallbackListener::bind(0).await.unwrap();
    assert!(matches!(CallbackListener::bind(listener.port()).await, Err(HttpError::Listen { .. })));
    let cancel = CancellationToken::new();
    cancel.cancel();
    assert_eq!(listener.next(&cancel).await.unwrap_err(), HttpError::Cancelled);
}
