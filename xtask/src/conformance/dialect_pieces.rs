//! Cases about pieces of other parsers of calls: what such a piece reads is put
//! where a model would write it, and read as a whole.

use serde_json::{Value, json};

use super::case::{PeerCase, Verdict};
use super::dialect_cases::whole_numbers;
use super::peers::{ask, not_applicable, same};

/// The type of thing that stands for a call whose inside a case does not care about.
const STAND_IN: &str = "stand_in";

/// Runs one case.
pub fn run(case: &PeerCase, dialect: &str) -> Verdict {
    let input = &case.input;
    match case.op.as_str() {
        "stream-steps" => steps(case, dialect),
        "coerce-parameter" => parameter(case),
        "find-arguments" => found_arguments(case, dialect),
        "gemma-args-to-json" => arguments(case, dialect),
        "parse-call-body" => body(case, dialect),
        "argument-order" => order(case, dialect),
        "repair-args" | "repair-xml" => repaired(case, dialect),
        "harmony-leak" => leak(case),
        "incomplete" => {
            read(dialect, json!([input["text"]]), &Value::Null, |found| same(&found["calls"], &json!([])))
        }
        "json-tool-calls" => read(dialect, json!([input["text"]]), &Value::Null, |found| {
            let calls = found["calls"].as_array().is_some_and(|calls| !calls.is_empty());
            same(&json!(calls), &case.expect["has_calls"])?;
            words(&found["text"], &case.expect["content"])
        }),
        "thinking-tags" => read(dialect, json!([input["text"]]), &Value::Null, |found| {
            words(&found["text"], &case.expect["content"])?;
            words(&found["thinking"], &case.expect["thinking"])
        }),
        _ => not_applicable("a piece of another implementation"),
    }
}

fn read(
    dialect: &str,
    chunks: Value,
    tools: &Value,
    check: impl FnOnce(&Value) -> Result<(), String>,
) -> Verdict {
    let input = json!({"dialect": dialect, "chunks": chunks, "tools": tools});
    ask("dialect.parse", &input, |found| check(found?))
}

/// Whether two texts have the same words.
fn words(ours: &Value, theirs: &Value) -> Result<(), String> {
    let words =
        |text: &Value| text.as_str().unwrap_or_default().split_whitespace().collect::<Vec<_>>().join(" ");
    same(&json!(words(ours)), &json!(words(theirs)))
}

/// What was told step by step, taken together.
#[derive(Default)]
struct Told {
    content: String,
    thinking: String,
    calls: Vec<Value>,
    raw: Vec<String>,
    first_is_thinking: bool,
}

fn told(case: &PeerCase) -> Told {
    let mut told = Told::default();
    let steps = case.expect["steps"].as_array().into_iter().flatten();
    let events = steps.flat_map(|step| step["wantEvents"].as_array().into_iter().flatten());
    for (index, event) in events.enumerate() {
        let text = |names: [&str; 2]| names.iter().find_map(|name| event[*name].as_str()).unwrap_or_default();
        match event["event"].as_str() {
            Some("content") => told.content.push_str(text(["content", "text"])),
            Some("thinking") => {
                told.first_is_thinking |= index == 0;
                told.thinking.push_str(text(["content", "thinking"]));
            }
            Some("raw-tool-call") => told.raw.push(text(["raw", "content"]).to_owned()),
            Some("tool-call") => {
                let arguments: Value = serde_json::from_str(text(["args", "arguments"])).unwrap_or_default();
                told.calls.push(json!({"name": event["name"], "arguments": arguments}));
            }
            _ => {}
        }
    }
    told
}

fn steps(case: &PeerCase, dialect: &str) -> Verdict {
    if dialect == "harmony" {
        return not_applicable("messages of all roles, not only those of the model");
    }
    let told = told(case);
    if told.content.contains("think>") || told.thinking.contains("<think>") {
        return not_applicable("tags of thinking that are taken for words");
    }
    let inputs = case.input["steps"].as_array().into_iter().flatten();
    let mut chunks: Vec<String> =
        inputs.map(|step| step["input"].as_str().unwrap_or_default().to_owned()).collect();
    let written = chunks.concat();
    let closed = ["</think>", "[/THINK]"].iter().any(|close| written.contains(close));
    let opens = ["<think>", "[THINK]"].iter().any(|open| written.contains(open));
    let opened = (told.first_is_thinking || closed) && !opens;
    let mut calls = told.calls.clone();
    for raw in &told.raw {
        let whole = serde_json::from_str::<Value>(raw).is_ok() || raw.contains("<function=");
        if !whole && !chunks.iter().any(|chunk| chunk.contains(raw.as_str())) {
            chunks = vec![chunks.concat()];
        }
        if !whole && let Some(chunk) = chunks.iter_mut().find(|chunk| chunk.contains(raw.as_str())) {
            // Only where the call ends is told; what is in it is anything there, and a call here.
            *chunk = chunk.replacen(&format!(">{raw}<"), &format!(">{}<", stand_in(dialect)), 1);
        }
        calls.push(Value::Null);
    }
    let unread = told.raw.iter().any(|raw| !raw.is_empty() && chunks.concat().contains(&format!(">{raw}<")));
    if unread && !told.raw.iter().all(|raw| raw.contains("name") || raw.contains("function=")) {
        return not_applicable("something between the tags of a call that is none");
    }
    let input = json!({"dialect": dialect, "chunks": chunks, "tools": case.input["tools"], "opened": opened});
    ask("dialect.parse", &input, |found| {
        let found = found?;
        let ours = found["calls"].as_array().map(Vec::as_slice).unwrap_or_default();
        same(&json!(ours.len()), &json!(calls.len()))?;
        for (ours, theirs) in ours.iter().zip(&calls).filter(|(_, theirs)| theirs.is_object()) {
            same(ours, theirs)?;
        }
        // What was held back is told at the end; their steps have none.
        let held = json!(format!("{}{}", told.content, unfinished(&written)));
        words(&found["text"], &json!(told.content)).or_else(|_| words(&found["text"], &held))?;
        words(&found["thinking"], &json!(told.thinking))
    })
}

/// The tag at the end of a text, if nothing follows it.
fn unfinished(text: &str) -> &str {
    let tag = text.rfind('<').and_then(|at| text.get(at..)).unwrap_or_default();
    if tag.starts_with("</") { "" } else { tag }
}

fn stand_in(dialect: &str) -> String {
    match dialect {
        "qwen-coder" => format!("\n<function={STAND_IN}>\n</function>\n"),
        "glm" => format!("{STAND_IN}\n"),
        _ => json!({"name": STAND_IN, "arguments": {}}).to_string(),
    }
}

/// The text between the tags of a parameter, fitted to the type that the tool says.
fn parameter(case: &PeerCase) -> Verdict {
    let input = &case.input;
    let schema = match input["type"].as_array() {
        Some(types) => json!({"type": types}),
        None => json!({}),
    };
    let tools = json!([{"name": "t", "parameters": {"type": "object", "properties": {"p": schema}}}]);
    let raw = input["raw"].as_str().unwrap_or_default();
    let text =
        format!("<tool_call>\n<function=t>\n<parameter=p>{raw}</parameter>\n</function>\n</tool_call>");
    read("qwen-coder", json!([text]), &tools, |found| {
        let ours = &found["calls"][0]["arguments"]["p"];
        match (ours.as_f64(), case.expect["value"].as_f64()) {
            (Some(ours), Some(theirs)) if ours == theirs => Ok(()),
            _ => same(ours, &case.expect["value"]),
        }
    })
}

fn found_arguments(case: &PeerCase, dialect: &str) -> Verdict {
    let buffer = case.input["buffer"].as_str().unwrap_or_default();
    let named = ["\"name\"", "tool▁sep"].iter().any(|sign| buffer.contains(sign));
    if !named && case.input.get("tool").is_none() {
        return not_applicable("arguments of a call whose name is elsewhere");
    }
    let name = case.input["tool"].as_str().unwrap_or("get_temperature");
    let names = [name, "send_data", "test", "search", "batch", "path", "echo"];
    let tools: Vec<Value> = names.iter().map(|name| json!({"name": name, "parameters": null})).collect();
    let dialect = if buffer.contains("tool▁sep") { "deepseek" } else { dialect };
    read(dialect, json!([buffer]), &json!(tools), |found| {
        let ours = &found["calls"][0]["arguments"];
        same(if ours.is_object() { ours } else { &Value::Null }, &case.expect["arguments"])
    })
}

/// A call with something in it, as a dialect writes it.
fn wrapped(dialect: &str, raw: &str) -> Option<String> {
    Some(match dialect {
        "gemma" => format!("<|tool_call>call:t{raw}<tool_call|>"),
        "deepseek" => {
            format!("<｜tool▁calls▁begin｜><｜tool▁call▁begin｜>{raw}<｜tool▁call▁end｜><｜tool▁calls▁end｜>")
        }
        "glm" | "hermes" | "qwen-coder" => format!("<tool_call>{raw}</tool_call>"),
        _ => return None,
    })
}

fn arguments(case: &PeerCase, dialect: &str) -> Verdict {
    let raw = case.input["raw"].as_str().unwrap_or_default();
    let Some(text) = wrapped(dialect, raw) else { return not_applicable("no such call is read") };
    let expected = case.expect["json"].as_str().unwrap_or_default();
    let expected: Value = serde_json::from_str(expected).unwrap_or_default();
    read(dialect, json!([text]), &Value::Null, |found| same(&found["calls"][0]["arguments"], &expected))
}

fn body(case: &PeerCase, dialect: &str) -> Verdict {
    let raw = case.input["raw"].as_str().unwrap_or_default();
    let Some(text) = wrapped(dialect, raw) else { return not_applicable("no such call is read") };
    let expected: Vec<Value> = match (&case.expect["calls"], &case.expect["call"]) {
        (Value::Array(calls), _) => calls.clone(),
        (_, call) if call.is_object() => vec![call.clone()],
        _ => Vec::new(),
    };
    read(dialect, json!([text]), &case.input["tools"], |found| {
        let calls = found["calls"].as_array().cloned().unwrap_or_default();
        // A call whose arguments cannot be read is told to the model as that.
        let readable = calls.into_iter().filter(|call| call["arguments"].is_object()).collect();
        same(&whole_numbers(Value::Array(readable)), &whole_numbers(json!(expected)))
    })
}

/// Which value belongs to which name.
fn order(case: &PeerCase, dialect: &str) -> Verdict {
    let list = |name: &str| case.expect[name].as_array().cloned().unwrap_or_default();
    let expected: serde_json::Map<String, Value> = list("keys")
        .iter()
        .zip(list("values"))
        .filter_map(|(key, value)| Some((key.as_str()?.to_owned(), value)))
        .collect();
    read(dialect, json!([case.input["raw"]]), &Value::Null, |found| {
        let ours = found["calls"][0]["arguments"].as_object().cloned().unwrap_or_default();
        let text = |value: Value| value.as_str().map_or_else(|| json!(value.to_string()), |text| json!(text));
        let ours: serde_json::Map<String, Value> =
            ours.into_iter().map(|(name, value)| (name, text(value))).collect();
        same(&json!(ours), &json!(expected))
    })
}

/// What is repaired there must be read as what it is repaired to.
fn repaired(case: &PeerCase, dialect: &str) -> Verdict {
    let given = case.expect.get("json").or(case.expect.get("xml")).and_then(Value::as_str);
    let texts = (wrapped(dialect, case.input["raw"].as_str().unwrap_or_default()), given);
    let (Some(broken), Some(whole)) = texts else { return not_applicable("no such call is read") };
    if dialect == "qwen-coder" {
        return not_applicable("tags that are made XML on the way");
    }
    let whole = wrapped(dialect, whole).unwrap_or_default();
    let input = |text: &str| json!({"dialect": dialect, "chunks": [text]});
    let expected = crate::probe::call("dialect.parse", &input(&whole)).unwrap_or_default();
    ask("dialect.parse", &input(&broken), |found| same(&found?["calls"], &expected["calls"]))
}

/// Whether something is cut off as spilled.
fn leak(case: &PeerCase) -> Verdict {
    let text = case.input["text"].as_str().unwrap_or_default();
    let in_arguments = case.input["surface"] == "tool_arg";
    let written = match in_arguments {
        true => format!("<|start|>assistant<|channel|>commentary to=functions.t<|message|>{text}<|call|>"),
        false => text.to_owned(),
    };
    read("harmony", json!([written]), &Value::Null, |found| {
        let ours = if in_arguments { &found["calls"][0]["arguments"] } else { &found["text"] };
        let ours = ours.as_str().map_or_else(|| ours.to_string(), str::to_owned);
        let markers = |text: &str| text.matches("to=functions.").count();
        same(&json!(markers(&ours) < markers(text)), &case.expect["leak"])
    })
}
