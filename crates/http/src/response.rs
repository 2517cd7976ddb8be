//! What comes back: status and headers at once, the body as it arrives.
//!
//! Reading is bounded in time (no byte for too long is an error) and ends when
//! the token with which the request was sent is cancelled.

use std::time::Duration;

use bytes::Bytes;
use tokio_util::sync::CancellationToken;

use crate::error::HttpError;
use crate::failure;
use crate::record::Tape;
use crate::record::player::Answer;
use crate::request::{Request, host_of};

/// Headers in the order they came; names in lower case.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// The first value of a header, by its name in any case.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.0.iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).map(|(_, value)| value.as_str())
    }

    /// All of them.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value.as_str()))
    }
}

impl<N: Into<String>, V: Into<String>> FromIterator<(N, V)> for Headers {
    fn from_iter<I: IntoIterator<Item = (N, V)>>(pairs: I) -> Self {
        Self(
            pairs.into_iter().map(|(name, value)| (name.into().to_ascii_lowercase(), value.into())).collect(),
        )
    }
}

/// How reading a bounded body ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BodyEnd {
    /// All of it was read.
    Whole,
    /// There was more than the limit.
    Truncated,
    /// It broke off.
    Broken(HttpError),
}

/// An answer whose body is still to be read. Dropping it closes the connection.
#[derive(Debug)]
pub struct Response {
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: Headers,
    body: Body,
    host: String,
    idle_timeout: Duration,
    cancel: CancellationToken,
    tape: Option<Tape>,
}

/// Where a body comes from.
#[derive(Debug)]
enum Body {
    Network(reqwest::Response),
    Recording(Answer),
}

impl Response {
    pub(crate) fn new(
        inner: reqwest::Response,
        host: String,
        idle_timeout: Duration,
        cancel: CancellationToken,
    ) -> Self {
        let headers = inner
            .headers()
            .iter()
            .map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes())))
            .collect();
        let status = inner.status().as_u16();
        Self { status, headers, body: Body::Network(inner), host, idle_timeout, cancel, tape: None }
    }

    /// An answer from a recording.
    pub(crate) fn played(
        answer: Answer,
        request: &Request,
        cancel: CancellationToken,
    ) -> Result<Self, HttpError> {
        let (status, headers) = answer.head(request)?;
        let (body, host) = (Body::Recording(answer), host_of(&request.url));
        Ok(Self { status, headers, body, host, idle_timeout: Duration::ZERO, cancel, tape: None })
    }

    /// The answer, written down as it is read.
    pub(crate) fn recorded(mut self, mut tape: Tape) -> Self {
        tape.head(self.status, &self.headers);
        self.tape = Some(tape);
        self
    }

    /// The next bytes of the body; nothing at its end. May be called again
    /// after [`HttpError::Stalled`] to go on waiting.
    pub async fn chunk(&mut self) -> Result<Option<Bytes>, HttpError> {
        if let Some(tape) = &mut self.tape {
            tape.ready().await;
        }
        let read = self.read().await;
        if let Some(tape) = &mut self.tape {
            match &read {
                Ok(Some(bytes)) => tape.chunk(bytes),
                Ok(None) => tape.end(),
                Err(error) => tape.fail(error),
            }
        }
        read
    }

    async fn read(&mut self) -> Result<Option<Bytes>, HttpError> {
        let network = match &mut self.body {
            Body::Network(network) => network,
            Body::Recording(_) if self.cancel.is_cancelled() => return Err(HttpError::Cancelled),
            Body::Recording(answer) => return answer.chunk(&self.host),
        };
        tokio::select! {
            biased;
            () = self.cancel.cancelled() => Err(HttpError::Cancelled),
            read = tokio::time::timeout(self.idle_timeout, network.chunk()) => match read {
                Ok(Ok(bytes)) => Ok(bytes),
                Ok(Err(error)) => Err(failure::of_body(error, &self.host)),
                Err(_) => Err(HttpError::Stalled { host: self.host.clone(), after: self.idle_timeout }),
            },
        }
    }

    /// At most `limit` bytes of the body, and how it ended.
    pub async fn read_limited(&mut self, limit: usize) -> (Vec<u8>, BodyEnd) {
        let mut body = Vec::new();
        loop {
            match self.chunk().await {
                Ok(Some(bytes)) => {
                    let room = limit.saturating_sub(body.len());
                    body.extend(bytes.iter().take(room));
                    if bytes.len() > room {
                        return (body, BodyEnd::Truncated);
                    }
                }
                Ok(None) => return (body, BodyEnd::Whole),
                Err(error) => return (body, BodyEnd::Broken(error)),
            }
        }
    }

    /// Changes for how long the server may be silent from now on.
    pub fn set_idle_timeout(&mut self, limit: Duration) {
        self.idle_timeout = limit;
    }

    /// Host and port that answer.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }
}
