//! Cases about instruction files: theirs are given our names, and what is found
//! at the start and with a read is compared.

use serde_json::{Map, Value, json};

use super::case::{PeerCase, Verdict};
use super::peers::{ask, not_applicable, same};
use crate::probe;

/// Names of theirs that stand for the one file of a directory.
const NAMES: [&str; 2] = ["GEMINI.md", ".goosehints"];

/// Runs one case.
pub fn run(case: &PeerCase) -> Verdict {
    let input = &case.input;
    if input["disable_claude_prompt"] == true {
        return not_applicable("names that are switched off");
    }
    match case.op.as_str() {
        "agents-md" => agents(case),
        "hints" => hints(case),
        "startup-paths" => startup(case),
        "global" => discovered(case, "project", Some("userhome/.gemini"), |files, _| {
            same(files, &renamed_list(&case.expect["loaded"]))
        }),
        "system" => system(case),
        "attach-on-read" | "resolve-on-read" => attached(case),
        _ => not_applicable("memory, or an update in the middle of a conversation"),
    }
}

fn renamed(name: &str) -> String {
    NAMES.iter().fold(name.to_owned(), |name, theirs| name.replace(theirs, "AGENTS.md"))
}

fn renamed_list(names: &Value) -> Value {
    let names = names.as_array().into_iter().flatten().filter_map(Value::as_str);
    json!(names.map(renamed).collect::<Vec<_>>())
}

fn tree(case: &PeerCase) -> Map<String, Value> {
    let files = case.input["tree"].as_object().into_iter().flatten();
    files.map(|(name, content)| (renamed(name), content.clone())).collect()
}

fn discovered(
    case: &PeerCase,
    cwd: &str,
    home: Option<&str>,
    check: impl FnOnce(&Value, &Value) -> Result<(), String>,
) -> Verdict {
    let cwd = if cwd == "." { "" } else { cwd };
    let mut tree = tree(case);
    if !cwd.is_empty() {
        tree.entry(format!("{cwd}/")).or_insert(json!(""));
    }
    ask("instructions.discover", &json!({"tree": tree, "cwd": cwd, "home": home}), |found| {
        let found = found?;
        check(&found["files"], &found["texts"])
    })
}

fn joined(texts: &Value) -> String {
    let texts = texts.as_array().into_iter().flatten().filter_map(Value::as_str);
    texts.collect::<Vec<_>>().join("\n\n")
}

fn agents(case: &PeerCase) -> Verdict {
    let input = &case.input;
    let size: usize = input["tree"]
        .as_object()
        .into_iter()
        .flatten()
        .filter_map(|(_, text)| text.as_str())
        .map(str::len)
        .sum();
    let limit = input["max_bytes"].as_u64().and_then(|limit| usize::try_from(limit).ok());
    if limit.is_some_and(|limit| size > limit) {
        return not_applicable("another limit of bytes");
    }
    if input.get("root_markers").is_some() || input.get("fallback_names").is_some() {
        return not_applicable("names and marks of a project that are settings");
    }
    discovered(case, input["cwd"].as_str().unwrap_or_default(), None, |_, texts| {
        let ours = joined(texts);
        same(&json!(Some(ours).filter(|text| !text.is_empty())), &case.expect["text"])
    })
}

fn hints(case: &PeerCase) -> Verdict {
    if case.input["file_names"].as_array().is_none_or(|names| names.len() != 1) {
        return not_applicable("several files of a directory at once");
    }
    discovered(case, case.input["cwd"].as_str().unwrap_or_default(), None, |_, texts| {
        let ours = joined(texts);
        let list = |name: &str| case.expect[name].as_array().cloned().unwrap_or_default();
        let said = |text: &Value| text.as_str().is_some_and(|text| ours.contains(text));
        // What stands around an import is each project's own.
        let words = |text: &&Value| text.as_str().is_some_and(|text| !text.starts_with("---"));
        match (list("contains").iter().filter(words).all(said), list("lacks").iter().any(said)) {
            (true, false) => Ok(()),
            _ => Err(format!("ours:   {ours}\ntheirs: {}", case.expect)),
        }
    })
}

fn startup(case: &PeerCase) -> Verdict {
    let roots = case.input["trusted_roots"].as_array().map(Vec::as_slice).unwrap_or_default();
    let [root] = roots else { return not_applicable("several workspaces at once") };
    if case.input["boundary_markers"] != json!([".git"]) {
        return not_applicable("marks of a project that are settings");
    }
    discovered(case, root.as_str().unwrap_or_default(), None, |files, _| {
        same(files, &renamed_list(&case.expect["loaded"]))
    })
}

fn system(case: &PeerCase) -> Verdict {
    let text = |name: &str| case.input[name].as_str();
    let cwd = text("cwd").or(text("project")).unwrap_or_default();
    let mut tree = tree(case);
    let project = text("project").unwrap_or_default();
    tree.entry(format!("{project}/.git/")).or_insert(json!(""));
    let input = json!({"tree": tree, "cwd": cwd, "home": text("global_config")});
    ask("instructions.discover", &input, |found| {
        let found = found?;
        let files = found["files"].as_array().cloned().unwrap_or_default();
        if let Some(expected) = case.expect["system"].as_array() {
            let told = files.iter().zip(found["texts"].as_array().into_iter().flatten());
            let ours: Vec<String> = told
                .map(|(path, text)| {
                    format!(
                        "Instructions from: {}\n{}",
                        path.as_str().unwrap_or_default(),
                        text.as_str().unwrap_or_default()
                    )
                })
                .collect();
            return same(&json!(ours), &json!(expected));
        }
        let list = |name: &str| case.expect[name].as_array().cloned().unwrap_or_default();
        let joined = case.expect["system_joined"].as_str().unwrap_or_default();
        let named = joined.lines().filter_map(|line| line.strip_prefix("Instructions from: "));
        let mut there = list("system_has").into_iter().chain(named.map(|name| json!(name)));
        let missing = there.find(|name| !files.contains(name));
        let extra = list("not_loaded").into_iter().find(|name| files.contains(name));
        same(&json!([missing, extra]), &json!([null, null]))
    })
}

/// What a model has of the files once it has read something: from the start, or with the read.
fn attached(case: &PeerCase) -> Verdict {
    let input = &case.input;
    if input["tree"].as_object().is_some_and(|tree| tree.keys().any(|name| name.ends_with("gemini.md"))) {
        return not_applicable("names that differ in capitals alone");
    }
    let roots = input["trusted_roots"].as_array().and_then(|roots| roots.first()).and_then(Value::as_str);
    let workspace = roots.or(input["project"].as_str()).unwrap_or_default();
    let workspace = if workspace == "." { "" } else { workspace };
    let twice = input["read_twice_in_one_message"].as_str();
    let Some(path) = twice.or(input["read"].as_str()) else { return not_applicable("nothing is read") };
    let below = if workspace.is_empty() { Some(path) } else { path.strip_prefix(&format!("{workspace}/")) };
    let Some(below) = below else {
        return not_applicable("a file outside of the workspace, which asks first");
    };
    let mut tree = tree(case);
    tree.entry(path.to_owned()).or_insert(json!("x"));
    let calls = vec![json!({"tool": "read", "arguments": {"path": below}}); 2];
    let start = json!({"tree": tree, "cwd": workspace});
    let start = probe::call("instructions.discover", &start).unwrap_or_default();
    let ours = json!({"tree": tree, "workspace": workspace, "calls": calls});
    ask("tool.run", &ours, |found| {
        let found = found?;
        let told = |place: usize| found["results"][place]["text"].as_str().unwrap_or_default().to_owned();
        let list = |name: &str| renamed_list(&case.expect[name]).as_array().cloned().unwrap_or_default();
        let expected: Vec<Value> =
            ["loaded", "attached", "attached_first"].iter().flat_map(|name| list(name)).collect();
        for (name, text) in tree.iter().filter(|(name, _)| name.ends_with("AGENTS.md")) {
            let text = text.as_str().unwrap_or_default();
            let has = joined(&start["texts"]).contains(text) || told(0).contains(text);
            same(&json!([name, has]), &json!([name, expected.contains(&json!(name))]))?;
            if told(1).contains(text) {
                return Err(format!("ours:   {name} is told twice"));
            }
        }
        Ok(())
    })
}
