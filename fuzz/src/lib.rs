//! What must hold of any bytes: nothing panics, and how bytes are split on
//! their way changes nothing. One target calls one function of these.
//!
//! The first byte of the input says how large the pieces are.

use rein_http::Headers;
use rein_http::sse::{Decoder, SseEvent};
use rein_llm::dialect::spoken;
use rein_llm::wire::{Shape, decode_response};
use rein_llm::{Begins, Dialect, Wire};
use rein_protocol::ToolSpec;
use serde_json::json;

/// An answer of a provider, as a stream and as a body. For Bedrock the stream is one of binary messages.
pub fn answer(wire: Wire, data: &[u8]) {
    let Some((first, body)) = data.split_first() else { return };
    let read = |split| decode_response(wire, Shape::Streamed, 200, &Headers::default(), body, split);
    assert_eq!(read(Some(usize::from(*first) + 1)), read(None), "a split changed the answer");
    let _ = decode_response(wire, Shape::Whole, 200, &Headers::default(), body, None);
    let _ = decode_response(wire, Shape::Whole, 429, &Headers::default(), body, None);
}

/// A stream of server-sent events.
pub fn server_sent_events(data: &[u8]) {
    let Some((first, body)) = data.split_first() else { return };
    let read = |size: usize| -> Vec<SseEvent> {
        let mut decoder = Decoder::default();
        for piece in body.chunks(size) {
            // Nothing here is as large as the limit.
            let _ = decoder.push(piece);
        }
        decoder.finish();
        std::iter::from_fn(|| decoder.next_event()).collect()
    };
    assert_eq!(read(usize::from(*first) + 1), read(body.len().max(1)), "a split changed the events");
}

/// The text of an answer, in the dialect that the second byte says.
pub fn dialects(data: &[u8]) {
    let [size, kind, text @ ..] = data else { return };
    let Ok(text) = std::str::from_utf8(text) else { return };
    let dialect = Dialect::ALL[usize::from(*kind) % Dialect::ALL.len()];
    let begins = if *kind < 128 { Begins::Answering } else { Begins::Thinking };
    let tools = [tool("read"), tool("write")];
    let mut pieces = Vec::new();
    let mut rest = text;
    while !rest.is_empty() {
        let end = rest.ceil_char_boundary(usize::from(*size) % 16 + 1);
        let (piece, tail) = rest.split_at(end);
        pieces.push(piece);
        rest = tail;
    }
    let whole = spoken(dialect, begins, &tools, &[text]);
    assert_eq!(spoken(dialect, begins, &tools, &pieces), whole, "a split changed what is found in {dialect}");
}

fn tool(name: &str) -> ToolSpec {
    ToolSpec {
        name: name.to_owned(),
        description: String::new(),
        input_schema: json!({"type": "object", "properties": {
            "path": {"type": "string"}, "count": {"type": "integer"}, "lines": {"type": "array"},
        }}),
    }
}
