//! The event that nearly all of a stream consists of: a piece of text, of
//! reasoning or of arguments. Read without a tree of values, because an answer
//! has tens of thousands. Whatever is not exactly that is left to the decoder.

use std::borrow::Cow;

use serde::Deserialize;

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    output_index: u64,
    #[serde(borrow)]
    delta: Cow<'a, str>,
}

/// What a piece belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PieceKind {
    Text,
    Refusal,
    Reasoning,
    Arguments,
    /// What is written to a tool that takes text instead of JSON.
    Input,
}

impl PieceKind {
    /// The kind that an event's type names.
    pub(super) fn of(kind: &str) -> Option<Self> {
        Some(match kind {
            "response.output_text.delta" => Self::Text,
            "response.refusal.delta" => Self::Refusal,
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => Self::Reasoning,
            "response.function_call_arguments.delta" => Self::Arguments,
            "response.custom_tool_call_input.delta" => Self::Input,
            _ => return None,
        })
    }
}

/// The item, and the piece that an event adds to it.
pub(super) fn piece(data: &str) -> Option<(u64, PieceKind, String)> {
    let event: Event = serde_json::from_str(data).ok()?;
    Some((event.output_index, PieceKind::of(&event.kind)?, event.delta.into_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pieces_are_plain() {
        let text = r#"{"type":"response.output_text.delta","item_id":"m","output_index":2,"delta":"a\"b","logprobs":[]}"#;
        assert_eq!(piece(text), Some((2, PieceKind::Text, "a\"b".to_owned())));
        let others = [
            r#"{"type":"response.output_text.delta","delta":"no index"}"#,
            r#"{"type":"response.output_text.delta","output_index":0,"delta":{"text":"a"}}"#,
            r#"{"type":"response.output_item.added","output_index":0,"item":{}}"#,
            "x",
        ];
        for other in others {
            assert_eq!(piece(other), None, "{other}");
        }
    }
}
