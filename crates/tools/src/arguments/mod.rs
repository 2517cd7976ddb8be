//! Reading what a model wrote as arguments: the one place where it is checked,
//! and repaired where there is only one thing that it can have meant.
//!
//! A complaint names every field that does not fit, what was wrong with it,
//! and the shape that is wanted, so that the next try can be right.

mod example;
mod lenient;
mod names;
mod object;
mod repair;
mod wrapping;

use rein_protocol::{ToolInput, ToolSpec};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use crate::contract::Complaint;
use crate::near;
use crate::schema;

/// As much of a wrong value or text as is shown back.
const QUOTED: usize = 120;

/// Reads arguments for a tool: [`check`] by the schema of a struct, which is then filled.
///
/// # Errors
///
/// A [`Complaint`] that names every field that does not fit.
pub fn parse<T: DeserializeOwned + JsonSchema>(tool: &str, arguments: Value) -> Result<T, Complaint> {
    let schema = schema::of::<T>();
    let checked = check(tool, &schema, arguments)?;
    serde_path_to_error::deserialize(checked).map_err(|error| {
        let problem = format!("`{}`: {}", error.path(), error.inner());
        complain(tool, &[problem], &schema, &Map::new())
    })
}

/// Arguments as a schema wants them.
///
/// Repaired are: other spellings and common other names of fields and of the values of an
/// enumeration, numbers and truth values in strings, JSON in strings where an object or a list is
/// wanted, one item where a list is wanted, `file://` paths, null or nothing for what is optional,
/// and all arguments inside one more object. What fits already is left as it is; nothing that is
/// required is ever made up.
///
/// # Errors
///
/// A [`Complaint`] that names every field that does not fit.
pub fn check(tool: &str, schema: &Value, arguments: Value) -> Result<Value, Complaint> {
    let Some(given) = wrapping::unwrap(tool, arguments, schema) else {
        let problem = "the arguments must be one JSON object".to_owned();
        return Err(complain(tool, &[problem], schema, &Map::new()));
    };
    let mut problems = Vec::new();
    let fitted = object::fit("", given, schema, &mut problems);
    if problems.is_empty() {
        return Ok(Value::Object(fitted));
    }
    Err(complain(tool, &problems, schema, &fitted))
}

/// The arguments of a call, also where their text is not quite JSON but can mean only one thing.
///
/// # Errors
///
/// A [`Complaint`] that says what to write instead.
pub fn read(input: &ToolInput, spec: &ToolSpec) -> Result<Value, Complaint> {
    match input {
        ToolInput::Json { value } => Ok(value.clone()),
        ToolInput::Malformed { text, error } => recover(text).ok_or_else(|| malformed(text, error, spec)),
    }
}

/// The object that a text means which is not valid JSON, or is no object, if there is only one.
///
/// Read are comments, commas too many, single quotes, bare keys, `True`, `False` and `None`, raw
/// line ends and lone backslashes in strings, a Markdown fence, and one missing brace at the very
/// end after a value that is complete. A text that breaks off anywhere else is not.
#[must_use]
pub fn recover(text: &str) -> Option<Value> {
    match serde_json::from_str::<Value>(text) {
        Ok(Value::Object(object)) => Some(Value::Object(object)),
        // A list of one object or an object in a string; what it is for is known when it is checked.
        Ok(value @ (Value::Array(_) | Value::String(_))) => Some(value),
        Ok(_) => None,
        Err(_) => lenient::object(text).map(Value::Object),
    }
}

/// What a model is told whose arguments were no JSON object at all.
#[must_use]
pub fn malformed(text: &str, error: &str, spec: &ToolSpec) -> Complaint {
    let what = if error.contains("EOF") {
        "are cut off (if they were long, make a shorter call, for example write a file in several steps)"
    } else {
        "are not valid JSON (inside strings, write newlines as \\n and quotes as \\\")"
    };
    Complaint(format!(
        "The arguments of `{}` {what}: {error}. They were {} bytes and began with: {}\nCall `{}` again with one JSON object of this shape: {}",
        spec.name,
        text.len(),
        quote(text),
        spec.name,
        shape(&spec.input_schema),
    ))
}

fn complain(tool: &str, problems: &[String], schema: &Value, fitted: &Map<String, Value>) -> Complaint {
    Complaint(format!(
        "The arguments of `{tool}` do not fit:\n- {}\nCall `{tool}` again with this shape: {}\nFor example: {}",
        problems.join("\n- "),
        shape(schema),
        example::call(schema, fitted),
    ))
}

/// `{"path": string, "limit"?: integer}`.
fn shape(schema: &Value) -> String {
    let required = schema::required(schema);
    let fields: Vec<String> = schema::properties(schema)
        .into_iter()
        .flatten()
        .map(|(name, property)| {
            let optional = if required.contains(&name.as_str()) { "" } else { "?" };
            format!("\"{name}\"{optional}: {}", kind(property))
        })
        .collect();
    format!("{{{}}}", fields.join(", "))
}

fn kind(property: &Value) -> &str {
    if property.get("enum").is_some() {
        return "word";
    }
    match property.get("type").and_then(Value::as_str) {
        Some("array") => "list",
        Some(kind) => kind,
        None => "value",
    }
}

fn kind_with_article(property: &Value) -> String {
    let kind = kind(property);
    let article = if kind.starts_with(['a', 'e', 'i', 'o']) { "an" } else { "a" };
    format!("{article} {kind}")
}

/// The beginning of a text, as a JSON string.
fn quote(text: &str) -> String {
    let begin: String = text.chars().take(QUOTED).collect();
    let more = if begin.len() < text.len() { "…" } else { "" };
    format!("{}{more}", Value::String(begin))
}

/// A field that there is not, and which may have been meant.
fn unknown_field(at: &str, name: &str, schema: &Value) -> String {
    let known: Vec<&str> =
        schema::properties(schema).into_iter().flatten().map(|(name, _)| name.as_str()).collect();
    let name: String = name.chars().take(QUOTED).collect();
    match near::nearest(&name, known.iter().copied()).first() {
        Some(meant) => format!("`{at}{name}`: there is no such field; did you mean `{meant}`?"),
        None => format!("`{at}{name}`: there is no such field"),
    }
}

#[cfg(test)]
mod tests;
