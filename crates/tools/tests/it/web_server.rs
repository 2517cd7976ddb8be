//! A server that answers every request with what a test says, and remembers the requests.

use std::sync::{Arc, Mutex};

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio::task::JoinHandle;

pub struct Server {
    pub url: String,
    pub requests: Arc<Mutex<Vec<String>>>,
    task: JoinHandle<()>,
}

impl Drop for Server {
    fn drop(&mut self) {
        self.task.abort();
    }
}

impl Server {
    /// Answers with these bytes, head included, and closes.
    pub async fn raw(answer: impl Fn(&str) -> Vec<u8> + Send + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        let task = tokio::spawn(async move {
            loop {
                let (mut stream, _) = listener.accept().await.unwrap();
                let Some(request) = read_request(&mut stream).await else { continue };
                let bytes = answer(&request);
                seen.lock().unwrap().push(request);
                let _ = stream.write_all(&bytes).await;
                let _ = stream.shutdown().await;
            }
        });
        Self { url, requests, task }
    }

    /// Answers with a status line, a type and a body.
    pub async fn page(status: &str, content_type: &str, body: impl AsRef<[u8]>) -> Self {
        let head = format!(
            "HTTP/1.1 {status}\r\nContent-Type: {content_type}\r\nContent-Length: {}\r\n\r\n",
            body.as_ref().len()
        );
        let answer = [head.as_bytes(), body.as_ref()].concat();
        Self::raw(move |_| answer.clone()).await
    }

    /// Accepts and says nothing.
    pub async fn silent() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let task = tokio::spawn(async move {
            let mut open = Vec::new();
            loop {
                open.push(listener.accept().await.unwrap());
            }
        });
        Self { url, requests: Arc::default(), task }
    }

    pub fn last_request(&self) -> String {
        self.requests.lock().unwrap().last().cloned().unwrap()
    }
}

async fn read_request(stream: &mut tokio::net::TcpStream) -> Option<String> {
    let mut seen = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        seen.extend_from_slice(&buffer[..count]);
        let text = String::from_utf8_lossy(&seen).into_owned();
        let Some((head, body)) = text.split_once("\r\n\r\n") else { continue };
        let length = head.lines().find_map(|line| {
            line.to_ascii_lowercase()
                .strip_prefix("content-length:")
                .map(|n| n.trim().parse::<usize>().unwrap())
        });
        if body.len() >= length.unwrap_or(0) {
            return Some(text);
        }
    }
}
