//! Making a value fit the kind that is wanted, where it can mean only one thing.

use serde_json::{Number, Value};

use super::{kind_with_article, quote};

/// The value as the property wants it, or what is wrong with it.
pub(super) fn fit(name: &str, value: Value, property: &Value) -> Result<Value, String> {
    let wanted = property.get("type").and_then(Value::as_str).unwrap_or_default();
    let fitted = match (wanted, value) {
        ("string", value) => text(name, value),
        ("integer" | "number", value) => number(wanted, value),
        ("boolean", Value::String(text)) => match text.trim().to_ascii_lowercase().as_str() {
            "true" => Ok(Value::Bool(true)),
            "false" => Ok(Value::Bool(false)),
            _ => Err(Value::String(text)),
        },
        ("boolean", value @ Value::Bool(_)) | ("object", value @ Value::Object(_)) => Ok(value),
        ("array", value) => return list(value, property),
        ("object", Value::String(text)) => match serde_json::from_str(&text) {
            Ok(value @ Value::Object(_)) => Ok(value),
            _ => Err(Value::String(text)),
        },
        ("boolean" | "object", value) => Err(value),
        (_, value) => Ok(value),
    };
    let fitted =
        fitted.map_err(|value| format!("must be {}, not {}", kind_with_article(property), shown(&value)))?;
    in_range(fitted, property)
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

fn list(value: Value, property: &Value) -> Result<Value, String> {
    let items = match value {
        Value::Array(items) => items,
        Value::String(text) => match serde_json::from_str(&text) {
            Ok(Value::Array(items)) => items,
            _ => vec![Value::String(text)],
        },
        value @ (Value::Bool(_) | Value::Number(_)) => vec![value],
        value => return Err(format!("must be a list, not {}", shown(&value))),
    };
    let Some(item) = property.get("items") else { return Ok(Value::Array(items)) };
    let fitted: Result<Vec<Value>, String> = items
        .into_iter()
        .enumerate()
        .map(|(index, value)| {
            let before = shown(&value);
            fit("", value, item).map_err(|_| {
                format!("must be a list of {}s, item {} is {before}", super::kind(item), index + 1)
            })
        })
        .collect();
    fitted.map(Value::Array)
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
