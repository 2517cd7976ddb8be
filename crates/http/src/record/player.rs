//! Answers requests from a recording, without a network.
//!
//! Requests are compared with those of the recording, in order; those that
//! were sent at the same time may come in another order. The first that is not
//! what it was is noted and gets an error that nobody tries again after, and so
//! does every request after it.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::path::Path;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use bytes::Bytes;
use serde_json::Value;

use super::difference::{self, Difference};
use super::line::{Body, End, FORMAT, FailureKind, Line};
use super::mask::{MASK, Mask};
use crate::error::HttpError;
use crate::request::{Method, Request, host_of};
use crate::response::Headers;

/// How many requests ahead one is looked for that comes in another order.
const AHEAD: usize = 8;

/// A recording that answers requests.
pub struct Player {
    run: Value,
    exchanges: Vec<Recorded>,
    replacements: Vec<(String, String)>,
    progress: Mutex<Progress>,
}

#[derive(Debug, Default)]
struct Progress {
    used: Vec<bool>,
    served: usize,
    divergence: Option<Divergence>,
}

/// One exchange as it was.
#[derive(Debug, Clone, PartialEq)]
struct Recorded {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: Body,
    answer: Answer,
}

/// What a request is answered with.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) struct Answer {
    pub(crate) status: Option<u16>,
    pub(crate) headers: Vec<(String, String)>,
    pub(crate) chunks: VecDeque<Bytes>,
    pub(crate) end: AnswerEnd,
}

/// How an answer ends.
#[derive(Debug, Clone, PartialEq, Default)]
pub(crate) enum AnswerEnd {
    Whole,
    Failed(FailureKind),
    /// Nobody wanted more of it, or nobody was left to.
    #[default]
    Unknown,
}

/// How what happens differs from what was recorded.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Divergence {
    /// A request is not what it was.
    Differs {
        /// Which, counted from one.
        request: usize,
        /// Where.
        difference: Difference,
    },
    /// A request was not made before.
    More {
        /// Which, counted from one.
        request: usize,
    },
    /// Requests were made before, and are not now.
    Fewer {
        /// How many there were.
        recorded: usize,
        /// How many there are.
        made: usize,
    },
}

impl fmt::Display for Divergence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Differs { request, difference: Difference { place, .. } } => {
                write!(f, "request {request} differs at {place}")
            }
            Self::More { request } => {
                write!(
                    f,
                    "request {request} was not made when it was recorded: there were only {}",
                    request - 1
                )
            }
            Self::Fewer { recorded, made } => {
                write!(f, "{made} requests were made, and {recorded} when it was recorded")
            }
        }
    }
}

impl fmt::Debug for Player {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Player").field("exchanges", &self.exchanges.len()).finish_non_exhaustive()
    }
}

impl Player {
    /// Reads a recording. The end of the file may be missing.
    pub fn open(path: &Path) -> Result<Self, HttpError> {
        let bytes = std::fs::read(path)
            .map_err(|error| HttpError::RecordFile { path: path.to_owned(), reason: error.to_string() })?;
        Self::read(&bytes)
    }

    /// The same, from its bytes.
    pub fn read(bytes: &[u8]) -> Result<Self, HttpError> {
        let mut lines = bytes.split_inclusive(|byte| *byte == b'\n').enumerate();
        let head = lines.next().and_then(|(_, line)| serde_json::from_slice(line).ok());
        let run = match head {
            Some(Line::Head { format: FORMAT, run, .. }) => run,
            Some(Line::Head { format, .. }) => {
                return Err(wrong(format!("it is of version {format}, and only {FORMAT} can be read")));
            }
            _ => return Err(wrong("its first line is not the head of one".to_owned())),
        };
        let mut exchanges = BTreeMap::new();
        for (number, line) in lines {
            match serde_json::from_slice(line) {
                Ok(line) => take(line, &mut exchanges)
                    .map_err(|reason| wrong(format!("line {}: {reason}", number + 1)))?,
                // Whoever wrote it died over it.
                Err(_) if !line.ends_with(b"\n") => break,
                Err(error) => return Err(wrong(format!("line {}: {error}", number + 1))),
            }
        }
        let exchanges: Vec<Recorded> = exchanges.into_values().collect();
        let progress = Progress { used: vec![false; exchanges.len()], ..Progress::default() };
        Ok(Self { run, exchanges, replacements: Vec::new(), progress: Mutex::new(progress) })
    }

    /// What was said of the run when it was recorded.
    #[must_use]
    pub fn run(&self) -> &Value {
        &self.run
    }

    /// Takes one text for another in what was recorded: what is bound to differ, such as a directory or a date.
    #[must_use]
    pub fn replacing(mut self, recorded: &str, with: &str) -> Self {
        if !recorded.is_empty() && recorded != with {
            self.replacements.push((recorded.to_owned(), with.to_owned()));
        }
        self
    }

    /// How many requests were answered as recorded.
    #[must_use]
    pub fn served(&self) -> usize {
        self.progress().served
    }

    /// The first divergence so far.
    #[must_use]
    pub fn divergence(&self) -> Option<Divergence> {
        self.progress().divergence.clone()
    }

    /// The first divergence, now that no more requests are made. What was only looked up need not be looked up again.
    #[must_use]
    pub fn finish(&self) -> Option<Divergence> {
        let progress = self.progress();
        let recorded = self.exchanges.iter().filter(|exchange| exchange.method != "GET").count();
        let missing =
            self.exchanges.iter().zip(&progress.used).any(|(one, used)| one.method != "GET" && !used);
        progress
            .divergence
            .clone()
            .or_else(|| missing.then_some(Divergence::Fewer { recorded, made: progress.served }))
    }

    /// The answer to a request.
    pub(crate) fn answer(&self, request: &Request) -> Result<Answer, HttpError> {
        let asked = Asked::of(request);
        let mut progress = self.progress();
        if let Some(divergence) = &progress.divergence {
            return Err(HttpError::Replay { detail: divergence.to_string() });
        }
        let kind = |exchange: &Recorded| (exchange.method == "GET") == (request.method == Method::Get);
        let open: Vec<(usize, &Recorded)> = self
            .exchanges
            .iter()
            .enumerate()
            .filter(|(at, exchange)| kind(exchange) && progress.used.get(*at) == Some(&false))
            .take(AHEAD)
            .collect();
        let same = open.iter().find(|(_, exchange)| self.difference(exchange, &asked).is_none());
        if let Some((at, exchange)) = same {
            if let Some(used) = progress.used.get_mut(*at) {
                *used = true;
            }
            progress.served += usize::from(request.method != Method::Get);
            return Ok(exchange.answer.clone());
        }
        if request.method == Method::Get {
            return Err(HttpError::Replay { detail: format!("nothing was recorded from {}", asked.url) });
        }
        let number = progress.served + 1;
        let difference = open.first().and_then(|(_, exchange)| self.difference(exchange, &asked));
        let divergence = match difference {
            Some(difference) => Divergence::Differs { request: number, difference },
            None => Divergence::More { request: number },
        };
        let detail = divergence.to_string();
        progress.divergence = Some(divergence);
        Err(HttpError::Replay { detail })
    }

    fn difference(&self, recorded: &Recorded, asked: &Asked) -> Option<Difference> {
        difference::texts("method", &recorded.method, &asked.method)
            .or_else(|| difference::texts("url", &recorded.url, &asked.url))
            .or_else(|| {
                let plain = recorded.headers.iter().filter(|(_, value)| value != MASK);
                plain.into_iter().find_map(|(name, value)| {
                    let place = format!("headers.{name}");
                    let other = asked.headers.iter().find(|(known, _)| known == name);
                    difference::texts(&place, value, other.map_or("", |(_, value)| value))
                })
            })
            .or_else(|| match (&recorded.body, &asked.body) {
                (Body::Json(before), Body::Json(now)) => {
                    difference::first("body", &self.replaced(before.clone()), now)
                }
                (Body::Withheld(_), _) => None,
                (before, now) if before == now => None,
                (before, now) => difference::texts("body", &format!("{before:?}"), &format!("{now:?}")),
            })
    }

    fn replaced(&self, value: Value) -> Value {
        match value {
            Value::String(text) => {
                let replace = |text: String, (from, to): &(String, String)| text.replace(from.as_str(), to);
                Value::String(self.replacements.iter().fold(text, replace))
            }
            Value::Array(items) => items.into_iter().map(|item| self.replaced(item)).collect(),
            Value::Object(fields) => {
                Value::Object(fields.into_iter().map(|(name, value)| (name, self.replaced(value))).collect())
            }
            plain => plain,
        }
    }

    fn progress(&self) -> MutexGuard<'_, Progress> {
        self.progress.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// A request in the form in which requests are recorded.
struct Asked {
    method: String,
    url: String,
    headers: Vec<(String, String)>,
    body: Body,
}

impl Asked {
    fn of(request: &Request) -> Self {
        let mask = Mask::default();
        Self {
            method: request.method.to_library().to_string(),
            url: mask.url(&request.url),
            headers: super::request_headers(request, &mask),
            body: super::request_body(request, &mask, super::Form::No),
        }
    }
}

fn wrong(detail: String) -> HttpError {
    HttpError::Recording { detail }
}

/// Adds a line to its exchange.
fn take(line: Line, exchanges: &mut BTreeMap<u64, Recorded>) -> Result<(), String> {
    match line {
        Line::Head { .. } => return Err("there is a second head".to_owned()),
        Line::Request { exchange, method, url, headers, body, .. } => {
            exchanges.insert(exchange, Recorded { method, url, headers, body, answer: Answer::default() });
        }
        Line::Response { exchange, status, headers, .. } => {
            let answer = &mut known(exchanges, exchange)?.answer;
            answer.status = Some(status);
            answer.headers = headers;
        }
        Line::Chunk { exchange, data, .. } => {
            let bytes = data.decode().ok_or("its bytes cannot be read")?;
            known(exchanges, exchange)?.answer.chunks.push_back(bytes.into());
        }
        Line::Failure { exchange, kind, .. } => {
            known(exchanges, exchange)?.answer.end = AnswerEnd::Failed(kind)
        }
        Line::End { exchange, how: End::Whole, .. } => {
            known(exchanges, exchange)?.answer.end = AnswerEnd::Whole
        }
        Line::End { exchange, how: End::Dropped, .. } => {
            known(exchanges, exchange)?;
        }
    }
    Ok(())
}

fn known(exchanges: &mut BTreeMap<u64, Recorded>, exchange: u64) -> Result<&mut Recorded, String> {
    exchanges.get_mut(&exchange).ok_or_else(|| format!("there is no request of exchange {exchange}"))
}

impl Answer {
    /// The head of the answer, or why there is none.
    pub(crate) fn head(&self, request: &Request) -> Result<(u16, Headers), HttpError> {
        match self.status {
            Some(status) => Ok((status, self.headers.iter().map(|(name, value)| (name, value)).collect())),
            None => Err(self.failure(&host_of(&request.url))),
        }
    }

    /// The next bytes.
    pub(crate) fn chunk(&mut self, host: &str) -> Result<Option<Bytes>, HttpError> {
        match (self.chunks.pop_front(), &self.end) {
            (Some(bytes), _) => Ok(Some(bytes)),
            (None, AnswerEnd::Whole) => Ok(None),
            (None, AnswerEnd::Failed(_) | AnswerEnd::Unknown) => Err(self.failure(host)),
        }
    }

    fn failure(&self, host: &str) -> HttpError {
        const DETAIL: &str = "as recorded";
        let (host, detail, after) = (host.to_owned(), DETAIL.to_owned(), Duration::ZERO);
        let kind = match &self.end {
            AnswerEnd::Failed(kind) => *kind,
            AnswerEnd::Whole | AnswerEnd::Unknown => {
                return HttpError::Replay { detail: "it breaks off here".to_owned() };
            }
        };
        match kind {
            FailureKind::Dns => HttpError::Dns { host },
            FailureKind::Refused => HttpError::Refused { host },
            FailureKind::Unreachable => HttpError::Unreachable { host, detail },
            FailureKind::Tls => HttpError::Tls { host, detail },
            FailureKind::Proxy => HttpError::Proxy { host, proxy: DETAIL.to_owned(), detail },
            FailureKind::ConnectTimeout => HttpError::ConnectTimeout { host, after },
            FailureKind::Stalled => HttpError::Stalled { host, after },
            FailureKind::Cut => HttpError::Cut { host },
            FailureKind::Protocol => HttpError::Protocol { host, detail },
            FailureKind::Cancelled => HttpError::Replay { detail: "it was cancelled here".to_owned() },
            FailureKind::Other => HttpError::Replay { detail: "it failed here".to_owned() },
        }
    }
}
