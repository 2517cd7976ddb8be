//! Decoders of every wire against what no provider would send: they end, they
//! keep their contract, and they do not make much of little.

use proptest::prelude::*;
use rein_llm::wire::AnswerDecoder;
use rein_llm::{ModelEvent, Wire};
use serde_json::{Map, Value};

use crate::speech::{self, End, Say};

/// Names and words that some wire understands.
const NAMES: [&str; 44] = [
    "type",
    "index",
    "id",
    "name",
    "text",
    "delta",
    "choices",
    "content",
    "tool_calls",
    "function",
    "arguments",
    "finish_reason",
    "usage",
    "error",
    "message",
    "code",
    "role",
    "content_block",
    "input",
    "partial_json",
    "signature",
    "thinking",
    "stop_reason",
    "candidates",
    "parts",
    "functionCall",
    "args",
    "thought",
    "thoughtSignature",
    "finishReason",
    "usageMetadata",
    "response",
    "item",
    "output_index",
    "output",
    "status",
    "call_id",
    "encrypted_content",
    "summary",
    "incomplete_details",
    "contentBlockIndex",
    "toolUse",
    "stopReason",
    "reasoning_content",
];
const WORDS: [&str; 28] = [
    "",
    "a",
    "stop",
    "tool_calls",
    "length",
    "text",
    "tool_use",
    "thinking",
    "message_start",
    "content_block_start",
    "content_block_delta",
    "content_block_stop",
    "message_delta",
    "message_stop",
    "error",
    "text_delta",
    "input_json_delta",
    "signature_delta",
    "response.created",
    "response.output_item.added",
    "response.output_item.done",
    "response.output_text.delta",
    "response.completed",
    "function_call",
    "reasoning",
    "STOP",
    "{\"a\":",
    "\u{1F600}",
];

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (0_u64..4).prop_map(Value::from),
        proptest::sample::select(&WORDS[..]).prop_map(Value::from),
    ];
    leaf.prop_recursive(5, 40, 5, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((proptest::sample::select(&NAMES[..]), inner), 0..6).prop_map(
                |fields| {
                    Value::Object(
                        fields
                            .into_iter()
                            .map(|(name, value)| (name.to_owned(), value))
                            .collect::<Map<_, _>>(),
                    )
                }
            ),
        ]
    })
}

/// Decodes in pieces and checks what holds for any bytes.
fn survive(wire: Wire, bytes: &[u8], split: usize) {
    let mut decoder = AnswerDecoder::new(wire);
    let mut events = Vec::new();
    let mut end = Ok(());
    for piece in bytes.chunks(split.max(1)) {
        end = decoder.push(piece, &mut events);
        if end.is_err() || decoder.ended() {
            break;
        }
    }
    if end.is_ok() && !decoder.ended() {
        end = decoder.finish(&mut events);
    }
    let finished = events.iter().filter(|event| matches!(event, ModelEvent::Finished(_))).count();
    assert_eq!(finished, usize::from(end.is_ok()), "{wire:?}: {events:?}");
    let told: usize = events
        .iter()
        .map(|event| match event {
            ModelEvent::TextDelta { delta, .. }
            | ModelEvent::ReasoningDelta { delta, .. }
            | ModelEvent::CallDelta { delta, .. } => delta.len(),
            ModelEvent::CallCompleted { arguments, .. } => arguments.len(),
            ModelEvent::ReasoningOpaque { opaque, .. } => opaque.to_string().len(),
            ModelEvent::CallStarted { .. } | ModelEvent::Usage(_) | ModelEvent::Finished(_) => 0,
        })
        .sum();
    assert!(told <= 4 * bytes.len() + 4096, "{wire:?}: {told} bytes of {}", bytes.len());
}

proptest! {
    #[test]
    fn frames_of_any_json_are_survived(frames in proptest::collection::vec(value(), 0..12), split in 1_usize..64) {
        let lines: String = frames.iter().map(|frame| format!("data: {frame}\n\n")).collect();
        let named: String = frames
            .iter()
            .map(|frame| format!("event: {}\ndata: {frame}\n\n", frame["type"].as_str().unwrap_or("x")))
            .collect();
        let bodies = frames.first().map(ToString::to_string).unwrap_or_default();
        for wire in Wire::ALL {
            for text in [&lines, &named, &bodies] {
                survive(wire, text.as_bytes(), split);
            }
        }
    }

    #[test]
    fn an_answer_with_bytes_changed_is_survived(
        places in proptest::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6),
        split in 1_usize..64,
    ) {
        let call = Say::Call { id: "c", tool: "read", arguments: "{\"path\":\"a\"}" };
        for wire in Wire::ALL {
            let mut bytes = speech::answer(wire, &[Say::Thought("t"), Say::Text("x"), call, Say::End(End::Calls)]);
            for (place, byte) in &places {
                let at = place.index(bytes.len());
                bytes[at] = *byte;
            }
            survive(wire, &bytes, split);
        }
    }

    #[test]
    fn an_answer_in_any_order_is_survived(order in proptest::collection::vec(any::<prop::sample::Index>(), 0..30)) {
        let call = Say::Call { id: "c", tool: "read", arguments: "{\"path\":\"a\"}" };
        for wire in Wire::ALL {
            let says = [Say::Thought("t"), Say::Text("x"), call, Say::Error("oh"), Say::End(End::Calls)];
            let frames = speech::frames(wire, &says);
            let bytes: Vec<u8> = order.iter().flat_map(|place| frames[place.index(frames.len())].clone()).collect();
            survive(wire, &bytes, 17);
        }
    }
}
