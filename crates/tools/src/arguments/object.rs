//! The fields of an object, each under its own name and of its own kind.

use serde_json::{Map, Value};

use super::{kind_with_article, names, repair};
use crate::schema;

/// Optional fields for which nothing is as good as not being there.
const BLANK_IS_NONE: &[&str] = &["glob", "path", "type"];

/// The fields that fit, as the schema wants them. What does not fit is told; `at` is where the object
/// is: nothing, or like `edits[2].`.
pub(super) fn fit(
    at: &str,
    given: Map<String, Value>,
    schema: &Value,
    problems: &mut Vec<String>,
) -> Map<String, Value> {
    let mut fields = names::settle(at, given, schema, problems);
    let mut fitted = Map::new();
    let required = schema::required(schema);
    for (name, property) in schema::properties(schema).into_iter().flatten() {
        let is_required = required.contains(&name.as_str());
        let value = fields
            .remove(name)
            .filter(|value| !value.is_null() || allows_null(property))
            .filter(|value| is_required || !is_blank(name, value, property));
        match value {
            Some(value) => {
                if let Some(value) = repair::fit(&format!("{at}{name}"), name, value, property, problems) {
                    fitted.insert(name.clone(), value);
                }
            }
            None if is_required => {
                problems.push(format!("`{at}{name}`: missing, {} is required", kind_with_article(property)));
            }
            None => {}
        }
    }
    // What is left is there because the schema leaves room for more.
    fitted.extend(fields);
    fitted
}

fn allows_null(property: &Value) -> bool {
    let is_null = |kind: &Value| kind == "null";
    let in_type = property.get("type").and_then(Value::as_array).is_some_and(|all| all.iter().any(is_null));
    let choices = ["anyOf", "oneOf"].into_iter().filter_map(|key| property.get(key)?.as_array()).flatten();
    in_type || choices.into_iter().any(|choice| choice.get("type").is_some_and(is_null))
}

/// Whether an optional value says nothing.
fn is_blank(name: &str, value: &Value, property: &Value) -> bool {
    let Some(text) = value.as_str() else { return false };
    match property.get("type").and_then(Value::as_str) {
        Some("integer" | "number" | "boolean") => {
            matches!(text.trim().to_ascii_lowercase().as_str(), "" | "null" | "none" | "undefined")
        }
        Some("string") if property.get("enum").is_some() || BLANK_IS_NONE.contains(&name) => {
            text.trim().is_empty()
        }
        _ => false,
    }
}
