//! Google's part of JSON Schema: no references, no combinations but `anyOf`,
//! one type for each value, lists that say what is in them. What can only be
//! said in words goes into the description.

use serde_json::{Map, Value, json};

use super::referred;

/// Deeper schemas are any object: they usually hold themselves.
const DEEPEST: usize = 12;
/// What is taken over as it stands.
const KNOWN: [&str; 14] = [
    "title",
    "description",
    "nullable",
    "maxItems",
    "minItems",
    "minProperties",
    "maxProperties",
    "minLength",
    "maxLength",
    "pattern",
    "minimum",
    "maximum",
    "default",
    "example",
];
/// What can be said in words.
const WORDS: [&str; 6] =
    ["format", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "uniqueItems", "additionalProperties"];
const FORMATS: [&str; 6] = ["enum", "date-time", "int32", "int64", "float", "double"];

/// The schema for the arguments of a tool; nothing if it takes none.
pub(in crate::wire) fn google(schema: &Value) -> Option<Value> {
    let said = subset(schema, schema, 0);
    let properties = said.get("properties").and_then(Value::as_object);
    if properties.is_some_and(|properties| !properties.is_empty()) { Some(said) } else { None }
}

fn subset(schema: &Value, root: &Value, depth: usize) -> Value {
    if depth > DEEPEST {
        return json!({"type": "object"});
    }
    let Some(fields) = schema.as_object() else { return json!({"type": "string"}) };
    let fields = resolved(fields, root);
    let mut said = Map::new();
    for name in KNOWN {
        if let Some(value) = fields.get(name).filter(|value| !value.is_null()) {
            said.insert(name.to_owned(), value.clone());
        }
    }
    kinds(&fields, &mut said);
    variants(&fields, root, depth, &mut said);
    listed(&fields, &mut said);
    match said.get("type").and_then(Value::as_str) {
        Some("object") => members(&fields, root, depth, &mut said),
        Some("array") => {
            let items = fields.get("items").or_else(|| fields.get("prefixItems")?.get(0));
            said.insert("items".to_owned(), subset(items.unwrap_or(&Value::Null), root, depth + 1));
        }
        Some("string") if said.contains_key("enum") => {
            said.insert("format".to_owned(), "enum".into());
        }
        _ => {}
    }
    spill(&fields, &mut said);
    Value::Object(said)
}

/// References looked up, and what has to hold at once put together.
fn resolved(fields: &Map<String, Value>, root: &Value) -> Map<String, Value> {
    let mut whole = fields.clone();
    for _ in 0..DEEPEST {
        let Some(Value::String(reference)) = whole.shift_remove("$ref") else { break };
        for (name, value) in referred(root, &reference).and_then(Value::as_object).into_iter().flatten() {
            whole.entry(name.clone()).or_insert_with(|| value.clone());
        }
    }
    let Some(Value::Array(all)) = whole.shift_remove("allOf") else { return whole };
    for part in all.iter().filter_map(Value::as_object) {
        for (name, value) in resolved(part, root) {
            match (whole.get_mut(&name), value) {
                (Some(Value::Object(known)), Value::Object(more)) if name == "properties" => {
                    known.extend(more)
                }
                (Some(Value::Array(known)), Value::Array(more)) if name == "required" => known.extend(more),
                (Some(_), _) => {}
                (None, value) => {
                    whole.insert(name, value);
                }
            }
        }
    }
    whole
}

/// The one type that a value has; several are variants, and null is a flag.
fn kinds(fields: &Map<String, Value>, said: &mut Map<String, Value>) {
    let names: Vec<String> = match fields.get("type") {
        Some(Value::String(name)) => vec![name.to_lowercase()],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(str::to_lowercase).collect(),
        _ => Vec::new(),
    };
    if names.len() > 1 && names.iter().any(|name| name == "null") {
        said.insert("nullable".to_owned(), true.into());
    }
    let solid: Vec<&String> = names.iter().filter(|name| *name != "null").collect();
    match solid.as_slice() {
        [one] => {
            said.insert("type".to_owned(), (*one).clone().into());
        }
        [] if !names.is_empty() => {
            said.insert("type".to_owned(), "null".into());
        }
        [] => {
            let guess =
                ["properties", "items", "anyOf", "oneOf"].into_iter().find(|name| fields.contains_key(*name));
            match guess {
                Some("properties") => said.insert("type".to_owned(), "object".into()),
                Some("items") => said.insert("type".to_owned(), "array".into()),
                Some(_) => None,
                None => said.insert("type".to_owned(), "string".into()),
            };
        }
        several => {
            let variant = |name: &&String| match name.as_str() {
                "array" => json!({"type": "array", "items": {"type": "string"}}),
                other => json!({"type": other}),
            };
            said.insert("anyOf".to_owned(), several.iter().map(variant).collect());
        }
    }
}

fn variants(fields: &Map<String, Value>, root: &Value, depth: usize, said: &mut Map<String, Value>) {
    let all = fields.get("anyOf").or_else(|| fields.get("oneOf")).and_then(Value::as_array);
    let Some(all) = all else { return };
    let is_null = |variant: &&Value| variant.get("type").and_then(Value::as_str) == Some("null");
    if all.iter().any(|variant| is_null(&variant)) {
        said.insert("nullable".to_owned(), true.into());
    }
    let mut solid: Vec<Value> = all
        .iter()
        .filter(|variant| !is_null(variant))
        .map(|variant| subset(variant, root, depth + 1))
        .collect();
    if solid.len() != 1 {
        if !solid.is_empty() {
            // Beside variants nothing else may say what a value is.
            said.shift_remove("type");
            said.insert("anyOf".to_owned(), solid.into());
        }
        return;
    }
    if let Some(Value::Object(only)) = solid.pop() {
        for (name, value) in only {
            said.entry(name).or_insert(value);
        }
    }
}

/// Values to choose from can only be texts.
fn listed(fields: &Map<String, Value>, said: &mut Map<String, Value>) {
    let values = match (fields.get("enum"), fields.get("const")) {
        (Some(Value::Array(values)), _) => values.clone(),
        (_, Some(value)) => vec![value.clone()],
        _ => return,
    };
    let texts: Vec<Value> = values.iter().filter(|value| value.is_string()).cloned().collect();
    let solid = values.iter().filter(|value| !value.is_null()).count();
    if !texts.is_empty() && texts.len() == solid {
        said.insert("type".to_owned(), "string".into());
        said.insert("enum".to_owned(), texts.into());
        return;
    }
    let words: Vec<String> = values.iter().map(Value::to_string).collect();
    describe(said, &format!("one of: {}", words.join(", ")));
    if !fields.contains_key("type") {
        let kind = match values.first() {
            Some(Value::Number(number)) if number.is_i64() => "integer",
            Some(Value::Number(_)) => "number",
            Some(Value::Bool(_)) => "boolean",
            _ => "string",
        };
        said.insert("type".to_owned(), kind.into());
    }
}

/// An object with properties; one without may hold anything.
fn members(fields: &Map<String, Value>, root: &Value, depth: usize, said: &mut Map<String, Value>) {
    let Some(properties) = fields.get("properties").and_then(Value::as_object) else { return };
    let properties: Map<String, Value> =
        properties.iter().map(|(name, schema)| (name.clone(), subset(schema, root, depth + 1))).collect();
    let required: Vec<Value> = fields
        .get("required")
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
        .filter(|name| name.as_str().is_some_and(|name| properties.contains_key(name)))
        .cloned()
        .collect();
    if !properties.is_empty() {
        said.insert("properties".to_owned(), Value::Object(properties));
    }
    if !required.is_empty() {
        said.insert("required".to_owned(), required.into());
    }
}

/// What has no field is said in the description.
fn spill(fields: &Map<String, Value>, said: &mut Map<String, Value>) {
    for name in WORDS {
        match fields.get(name) {
            None | Some(Value::Null | Value::Bool(_)) if name != "uniqueItems" => {}
            Some(Value::String(format)) if name == "format" && FORMATS.contains(&format.as_str()) => {
                said.entry("format").or_insert_with(|| format.clone().into());
            }
            Some(Value::Bool(true)) => describe(said, "no value twice"),
            Some(Value::String(text)) => describe(said, &format!("{name}: {text}")),
            Some(value @ Value::Number(_)) => describe(said, &format!("{name}: {value}")),
            Some(Value::Object(_)) => describe(said, "more properties may be added"),
            _ => {}
        }
    }
}

fn describe(said: &mut Map<String, Value>, words: &str) {
    let text = match said.get("description").and_then(Value::as_str) {
        Some(before) if !before.is_empty() => format!("{before} ({words})"),
        _ => words.to_owned(),
    };
    said.insert("description".to_owned(), text.into());
}

#[cfg(test)]
mod tests {
    use super::*;

    /// What becomes of one property.
    fn property(schema: Value) -> Value {
        let whole = google(&json!({"type": "object", "properties": {"a": schema}})).unwrap();
        whole["properties"]["a"].clone()
    }

    #[test]
    fn only_what_is_known_is_said() {
        let table = [
            (
                json!({"type": "string", "additionalProperties": false, "$comment": "x"}),
                json!({"type": "string"}),
            ),
            (json!({"type": ["string", "null"]}), json!({"nullable": true, "type": "string"})),
            (
                json!({"type": ["number", "string"], "description": "d"}),
                json!({"description": "d", "anyOf": [{"type": "number"}, {"type": "string"}]}),
            ),
            (json!({"type": "array"}), json!({"type": "array", "items": {"type": "string"}})),
            (json!({"type": "array", "items": {}}), json!({"type": "array", "items": {"type": "string"}})),
            (json!({"type": "number", "properties": {}, "required": ["x"]}), json!({"type": "number"})),
            (json!({"type": "object", "properties": {}}), json!({"type": "object"})),
            (json!({"enum": ["a", "b"]}), json!({"type": "string", "enum": ["a", "b"], "format": "enum"})),
            (json!({"const": "a"}), json!({"type": "string", "enum": ["a"], "format": "enum"})),
            (
                json!({"type": "integer", "enum": [1, 2]}),
                json!({"type": "integer", "description": "one of: 1, 2"}),
            ),
            (
                json!({"type": "string", "format": "uri", "description": "d"}),
                json!({"description": "d (format: uri)", "type": "string"}),
            ),
            (
                json!({"type": "string", "format": "date-time"}),
                json!({"type": "string", "format": "date-time"}),
            ),
            (
                json!({"anyOf": [{"type": "integer"}, {"type": "null"}]}),
                json!({"nullable": true, "type": "integer"}),
            ),
            (
                json!({"oneOf": [{"type": "integer"}, {"const": "x"}]}),
                json!({"anyOf": [{"type": "integer"}, {"type": "string", "enum": ["x"], "format": "enum"}]}),
            ),
            (json!(true), json!({"type": "string"})),
        ];
        for (schema, expected) in table {
            assert_eq!(property(schema.clone()), expected, "{schema}");
        }
    }

    #[test]
    fn references_are_looked_up_and_those_without_end_have_one() {
        let schema = json!({
            "$defs": {"leaf": {"type": "string", "minLength": 1}, "tree": {"type": "object", "properties": {"sub": {"$ref": "#/$defs/tree"}}}},
            "type": "object", "required": ["a", "gone"],
            "properties": {"a": {"$ref": "#/$defs/leaf", "description": "d"}, "b": {"$ref": "#/$defs/tree"},
                "c": {"allOf": [{"$ref": "#/$defs/leaf"}, {"maxLength": 9}]}},
        });
        let said = google(&schema).unwrap();
        assert_eq!(said["properties"]["a"], json!({"description": "d", "minLength": 1, "type": "string"}));
        assert_eq!(said["properties"]["c"], json!({"minLength": 1, "maxLength": 9, "type": "string"}));
        assert_eq!(said["required"], json!(["a"]));
        let text = said.to_string();
        assert!(!text.contains('$') && text.len() < 4_000, "{text}");
    }

    #[test]
    fn a_tool_without_arguments_has_no_schema() {
        assert_eq!(google(&json!({"type": "object"})), None);
        assert_eq!(google(&json!({"type": "object", "properties": {}})), None);
    }
}
