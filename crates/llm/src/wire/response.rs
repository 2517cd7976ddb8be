//! A whole recorded answer decoded at once, by the same steps as a live one.

use rein_http::Headers;
use rein_protocol::{Finish, Timestamp, Usage};
use serde_json::Value;

use super::{AnswerDecoder, Wire};
use crate::error::{ModelError, classify};
use crate::event::ModelEvent;

/// In what form an answer was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shape {
    /// As a stream of events.
    Streamed,
    /// As one body.
    Whole,
}

/// What an answer comes to.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Decoded {
    /// All words.
    pub text: String,
    /// All reasoning.
    pub reasoning: String,
    /// What goes with the reasoning, unreadable.
    pub opaque: Vec<Value>,
    /// The complete calls, in the order in which they began.
    pub calls: Vec<DecodedCall>,
    /// How it ended; nothing if it broke off.
    pub finish: Option<Finish>,
    /// What was used, if the provider said so.
    pub usage: Option<Usage>,
    /// What went wrong; the rest is what had come until then.
    pub error: Option<ModelError>,
}

/// A call in an answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DecodedCall {
    /// The provider's id of it.
    pub id: String,
    /// The tool's name.
    pub name: String,
    /// The arguments as the model wrote them.
    pub arguments: String,
}

/// Decodes an answer from its status, headers and bytes, handed over in pieces
/// of `split` bytes, or at once.
#[must_use]
pub fn decode_response(
    wire: Wire,
    shape: Shape,
    status: u16,
    headers: &Headers,
    body: &[u8],
    split: Option<usize>,
) -> Decoded {
    if !(200..300).contains(&status) {
        let error = classify(Some(status), headers, &String::from_utf8_lossy(body), Timestamp::now());
        return Decoded { error: Some(error), ..Decoded::default() };
    }
    let mut events = Vec::new();
    let result = match shape {
        Shape::Streamed => decode_stream(wire, body, split, &mut events),
        Shape::Whole => wire.decoder().body(body, &mut events),
    };
    Decoded { error: result.err(), ..gather(events) }
}

fn decode_stream(
    wire: Wire,
    body: &[u8],
    split: Option<usize>,
    events: &mut Vec<ModelEvent>,
) -> Result<(), ModelError> {
    let mut decoder = AnswerDecoder::new(wire);
    for piece in body.chunks(split.unwrap_or(body.len()).max(1)) {
        decoder.push(piece, events)?;
        if decoder.ended() {
            return Ok(());
        }
    }
    decoder.finish(events)
}

fn gather(events: Vec<ModelEvent>) -> Decoded {
    let mut decoded = Decoded::default();
    let mut calls = Vec::new();
    for event in events {
        match event {
            ModelEvent::TextDelta { delta, .. } => decoded.text.push_str(&delta),
            ModelEvent::ReasoningDelta { delta, .. } => decoded.reasoning.push_str(&delta),
            ModelEvent::ReasoningOpaque { opaque, .. } => decoded.opaque.push(opaque),
            ModelEvent::CallStarted { .. } | ModelEvent::CallDelta { .. } => {}
            ModelEvent::CallCompleted { part, wire_id, tool, arguments } => {
                calls.push((part, DecodedCall { id: wire_id, name: tool, arguments }));
            }
            ModelEvent::Usage(usage) => decoded.usage = Some(usage),
            ModelEvent::Finished(finish) => decoded.finish = Some(finish),
        }
    }
    calls.sort_by_key(|(part, _)| *part);
    decoded.calls = calls.into_iter().map(|(_, call)| call).collect();
    decoded
}
