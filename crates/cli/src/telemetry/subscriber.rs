//! Takes what the crates of rein say through `tracing`: events become lines of
//! the log, spans that are over become lines and go to the exporter.
//!
//! Libraries speak through `tracing` too; they are not listened to, because what
//! they say of requests may hold secrets.

use std::cell::RefCell;
use std::collections::HashMap;
use std::fmt::{self, Write};
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Instant, SystemTime};

use tracing::field::{Field, Visit};
use tracing::level_filters::LevelFilter;
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use tracing_core::span::Current;

use super::log_file::LogFile;
use super::otlp::{Exporter, FinishedSpan, Value};

thread_local! {
    /// The spans that the thread is in, the innermost last.
    static ENTERED: RefCell<Vec<u64>> = const { RefCell::new(Vec::new()) };
}

/// The one listener of the process.
pub(super) struct Recorder {
    log: LevelFilter,
    file: LogFile,
    exporter: Option<Exporter>,
    next: AtomicU64,
    spans: Mutex<HashMap<u64, OpenSpan>>,
}

/// A span that is not over.
struct OpenSpan {
    handles: usize,
    started: Instant,
    metadata: &'static Metadata<'static>,
    span: FinishedSpan,
}

impl Recorder {
    pub(super) fn new(log: LevelFilter, file: LogFile, exporter: Option<Exporter>) -> Self {
        Self { log, file, exporter, next: AtomicU64::new(1), spans: Mutex::default() }
    }

    fn spans(&self) -> std::sync::MutexGuard<'_, HashMap<u64, OpenSpan>> {
        self.spans.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The most detailed level that anybody wants to know of.
    fn most(&self) -> LevelFilter {
        // Spans are said at this level.
        let exported = if self.exporter.is_some() { LevelFilter::INFO } else { LevelFilter::OFF };
        self.log.max(exported)
    }

    fn write(&self, level: Level, target: &str, text: &str) {
        if level <= self.log {
            self.file.write(&format!("{} {level:>5} {target}: {text}", jiff::Timestamp::now()));
        }
    }

    fn close(&self, open: OpenSpan) {
        let OpenSpan { started, metadata, mut span, .. } = open;
        span.ended = SystemTime::now();
        let mut text = format!("{} took {} ms", span.name, started.elapsed().as_millis());
        for (name, value) in &span.fields {
            // Writing to a string cannot fail.
            let _ = write!(text, " {name}={value}");
        }
        self.write(Level::INFO, metadata.target(), &text);
        if let Some(exporter) = &self.exporter {
            exporter.take(span);
        }
    }
}

impl Subscriber for Recorder {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.target().starts_with("rein") && *metadata.level() <= self.most()
    }

    fn max_level_hint(&self) -> Option<LevelFilter> {
        Some(self.most())
    }

    fn new_span(&self, attributes: &Attributes<'_>) -> Id {
        let id = self.next.fetch_add(1, Ordering::Relaxed);
        let parent = match attributes.parent() {
            Some(parent) => Some(parent.into_u64()),
            None if attributes.is_root() => None,
            None => ENTERED.with_borrow(|entered| entered.last().copied()),
        };
        let mut fields = Fields(Vec::new());
        attributes.record(&mut fields);
        let mut spans = self.spans();
        let above = parent.and_then(|parent| spans.get(&parent)).map(|above| &above.span);
        let span = FinishedSpan {
            trace: above.map_or_else(|| [random(), random()], |above| above.trace),
            parent: above.map(|above| above.id),
            id: random(),
            name: attributes.metadata().name(),
            began: SystemTime::now(),
            ended: SystemTime::now(),
            fields: fields.0,
        };
        let metadata = attributes.metadata();
        spans.insert(id, OpenSpan { handles: 1, started: Instant::now(), metadata, span });
        Id::from_u64(id)
    }

    fn record(&self, id: &Id, values: &Record<'_>) {
        let mut fields = Fields(Vec::new());
        values.record(&mut fields);
        if let Some(open) = self.spans().get_mut(&id.into_u64()) {
            for (name, value) in fields.0 {
                open.span.fields.retain(|(known, _)| *known != name);
                open.span.fields.push((name, value));
            }
        }
    }

    fn record_follows_from(&self, _: &Id, _: &Id) {}

    fn event(&self, event: &Event<'_>) {
        if *event.metadata().level() > self.log {
            return;
        }
        let mut fields = Fields(Vec::new());
        event.record(&mut fields);
        let mut text = String::new();
        for (name, value) in &fields.0 {
            // As above.
            let _ = match *name {
                "message" => write!(text, " {value}"),
                name => write!(text, " {name}={value}"),
            };
        }
        self.write(*event.metadata().level(), event.metadata().target(), text.trim_start());
    }

    fn enter(&self, id: &Id) {
        ENTERED.with_borrow_mut(|entered| entered.push(id.into_u64()));
    }

    fn exit(&self, id: &Id) {
        ENTERED.with_borrow_mut(|entered| {
            let place = entered.iter().rposition(|known| *known == id.into_u64());
            place.map(|place| entered.remove(place))
        });
    }

    fn current_span(&self) -> Current {
        let Some(id) = ENTERED.with_borrow(|entered| entered.last().copied()) else { return Current::none() };
        match self.spans().get(&id) {
            Some(open) => Current::new(Id::from_u64(id), open.metadata),
            None => Current::none(),
        }
    }

    fn clone_span(&self, id: &Id) -> Id {
        if let Some(open) = self.spans().get_mut(&id.into_u64()) {
            open.handles += 1;
        }
        id.clone()
    }

    fn try_close(&self, id: Id) -> bool {
        let mut spans = self.spans();
        let Some(open) = spans.get_mut(&id.into_u64()) else { return false };
        open.handles = open.handles.saturating_sub(1);
        if open.handles > 0 {
            return false;
        }
        let closed = spans.remove(&id.into_u64());
        drop(spans);
        closed.into_iter().for_each(|open| self.close(open));
        true
    }
}

/// A number that no other span has.
fn random() -> u64 {
    RandomState::new().hash_one(0)
}

/// What was said in fields.
struct Fields(Vec<(&'static str, Value)>);

impl Visit for Fields {
    fn record_u64(&mut self, field: &Field, value: u64) {
        self.0.push((field.name(), Value::Number(i64::try_from(value).unwrap_or(i64::MAX))));
    }

    fn record_i64(&mut self, field: &Field, value: i64) {
        self.0.push((field.name(), Value::Number(value)));
    }

    fn record_str(&mut self, field: &Field, value: &str) {
        self.0.push((field.name(), Value::Text(value.to_owned())));
    }

    fn record_debug(&mut self, field: &Field, value: &dyn fmt::Debug) {
        self.0.push((field.name(), Value::Text(format!("{value:?}"))));
    }
}
