//! Cases about conversations that are made fit for a provider: translated to
//! ours, encoded, and what is on the wire compared with what they would send.
//!
//! Compared is what is said: words, calls and results with their ids, in their
//! order. How messages are cut, what is to be cached and thinking that only its
//! own model understands are the business of each encoder.

use std::collections::HashMap;

use rein_protocol::CallId;
use serde_json::{Value, json};

use super::case::{PeerCase, Verdict};
use super::peers::{ask, not_applicable, same};

/// What is added here by rule: for a call without a result, and for a conversation that no user began.
const ADDED: [&str; 2] = ["error: there is no result", "user: (The conversation goes on.)"];

/// Runs one case.
pub fn run(case: &PeerCase) -> Verdict {
    let input = &case.input;
    let said = input["messages"].to_string();
    if ["\"image\"", "\"media\"", "\"file\""].iter().any(|kind| said.contains(kind)) {
        return not_applicable("pictures, which are bytes beside a request here");
    }
    if said.contains("ServerTool") {
        return not_applicable("tools that run at the provider, which are not offered");
    }
    let Some(wire) = wire(&input["model"]) else { return not_applicable("a provider without a wire") };
    let field = input["model"]["capabilities"]["interleaved"]["field"].as_str();
    let field = field.filter(|field| *field == "reasoning_content");
    let request = request(input);
    let quirks = json!({ "tool_id": shape(&input["model"]), "reasoning_field": field });
    let ours = json!({"wire": wire, "request": request, "quirks": quirks});
    let expected = theirs(&case.expect["messages"], field);
    ask("wire.encode", &ours, |found| {
        let sent = sent(wire, &found?["body"], field);
        let added = |item: &String| ADDED.iter().any(|words| item.contains(words));
        same(&json!(sent.into_iter().filter(|item| !added(item)).collect::<Vec<_>>()), &json!(expected))
    })
}

/// The wire that a model of theirs speaks.
fn wire(model: &Value) -> Option<&'static str> {
    let name = model["api"]["npm"].as_str().or(model["api"].as_str())?;
    let has = |word: &str| name.contains(word);
    Some(match () {
        () if has("anthropic") => "anthropic-messages",
        () if has("bedrock") => "bedrock-converse",
        () if has("google") => "google-generate",
        () if has("compatible") || has("openrouter") || has("completions") => "openai-chat",
        () if has("openai") || has("azure") => "openai-responses",
        () => return None,
    })
}

/// What ids of calls look like for a model: data of the catalog.
fn shape(model: &Value) -> &'static str {
    let name = model["api"]["id"].as_str().unwrap_or_default();
    let strict = ["mistral", "mixtral", "codestral", "pixtral", "devstral"];
    if strict.iter().any(|family| name.contains(family)) { "alphanumeric9" } else { "any" }
}

fn parts(content: &Value) -> Vec<Value> {
    match content {
        Value::String(text) => vec![json!({"type": "text", "text": text})],
        Value::Array(parts) => parts.clone(),
        _ => Vec::new(),
    }
}

/// One call or result of theirs, by whatever names: its id, its tool and the rest.
fn named(part: &Value) -> (String, String, Value) {
    let text =
        |names: [&str; 2]| names.iter().find_map(|name| part[*name].as_str()).unwrap_or_default().to_owned();
    let input = part.get("input").or(part.get("arguments")).cloned().unwrap_or(json!({}));
    (text(["toolCallId", "id"]), text(["toolName", "name"]), input)
}

/// The words of a result of theirs.
fn output(part: &Value) -> String {
    let value = part.get("output").map_or(&part["content"], |output| &output["value"]);
    let words: Vec<String> =
        parts(value).iter().map(|part| part["text"].as_str().unwrap_or_default().to_owned()).collect();
    words.join("\n\n")
}

/// Their conversation in our words.
fn request(input: &Value) -> Value {
    let model = &input["model"];
    let id = model["api"]["id"].as_str().or(model["id"].as_str()).unwrap_or("m");
    let provider = model["providerID"].as_str().or(model["provider"].as_str()).unwrap_or("p");
    let mut ids: HashMap<String, CallId> = HashMap::new();
    let (mut system, mut messages) = (Vec::new(), Vec::new());
    for message in input["messages"].as_array().into_iter().flatten() {
        let content = parts(&message["content"]);
        match message["role"].as_str() {
            Some("system") => system.extend(content.iter().map(|part| part["text"].clone())),
            Some("user") => messages.push(json!({"role": "user", "content": plain(&content)})),
            Some("assistant") => {
                let model = match (message["provider"].as_str(), message["model"].as_str()) {
                    (Some(provider), Some(model)) => format!("{provider}/{model}"),
                    _ => format!("{provider}/{id}"),
                };
                let parts: Vec<Value> = content.iter().filter_map(|part| answer(part, &mut ids)).collect();
                messages.push(json!({"role": "assistant", "model": model, "parts": parts}));
            }
            Some("tool") => messages.extend(content.iter().map(|part| result(part, part, &mut ids))),
            Some("toolResult") => messages.push(result(message, message, &mut ids)),
            _ => {}
        }
    }
    json!({"model": id, "system": system, "messages": messages})
}

fn plain(content: &[Value]) -> Vec<Value> {
    content.iter().map(|part| json!({"type": "text", "text": part["text"]})).collect()
}

fn answer(part: &Value, ids: &mut HashMap<String, CallId>) -> Option<Value> {
    Some(match part["type"].as_str()? {
        "text" => json!({"type": "text", "text": part["text"]}),
        "reasoning" | "thinking" => {
            let text = part["text"].as_str().or(part["thinking"].as_str()).unwrap_or_default();
            json!({"type": "reasoning", "text": text})
        }
        "tool-call" | "toolCall" => {
            let (id, tool, input) = named(part);
            let ours = ids.entry(id.clone()).or_insert_with(CallId::new);
            json!({"type": "call", "id": ours, "wire_id": id, "tool": tool, "input": {"type": "json", "value": input}})
        }
        _ => return None,
    })
}

fn result(part: &Value, said: &Value, ids: &mut HashMap<String, CallId>) -> Value {
    let (id, tool, _) = named(part);
    let ours = ids.entry(id.clone()).or_insert_with(CallId::new);
    let content = json!([{"type": "text", "text": output(said)}]);
    let is_error = said["isError"] == true;
    json!({"role": "tool", "call": ours, "wire_id": id, "tool": tool, "content": content, "is_error": is_error})
}

/// What is said, one line for each thing.
fn theirs(messages: &Value, field: Option<&str>) -> Vec<String> {
    let mut said = Vec::new();
    for message in messages.as_array().into_iter().flatten() {
        let role = message["role"].as_str().unwrap_or_default();
        if let Some(thought) =
            field.and_then(|field| message["providerOptions"]["openaiCompatible"][field].as_str())
        {
            said.push(format!("thinks: {thought}"));
        }
        if role == "toolResult" {
            said.push(format!("result {}: {}", named(message).0, output(message)));
            continue;
        }
        for part in parts(&message["content"]).iter().filter(|_| role != "system") {
            match part["type"].as_str() {
                Some("text") => words(&mut said, role, part["text"].as_str()),
                Some("tool-call" | "toolCall") => {
                    let (id, tool, input) = named(part);
                    said.push(format!("call {id}: {tool} {input}"));
                }
                Some("tool-result") => said.push(format!("result {}: {}", named(part).0, output(part))),
                _ => {}
            }
        }
    }
    said
}

fn words(said: &mut Vec<String>, role: &str, text: Option<&str>) {
    let role = if role == "model" { "assistant" } else { role };
    if let Some(text) = text.filter(|text| !text.trim().is_empty()) {
        said.push(format!("{role}: {text}"));
    }
}

/// What our request says, in the same form.
fn sent(wire: &str, body: &Value, field: Option<&str>) -> Vec<String> {
    let mut said = Vec::new();
    let name = match wire {
        "openai-responses" => "input",
        "google-generate" => "contents",
        _ => "messages",
    };
    for message in body[name].as_array().into_iter().flatten() {
        let role = message["role"].as_str().unwrap_or_default();
        if matches!(role, "system" | "developer") {
            continue;
        }
        if let Some(thought) = field.and_then(|field| message[field].as_str()) {
            said.push(format!("thinks: {thought}"));
        }
        match message["type"].as_str() {
            Some("function_call") => called(&mut said, message, "call_id", message),
            Some("function_call_output") => answered(&mut said, &message["call_id"], &message["output"]),
            _ if role == "tool" => answered(&mut said, &message["tool_call_id"], &message["content"]),
            _ => {
                let content = message.get("content").or(message.get("parts")).unwrap_or(&Value::Null);
                parts(content).iter().for_each(|block| block_of(&mut said, role, block));
            }
        }
        for call in message["tool_calls"].as_array().into_iter().flatten() {
            called(&mut said, call, "id", &call["function"]);
        }
    }
    said
}

fn block_of(said: &mut Vec<String>, role: &str, block: &Value) {
    let kind = block["type"].as_str().unwrap_or_default();
    if kind == "tool_use" {
        called(said, block, "id", block);
    } else if kind == "tool_result" {
        answered(said, &block["tool_use_id"], &block["content"]);
    } else if block["toolUse"].is_object() {
        called(said, &block["toolUse"], "toolUseId", &block["toolUse"]);
    } else if block["toolResult"].is_object() {
        answered(said, &block["toolResult"]["toolUseId"], &block["toolResult"]["content"]);
    } else if block["functionCall"].is_object() {
        called(said, &block["functionCall"], "id", &block["functionCall"]);
    } else if block["functionResponse"].is_object() {
        let answer = &block["functionResponse"];
        answered(said, &answer["id"], answer["response"].get("output").unwrap_or(&answer["response"]));
    } else if block["thought"] != true {
        words(said, role, block["text"].as_str());
    }
}

fn called(said: &mut Vec<String>, call: &Value, id: &str, function: &Value) {
    let input = ["arguments", "input", "args"].iter().find_map(|name| function.get(*name));
    let input = match input {
        Some(Value::String(text)) => serde_json::from_str(text).unwrap_or_default(),
        other => other.cloned().unwrap_or_default(),
    };
    let name = function["name"].as_str().unwrap_or_default();
    said.push(format!("call {}: {name} {input}", call[id].as_str().unwrap_or_default()));
}

fn answered(said: &mut Vec<String>, id: &Value, content: &Value) {
    let text = match content {
        Value::String(text) => text.clone(),
        other => output(&json!({"content": other})),
    };
    said.push(format!("result {}: {text}", id.as_str().unwrap_or_default()));
}
