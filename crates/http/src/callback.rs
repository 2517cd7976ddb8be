//! A port of this machine that a browser comes back to at the end of a login.
//!
//! Listens on 127.0.0.1 only. Reads the head of a request and nothing of a
//! body, with limits on its size, its time and the number of connections at
//! once: browsers open some in advance and leave them idle. What a request
//! means is left to the caller, and so is whether it is to be believed.

use std::fmt;
use std::io;
use std::net::Ipv4Addr;
use std::time::Duration;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::error::HttpError;

const LONGEST_HEAD: usize = 16 * 1024;
const READ_TIMEOUT: Duration = Duration::from_secs(10);
const WRITE_TIMEOUT: Duration = Duration::from_secs(5);
/// More connections than this at once are closed unread.
const MOST_CONNECTIONS: usize = 32;

/// A port that waits for a browser. Dropping it closes the port and every connection to it.
#[derive(Debug)]
pub struct CallbackListener {
    listener: TcpListener,
    port: u16,
    reading: JoinSet<Option<CallbackRequest>>,
}

impl CallbackListener {
    /// Opens a port of 127.0.0.1; any that is free for 0.
    pub async fn bind(port: u16) -> Result<Self, HttpError> {
        let failed = |error: io::Error| HttpError::Listen { detail: error.to_string() };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).await.map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(Self { listener, port, reading: JoinSet::new() })
    }

    /// Which port it is.
    #[must_use]
    pub fn port(&self) -> u16 {
        self.port
    }

    /// The next request. Connections that send none are forgotten.
    pub async fn next(&mut self, cancel: &CancellationToken) -> Result<CallbackRequest, HttpError> {
        loop {
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(HttpError::Cancelled),
                Some(read) = self.reading.join_next() => {
                    if let Ok(Some(request)) = read {
                        return Ok(request);
                    }
                }
                accepted = self.listener.accept() => match accepted {
                    Ok((stream, _)) if self.reading.len() < MOST_CONNECTIONS => {
                        self.reading.spawn(receive(stream));
                    }
                    Ok(_) => {}
                    Err(error) => return Err(HttpError::Listen { detail: error.to_string() }),
                },
            }
        }
    }
}

/// A request of a browser. Showing it does not show its query, which holds secrets.
pub struct CallbackRequest {
    path: String,
    query: String,
    stream: TcpStream,
}

impl fmt::Debug for CallbackRequest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CallbackRequest").field("path", &self.path).finish_non_exhaustive()
    }
}

impl CallbackRequest {
    /// The path, as it was sent.
    #[must_use]
    pub fn path(&self) -> &str {
        &self.path
    }

    /// What follows the question mark, as it was sent.
    #[must_use]
    pub fn query(&self) -> &str {
        &self.query
    }

    /// Answers with a line of text. A browser that went away is not told.
    pub async fn answer(mut self, status: u16, text: &str) {
        // Whether the person sees the page changes nothing.
        let _ = tokio::time::timeout(WRITE_TIMEOUT, respond(&mut self.stream, status, text)).await;
    }
}

async fn receive(mut stream: TcpStream) -> Option<CallbackRequest> {
    let head = tokio::time::timeout(READ_TIMEOUT, read_head(&mut stream)).await.ok()??;
    let mut words = head.lines().next().unwrap_or_default().split(' ');
    let (method, target) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
    if method != "GET" || !target.starts_with('/') {
        // As in `answer`.
        let _ = tokio::time::timeout(WRITE_TIMEOUT, respond(&mut stream, 405, "only GET")).await;
        return None;
    }
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    Some(CallbackRequest { path: path.to_owned(), query: query.to_owned(), stream })
}

async fn read_head(stream: &mut TcpStream) -> Option<String> {
    let mut head = Vec::new();
    let mut buffer = [0; 2048];
    loop {
        let count = stream.read(&mut buffer).await.ok().filter(|count| *count > 0)?;
        head.extend(buffer.iter().take(count));
        if head.windows(4).any(|window| window == b"\r\n\r\n") {
            return String::from_utf8(head).ok();
        }
        if head.len() > LONGEST_HEAD {
            return None;
        }
    }
}

async fn respond(stream: &mut TcpStream, status: u16, text: &str) -> io::Result<()> {
    let head = format!(
        "HTTP/1.1 {status} -\r\ncontent-type: text/plain; charset=utf-8\r\ncontent-length: {}\r\n\
         cache-control: no-store\r\nreferrer-policy: no-referrer\r\nconnection: close\r\n\r\n",
        text.len()
    );
    stream.write_all(head.as_bytes()).await?;
    stream.write_all(text.as_bytes()).await?;
    stream.shutdown().await
}
