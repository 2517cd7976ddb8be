//! Writes a request.
//!
//! The order of fields is fixed and the contents come last, so that the bytes
//! of a longer conversation begin with those of a shorter one.

use rein_protocol::ToolSpec;
use serde_json::{Map, Value, json};

use super::conversation::contents;
use crate::catalog::{Quirks, ThinkingStyle, percent_encoded};
use crate::error::ModelError;
use crate::request::{Effort, ModelRequest, ToolChoice};
use crate::wire::history::{acceptable_name, tools_for};
use crate::wire::{EncodedRequest, schema};

/// A request for a streamed answer.
pub(super) fn encode(request: &ModelRequest, quirks: &Quirks) -> Result<EncodedRequest, ModelError> {
    let mut body = Map::new();
    let mut generation = Map::new();
    if let Some(limit) = request.max_output {
        generation.insert("maxOutputTokens".to_owned(), limit.into());
    }
    if let Some(thinking) = thinking(request, quirks) {
        generation.insert("thinkingConfig".to_owned(), thinking);
    }
    if !generation.is_empty() {
        body.insert("generationConfig".to_owned(), generation.into());
    }
    let tools: Vec<Value> = tools_for(request).iter().map(tool).collect();
    if !tools.is_empty() {
        body.insert("tools".to_owned(), json!([{"functionDeclarations": tools}]));
        body.extend(tool_choice(&request.tool_choice).map(|choice| ("toolConfig".to_owned(), choice)));
    }
    let system: Vec<Value> = request
        .system
        .iter()
        .filter(|text| !text.trim().is_empty())
        .map(|text| json!({"text": text}))
        .collect();
    if !system.is_empty() {
        body.insert("systemInstruction".to_owned(), json!({"parts": system}));
    }
    body.insert("contents".to_owned(), contents(request, quirks).into());
    let usual = format!("/v1beta/models/{}:streamGenerateContent?alt=sse", percent_encoded(&request.model));
    EncodedRequest::json(quirks.path_or(&usual, &request.model), &Value::Object(body))
}

fn tool(spec: &ToolSpec) -> Value {
    let mut tool = json!({"name": acceptable_name(&spec.name), "description": spec.description});
    if let (Some(schema), Some(fields)) = (schema::google(&spec.input_schema), tool.as_object_mut()) {
        fields.insert("parameters".to_owned(), schema);
    }
    tool
}

fn tool_choice(choice: &ToolChoice) -> Option<Value> {
    let config = |config: Value| Some(json!({"functionCallingConfig": config}));
    match choice {
        ToolChoice::Auto => None,
        ToolChoice::None => config(json!({"mode": "NONE"})),
        ToolChoice::Required => config(json!({"mode": "ANY"})),
        ToolChoice::Tool(name) => {
            config(json!({"mode": "ANY", "allowedFunctionNames": [acceptable_name(name)]}))
        }
    }
}

/// How much to think, and that it is to be shown.
fn thinking(request: &ModelRequest, quirks: &Quirks) -> Option<Value> {
    let thinking = &quirks.thinking;
    let mut fields = Map::new();
    match (thinking.style, request.effort) {
        (ThinkingStyle::Unasked, _) => return None,
        (_, None) => {}
        (ThinkingStyle::Budget, Some(effort)) => {
            let least = if thinking.always { thinking.low } else { 0 };
            let budget = if effort == Effort::Off { least } else { thinking.budget(effort) };
            fields.insert("thinkingBudget".to_owned(), budget.into());
        }
        (ThinkingStyle::Level | ThinkingStyle::Adaptive, Some(effort)) => {
            fields.insert("thinkingLevel".to_owned(), thinking.level(effort).into());
        }
    }
    fields.insert("includeThoughts".to_owned(), true.into());
    Some(Value::Object(fields))
}

#[cfg(test)]
mod tests;
