//! OpenAI's strict mode: every property is required, none may be added. What
//! was optional may be null instead.

use serde_json::{Map, Value, json};

use super::{or_null, referred};

/// Deeper schemas are left as they are.
const DEEPEST: usize = 10;
/// What may be said of a value in this mode.
const KNOWN: [&str; 19] = [
    "type",
    "description",
    "title",
    "enum",
    "const",
    "anyOf",
    "properties",
    "required",
    "items",
    "$ref",
    "$defs",
    "additionalProperties",
    "pattern",
    "format",
    "minimum",
    "maximum",
    "minItems",
    "maxItems",
    "multipleOf",
];
/// What can be left out without another meaning.
const IDLE: [&str; 7] = ["default", "examples", "example", "$schema", "$id", "$comment", "deprecated"];

/// The schema for strict mode; nothing if it cannot be said there.
pub(in crate::wire) fn strict(schema: &Value) -> Option<Value> {
    let fields = schema.as_object()?;
    if fields.get("type").and_then(Value::as_str) != Some("object") || fields.contains_key("anyOf") {
        return None;
    }
    let mut rooted = fields.clone();
    rooted.entry("properties").or_insert_with(|| json!({}));
    tightened(&Value::Object(rooted), schema, 0)
}

fn tightened(schema: &Value, root: &Value, depth: usize) -> Option<Value> {
    let fields = schema.as_object().filter(|_| depth <= DEEPEST)?;
    let mut tight = Map::new();
    for (name, value) in fields {
        let value = match name.as_str() {
            "$ref" => {
                referred(root, value.as_str()?)?;
                value.clone()
            }
            "items" => tightened(value, root, depth + 1)?,
            "anyOf" | "oneOf" => {
                let variants = value.as_array()?.iter().map(|variant| tightened(variant, root, depth + 1));
                variants.collect::<Option<Vec<Value>>>()?.into()
            }
            "$defs" => {
                let defined = value.as_object()?.iter();
                let tight =
                    defined.map(|(name, schema)| Some((name.clone(), tightened(schema, root, depth + 1)?)));
                Value::Object(tight.collect::<Option<Map<String, Value>>>()?)
            }
            "properties" | "required" | "additionalProperties" => continue,
            known if KNOWN.contains(&known) => value.clone(),
            idle if IDLE.contains(&idle) => continue,
            _ => return None,
        };
        let name = if name == "oneOf" { "anyOf" } else { name };
        tight.insert(name.to_owned(), value);
    }
    if fields.get("type").and_then(Value::as_str) == Some("object") {
        object(fields, root, depth, &mut tight)?;
    } else if tight.is_empty() || (!tight.contains_key("type") && !says_what(&tight)) {
        return None;
    }
    Some(Value::Object(tight))
}

/// Whether a value is described in another way than by its type.
fn says_what(fields: &Map<String, Value>) -> bool {
    ["anyOf", "$ref", "enum", "const"].iter().any(|name| fields.contains_key(*name))
}

fn object(
    fields: &Map<String, Value>,
    root: &Value,
    depth: usize,
    tight: &mut Map<String, Value>,
) -> Option<()> {
    // An object with names that nobody knows cannot be closed.
    let open = match fields.get("additionalProperties") {
        None | Some(Value::Bool(false)) => false,
        Some(_) => true,
    };
    let properties = fields.get("properties").and_then(Value::as_object);
    if open || properties.is_none() {
        return None;
    }
    let required: Vec<&str> = fields
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let mut closed = Map::new();
    for (name, schema) in properties.into_iter().flatten() {
        let schema = tightened(schema, root, depth + 1)?;
        let optional = !required.contains(&name.as_str());
        closed.insert(name.clone(), if optional { nullable(schema) } else { schema });
    }
    let names: Vec<Value> = closed.keys().cloned().map(Value::String).collect();
    tight.insert("properties".to_owned(), Value::Object(closed));
    tight.insert("required".to_owned(), names.into());
    tight.insert("additionalProperties".to_owned(), false.into());
    Some(())
}

fn nullable(mut schema: Value) -> Value {
    let simple = schema.get("type").and_then(Value::as_str).map(ToOwned::to_owned);
    let listed = schema.get("enum").is_some() || schema.get("const").is_some();
    match (simple, schema.as_object_mut()) {
        (Some(kind), Some(fields)) if !listed && kind != "null" => {
            fields.insert("type".to_owned(), json!([kind, "null"]));
            schema
        }
        _ => or_null(schema),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_optional_may_be_null_and_nothing_may_be_added() {
        let schema = json!({"type": "object", "required": ["path"], "$schema": "x", "properties": {
            "path": {"type": "string"},
            "limit": {"type": "integer", "minimum": 1, "default": 5},
            "mode": {"enum": ["a", "b"]},
            "edits": {"type": "array", "items": {"oneOf": [
                {"type": "object", "properties": {"old": {"type": "string"}}, "required": ["old"]},
                {"type": "string"},
            ]}},
        }});
        let expected = json!({"type": "object",
            "properties": {
                "path": {"type": "string"},
                "limit": {"type": ["integer", "null"], "minimum": 1},
                "mode": {"anyOf": [{"enum": ["a", "b"]}, {"type": "null"}]},
                "edits": {"type": ["array", "null"], "items": {"anyOf": [
                    {"type": "object", "properties": {"old": {"type": "string"}}, "required": ["old"],
                     "additionalProperties": false},
                    {"type": "string"},
                ]}},
            },
            "required": ["path", "limit", "mode", "edits"],
            "additionalProperties": false,
        });
        assert_eq!(strict(&schema), Some(expected));
    }

    #[test]
    fn what_cannot_be_said_strictly_is_not() {
        let with = |property: Value| json!({"type": "object", "properties": {"a": property}});
        for schema in [
            json!({"type": "string"}),
            json!({"anyOf": []}),
            json!({"type": "object", "additionalProperties": true}),
            with(json!({"type": "object", "additionalProperties": {"type": "string"}})),
            with(json!({"type": "object"})),
            with(json!({})),
            with(json!({"allOf": [{"type": "string"}]})),
            with(json!({"$ref": "#/$defs/gone"})),
            with(json!(true)),
        ] {
            assert_eq!(strict(&schema), None, "{schema}");
        }
    }
}
