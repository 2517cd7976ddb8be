//! Reads chunks of a stream, and whole bodies, into events.
//!
//! Fields are looked for and never demanded: a chunk may lack anything. Only
//! the first choice counts, because only one is asked for.

use rein_http::sse::SseEvent;
use rein_protocol::{Finish, Usage};
use serde_json::Value;

use super::calls::{CallDelta, Calls, Ending};
use super::think::{ThinkSplitter, Voice};
use super::{plain, tally};
use crate::error::{ErrorKind, ModelError};
use crate::event::ModelEvent;
use crate::wire::Decoder;
use crate::wire::json::{self, excerpt, filled, reported};

/// Decodes one answer.
#[derive(Debug, Default)]
pub(in crate::wire) struct ChatDecoder {
    parts: Parts,
    calls: Calls,
    think: ThinkSplitter,
    frame: plain::Frame,
    choice: Option<u64>,
    finish: Option<Finish>,
    refused: bool,
    usage: Option<Usage>,
    ended: bool,
}

/// Numbers the parts of an answer.
#[derive(Debug, Default)]
struct Parts {
    next: u32,
    /// The words that may still grow.
    open: Option<(Voice, u32)>,
}

impl Parts {
    fn begin(&mut self) -> u32 {
        let part = self.next;
        self.next += 1;
        self.open = None;
        part
    }

    fn words(&mut self, voice: Voice) -> u32 {
        match self.open {
            Some((same, part)) if same == voice => part,
            _ => {
                let part = self.begin();
                self.open = Some((voice, part));
                part
            }
        }
    }
}

impl Decoder for ChatDecoder {
    fn push(&mut self, event: &SseEvent, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let data = event.data.trim();
        if self.ended || data.is_empty() {
            return Ok(());
        }
        if data == "[DONE]" {
            self.end(out);
            return Ok(());
        }
        if event.event.as_deref() == Some("error") {
            return Err(self.fail(reported(data), out));
        }
        if let Some((index, text)) = self.frame.words(data) {
            if *self.choice.get_or_insert(index) == index {
                self.text(&text, out);
            }
            return Ok(());
        }
        let chunk: Value = match json::event(data) {
            Ok(chunk) => chunk,
            Err(error) => return Err(self.fail(error, out)),
        };
        if is_error(&chunk) {
            return Err(self.fail(reported(data), out));
        }
        self.chunk(&chunk, out).map_err(|error| self.fail(error, out))
    }

    fn finish(&mut self, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        if self.ended {
            return Ok(());
        }
        if self.finish.is_some() {
            self.end(out);
            return Ok(());
        }
        Err(self.fail(json::cut(), out))
    }

    fn body(&mut self, body: &[u8], out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        let text = String::from_utf8_lossy(body);
        let value = json::body(&text)?;
        if is_error(&value) {
            return Err(reported(&text));
        }
        if !value.get("choices").is_some_and(Value::is_array) {
            let message = format!("the provider's answer holds no choices: {}", excerpt(&text));
            return Err(ModelError::new(ErrorKind::Protocol, message));
        }
        self.chunk(&value, out)?;
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

impl ChatDecoder {
    fn chunk(&mut self, chunk: &Value, out: &mut Vec<ModelEvent>) -> Result<(), ModelError> {
        self.count(chunk.get("usage"), out);
        self.count(chunk.get("x_groq").and_then(|extra| extra.get("usage")), out);
        for choice in chunk.get("choices").and_then(Value::as_array).into_iter().flatten() {
            let index = choice.get("index").and_then(Value::as_u64).unwrap_or(0);
            if *self.choice.get_or_insert(index) != index {
                continue;
            }
            self.count(choice.get("usage"), out);
            if let Some(delta) = self.delta_of(choice) {
                self.delta(delta, out);
            }
            if let Some(reason) = filled(choice.get("finish_reason")) {
                self.calls.complete_whole(out);
                self.finish = Some(finish_of(reason)?);
            }
        }
        Ok(())
    }

    /// What is new in a choice. Some repeat the whole message beside the delta.
    fn delta_of<'a>(&self, choice: &'a Value) -> Option<&'a Value> {
        let object = |name| choice.get(name).filter(|value| value.is_object());
        object("delta")
            .or_else(|| object("message").filter(|_| self.parts.next == 0 && self.calls.is_empty()))
    }

    fn delta(&mut self, delta: &Value, out: &mut Vec<ModelEvent>) {
        self.reasoning(delta, out);
        match delta.get("content") {
            Some(Value::String(text)) => self.text(text, out),
            Some(Value::Array(items)) => items.iter().for_each(|item| self.item(item, out)),
            _ => {}
        }
        if let Some(text) = filled(delta.get("refusal")) {
            self.refused = true;
            self.say(Voice::Text, text, out);
        }
        let calls = delta.get("tool_calls").and_then(Value::as_array).filter(|calls| !calls.is_empty());
        match (calls, delta.get("function_call").filter(|call| call.is_object())) {
            (Some(calls), _) => {
                for (place, call) in calls.iter().enumerate() {
                    self.call(CallDelta::read(call, place), out);
                }
            }
            (None, Some(legacy)) => self.call(CallDelta::read_legacy(legacy), out),
            (None, None) => {}
        }
    }

    /// Reasoning comes under several names, often under two at once.
    fn reasoning(&mut self, delta: &Value, out: &mut Vec<ModelEvent>) {
        let named = ["reasoning_content", "reasoning"].iter().find_map(|name| filled(delta.get(*name)));
        if let Some(text) = named {
            self.think.give_up();
            self.say(Voice::Reasoning, text, out);
            return;
        }
        for detail in delta.get("reasoning_details").and_then(Value::as_array).into_iter().flatten() {
            if let Some(text) = filled(detail.get("text")).or_else(|| filled(detail.get("summary"))) {
                self.think.give_up();
                self.say(Voice::Reasoning, text, out);
            }
        }
    }

    /// One entry of content that is a list.
    fn item(&mut self, item: &Value, out: &mut Vec<ModelEvent>) {
        if let Value::String(text) = item {
            return self.text(text, out);
        }
        match item.get("thinking") {
            Some(Value::String(text)) => self.say(Voice::Reasoning, text, out),
            Some(Value::Array(inner)) => {
                for text in inner.iter().filter_map(|item| filled(item.get("text"))) {
                    self.say(Voice::Reasoning, text, out);
                }
            }
            _ => {
                if let Some(text) = filled(item.get("text")) {
                    self.text(text, out);
                }
            }
        }
    }

    fn text(&mut self, text: &str, out: &mut Vec<ModelEvent>) {
        let mut think = std::mem::take(&mut self.think);
        think.push(text, |voice, piece| self.say(voice, piece, out));
        self.think = think;
    }

    fn say(&mut self, voice: Voice, text: &str, out: &mut Vec<ModelEvent>) {
        if text.is_empty() {
            return;
        }
        self.calls.complete_whole(out);
        let (part, delta) = (self.parts.words(voice), text.to_owned());
        out.push(match voice {
            Voice::Text => ModelEvent::TextDelta { part, delta },
            Voice::Reasoning => ModelEvent::ReasoningDelta { part, delta },
        });
    }

    fn call(&mut self, delta: CallDelta, out: &mut Vec<ModelEvent>) {
        self.flush_text(out);
        self.calls.push(delta, &mut || self.parts.begin(), out);
    }

    fn count(&mut self, value: Option<&Value>, out: &mut Vec<ModelEvent>) {
        let Some(usage) = value.and_then(tally::read) else { return };
        // Zeros after real counts are a blank form and not a correction.
        let blank = usage == Usage::default() && self.usage.is_some();
        if !blank && self.usage != Some(usage) {
            self.usage = Some(usage);
            out.push(ModelEvent::Usage(usage));
        }
    }

    fn flush_text(&mut self, out: &mut Vec<ModelEvent>) {
        let mut held = None;
        self.think.flush(|voice, piece| held = Some((voice, piece.to_owned())));
        if let Some((voice, piece)) = held {
            self.say(voice, &piece, out);
        }
    }

    fn end(&mut self, out: &mut Vec<ModelEvent>) {
        self.flush_text(out);
        let finish = match self.finish.take() {
            Some(Finish::Stop | Finish::ToolCalls) | None if self.refused => Finish::Refusal,
            Some(finish) => finish,
            None if self.calls.is_empty() => Finish::Stop,
            None => Finish::ToolCalls,
        };
        let ending = if finish == Finish::Length { Ending::Cut } else { Ending::Natural };
        self.calls.complete_all(ending, &mut || self.parts.begin(), out);
        self.ended = true;
        out.push(ModelEvent::Finished(finish));
    }

    /// Hands over what was held back before an error ends the answer.
    fn fail(&mut self, error: ModelError, out: &mut Vec<ModelEvent>) -> ModelError {
        self.flush_text(out);
        error
    }
}

/// What a provider's word for the end means.
fn finish_of(reason: &str) -> Result<Finish, ModelError> {
    let broke_off = |kind| {
        let message = format!("the provider broke the answer off (finish reason `{reason}`)");
        Err(ModelError::new(kind, message))
    };
    match reason {
        "stop" | "end_turn" | "eos" | "eos_token" | "stop_sequence" | "completed" => Ok(Finish::Stop),
        "tool_calls" | "tool_call" | "tool_use" | "function_call" => Ok(Finish::ToolCalls),
        "length" | "max_tokens" | "model_length" | "max_output_tokens" | "model_context_window_exceeded" => {
            Ok(Finish::Length)
        }
        "content_filter" | "refusal" | "safety" | "sensitive" => Ok(Finish::Refusal),
        "error" | "insufficient_system_resource" => broke_off(ErrorKind::Overloaded),
        "network_error" => broke_off(ErrorKind::Network),
        other => Ok(Finish::Other { reason: other.to_owned() }),
    }
}

/// Whether a chunk or a body is an error: `error` says something, or it is the flat form.
fn is_error(value: &Value) -> bool {
    let value = value.get(0).unwrap_or(value);
    let says_something = |error: &Value| match error {
        Value::Null | Value::Bool(false) => false,
        Value::String(text) => !text.is_empty(),
        Value::Object(fields) => !fields.is_empty(),
        Value::Bool(true) | Value::Number(_) | Value::Array(_) => true,
    };
    let nested = value.get("error").or_else(|| value.get("x_groq").and_then(|extra| extra.get("error")));
    let flat = value.get("choices").is_none()
        && (value.get("object").and_then(Value::as_str) == Some("error")
            || value.get("detail").is_some()
            || (filled(value.get("message")).is_some()
                && (value.get("code").is_some() || value.get("type").is_some())));
    nested.is_some_and(says_something) || flat
}

#[cfg(test)]
mod tests;
