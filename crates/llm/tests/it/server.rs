//! Servers that do exactly what a test tells them to.

use std::collections::HashMap;

use rein_http::{Client, ClientOptions};
use rein_llm::{Catalog, Models};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;

pub async fn listen() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/v1", listener.local_addr().unwrap());
    (listener, url)
}

/// Reads a request up to the end of its announced body.
pub async fn read_request(stream: &mut TcpStream) -> String {
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).await.unwrap();
        assert_ne!(count, 0, "the client hung up");
        seen.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&seen).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head
            .lines()
            .find_map(|line| {
                line.to_ascii_lowercase()
                    .strip_prefix("content-length:")
                    .map(|n| n.trim().parse::<usize>().unwrap())
            })
            .unwrap_or(0);
        if body.len() >= length {
            return text;
        }
    }
}

/// Answers every request with the same bytes and closes each connection.
pub async fn answer_always(bytes: String) -> (String, JoinHandle<()>) {
    let (listener, url) = listen().await;
    let task = tokio::spawn(async move {
        loop {
            let (mut stream, _) = listener.accept().await.unwrap();
            read_request(&mut stream).await;
            let _ = stream.write_all(bytes.as_bytes()).await;
            let _ = stream.shutdown().await;
        }
    });
    (url, task)
}

/// An answer with a status, headers and a body.
pub fn answer(status: &str, headers: &str, body: &str) -> String {
    format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\n\r\n{body}", body.len())
}

/// Models with the given environment.
pub fn models(catalog: Catalog, environment: &[(&str, &str)]) -> Models {
    let environment: HashMap<String, String> =
        environment.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    let http = Client::new(ClientOptions::default()).unwrap();
    Models::new(http, catalog, move |name| environment.get(name).cloned())
}
