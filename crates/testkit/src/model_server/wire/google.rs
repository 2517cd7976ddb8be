//! Google generateContent. Calls are sent whole, as the provider does.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{Delivery, Encoder, Reply, Wire};
use crate::model_server::delta::Delta;
use crate::model_server::request::{RecordedRequest, Said, SaidCall};
use crate::model_server::sse::SseWriter;
use crate::model_server::turn::TokenCounts;

/// What answers are signed with.
const SIGNATURE: &str = "c2lnbmVkIGJ5IHRoZSB0ZXN0";

pub(crate) struct Google;

impl Wire for Google {
    fn serves(&self, method: &str, path: &str) -> bool {
        method == "POST" && (path.ends_with(":streamGenerateContent") || path.ends_with(":generateContent"))
    }

    fn delivery(&self, request: &RecordedRequest) -> Delivery {
        match request.path.ends_with(":streamGenerateContent") && request.query.contains("alt=sse") {
            true => Delivery::Stream,
            false => Delivery::Whole,
        }
    }

    fn asks_for_usage(&self, _: &Value) -> bool {
        true
    }

    fn conversation(&self, body: &Value) -> Vec<Said> {
        let system = words(&body["systemInstruction"]["parts"]);
        let system = Some(system).filter(|text| !text.is_empty()).map(Said::System);
        system.into_iter().chain(list(&body["contents"]).iter().flat_map(said)).collect()
    }

    fn tools(&self, body: &Value) -> Vec<String> {
        let groups = list(&body["tools"]).iter();
        groups
            .flat_map(|group| list(&group["functionDeclarations"]))
            .map(|tool| text(&tool["name"]))
            .collect()
    }

    fn encoder<'a>(&self, reply: &'a Reply<'a>) -> Box<dyn Encoder + Send + 'a> {
        Box::new(ContentEncoder { reply, calls: BTreeMap::new(), thought: false })
    }

    fn whole(&self, reply: &Reply<'_>) -> Value {
        let (words, thoughts) = reply.words();
        let mut parts = Vec::new();
        if !thoughts.is_empty() {
            parts.push(json!({"text": thoughts, "thought": true}));
        }
        if !words.is_empty() {
            parts.push(json!({"text": words}));
        }
        parts.extend(reply.calls().map(|(id, tool, arguments)| call(id, tool, arguments)));
        chunk(reply, &parts, reply.finish("STOP", "STOP"), reply.turn.usage)
    }

    fn error(&self, status: u16, message: &str) -> Value {
        let word = match status {
            401 => "UNAUTHENTICATED",
            403 => "PERMISSION_DENIED",
            404 => "NOT_FOUND",
            429 => "RESOURCE_EXHAUSTED",
            503 => "UNAVAILABLE",
            500.. => "INTERNAL",
            _ => "INVALID_ARGUMENT",
        };
        json!({"error": {"code": status, "message": message, "status": word}})
    }
}

struct ContentEncoder<'a> {
    reply: &'a Reply<'a>,
    /// Id, tool and arguments of the calls that are not sent yet.
    calls: BTreeMap<usize, (String, String, String)>,
    /// Whether there was a thought that is not signed yet.
    thought: bool,
}

impl ContentEncoder<'_> {
    fn send(&self, part: Value, sse: &mut SseWriter) {
        sse.data(&chunk(self.reply, &[part], None, None).to_string());
    }

    /// Sends the calls. The first is signed if there were thoughts.
    fn send_calls(&mut self, sse: &mut SseWriter) {
        for (id, tool, arguments) in std::mem::take(&mut self.calls).into_values() {
            let mut part = call(&id, &tool, &arguments);
            if std::mem::take(&mut self.thought) {
                part["thoughtSignature"] = SIGNATURE.into();
            }
            self.send(part, sse);
        }
    }
}

impl Encoder for ContentEncoder<'_> {
    fn open(&mut self, _: &mut SseWriter) {}

    fn delta(&mut self, delta: &Delta<'_>, sse: &mut SseWriter) {
        match *delta {
            Delta::Text(words) => {
                self.send_calls(sse);
                self.send(json!({"text": words}), sse);
            }
            Delta::Reasoning(words) => {
                self.send_calls(sse);
                self.thought = true;
                self.send(json!({"text": words, "thought": true}), sse);
            }
            Delta::CallOpen { index, id, tool, arguments } => {
                self.calls.insert(index, (id.to_owned(), tool.to_owned(), arguments.to_owned()));
            }
            Delta::CallMore { index, arguments } => {
                if let Some((_, _, said)) = self.calls.get_mut(&index) {
                    said.push_str(arguments);
                }
            }
            Delta::Data(_) | Delta::Raw(_) | Delta::Gate(_) => {}
        }
    }

    fn close(&mut self, sse: &mut SseWriter) {
        self.send_calls(sse);
        if let Some(word) = self.reply.finish("STOP", "STOP") {
            let mut last = json!({"text": ""});
            if std::mem::take(&mut self.thought) {
                last["thoughtSignature"] = SIGNATURE.into();
            }
            let counts = self.reply.usage_alone().or(self.reply.usage_with_finish());
            sse.data(&chunk(self.reply, &[last], Some(word), counts).to_string());
        }
    }
}

fn chunk(reply: &Reply<'_>, parts: &[Value], finish: Option<&str>, usage: Option<TokenCounts>) -> Value {
    let mut candidate = json!({"content": {"parts": parts, "role": "model"}, "index": 0});
    if let Some(word) = finish {
        candidate["finishReason"] = word.into();
    }
    let mut chunk = json!({"candidates": [candidate], "responseId": format!("resp_{}", reply.number)});
    if let Some(counts) = usage {
        chunk["usageMetadata"] = json!({
            "promptTokenCount": counts.input, "cachedContentTokenCount": counts.cached,
            "candidatesTokenCount": counts.output, "totalTokenCount": counts.input + counts.output,
        });
    }
    chunk
}

/// A call without an id has none here either.
fn call(id: &str, tool: &str, arguments: &str) -> Value {
    let args: Value = serde_json::from_str(arguments).unwrap_or_else(|_| json!({}));
    let mut call = json!({"name": tool, "args": args});
    if !id.is_empty() {
        call["id"] = id.into();
    }
    json!({"functionCall": call})
}

/// What a content says: results first, then words. A result without an id is named after its tool.
fn said(content: &Value) -> Vec<Said> {
    let parts = list(&content["parts"]);
    let words = words(&content["parts"]);
    if content["role"] == "model" {
        let calls = parts.iter().map(|part| &part["functionCall"]).filter(|call| call.is_object());
        let calls = calls.map(|call| SaidCall {
            id: text(&call["id"]),
            tool: text(&call["name"]),
            arguments: call["args"].to_string(),
        });
        return vec![Said::Assistant { text: words, calls: calls.collect() }];
    }
    let results = parts.iter().map(|part| &part["functionResponse"]).filter(|result| result.is_object());
    let results = results.map(|result| {
        let id = result["id"].as_str().or(result["name"].as_str()).unwrap_or_default().to_owned();
        let response = &result["response"];
        Said::Tool {
            id,
            text: response["output"].as_str().or(response["error"].as_str()).unwrap_or_default().to_owned(),
        }
    });
    let mut said: Vec<Said> = results.collect();
    if !words.is_empty() || said.is_empty() {
        said.push(Said::User(words));
    }
    said
}

/// The texts of parts that are no thoughts.
fn words(parts: &Value) -> String {
    let spoken = list(parts).iter().filter(|part| part["thought"] != true);
    spoken
        .filter_map(|part| part["text"].as_str())
        .filter(|text| !text.is_empty())
        .collect::<Vec<&str>>()
        .join("\n")
}

fn list(value: &Value) -> &[Value] {
    value.as_array().map(Vec::as_slice).unwrap_or_default()
}

fn text(value: &Value) -> String {
    value.as_str().unwrap_or_default().to_owned()
}
