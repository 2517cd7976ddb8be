//! Reads the events of a stream, and whole bodies, into events of ours.
//!
//! Fields are looked for and never demanded. Blocks that nobody here knows are
//! kept for the provider, so that a conversation can go on.

use std::collections::HashMap;

use rein_http::sse::SseEvent;
use rein_protocol::Finish;
use serde_json::{Value, json};

use super::kept::KeptBlock;
use super::plain::{self, Piece};
use super::tally::Tally;
use crate::error::{ErrorKind, ModelError};
use crate::event::ModelEvent;
use crate::wire::blocks::Blocks;
use crate::wire::json::{self, excerpt, filled, reported};
use crate::wire::opaque::seal;
use crate::wire::{Decoder, Wire};

/// Decodes one answer.
#[derive(Debug, Default)]
pub(super) struct MessageDecoder {
    blocks: Blocks,
    kept: HashMap<u64, KeptBlock>,
    tally: Tally,
    finish: Option<Finish>,
    ended: bool,
}

impl Decoder for MessageDecoder {
    fn push(&mut self, event: &SseEvent, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let data = event.data.trim();
        if self.ended || data.is_empty() {
            return Ok(());
        }
        if let Some((index, piece)) = plain::piece(data) {
            self.piece(index, piece, out);
            return Ok(());
        }
        if event.event.as_deref() == Some("error") {
            return Err(reported(data));
        }
        if data == "[DONE]" {
            self.end(out);
            return Ok(());
        }
        let value = json::event(data)?;
        let kind = filled(value.get("type")).or(event.event.as_deref()).unwrap_or_default();
        self.event(kind, &value, data, out)
    }

    fn finish(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if self.ended {
            return Ok(());
        }
        if self.finish.is_some() {
            self.end(out);
            return Ok(());
        }
        Err(json::cut())
    }

    fn body(&mut self, body: &[u8], out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let text = String::from_utf8_lossy(body);
        let value = json::body(&text)?;
        if value.get("error").is_some() || filled(value.get("type")) == Some("error") {
            return Err(reported(&text));
        }
        if !value.get("content").is_some_and(Value::is_array) {
            let message = format!("the provider's answer holds no content: {}", excerpt(&text));
            return Err(ModelError::new(ErrorKind::Protocol, message));
        }
        self.message(&value, out);
        self.end(out);
        Ok(())
    }

    fn settled(&self) -> bool {
        self.finish.is_some()
    }

    fn ended(&self) -> bool {
        self.ended
    }
}

impl MessageDecoder {
    fn event(
        &mut self,
        kind: &str,
        value: &Value,
        data: &str,
        out: &mut Vec<ModelEvent>,
    ) -> Result<(), ModelError> {
        let index = value.get("index").and_then(Value::as_u64).unwrap_or(0);
        match kind {
            "message_start" => {
                if let Some(message) = value.get("message") {
                    self.message(message, out);
                }
            }
            "content_block_start" => {
                if let Some(block) = value.get("content_block") {
                    self.begin(index, block, out);
                }
            }
            "content_block_delta" => {
                if let Some(delta) = value.get("delta") {
                    self.delta(index, delta);
                }
            }
            "content_block_stop" => self.end_block(index, out),
            "message_delta" => {
                self.count(value.get("usage"), out);
                self.stop(value.get("delta"));
            }
            "message_stop" => self.end(out),
            "error" => return Err(reported(data)),
            // Some put an error into an event of no type.
            "" if value.get("error").is_some() => return Err(reported(data)),
            _ => {}
        }
        Ok(())
    }

    /// A whole message, or the beginning of one.
    fn message(&mut self, message: &Value, out: &mut Vec<ModelEvent>) {
        self.count(message.get("usage"), out);
        let blocks = message.get("content").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
        for (index, block) in (0..).zip(blocks) {
            self.begin(index, block, out);
            self.end_block(index, out);
        }
        self.stop(Some(message));
    }

    fn begin(&mut self, index: u64, block: &Value, out: &mut Vec<ModelEvent>) {
        let text = |name: &str| filled(block.get(name)).unwrap_or_default().to_owned();
        match filled(block.get("type")).unwrap_or_default() {
            "text" => self.blocks.text(index, text("text"), out),
            "thinking" => {
                self.blocks.reasoning(index, text("thinking"), out);
                self.sign(index, &text("signature"));
            }
            "tool_use" => {
                self.blocks.call(index, &text("id"), &text("name"), out);
                let input = block.get("input").and_then(Value::as_object).filter(|input| !input.is_empty());
                if let Some(input) = input {
                    self.blocks.arguments(index, Value::Object(input.clone()).to_string(), out);
                }
            }
            _ => {
                self.kept.insert(index, KeptBlock::new(block));
            }
        }
    }

    fn piece(&mut self, index: u64, piece: Piece, out: &mut Vec<ModelEvent>) {
        match piece {
            Piece::Text(text) => self.blocks.text(index, text, out),
            Piece::Thinking(text) => self.blocks.reasoning(index, text, out),
            Piece::Arguments(text) => match self.kept.get_mut(&index) {
                Some(kept) => kept.add_input(&text),
                None => self.blocks.arguments(index, text, out),
            },
        }
    }

    /// The kinds of delta that are no plain pieces.
    fn delta(&mut self, index: u64, delta: &Value) {
        if let Some(kept) = self.kept.get_mut(&index) {
            kept.add(delta);
        } else if let Some(signature) = filled(delta.get("signature")) {
            self.sign(index, signature);
        }
    }

    /// A signature may come in pieces.
    fn sign(&mut self, index: u64, piece: &str) {
        if piece.is_empty() {
            return;
        }
        self.blocks.keep(index, |before| {
            let before = before.as_ref().and_then(|value| value.pointer("/block/signature")?.as_str());
            let signature = format!("{}{piece}", before.unwrap_or_default());
            seal(Wire::Anthropic, json!({"type": "thinking", "signature": signature}))
        });
    }

    fn end_block(&mut self, index: u64, out: &mut Vec<ModelEvent>) {
        if let Some(kept) = self.kept.remove(&index) {
            self.blocks.keep(index, |_| seal(Wire::Anthropic, kept.finish()));
        }
        self.blocks.end(index, out);
    }

    fn stop(&mut self, delta: Option<&Value>) {
        if let Some(reason) = delta.and_then(|delta| filled(delta.get("stop_reason"))) {
            self.finish = Some(finish_of(reason));
        }
    }

    fn count(&mut self, usage: Option<&Value>, out: &mut Vec<ModelEvent>) {
        out.extend(self.tally.take(usage).map(ModelEvent::Usage));
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) {
        // A block of the provider's that never ended is half of one, and would be refused.
        self.kept.clear();
        self.blocks.end_all(out);
        let usual = if self.blocks.called() { Finish::ToolCalls } else { Finish::Stop };
        self.ended = true;
        out.push(ModelEvent::Finished(self.finish.take().unwrap_or(usual)));
    }
}

/// What the provider's word for the end means.
fn finish_of(reason: &str) -> Finish {
    match reason {
        "end_turn" | "stop_sequence" => Finish::Stop,
        "tool_use" => Finish::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "refusal" => Finish::Refusal,
        // `pause_turn` and whatever may come.
        other => Finish::Other { reason: other.to_owned() },
    }
}

#[cfg(test)]
mod tests;
