//! Writes a request.
//!
//! The order of fields is fixed and the messages come last, so that the bytes
//! of a longer conversation begin with those of a shorter one as far as the
//! provider's cache cares.

use rein_protocol::message::AssistantPart;
use rein_protocol::{Content, ModelRef, ToolSpec};
use serde_json::{Map, Value, json};

use crate::catalog::Quirks;
use crate::error::{ErrorKind, ModelError};
use crate::request::ModelRequest;
use crate::wire::EncodedRequest;
use crate::wire::history::{OutgoingCall, ResultContent, Turn, acceptable_name, arrange};

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
    if !request.tools.is_empty() {
        body.insert("tools".to_owned(), request.tools.iter().map(tool).collect());
    }
    body.insert("messages".to_owned(), Value::Array(messages(request, quirks)?));
    EncodedRequest::json(quirks.path_or("/chat/completions", &request.model), &Value::Object(body))
}

fn tool(spec: &ToolSpec) -> Value {
    json!({
        "type": "function",
        "function": {"name": spec.name, "description": spec.description, "parameters": spec.input_schema},
    })
}

fn messages(request: &ModelRequest, quirks: &Quirks) -> Result<Vec<Value>, ModelError> {
    let mut messages = Vec::new();
    // One message: many chat templates accept a system message only once and first.
    let system = joined(request.system.iter().map(String::as_str));
    if !system.is_empty() {
        messages.push(json!({"role": quirks.system_role, "content": system}));
    }
    for turn in arrange(&request.messages, quirks.tool_id) {
        match turn {
            Turn::User(content) => {
                let text = text_of(content)?;
                if !text.trim().is_empty() {
                    messages.push(json!({"role": "user", "content": text}));
                }
            }
            Turn::Assistant { model, parts, calls } => {
                messages.extend(assistant(model, parts, &calls, request, quirks));
            }
            Turn::Result { id, content } => {
                messages.push(json!({"role": "tool", "tool_call_id": id, "content": result_text(&content)?}));
            }
            Turn::Stray { tool, content } => {
                let text = format!("The result of an earlier call of `{tool}`:\n\n{}", text_of(content)?);
                messages.push(json!({"role": "user", "content": text}));
            }
        }
    }
    Ok(messages)
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

fn result_text(content: &ResultContent) -> Result<String, ModelError> {
    match content {
        ResultContent::Missing(text) => Ok((*text).to_owned()),
        ResultContent::Given { content, is_error } => {
            let text = text_of(content)?;
            let says_so = text.trim_start().get(..5).is_some_and(|start| start.eq_ignore_ascii_case("error"));
            Ok(match (is_error, says_so) {
                (true, false) => format!("error: {text}"),
                _ if text.is_empty() => "(no output)".to_owned(),
                _ => text,
            })
        }
    }
}

fn text_of(content: &[Content]) -> Result<String, ModelError> {
    let texts: Vec<&str> = content
        .iter()
        .map(|piece| match piece {
            Content::Text { text } => Ok(text.as_str()),
            Content::Image { .. } => Err(ModelError::new(
                ErrorKind::BadRequest,
                "images cannot be sent to this provider by this version of rein",
            )
            .with_hint("describe what the image shows in words")),
        })
        .collect::<Result<_, _>>()?;
    Ok(joined(texts))
}

fn joined<'a>(texts: impl IntoIterator<Item = &'a str>) -> String {
    let filled: Vec<&str> = texts.into_iter().filter(|text| !text.is_empty()).collect();
    filled.join("\n\n")
}

#[cfg(test)]
mod tests;
