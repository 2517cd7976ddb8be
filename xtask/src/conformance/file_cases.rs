//! Cases about tools that work on files: the files are made, our tools are run on
//! them, and what a model is told is searched for what theirs is told.
//!
//! How a result is laid out is each project's own; whether something is found,
//! refused or written is not.

use serde_json::{Map, Value, json};

use super::case::{PeerCase, Verdict};
use super::peers::{ask, not_applicable, same};

/// Where their cases have the project.
const PROJECT: &str = "/project/";

/// Characters of a line that are compared: longer ones are cut by each in its own way.
const COMPARED: usize = 100;

/// Runs one case.
pub fn run(case: &PeerCase) -> Verdict {
    match case.op.as_str() {
        "read" => read(case),
        "write" => write(case),
        "line-limit" => lines(case),
        "glob-tool" | "grep-tool" => search(case),
        "match" => matches(case),
        "scan" => scan(case),
        "gitignore" | "ignored" | "filter-files" => ignored(case),
        _ => not_applicable("paths in the home directory, which are named in full"),
    }
}

/// Runs calls on files and lets `check` look at the results and the files.
fn staged(
    tree: &Value,
    workspace: &str,
    calls: &[(&str, Value)],
    check: impl FnOnce(&Value) -> Result<(), String>,
) -> Verdict {
    let calls: Vec<Value> =
        calls.iter().map(|(tool, arguments)| json!({"tool": tool, "arguments": arguments})).collect();
    let input = json!({"tree": tree, "workspace": workspace, "calls": calls});
    ask("tool.run", &input, |found| check(found?))
}

/// A path of theirs in the workspace, if it is in their project.
fn inside(path: &Value) -> Option<String> {
    let path = path.as_str()?;
    match path.strip_prefix(PROJECT) {
        Some(name) => Some(name.to_owned()),
        None if path.trim_end_matches('/') == PROJECT.trim_end_matches('/') => Some(".".to_owned()),
        None if path.starts_with('/') => None,
        None => Some(path.to_owned()),
    }
}

fn told(found: &Value, place: usize) -> (&str, &str) {
    let result = &found["results"][place];
    (result["status"].as_str().unwrap_or_default(), result["text"].as_str().unwrap_or_default())
}

fn read(case: &PeerCase) -> Verdict {
    let Some(path) = inside(&case.input["args"]["filePath"]) else {
        return not_applicable("a file outside of the tree of the case");
    };
    let mut arguments = json!({ "path": path });
    for name in ["offset", "limit"] {
        if let (Some(number), Some(fields)) = (case.input["args"][name].as_u64(), arguments.as_object_mut()) {
            fields.insert(name.to_owned(), json!(number));
        }
    }
    staged(&case.input["files"], "", &[("read", arguments)], |found| {
        let (status, text) = told(found, 0);
        let declined = case.expect.get("error").is_some();
        same(&json!(status), &json!(if declined { "failed" } else { "completed" }))
            .map_err(|difference| format!("{difference}\n{text}"))?;
        let expected = case.expect["output"].as_str().unwrap_or_default();
        let numbered = expected.lines().filter_map(|line| {
            let (number, content) = line.split_once(": ")?;
            number.parse::<usize>().ok().map(|_| content)
        });
        numbered.into_iter().try_for_each(|line| holds(text, line))?;
        for loaded in case.expect["metadata"]["loaded"].as_array().into_iter().flatten() {
            let name = inside(loaded).unwrap_or_default();
            let content = case.input["files"][name].as_str().unwrap_or_default();
            content.lines().try_for_each(|line| holds(text, line))?;
        }
        Ok(())
    })
}

fn holds(text: &str, line: &str) -> Result<(), String> {
    let start: String = line.chars().take(COMPARED).collect();
    match text.contains(start.trim_end()) {
        true => Ok(()),
        false => Err(format!("ours:   {text}\ntheirs: {start}")),
    }
}

fn write(case: &PeerCase) -> Verdict {
    let files = &case.input["files"];
    if files.get("opencode.json").is_some() {
        return not_applicable("programs that format what was written");
    }
    let Some(path) = inside(&case.input["args"]["filePath"]) else {
        return not_applicable("a file outside of the tree of the case");
    };
    // What is overwritten must have been read.
    let mut calls = vec![("write", json!({"path": path, "content": case.input["args"]["content"]}))];
    if files.get(&path).is_some() {
        calls.insert(0, ("read", json!({ "path": path })));
    }
    staged(files, "", &calls, |found| same(&found["files"], &case.expect["files"]))
}

fn lines(case: &PeerCase) -> Verdict {
    let (text, line, limit) = (&case.input["text"], &case.input["line"], &case.input["limit"]);
    let arguments = json!({"path": "file.txt", "offset": line, "limit": limit});
    staged(&json!({ "file.txt": text }), "", &[("read", arguments)], |found| {
        let (_, told) = told(found, 0);
        let expected = case.expect["text"].as_str().unwrap_or_default();
        for line in text.as_str().unwrap_or_default().lines() {
            let shown = told.contains(line);
            same(&json!(shown), &json!(expected.contains(line)))?;
        }
        Ok(())
    })
}

fn search(case: &PeerCase) -> Verdict {
    let arguments = &case.input["args"];
    let Some(path) = inside(arguments.get("path").unwrap_or(&json!("."))) else {
        return not_applicable("a file outside of the tree of the case");
    };
    let tool = case.op.strip_suffix("-tool").unwrap_or_default();
    let ours = json!({"pattern": arguments["pattern"], "path": path});
    staged(&case.input["files"], "", &[(tool, ours)], |found| {
        let (status, text) = told(found, 0);
        let declined = case.expect.get("error").is_some();
        same(&json!(status == "failed"), &json!(declined))?;
        if case.expect["metadata"]["truncated"] == true {
            return Ok(());
        }
        let expected = case.expect["output"].as_str().unwrap_or_default();
        for name in case.input["files"].as_object().into_iter().flatten().map(|(name, _)| name) {
            // A search in one file need not say which.
            let shown = text.contains(name.as_str()) || (path == *name && !text.is_empty());
            if !declined && path != *name {
                same(&json!(shown), &json!(expected.contains(name.as_str())))?;
            }
        }
        let found_lines = expected.lines().filter_map(|line| line.trim_start().strip_prefix("Line "));
        let mut contents = found_lines.filter_map(|line| line.split_once(": ").map(|(_, content)| content));
        contents.try_for_each(|line| holds(text, line))
    })
}

fn matches(case: &PeerCase) -> Verdict {
    let path = case.input["path"].as_str().unwrap_or_default();
    let tree: Map<String, Value> = [(path.to_owned(), json!("x"))].into_iter().collect();
    let arguments = json!({"pattern": case.input["pattern"], "hidden": true});
    staged(&json!(tree), "", &[("glob", arguments)], |found| {
        let (_, text) = told(found, 0);
        same(&json!(text.contains(path)), &case.expect["match"])
    })
}

fn scan(case: &PeerCase) -> Verdict {
    let options = &case.input["options"];
    if options["include"] == "all" || options["absolute"] == true || options["symlink"] == true {
        return not_applicable("directories, links or whole paths in a result, which ours never has");
    }
    let names = case.input["tree"].as_array().into_iter().flatten().filter_map(Value::as_str);
    let tree: Map<String, Value> = names.map(|name| (name.to_owned(), json!("x"))).collect();
    let hidden = options["dot"] == true;
    let arguments = json!({"pattern": case.input["pattern"], "hidden": hidden});
    let expected = case.expect["paths"].as_array().map(Vec::as_slice).unwrap_or_default();
    staged(&json!(tree), "", &[("glob", arguments)], |found| {
        let (_, text) = told(found, 0);
        for name in tree.keys().filter(|name| !name.ends_with('/') && !name.contains(" -> ")) {
            let last = name.rsplit('/').next().unwrap_or(name);
            same(&json!(text.contains(last)), &json!(expected.contains(&json!(name))))?;
        }
        Ok(())
    })
}

/// Whether a search passes something over: it is made, and looked for by its name.
fn ignored(case: &PeerCase) -> Verdict {
    let input = &case.input;
    if input["options"].as_object().is_some_and(|options| !options.is_empty()) {
        return not_applicable("ignore files that are switched off one by one");
    }
    let project = input["project"].as_str().unwrap_or_default();
    let own = input["own_ignore_file"].as_str().unwrap_or(".geminiignore");
    let mut tree = Map::new();
    for (name, content) in input["tree"].as_object().into_iter().flatten() {
        tree.insert(name.replace(own, ".ignore"), content.clone());
    }
    let ignore = below(project, ".ignore");
    if let Some(extra) = input["extra_patterns"].as_array() {
        let lines: Vec<&str> = extra.iter().filter_map(Value::as_str).collect();
        tree.insert(ignore, json!(lines.join("\n")));
    }
    let paths: Vec<&str> = match input["paths"].as_array() {
        Some(paths) => paths.iter().filter_map(Value::as_str).collect(),
        None => vec![input["path"].as_str().unwrap_or_default()],
    };
    if paths.iter().any(|path| *path == ".geminiignore" || path.is_empty()) {
        return not_applicable("the ignore file of another project");
    }
    let is_directory = |path: &str| input["is_dir"] == true || case.op == "ignored" || path.ends_with('/');
    let within = |path: &str| match is_directory(path) {
        true => format!("{}/inside_of_it", path.trim_end_matches('/')),
        false => path.to_owned(),
    };
    for path in &paths {
        tree.entry(below(project, &within(path))).or_insert(json!("x"));
    }
    tree.entry(below(project, ".git/")).or_insert(json!(""));
    // Of a directory that is not ignored all that is in it may be; then it is in a listing.
    let rules = json!(tree).to_string();
    let listed =
        |path: &str| is_directory(path) && rules.contains(&format!("{}/*", path.trim_end_matches('/')));
    // Hidden ones are passed over there like those that are ignored.
    let hidden = case.peer != "crush";
    let call = |path: &&str| match listed(path) {
        true => ("list", json!({"path": "."})),
        false => ("glob", json!({"pattern": literal(&within(path)), "hidden": hidden})),
    };
    let calls: Vec<(&str, Value)> = paths.iter().map(call).collect();
    staged(&json!(tree), project, &calls, |found| {
        let shown = |place: usize, path: &str| {
            let name = if listed(path) { path.trim_end_matches('/').to_owned() } else { within(path) };
            told(found, place).1.contains(name.rsplit('/').next().unwrap_or(&name))
        };
        let kept: Vec<&&str> = paths
            .iter()
            .enumerate()
            .filter(|(place, path)| shown(*place, path))
            .map(|(_, path)| path)
            .collect();
        match case.expect.get("kept") {
            Some(expected) => same(&json!(kept), expected),
            None => same(&json!(kept.is_empty()), &case.expect["ignored"])
                .map_err(|difference| format!("{difference}\n{}", found["results"])),
        }
    })
}

/// A pattern that is a name.
fn literal(path: &str) -> String {
    // A blank at the end would be taken for a slip.
    path.replace('[', "[[]").replace('*', "[*]").replace(' ', "?")
}

/// A path in a directory, which may be none.
fn below(directory: &str, name: &str) -> String {
    if directory.is_empty() { name.to_owned() } else { format!("{directory}/{name}") }
}
