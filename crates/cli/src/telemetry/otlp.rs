//! Spans for an OpenTelemetry collector, by OTLP over HTTP in JSON.
//!
//! A thread of its own collects and sends, so that nobody waits for a collector.
//! What does not fit into the queue and what a collector does not take is
//! dropped.

use std::fmt;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, TrySendError, sync_channel};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rein_http::{CancellationToken, Client, Method, Request};
use rein_permission::mask;
use serde_json::json;

use crate::wiring::Setup;

/// Spans that wait to be sent.
const ROOM: usize = 4_096;
/// Spans that are sent at once.
const BATCH: usize = 512;
/// How long a span waits for others.
const INTERVAL: Duration = Duration::from_secs(2);
/// How long a collector may take.
const PATIENCE: Duration = Duration::from_secs(5);
/// How long the end of rein is put off.
const FLUSH: Duration = Duration::from_secs(1);

/// A span that is over.
#[derive(Debug, Clone)]
pub(super) struct FinishedSpan {
    /// Shared by a span and all below it.
    pub(super) trace: [u64; 2],
    pub(super) id: u64,
    pub(super) parent: Option<u64>,
    pub(super) name: &'static str,
    pub(super) began: SystemTime,
    pub(super) ended: SystemTime,
    pub(super) fields: Vec<(&'static str, Value)>,
}

/// What a field says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Value {
    Number(i64),
    Text(String),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Text(text) => text.fmt(f),
        }
    }
}

/// Where spans go.
pub(super) struct Target {
    url: String,
    headers: Vec<(String, String)>,
}

/// The collector that the settings or the usual variables name, if they do.
pub(super) fn target(setup: &Setup) -> Option<Target> {
    let variable = |name: &str| setup.places().environment.get(name).and_then(|value| value.to_str());
    let endpoint = match &setup.settings().settings.otlp.endpoint {
        Some(endpoint) => endpoint.expose(),
        None => variable("OTEL_EXPORTER_OTLP_ENDPOINT")?,
    };
    if variable("OTEL_SDK_DISABLED").is_some_and(|value| value.eq_ignore_ascii_case("true")) {
        return None;
    }
    let headers = variable("OTEL_EXPORTER_OTLP_HEADERS").unwrap_or_default().split(',');
    let headers = headers.filter_map(|header| header.split_once('='));
    let headers = headers.map(|(name, value)| (name.trim().to_owned(), value.trim().to_owned())).collect();
    let endpoint = endpoint.trim_end_matches('/');
    let url = match endpoint.ends_with("/v1/traces") {
        true => endpoint.to_owned(),
        false => format!("{endpoint}/v1/traces"),
    };
    Some(Target { url, headers })
}

enum Message {
    Span(FinishedSpan),
    /// Send what there is, and say when that is done.
    Flush(SyncSender<()>),
}

/// The way to the thread that sends.
#[derive(Clone)]
pub(super) struct Exporter {
    queue: SyncSender<Message>,
}

impl Exporter {
    /// Starts the thread. None if that is not possible.
    pub(super) fn start(target: Target, client: Client) -> Option<Self> {
        let (queue, spans) = sync_channel(ROOM);
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().ok()?;
        let work = move || export(&target, &client, &runtime, &spans);
        std::thread::Builder::new().name("rein-otlp".to_owned()).spawn(work).ok()?;
        Some(Self { queue })
    }

    /// Takes a span, if there is room for it.
    pub(super) fn take(&self, span: FinishedSpan) {
        // A collector that is too slow is no reason to wait.
        let _ = self.queue.try_send(Message::Span(span));
    }

    /// Waits until everything is sent, but not for long.
    pub(super) fn flush(&self) {
        let until = Instant::now() + FLUSH;
        let (done, waiting) = sync_channel(1);
        let mut message = Message::Flush(done);
        while let Err(TrySendError::Full(back)) = self.queue.try_send(message) {
            if Instant::now() >= until {
                return;
            }
            message = back;
            std::thread::sleep(Duration::from_millis(10));
        }
        // Too late is as good as never.
        let _ = waiting.recv_timeout(until.saturating_duration_since(Instant::now()));
    }
}

fn export(target: &Target, client: &Client, runtime: &tokio::runtime::Runtime, queue: &Receiver<Message>) {
    let mut batch: Vec<FinishedSpan> = Vec::new();
    let mut is_down = false;
    let mut since = Instant::now();
    loop {
        let left = (since + INTERVAL).saturating_duration_since(Instant::now());
        let message = match batch.is_empty() {
            // Nothing is due: the thread sleeps until there is something.
            true => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
            false => queue.recv_timeout(left),
        };
        let waiting = match message {
            Ok(Message::Span(span)) => {
                if batch.is_empty() {
                    since = Instant::now();
                }
                batch.push(span);
                if batch.len() < BATCH {
                    continue;
                }
                None
            }
            Ok(Message::Flush(done)) => Some(done),
            Err(RecvTimeoutError::Timeout) => None,
            Err(RecvTimeoutError::Disconnected) => return,
        };
        let sent = batch.is_empty() || runtime.block_on(send(target, client, &batch));
        if !sent && !is_down {
            tracing::warn!("spans cannot be sent to the collector of `otlp.endpoint`; they are dropped");
        }
        is_down = !sent;
        batch.clear();
        if let Some(done) = waiting {
            // Whoever waited may have given up.
            let _ = done.try_send(());
        }
    }
}

async fn send(target: &Target, client: &Client, batch: &[FinishedSpan]) -> bool {
    let request = || {
        let mut request =
            Request::new(Method::Post, &target.url)?.with_header("content-type", "application/json")?;
        for (name, value) in &target.headers {
            request = request.with_secret_header(name, value)?;
        }
        Ok::<_, rein_http::HttpError>(request.with_body(body(batch).to_string()))
    };
    let Ok(request) = request() else { return false };
    let cancel = CancellationToken::new();
    let answered = tokio::time::timeout(PATIENCE, client.send(request, &cancel)).await;
    matches!(answered, Ok(Ok(response)) if (200..300).contains(&response.status))
}

fn body(batch: &[FinishedSpan]) -> serde_json::Value {
    let service = [("service.name", "rein"), ("service.version", env!("CARGO_PKG_VERSION"))];
    let attributes: Vec<serde_json::Value> =
        service.iter().map(|(name, value)| attribute(name, &Value::Text((*value).to_owned()))).collect();
    let spans: Vec<serde_json::Value> = batch.iter().map(span).collect();
    json!({"resourceSpans": [{
        "resource": {"attributes": attributes},
        "scopeSpans": [{"scope": {"name": "rein"}, "spans": spans}],
    }]})
}

fn span(span: &FinishedSpan) -> serde_json::Value {
    let nanos = |at: SystemTime| at.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos().to_string();
    let attributes: Vec<serde_json::Value> =
        span.fields.iter().map(|(name, value)| attribute(name, value)).collect();
    let mut shown = json!({
        "traceId": format!("{:016x}{:016x}", span.trace[0], span.trace[1]),
        "spanId": format!("{:016x}", span.id),
        "name": span.name,
        "kind": 1,
        "startTimeUnixNano": nanos(span.began),
        "endTimeUnixNano": nanos(span.ended),
        "attributes": attributes,
    });
    if let (Some(parent), Some(fields)) = (span.parent, shown.as_object_mut()) {
        fields.insert("parentSpanId".to_owned(), format!("{parent:016x}").into());
    }
    shown
}

fn attribute(name: &str, value: &Value) -> serde_json::Value {
    let value = match value {
        Value::Number(number) => json!({"intValue": number.to_string()}),
        Value::Text(text) => json!({"stringValue": mask::secrets(text)}),
    };
    json!({"key": name, "value": value})
}
