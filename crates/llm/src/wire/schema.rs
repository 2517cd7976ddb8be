//! What the arguments of a tool look like, in the words that a provider knows.
//!
//! Schemas come from everywhere and use all of JSON Schema; each provider
//! knows a part of it and refuses the whole request for the rest. What cannot
//! be said is left out, in favour of a request that is accepted.

mod google;
mod strict;

use serde_json::{Map, Value, json};

pub(super) use google::google;
pub(super) use strict::strict;

/// A schema whose outermost is an object with properties, as everybody wants it.
pub(super) fn rooted(schema: &Value) -> Value {
    let mut fields = schema.as_object().cloned().unwrap_or_default();
    if fields.get("type").and_then(Value::as_str) != Some("object") {
        fields.insert("type".to_owned(), "object".into());
    }
    if !fields.get("properties").is_some_and(Value::is_object) {
        fields.insert("properties".to_owned(), Value::Object(Map::new()));
    }
    Value::Object(fields)
}

/// What a reference within a schema refers to.
fn referred<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    root.pointer(reference.strip_prefix('#')?)
}

/// A schema that also accepts nothing.
fn or_null(schema: Value) -> Value {
    json!({"anyOf": [schema, {"type": "null"}]})
}
