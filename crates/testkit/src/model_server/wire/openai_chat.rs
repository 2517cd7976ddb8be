//! OpenAI chat completions.

use serde_json::{Value, json};

use super::{Delivery, Encoder, Reply, Wire};
use crate::model_server::delta::Delta;
use crate::model_server::request::{RecordedRequest, Said, SaidCall};
use crate::model_server::sse::SseWriter;
use crate::model_server::turn::{DoneMark, TokenCounts};

const CREATED: u64 = 1_700_000_000;

pub(crate) struct OpenAiChat;

impl Wire for OpenAiChat {
    fn serves(&self, method: &str, path: &str) -> bool {
        method == "POST" && path.ends_with("/chat/completions")
    }

    fn delivery(&self, request: &RecordedRequest) -> Delivery {
        match request.body["stream"].as_bool() {
            Some(true) => Delivery::Stream,
            Some(false) | None => Delivery::Whole,
        }
    }

    fn asks_for_usage(&self, body: &Value) -> bool {
        body["stream_options"]["include_usage"] == true
    }

    fn conversation(&self, body: &Value) -> Vec<Said> {
        list(&body["messages"]).iter().filter_map(said).collect()
    }

    fn tools(&self, body: &Value) -> Vec<String> {
        list(&body["tools"]).iter().map(|tool| text(&tool["function"]["name"])).collect()
    }

    fn encoder<'a>(&self, reply: &'a Reply<'a>) -> Box<dyn Encoder + Send + 'a> {
        Box::new(ChatEncoder::new(reply))
    }

    fn whole(&self, reply: &Reply<'_>) -> Value {
        let (words, reasoning) = reply.words();
        let calls: Vec<Value> = reply
            .calls()
            .map(|(id, tool, arguments)| {
                json!({"id": id, "type": "function", "function": {"name": tool, "arguments": arguments}})
            })
            .collect();
        let mut message = json!({"role": "assistant", "content": words});
        if !reasoning.is_empty() {
            message[&reply.turn.reasoning_field] = reasoning.into();
        }
        if !calls.is_empty() {
            message["tool_calls"] = calls.into();
        }
        let mut body = json!({
            "id": id(reply),
            "object": "chat.completion",
            "created": CREATED,
            "model": reply.model,
            "choices": [{"index": 0, "message": message, "finish_reason": reply.finish("tool_calls", "stop")}],
        });
        if let Some(counts) = reply.turn.usage {
            body["usage"] = usage(counts);
        }
        body
    }

    fn error(&self, status: u16, message: &str) -> Value {
        let kind = match status {
            401 => "authentication_error",
            429 => "rate_limit_error",
            500.. => "server_error",
            _ => "invalid_request_error",
        };
        json!({"error": {"message": message, "type": kind, "param": null, "code": null}})
    }
}

/// The parts of a chunk around its delta are rendered once: an answer may have 100 000 chunks.
struct ChatEncoder<'a> {
    reply: &'a Reply<'a>,
    /// Up to the value of `choices`.
    envelope: String,
    /// After the value of `choices` where the chunk is not the one with the usage.
    without_usage: &'static str,
}

impl<'a> ChatEncoder<'a> {
    fn new(reply: &'a Reply<'a>) -> Self {
        let envelope = format!(
            r#"{{"id":"{}","object":"chat.completion.chunk","created":{CREATED},"model":{},"choices":"#,
            id(reply),
            Value::from(reply.model.as_str()),
        );
        // A server that was asked for usage says in every other chunk that it is not there yet.
        let without_usage = if reply.usage_asked { r#","usage":null}"# } else { "}" };
        Self { reply, envelope, without_usage }
    }

    fn chunk(&self, delta: &str, finish: Option<&str>, sse: &mut SseWriter) {
        let finish = Value::from(finish);
        let (before, after) = (&self.envelope, self.without_usage);
        sse.data(&format!(r#"{before}[{{"index":0,"delta":{delta},"finish_reason":{finish}}}]{after}"#));
    }
}

impl Encoder for ChatEncoder<'_> {
    fn open(&mut self, sse: &mut SseWriter) {
        self.chunk(r#"{"role":"assistant","content":""}"#, None, sse);
    }

    fn delta(&mut self, delta: &Delta<'_>, sse: &mut SseWriter) {
        let body = match *delta {
            Delta::Text(words) => format!(r#"{{"content":{}}}"#, quoted(words)),
            Delta::Reasoning(words) => format!("{{{}:{}}}", quoted(&self.reply.turn.reasoning_field), quoted(words)),
            Delta::CallOpen { index, id, tool, arguments } => json!({"tool_calls": [{
                "index": index, "id": id, "type": "function", "function": {"name": tool, "arguments": arguments},
            }]})
            .to_string(),
            Delta::CallMore { index, arguments } => {
                let arguments = quoted(arguments);
                format!(r#"{{"tool_calls":[{{"index":{index},"function":{{"arguments":{arguments}}}}}]}}"#)
            }
            Delta::Data(_) | Delta::Raw(_) | Delta::Gate(_) => return,
        };
        self.chunk(&body, None, sse);
    }

    fn close(&mut self, sse: &mut SseWriter) {
        if let Some(word) = self.reply.finish("tool_calls", "stop") {
            match self.reply.usage_with_finish() {
                None => self.chunk("{}", Some(word), sse),
                Some(counts) => {
                    let choices = json!([{"index": 0, "delta": {}, "finish_reason": word}]);
                    sse.data(&format!(r#"{}{choices},"usage":{}}}"#, self.envelope, usage(counts)));
                }
            }
        }
        if let Some(counts) = self.reply.usage_alone() {
            sse.data(&format!(r#"{}[],"usage":{}}}"#, self.envelope, usage(counts)));
        }
        if self.reply.turn.done == DoneMark::Sent {
            sse.data("[DONE]");
        }
    }
}

fn id(reply: &Reply<'_>) -> String {
    format!("chatcmpl-{}", reply.number)
}

fn usage(counts: TokenCounts) -> Value {
    json!({
        "prompt_tokens": counts.input,
        "completion_tokens": counts.output,
        "total_tokens": counts.input + counts.output,
        "prompt_tokens_details": {"cached_tokens": counts.cached},
    })
}

fn said(message: &Value) -> Option<Said> {
    let content = text(&message["content"]);
    match message["role"].as_str()? {
        "system" | "developer" => Some(Said::System(content)),
        "user" => Some(Said::User(content)),
        "assistant" => {
            let calls = list(&message["tool_calls"]).iter().map(|call| SaidCall {
                id: text(&call["id"]),
                tool: text(&call["function"]["name"]),
                arguments: text(&call["function"]["arguments"]),
            });
            Some(Said::Assistant { text: content, calls: calls.collect() })
        }
        "tool" => Some(Said::Tool { id: text(&message["tool_call_id"]), text: content }),
        _ => None,
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A string, or the text parts of a list of parts.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => parts.iter().filter_map(|part| part["text"].as_str()).collect(),
        _ => String::new(),
    }
}

fn quoted(text: &str) -> String {
    serde_json::to_string(text).expect("a string is JSON")
}
