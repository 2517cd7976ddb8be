//! Reads the events of a stream, and whole bodies, into events of ours.
//!
//! Fields are looked for and never demanded. Items that nobody here knows are
//! kept for the provider, so that a conversation can go on.

use rein_http::sse::SseEvent;
use rein_protocol::{Finish, Usage};
use serde_json::{Value, json};

use super::items::Items;
use super::plain::{self, PieceKind};
use crate::error::{ErrorKind, ModelError};
use crate::event::ModelEvent;
use crate::wire::Decoder;
use crate::wire::json::{self, excerpt, filled, reported};
use crate::wire::openai_chat::tally;

/// Decodes one answer.
#[derive(Debug, Default)]
pub(super) struct ResponseDecoder {
    items: Items,
    /// The item that was last spoken of: some leave out the number.
    last: u64,
    usage: Option<Usage>,
    ended: bool,
}

impl Decoder for ResponseDecoder {
    fn push(&mut self, event: &SseEvent, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let data = event.data.trim();
        if self.ended || data.is_empty() {
            return Ok(());
        }
        if let Some((index, kind, text)) = plain::piece(data) {
            self.last = index;
            self.items.piece(index, kind, text, out);
            return Ok(());
        }
        if data == "[DONE]" {
            self.end(None, out);
            return Ok(());
        }
        if event.event.as_deref() == Some("error") {
            return Err(reported(data));
        }
        let value = json::event(data)?;
        let kind = filled(value.get("type")).or(event.event.as_deref()).unwrap_or_default();
        self.event(kind, &value, data, out)
    }

    fn finish(&mut self, _: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if self.ended { Ok(()) } else { Err(json::cut()) }
    }

    fn body(&mut self, body: &[u8], out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let text = String::from_utf8_lossy(body);
        let value = json::body(&text)?;
        let whole = value.get("output").is_some_and(Value::is_array);
        if !whole && (value.get("error").is_some() || filled(value.get("message")).is_some()) {
            return Err(reported(&text));
        }
        if !whole {
            let message = format!("the provider's answer holds no output: {}", excerpt(&text));
            return Err(ModelError::new(ErrorKind::Protocol, message));
        }
        self.response(&value, out)
    }

    fn settled(&self) -> bool {
        self.ended
    }

    fn ended(&self) -> bool {
        self.ended
    }
}

impl ResponseDecoder {
    fn event(
        &mut self,
        kind: &str,
        value: &Value,
        data: &str,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        let index = value.get("output_index").and_then(Value::as_u64).unwrap_or(self.last);
        self.last = index;
        let nothing = Value::Null;
        let item = value.get("item").unwrap_or(&nothing);
        let response = value.get("response").unwrap_or(&nothing);
        match kind {
            "response.output_item.added" => self.items.begin(index, item, out),
            "response.output_item.done" => self.items.end(index, item, out),
            "response.reasoning_summary_part.added" => self.items.paragraph(index, out),
            "response.completed" | "response.incomplete" | "response.done" => {
                return self.response(response, out);
            }
            "response.failed" | "response.cancelled" => return Err(failure(response)),
            "error" => return Err(reported(data)),
            // Some put an error into an event of no type.
            "" if value.get("error").is_some_and(|error| !error.is_null()) => return Err(reported(data)),
            _ => {
                if let (Some(kind), Some(delta)) = (PieceKind::of(kind), filled(value.get("delta"))) {
                    self.items.piece(index, kind, delta.to_owned(), out);
                }
            }
        }
        Ok(())
    }

    /// A whole answer, or the summing up at the end of one.
    fn response(&mut self, response: &Value, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if !self.items.any() {
            let items = response.get("output").and_then(Value::as_array).into_iter().flatten();
            for (index, item) in (0..).zip(items) {
                self.items.end(index, item, out);
            }
        }
        let usage = response.get("usage").and_then(tally::read);
        if let Some(usage) = usage.filter(|usage| self.usage != Some(*usage)) {
            self.usage = Some(usage);
            out.push(ModelEvent::Usage(usage));
        }
        match filled(response.get("status")) {
            Some("failed" | "cancelled") => Err(failure(response)),
            Some("incomplete") => {
                let details = response.get("incomplete_details");
                let reason = details.and_then(|details| filled(details.get("reason")));
                self.end(Some(incomplete(reason.unwrap_or("incomplete"))), out);
                Ok(())
            }
            _ => {
                self.end(None, out);
                Ok(())
            }
        }
    }

    fn end(&mut self, finish: Option<Finish>, out: &mut Vec<ModelEvent>) {
        self.items.end_all(out);
        let usual = match (self.items.refused(), self.items.called()) {
            (true, _) => Finish::Refusal,
            (false, true) => Finish::ToolCalls,
            (false, false) => Finish::Stop,
        };
        self.ended = true;
        out.push(ModelEvent::Finished(finish.unwrap_or(usual)));
    }
}

/// Why an answer is not complete.
fn incomplete(reason: &str) -> Finish {
    match reason {
        "max_output_tokens" | "max_tokens" | "length" => Finish::Length,
        "content_filter" => Finish::Refusal,
        other => Finish::Other { reason: other.to_owned() },
    }
}

/// The error of an answer that failed. What the answer repeats of the request is no part of it.
fn failure(response: &Value) -> ModelError {
    match response.get("error").filter(|error| !error.is_null()) {
        Some(error) => reported(&json!({"error": error}).to_string()),
        None => {
            let status = filled(response.get("status")).unwrap_or("failed");
            ModelError::new(ErrorKind::Cut, format!("the provider broke the answer off (status `{status}`)"))
        }
    }
}

#[cfg(test)]
mod tests;
