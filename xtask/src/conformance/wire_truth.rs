//! What the bytes of an exchange say, read in the most naive way there is, to
//! compare a decoder with. Chat completions are read here,
//! answers that come as blocks, items or parts next door; other wires pass unlooked at.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::case::Exchange;
use super::peers::same;
use super::{wire_blocks, wire_items};

/// Text, reasoning and calls, with nothing made of them.
#[derive(Debug, Default, PartialEq)]
struct Truth {
    text: String,
    reasoning: String,
    calls: BTreeMap<u64, (String, String)>,
    unusual: bool,
}

/// Compares what was decoded with what the bytes say.
pub fn compare(case: &Exchange, decoded: &Value) -> Result<(), String> {
    if case.response.status >= 300 {
        return Ok(());
    }
    match case.wire.as_str() {
        "openai-chat" | "mistral" => {}
        "anthropic-messages" | "bedrock-converse" => return wire_blocks::compare(case, decoded),
        "openai-responses" | "google-generate" => return wire_items::compare(case, decoded),
        _ => return Ok(()),
    }
    let truth = match case.framing.as_str() {
        "sse" => streamed(&case.response.body),
        "json" => whole(&case.response.body),
        _ => return Ok(()),
    };
    if truth.unusual {
        return Ok(());
    }
    let calls: Vec<Value> = truth
        .calls
        .into_values()
        .map(|(name, arguments)| {
            json!([name, if arguments.trim().is_empty() { "{}".to_owned() } else { arguments }])
        })
        .collect();
    let ours: Vec<Value> = decoded["calls"]
        .as_array()
        .into_iter()
        .flatten()
        .map(|call| json!([call["name"], call["arguments"]]))
        .collect();
    same(&decoded["text"], &json!(truth.text)).map_err(|difference| format!("text:\n{difference}"))?;
    same(&decoded["reasoning"], &json!(truth.reasoning))
        .map_err(|difference| format!("reasoning:\n{difference}"))?;
    same(&json!(ours), &json!(calls)).map_err(|difference| format!("calls:\n{difference}"))
}

fn streamed(body: &str) -> Truth {
    let mut truth = Truth::default();
    for line in body.lines().filter_map(|line| line.strip_prefix("data:")) {
        if let Ok(chunk) = serde_json::from_str::<Value>(line.trim()) {
            truth.take(&chunk, "delta");
        }
    }
    truth
}

fn whole(body: &str) -> Truth {
    let mut truth = Truth::default();
    if let Ok(answer) = serde_json::from_str::<Value>(body.trim()) {
        truth.take(&answer, "message");
    }
    truth
}

impl Truth {
    fn take(&mut self, chunk: &Value, field: &str) {
        let choices = chunk["choices"].as_array().map(Vec::as_slice).unwrap_or_default();
        for choice in choices.iter().filter(|choice| choice["index"].as_u64().unwrap_or(0) == 0) {
            let said = &choice[field];
            match &said["content"] {
                Value::String(text) => self.text.push_str(text),
                Value::Array(_) => self.unusual = true,
                _ => {}
            }
            let reasoning = said["reasoning_content"].as_str().or(said["reasoning"].as_str());
            self.reasoning.push_str(reasoning.unwrap_or_default());
            // Reasoning inside the text, signed reasoning and the calls of old are the decoder's own business.
            self.unusual |= self.text.contains("<think")
                || (reasoning.is_none() && said["reasoning_details"].is_array())
                || said["function_call"].is_object();
            for (position, call) in said["tool_calls"].as_array().into_iter().flatten().enumerate() {
                let index = call["index"].as_u64().unwrap_or(position as u64);
                let (name, arguments) = self.calls.entry(index).or_default();
                let function = &call["function"];
                if name.is_empty() {
                    name.push_str(function["name"].as_str().unwrap_or_default());
                }
                arguments.push_str(function["arguments"].as_str().unwrap_or_default());
                self.unusual |= function["arguments"].is_object();
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_read_as_it_stands() {
        let body = "data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\n: comment\n\n\
                    data: {\"choices\":[{\"delta\":{\"content\":\"b\",\"reasoning\":\"r\",\"tool_calls\":\
                    [{\"index\":1,\"function\":{\"name\":\"f\",\"arguments\":\"{\"}}]}}]}\n\n\
                    data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":1,\"function\":{\"arguments\":\"}\"}}]}}]}\n\n\
                    data: {\"choices\":[{\"index\":1,\"delta\":{\"content\":\"other\"}}]}\n\ndata: [DONE]\n";
        let calls = BTreeMap::from([(1, ("f".to_owned(), "{}".to_owned()))]);
        let expected = Truth { text: "ab".to_owned(), reasoning: "r".to_owned(), calls, unusual: false };
        assert_eq!(streamed(body), expected);
    }
}
