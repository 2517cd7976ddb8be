//! The lines of a recording, as they are in the file: one JSON object each.
//!
//! Lines of exchanges that happen at the same time come mixed; each has the
//! number of its exchange. A file that a dying process left ends in the middle
//! of a line or of an exchange, and can be read all the same.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde::{Deserialize, Serialize};
use serde_json::Value;

/// The version of this format.
pub(super) const FORMAT: u32 = 1;

/// One line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "snake_case")]
pub(super) enum Line {
    /// First, and once.
    Head { format: u32, program: String, run: Value },
    /// A request, before it was sent.
    Request {
        exchange: u64,
        at_ms: u64,
        method: String,
        url: String,
        headers: Vec<(String, String)>,
        body: Body,
    },
    /// The head of an answer.
    Response { exchange: u64, at_ms: u64, status: u16, headers: Vec<(String, String)> },
    /// The next bytes of its body.
    Chunk { exchange: u64, at_ms: u64, data: Bytes },
    /// The exchange went wrong here.
    Failure { exchange: u64, at_ms: u64, kind: FailureKind, message: String },
    /// The exchange is over.
    End { exchange: u64, at_ms: u64, how: End },
}

/// The body of a request.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Body {
    /// There is none.
    Empty,
    /// As JSON.
    Json(Value),
    /// As text.
    Text(String),
    /// As neither.
    Base64(String),
    /// So many bytes that hold nothing but secrets.
    Withheld(usize),
}

/// Bytes of an answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum Bytes {
    Text(String),
    Base64(String),
    Withheld(usize),
}

impl Bytes {
    pub(super) fn of(bytes: Vec<u8>) -> Self {
        match String::from_utf8(bytes) {
            Ok(text) => Self::Text(text),
            Err(error) => Self::Base64(STANDARD.encode(error.as_bytes())),
        }
    }

    pub(super) fn decode(&self) -> Option<Vec<u8>> {
        match self {
            Self::Text(text) => Some(text.clone().into_bytes()),
            Self::Base64(text) => STANDARD.decode(text).ok(),
            Self::Withheld(_) => Some(Vec::new()),
        }
    }
}

/// How an exchange ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum End {
    /// With the end of the body.
    Whole,
    /// Whoever read it had enough.
    Dropped,
}

/// What went wrong, as far as a program cares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(crate) enum FailureKind {
    Dns,
    Refused,
    Unreachable,
    Tls,
    Proxy,
    ConnectTimeout,
    Stalled,
    Cut,
    Protocol,
    Cancelled,
    Other,
}
