//! Fits arguments to the schema of the tool that they are for.
//!
//! Models write numbers as strings, and dialects with tags have nothing but
//! strings. A value is changed only if it does not fit as it is and there is one
//! way to make it fit; what does not fit either way stays, for the tool to say so.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

use super::literal::{BareWords, number, read};

/// Schemas that refer to each other are followed this far.
const DEEPEST: usize = 16;

/// What a schema lets a value be.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Types(BTreeSet<Kind>);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Kind {
    Null,
    Boolean,
    Integer,
    Number,
    Array,
    Object,
    String,
}

impl Types {
    /// The types of a schema; none if it does not say.
    pub(super) fn of(schema: &Value) -> Self {
        let mut types = BTreeSet::new();
        gather(schema, 0, &mut types);
        Self(types)
    }

    /// Whether nothing but a string will do.
    pub(super) fn only_string(&self) -> bool {
        self.0.len() == 1 && self.has(Kind::String)
    }

    fn has(&self, kind: Kind) -> bool {
        self.0.contains(&kind)
    }

    fn accept(&self, value: &Value) -> bool {
        self.0.is_empty()
            || match value {
                Value::Null => self.has(Kind::Null),
                Value::Bool(_) => self.has(Kind::Boolean),
                Value::Number(number) => {
                    self.has(Kind::Number) || (self.has(Kind::Integer) && !number.is_f64())
                }
                Value::Array(_) => self.has(Kind::Array),
                Value::Object(_) => self.has(Kind::Object),
                Value::String(_) => self.has(Kind::String),
            }
    }
}

fn gather(schema: &Value, depth: usize, types: &mut BTreeSet<Kind>) {
    if depth > DEEPEST {
        return;
    }
    let named: Vec<&str> = match schema.get("type") {
        Some(Value::String(name)) => vec![name],
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).collect(),
        _ => Vec::new(),
    };
    types.extend(named.iter().filter_map(|name| kind(name)));
    for choice in ["anyOf", "oneOf"] {
        for option in schema.get(choice).and_then(Value::as_array).into_iter().flatten() {
            gather(option, depth + 1, types);
        }
    }
    let values = schema.get("enum").and_then(Value::as_array).into_iter().flatten();
    if named.is_empty() {
        types.extend(values.chain(schema.get("const")).map(kind_of));
    }
}

fn kind(name: &str) -> Option<Kind> {
    Some(match name {
        "null" => Kind::Null,
        "boolean" => Kind::Boolean,
        "integer" => Kind::Integer,
        "number" => Kind::Number,
        "array" => Kind::Array,
        "object" => Kind::Object,
        "string" => Kind::String,
        _ => return None,
    })
}

fn kind_of(value: &Value) -> Kind {
    match value {
        Value::Null => Kind::Null,
        Value::Bool(_) => Kind::Boolean,
        Value::Number(number) if number.is_f64() => Kind::Number,
        Value::Number(_) => Kind::Integer,
        Value::Array(_) => Kind::Array,
        Value::Object(_) => Kind::Object,
        Value::String(_) => Kind::String,
    }
}

/// The value that a text between tags is. Without types, what reads as JSON is that.
pub(super) fn from_text(text: &str, types: &Types) -> Value {
    let trimmed = text.trim();
    if types.0.is_empty() {
        let guess: Option<Value> = serde_json::from_str(trimmed).ok();
        return guess.filter(|value| !value.is_string()).unwrap_or_else(|| Value::String(text.to_owned()));
    }
    if types.only_string() {
        return Value::String(text.to_owned());
    }
    otherwise(trimmed, types).unwrap_or_else(|| Value::String(text.to_owned()))
}

/// A text as something else than a string.
fn otherwise(text: &str, types: &Types) -> Option<Value> {
    if types.has(Kind::Boolean) {
        match text.to_ascii_lowercase().as_str() {
            "true" => return Some(Value::Bool(true)),
            "false" => return Some(Value::Bool(false)),
            _ => {}
        }
    }
    if types.has(Kind::Integer) || types.has(Kind::Number) {
        let whole = number(text).map(|number| match number.as_f64() {
            // A whole number that was written with a point.
            Some(value) if number.is_f64() && value.fract() == 0.0 && value.abs() < 9e15 => {
                serde_json::Number::from(value as i64)
            }
            _ => number,
        });
        if let Some(value) = whole.map(Value::Number).filter(|value| types.accept(value)) {
            return Some(value);
        }
    }
    if types.has(Kind::Array) || types.has(Kind::Object) {
        let read: Option<Value> = serde_json::from_str(text).ok().or_else(|| read(text, BareWords::Refused));
        if let Some(value) = read.filter(|value| matches!(value, Value::Array(_) | Value::Object(_)))
            && types.accept(&value)
        {
            return Some(value);
        }
    }
    let null = matches!(text.to_ascii_lowercase().as_str(), "null" | "none");
    (null && (!types.has(Kind::String) || types.has(Kind::Null))).then_some(Value::Null)
}

/// Arguments that fit a tool's schema as well as they can.
pub(super) fn arguments(mut fields: Map<String, Value>, schema: &Value) -> Map<String, Value> {
    fit_fields(&mut fields, schema, 0);
    fields
}

fn fit_fields(fields: &mut Map<String, Value>, schema: &Value, depth: usize) {
    let Some(properties) = schema.get("properties").and_then(Value::as_object) else { return };
    for (name, property) in properties {
        if let Some(value) = fields.get_mut(name) {
            fit(value, property, depth);
        }
    }
}

fn fit(value: &mut Value, schema: &Value, depth: usize) {
    if depth > DEEPEST {
        return;
    }
    let types = Types::of(schema);
    if !types.accept(value) {
        let fitting = match &*value {
            Value::String(text) => otherwise(text.trim(), &types),
            Value::Number(_) | Value::Bool(_) if types.has(Kind::String) => {
                Some(Value::String(value.to_string()))
            }
            Value::Number(number) if types.has(Kind::Integer) => otherwise(&number.to_string(), &types),
            Value::Object(_) | Value::Array(_) if types.only_string() => {
                Some(Value::String(value.to_string()))
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::Array(_) | Value::Object(_) => None,
        };
        if let Some(fitting) = fitting {
            *value = fitting;
        }
    }
    match value {
        Value::Object(fields) => fit_fields(fields, schema, depth + 1),
        Value::Array(items) => {
            if let Some(schema) = schema.get("items") {
                items.iter_mut().for_each(|item| fit(item, schema, depth + 1));
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn text_between_tags_becomes_what_the_schema_wants() {
        for (text, types, expected) in [
            ("12", json!("integer"), json!(12)),
            ("007", json!("integer"), json!(7)),
            ("2.0", json!("integer"), json!(2)),
            ("2.5", json!("integer"), json!("2.5")),
            ("1.5e-3", json!("number"), json!(0.0015)),
            ("True", json!("boolean"), json!(true)),
            ("yes", json!("boolean"), json!("yes")),
            ("[1, 2]", json!("array"), json!([1, 2])),
            ("['a']", json!("array"), json!(["a"])),
            ("{\"a\": 1", json!("object"), json!("{\"a\": 1")),
            ("12", json!("string"), json!("12")),
            ("null", json!("string"), json!("null")),
            ("null", json!(["string", "null"]), json!(null)),
            ("NULL", json!("integer"), json!(null)),
            ("12", json!(["string", "integer"]), json!(12)),
            ("x", json!(["string", "integer"]), json!("x")),
        ] {
            assert_eq!(from_text(text, &Types::of(&json!({"type": types}))), expected, "{text} {types}");
        }
        assert_eq!(from_text("12", &Types::default()), json!(12));
        assert_eq!(from_text(" a ", &Types::default()), json!(" a "));
    }

    #[test]
    fn only_what_does_not_fit_is_changed_at_any_depth() {
        let schema = json!({"properties": {
            "path": {"type": "string"},
            "count": {"anyOf": [{"type": "integer"}, {"type": "null"}]},
            "edits": {"type": "array", "items": {"properties": {"line": {"type": "integer"}}}},
            "kind": {"enum": ["a", "b"]},
        }});
        let written =
            json!({"path": 7, "count": "3", "edits": "[{\"line\": \"4\"}]", "kind": "a", "other": "5"});
        let Value::Object(fields) = written else { panic!("an object") };
        let expected = json!({"path": "7", "count": 3, "edits": [{"line": 4}], "kind": "a", "other": "5"});
        assert_eq!(Value::Object(arguments(fields, &schema)), expected);
    }
}
