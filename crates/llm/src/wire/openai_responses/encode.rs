//! Writes a request.
//!
//! The order of fields is fixed and the input comes last, so that the bytes of
//! a longer conversation begin with those of a shorter one.

use rein_protocol::{Content, Message, ToolSpec};
use ring::digest::{Context, SHA256};
use serde_json::{Map, Value, json};

use super::conversation::{input, text};
use crate::catalog::{Quirks, ThinkingStyle};
use crate::error::ModelError;
use crate::request::{ModelRequest, ToolChoice};
use crate::wire::history::tools_for;
use crate::wire::{EncodedRequest, schema};

/// A request for a streamed answer.
pub(super) fn encode(request: &ModelRequest, quirks: &Quirks) -> Result<EncodedRequest, ModelError> {
    let mut body = Map::new();
    body.insert("model".to_owned(), request.model.clone().into());
    body.insert("stream".to_owned(), true.into());
    // Nothing stays there, so reasoning has to come along, sealed.
    body.insert("store".to_owned(), false.into());
    body.extend(reasoning(request, quirks));
    if let Some(verbosity) = &quirks.verbosity {
        body.insert("text".to_owned(), json!({"verbosity": verbosity}));
    }
    if let Some(limit) = request.max_output {
        body.insert("max_output_tokens".to_owned(), limit.into());
    }
    if quirks.cache_key {
        body.insert("prompt_cache_key".to_owned(), cache_key(request).into());
    }
    let tools: Vec<Value> = tools_for(request).iter().map(|spec| tool(spec, quirks)).collect();
    if !tools.is_empty() {
        body.insert("tools".to_owned(), tools.into());
        body.extend(tool_choice(&request.tool_choice).map(|choice| ("tool_choice".to_owned(), choice)));
    }
    let system: Vec<&str> =
        request.system.iter().map(String::as_str).filter(|text| !text.trim().is_empty()).collect();
    let mut items = Vec::new();
    if quirks.instructions {
        body.insert("instructions".to_owned(), system.join("\n\n").into());
    } else if !system.is_empty() {
        let content: Vec<Value> = system.into_iter().map(text).collect();
        items.push(json!({"role": quirks.system_role, "content": content}));
    }
    items.extend(input(request, quirks));
    body.insert("input".to_owned(), items.into());
    EncodedRequest::json(quirks.path_or("/responses", &request.model), &Value::Object(body))
}

/// How much to think, how to show it, and that it is wanted back.
fn reasoning(request: &ModelRequest, quirks: &Quirks) -> Vec<(String, Value)> {
    let thinking = &quirks.thinking;
    if thinking.style == ThinkingStyle::Unasked {
        return Vec::new();
    }
    let mut fields = Map::new();
    if let Some(effort) = request.effort {
        fields.insert("effort".to_owned(), thinking.level(effort).into());
    }
    if let Some(display) = &thinking.display {
        fields.insert("summary".to_owned(), display.clone().into());
    }
    let mut said = vec![("include".to_owned(), json!(["reasoning.encrypted_content"]))];
    if !fields.is_empty() {
        said.push(("reasoning".to_owned(), fields.into()));
    }
    said
}

/// Strictness has to be said either way: it is on by itself.
fn tool(spec: &ToolSpec, quirks: &Quirks) -> Value {
    let strict = if quirks.strict_tools { schema::strict(&spec.input_schema) } else { None };
    let is_strict = strict.is_some();
    json!({
        "type": "function",
        "name": spec.name,
        "description": spec.description,
        "parameters": strict.unwrap_or_else(|| schema::rooted(&spec.input_schema)),
        "strict": is_strict,
    })
}

fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some("none".into()),
        ToolChoice::Required => Some("required".into()),
        ToolChoice::Tool(name) => Some(json!({"type": "function", "name": name})),
    }
}

/// The same for every request of a conversation, so that they reach the same cache: what it begins with.
fn cache_key(request: &ModelRequest) -> String {
    let mut context = Context::new(&SHA256);
    for text in &request.system {
        context.update(text.as_bytes());
        context.update(&[0]);
    }
    if let Some(Message::User { content }) = request.messages.first() {
        for piece in content {
            match piece {
                Content::Text { text } => context.update(text.as_bytes()),
                Content::Image { blob, .. } => context.update(blob.0.as_bytes()),
            }
            context.update(&[0]);
        }
    }
    context.finish().as_ref().iter().take(16).map(|byte| format!("{byte:02x}")).collect()
}

#[cfg(test)]
mod tests;
