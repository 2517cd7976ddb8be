//! Blocks that only the provider understands: what its own tools were asked and
//! found, what it made of an earlier conversation. They go back as they came.

use serde_json::{Map, Value};

/// A block while it arrives.
#[derive(Debug)]
pub(super) struct KeptBlock {
    block: Map<String, Value>,
    /// The JSON of its input, as far as it has come.
    input: String,
}

impl KeptBlock {
    /// A block as it begins.
    pub(super) fn new(block: &Value) -> Self {
        Self { block: block.as_object().cloned().unwrap_or_default(), input: String::new() }
    }

    /// More of its input.
    pub(super) fn add_input(&mut self, piece: &str) {
        self.input.push_str(piece);
    }

    /// A delta of any other kind: texts go on, lists grow, what was null is filled.
    pub(super) fn add(&mut self, delta: &Value) {
        for (name, more) in delta.as_object().into_iter().flatten().filter(|(name, _)| *name != "type") {
            match (self.block.get_mut(name), more) {
                (Some(Value::String(text)), Value::String(more)) => text.push_str(more),
                (Some(Value::Array(list)), Value::Array(more)) => list.extend(more.iter().cloned()),
                (_, Value::Null) => {}
                _ => {
                    self.block.insert(name.clone(), more.clone());
                }
            }
        }
    }

    /// The block as it goes back.
    pub(super) fn finish(mut self) -> Value {
        if !self.input.trim().is_empty() {
            // What was cut is no input, and the provider would refuse it.
            let input = serde_json::from_str(&self.input).unwrap_or_else(|_| Value::Object(Map::new()));
            self.block.insert("input".to_owned(), input);
        }
        Value::Object(self.block)
    }
}
