//! Recording of exchanges to a file, and playing them back without a network.
//!
//! A [`Recorder`] that is given to a [`Client`](crate::Client) writes every
//! request and every answer as lines of JSON, without secrets, while they
//! happen; memory does not grow with what is recorded. A [`Player`] answers
//! requests from such a file and notes the first that is not what it was.
//!
//! Layout: `line` is the format, `mask` takes secrets out, `file` writes,
//! [`player`] answers, [`difference`] compares.

pub mod difference;
mod file;
mod line;
mod mask;
pub mod player;

use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Instant;
use std::{fmt, io};

use serde_json::Value;
use tokio::sync::mpsc::{OwnedPermit, Sender};
use tokio::sync::oneshot;

use crate::error::HttpError;
use crate::request::Request;
use crate::response::Headers;
use file::Message;
use line::{Body, Bytes, End, FORMAT, FailureKind, Line};
use mask::{MASK, Mask};

pub use difference::Difference;
pub use player::{Divergence, Player};

/// Writes exchanges to a file. Cloning it is cheap; all clones write to the same file.
#[derive(Clone)]
pub struct Recorder {
    shared: Arc<Shared>,
}

struct Shared {
    begun: Instant,
    next: AtomicU64,
    mask: Mutex<Mask>,
    sender: Option<Sender<Message>>,
    thread: Option<JoinHandle<()>>,
    path: String,
}

impl fmt::Debug for Recorder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Recorder").field("path", &self.shared.path).finish_non_exhaustive()
    }
}

impl Recorder {
    /// Begins a recording in a file that does not exist yet. `run` is what a player is told of it; `secrets` are kept
    /// out of it, beside those that requests hold in secret headers.
    pub fn create(
        path: &Path,
        run: &Value,
        secrets: impl IntoIterator<Item = String>,
    ) -> Result<Self, HttpError> {
        let mut mask = Mask::default();
        secrets.into_iter().for_each(|secret| mask.learn(&secret));
        let head = Line::Head {
            format: FORMAT,
            program: concat!("rein ", env!("CARGO_PKG_VERSION")).to_owned(),
            run: mask.value(run.clone()),
        };
        let failed = |error: io::Error| HttpError::RecordFile {
            path: path.to_owned(),
            reason: match error.kind() {
                io::ErrorKind::AlreadyExists => "it exists already and is not overwritten".to_owned(),
                _ => error.to_string(),
            },
        };
        let (sender, thread) = file::create(path, &written(&head)).map_err(failed)?;
        let shared = Shared {
            begun: Instant::now(),
            next: AtomicU64::new(0),
            mask: Mutex::new(mask),
            sender: Some(sender),
            thread: Some(thread),
            path: path.display().to_string(),
        };
        Ok(Self { shared: Arc::new(shared) })
    }

    /// Makes what was recorded so far durable and ends the recording. An error means that it is not complete.
    pub async fn finish(&self) -> Result<(), HttpError> {
        let failed = |reason: String| HttpError::RecordFile { path: self.shared.path.clone().into(), reason };
        let gone = || failed("its writer is gone".to_owned());
        let (told, outcome) = oneshot::channel();
        let sender = self.shared.sender.as_ref().ok_or_else(gone)?;
        sender.send(Message::Finish(told)).await.map_err(|_| gone())?;
        outcome.await.map_err(|_| gone())?.map_err(|error| failed(error.to_string()))
    }

    /// Writes a request that is about to be sent.
    pub(crate) async fn request(&self, request: &Request) -> Tape {
        let exchange = self.shared.next.fetch_add(1, Ordering::Relaxed);
        let form = Form::of(request);
        let line = {
            let mut mask = self.shared.mask();
            learn_from(request, &mut mask);
            Line::Request {
                exchange,
                at_ms: self.shared.at_ms(),
                method: request.method.to_library().to_string(),
                url: mask.url(&request.url),
                headers: request_headers(request, &mask),
                body: request_body(request, &mask, form),
            }
        };
        let mut tape =
            Tape { recorder: self.clone(), exchange, held: Vec::new(), permit: None, form, ended: false };
        tape.ready().await;
        tape.write(line);
        tape
    }
}

impl Shared {
    fn at_ms(&self) -> u64 {
        u64::try_from(self.begun.elapsed().as_millis()).unwrap_or(u64::MAX)
    }

    fn mask(&self) -> std::sync::MutexGuard<'_, Mask> {
        self.mask.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for Shared {
    fn drop(&mut self) {
        self.sender = None;
        if let Some(thread) = self.thread.take() {
            // It ends once everything is written; a panic in it was printed.
            let _ = thread.join();
        }
    }
}

/// What a request's secret headers tell.
fn learn_from(request: &Request, mask: &mut Mask) {
    for (_, value) in request.headers.iter().filter(|(_, value)| value.is_sensitive()) {
        let text = String::from_utf8_lossy(value.as_bytes()).into_owned();
        // A signature is another one every time, and good for one request.
        if text.contains("Signature=") {
            continue;
        }
        let bare = text.split_once(' ').map_or(text.as_str(), |(_, rest)| rest);
        for secret in [text.as_str(), bare] {
            if !mask.knows(secret) {
                mask.learn(secret);
            }
        }
    }
}

fn request_headers(request: &Request, mask: &Mask) -> Vec<(String, String)> {
    let shown = request.headers.iter().map(|(name, value)| {
        let value = match value.is_sensitive() {
            true => MASK.to_owned(),
            false => mask.header(name.as_str(), &String::from_utf8_lossy(value.as_bytes())),
        };
        (name.as_str().to_owned(), value)
    });
    shown.collect()
}

fn request_body(request: &Request, mask: &Mask, form: Form) -> Body {
    let bytes = &request.body;
    if bytes.is_empty() {
        return Body::Empty;
    }
    if form == Form::Yes {
        return Body::Withheld(bytes.len());
    }
    if let Ok(value) = serde_json::from_slice(bytes) {
        return Body::Json(mask.value(value));
    }
    match Bytes::of(mask.bytes(bytes.to_vec())) {
        Bytes::Text(text) => Body::Text(text),
        Bytes::Base64(text) => Body::Base64(text),
        Bytes::Withheld(length) => Body::Withheld(length),
    }
}

fn written(line: &Line) -> String {
    // Every key of a line is a text, so it can always be written.
    let mut text = serde_json::to_string(line).unwrap_or_default();
    text.push('\n');
    text
}

/// Whether a request is a form. Forms are what credentials are exchanged with: neither they nor their answers are
/// recorded.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    Yes,
    No,
}

impl Form {
    fn of(request: &Request) -> Self {
        let form = b"application/x-www-form-urlencoded";
        let is_form = request
            .headers
            .iter()
            .any(|(name, value)| name.as_str() == "content-type" && value.as_bytes().starts_with(form));
        if is_form { Self::Yes } else { Self::No }
    }
}

/// One exchange that is being recorded.
pub(crate) struct Tape {
    recorder: Recorder,
    exchange: u64,
    /// Bytes that may be the beginning of a secret.
    held: Vec<u8>,
    /// Room for the next line.
    permit: Option<OwnedPermit<Message>>,
    form: Form,
    ended: bool,
}

impl fmt::Debug for Tape {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tape").field("exchange", &self.exchange).finish_non_exhaustive()
    }
}

impl Tape {
    /// Waits for room for a line: what was read afterwards can be written without waiting, and nothing is lost if
    /// somebody does not want to wait any more.
    pub(crate) async fn ready(&mut self) {
        if let (None, Some(sender)) = (&self.permit, &self.recorder.shared.sender) {
            // If the writer is gone, that is told at the end.
            self.permit = sender.clone().reserve_owned().await.ok();
        }
    }

    /// The head of the answer.
    pub(crate) fn head(&mut self, status: u16, headers: &Headers) {
        let headers = {
            let mask = self.recorder.shared.mask();
            headers.iter().map(|(name, value)| (name.to_owned(), mask.header(name, value))).collect()
        };
        let at_ms = self.recorder.shared.at_ms();
        self.write(Line::Response { exchange: self.exchange, at_ms, status, headers });
    }

    /// More of its body.
    pub(crate) fn chunk(&mut self, bytes: &[u8]) {
        if self.form == Form::Yes {
            return self.write_chunk(Bytes::Withheld(bytes.len()));
        }
        self.held.extend_from_slice(bytes);
        let open = self.recorder.shared.mask().open_end(&self.held);
        let rest = self.held.split_off(self.held.len().saturating_sub(open));
        let ready = std::mem::replace(&mut self.held, rest);
        self.release(ready);
    }

    /// Its end.
    pub(crate) fn end(&mut self) {
        self.close(End::Whole);
    }

    /// It went wrong.
    pub(crate) fn fail(&mut self, error: &HttpError) {
        self.release_all();
        self.ended = true;
        let message = self.recorder.shared.mask().text(&error.to_string());
        let (exchange, at_ms) = (self.exchange, self.recorder.shared.at_ms());
        self.write(Line::Failure { exchange, at_ms, kind: kind_of(error), message });
    }

    fn close(&mut self, how: End) {
        if self.ended {
            return;
        }
        self.ended = true;
        self.release_all();
        let at_ms = self.recorder.shared.at_ms();
        self.write(Line::End { exchange: self.exchange, at_ms, how });
    }

    fn release_all(&mut self) {
        let held = std::mem::take(&mut self.held);
        self.release(held);
    }

    fn release(&mut self, bytes: Vec<u8>) {
        if !bytes.is_empty() {
            let masked = self.recorder.shared.mask().bytes(bytes);
            self.write_chunk(Bytes::of(masked));
        }
    }

    fn write_chunk(&mut self, data: Bytes) {
        let at_ms = self.recorder.shared.at_ms();
        self.write(Line::Chunk { exchange: self.exchange, at_ms, data });
    }

    fn write(&mut self, line: Line) {
        let message = Message::Line(written(&line));
        match (self.permit.take(), &self.recorder.shared.sender) {
            (Some(permit), _) => drop(permit.send(message)),
            // There is room for hundreds; a line is lost only while the disk stands still.
            (None, Some(sender)) => drop(sender.try_send(message)),
            (None, None) => {}
        }
    }
}

impl Drop for Tape {
    fn drop(&mut self) {
        self.close(End::Dropped);
    }
}

fn kind_of(error: &HttpError) -> FailureKind {
    match error {
        HttpError::Dns { .. } => FailureKind::Dns,
        HttpError::Refused { .. } => FailureKind::Refused,
        HttpError::Unreachable { .. } => FailureKind::Unreachable,
        HttpError::Tls { .. } => FailureKind::Tls,
        HttpError::Proxy { .. } => FailureKind::Proxy,
        HttpError::ConnectTimeout { .. } => FailureKind::ConnectTimeout,
        HttpError::Stalled { .. } => FailureKind::Stalled,
        HttpError::Cut { .. } => FailureKind::Cut,
        HttpError::Protocol { .. } => FailureKind::Protocol,
        HttpError::Cancelled => FailureKind::Cancelled,
        HttpError::InvalidUrl { .. }
        | HttpError::InvalidHeader { .. }
        | HttpError::CertificateFile { .. }
        | HttpError::Setup { .. }
        | HttpError::EventTooLarge { .. }
        | HttpError::Recording { .. }
        | HttpError::Replay { .. }
        | HttpError::RecordFile { .. }
        | HttpError::Listen { .. } => FailureKind::Other,
    }
}
