//! Serves recorded exchanges on loopback, so that what is shown or tested goes
//! through real sockets.
//!
//! Requests that post something are answered with the exchanges of a
//! [`Recording`] in order; a request for the list of models is answered from
//! the recording, too. What a request was expected to hold and did not is
//! noted and does not change the answer. The server ends when it is dropped.

mod connection;

use std::collections::BTreeMap;
use std::net::{Ipv4Addr, SocketAddr};
use std::sync::{Arc, Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use tokio::net::TcpListener;
use tokio::task::{JoinHandle, JoinSet};

use crate::error::HttpError;

/// More connections than this at once are not served.
const MAX_CONNECTIONS: usize = 64;

/// Exchanges, in the order in which they happened.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recording {
    /// The models that the list of models names.
    #[serde(default)]
    pub models: Vec<String>,
    /// One request and its answer each.
    pub exchanges: Vec<Exchange>,
}

/// One request and its answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exchange {
    /// What is expected of the request.
    #[serde(default)]
    pub request: Expectation,
    /// What is answered.
    pub response: RecordedResponse,
}

/// What a request is expected to be.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expectation {
    /// Texts that its body holds.
    #[serde(default)]
    pub contains: Vec<String>,
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordedResponse {
    /// The status code.
    #[serde(default = "success")]
    pub status: u16,
    /// The headers.
    #[serde(default)]
    pub headers: BTreeMap<String, String>,
    /// The body, in the pieces in which it came.
    pub chunks: Vec<Chunk>,
}

/// A piece of a body.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Chunk {
    /// How long it was waited for.
    #[serde(default)]
    pub delay_ms: u64,
    /// The piece.
    pub text: String,
}

fn success() -> u16 {
    200
}

impl Recording {
    /// Reads a recording from JSON.
    pub fn from_json(text: &str) -> Result<Self, HttpError> {
        serde_json::from_str(text).map_err(|error| HttpError::Recording { detail: error.to_string() })
    }
}

/// How fast answers come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Pace {
    /// As they were recorded.
    #[default]
    Recorded,
    /// At once.
    Fast,
}

/// A difference between a request and what was expected of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// Which exchange, counted from 0.
    pub exchange: usize,
    /// What is different, in words.
    pub message: String,
}

/// A running server.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    script: Arc<Script>,
    accepting: JoinHandle<()>,
}

impl Server {
    /// Starts serving on a free port of 127.0.0.1.
    pub async fn start(recording: Recording, pace: Pace) -> Result<Self, HttpError> {
        let fail = |error: std::io::Error| HttpError::Listen { detail: error.to_string() };
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).await.map_err(fail)?;
        let address = listener.local_addr().map_err(fail)?;
        let script = Arc::new(Script { recording, pace, progress: Mutex::default() });
        let accepting = tokio::spawn(accept(listener, Arc::clone(&script)));
        Ok(Self { address, script, accepting })
    }

    /// The address that a provider's paths are appended to.
    #[must_use]
    pub fn base_url(&self) -> String {
        format!("http://{}/v1", self.address)
    }

    /// Where requests were not what was expected, so far.
    #[must_use]
    pub fn mismatches(&self) -> Vec<Mismatch> {
        self.script.progress.lock().unwrap_or_else(PoisonError::into_inner).mismatches.clone()
    }

    /// How many exchanges were served so far.
    #[must_use]
    pub fn served(&self) -> usize {
        self.script.progress.lock().unwrap_or_else(PoisonError::into_inner).next
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        // The task owns the connections' tasks, which end with it.
        self.accepting.abort();
    }
}

/// What is served and how far it has come.
#[derive(Debug)]
struct Script {
    recording: Recording,
    pace: Pace,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    next: usize,
    mismatches: Vec<Mismatch>,
}

impl Script {
    /// The answer to a request, counting it.
    fn answer(&self, request: &connection::Received) -> RecordedResponse {
        if request.method == "GET" {
            return if request.path.ends_with("/models") {
                self.models()
            } else {
                json(404, "there is nothing here")
            };
        }
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let number = progress.next;
        let Some(exchange) = self.recording.exchanges.get(number) else {
            let message = format!("the recording has only {number} exchanges");
            progress.mismatches.push(Mismatch { exchange: number, message: message.clone() });
            return json(500, &message);
        };
        progress.next += 1;
        let body = String::from_utf8_lossy(&request.body);
        for expected in exchange.request.contains.iter().filter(|text| !body.contains(text.as_str())) {
            let message = format!("the request does not hold `{expected}`");
            progress.mismatches.push(Mismatch { exchange: number, message });
        }
        exchange.response.clone()
    }

    fn models(&self) -> RecordedResponse {
        let models: Vec<_> = self.recording.models.iter().map(|id| serde_json::json!({"id": id})).collect();
        body(200, serde_json::json!({"object": "list", "data": models}).to_string())
    }
}

fn json(status: u16, message: &str) -> RecordedResponse {
    body(status, serde_json::json!({"error": {"message": message}}).to_string())
}

fn body(status: u16, text: String) -> RecordedResponse {
    let headers = BTreeMap::from([("content-type".to_owned(), "application/json".to_owned())]);
    RecordedResponse { status, headers, chunks: vec![Chunk { delay_ms: 0, text }] }
}

async fn accept(listener: TcpListener, script: Arc<Script>) {
    let mut connections = JoinSet::new();
    loop {
        while connections.try_join_next().is_some() {}
        match listener.accept().await {
            Ok((stream, _)) if connections.len() < MAX_CONNECTIONS => {
                let script = Arc::clone(&script);
                connections.spawn(async move {
                    if let Err(error) = connection::serve(stream, &script).await {
                        tracing::debug!(%error, "replayed connection");
                    }
                });
            }
            Ok(_) => {}
            Err(error) => {
                tracing::debug!(%error, "replay server");
                tokio::task::yield_now().await;
            }
        }
    }
}
