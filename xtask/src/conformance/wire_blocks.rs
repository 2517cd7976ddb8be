//! What the bytes say of answers that come as numbered blocks, read in the most
//! naive way there is: Anthropic's messages and Bedrock's Converse.

use std::collections::BTreeMap;

use base64::Engine as _;
use serde_json::{Value, json};

use super::case::Exchange;
use super::peers::same;

/// What an answer holds, with nothing made of it.
#[derive(Debug, Default, PartialEq)]
struct Truth {
    text: String,
    reasoning: String,
    /// By the number of the block: name and arguments.
    calls: BTreeMap<u64, (String, String)>,
    /// By the number of the block: what kind of thing is kept for the provider.
    kept: BTreeMap<u64, &'static str>,
    stop: Option<String>,
    usage: BTreeMap<String, u64>,
}

/// Compares what was decoded with what the bytes say.
pub fn compare(case: &Exchange, decoded: &Value) -> Result<(), String> {
    let truth = match (case.wire.as_str(), case.framing.as_str()) {
        ("anthropic-messages", "sse") => anthropic_stream(&case.response.body),
        ("anthropic-messages", "json") => anthropic_body(&case.response.body),
        ("bedrock-converse", "aws-eventstream") => bedrock_stream(&case.response.body)?,
        ("bedrock-converse", "json") => bedrock_body(&case.response.body),
        _ => return Ok(()),
    };
    let calls: Vec<Value> = truth
        .calls
        .into_values()
        .map(|(name, arguments)| {
            json!([name, if arguments.trim().is_empty() { "{}".to_owned() } else { arguments }])
        })
        .collect();
    let list = |name: &str| decoded[name].as_array().cloned().unwrap_or_default();
    let ours: Vec<Value> =
        list("calls").iter().map(|call| json!([call["name"], call["arguments"]])).collect();
    let count = |name: &str| truth.usage.get(name).copied().unwrap_or(0);
    let usage = &decoded["usage"];
    let checks = [
        ("text", decoded["text"].clone(), json!(truth.text)),
        ("reasoning", decoded["reasoning"].clone(), json!(truth.reasoning)),
        ("calls", json!(ours), json!(calls)),
        ("kept", json!(list("opaque").len()), json!(truth.kept.len())),
        ("stop", decoded["stop"].clone(), json!(truth.stop)),
        ("input", usage["input"].clone(), json!(count("input"))),
        ("output", usage["output"].clone(), json!(count("output"))),
        ("cache read", usage["cache_read"].clone(), json!(count("cache_read"))),
        ("cache write", usage["cache_write"].clone(), json!(count("cache_write"))),
    ];
    checks.iter().try_for_each(|(name, ours, theirs)| {
        same(ours, theirs).map_err(|difference| format!("{name}:\n{difference}"))
    })
}

fn anthropic_stream(body: &str) -> Truth {
    let mut truth = Truth::default();
    for line in body.lines().filter_map(|line| line.strip_prefix("data:")) {
        let Ok(event) = serde_json::from_str::<Value>(line.trim()) else { continue };
        let index = event["index"].as_u64().unwrap_or(0);
        match event["type"].as_str().unwrap_or_default() {
            "message_start" => truth.anthropic_message(&event["message"]),
            "content_block_start" => truth.anthropic_block(index, &event["content_block"]),
            "content_block_delta" => truth.anthropic_delta(index, &event["delta"]),
            "message_delta" => {
                truth.anthropic_stop(&event["delta"]);
                truth.anthropic_usage(&event["usage"]);
            }
            "message_stop" => break,
            _ => {}
        }
    }
    truth
}

fn anthropic_body(body: &str) -> Truth {
    let mut truth = Truth::default();
    truth.anthropic_message(&serde_json::from_str(body.trim()).unwrap_or_default());
    truth
}

/// The payloads of the messages, by the lengths that they say they have.
fn bedrock_stream(body: &str) -> Result<Truth, String> {
    let bytes = base64::engine::general_purpose::STANDARD.decode(body).map_err(|error| error.to_string())?;
    let mut truth = Truth::default();
    let mut rest = bytes.as_slice();
    while rest.len() > 16 {
        let length =
            |at: usize| rest.iter().skip(at).take(4).fold(0_usize, |sum, byte| sum << 8 | usize::from(*byte));
        let (total, head) = (length(0), length(4));
        let message = rest.get(..total).ok_or("a message is cut")?;
        let payload = message.get(12 + head..total - 4).ok_or("a message is too short")?;
        truth.bedrock_event(&serde_json::from_slice(payload).unwrap_or_default());
        rest = rest.get(total..).unwrap_or_default();
    }
    Ok(truth)
}

fn bedrock_body(body: &str) -> Truth {
    let mut truth = Truth::default();
    let answer: Value = serde_json::from_str(body.trim()).unwrap_or_default();
    for (index, block) in (0..).zip(answer["output"]["message"]["content"].as_array().into_iter().flatten()) {
        truth.bedrock_whole(index, block);
    }
    truth.bedrock_event(&answer);
    truth
}

impl Truth {
    fn anthropic_message(&mut self, message: &Value) {
        self.anthropic_usage(&message["usage"]);
        for (index, block) in (0..).zip(message["content"].as_array().into_iter().flatten()) {
            self.anthropic_block(index, block);
        }
        self.anthropic_stop(message);
    }

    fn anthropic_block(&mut self, index: u64, block: &Value) {
        match block["type"].as_str().unwrap_or_default() {
            "text" => self.text.push_str(block["text"].as_str().unwrap_or_default()),
            "thinking" => {
                self.reasoning.push_str(block["thinking"].as_str().unwrap_or_default());
                if !block["signature"].as_str().unwrap_or_default().is_empty() {
                    self.kept.insert(index, "thinking");
                }
            }
            "tool_use" => {
                let input = block["input"].as_object().filter(|input| !input.is_empty());
                let arguments = input.map(|_| block["input"].to_string()).unwrap_or_default();
                let name = block["name"].as_str().unwrap_or_default().to_owned();
                self.calls.insert(index, (name, arguments));
            }
            _ => {
                self.kept.insert(index, "block");
            }
        }
    }

    fn anthropic_delta(&mut self, index: u64, delta: &Value) {
        self.text.push_str(delta["text"].as_str().unwrap_or_default());
        self.reasoning.push_str(delta["thinking"].as_str().unwrap_or_default());
        if delta["signature"].is_string() {
            self.kept.insert(index, "thinking");
        }
        if let (Some(more), Some((_, arguments))) =
            (delta["partial_json"].as_str(), self.calls.get_mut(&index))
        {
            arguments.push_str(more);
        }
    }

    fn anthropic_stop(&mut self, place: &Value) {
        if let Some(reason) = place["stop_reason"].as_str() {
            self.stop = Some(stop(reason));
        }
    }

    fn anthropic_usage(&mut self, usage: &Value) {
        for (theirs, ours) in [
            ("input_tokens", "input"),
            ("output_tokens", "output"),
            ("cache_read_input_tokens", "cache_read"),
            ("cache_creation_input_tokens", "cache_write"),
        ] {
            self.count(&usage[theirs], ours);
        }
    }

    fn bedrock_event(&mut self, event: &Value) {
        let index = event["contentBlockIndex"].as_u64().unwrap_or(0);
        let start = &event["start"]["toolUse"];
        if start["type"] == "server_tool_use" || event["start"]["toolResult"].is_object() {
            self.kept.insert(index, "block");
        } else if let Some(name) = start["name"].as_str() {
            self.calls.insert(index, (name.to_owned(), String::new()));
        }
        let delta = &event["delta"];
        self.text.push_str(delta["text"].as_str().unwrap_or_default());
        let reasoning = &delta["reasoningContent"];
        self.reasoning.push_str(reasoning["text"].as_str().unwrap_or_default());
        if reasoning["signature"].is_string() || reasoning["redactedContent"].is_string() {
            self.kept.insert(index, "thinking");
        }
        if let (Some(more), Some((_, arguments))) =
            (delta["toolUse"]["input"].as_str(), self.calls.get_mut(&index))
        {
            arguments.push_str(more);
        }
        if let Some(reason) = event["stopReason"].as_str() {
            self.stop = Some(stop(reason));
        }
        for (theirs, ours) in [
            ("inputTokens", "input"),
            ("outputTokens", "output"),
            ("cacheReadInputTokens", "cache_read"),
            ("cacheWriteInputTokens", "cache_write"),
        ] {
            self.count(&event["usage"][theirs], ours);
        }
    }

    fn bedrock_whole(&mut self, index: u64, block: &Value) {
        self.text.push_str(block["text"].as_str().unwrap_or_default());
        for cited in block["citationsContent"]["content"].as_array().into_iter().flatten() {
            self.text.push_str(cited["text"].as_str().unwrap_or_default());
        }
        let reasoning = &block["reasoningContent"];
        self.reasoning.push_str(reasoning["reasoningText"]["text"].as_str().unwrap_or_default());
        if reasoning["reasoningText"]["signature"].is_string() || reasoning["redactedContent"].is_string() {
            self.kept.insert(index, "thinking");
        }
        let call = &block["toolUse"];
        if call["type"] == "server_tool_use" || block["toolResult"].is_object() {
            self.kept.insert(index, "block");
        } else if let Some(name) = call["name"].as_str() {
            self.calls.insert(index, (name.to_owned(), call["input"].to_string()));
        }
    }

    fn count(&mut self, value: &Value, name: &str) {
        if let Some(count) = value.as_u64() {
            self.usage.insert(name.to_owned(), count);
        }
    }
}

fn stop(reason: &str) -> String {
    match reason {
        "end_turn" | "stop_sequence" => "stop",
        "tool_use" => "tool_calls",
        "max_tokens" | "model_context_window_exceeded" => "length",
        "refusal" | "guardrail_intervened" | "content_filtered" => "refusal",
        other => other,
    }
    .to_owned()
}
