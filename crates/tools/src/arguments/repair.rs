//! Making a value fit the kind that is wanted, where it can mean only one thing.

use serde_json::{Number, Value};

use super::{kind, kind_with_article, lenient, names, object, quote};

/// The value as the property wants it; if it cannot be, that is told. `at` is where it is.
pub(super) fn fit(
    at: &str,
    name: &str,
    value: Value,
    property: &Value,
    problems: &mut Vec<String>,
) -> Option<Value> {
    match property.get("type").and_then(Value::as_str) {
        Some("array") => list(at, value, property, problems),
        Some("object") => match as_object(value) {
            Ok(fields) => {
                Some(Value::Object(object::fit(&format!("{at}."), fields, &open(property), problems)))
            }
            Err(value) => {
                problems.push(format!("`{at}`: must be an object, not {}", shown(&value)));
                None
            }
        },
        _ => match scalar(name, value, property) {
            Ok(value) => Some(value),
            Err(problem) => {
                problems.push(format!("`{at}`: {problem}"));
                None
            }
        },
    }
}

/// An object that says nothing of its fields may have any.
fn open(property: &Value) -> Value {
    let mut schema = property.clone();
    if let Some(schema) = schema.as_object_mut()
        && !schema.contains_key("properties")
    {
        schema.insert("additionalProperties".to_owned(), Value::Bool(true));
    }
    schema
}

fn as_object(value: Value) -> Result<serde_json::Map<String, Value>, Value> {
    match value {
        Value::Object(fields) => Ok(fields),
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Object(fields)) => Ok(fields),
            Ok(_) => Err(Value::String(text)),
            Err(_) => lenient::object(&text).ok_or(Value::String(text)),
        },
        value => Err(value),
    }
}

fn scalar(name: &str, value: Value, property: &Value) -> Result<Value, String> {
    if let Some(values) = property.get("enum").and_then(Value::as_array) {
        return one_of(value, values);
    }
    let wanted = property.get("type").and_then(Value::as_str).unwrap_or_default();
    let fitted = match (wanted, value) {
        ("string", value) => text(name, value),
        ("integer" | "number", value) => number(wanted, value),
        ("boolean", Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => Err(Value::String(text)),
        },
        ("boolean", value @ Value::Bool(_)) => Ok(value),
        ("boolean", value) => Err(value),
        (_, value) => Ok(value),
    };
    let fitted =
        fitted.map_err(|value| format!("must be {}, not {}", kind_with_article(property), shown(&value)))?;
    in_range(fitted, property)
}

fn one_of(value: Value, values: &[Value]) -> Result<Value, String> {
    if values.contains(&value) {
        return Ok(value);
    }
    if let Some(meant) = value.as_str().and_then(|word| names::meant_value(word, values)) {
        return Ok(meant.clone());
    }
    let all: Vec<String> = values.iter().map(Value::to_string).collect();
    Err(format!("must be one of {}, not {}", all.join(", "), shown(&value)))
}

fn text(name: &str, value: Value) -> Result<Value, Value> {
    match value {
        Value::String(text) if name == "path" => Ok(Value::String(path(&text))),
        value @ Value::String(_) => Ok(value),
        Value::Number(number) if number.is_i64() || number.is_u64() => Ok(Value::String(number.to_string())),
        Value::Array(items) => match items.as_slice() {
            [Value::String(one)] => text(name, Value::String(one.clone())),
            _ => Err(Value::Array(items)),
        },
        value => Err(value),
    }
}

/// A path as it was meant: without the scheme of a URL, and without the line end that slipped in.
fn path(text: &str) -> String {
    let text = text.trim_end_matches(['\n', '\r']);
    let Some(rest) = text.strip_prefix("file://") else { return text.to_owned() };
    let rest = rest.strip_prefix("localhost/").map_or_else(|| rest.to_owned(), |rest| format!("/{rest}"));
    percent_decoded(&rest).unwrap_or(rest)
}

fn percent_decoded(text: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(text.len());
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'%' => {
                let high = char::from(rest.next()?).to_digit(16)?;
                let low = char::from(rest.next()?).to_digit(16)?;
                u8::try_from(high * 16 + low).ok()?
            }
            _ => byte,
        });
    }
    String::from_utf8(bytes).ok()
}

fn number(wanted: &str, value: Value) -> Result<Value, Value> {
    let number = match &value {
        Value::Number(number) => Some(number.clone()),
        Value::String(text) => text.trim().parse::<Number>().ok(),
        _ => None,
    };
    match number {
        Some(number) if wanted == "number" || number.is_i64() || number.is_u64() => Ok(Value::Number(number)),
        Some(number) => whole(&number).ok_or(value),
        None => Err(value),
    }
}

/// `3.0` is a whole number too.
fn whole(number: &Number) -> Option<Value> {
    let float = number.as_f64()?;
    #[expect(clippy::cast_possible_truncation, reason = "checked to be a whole number of moderate size")]
    (float.fract() == 0.0 && float.abs() < 1e15).then(|| Value::from(float as i64))
}

fn list(at: &str, value: Value, property: &Value, problems: &mut Vec<String>) -> Option<Value> {
    let item = property.get("items");
    let wants_objects = item.is_some_and(|item| kind(item) == "object");
    let items = match value {
        Value::Array(items) => items,
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Array(items)) => items,
            Ok(value @ Value::Object(_)) if wants_objects => vec![value],
            _ => vec![Value::String(text)],
        },
        value @ (Value::Bool(_) | Value::Number(_)) => vec![value],
        value @ Value::Object(_) if wants_objects => vec![value],
        value => {
            problems.push(format!("`{at}`: must be a list, not {}", shown(&value)));
            return None;
        }
    };
    let Some(item) = item else { return Some(Value::Array(items)) };
    let before = problems.len();
    let mut fitted = Vec::with_capacity(items.len());
    for (index, value) in items.into_iter().enumerate() {
        // A field of an item is told by its own name; an item that is no object, by the list.
        if wants_objects {
            fitted.extend(fit(&format!("{at}[{index}]"), "", value, item, problems));
            continue;
        }
        let given = shown(&value);
        match fit(at, "", value, item, &mut Vec::new()) {
            Some(value) => fitted.push(value),
            None => problems.push(format!(
                "`{at}`: must be a list of {}s, item {} is {given}",
                kind(item),
                index + 1
            )),
        }
    }
    (problems.len() == before).then_some(Value::Array(fitted))
}

fn in_range(value: Value, property: &Value) -> Result<Value, String> {
    let Some(number) = value.as_f64() else { return Ok(value) };
    let bound = |name: &str| property.get(name).and_then(Value::as_f64);
    let (least, most) = (bound("minimum"), bound("maximum"));
    if least.is_none_or(|least| number >= least) && most.is_none_or(|most| number <= most) {
        return Ok(value);
    }
    Err(match (least, most) {
        (Some(least), Some(most)) => format!("must be from {least} to {most}, not {value}"),
        (Some(least), None) => format!("must be at least {least}, not {value}"),
        (_, Some(most)) => format!("must be at most {most}, not {value}"),
        (None, None) => format!("must not be {value}"),
    })
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) | Value::Number(_) => value.to_string(),
        Value::String(text) => format!("the string {}", quote(text)),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}
