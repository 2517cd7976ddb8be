//! What a call could look like that fits: with what fitted already, and a sign
//! for what is missing.

use serde_json::{Map, Value};

use crate::schema;

/// Characters of a value that are shown.
const SHOWN: usize = 60;

/// Fields that fitted, and those that are required.
pub(super) fn call(schema: &Value, fitted: &Map<String, Value>) -> Value {
    let required = schema::required(schema);
    let mut example = Map::new();
    for (name, property) in schema::properties(schema).into_iter().flatten() {
        if let Some(value) = fitted.get(name) {
            example.insert(name.clone(), short(value));
        } else if required.contains(&name.as_str()) {
            example.insert(name.clone(), stand_in(name, property));
        }
    }
    Value::Object(example)
}

/// Long words are cut: they are shown for their place.
fn short(value: &Value) -> Value {
    match value {
        Value::String(text) if text.chars().count() > SHOWN => {
            Value::String(text.chars().take(SHOWN).chain(['…']).collect())
        }
        Value::Array(items) => items.iter().take(1).map(short).collect(),
        Value::Object(fields) => {
            Value::Object(fields.iter().map(|(name, value)| (name.clone(), short(value))).collect())
        }
        value => value.clone(),
    }
}

fn stand_in(name: &str, property: &Value) -> Value {
    if let Some(first) = property.get("enum").and_then(Value::as_array).and_then(|all| all.first()) {
        return first.clone();
    }
    match property.get("type").and_then(Value::as_str) {
        Some("integer" | "number") => property.get("minimum").cloned().unwrap_or(Value::from(1)),
        Some("boolean") => Value::Bool(true),
        Some("array") => {
            Value::Array(property.get("items").map(|item| stand_in(name, item)).into_iter().collect())
        }
        Some("object") => call(property, &Map::new()),
        _ => Value::String(format!("<{name}>")),
    }
}
