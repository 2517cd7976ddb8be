//! Writes a request.
//!
//! The order of fields is fixed and the messages come last. What Converse has
//! no words for goes to the model as it is.

use rein_protocol::ToolSpec;
use serde_json::{Map, Value, json};

use super::conversation::{breaks_thinking, messages};
use crate::catalog::{CacheStyle, Quirks, ThinkingStyle, percent_encoded};
use crate::error::ModelError;
use crate::request::{CacheLifetime, Effort, ModelRequest, ToolChoice};
use crate::wire::EncodedRequest;
use crate::wire::history::tools_for;

/// The provider takes no more marks.
const MOST_MARKS: usize = 4;
/// The least that the provider takes for a budget.
const LEAST_BUDGET: u64 = 1_024;

/// A request for a streamed answer.
pub(super) fn encode(request: &ModelRequest, quirks: &Quirks) -> Result<EncodedRequest, ModelError> {
    let max_tokens = request.max_output.or(quirks.max_output);
    let mut messages = messages(request, quirks);
    let texts = request.system.iter().filter(|text| !text.trim().is_empty());
    let mut system: Vec<Value> = texts.map(|text| json!({"text": text})).collect();
    let mut tools: Vec<Value> = tools_for(request).iter().map(tool).collect();
    let extra = thinking(request, quirks, max_tokens, &messages);
    mark(request, quirks, &mut system, &mut tools, &mut messages);

    let mut body = Map::new();
    if let Some(limit) = max_tokens {
        body.insert("inferenceConfig".to_owned(), json!({"maxTokens": limit}));
    }
    if !extra.is_empty() {
        body.insert("additionalModelRequestFields".to_owned(), Value::Object(extra));
    }
    if !tools.is_empty() {
        let mut config = Map::new();
        config.insert("tools".to_owned(), tools.into());
        config.extend(tool_choice(&request.tool_choice).map(|choice| ("toolChoice".to_owned(), choice)));
        body.insert("toolConfig".to_owned(), Value::Object(config));
    }
    if !system.is_empty() {
        body.insert("system".to_owned(), system.into());
    }
    body.insert("messages".to_owned(), messages.into());
    let usual = format!("/model/{}/converse-stream", percent_encoded(&request.model));
    let encoded = EncodedRequest::json(quirks.path_or(&usual, &request.model), &Value::Object(body))?;
    Ok(encoded.with_header("accept", "application/vnd.amazon.eventstream"))
}

fn tool(spec: &ToolSpec) -> Value {
    json!({"toolSpec": {
        "name": spec.name,
        "description": spec.description,
        "inputSchema": {"json": spec.input_schema},
    }})
}

/// There is no word for "none": the model is offered its tools as it likes.
fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    match choice {
        ToolChoice::Auto | ToolChoice::None => None,
        ToolChoice::Required => Some(json!({"any": {}})),
        ToolChoice::Tool(name) => Some(json!({"tool": {"name": name}})),
    }
}

/// The fields that say how much to think, which the model gets as they are.
fn thinking(
    request: &ModelRequest,
    quirks: &Quirks,
    max_tokens: Option<u64>,
    messages: &[Value],
) -> Map<String, Value> {
    let mut fields = Map::new();
    let Some(effort) = request.effort else { return fields };
    let forced = matches!(request.tool_choice, ToolChoice::Required | ToolChoice::Tool(_));
    let quiet = effort == Effort::Off || forced;
    let thinking = &quirks.thinking;
    match thinking.style {
        ThinkingStyle::Unasked => {}
        ThinkingStyle::Budget => {
            let room = max_tokens.unwrap_or(u64::MAX).saturating_sub(LEAST_BUDGET);
            let budget = thinking.budget(effort).min(room);
            if budget >= LEAST_BUDGET && !quiet && !breaks_thinking(messages) {
                fields.insert("thinking".to_owned(), json!({"type": "enabled", "budget_tokens": budget}));
            }
        }
        ThinkingStyle::Adaptive if quiet => {
            if !thinking.always {
                fields.insert("thinking".to_owned(), json!({"type": "disabled"}));
            }
        }
        ThinkingStyle::Adaptive => {
            let mut adaptive = json!({"type": "adaptive"});
            if let (Some(display), Some(adaptive)) = (&thinking.display, adaptive.as_object_mut()) {
                adaptive.insert("display".to_owned(), display.clone().into());
            }
            fields.insert("thinking".to_owned(), adaptive);
            fields.insert("output_config".to_owned(), json!({"effort": thinking.word(effort)}));
        }
        ThinkingStyle::Level if quiet => {
            fields.insert("reasoningConfig".to_owned(), json!({"type": "disabled"}));
        }
        ThinkingStyle::Level => {
            let level = json!({"type": "enabled", "maxReasoningEffort": thinking.word(effort)});
            fields.insert("reasoningConfig".to_owned(), level);
        }
    }
    fields
}

/// Puts marks behind what will come again.
fn mark(
    request: &ModelRequest,
    quirks: &Quirks,
    system: &mut Vec<Value>,
    tools: &mut Vec<Value>,
    messages: &mut [Value],
) {
    let plan = &request.cache;
    if quirks.cache == CacheStyle::Automatic {
        return;
    }
    let point = match plan.lifetime {
        CacheLifetime::Minutes5 => json!({"cachePoint": {"type": "default"}}),
        CacheLifetime::Hour1 => json!({"cachePoint": {"type": "default", "ttl": "1h"}}),
    };
    let mut left = MOST_MARKS;
    let mut put = |blocks: Option<&mut Vec<Value>>| {
        if let Some(blocks) = blocks.filter(|blocks| !blocks.is_empty())
            && left > 0
        {
            left -= 1;
            blocks.push(point.clone());
        }
    };
    if plan.tools && quirks.cache != CacheStyle::MarksWithoutTools {
        put(Some(tools));
    }
    if plan.system {
        put(Some(system));
    }
    for message in messages.iter_mut().rev().take(plan.messages) {
        let content = message.get_mut("content").and_then(Value::as_array_mut);
        // Nothing may follow thinking that goes back.
        put(content.filter(|blocks| blocks.last().is_some_and(|last| last.get("reasoningContent").is_none())));
    }
}

#[cfg(test)]
mod tests;
