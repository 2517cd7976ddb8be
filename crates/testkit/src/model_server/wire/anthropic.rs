//! Anthropic messages.

use serde_json::{Value, json};

use super::{Delivery, Encoder, Reply, Wire};
use crate::model_server::delta::Delta;
use crate::model_server::request::{RecordedRequest, Said, SaidCall};
use crate::model_server::sse::SseWriter;
use crate::model_server::turn::{DoneMark, TokenCounts};

/// What thinking is signed with.
const SIGNATURE: &str = "c2lnbmVkIGJ5IHRoZSB0ZXN0";

pub(crate) struct Anthropic;

impl Wire for Anthropic {
    fn serves(&self, method: &str, path: &str) -> bool {
        method == "POST" && path.ends_with("/messages")
    }

    fn delivery(&self, request: &RecordedRequest) -> Delivery {
        match request.body["stream"].as_bool() {
            Some(true) => Delivery::Stream,
            Some(false) | None => Delivery::Whole,
        }
    }

    fn asks_for_usage(&self, _: &Value) -> bool {
        true
    }

    fn conversation(&self, body: &Value) -> Vec<Said> {
        let system = match text(&body["system"]) {
            text if text.is_empty() => None,
            text => Some(Said::System(text)),
        };
        system.into_iter().chain(list(&body["messages"]).iter().flat_map(said)).collect()
    }

    fn tools(&self, body: &Value) -> Vec<String> {
        list(&body["tools"]).iter().map(|tool| text(&tool["name"])).collect()
    }

    fn encoder<'a>(&self, reply: &'a Reply<'a>) -> Box<dyn Encoder + Send + 'a> {
        Box::new(MessageEncoder { reply, open: None, blocks: 0, calls: Vec::new() })
    }

    fn whole(&self, reply: &Reply<'_>) -> Value {
        let (words, reasoning) = reply.words();
        let mut content = Vec::new();
        if !reasoning.is_empty() {
            content.push(json!({"type": "thinking", "thinking": reasoning, "signature": SIGNATURE}));
        }
        if !words.is_empty() {
            content.push(json!({"type": "text", "text": words}));
        }
        content.extend(reply.calls().map(|(id, tool, arguments)| {
            let input: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
            json!({"type": "tool_use", "id": id, "name": tool, "input": input})
        }));
        json!({
            "id": id(reply), "type": "message", "role": "assistant", "model": reply.model, "content": content,
            "stop_reason": reply.finish("tool_use", "end_turn"), "stop_sequence": null,
            "usage": usage(reply.turn.usage.unwrap_or(TokenCounts { input: 0, output: 0, cached: 0 })),
        })
    }

    fn error(&self, status: u16, message: &str) -> Value {
        let kind = match status {
            401 => "authentication_error",
            403 => "permission_error",
            404 => "not_found_error",
            413 => "request_too_large",
            429 => "rate_limit_error",
            529 => "overloaded_error",
            500.. => "api_error",
            _ => "invalid_request_error",
        };
        json!({"type": "error", "error": {"type": kind, "message": message}, "request_id": "req_test"})
    }
}

/// Which block is open. Calls that are sent interleaved are open beside each other.
#[derive(Clone, Copy, PartialEq)]
enum Open {
    Text,
    Thinking,
}

struct MessageEncoder<'a> {
    reply: &'a Reply<'a>,
    open: Option<Open>,
    /// How many blocks there were.
    blocks: usize,
    /// The blocks of the calls that are open.
    calls: Vec<(usize, usize)>,
}

impl MessageEncoder<'_> {
    fn begin(&mut self, block: &Value, sse: &mut SseWriter) -> usize {
        let index = self.blocks;
        self.blocks += 1;
        sse.event(
            "content_block_start",
            &json!({"type": "content_block_start", "index": index, "content_block": block}),
        );
        index
    }

    fn grow(&self, index: usize, delta: &Value, sse: &mut SseWriter) {
        sse.event(
            "content_block_delta",
            &json!({"type": "content_block_delta", "index": index, "delta": delta}),
        );
    }

    fn stop(&self, index: usize, sse: &mut SseWriter) {
        sse.event("content_block_stop", &json!({"type": "content_block_stop", "index": index}));
    }

    /// Ends whatever words are open.
    fn end_words(&mut self, sse: &mut SseWriter) {
        let Some(open) = self.open.take() else { return };
        let index = self.blocks - 1;
        if open == Open::Thinking {
            self.grow(index, &json!({"type": "signature_delta", "signature": SIGNATURE}), sse);
        }
        self.stop(index, sse);
    }

    fn end_calls(&mut self, sse: &mut SseWriter) {
        for (_, index) in std::mem::take(&mut self.calls) {
            self.stop(index, sse);
        }
    }

    fn words(&mut self, kind: Open, block: &Value, delta: &Value, sse: &mut SseWriter) {
        if self.open != Some(kind) {
            self.end_words(sse);
            self.end_calls(sse);
            self.begin(block, sse);
            self.open = Some(kind);
        }
        self.grow(self.blocks - 1, delta, sse);
    }
}

impl Encoder for MessageEncoder<'_> {
    fn open(&mut self, sse: &mut SseWriter) {
        let counts = self.reply.usage_alone().or(self.reply.usage_with_finish());
        let counts = counts.unwrap_or(TokenCounts { input: 0, output: 0, cached: 0 });
        let message = json!({
            "id": id(self.reply), "type": "message", "role": "assistant", "model": self.reply.model, "content": [],
            "stop_reason": null, "stop_sequence": null, "usage": usage(TokenCounts { output: 1, ..counts }),
        });
        sse.event("message_start", &json!({"type": "message_start", "message": message}));
        sse.event("ping", &json!({"type": "ping"}));
    }

    fn delta(&mut self, delta: &Delta<'_>, sse: &mut SseWriter) {
        match *delta {
            Delta::Text(words) => self.words(
                Open::Text,
                &json!({"type": "text", "text": ""}),
                &json!({"type": "text_delta", "text": words}),
                sse,
            ),
            Delta::Reasoning(words) => self.words(
                Open::Thinking,
                &json!({"type": "thinking", "thinking": "", "signature": ""}),
                &json!({"type": "thinking_delta", "thinking": words}),
                sse,
            ),
            Delta::CallOpen { index, id, tool, arguments } => {
                self.end_words(sse);
                let block =
                    self.begin(&json!({"type": "tool_use", "id": id, "name": tool, "input": {}}), sse);
                self.calls.push((index, block));
                self.grow(block, &json!({"type": "input_json_delta", "partial_json": arguments}), sse);
            }
            Delta::CallMore { index, arguments } => {
                if let Some((_, block)) = self.calls.iter().find(|(call, _)| *call == index) {
                    self.grow(*block, &json!({"type": "input_json_delta", "partial_json": arguments}), sse);
                }
            }
            Delta::Data(_) | Delta::Raw(_) | Delta::Gate(_) => {}
        }
    }

    fn close(&mut self, sse: &mut SseWriter) {
        self.end_words(sse);
        self.end_calls(sse);
        if let Some(word) = self.reply.finish("tool_use", "end_turn") {
            let counts = self.reply.usage_alone().or(self.reply.usage_with_finish());
            let output = counts.map_or_else(|| json!({}), |counts| json!({"output_tokens": counts.output}));
            let delta = json!({"stop_reason": word, "stop_sequence": null});
            sse.event("message_delta", &json!({"type": "message_delta", "delta": delta, "usage": output}));
        }
        if self.reply.turn.done == DoneMark::Sent {
            sse.event("message_stop", &json!({"type": "message_stop"}));
        }
    }
}

fn id(reply: &Reply<'_>) -> String {
    format!("msg_{}", reply.number)
}

/// What a cache served is not counted as input here.
fn usage(counts: TokenCounts) -> Value {
    json!({
        "input_tokens": counts.input.saturating_sub(counts.cached),
        "cache_creation_input_tokens": 0,
        "cache_read_input_tokens": counts.cached,
        "output_tokens": counts.output,
    })
}

/// What a message says: results first, then words.
fn said(message: &Value) -> Vec<Said> {
    let blocks = list(&message["content"]);
    let of = |kind: &'static str| blocks.iter().filter(move |block| block["type"] == kind);
    let words: String = match &message["content"] {
        Value::String(text) => text.clone(),
        _ => of("text").map(|block| text(&block["text"])).collect::<Vec<String>>().join("\n"),
    };
    if message["role"] == "assistant" {
        let calls = of("tool_use").map(|call| SaidCall {
            id: text(&call["id"]),
            tool: text(&call["name"]),
            arguments: call["input"].to_string(),
        });
        return vec![Said::Assistant { text: words, calls: calls.collect() }];
    }
    let results = of("tool_result")
        .map(|result| Said::Tool { id: text(&result["tool_use_id"]), text: text(&result["content"]) });
    let mut said: Vec<Said> = results.collect();
    if !words.is_empty() || said.is_empty() {
        said.push(Said::User(words));
    }
    said
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A string, or the text blocks of a list of blocks.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(blocks) => {
            blocks.iter().filter_map(|block| block["text"].as_str()).collect::<Vec<&str>>().join("\n")
        }
        _ => String::new(),
    }
}
