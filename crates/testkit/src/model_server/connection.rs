//! One connection: HTTP/1 requests off it, bytes onto it, and whether the
//! client is still there.
//!
//! Knows nothing of models. Invariant: a byte that arrives while an answer is
//! being sent is kept for the next request.

use std::fmt;
use std::io;

use serde_json::Value;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::net::tcp::ReadHalf;

use super::request::RecordedRequest;

const HEAD_LIMIT: usize = 1 << 20;

/// The client closed or reset the connection.
#[derive(Debug)]
pub(crate) struct ClientGone;

/// Why bytes are not a request.
#[derive(Debug)]
pub(crate) struct Malformed(String);

impl fmt::Display for Malformed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "malformed HTTP request: {}", self.0)
    }
}

/// Whether another request may follow on the connection.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum Persistence {
    KeepAlive,
    Close,
}

pub(crate) struct Connection {
    stream: TcpStream,
    inbox: Vec<u8>,
}

impl Connection {
    pub(crate) fn new(stream: TcpStream) -> io::Result<Self> {
        stream.set_nodelay(true)?;
        Ok(Self { stream, inbox: Vec::new() })
    }

    /// The next request, or none if the client has closed the connection between two.
    pub(crate) async fn next_request(&mut self) -> Result<Option<(RecordedRequest, Persistence)>, Malformed> {
        let Some(head_length) = self.receive_head().await? else { return Ok(None) };
        let head = parse_head(&self.inbox[..head_length])?;
        if head.header("expect").is_some_and(|value| value.eq_ignore_ascii_case("100-continue")) {
            let interim = self.stream.write_all(b"HTTP/1.1 100 Continue\r\n\r\n").await;
            interim.map_err(|error| Malformed(error.to_string()))?;
        }
        let (body_bytes, end) = if head.header("transfer-encoding").is_some() {
            self.receive_chunks(head_length).await?
        } else {
            let length = head.content_length()?;
            self.receive(head_length + length).await?;
            (self.inbox[head_length..head_length + length].to_vec(), head_length + length)
        };
        let raw: Vec<u8> = self.inbox.drain(..end).collect();
        let persistence = head.persistence();
        let (path, query) = head.target.split_once('?').unwrap_or((&head.target, ""));
        let request = RecordedRequest {
            method: head.method.clone(),
            path: path.to_owned(),
            query: query.to_owned(),
            body: serde_json::from_slice(&body_bytes).unwrap_or(Value::Null),
            headers: head.headers,
            body_bytes,
            raw,
            said: Vec::new(),
            tools: Vec::new(),
        };
        Ok(Some((request, persistence)))
    }

    /// Writes all of it, unless the client goes away meanwhile.
    pub(crate) async fn send(&mut self, bytes: &[u8]) -> Result<(), ClientGone> {
        let (mut reader, mut writer) = self.stream.split();
        tokio::select! {
            biased;
            () = gone(&mut reader, &mut self.inbox) => Err(ClientGone),
            written = writer.write_all(bytes) => written.map_err(|_| ClientGone),
        }
    }

    /// Waits for something, unless the client goes away meanwhile.
    pub(crate) async fn hold<T>(&mut self, wait: impl Future<Output = T>) -> Result<T, ClientGone> {
        let (mut reader, _) = self.stream.split();
        tokio::select! {
            biased;
            () = gone(&mut reader, &mut self.inbox) => Err(ClientGone),
            value = wait => Ok(value),
        }
    }

    /// Makes dropping this connection a reset instead of an orderly end.
    pub(crate) fn reset_on_drop(&self) {
        // If it cannot be set the client sees an end instead: still a broken answer.
        let _ = self.stream.set_zero_linger();
    }

    /// Reads until the inbox has a whole head; its length, or none at an orderly end.
    async fn receive_head(&mut self) -> Result<Option<usize>, Malformed> {
        let mut searched = 0;
        loop {
            if let Some(place) = find(&self.inbox[searched..], b"\r\n\r\n") {
                return Ok(Some(searched + place + 4));
            }
            searched = self.inbox.len().saturating_sub(3);
            if self.inbox.len() > HEAD_LIMIT {
                return Err(Malformed(format!("no end of the head within {HEAD_LIMIT} bytes")));
            }
            match self.stream.read_buf(&mut self.inbox).await {
                Ok(0) | Err(_) if self.inbox.is_empty() => return Ok(None),
                Ok(0) => return Err(Malformed("it ends inside the head".to_owned())),
                Ok(_) => {}
                Err(error) => return Err(Malformed(error.to_string())),
            }
        }
    }

    /// Reads until the inbox has `length` bytes.
    async fn receive(&mut self, length: usize) -> Result<(), Malformed> {
        while self.inbox.len() < length {
            self.inbox.reserve(length - self.inbox.len());
            match self.stream.read_buf(&mut self.inbox).await {
                Ok(0) => return Err(Malformed("it ends inside the body".to_owned())),
                Ok(_) => {}
                Err(error) => return Err(Malformed(error.to_string())),
            }
        }
        Ok(())
    }

    /// Reads a chunked body that begins at `start`; the body and the place after it.
    async fn receive_chunks(&mut self, start: usize) -> Result<(Vec<u8>, usize), Malformed> {
        let mut body = Vec::new();
        let mut place = start;
        loop {
            let line = self.receive_line(place).await?;
            let size_text = String::from_utf8_lossy(&self.inbox[place..line]).into_owned();
            let digits = size_text.split(';').next().unwrap_or_default().trim();
            let size = usize::from_str_radix(digits, 16)
                .map_err(|_| Malformed(format!("`{size_text}` is not the size of a chunk")))?;
            place = line + 2;
            self.receive(place + size + 2).await?;
            if size == 0 {
                return Ok((body, place + 2));
            }
            body.extend_from_slice(&self.inbox[place..place + size]);
            place += size + 2;
        }
    }

    /// Reads until there is a whole line from `start` on; where its end begins.
    async fn receive_line(&mut self, start: usize) -> Result<usize, Malformed> {
        loop {
            if let Some(place) = find(&self.inbox[start..], b"\r\n") {
                return Ok(start + place);
            }
            self.receive(self.inbox.len() + 1).await?;
        }
    }
}

/// Returns when the client has closed its side; what it sends meanwhile is kept.
async fn gone(reader: &mut ReadHalf<'_>, inbox: &mut Vec<u8>) {
    while matches!(reader.read_buf(inbox).await, Ok(count) if count > 0) {}
}

fn find(bytes: &[u8], pattern: &[u8]) -> Option<usize> {
    bytes.windows(pattern.len()).position(|window| window == pattern)
}

struct Head {
    method: String,
    target: String,
    version: String,
    headers: Vec<(String, String)>,
}

fn parse_head(bytes: &[u8]) -> Result<Head, Malformed> {
    let text = std::str::from_utf8(bytes).map_err(|_| Malformed("the head is not UTF-8".to_owned()))?;
    let mut lines = text.split("\r\n").filter(|line| !line.is_empty());
    let start = lines.next().unwrap_or_default();
    let [method, target, version] = start.split(' ').collect::<Vec<&str>>()[..] else {
        return Err(Malformed(format!("`{start}` is not a request line")));
    };
    let headers = lines
        .map(|line| match line.split_once(':') {
            Some((name, value)) => Ok((name.to_ascii_lowercase(), value.trim().to_owned())),
            None => Err(Malformed(format!("`{line}` is not a header"))),
        })
        .collect::<Result<Vec<_>, _>>()?;
    Ok(Head { method: method.to_owned(), target: target.to_owned(), version: version.to_owned(), headers })
}

impl Head {
    fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(known, _)| known == name).map(|(_, value)| value.as_str())
    }

    fn content_length(&self) -> Result<usize, Malformed> {
        match self.header("content-length") {
            None => Ok(0),
            Some(text) => text.parse().map_err(|_| Malformed(format!("`{text}` is not a content length"))),
        }
    }

    fn persistence(&self) -> Persistence {
        let connection = self.header("connection").unwrap_or_default().to_ascii_lowercase();
        match self.version.as_str() {
            "HTTP/1.1" if !connection.contains("close") => Persistence::KeepAlive,
            _ => Persistence::Close,
        }
    }
}
