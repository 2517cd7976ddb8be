//! The codecs by themselves, in this process: bytes of an answer to events, and
//! a long conversation to the bytes of a request.
//!
//! One core, no socket. What is measured is this program's own build of the
//! codecs, so it says something only when it was built for release.

use std::time::Instant;

use rein_llm::wire::{AnswerDecoder, Framing};
use rein_llm::{ModelEvent, ModelRequest, Quirks, Wire};
use rein_protocol::message::AssistantPart;
use rein_protocol::{CallId, Content, Message, ModelRef, ToolCall, ToolInput};
use serde_json::json;

use crate::error::BenchError;
use crate::row::{Row, Sample, Target};
use crate::trial::Bench;

pub const DECODE: &str = "decode20mb";
pub const ENCODE: &str = "encode1mb";
const STREAM: usize = 20_000_000;
const HISTORY: usize = 1_000_000;
/// As much as a socket hands over at once.
const PIECE: usize = 16 << 10;
const WORDS: &str = "twenty characters it";

/// 20 MB of server-sent events of every wire that has them: 200 MB in a second.
pub fn measure_decode(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    let spoken = Wire::ALL.into_iter().filter(|wire| wire.framing() == Framing::ServerSentEvents);
    spoken.map(|wire| decode(bench, wire)).collect()
}

/// A conversation of 1 MB on every wire.
pub fn measure_encode(bench: &Bench) -> Result<Vec<Row>, BenchError> {
    Wire::ALL.into_iter().map(|wire| encode(bench, wire)).collect()
}

fn decode(bench: &Bench, wire: Wire) -> Result<Row, BenchError> {
    let name = format!("{DECODE}-{}", wire.name());
    let (stream, deltas) = stream(wire);
    let mut run = || {
        let began = Instant::now();
        let mut decoder = AnswerDecoder::new(wire);
        let (mut events, mut bytes) = (Vec::new(), 0);
        for piece in stream.chunks(PIECE) {
            decoder
                .push(piece, &mut events)
                .map_err(|error| BenchError::incorrect(&name, error.to_string()))?;
            bytes += events.drain(..).map(|event| said(&event)).sum::<usize>();
        }
        let wall_ms = began.elapsed().as_secs_f64() * 1e3;
        match bytes == deltas * WORDS.len() {
            true => Ok(Sample { wall_ms, ..Sample::default() }),
            false => Err(BenchError::incorrect(&name, format!("{bytes} bytes were said"))),
        }
    };
    let samples = samples(bench.runs, &mut run)?;
    let row = Row::of(name.as_str(), samples, [Target::wall(stream.len() as f64 / 200e6 * 1e3)]);
    let speed = stream.len() as f64 / 1e3 / row.wall().median.max(f64::EPSILON);
    Ok(row.reference("decoded", speed, "MB/s"))
}

fn said(event: &ModelEvent) -> usize {
    match event {
        ModelEvent::TextDelta { delta, .. } => delta.len(),
        _ => 0,
    }
}

/// An answer in small deltas without its end, and how many of them there are.
fn stream(wire: Wire) -> (Vec<u8>, usize) {
    let (head, delta) = match wire {
        Wire::OpenAiChat => (
            String::new(),
            json!({"id": "chatcmpl-1", "object": "chat.completion.chunk", "created": 1_700_000_000, "model": "m",
                "choices": [{"index": 0, "delta": {"content": WORDS}, "finish_reason": null}]}),
        ),
        Wire::OpenAiResponses => (
            event(&json!({"type": "response.output_item.added", "output_index": 0,
                "item": {"id": "m", "type": "message", "role": "assistant", "content": []}})),
            json!({"type": "response.output_text.delta", "item_id": "m", "output_index": 0, "content_index": 0,
                "delta": WORDS, "sequence_number": 1}),
        ),
        Wire::Google => (
            String::new(),
            json!({"candidates": [{"content": {"parts": [{"text": WORDS}], "role": "model"}, "index": 0}],
                "modelVersion": "m"}),
        ),
        Wire::Anthropic | Wire::Bedrock => (
            event(
                &json!({"type": "content_block_start", "index": 0, "content_block": {"type": "text", "text": ""}}),
            ),
            json!({"type": "content_block_delta", "index": 0, "delta": {"type": "text_delta", "text": WORDS}}),
        ),
    };
    let delta = match wire {
        Wire::OpenAiChat | Wire::Google => format!("data: {delta}\n\n"),
        Wire::OpenAiResponses | Wire::Anthropic | Wire::Bedrock => event(&delta),
    };
    let deltas = STREAM / delta.len();
    ((head + &delta.repeat(deltas)).into_bytes(), deltas)
}

fn event(data: &serde_json::Value) -> String {
    format!("event: {}\ndata: {data}\n\n", data["type"].as_str().unwrap_or_default())
}

fn encode(bench: &Bench, wire: Wire) -> Result<Row, BenchError> {
    let name = format!("{ENCODE}-{}", wire.name());
    let (request, quirks) = (history(), Quirks::default());
    let mut run = || {
        let began = Instant::now();
        let encoded = wire
            .encode(&request, &quirks)
            .map_err(|error| BenchError::incorrect(&name, error.to_string()))?;
        let wall_ms = began.elapsed().as_secs_f64() * 1e3;
        match encoded.body.len() >= HISTORY {
            true => Ok(Sample { wall_ms, bytes_sent: encoded.body.len(), ..Sample::default() }),
            false => Err(BenchError::incorrect(&name, format!("it has {} bytes", encoded.body.len()))),
        }
    };
    Ok(Row::of(name.as_str(), samples(bench.runs, &mut run)?, [Target::wall(5.0)]))
}

/// Prompts, answers with calls, and results, of a megabyte of words together.
fn history() -> ModelRequest {
    let model = ModelRef { provider: "p".to_owned(), model: "m".to_owned() };
    let result = "a line of a file with \"quotes\" and an end\n".repeat(90);
    let round = |number: usize| {
        let call = ToolCall {
            id: CallId::new(),
            wire_id: format!("call_{number}"),
            tool: "read".to_owned(),
            input: ToolInput::Json { value: json!({"path": "src/main.rs", "offset": number}) },
        };
        let answer = Message::Tool {
            call: call.id.clone(),
            wire_id: call.wire_id.clone(),
            tool: call.tool.clone(),
            content: vec![Content::text(result.as_str())],
            is_error: false,
        };
        let words = AssistantPart::Text { text: "I look at the next part of the file.".to_owned() };
        let said = Message::Assistant { model: model.clone(), parts: vec![words, AssistantPart::Call(call)] };
        [Message::User { content: vec![Content::text("And the next?")] }, said, answer]
    };
    let rounds = HISTORY / result.len() + 1;
    ModelRequest {
        model: model.model.clone(),
        system: vec!["You are rein.".to_owned()],
        messages: (0..rounds).flat_map(round).collect(),
        ..ModelRequest::default()
    }
}

/// Runs once to warm up and then so many times.
fn samples(
    runs: usize,
    run: &mut dyn FnMut() -> Result<Sample, BenchError>,
) -> Result<Vec<Sample>, BenchError> {
    run()?;
    (0..runs).map(|_| run()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_stream_is_one_that_its_wire_reads() {
        for wire in Wire::ALL.into_iter().filter(|wire| wire.framing() == Framing::ServerSentEvents) {
            let (bytes, _) = stream(wire);
            let mut events = Vec::new();
            AnswerDecoder::new(wire).push(&bytes[..64 << 10], &mut events).unwrap();
            assert!(events.len() > 200 && events.iter().all(|event| said(event) == WORDS.len()), "{wire:?}");
        }
    }
}
