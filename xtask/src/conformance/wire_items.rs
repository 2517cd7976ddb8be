//! What the bytes say of answers that come as items or parts, read in the most
//! naive way there is: OpenAI's responses and Google's generateContent.

use serde_json::{Value, json};

use super::case::Exchange;
use super::peers::same;

/// What an answer holds, with nothing made of it.
#[derive(Debug, Default, PartialEq)]
struct Truth {
    text: String,
    reasoning: String,
    /// Name and arguments.
    calls: Vec<(String, String)>,
    /// How many things are kept for the provider.
    kept: usize,
    /// Whether the last part was a thought whose signature is counted.
    thought_signed: bool,
    /// Arguments that come bit by bit are the decoder's own business.
    in_bits: bool,
    refused: bool,
    stop: Option<String>,
    /// Input that no cache served, output, and what a cache served.
    usage: Option<(u64, u64, u64)>,
}

/// Compares what was decoded with what the bytes say.
pub fn compare(case: &Exchange, decoded: &Value) -> Result<(), String> {
    let body = &case.response.body;
    let mut truth = Truth::default();
    match (case.wire.as_str(), case.framing.as_str()) {
        ("openai-responses", "sse") => events(body).iter().for_each(|event| truth.response_event(event)),
        ("openai-responses", "json") => truth.response(&parsed(body), true),
        ("google-generate", "sse") => events(body).iter().for_each(|chunk| truth.google(chunk)),
        ("google-generate", "json") => truth.google(&parsed(body)),
        ("google-generate", "json-array") => {
            parsed(body).as_array().into_iter().flatten().for_each(|chunk| truth.google(chunk));
        }
        _ => return Ok(()),
    }
    let list = |name: &str| decoded[name].as_array().cloned().unwrap_or_default();
    let calls = |decoded: Vec<Value>| -> Vec<Value> {
        let names_only = truth.in_bits;
        let pair = |call: &Value| match names_only {
            true => json!([call["name"]]),
            false => json!([call["name"], value(call["arguments"].as_str().unwrap_or_default())]),
        };
        decoded.iter().map(pair).collect()
    };
    let theirs: Vec<Value> =
        truth.calls.iter().map(|(name, arguments)| json!({"name": name, "arguments": arguments})).collect();
    let usual = if truth.refused {
        "refusal"
    } else if truth.calls.is_empty() {
        "stop"
    } else {
        "tool_calls"
    };
    let stop = truth.stop.clone().map(|stop| if stop == "stop" { usual.to_owned() } else { stop });
    let usage = &decoded["usage"];
    let (input, output, cached) = truth.usage.unwrap_or_default();
    let checks = [
        ("text", decoded["text"].clone(), json!(truth.text)),
        ("reasoning", decoded["reasoning"].clone(), json!(truth.reasoning)),
        ("calls", json!(calls(list("calls"))), json!(calls(theirs))),
        ("kept", json!(list("opaque").len()), json!(truth.kept)),
        ("stop", decoded["stop"].clone(), json!(stop)),
        ("input", usage["input"].clone(), json!(input)),
        ("output", usage["output"].clone(), json!(output)),
        ("cache read", usage["cache_read"].clone(), json!(cached)),
    ];
    checks.iter().try_for_each(|(name, ours, theirs)| {
        same(ours, theirs).map_err(|difference| format!("{name}:\n{difference}"))
    })
}

fn events(body: &str) -> Vec<Value> {
    let data = body.lines().filter_map(|line| line.strip_prefix("data:"));
    data.filter_map(|line| serde_json::from_str(line.trim()).ok()).collect()
}

fn parsed(body: &str) -> Value {
    serde_json::from_str(body.trim()).unwrap_or_default()
}

/// Arguments as a value: the spaces between are nobody's business. None are an object without members.
fn value(arguments: &str) -> Value {
    match arguments.trim() {
        "" => json!({}),
        text => serde_json::from_str(text).unwrap_or_else(|_| json!(text)),
    }
}

impl Truth {
    fn response_event(&mut self, event: &Value) {
        let delta = event["delta"].as_str().unwrap_or_default();
        match event["type"].as_str().unwrap_or_default() {
            "response.output_text.delta" => self.text.push_str(delta),
            "response.refusal.delta" => {
                self.refused = true;
                self.text.push_str(delta);
            }
            "response.reasoning_summary_text.delta" | "response.reasoning_text.delta" => {
                self.reasoning.push_str(delta);
            }
            "response.reasoning_summary_part.added" if event["summary_index"] != 0 => {
                self.reasoning.push_str("\n\n");
            }
            "response.output_item.done" => self.item(&event["item"]),
            "response.completed" | "response.incomplete" => self.response(&event["response"], false),
            _ => {}
        }
    }

    fn response(&mut self, response: &Value, whole: bool) {
        for item in response["output"].as_array().into_iter().flatten().filter(|_| whole) {
            let texts = |name: &str| -> Vec<String> {
                let list = item[name].as_array().into_iter().flatten();
                list.filter_map(|part| part["text"].as_str().or(part["refusal"].as_str()))
                    .map(ToOwned::to_owned)
                    .collect()
            };
            let content = texts("content");
            if item["type"] == "reasoning" {
                let summary = texts("summary");
                self.reasoning.push_str(&if summary.is_empty() { content } else { summary }.join("\n\n"));
            } else if item["type"] == "message" {
                self.refused |= item["content"][0]["type"] == "refusal";
                self.text.push_str(&content.concat());
            }
            self.item(item);
        }
        self.stop = match response["incomplete_details"]["reason"].as_str() {
            Some("max_output_tokens") => Some("length".to_owned()),
            Some("content_filter") => Some("refusal".to_owned()),
            Some(other) => Some(other.to_owned()),
            None => Some("stop".to_owned()),
        };
        let usage = &response["usage"];
        let count = |value: &Value| value.as_u64().unwrap_or(0);
        if usage.is_object() {
            let (input, cached) =
                (count(&usage["input_tokens"]), count(&usage["input_tokens_details"]["cached_tokens"]));
            let reasoning = count(&usage["output_tokens_details"]["reasoning_tokens"]);
            let output = count(&usage["output_tokens"]);
            let beside = count(&usage["total_tokens"]) == input + output + reasoning;
            self.usage = Some((input - cached, if beside { output + reasoning } else { output }, cached));
        }
    }

    fn item(&mut self, item: &Value) {
        let text = |name: &str| item[name].as_str().unwrap_or_default().to_owned();
        match item["type"].as_str().unwrap_or_default() {
            "message" => self.kept += usize::from(item["phase"].is_string()),
            "reasoning" => {
                let open = item["content"].as_array().is_some_and(|content| !content.is_empty());
                self.kept += usize::from(open || !text("encrypted_content").is_empty());
            }
            "function_call" => self.calls.push((text("name"), text("arguments"))),
            "custom_tool_call" => {
                self.calls.push((text("name"), json!({"input": item["input"]}).to_string()))
            }
            _ => self.kept += 1,
        }
    }

    fn google(&mut self, chunk: &Value) {
        let candidate = &chunk["candidates"][0];
        for part in candidate["content"]["parts"].as_array().into_iter().flatten() {
            self.part(part);
        }
        let reason = &candidate["finishReason"];
        let word =
            reason.as_str().map(ToOwned::to_owned).or(reason.as_u64().map(|number| number.to_string()));
        if let Some(word) = word {
            self.stop = Some(match word.as_str() {
                "STOP" | "1" | "UNEXPECTED_TOOL_CALL" => "stop".to_owned(),
                "MAX_TOKENS" => "length".to_owned(),
                "SAFETY" | "RECITATION" | "PROHIBITED_CONTENT" => "refusal".to_owned(),
                other => other.to_lowercase(),
            });
        }
        let usage = &chunk["usageMetadata"];
        let count = |name: &str| usage[name].as_u64().unwrap_or(0);
        if usage["totalTokenCount"].is_u64() {
            let output = count("candidatesTokenCount") + count("thoughtsTokenCount");
            let (cached, tools) = (count("cachedContentTokenCount"), count("toolUsePromptTokenCount"));
            let rest = count("totalTokenCount").saturating_sub(output + tools);
            let prompt = usage["promptTokenCount"].as_u64().unwrap_or(rest);
            self.usage = Some((prompt - cached + tools, output, cached));
        }
    }

    fn part(&mut self, part: &Value) {
        let signed = part["thoughtSignature"].is_string();
        let text = part["text"].as_str();
        let call = &part["functionCall"];
        if part["thought"] == true {
            self.reasoning.push_str(text.unwrap_or_default());
            self.kept += usize::from(signed && !self.thought_signed);
            self.thought_signed |= signed;
            return;
        }
        self.thought_signed = false;
        if call.is_object() {
            self.in_bits |= call["partialArgs"].is_array() || call["willContinue"].is_boolean();
            if let Some(name) = call["name"].as_str() {
                let arguments =
                    if call["args"].is_object() { call["args"].to_string() } else { String::new() };
                self.calls.push((name.to_owned(), arguments));
                self.kept += usize::from(signed || call["id"].is_string());
            }
        } else if let Some(text) = text {
            self.text.push_str(text);
            self.kept += usize::from(signed);
        } else {
            self.kept += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_as_they_stand() {
        let mut truth = Truth::default();
        for event in [
            json!({"type": "response.output_text.delta", "delta": "a"}),
            json!({"type": "response.output_item.done", "item": {"type": "function_call", "name": "f", "arguments": "{}"}}),
            json!({"type": "response.output_item.done", "item": {"type": "web_search_call"}}),
            json!({"type": "response.completed", "response": {"usage": {"input_tokens": 3, "output_tokens": 1}}}),
        ] {
            truth.response_event(&event);
        }
        let calls = vec![("f".to_owned(), "{}".to_owned())];
        let (text, stop) = ("a".to_owned(), Some("stop".to_owned()));
        assert_eq!(truth, Truth { text, calls, kept: 1, stop, usage: Some((3, 1, 0)), ..Truth::default() });

        let mut truth = Truth::default();
        truth.google(&json!({"candidates": [{"finishReason": "STOP", "content": {"parts": [
            {"text": "r", "thought": true}, {"text": "a"}, {"functionCall": {"name": "f"}, "thoughtSignature": "s"},
            {"executableCode": {}},
        ]}}]}));
        let (text, reasoning, stop) = ("a".to_owned(), "r".to_owned(), Some("stop".to_owned()));
        let calls = vec![("f".to_owned(), String::new())];
        assert_eq!(truth, Truth { text, reasoning, calls, kept: 2, stop, ..Truth::default() });
    }
}
