//! Whether arguments fit the schema of a user's tool. Only what can be told for
//! certain is refused: the rest is the tool's own to judge.

use serde_json::{Map, Value};

use crate::contract::Complaint;

/// How deep is looked.
const DEPTH: usize = 16;

/// The arguments, as one object, if they fit.
pub(super) fn fitting(tool: &str, arguments: Value, schema: &Value) -> Result<Value, Complaint> {
    let arguments = match arguments {
        Value::Null => Value::Object(Map::new()),
        // Some models encode the whole object once more.
        Value::String(text) => serde_json::from_str(&text).unwrap_or(Value::String(text)),
        other => other,
    };
    let mut problems = Vec::new();
    if arguments.is_object() {
        compare(&arguments, schema, "", DEPTH, &mut problems);
    } else {
        problems.push("the arguments must be one JSON object".to_owned());
    }
    if problems.is_empty() {
        return Ok(arguments);
    }
    problems.truncate(10);
    Err(Complaint(format!(
        "The arguments of `{tool}` do not fit:\n- {}\nCall `{tool}` again with arguments of this schema: {schema}",
        problems.join("\n- ")
    )))
}

fn compare(value: &Value, schema: &Value, place: &str, depth: usize, problems: &mut Vec<String>) {
    if depth == 0 {
        return;
    }
    if let Some(kinds) = schema.get("type")
        && !kinds_of(kinds).any(|kind| is_kind(value, kind))
    {
        problems.push(format!("`{place}`: must be of type {kinds}, not {}", kind(value)));
        return;
    }
    if let Some(Value::Array(allowed)) = schema.get("enum")
        && !allowed.contains(value)
    {
        let allowed: Vec<String> = allowed.iter().map(Value::to_string).collect();
        problems.push(format!("`{place}`: must be one of {}", allowed.join(", ")));
    }
    match value {
        Value::Object(fields) => fields_fit(fields, schema, place, depth, problems),
        Value::Array(items) => {
            for (index, item) in items.iter().enumerate() {
                if let Some(wanted) = schema.get("items") {
                    compare(item, wanted, &format!("{place}[{index}]"), depth - 1, problems);
                }
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

fn fields_fit(
    fields: &Map<String, Value>,
    schema: &Value,
    place: &str,
    depth: usize,
    problems: &mut Vec<String>,
) {
    let within = |name: &str| if place.is_empty() { name.to_owned() } else { format!("{place}.{name}") };
    for name in crate::schema::required(schema) {
        if !fields.contains_key(name) {
            problems.push(format!("`{}`: missing", within(name)));
        }
    }
    let properties = crate::schema::properties(schema);
    for (name, value) in fields {
        match properties.and_then(|properties| properties.get(name)) {
            Some(property) => compare(value, property, &within(name), depth - 1, problems),
            None if schema.get("additionalProperties") == Some(&Value::Bool(false)) => {
                problems.push(format!("`{}`: there is no such field", within(name)));
            }
            None => {}
        }
    }
}

fn kinds_of(kinds: &Value) -> impl Iterator<Item = &str> {
    let one = kinds.as_str();
    one.into_iter().chain(kinds.as_array().into_iter().flatten().filter_map(Value::as_str))
}

fn is_kind(value: &Value, kind: &str) -> bool {
    match kind {
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.as_f64().is_some_and(|number| number.fract() == 0.0),
        "boolean" => value.is_boolean(),
        "array" => value.is_array(),
        "object" => value.is_object(),
        "null" => value.is_null(),
        _ => true,
    }
}

fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "a list",
        Value::Object(_) => "an object",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn what_cannot_fit_is_named() {
        let schema = json!({
            "type": "object", "required": ["path"], "additionalProperties": false,
            "properties": {
                "path": {"type": "string"}, "count": {"type": ["integer", "null"]},
                "mode": {"enum": ["a", "b"]}, "tags": {"type": "array", "items": {"type": "string"}},
            },
        });
        for fine in [
            json!({"path": "x"}),
            json!({"path": "x", "count": 3.0, "mode": "a", "tags": ["t"]}),
            json!({"path": "x", "count": null}),
        ] {
            assert_eq!(fitting("t", fine.clone(), &schema), Ok(fine));
        }
        assert_eq!(fitting("t", json!("{\"path\": \"x\"}"), &schema), Ok(json!({"path": "x"})));
        for (arguments, problem) in [
            (json!([]), "must be one JSON object"),
            (json!({}), "`path`: missing"),
            (json!({"path": 1}), "`path`: must be of type \"string\", not a number"),
            (json!({"path": "x", "count": 1.5}), "`count`: must be of type [\"integer\",\"null\"]"),
            (json!({"path": "x", "mode": "c"}), "`mode`: must be one of \"a\", \"b\""),
            (json!({"path": "x", "tags": ["t", 1]}), "`tags[1]`: must be of type \"string\""),
            (json!({"path": "x", "other": 1}), "`other`: there is no such field"),
        ] {
            let complaint = fitting("t", arguments.clone(), &schema).unwrap_err().0;
            assert!(complaint.contains(problem), "{arguments}: {complaint}");
        }
    }
}
