//! Writes a request.
//!
//! The order of fields is fixed and the messages come last, so that the bytes
//! of a longer conversation begin with those of a shorter one but for marks.

use rein_protocol::ToolSpec;
use serde_json::{Map, Value, json};

use super::conversation::{breaks_thinking, messages};
use super::{Anthropic, marks};
use crate::catalog::{Quirks, ThinkingStyle};
use crate::error::ModelError;
use crate::request::{Effort, ModelRequest, ToolChoice};
use crate::wire::history::tools_for;
use crate::wire::{Codec, EncodedRequest};

/// The longest answer to ask for if nobody says: the provider insists on a number, and every model can do this.
const MAX_TOKENS: u64 = 8_192;
/// The least that the provider takes for a budget.
const LEAST_BUDGET: u64 = 1_024;

/// A request for a streamed answer.
pub(super) fn encode(request: &ModelRequest, quirks: &Quirks) -> Result<EncodedRequest, ModelError> {
    let max_tokens = request.max_output.or(quirks.max_output).unwrap_or(MAX_TOKENS);
    let mut messages = messages(request, quirks);
    let mut system: Vec<Value> = request
        .system
        .iter()
        .filter(|text| !text.trim().is_empty())
        .map(|text| json!({"type": "text", "text": text}))
        .collect();
    let mut tools: Vec<Value> = tools_for(request).iter().map(|spec| tool(spec, quirks)).collect();
    let thinking = thinking(request, quirks, max_tokens, &messages);
    marks::place(&request.cache, quirks, &mut system, &mut tools, &mut messages);

    let mut body = Map::new();
    body.insert("model".to_owned(), request.model.clone().into());
    body.insert("max_tokens".to_owned(), max_tokens.into());
    body.insert("stream".to_owned(), true.into());
    body.extend(thinking);
    if !tools.is_empty() {
        body.insert("tools".to_owned(), tools.into());
        body.extend(tool_choice(&request.tool_choice).map(|choice| ("tool_choice".to_owned(), choice)));
    }
    if !system.is_empty() {
        body.insert("system".to_owned(), system.into());
    }
    body.insert("messages".to_owned(), messages.into());
    let path = quirks.path_or("/v1/messages", &request.model);
    let encoded = EncodedRequest::json(path, &Value::Object(body))?;
    Ok(Anthropic
        .standing_headers()
        .iter()
        .fold(encoded, |encoded, (name, value)| encoded.with_header(name, value)))
}

fn tool(spec: &ToolSpec, quirks: &Quirks) -> Value {
    let mut tool = json!({
        "name": spec.name,
        "description": spec.description,
        "input_schema": spec.input_schema,
    });
    if let (true, Some(fields)) = (quirks.eager_arguments, tool.as_object_mut()) {
        fields.insert("eager_input_streaming".to_owned(), true.into());
    }
    tool
}

fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => Some(json!({"type": "none"})),
        ToolChoice::Required => Some(json!({"type": "any"})),
        ToolChoice::Tool(name) => Some(json!({"type": "tool", "name": name})),
    }
}

/// The fields that say how much to think.
fn thinking(
    request: &ModelRequest,
    quirks: &Quirks,
    max_tokens: u64,
    messages: &[Value],
) -> Vec<(String, Value)> {
    let Some(effort) = request.effort else { return Vec::new() };
    // Who is told what to call may not think about it.
    let forced = matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Tool(_));
    let thinking = |value: Value| ("thinking".to_owned(), value);
    match quirks.thinking.style {
        ThinkingStyle::Unasked => Vec::new(),
        ThinkingStyle::Budget => {
            let budget = quirks.thinking.budget(effort).min(max_tokens.saturating_sub(LEAST_BUDGET));
            if budget < LEAST_BUDGET || forced || breaks_thinking(messages) {
                return Vec::new();
            }
            vec![thinking(json!({"type": "enabled", "budget_tokens": budget}))]
        }
        ThinkingStyle::Level => {
            vec![("output_config".to_owned(), json!({"effort": quirks.thinking.word(effort)}))]
        }
        ThinkingStyle::Adaptive if effort == Effort::Off || forced => match quirks.thinking.always {
            false => vec![thinking(json!({"type": "disabled"}))],
            true => vec![("output_config".to_owned(), json!({"effort": "low"}))],
        },
        ThinkingStyle::Adaptive => {
            let mut adaptive = json!({"type": "adaptive"});
            if let (Some(display), Some(fields)) = (&quirks.thinking.display, adaptive.as_object_mut()) {
                fields.insert("display".to_owned(), display.clone().into());
            }
            let word = quirks.thinking.word(effort);
            vec![thinking(adaptive), ("output_config".to_owned(), json!({"effort": word}))]
        }
    }
}

#[cfg(test)]
mod tests;
