//! JSON schemas of argument structs, as small as a model needs them.
//!
//! What only a validator would use is left out: every byte here is sent with
//! every request. The same struct always gives the same bytes.

use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value};

/// Says nothing to a model.
const NOISE: &[&str] = &["$schema", "title", "format", "default"];

/// The schema of a struct, an object with `type`, `properties` and `required`.
pub(crate) fn of<T: JsonSchema>() -> Value {
    let settings = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = settings.into_generator().into_root_schema_for::<T>().to_value();
    if let Some(root) = schema.as_object_mut() {
        // The tool's own description says it better.
        root.remove("description");
    }
    simplify(&mut schema);
    schema
}

/// The properties of a schema made by [`of`].
pub(crate) fn properties(schema: &Value) -> Option<&Map<String, Value>> {
    schema.get("properties")?.as_object()
}

/// The names that must be there.
pub(crate) fn required(schema: &Value) -> Vec<&str> {
    schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect()
}

fn simplify(schema: &mut Value) {
    let Some(object) = schema.as_object_mut() else { return };
    // An optional struct or enum is either that or null.
    if let Some(Value::Array(choices)) = object.get("anyOf")
        && let [one, null] = choices.as_slice()
        && null.get("type").is_some_and(|kind| kind == "null")
    {
        let one = one.as_object().cloned().unwrap_or_default();
        object.remove("anyOf");
        for (key, value) in one {
            object.entry(key).or_insert(value);
        }
    }
    if let Some(Value::Array(values)) = object.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    object.retain(|key, _| !NOISE.contains(&key.as_str()));
    // That a number without a sign is at least zero goes without saying.
    if object.get("minimum").and_then(Value::as_f64) == Some(0.0) {
        object.remove("minimum");
    }
    // That an optional field may also be null is accepted, but not advertised.
    if let Some(Value::Array(types)) = object.get("type")
        && let [one, null] = types.as_slice()
        && null == "null"
    {
        let one = one.clone();
        object.insert("type".to_owned(), one);
    }
    if let Some(Value::Object(properties)) = object.get_mut("properties") {
        properties.values_mut().for_each(simplify);
    }
    if let Some(items) = object.get_mut("items") {
        simplify(items);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[derive(JsonSchema)]
    #[expect(dead_code, reason = "only its schema is used")]
    struct Arguments {
        /// Which.
        path: String,
        limit: Option<u32>,
        #[schemars(range(min = 1, max = 9))]
        count: Option<u64>,
        tags: Option<Vec<String>>,
        mode: Option<Mode>,
    }

    #[derive(JsonSchema)]
    #[serde(rename_all = "snake_case")]
    #[expect(dead_code, reason = "only its schema is used")]
    enum Mode {
        Quick,
        Whole,
    }

    #[test]
    fn a_schema_holds_only_what_a_model_needs() {
        assert_eq!(
            of::<Arguments>(),
            json!({
                "type": "object",
                "properties": {
                    "path": {"description": "Which.", "type": "string"},
                    "limit": {"type": "integer"},
                    "count": {"type": "integer", "minimum": 1, "maximum": 9},
                    "tags": {"type": "array", "items": {"type": "string"}},
                    "mode": {"type": "string", "enum": ["quick", "whole"]},
                },
                "required": ["path"],
            })
        );
    }
}
