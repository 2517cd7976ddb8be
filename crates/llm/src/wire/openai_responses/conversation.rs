//! The input of a request, in the provider's words.

use rein_protocol::message::AssistantPart;
use rein_protocol::{Content, ModelRef};
use serde_json::{Value, json};

use crate::catalog::{Quirks, ToolIdShape};
use crate::request::ModelRequest;
use crate::wire::Wire;
use crate::wire::alternating::CONTINUED;
use crate::wire::history::{OutgoingCall, ResultContent, Turn, acceptable_name, arrange};
use crate::wire::image::{Picture, Shower, picture};
use crate::wire::opaque::unseal;

/// The conversation as items.
pub(super) fn input(request: &ModelRequest, quirks: &Quirks) -> Vec<Value> {
    let mut items = Vec::new();
    for turn in arrange(&request.messages, ToolIdShape::Word64) {
        match turn {
            Turn::User(content) => items.extend(user(contents(content, request, quirks, Shower::Person))),
            Turn::Assistant { model, parts, calls } => items.extend(assistant(model, parts, calls, request)),
            Turn::Result { id, content } => {
                let output = output(&content, request, quirks);
                items.push(json!({"type": "function_call_output", "call_id": id, "output": output}));
            }
            Turn::Stray { tool, content } => {
                let mut blocks = vec![text(&format!("The result of an earlier call of `{tool}`:"))];
                blocks.extend(contents(content, request, quirks, Shower::Person));
                items.extend(user(blocks));
            }
        }
    }
    if items.is_empty() {
        items.extend(user(vec![text(CONTINUED)]));
    }
    items
}

fn user(content: Vec<Value>) -> Option<Value> {
    if content.is_empty() { None } else { Some(json!({"role": "user", "content": content})) }
}

/// Everything in the order in which it came: reasoning belongs to what follows it.
fn assistant(
    model: &ModelRef,
    parts: &[AssistantPart],
    calls: Vec<OutgoingCall>,
    request: &ModelRequest,
) -> Vec<Value> {
    let mut items: Vec<Value> = Vec::new();
    let mut calls = calls.into_iter();
    let mut phase = None;
    for part in parts {
        match part {
            AssistantPart::Text { text } if text.trim().is_empty() => {}
            AssistantPart::Text { text } => items.push(message(text, phase.take())),
            AssistantPart::Call(_) => items.extend(calls.next().as_ref().map(call)),
            AssistantPart::Reasoning { .. } => {
                let Some((_, block)) = unseal(Wire::OpenAiResponses, request, model, part) else { continue };
                match block.get("phase").filter(|_| kind(block) == "message") {
                    Some(said) => phase = Some(said.clone()),
                    None => items.push(block.clone()),
                }
            }
        }
    }
    // Reasoning that nothing followed is refused.
    while items.last().is_some_and(|item| kind(item) == "reasoning") {
        items.pop();
    }
    items
}

fn kind(item: &Value) -> &str {
    item.get("type").and_then(Value::as_str).unwrap_or_default()
}

fn message(words: &str, phase: Option<Value>) -> Value {
    let content = json!([{"type": "output_text", "text": words}]);
    let mut message = json!({"type": "message", "role": "assistant", "content": content});
    if let (Some(phase), Some(fields)) = (phase, message.as_object_mut()) {
        fields.insert("phase".to_owned(), phase);
    }
    message
}

fn call(outgoing: &OutgoingCall) -> Value {
    json!({
        "type": "function_call",
        "call_id": outgoing.id,
        "name": acceptable_name(&outgoing.call.tool),
        "arguments": outgoing.call.input.to_json_text(),
    })
}

/// A result as text, or as a list where there are pictures in it.
fn output(content: &ResultContent, request: &ModelRequest, quirks: &Quirks) -> Value {
    let (mut blocks, failed) = match content {
        ResultContent::Missing(words) => return (*words).into(),
        ResultContent::Given { content, is_error } => {
            (contents(content, request, quirks, Shower::Tool), *is_error)
        }
    };
    let words = |block: &Value| block.get("text").and_then(Value::as_str).unwrap_or_default().to_owned();
    let first = blocks.first().map(words).unwrap_or_default();
    let says_so = first.trim_start().get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error"));
    let pictures = blocks.iter().any(|block| kind(block) == "input_image");
    if failed && !says_so {
        blocks.insert(0, text("error:"));
    }
    match (pictures, blocks.is_empty()) {
        (true, _) => blocks.into(),
        (false, true) => "(no output)".into(),
        (false, false) => blocks.iter().map(words).collect::<Vec<String>>().join("\n\n").into(),
    }
}

fn contents(content: &[Content], request: &ModelRequest, quirks: &Quirks, shower: Shower) -> Vec<Value> {
    let blocks = content.iter().filter_map(|piece| match piece {
        Content::Text { text: words } => Some(text(words)).filter(|_| !words.trim().is_empty()),
        Content::Image { media_type, blob } => {
            Some(match picture(request, quirks, shower, media_type, blob) {
                Picture::Bytes(data) => {
                    json!({"type": "input_image", "image_url": format!("data:{media_type};base64,{data}")})
                }
                Picture::Words(words) => text(&words),
            })
        }
    });
    blocks.collect()
}

pub(super) fn text(words: &str) -> Value {
    json!({"type": "input_text", "text": words})
}
