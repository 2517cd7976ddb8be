//! What each dialect looks like, one file a dialect.

mod anthropic_xml;
mod deepseek;
mod gemini;
mod gemma;
mod glm;
mod harmony;
mod hermes;
mod json;
mod kimi;
mod llama;
mod mistral;
mod qwen_coder;

use serde_json::{Map, Value};

use super::Dialect;
use super::opening::{Closer, Opening, Place, Verdict, What};

/// What a dialect looks like.
pub(super) trait Form: Sync {
    /// How its calls, and reasoning if it has its own tags, begin.
    fn openings(&self) -> &'static [Opening];

    /// The calls of one message.
    fn calls(&self, calls: &[WrittenCall]) -> String;

    /// The result of a call, as a person would hand it over.
    fn result(&self, result: &WrittenResult) -> String;

    /// How a model is told to call tools.
    fn teaching(&self) -> &'static str;
}

/// A call to be written.
#[derive(Debug, Clone)]
pub(super) struct WrittenCall<'a> {
    pub(super) tool: &'a str,
    pub(super) arguments: &'a Map<String, Value>,
    /// Which call of the conversation it is.
    pub(super) number: usize,
}

/// A result to be written.
#[derive(Debug, Clone)]
pub(super) struct WrittenResult<'a> {
    pub(super) tool: &'a str,
    pub(super) text: &'a str,
    pub(super) number: usize,
}

/// The form of a dialect.
pub(super) fn form(dialect: Dialect) -> &'static dyn Form {
    match dialect {
        Dialect::AnthropicXml => &anthropic_xml::AnthropicXml,
        Dialect::Hermes => &hermes::Hermes,
        Dialect::QwenCoder => &qwen_coder::QwenCoder,
        Dialect::DeepSeek => &deepseek::DeepSeek,
        Dialect::Glm => &glm::Glm,
        Dialect::Kimi => &kimi::Kimi,
        Dialect::Harmony => &harmony::Harmony,
        Dialect::Gemini => &gemini::Gemini,
        Dialect::Gemma => &gemma::Gemma,
        Dialect::Llama => &llama::Llama,
        Dialect::Mistral => &mistral::Mistral,
        Dialect::Json => &json::Json,
    }
}

/// Reasoning that most models write the same way.
pub(super) const THINKING: &[Opening] = &[
    Opening {
        tag: "<think>",
        place: Place::Beginning,
        begins: |_, _| Verdict::Begins(0, What::Reasoning(&[Closer::Eaten("</think>")])),
    },
    Opening {
        tag: "<thinking>",
        place: Place::Beginning,
        begins: |_, _| Verdict::Begins(0, What::Reasoning(&[Closer::Eaten("</thinking>")])),
    },
];

/// Calls as objects of JSON, each on lines of its own between two tags.
fn json_calls(calls: &[WrittenCall], before: &str, after: &str) -> String {
    let written: Vec<String> = calls
        .iter()
        .map(|call| {
            let object = serde_json::json!({"name": call.tool, "arguments": call.arguments});
            format!("{before}{object}{after}")
        })
        .collect();
    written.join("\n")
}

/// A value as text between tags.
fn tag_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// Arguments as Python writes them.
fn python_arguments(arguments: &Map<String, Value>) -> String {
    let written: Vec<String> =
        arguments.iter().map(|(name, value)| format!("{name}={}", python(value))).collect();
    written.join(", ")
}

fn python(value: &Value) -> String {
    match value {
        Value::Null => "None".to_owned(),
        Value::Bool(true) => "True".to_owned(),
        Value::Bool(false) => "False".to_owned(),
        Value::Number(_) | Value::String(_) => value.to_string(),
        Value::Array(items) => format!("[{}]", items.iter().map(python).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            let written: Vec<String> = fields
                .iter()
                .map(|(name, value)| format!("{}: {}", Value::String(name.clone()), python(value)))
                .collect();
            format!("{{{}}}", written.join(", "))
        }
    }
}
