//! Cases about calls that models write into text: which dialect of ours reads
//! the format of a case, and when what was found is the same.
//!
//! Blanks at the ends of words and around calls are not compared: they are
//! dropped here by rule, and elsewhere each in another way.

use serde_json::{Value, json};

use super::case::{PeerCase, Verdict};
use super::dialect_pieces;
use super::peers::{ask, not_applicable, same};
use crate::probe::dialect_of;

/// Runs one case.
pub fn run(case: &PeerCase) -> Verdict {
    let input = &case.input;
    let Some(dialect) = dialect_of(input["format"].as_str().unwrap_or_default()) else {
        return not_applicable("the format of a model for which there is no dialect");
    };
    if input["parse_thinking"] == false || input["thinking_supported"] == false || input["think"] == false {
        return not_applicable("thinking that is not to be found");
    }
    match case.op.as_str() {
        "scan" | "parse" | "stream" => parsed(case, dialect),
        _ => dialect_pieces::run(case, dialect),
    }
}

fn parsed(case: &PeerCase, dialect: &str) -> Verdict {
    let input = &case.input;
    let chunks = match &input["chunks"] {
        Value::Array(chunks) => json!(chunks),
        _ => json!([input["text"]]),
    };
    let opened = opened(input, &case.expect, &chunks);
    let dialect = if input.get("tagset").is_some() { "deepseek" } else { dialect };
    let ours = json!({"dialect": dialect, "chunks": chunks, "tools": input["tools"], "opened": opened});
    ask("dialect.parse", &ours, |found| compare(found?, &case.expect))
}

/// Whether an answer begins in the middle of thinking, which is known of a model beforehand.
fn opened(input: &Value, expect: &Value, chunks: &Value) -> bool {
    let text: String = chunks.as_array().into_iter().flatten().filter_map(Value::as_str).collect();
    let told = expect["content"].as_str().unwrap_or_default();
    let thought = expect["thinking"].as_str().unwrap_or_default();
    let closed = text.contains("</think>") && !text.trim_start().starts_with("<think>");
    let by_itself = input["format"] == "deepseek-v3.1" && input["thinking_supported"] == true;
    by_itself || (closed && (!thought.is_empty() || !told.contains("</think>")))
}

fn compare(found: &Value, expect: &Value) -> Result<(), String> {
    let calls = found["calls"].as_array().map(Vec::as_slice).unwrap_or_default();
    if let Some(expected) = expect["calls"].as_array() {
        let named = |call: &Value| json!({"name": call["name"], "arguments": call["arguments"]});
        let ours: Vec<Value> = calls.iter().map(named).collect();
        let theirs: Vec<Value> = expected.iter().map(named).collect();
        same(&whole_numbers(json!(ours)), &whole_numbers(json!(theirs)))?;
    }
    if let Some(names) = expect["call_names"].as_array() {
        let ours: Vec<&Value> = calls.iter().map(|call| &call["name"]).collect();
        same(&json!(ours), &json!(names))?;
    }
    if let Some(count) = expect["call_count"].as_u64() {
        same(&json!(calls.len()), &json!(count))?;
    }
    if let Some(least) = expect["call_count_min"].as_u64()
        && (calls.len() as u64) < least
    {
        return Err(format!("ours:   {} calls\ntheirs: at least {least}", calls.len()));
    }
    for (place, included) in expect["arguments_include"].as_object().into_iter().flatten() {
        let arguments =
            place.parse::<usize>().ok().and_then(|place| calls.get(place)).map(|call| &call["arguments"]);
        for (name, value) in included.as_object().into_iter().flatten() {
            same(&json!(arguments.map(|arguments| &arguments[name.as_str()])), &json!(value))?;
        }
    }
    for (ours, theirs) in [("text", "content"), ("thinking", "thinking")] {
        if let Some(expected) = expect[theirs].as_str() {
            let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
            let told = words(found[ours].as_str().unwrap_or_default());
            same(&json!(told), &json!(words(expected)))?;
        }
    }
    Ok(())
}

/// A value in which `42.0` is `42`: some languages have one kind of number.
pub fn whole_numbers(value: Value) -> Value {
    match value {
        Value::Number(number) => {
            match number.as_f64().filter(|float| number.is_f64() && float.fract() == 0.0) {
                Some(float) if float.abs() < 9e15 => json!(float as i64),
                _ => Value::Number(number),
            }
        }
        Value::Array(items) => items.into_iter().map(whole_numbers).collect(),
        Value::Object(fields) => {
            fields.into_iter().map(|(name, value)| (name, whole_numbers(value))).collect()
        }
        other => other,
    }
}
