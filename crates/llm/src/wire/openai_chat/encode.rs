//! Writes a request.
//!
//! The order of fields is fixed and the messages come last, so that the bytes
//! of a longer conversation begin with those of a shorter one as far as the
//! provider's cache cares.

use rein_protocol::message::AssistantPart;
use rein_protocol::{Content, ModelRef, ToolSpec};
use serde_json::{Map, Value, json};

use crate::catalog::{Quirks, ThinkingStyle};
use crate::error::ModelError;
use crate::request::ModelRequest;
use crate::wire::EncodedRequest;
use crate::wire::history::{OutgoingCall, ResultContent, Turn, acceptable_name, arrange};
use crate::wire::image::{Picture, Shower, picture};

/// A request for a streamed answer.
pub(super) fn encode(request: &ModelRequest, quirks: &Quirks) -> Result<EncodedRequest, ModelError> {
    let mut body = Map::new();
    body.insert("model".to_owned(), request.model.clone().into());
    body.insert("stream".to_owned(), true.into());
    if quirks.stream_usage {
        body.insert("stream_options".to_owned(), json!({"include_usage": true}));
    }
    if let Some(limit) = request.max_output {
        body.insert(quirks.max_tokens_field.clone(), limit.into());
    }
    if let (Some(field), Some(effort)) = (&quirks.effort_field, request.effort)
        && quirks.thinking.style == ThinkingStyle::Level
    {
        body.insert(field.clone(), quirks.thinking.word(effort).into());
    }
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    }
    body.insert("messages".to_owned(), Value::Array(messages(request, quirks)));
    EncodedRequest::json(quirks.path_or("/chat/completions", &request.model), &Value::Object(body))
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {"name": spec.name, "description": spec.description, "parameters": spec.input_schema},
    })
}

fn messages(request: &ModelRequest, quirks: &Quirks) -> Vec<Value> {
    let mut messages = Vec::new();
    // One message: many chat templates accept a system message only once and first.
    let system = joined(request.system.iter().map(String::as_str));
    if !system.is_empty() {
        messages.push(json!({"role": quirks.system_role, "content": system}));
    }
    // Results may hold no pictures: those are shown behind the last of them.
    let mut shown = Vec::new();
    for turn in arrange(&request.messages, quirks.tool_id) {
        if !matches!(turn, Turn::Result { .. }) {
            messages.extend(user(std::mem::take(&mut shown)));
        }
        match turn {
            Turn::User(content) => messages.extend(user(pieces(content, request, quirks, Shower::Person))),
            Turn::Assistant { model, parts, calls } => {
                messages.extend(assistant(model, parts, &calls, request, quirks));
            }
            Turn::Result { id, content } => {
                let (text, pictures) = result(&content, request, quirks);
                if !pictures.is_empty() {
                    shown.push(Piece::Words(format!("What call {id} shows:")));
                    shown.extend(pictures);
                }
                messages.push(json!({"role": "tool", "tool_call_id": id, "content": text}));
            }
            Turn::Stray { tool, content } => {
                let lead = Piece::Words(format!("The result of an earlier call of `{tool}`:"));
                let content = pieces(content, request, quirks, Shower::Tool);
                messages.extend(user([lead].into_iter().chain(content).collect()));
            }
        }
    }
    messages.extend(user(shown));
    messages
}

/// A message of the person's: a text if there are only words. One without any is left out.
fn user(pieces: Vec<Piece>) -> Option<Value> {
    let words = |piece: &Piece| match piece {
        Piece::Words(words) => Some(words.clone()),
        Piece::Picture(_) => None,
    };
    let content = match pieces.iter().map(words).collect::<Option<Vec<String>>>() {
        Some(words) => {
            let text = joined(words.iter().map(String::as_str));
            Some(Value::from(text.clone())).filter(|_| !text.trim().is_empty())?
        }
        None => pieces.into_iter().filter_map(Piece::into_part).collect(),
    };
    Some(json!({"role": "user", "content": content}))
}

/// A message without words and calls is left out.
fn assistant(
    model: &ModelRef,
    parts: &[AssistantPart],
    calls: &[OutgoingCall],
    request: &ModelRequest,
    quirks: &Quirks,
) -> Option<Value> {
    let text = joined(parts.iter().filter_map(|part| match part {
        AssistantPart::Text { text } => Some(text.as_str()),
        AssistantPart::Reasoning { .. } | AssistantPart::Call(_) => None,
    }));
    if text.trim().is_empty() && calls.is_empty() {
        return None;
    }
    let mut message = Map::new();
    message.insert("role".to_owned(), "assistant".into());
    let content = if text.trim().is_empty() { Value::Null } else { text.into() };
    message.insert("content".to_owned(), content);
    // Who wants to see reasoning again insists on the field in every message, but
    // reasoning may only go back to the model that it came from.
    if let Some(field) = &quirks.reasoning_field {
        let reasoning = joined(parts.iter().filter_map(|part| match part {
            AssistantPart::Reasoning { text, .. } if model.model == request.model => Some(text.as_str()),
            AssistantPart::Reasoning { .. } | AssistantPart::Text { .. } | AssistantPart::Call(_) => None,
        }));
        message.insert(field.clone(), reasoning.into());
    }
    if !calls.is_empty() {
        message.insert("tool_calls".to_owned(), calls.iter().map(call).collect());
    }
    Some(Value::Object(message))
}

fn call(outgoing: &OutgoingCall) -> Value {
    json!({
        "id": outgoing.id,
        "type": "function",
        "function": {"name": acceptable_name(&outgoing.call.tool), "arguments": outgoing.call.input.to_json_text()},
    })
}

/// The words of a result, and the pictures that it shows.
fn result(content: &ResultContent, request: &ModelRequest, quirks: &Quirks) -> (String, Vec<Piece>) {
    match content {
        ResultContent::Missing(text) => ((*text).to_owned(), Vec::new()),
        ResultContent::Given { content, is_error } => {
            let pieces = pieces(content, request, quirks, Shower::Tool);
            let (words, pictures): (Vec<Piece>, Vec<Piece>) =
                pieces.into_iter().partition(|piece| matches!(piece, Piece::Words(_)));
            let text = joined(words.iter().filter_map(|piece| match piece {
                Piece::Words(words) => Some(words.as_str()),
                Piece::Picture(_) => None,
            }));
            let says_so = text.trim_start().get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error"));
            let text = match (is_error, says_so) {
                (true, false) => format!("error: {text}"),
                _ if text.is_empty() && pictures.is_empty() => "(no output)".to_owned(),
                _ if text.is_empty() => "(an image, shown below)".to_owned(),
                _ => text,
            };
            (text, pictures)
        }
    }
}

/// A piece of what is said or shown.
enum Piece {
    Words(String),
    /// An address that holds the picture itself.
    Picture(String),
}

impl Piece {
    fn into_part(self) -> Option<Value> {
        match self {
            Self::Words(words) if words.trim().is_empty() => None,
            Self::Words(words) => Some(json!({"type": "text", "text": words})),
            Self::Picture(url) => Some(json!({"type": "image_url", "image_url": {"url": url}})),
        }
    }
}

fn pieces(content: &[Content], request: &ModelRequest, quirks: &Quirks, shower: Shower) -> Vec<Piece> {
    let piece = |piece: &Content| match piece {
        Content::Text { text } => Piece::Words(text.clone()),
        Content::Image { media_type, blob } => match picture(request, quirks, shower, media_type, blob) {
            Picture::Bytes(bytes) => Piece::Picture(format!("data:{media_type};base64,{bytes}")),
            Picture::Words(words) => Piece::Words(words),
        },
    };
    content.iter().map(piece).collect()
}

fn joined<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let filled: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    filled.join("\n\n")
}

#[cfg(test)]
mod tests;
