//! The contents of a request, in the provider's words.

use std::collections::HashMap;

use rein_protocol::message::AssistantPart;
use rein_protocol::{Content, ModelRef, ToolInput};
use serde_json::{Map, Value, json};

use super::sealed::Kept;
use crate::catalog::{ImageSupport, Quirks, ToolIdShape};
use crate::request::ModelRequest;
use crate::wire::Wire;
use crate::wire::alternating::{Alternating, Role};
use crate::wire::history::{OutgoingCall, ResultContent, Turn, acceptable_name, arrange};
use crate::wire::image::{Picture, Shower, picture};
use crate::wire::opaque::unseal;

/// What a result has to repeat of its call.
struct Called {
    name: String,
    /// Only what came with an id goes back with one.
    id: Option<Value>,
}

/// The contents of a request.
pub(super) fn contents(request: &ModelRequest, quirks: &Quirks) -> Vec<Value> {
    let mut conversation = Alternating::new(text);
    let mut called = HashMap::new();
    for turn in arrange(&request.messages, ToolIdShape::Word64) {
        match turn {
            Turn::User(content) => conversation.add(Role::User, shown(content, request, quirks)),
            Turn::Assistant { model, parts, calls } => {
                let parts = assistant(model, parts, calls, request, quirks, &mut called);
                conversation.add(Role::Assistant, parts);
            }
            Turn::Result { id, content } => {
                let parts = result(called.get(&id), &content, request, quirks);
                conversation.add(Role::User, parts);
            }
            Turn::Stray { tool, content } => {
                let mut parts = vec![text(&format!("The result of an earlier call of `{tool}`:"))];
                parts.extend(shown(content, request, quirks));
                conversation.add(Role::User, parts);
            }
        }
    }
    conversation.finish().into_iter().map(in_their_words).collect()
}

fn in_their_words(mut message: Value) -> Value {
    let role =
        if message.get("role").and_then(Value::as_str) == Some("assistant") { "model" } else { "user" };
    let parts = message.get_mut("content").map(Value::take).unwrap_or_default();
    json!({"role": role, "parts": parts})
}

/// Everything in the order in which it came, and signatures where they came.
fn assistant(
    model: &ModelRef,
    parts: &[AssistantPart],
    calls: Vec<OutgoingCall>,
    request: &ModelRequest,
    quirks: &Quirks,
    called: &mut HashMap<String, Called>,
) -> Vec<Value> {
    let mut said: Vec<Value> = Vec::new();
    let mut calls = calls.into_iter();
    // Only the first call of a message is signed, and it has to be.
    let mut stand_in = quirks.thinking.stand_in.clone().map(Value::String);
    let (mut signature, mut id) = (None, None);
    let mut after_text = false;
    for part in parts {
        let mut is_text = false;
        match part {
            AssistantPart::Text { text: words } if words.trim().is_empty() => {}
            AssistantPart::Text { text: words } => {
                said.push(text(words));
                is_text = true;
            }
            AssistantPart::Call(_) => {
                let Some(outgoing) = calls.next() else { continue };
                let signed = signature.take().or_else(|| stand_in.take());
                stand_in = None;
                let name = acceptable_name(&outgoing.call.tool);
                said.push(call(&outgoing, &name, signed, id.as_ref()));
                called.insert(outgoing.id, Called { name, id: id.take() });
            }
            AssistantPart::Reasoning { .. } => {
                let Some((words, block)) = unseal(Wire::Google, request, model, part) else { continue };
                match Kept::read(block) {
                    Some(Kept::Thought(by)) => {
                        said.push(json!({"text": words, "thought": true, "thoughtSignature": by}));
                    }
                    Some(Kept::Text(by)) => sign_text(&mut said, by, after_text),
                    Some(Kept::Nothing(by)) => said.push(json!({"text": "", "thoughtSignature": by})),
                    Some(Kept::Call { signature: by, id: known }) => {
                        (signature, id) = (by.cloned(), known.cloned());
                    }
                    Some(Kept::Part(part)) => said.push(part.clone()),
                    None => {}
                }
            }
        }
        after_text = is_text;
    }
    said
}

/// Puts a signature on the text that came last.
fn sign_text(said: &mut Vec<Value>, by: &Value, after_text: bool) {
    match said.last_mut().and_then(Value::as_object_mut).filter(|_| after_text) {
        Some(fields) => {
            fields.insert("thoughtSignature".to_owned(), by.clone());
        }
        None => said.push(json!({"text": "", "thoughtSignature": by})),
    }
}

fn call(outgoing: &OutgoingCall, name: &str, signature: Option<Value>, id: Option<&Value>) -> Value {
    let arguments = match &outgoing.call.input {
        ToolInput::Json { value } if value.is_object() => value.clone(),
        ToolInput::Json { .. } | ToolInput::Malformed { .. } => json!({}),
    };
    let mut call = json!({"name": name, "args": arguments});
    if let (Some(id), Some(fields)) = (id, call.as_object_mut()) {
        fields.insert("id".to_owned(), id.clone());
    }
    let mut part = json!({"functionCall": call});
    if let (Some(signature), Some(fields)) = (signature, part.as_object_mut()) {
        fields.insert("thoughtSignature".to_owned(), signature);
    }
    part
}

/// A result, with the pictures in it or, where they cannot be, behind it.
fn result(
    called: Option<&Called>,
    content: &ResultContent,
    request: &ModelRequest,
    quirks: &Quirks,
) -> Vec<Value> {
    let (shown, failed) = match content {
        ResultContent::Missing(words) => (vec![text(words)], true),
        ResultContent::Given { content, is_error } => (shown(content, request, quirks), *is_error),
    };
    let (words, pictures): (Vec<Value>, Vec<Value>) =
        shown.into_iter().partition(|part| part.get("text").is_some());
    let words: Vec<&str> = words.iter().filter_map(|part| part.get("text")?.as_str()).collect();
    let words = if words.is_empty() { "(no output)".to_owned() } else { words.join("\n\n") };
    let mut response = Map::new();
    if let Some(id) = called.and_then(|called| called.id.clone()) {
        response.insert("id".to_owned(), id);
    }
    let name = called.map_or("_", |called| called.name.as_str());
    response.insert("name".to_owned(), name.into());
    let field = if failed { "error" } else { "output" };
    response.insert("response".to_owned(), json!({field: words}));
    let mut behind = Vec::new();
    if quirks.images == ImageSupport::Yes && !pictures.is_empty() {
        response.insert("parts".to_owned(), pictures.into());
    } else {
        behind = pictures;
    }
    let mut parts = vec![json!({"functionResponse": response})];
    parts.extend(behind);
    parts
}

fn shown(content: &[Content], request: &ModelRequest, quirks: &Quirks) -> Vec<Value> {
    let parts = content.iter().filter_map(|piece| match piece {
        Content::Text { text: words } => Some(text(words)).filter(|_| !words.trim().is_empty()),
        Content::Image { media_type, blob } => {
            Some(match picture(request, quirks, Shower::Person, media_type, blob) {
                Picture::Bytes(data) => json!({"inlineData": {"mimeType": media_type, "data": data}}),
                Picture::Words(words) => text(&words),
            })
        }
    });
    parts.collect()
}

fn text(words: &str) -> Value {
    json!({"text": words})
}
