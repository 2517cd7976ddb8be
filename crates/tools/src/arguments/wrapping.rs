//! Getting at the object of arguments when it comes inside of something else:
//! a string, a list of one, or another object that only names it.

use serde_json::{Map, Value};

use super::lenient;
use crate::schema;

/// What models call the field in which they put all others.
const WRAPPERS: &[&str] = &["args", "arguments", "input", "kwargs", "parameters", "params", "tool_input"];

/// What models call the field with the name of the tool, beside a wrapper.
const NAMES: &[&str] = &["function", "name", "tool", "tool_name"];

/// How often something may be inside of something.
const MOST_LAYERS: usize = 3;

/// The object of arguments, for a tool and its schema.
pub(super) fn unwrap(tool: &str, arguments: Value, schema: &Value) -> Option<Map<String, Value>> {
    let mut object = as_object(arguments)?;
    for _ in 0..MOST_LAYERS {
        let Some(wrapper) = wrapper(tool, &object, schema) else { break };
        let inner = object.get(&wrapper).cloned().and_then(as_object)?;
        object = inner;
    }
    Some(object)
}

fn as_object(value: Value) -> Option<Map<String, Value>> {
    match value {
        Value::Object(object) => Some(object),
        Value::Null => Some(Map::new()),
        // Some models encode the whole object once more.
        Value::String(text) if text.trim().is_empty() => Some(Map::new()),
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(object)) => Some(object),
            Ok(_) => None,
            Err(_) => lenient::object(&text),
        },
        Value::Array(items) => match <[Value; 1]>::try_from(items) {
            Ok([Value::Object(object)]) => Some(object),
            _ => None,
        },
        Value::Bool(_) | Value::Number(_) => None,
    }
}

/// The only field of an object, if it is none of the tool's and can only hold the arguments.
fn wrapper(tool: &str, object: &Map<String, Value>, schema: &Value) -> Option<String> {
    let is_own = |name: &str| schema::properties(schema).is_some_and(|all| all.contains_key(name));
    let names_the_tool = |name: &str, value: &Value| NAMES.contains(&name) && value.as_str() == Some(tool);
    let mut others = object.iter().filter(|(name, value)| !names_the_tool(name, value) || is_own(name));
    let (name, value) = others.next()?;
    let holds_an_object = match value {
        Value::Object(_) => true,
        Value::String(text) => text.trim_start().starts_with('{'),
        _ => false,
    };
    let is_wrapper = WRAPPERS.contains(&name.as_str()) || name == tool;
    (others.next().is_none() && holds_an_object && is_wrapper && !is_own(name)).then(|| name.clone())
}
