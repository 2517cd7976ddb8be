//! How much room things take: bytes and pictures counted, and made tokens of.
//!
//! What a tokenizer would say is estimated from bytes. A [`Ruler`] is fitted to
//! what the provider counted the last time, so that the estimate is only about
//! what was added since.

use std::collections::HashMap;
use std::ops::{Add, AddAssign};

use rein_protocol::message::AssistantPart;
use rein_protocol::{CallId, Content, Entry, EntryBody, ToolInput, ToolSpec};

/// Tokens that a picture takes, about.
const IMAGE_TOKENS: u64 = 1_500;
/// Bytes that a message has beside its content: roles, ids, braces.
const FRAME: u64 = 16;

/// Bytes and pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Size {
    pub(crate) bytes: u64,
    pub(crate) images: u64,
}

impl Size {
    pub(crate) fn of_text(text: &str) -> Self {
        Self { bytes: text.len() as u64, images: 0 }
    }

    pub(crate) fn of_content(content: &[Content]) -> Self {
        content.iter().fold(Self { bytes: FRAME, images: 0 }, |size, piece| match piece {
            Content::Text { text } => size + Self::of_text(text),
            Content::Image { .. } => size + Self { bytes: 0, images: 1 },
        })
    }

    fn of_part(part: &AssistantPart) -> Self {
        let bytes = match part {
            AssistantPart::Text { text } => text.len() as u64,
            AssistantPart::Reasoning { text, opaque } => {
                let opaque = opaque.as_ref().map_or(0, json_length);
                (text.len() as u64).max(opaque)
            }
            AssistantPart::Call(call) => {
                let input = match &call.input {
                    ToolInput::Json { value } => json_length(value),
                    ToolInput::Malformed { text, .. } => text.len() as u64,
                };
                FRAME + call.tool.len() as u64 + input
            }
        };
        Self { bytes, images: 0 }
    }

    /// What an entry adds to a conversation, with the markers of results that are left out.
    pub(crate) fn of_entry(entry: &Entry, pruned: &HashMap<&CallId, &str>) -> Self {
        match &entry.body {
            EntryBody::User { content, .. } => Self::of_content(content),
            EntryBody::Part { body, .. } => Self::of_part(body),
            EntryBody::CallEnded { call, result } => match pruned.get(call) {
                Some(marker) => Self { bytes: FRAME, images: 0 } + Self::of_text(marker),
                None => Self::of_content(&result.content),
            },
            EntryBody::PersonRan { command, result, .. } => {
                Self::of_text(command) + Self::of_content(&result.content)
            }
            _ => Self::default(),
        }
    }

    /// What stands before every conversation.
    pub(crate) fn of_base(system: &[String], tools: &[ToolSpec]) -> Self {
        let words: u64 = system.iter().map(|text| text.len() as u64 + FRAME).sum();
        let specs: u64 = tools
            .iter()
            .map(|tool| {
                FRAME
                    + tool.name.len() as u64
                    + tool.description.len() as u64
                    + json_length(&tool.input_schema)
            })
            .sum();
        Self { bytes: words + specs, images: 0 }
    }
}

impl Add for Size {
    type Output = Self;
    fn add(self, other: Self) -> Self {
        Self {
            bytes: self.bytes.saturating_add(other.bytes),
            images: self.images.saturating_add(other.images),
        }
    }
}

impl AddAssign for Size {
    fn add_assign(&mut self, other: Self) {
        *self = *self + other;
    }
}

/// The length of a value as JSON, without writing it.
fn json_length(value: &serde_json::Value) -> u64 {
    use serde_json::Value;
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(number) => number.to_string().len() as u64,
        Value::String(text) => text.len() as u64 + 2,
        Value::Array(items) => items.iter().map(|item| json_length(item) + 1).sum::<u64>() + 2,
        Value::Object(fields) => {
            fields.iter().map(|(name, item)| name.len() as u64 + 4 + json_length(item)).sum::<u64>() + 2
        }
    }
}

/// How many bytes a token has.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Ruler {
    bytes_per_token: f64,
}

impl Default for Ruler {
    /// For code and prose of any language; rather too many tokens than too few.
    fn default() -> Self {
        Self { bytes_per_token: 3.5 }
    }
}

impl Ruler {
    /// Fitted to what a provider counted. Nothing if the count cannot be meant: some count only
    /// what they did not have in a cache, or nothing at all.
    pub(crate) fn fitted(size: Size, counted: u64) -> Option<Self> {
        let words = counted.checked_sub(size.images * IMAGE_TOKENS).filter(|words| *words > 0)?;
        let bytes_per_token = size.bytes as f64 / words as f64;
        (1.0..=10.0).contains(&bytes_per_token).then_some(Self { bytes_per_token })
    }

    /// Tokens, rounded up.
    pub(crate) fn tokens(self, size: Size) -> u64 {
        let words = (size.bytes as f64 / self.bytes_per_token).ceil();
        (words as u64).saturating_add(size.images.saturating_mul(IMAGE_TOKENS))
    }

    pub(crate) fn tokens_of_text(self, text: &str) -> u64 {
        self.tokens(Size::of_text(text))
    }

    /// Bytes that fit into so many tokens.
    pub(crate) fn bytes(self, tokens: u64) -> usize {
        (tokens as f64 * self.bytes_per_token) as usize
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_ruler_is_fitted_to_plausible_counts_only() {
        let size = Size { bytes: 8_000, images: 0 };
        assert_eq!(Ruler::fitted(size, 2_000).map(|ruler| ruler.tokens(size)), Some(2_000));
        for counted in [0, 1, 100, 80_000] {
            assert_eq!(Ruler::fitted(size, counted), None, "{counted}");
        }
        let pictures = Size { bytes: 400, images: 2 };
        assert_eq!(Ruler::fitted(pictures, 3_100).map(|ruler| ruler.tokens(pictures)), Some(3_100));
    }

    #[test]
    fn the_length_of_json_is_about_that_of_its_text() {
        let value = serde_json::json!({"path": "src/main.rs", "lines": [1, 2, 300], "all": true, "of": null});
        let text = value.to_string().len() as u64;
        assert!(json_length(&value).abs_diff(text) <= 8, "{} {text}", json_length(&value));
    }
}
