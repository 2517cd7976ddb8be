//! The event that nearly all of a stream consists of: a piece of text, of
//! thinking or of arguments. Read without a tree of values, because an answer
//! has tens of thousands. Whatever is not exactly that is left to the decoder.

use std::borrow::Cow;

use serde::Deserialize;

#[derive(Deserialize)]
struct Event<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(default)]
    index: u64,
    #[serde(borrow)]
    delta: Delta<'a>,
}

#[derive(Deserialize)]
struct Delta<'a> {
    #[serde(borrow, rename = "type")]
    kind: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    thinking: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    partial_json: Option<Cow<'a, str>>,
}

/// What a piece belongs to.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    Text(String),
    Thinking(String),
    Arguments(String),
}

/// The block and the piece that an event adds to it.
pub(super) fn piece(data: &str) -> Option<(u64, Piece)> {
    let event: Event = serde_json::from_str(data).ok()?;
    if event.kind != "content_block_delta" {
        return None;
    }
    let Delta { kind, text, thinking, partial_json } = event.delta;
    let piece = match kind.as_ref() {
        "text_delta" => Piece::Text(text?.into_owned()),
        "thinking_delta" => Piece::Thinking(thinking?.into_owned()),
        "input_json_delta" => Piece::Arguments(partial_json?.into_owned()),
        _ => return None,
    };
    Some((event.index, piece))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_pieces_are_plain() {
        let text = r#"{"type":"content_block_delta","index":2,"delta":{"type":"text_delta","text":"a\"b"}}"#;
        assert_eq!(piece(text), Some((2, Piece::Text("a\"b".to_owned()))));
        let others = [
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"s"}}"#,
            r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta"}}"#,
            r#"{"type":"message_delta","delta":{"type":"text_delta","text":"a"}}"#,
            r#"{"type":"ping"}"#,
            "x",
        ];
        for other in others {
            assert_eq!(piece(other), None, "{other}");
        }
    }
}
