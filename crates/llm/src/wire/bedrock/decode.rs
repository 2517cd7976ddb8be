//! Reads messages of the stream, and whole bodies, into events of ours.
//!
//! Text and reasoning have no beginning, only pieces. Usage comes behind the
//! end. Padding and what models say of documents is passed over. Blocks of the
//! provider's own tools are kept as they came.

use std::collections::HashMap;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use rein_http::sse::SseEvent;
use rein_protocol::{Finish, Usage};
use serde_json::{Map, Value, json};

use crate::error::{ErrorKind, ModelError};
use crate::event::ModelEvent;
use crate::wire::blocks::Blocks;
use crate::wire::json::{self, excerpt, filled, reported};
use crate::wire::opaque::seal;
use crate::wire::{Decoder, Wire};

/// Decodes one answer.
#[derive(Debug, Default)]
pub(super) struct ConverseDecoder {
    blocks: Blocks,
    /// Blocks of the provider's own tools, with the input that has come.
    kept: HashMap<u64, (Value, String)>,
    usage: Option<Usage>,
    finish: Option<Finish>,
    ended: bool,
}

impl Decoder for ConverseDecoder {
    fn push(&mut self, event: &SseEvent, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let data = event.data.trim();
        if self.ended || data.is_empty() {
            return Ok(());
        }
        let value = json::event(data)?;
        let index = value.get("contentBlockIndex").and_then(Value::as_u64).unwrap_or(0);
        match event.event.as_deref().unwrap_or_default() {
            "contentBlockStart" => {
                if let Some(start) = value.get("start") {
                    self.begin(index, start, out);
                }
            }
            "contentBlockDelta" => {
                if let Some(delta) = value.get("delta") {
                    self.delta(index, delta, out);
                }
            }
            "contentBlockStop" => self.end_block(index, out),
            "messageStop" => self.stop(&value),
            "metadata" => {
                self.count(value.get("usage"), out);
                if self.finish.is_some() {
                    self.end(out);
                }
            }
            _ => {}
        }
        Ok(())
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
        let Some(blocks) = value.pointer("/output/message/content").and_then(Value::as_array) else {
            if filled(value.get("message")).or_else(|| filled(value.get("Message"))).is_some() {
                return Err(reported(&text));
            }
            let message = format!("the provider's answer holds no content: {}", excerpt(&text));
            return Err(ModelError::new(ErrorKind::Protocol, message));
        };
        for (index, block) in (0..).zip(blocks) {
            self.whole(index, block, out);
            self.end_block(index, out);
        }
        self.stop(&value);
        self.count(value.get("usage"), out);
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

impl ConverseDecoder {
    fn begin(&mut self, index: u64, start: &Value, out: &mut Vec<ModelEvent>) {
        match start.get("toolUse") {
            Some(call) if filled(call.get("type")).is_none_or(|kind| kind == "tool_use") => {
                let text = |name: &str| filled(call.get(name)).unwrap_or_default();
                self.blocks.call(index, text("toolUseId"), text("name"), out);
            }
            _ => {
                self.kept.insert(index, (start.clone(), String::new()));
            }
        }
    }

    fn delta(&mut self, index: u64, delta: &Value, out: &mut Vec<ModelEvent>) {
        if let Some((block, input)) = self.kept.get_mut(&index) {
            match delta.pointer("/toolUse/input").and_then(Value::as_str) {
                Some(piece) => input.push_str(piece),
                None => add_content(block, delta.get("toolResult")),
            }
            return;
        }
        if let Some(text) = filled(delta.get("text")) {
            self.blocks.text(index, text.to_owned(), out);
        }
        if let Some(piece) = delta.pointer("/toolUse/input") {
            let piece = piece.as_str().map_or_else(|| piece.to_string(), ToOwned::to_owned);
            self.blocks.arguments(index, piece, out);
        }
        if let Some(reasoning) = delta.get("reasoningContent") {
            self.reasoning(index, reasoning, out);
        }
    }

    fn reasoning(&mut self, index: u64, reasoning: &Value, out: &mut Vec<ModelEvent>) {
        if let Some(text) = filled(reasoning.get("text")) {
            self.blocks.reasoning(index, text.to_owned(), out);
        }
        if let Some(piece) = filled(reasoning.get("signature")) {
            self.blocks.keep(index, |before| {
                let place = "/block/reasoningContent/reasoningText/signature";
                let before = before.as_ref().and_then(|value| value.pointer(place)?.as_str());
                let signature = format!("{}{piece}", before.unwrap_or_default());
                let signed = json!({"reasoningContent": {"reasoningText": {"signature": signature}}});
                seal(Wire::Bedrock, signed)
            });
        }
        if let Some(piece) = filled(reasoning.get("redactedContent")) {
            self.blocks.keep(index, |before| {
                let place = "/block/reasoningContent/redactedContent";
                let before = before.as_ref().and_then(|value| value.pointer(place)?.as_str());
                let data = before.map_or_else(|| piece.to_owned(), |before| joined(before, piece));
                seal(Wire::Bedrock, json!({"reasoningContent": {"redactedContent": data}}))
            });
        }
    }

    /// A block of a body that was not streamed.
    fn whole(&mut self, index: u64, block: &Value, out: &mut Vec<ModelEvent>) {
        let cited = block.pointer("/citationsContent/content").and_then(Value::as_array);
        for piece in cited.into_iter().flatten() {
            self.delta(index, piece, out);
        }
        if let Some(reasoning) = block.get("reasoningContent") {
            self.reasoning(index, reasoning, out);
            if let Some(signed) = reasoning.get("reasoningText") {
                self.reasoning(index, signed, out);
            }
        } else if let Some(call) = block.get("toolUse") {
            self.begin(index, block, out);
            if let (None, Some(input)) = (self.kept.get(&index), call.get("input")) {
                self.blocks.arguments(index, input.to_string(), out);
            }
        } else if block.get("toolResult").is_some() {
            self.begin(index, block, out);
        } else {
            self.delta(index, block, out);
        }
    }

    fn end_block(&mut self, index: u64, out: &mut Vec<ModelEvent>) {
        if let Some((mut block, input)) = self.kept.remove(&index) {
            if let Some(call) = block.get_mut("toolUse").and_then(Value::as_object_mut) {
                let came = serde_json::from_str(&input).ok().or_else(|| call.get("input").cloned());
                call.insert("input".to_owned(), came.unwrap_or_else(|| Value::Object(Map::new())));
            }
            self.blocks.keep(index, |_| seal(Wire::Bedrock, block));
        }
        self.blocks.end(index, out);
    }

    fn stop(&mut self, value: &Value) {
        if let Some(reason) = filled(value.get("stopReason")) {
            self.finish = Some(finish_of(reason));
        }
    }

    fn count(&mut self, usage: Option<&Value>, out: &mut Vec<ModelEvent>) {
        let Some(usage) = usage.filter(|usage| usage.is_object()) else { return };
        let count = |names: &[&str]| names.iter().find_map(|name| usage.get(*name)?.as_u64()).unwrap_or(0);
        let counted = Usage {
            input: count(&["inputTokens"]),
            output: count(&["outputTokens"]),
            reasoning: 0,
            cache_read: count(&["cacheReadInputTokens", "cacheReadInputTokenCount"]),
            cache_write: count(&["cacheWriteInputTokens", "cacheWriteInputTokenCount"]),
            cache_write_hour: kept_for_an_hour(usage),
        };
        if self.usage != Some(counted) {
            self.usage = Some(counted);
            out.push(ModelEvent::Usage(counted));
        }
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

fn kept_for_an_hour(usage: &Value) -> u64 {
    let details = usage.get("cacheDetails").and_then(Value::as_array).into_iter().flatten();
    let hours = details.filter(|detail| filled(detail.get("ttl")) == Some("1h"));
    hours.filter_map(|detail| detail.get("inputTokens")?.as_u64()).fold(0, u64::saturating_add)
}

/// Adds what a tool of the provider's found.
fn add_content(block: &mut Value, more: Option<&Value>) {
    let (Some(result), Some(Value::Array(more))) =
        (block.get_mut("toolResult").and_then(Value::as_object_mut), more)
    else {
        return;
    };
    match result.get_mut("content") {
        Some(Value::Array(content)) => content.extend(more.iter().cloned()),
        _ => {
            result.insert("content".to_owned(), Value::Array(more.clone()));
        }
    }
}

/// Two pieces of base64 as one.
fn joined(before: &str, piece: &str) -> String {
    match (STANDARD.decode(before), STANDARD.decode(piece)) {
        (Ok(mut bytes), Ok(more)) => {
            bytes.extend_from_slice(&more);
            STANDARD.encode(bytes)
        }
        _ => format!("{before}{piece}"),
    }
}

/// What the provider's word for the end means.
fn finish_of(reason: &str) -> Finish {
    match reason {
        "end_turn" | "stop_sequence" => Finish::Stop,
        "tool_use" => Finish::ToolCalls,
        "max_tokens" | "model_context_window_exceeded" => Finish::Length,
        "guardrail_intervened" | "content_filtered" | "refusal" => Finish::Refusal,
        other => Finish::Other { reason: other.to_owned() },
    }
}

#[cfg(test)]
mod tests;
