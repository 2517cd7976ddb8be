//! Server-sent events as bytes.

use serde_json::Value;

use super::conduct::{Comments, Conduct, LineEnding};

/// Collects the bytes of events.
pub(crate) struct SseWriter {
    bytes: Vec<u8>,
    ending: &'static str,
    comments: Comments,
}

impl SseWriter {
    pub(crate) fn new(conduct: &Conduct) -> Self {
        let ending = match conduct.lines {
            LineEnding::LineFeed => "\n",
            LineEnding::CarriageReturnLineFeed => "\r\n",
        };
        Self { bytes: Vec::new(), ending, comments: conduct.comments }
    }

    /// One event. The data is written as it stands, on one line.
    pub(crate) fn data(&mut self, data: &str) {
        if self.comments == Comments::BeforeEveryEvent {
            self.line(&[": keep-alive"]);
            self.line(&[]);
        }
        self.line(&["data: ", data]);
        self.line(&[]);
    }

    /// One event with a type.
    pub(crate) fn event(&mut self, kind: &str, data: &Value) {
        self.line(&["event: ", kind]);
        self.data(&data.to_string());
    }

    pub(crate) fn raw(&mut self, bytes: &[u8]) {
        self.bytes.extend_from_slice(bytes);
    }

    pub(crate) fn len(&self) -> usize {
        self.bytes.len()
    }

    /// The bytes since the last time.
    pub(crate) fn take(&mut self) -> Vec<u8> {
        std::mem::take(&mut self.bytes)
    }

    fn line(&mut self, pieces: &[&str]) {
        for piece in pieces {
            self.bytes.extend_from_slice(piece.as_bytes());
        }
        self.bytes.extend_from_slice(self.ending.as_bytes());
    }
}
