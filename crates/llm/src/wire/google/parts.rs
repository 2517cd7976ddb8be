//! The parts of an answer: texts, thoughts, calls, and what only the provider
//! understands.
//!
//! A stream cuts texts anywhere, so what follows each other in one voice is one
//! part, and a signature that came on a piece of it goes back on all of it. It
//! is told when the text is over, because nothing may come between its pieces.

use serde_json::{Value, json};

use super::{partial, sealed};
use crate::event::ModelEvent;
use crate::wire::blocks::Blocks;
use crate::wire::json::filled;

/// The parts of one answer.
#[derive(Debug, Default)]
pub(super) struct Parts {
    blocks: Blocks,
    /// The number of the block that is open, or of the next.
    index: u64,
    voice: Option<Voice>,
    /// Signatures of the text that is open.
    signatures: Vec<Value>,
    /// The arguments of a call that comes bit by bit.
    growing: Option<Value>,
}

/// Who a text is for: the person, or the model itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Voice {
    Text,
    Thought,
}

impl Parts {
    /// Whether there was a call.
    pub(super) fn called(&self) -> bool {
        self.blocks.called()
    }

    /// Takes the next part.
    pub(super) fn push(&mut self, part: &Value, out: &mut Vec<ModelEvent>) {
        let signature = filled(part.get("thoughtSignature"));
        if let Some(call) = part.get("functionCall").filter(|call| call.is_object()) {
            return self.call(call, signature, out);
        }
        self.end_call(out);
        let known = ["text", "thought", "thoughtSignature"];
        let fields = part.as_object();
        if fields.is_none_or(|fields| fields.keys().any(|name| !known.contains(&name.as_str()))) {
            if fields.is_some_and(|fields| !fields.is_empty()) {
                self.keep(&sealed::part(part), out);
            }
            return;
        }
        let text = filled(part.get("text")).unwrap_or_default();
        if part.get("thought").and_then(Value::as_bool) == Some(true) {
            self.thought(text, signature, out);
        } else {
            self.text(text, signature, out);
        }
    }

    /// Takes a piece of text or of a thought that is nothing else.
    pub(super) fn piece(&mut self, text: &str, voice: Voice, out: &mut Vec<ModelEvent>) {
        self.end_call(out);
        match voice {
            Voice::Text => self.text(text, None, out),
            Voice::Thought => self.thought(text, None, out),
        }
    }

    /// The answer is over.
    pub(super) fn end(&mut self, out: &mut Vec<ModelEvent>) {
        self.end_call(out);
        self.end_words(out);
        self.blocks.end_all(out);
    }

    fn text(&mut self, text: &str, signature: Option<&str>, out: &mut Vec<ModelEvent>) {
        if !text.is_empty() {
            self.speak(Voice::Text, out);
            self.blocks.text(self.index, text.to_owned(), out);
        }
        if let Some(signature) = signature {
            let on = if text.is_empty() { "nothing" } else { "text" };
            self.signatures.push(sealed::signature(on, signature));
        }
    }

    fn thought(&mut self, text: &str, signature: Option<&str>, out: &mut Vec<ModelEvent>) {
        self.speak(Voice::Thought, out);
        self.blocks.reasoning(self.index, text.to_owned(), out);
        if let Some(signature) = signature {
            self.blocks.keep(self.index, |_| sealed::signature("thought", signature));
        }
    }

    fn call(&mut self, call: &Value, signature: Option<&str>, out: &mut Vec<ModelEvent>) {
        let name = filled(call.get("name"));
        if let (None, Some(arguments)) = (name, &mut self.growing) {
            for piece in call.get("partialArgs").and_then(Value::as_array).into_iter().flatten() {
                partial::add(arguments, piece);
            }
            if call.get("willContinue").and_then(Value::as_bool) != Some(true) {
                self.end_call(out);
            }
            return;
        }
        self.end_call(out);
        self.end_words(out);
        let id = filled(call.get("id"));
        if let Some(kept) = sealed::call(signature, id) {
            self.keep(&kept, out);
        }
        self.blocks.call(self.index, id.unwrap_or_default(), name.unwrap_or_default(), out);
        let mut arguments =
            call.get("args").filter(|args| args.is_object()).cloned().unwrap_or_else(|| json!({}));
        for piece in call.get("partialArgs").and_then(Value::as_array).into_iter().flatten() {
            partial::add(&mut arguments, piece);
        }
        self.growing = Some(arguments);
        if call.get("willContinue").and_then(Value::as_bool) != Some(true) {
            self.end_call(out);
        }
    }

    fn end_call(&mut self, out: &mut Vec<ModelEvent>) {
        if let Some(arguments) = self.growing.take() {
            self.blocks.arguments(self.index, arguments.to_string(), out);
            self.blocks.end(self.index, out);
            self.index += 1;
        }
    }

    /// Somebody else may have spoken until now.
    fn speak(&mut self, voice: Voice, out: &mut Vec<ModelEvent>) {
        if self.voice != Some(voice) {
            self.end_words(out);
            self.voice = Some(voice);
        }
    }

    fn end_words(&mut self, out: &mut Vec<ModelEvent>) {
        if self.voice.take().is_some() {
            self.blocks.end(self.index, out);
            self.index += 1;
        }
        for signature in std::mem::take(&mut self.signatures) {
            self.put(signature, out);
        }
    }

    fn keep(&mut self, kept: &Value, out: &mut Vec<ModelEvent>) {
        self.end_words(out);
        self.put(kept.clone(), out);
    }

    fn put(&mut self, kept: Value, out: &mut Vec<ModelEvent>) {
        self.blocks.keep(self.index, |_| kept);
        self.blocks.end(self.index, out);
        self.index += 1;
    }
}
