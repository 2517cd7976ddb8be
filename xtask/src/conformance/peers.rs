//! Cases of other projects' tests: which of our functions each is about, how
//! its input reads for that function, and when the results are the same.

use serde_json::{Value, json};

use super::case::{PeerCase, Verdict};
use super::{command_cases, dialect_cases, error_cases, file_cases, instruction_cases, transform_cases};
use crate::probe::{self, Failure};

/// Runs one case.
pub fn run(case: &PeerCase) -> Verdict {
    match (case.area.as_str(), case.op.as_str()) {
        ("wildcard", "match") => {
            ask("wildcard.match", &case.input, |found| same(&found?["match"], &case.expect["match"]))
        }
        ("wildcard", _) => not_applicable("the most specific pattern wins there, the last match here"),
        ("permission-eval", "evaluate") => evaluate(case),
        ("permission-eval", "merge" | "from-config") => not_applicable("how settings become rule lists"),
        ("permission-eval", "disabled-tools") => not_applicable("hiding tools from the model by rules"),
        ("permission-eval", _) => not_applicable("another language of rules"),
        ("arity" | "bash-scan" | "safe-commands", _) => command_cases::run(case),
        ("edit-replace", _) => edit(case),
        ("apply-patch", "apply") => patch(case),
        ("apply-patch", _) => {
            not_applicable("a piece of another implementation, or another format of differences")
        }
        ("hashline-edit", _) => hashline(case),
        ("truncate", _) => truncate(case),
        ("overflow-errors" | "retry-delay", _) => error_cases::run(case),
        ("provider-transform", _) => transform_cases::run(case),
        ("edit-blocks", _) => not_applicable("edits are calls here, not blocks in text"),
        ("dialect-parse", _) => dialect_cases::run(case),
        ("glob-ignore" | "read-tool", _) => file_cases::run(case),
        ("instruction-files", _) => instruction_cases::run(case),
        ("context-threshold", _) => window(case),
        _ => not_applicable("no rule for this kind of case"),
    }
}

/// Calls one of our functions and lets `check` say what differs.
pub fn ask(
    op: &str,
    input: &Value,
    check: impl FnOnce(Result<&Value, String>) -> Result<(), String>,
) -> Verdict {
    let answer = probe::call(op, input);
    let outcome = match &answer {
        Err(Failure::Unavailable(op)) => return Verdict::NoSubject(op.clone()),
        Err(Failure::Wrong(message)) => check(Err(format!("error: {message}"))),
        Ok(value) => check(Ok(value)),
    };
    match outcome {
        Ok(()) => Verdict::Agree,
        Err(difference) => Verdict::Differ(format!("{op} {}\n{difference}", shortened(input))),
    }
}

/// A case that asks for something else.
pub fn not_applicable(why: &str) -> Verdict {
    Verdict::NotApplicable(why.to_owned())
}

/// Nothing if two values are the same, and both if not.
pub fn same(ours: &Value, theirs: &Value) -> Result<(), String> {
    if ours == theirs {
        Ok(())
    } else {
        Err(format!("ours:   {}\ntheirs: {}", shortened(ours), shortened(theirs)))
    }
}

fn shortened(value: &Value) -> String {
    let text = value.to_string();
    match text.char_indices().nth(600) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text,
    }
}

fn evaluate(case: &PeerCase) -> Verdict {
    if case.peer != "opencode-v2" {
        return ask("permission.evaluate", &case.input, |found| {
            same(&found?["action"], &case.expect["action"])
        });
    }
    let renamed = |rule: &Value| json!({"permission": rule["action"], "pattern": rule["resource"], "action": rule["effect"]});
    let lists = case.input["rulesets"].as_array().map(Vec::as_slice).unwrap_or_default();
    let lists: Vec<Vec<Value>> =
        lists.iter().map(|list| list.as_array().into_iter().flatten().map(renamed).collect()).collect();
    let input =
        json!({"permission": case.input["action"], "pattern": case.input["resource"], "rulesets": lists});
    ask("permission.evaluate", &input, |found| same(&found?["action"], &case.expect["effect"]))
}

fn patch(case: &PeerCase) -> Verdict {
    let expected = &case.expect["files"];
    let declined = case.expect.get("error").is_some() || case.expect.get("error_contains").is_some();
    ask("patch.apply", &case.input, |found| match (found, declined) {
        (Err(_), true) => Ok(()),
        (Err(error), false) => Err(format!("ours:   {error}\ntheirs: {}", shortened(expected))),
        (Ok(value), true) => Err(format!("ours:   {}\ntheirs: declined", shortened(&value["files"]))),
        (Ok(value), false) => same(&value["files"], expected),
    })
}

/// Whether a conversation is too long for a window.
fn window(case: &PeerCase) -> Verdict {
    let (input, tokens) = (&case.input, &case.input["tokens"]);
    if input["config"].as_object().is_some_and(|config| !config.is_empty()) {
        return not_applicable("settings of another project");
    }
    let limits = json!({"context": input["limit"]["context"], "output": input["limit"]["output"], "input": input["limit"]["input"]});
    let usage = json!({
        "input": tokens["input"], "output": tokens["output"], "reasoning": tokens["reasoning"],
        "cache_read": tokens["cache"]["read"], "cache_write": tokens["cache"]["write"],
    });
    ask("context.overflow", &json!({"limits": limits, "usage": usage}), |found| {
        same(&found?["overflow"], &case.expect["overflow"])
    })
}

/// Edits by line, taken apart. That something is repaired is said by both in words of their own.
fn hashline(case: &PeerCase) -> Verdict {
    let steps = case.input["edits"].as_array().map(Vec::as_slice).unwrap_or_default();
    let pasted = steps.iter().any(|step| step["kind"] == "paste");
    let declined = case.expect.get("error").is_some();
    if pasted && !declined {
        return not_applicable("lines that are cut and pasted by a name");
    }
    ask("hashline.apply", &case.input, |found| match (found, declined) {
        (Err(_), true) => Ok(()),
        (Err(error), false) => Err(format!("ours:   {error}\ntheirs: {}", shortened(&case.expect["text"]))),
        (Ok(value), true) => Err(format!("ours:   {}\ntheirs: declined", shortened(&value["content"]))),
        (Ok(value), false) => same(&value["content"], &case.expect["text"]),
    })
}

fn edit(case: &PeerCase) -> Verdict {
    let input = &case.input;
    let replace_all = match case.op.as_str() {
        "edit-tool" | "apply-edit" => input["replaceAll"] == true,
        "replace" => input["allow_multiple"] == true,
        // This one replaces every occurrence without being asked to.
        "apply-replacement" => true,
        "replace-most-similar" => false,
        "find-match" => return find(case),
        _ => return not_applicable("repairs of what a model wrote, not a replacement"),
    };
    let Some(content) = input["content"].as_str() else {
        return not_applicable("the file does not exist yet, which is another tool's business");
    };
    let ours =
        json!({"content": content, "old": input["old"], "new": input["new"], "replace_all": replace_all});
    let expected = &case.expect["content"];
    let declined = case.expect.get("error").is_some()
        || case.expect.get("error_contains").is_some()
        || expected.as_str() == Some(content);
    ask("edit.replace", &ours, |found| match (found, declined) {
        // To leave a file as it is without saying so is not something we do.
        (Err(_), true) => Ok(()),
        (Err(error), false) => Err(format!("ours:   {error}\ntheirs: {}", shortened(expected))),
        (Ok(value), true) => Err(format!("ours:   {}\ntheirs: declined", shortened(&value["content"]))),
        (Ok(value), false) => same(&value["content"], expected),
    })
}

/// A search without a replacement: only whether it finds something can be compared.
fn find(case: &PeerCase) -> Verdict {
    if case.input["options"].get("threshold").is_some() {
        return not_applicable("a threshold of likeness");
    }
    let ours =
        json!({"content": case.input["content"], "old": case.input["old"], "new": "", "replace_all": false});
    let found_there = case.expect.get("match").is_some();
    ask("edit.replace", &ours, |found| match (found.is_ok(), found_there) {
        (true, true) | (false, false) => Ok(()),
        (true, false) => Err("ours: found\ntheirs: not found".to_owned()),
        (false, true) => Err("ours: not found\ntheirs: found".to_owned()),
    })
}

fn truncate(case: &PeerCase) -> Verdict {
    let input = &case.input;
    let Some(text) = input["text"].as_str() else {
        return not_applicable("the text is described, not given");
    };
    let keep = match (case.op.as_str(), input["direction"].as_str()) {
        ("tool-output", direction) => direction.unwrap_or("head"),
        ("head", _) => "head",
        ("tail", _) => "tail",
        _ => return not_applicable("cuts in the middle by tokens or characters, with words of its own"),
    };
    let limit = |names: [&str; 2], default: u64| {
        let given = names.iter().find_map(|name| input[*name].as_u64().or(input["options"][*name].as_u64()));
        given.unwrap_or(default)
    };
    let ours = json!({
        "text": text,
        "keep": keep,
        "max_lines": limit(["maxLines", "max_lines"], 2_000),
        "max_bytes": limit(["maxBytes", "max_bytes"], 51_200),
    });
    ask("truncate", &ours, |found| {
        let found = found?;
        same(&found["truncated"], &case.expect["truncated"])?;
        if case.expect["unit"] == "lines" {
            same(&found["removed_lines"], &case.expect["removed"])?;
        }
        let expected = case.expect.get("preview").or(case.expect.get("content"));
        let Some(expected) = expected.and_then(Value::as_str) else { return Ok(()) };
        let text = found["text"].as_str().unwrap_or_default();
        // Ours says in its place what was removed; theirs in a sentence of its own.
        if text.contains(expected) { Ok(()) } else { same(&found["text"], &json!(expected)) }
    })
}
