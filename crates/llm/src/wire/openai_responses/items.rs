//! The items of an answer: messages, reasoning, calls, and what only the
//! provider understands.
//!
//! An item is known by its place in the answer; ids are not to be relied on,
//! because some servers give an item another one with every event. What was
//! told in pieces is not told again when the item is whole.

use std::collections::HashMap;

use serde_json::{Value, json};

use super::plain::PieceKind;
use crate::event::ModelEvent;
use crate::wire::Wire;
use crate::wire::blocks::Blocks;
use crate::wire::json::filled;
use crate::wire::opaque::seal;

/// Where what belongs to a message is kept beside it.
const BESIDE: u64 = 1 << 32;

/// The items of one answer.
#[derive(Debug, Default)]
pub(super) struct Items {
    blocks: Blocks,
    open: HashMap<u64, Item>,
    any: bool,
    refused: bool,
}

#[derive(Debug)]
struct Item {
    kind: Kind,
    /// Whether anything of it was told.
    told: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Message,
    Reasoning,
    Call,
    /// A call whose input is text. It is told as an object that holds the text as `input`.
    TextCall,
    /// What goes back as it came.
    Kept,
}

impl Kind {
    fn of(item: &Value) -> Self {
        match filled(item.get("type")).unwrap_or_default() {
            "message" => Self::Message,
            "reasoning" => Self::Reasoning,
            "function_call" => Self::Call,
            "custom_tool_call" => Self::TextCall,
            _ => Self::Kept,
        }
    }
}

impl Items {
    /// Whether there was an item.
    pub(super) fn any(&self) -> bool {
        self.any
    }

    /// Whether the model refused.
    pub(super) fn refused(&self) -> bool {
        self.refused
    }

    /// Whether there was a call.
    pub(super) fn called(&self) -> bool {
        self.blocks.called()
    }

    /// An item begins.
    pub(super) fn begin(&mut self, index: u64, item: &Value, out: &mut Vec<ModelEvent>) {
        self.any = true;
        if self.open.contains_key(&index) {
            return;
        }
        let kind = Kind::of(item);
        match kind {
            Kind::Message => {
                self.blocks.part_text();
                self.phase(index, item, out);
            }
            Kind::Call | Kind::TextCall => {
                let id = filled(item.get("call_id")).or_else(|| filled(item.get("id")));
                let name = filled(item.get("name")).unwrap_or_default();
                self.blocks.call(index, id.unwrap_or_default(), name, out);
                if kind == Kind::TextCall {
                    self.blocks.arguments(index, "{\"input\":\"".to_owned(), out);
                }
            }
            Kind::Reasoning | Kind::Kept => {}
        }
        self.open.insert(index, Item { kind, told: false });
    }

    /// A piece of an item, which may not have begun.
    pub(super) fn piece(&mut self, index: u64, kind: PieceKind, text: String, out: &mut Vec<ModelEvent>) {
        self.any = true;
        if text.is_empty() {
            return;
        }
        if let Some(item) = self.open.get_mut(&index) {
            item.told = true;
        } else if let PieceKind::Text | PieceKind::Refusal | PieceKind::Reasoning = kind {
            let of = if kind == PieceKind::Reasoning { Kind::Reasoning } else { Kind::Message };
            self.open.insert(index, Item { kind: of, told: true });
        }
        match kind {
            PieceKind::Text => self.blocks.text(index, text, out),
            PieceKind::Refusal => {
                self.refused = true;
                self.blocks.text(index, text, out);
            }
            PieceKind::Reasoning => self.blocks.reasoning(index, text, out),
            PieceKind::Arguments => self.blocks.arguments(index, text, out),
            PieceKind::Input => self.blocks.arguments(index, escaped(&text), out),
        }
    }

    /// Another paragraph of a summary begins.
    pub(super) fn paragraph(&mut self, index: u64, out: &mut Vec<ModelEvent>) {
        if self.open.get(&index).is_some_and(|item| item.told) {
            self.blocks.reasoning(index, "\n\n".to_owned(), out);
        }
    }

    /// An item is whole.
    pub(super) fn end(&mut self, index: u64, item: &Value, out: &mut Vec<ModelEvent>) {
        self.begin(index, item, out);
        let Some(Item { kind, told }) = self.open.remove(&index) else { return };
        match kind {
            Kind::Message if !told => self.message(index, item, out),
            Kind::Message => {}
            Kind::Reasoning => {
                if !told {
                    self.blocks.reasoning(index, thoughts(item), out);
                }
                if goes_back(item) {
                    self.blocks.keep(index, |_| seal(Wire::OpenAiResponses, item.clone()));
                }
            }
            Kind::Call => {
                if let Some(whole) = filled(item.get("arguments")) {
                    self.blocks.whole_arguments(index, whole, out);
                }
            }
            Kind::TextCall => {
                if !told && let Some(input) = filled(item.get("input")) {
                    self.blocks.arguments(index, escaped(input), out);
                }
                self.blocks.arguments(index, "\"}".to_owned(), out);
            }
            Kind::Kept if item.is_object() => {
                self.blocks.keep(index, |_| seal(Wire::OpenAiResponses, item.clone()));
            }
            Kind::Kept => {}
        }
        self.blocks.end(index, out);
    }

    /// The answer is over.
    pub(super) fn end_all(&mut self, out: &mut Vec<ModelEvent>) {
        self.blocks.end_all(out);
    }

    /// What a message is to the answer, which the model wants to see again with it.
    fn phase(&mut self, index: u64, item: &Value, out: &mut Vec<ModelEvent>) {
        if let Some(phase) = filled(item.get("phase")) {
            let block = json!({"type": "message", "phase": phase});
            self.blocks.keep(index | BESIDE, |_| seal(Wire::OpenAiResponses, block));
            self.blocks.end(index | BESIDE, out);
        }
    }

    /// The words of a message of which nothing was told.
    fn message(&mut self, index: u64, item: &Value, out: &mut Vec<ModelEvent>) {
        for part in item.get("content").and_then(Value::as_array).into_iter().flatten() {
            if let Some(refusal) = filled(part.get("refusal")) {
                self.refused = true;
                self.blocks.text(index, refusal.to_owned(), out);
            } else if let Some(text) = filled(part.get("text")) {
                self.blocks.text(index, text.to_owned(), out);
            }
        }
    }
}

/// Reasoning of which the provider keeps nothing: sealed, or in the open. What is neither is only a name, which it
/// does not know any more.
fn goes_back(item: &Value) -> bool {
    let open = item.get("content").and_then(Value::as_array).is_some_and(|content| !content.is_empty());
    open || filled(item.get("encrypted_content")).is_some()
}

/// What a whole item of reasoning says.
fn thoughts(item: &Value) -> String {
    let texts = |name: &str| -> Vec<&str> {
        let list = item.get(name).and_then(Value::as_array).into_iter().flatten();
        list.filter_map(|part| filled(part.get("text"))).collect()
    };
    let summary = texts("summary");
    if summary.is_empty() { texts("content").join("\n\n") } else { summary.join("\n\n") }
}

/// A piece of text as it stands within a JSON string.
fn escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted.get(1..quoted.len().saturating_sub(1)).unwrap_or_default().to_owned()
}
