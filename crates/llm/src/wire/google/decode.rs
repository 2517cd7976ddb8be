//! Reads the chunks of a stream, and whole bodies, into events.
//!
//! Fields are looked for and never demanded. Only the first candidate counts,
//! because only one is asked for. A stream has no mark at its end: it is
//! complete once a reason for its end was given.

use rein_http::sse::SseEvent;
use rein_protocol::{Finish, Usage};
use serde::Deserialize;
use serde_json::Value;

use super::parts::Parts;
use super::plain::{self, Piece};
use super::tally::Counts;
use crate::error::{ErrorKind, ModelError};
use crate::event::ModelEvent;
use crate::wire::Decoder;
use crate::wire::json::{self, excerpt, filled, reported};

/// Decodes one answer.
#[derive(Debug, Default)]
pub(super) struct ContentDecoder {
    parts: Parts,
    usage: Option<Usage>,
    finish: Option<Finish>,
    ended: bool,
}

impl Decoder for ContentDecoder {
    fn push(&mut self, event: &SseEvent, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let data = event.data.trim();
        if self.ended || data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            return self.finish(out);
        }
        let named = event.event.as_deref() == Some("error");
        if let Some(Piece { text, voice, counts }) = plain::piece(data).filter(|_| !named) {
            self.parts.piece(&text, voice, out);
            self.count(counts, out);
            return Ok(());
        }
        let chunk = json::event(data)?;
        if named || is_error(&chunk) {
            return Err(reported(data));
        }
        self.chunk(&chunk, out)
    }

    fn finish(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if self.ended {
            return Ok(());
        }
        let Some(finish) = self.finish.take() else { return Err(json::cut()) };
        self.parts.end(out);
        self.ended = true;
        let called = self.parts.called() && finish == Finish::Stop;
        out.push(ModelEvent::Finished(if called { Finish::ToolCalls } else { finish }));
        Ok(())
    }

    /// One answer, or a list of chunks: a stream that was not asked for as events.
    fn body(&mut self, body: &[u8], out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let text = String::from_utf8_lossy(body);
        let value = json::body(&text)?;
        let chunks = match &value {
            Value::Array(chunks) => chunks.as_slice(),
            one => std::slice::from_ref(one),
        };
        if chunks.iter().any(is_error) {
            return Err(reported(&text));
        }
        if !chunks.iter().any(|chunk| is_answer(inner(chunk))) {
            let message = format!("the provider's answer holds no candidates: {}", excerpt(&text));
            return Err(ModelError::new(ErrorKind::Protocol, message));
        }
        for chunk in chunks {
            self.chunk(chunk, out)?;
        }
        self.finish(out)
    }

    fn settled(&self) -> bool {
        self.finish.is_some() || self.ended
    }

    fn ended(&self) -> bool {
        self.ended
    }
}

impl ContentDecoder {
    fn chunk(&mut self, chunk: &Value, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let chunk = inner(chunk);
        let candidates = chunk.get("candidates").and_then(Value::as_array).into_iter().flatten();
        let first = |candidate: &&Value| candidate.get("index").and_then(Value::as_u64).unwrap_or(0) == 0;
        for candidate in candidates.filter(first) {
            let parts = candidate.get("content").and_then(|content| content.get("parts"));
            for part in parts.and_then(Value::as_array).into_iter().flatten() {
                self.parts.push(part, out);
            }
            self.stop(candidate)?;
        }
        let counts = chunk.get("usageMetadata").and_then(|counts| Counts::deserialize(counts).ok());
        self.count(counts, out);
        // A question that is not even put to the model has no candidates.
        let feedback = chunk.get("promptFeedback");
        if feedback.is_some_and(|feedback| reason_of(feedback.get("blockReason")).is_some()) {
            self.finish = Some(Finish::Refusal);
        }
        Ok(())
    }

    fn stop(&mut self, candidate: &Value) -> Result<(), ModelError> {
        let Some(reason) = reason_of(candidate.get("finishReason")) else { return Ok(()) };
        if reason == "MALFORMED_FUNCTION_CALL" && !self.parts.called() {
            let words = filled(candidate.get("finishMessage"))
                .map_or_else(String::new, |words| format!(": {}", excerpt(words)));
            let message = format!("the model wrote a call that makes no sense{words}");
            return Err(ModelError::new(ErrorKind::Cut, message));
        }
        self.finish = Some(finish_of(&reason));
        Ok(())
    }

    fn count(&mut self, counts: Option<Counts>, out: &mut Vec<ModelEvent>) {
        let Some(usage) = counts.and_then(|counts| counts.usage()) else { return };
        if self.usage != Some(usage) {
            self.usage = Some(usage);
            out.push(ModelEvent::Usage(usage));
        }
    }
}

/// Some wrap every chunk once more.
fn inner(chunk: &Value) -> &Value {
    chunk.get("response").filter(|inner| inner.is_object()).unwrap_or(chunk)
}

fn is_answer(chunk: &Value) -> bool {
    ["candidates", "promptFeedback", "usageMetadata"].iter().any(|name| chunk.get(*name).is_some())
}

fn is_error(chunk: &Value) -> bool {
    chunk.get("error").is_some_and(|error| !error.is_null()) && !is_answer(chunk)
}

/// A reason as a word; some send its number.
fn reason_of(value: Option<&Value>) -> Option<String> {
    const NUMBERED: [&str; 10] = [
        "FINISH_REASON_UNSPECIFIED",
        "STOP",
        "MAX_TOKENS",
        "SAFETY",
        "RECITATION",
        "OTHER",
        "BLOCKLIST",
        "PROHIBITED_CONTENT",
        "SPII",
        "MALFORMED_FUNCTION_CALL",
    ];
    match value? {
        Value::String(word) if !word.is_empty() => Some(word.clone()),
        Value::Number(number) => {
            let place = usize::try_from(number.as_u64()?).ok()?;
            Some(NUMBERED.get(place).map_or_else(|| number.to_string(), |word| (*word).to_owned()))
        }
        _ => None,
    }
}

/// What the provider's word for the end means. `STOP` ends calls, too, and so does a call of an unknown tool, which
/// the model is told like any other.
fn finish_of(reason: &str) -> Finish {
    match reason {
        "STOP" | "UNEXPECTED_TOOL_CALL" | "MALFORMED_FUNCTION_CALL" => Finish::Stop,
        "MAX_TOKENS" => Finish::Length,
        "SAFETY"
        | "RECITATION"
        | "BLOCKLIST"
        | "PROHIBITED_CONTENT"
        | "SPII"
        | "IMAGE_SAFETY"
        | "IMAGE_PROHIBITED_CONTENT"
        | "IMAGE_RECITATION" => Finish::Refusal,
        other => Finish::Other { reason: other.to_lowercase() },
    }
}

#[cfg(test)]
mod tests;
