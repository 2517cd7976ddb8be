//! OpenAI responses.

use serde_json::{Value, json};

use super::{Delivery, Encoder, Reply, Wire};
use crate::model_server::delta::Delta;
use crate::model_server::request::{RecordedRequest, Said, SaidCall};
use crate::model_server::sse::SseWriter;
use crate::model_server::turn::TokenCounts;

/// What reasoning is sealed with.
const SEALED: &str = "c2VhbGVkIGJ5IHRoZSB0ZXN0";

pub(crate) struct OpenAiResponses;

impl Wire for OpenAiResponses {
    fn serves(&self, method: &str, path: &str) -> bool {
        method == "POST" && path.ends_with("/responses")
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
        let instructions = body["instructions"].as_str().filter(|text| !text.is_empty());
        let mut said: Vec<Said> =
            instructions.map(|text| Said::System(text.to_owned())).into_iter().collect();
        for item in list(&body["input"]) {
            hear(item, &mut said);
        }
        said
    }

    fn tools(&self, body: &Value) -> Vec<String> {
        list(&body["tools"]).iter().map(|tool| text(&tool["name"])).collect()
    }

    fn encoder<'a>(&self, reply: &'a Reply<'a>) -> Box<dyn Encoder + Send + 'a> {
        Box::new(ResponseEncoder { reply, open: None, items: 0, calls: Vec::new(), output: Vec::new() })
    }

    fn whole(&self, reply: &Reply<'_>) -> Value {
        let (words, thoughts) = reply.words();
        let mut output = Vec::new();
        if !thoughts.is_empty() {
            output.push(reasoning(&thoughts));
        }
        if !words.is_empty() {
            output.push(message(&words));
        }
        output.extend(reply.calls().map(|(id, tool, arguments)| call(id, tool, arguments)));
        response(reply, &output)
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

/// Which item is open, and what it holds so far. Calls that are sent interleaved are open beside each other.
enum Open {
    Message(String),
    Reasoning(String),
}

struct OpenCall {
    index: usize,
    item: usize,
    id: String,
    tool: String,
    arguments: String,
}

struct ResponseEncoder<'a> {
    reply: &'a Reply<'a>,
    open: Option<Open>,
    /// How many items there were.
    items: usize,
    calls: Vec<OpenCall>,
    output: Vec<Value>,
}

impl ResponseEncoder<'_> {
    fn begin(&mut self, item: &Value, sse: &mut SseWriter) -> usize {
        let index = self.items;
        self.items += 1;
        let kind = "response.output_item.added";
        sse.event(kind, &json!({"type": kind, "output_index": index, "item": item}));
        index
    }

    fn grow(&self, kind: &str, index: usize, delta: &str, sse: &mut SseWriter) {
        let kind = format!("response.{kind}.delta");
        sse.event(&kind, &json!({"type": kind, "output_index": index, "item_id": "item", "delta": delta}));
    }

    fn done(&mut self, index: usize, item: Value, sse: &mut SseWriter) {
        let kind = "response.output_item.done";
        sse.event(kind, &json!({"type": kind, "output_index": index, "item": item}));
        self.output.push(item);
    }

    fn end_words(&mut self, sse: &mut SseWriter) {
        let Some(open) = self.open.take() else { return };
        let item = match open {
            Open::Message(words) => message(&words),
            Open::Reasoning(words) => reasoning(&words),
        };
        self.done(self.items - 1, item, sse);
    }

    fn end_calls(&mut self, sse: &mut SseWriter) {
        for open in std::mem::take(&mut self.calls) {
            self.done(open.item, call(&open.id, &open.tool, &open.arguments), sse);
        }
    }
}

impl Encoder for ResponseEncoder<'_> {
    fn open(&mut self, sse: &mut SseWriter) {
        for kind in ["response.created", "response.in_progress"] {
            let response = json!({"id": id(self.reply), "object": "response", "status": "in_progress",
                "error": null, "model": self.reply.model, "output": []});
            sse.event(kind, &json!({"type": kind, "response": response}));
        }
    }

    fn delta(&mut self, delta: &Delta<'_>, sse: &mut SseWriter) {
        match *delta {
            Delta::Text(words) => {
                if !matches!(self.open, Some(Open::Message(_))) {
                    self.end_words(sse);
                    self.end_calls(sse);
                    self.begin(&message(""), sse);
                    self.open = Some(Open::Message(String::new()));
                }
                if let Some(Open::Message(said)) = &mut self.open {
                    said.push_str(words);
                }
                self.grow("output_text", self.items - 1, words, sse);
            }
            Delta::Reasoning(words) => {
                if !matches!(self.open, Some(Open::Reasoning(_))) {
                    self.end_words(sse);
                    self.end_calls(sse);
                    self.begin(&reasoning(""), sse);
                    self.open = Some(Open::Reasoning(String::new()));
                }
                if let Some(Open::Reasoning(said)) = &mut self.open {
                    said.push_str(words);
                }
                self.grow("reasoning_summary_text", self.items - 1, words, sse);
            }
            Delta::CallOpen { index, id, tool, arguments } => {
                self.end_words(sse);
                let item = self.begin(&call(id, tool, ""), sse);
                if !arguments.is_empty() {
                    self.grow("function_call_arguments", item, arguments, sse);
                }
                let (id, tool, arguments) = (id.to_owned(), tool.to_owned(), arguments.to_owned());
                self.calls.push(OpenCall { index, item, id, tool, arguments });
            }
            Delta::CallMore { index, arguments } => {
                let open = self.calls.iter_mut().find(|call| call.index == index);
                let item = open.map(|call| {
                    call.arguments.push_str(arguments);
                    call.item
                });
                if let Some(item) = item {
                    self.grow("function_call_arguments", item, arguments, sse);
                }
            }
            Delta::Data(_) | Delta::Raw(_) | Delta::Gate(_) => {}
        }
    }

    fn close(&mut self, sse: &mut SseWriter) {
        self.end_words(sse);
        self.end_calls(sse);
        if self.reply.finish("completed", "completed").is_some() {
            let response = response(self.reply, &self.output);
            let kind = format!("response.{}", response["status"].as_str().unwrap_or_default());
            sse.event(&kind, &json!({"type": kind, "response": response}));
        }
    }
}

/// The whole answer. Another word for the end than the usual is the reason why it is not complete.
fn response(reply: &Reply<'_>, output: &[Value]) -> Value {
    let word = reply.finish("completed", "completed").unwrap_or("completed");
    let (status, details) = match word {
        "completed" => ("completed", Value::Null),
        reason => ("incomplete", json!({"reason": reason})),
    };
    json!({
        "id": id(reply), "object": "response", "status": status, "error": null, "incomplete_details": details,
        "model": reply.model, "output": output, "usage": reply.turn.usage.map(usage),
    })
}

fn id(reply: &Reply<'_>) -> String {
    format!("resp_{}", reply.number)
}

fn message(words: &str) -> Value {
    let content = json!([{"type": "output_text", "text": words, "annotations": []}]);
    json!({"id": "msg_test", "type": "message", "role": "assistant", "status": "completed", "content": content})
}

fn reasoning(words: &str) -> Value {
    let summary = json!([{"type": "summary_text", "text": words}]);
    json!({"id": "rs_test", "type": "reasoning", "encrypted_content": SEALED, "summary": summary})
}

fn call(id: &str, tool: &str, arguments: &str) -> Value {
    json!({"id": format!("fc_{id}"), "type": "function_call", "status": "completed", "call_id": id,
           "name": tool, "arguments": arguments})
}

fn usage(counts: TokenCounts) -> Value {
    json!({
        "input_tokens": counts.input, "input_tokens_details": {"cached_tokens": counts.cached},
        "output_tokens": counts.output, "output_tokens_details": {"reasoning_tokens": 0},
        "total_tokens": counts.input + counts.output,
    })
}

/// What an item says. Words and calls of the model that follow each other are one message.
fn hear(item: &Value, said: &mut Vec<Said>) {
    let words = text(&item["content"]);
    match (item["type"].as_str().unwrap_or("message"), item["role"].as_str().unwrap_or_default()) {
        ("message", "system" | "developer") => said.push(Said::System(words)),
        ("message", "user") => said.push(Said::User(words)),
        ("message", _) => said.push(Said::Assistant { text: words, calls: Vec::new() }),
        ("function_call", _) => {
            let call = SaidCall {
                id: text(&item["call_id"]),
                tool: text(&item["name"]),
                arguments: text(&item["arguments"]),
            };
            match said.last_mut() {
                Some(Said::Assistant { calls, .. }) => calls.push(call),
                _ => said.push(Said::Assistant { text: String::new(), calls: vec![call] }),
            }
        }
        ("function_call_output", _) => {
            said.push(Said::Tool { id: text(&item["call_id"]), text: text(&item["output"]) });
        }
        _ => {}
    }
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

/// A string, or the texts of a list of parts.
fn text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Array(parts) => {
            parts.iter().filter_map(|part| part["text"].as_str()).collect::<Vec<&str>>().join("\n")
        }
        _ => String::new(),
    }
}
