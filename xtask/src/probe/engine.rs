//! Operations of the engine crate.

use serde::Deserialize;
use serde_json::{Map, Value, json};

use super::stage::Tree;
use super::{Answer, Failure, typed};

#[derive(Deserialize)]
struct Window {
    limits: Limits,
    #[serde(default)]
    usage: Usage,
}

#[derive(Deserialize)]
struct Limits {
    context: u64,
    output: Option<u64>,
    input: Option<u64>,
}

#[derive(Deserialize, Default)]
#[serde(default)]
struct Usage {
    input: u64,
    output: u64,
    reasoning: u64,
    cache_read: u64,
    cache_write: u64,
}

impl Window {
    fn usable(&self) -> u64 {
        let usable = rein_engine::usable_window(self.limits.context, self.limits.output);
        usable.min(self.limits.input.unwrap_or(u64::MAX))
    }
}

/// `context.usable`.
pub fn usable(input: &Value) -> Answer {
    let window: Window = typed(input)?;
    Ok(json!({ "usable": window.usable() }))
}

/// `context.overflow`.
pub fn overflow(input: &Value) -> Answer {
    let window: Window = typed(input)?;
    let usage = &window.usage;
    let counts = [usage.input, usage.output, usage.reasoning, usage.cache_read, usage.cache_write];
    let used = counts.into_iter().fold(0, u64::saturating_add);
    Ok(json!({ "overflow": window.limits.context > 0 && used >= window.usable() }))
}

/// `instructions.discover`: `home` is where the user's own file is.
pub fn instructions(input: &Value) -> Answer {
    #[derive(Deserialize)]
    struct Input {
        tree: Map<String, Value>,
        #[serde(default)]
        cwd: String,
        home: Option<String>,
    }
    let input: Input = typed(input)?;
    let tree = Tree::new(&input.tree)?;
    let user = input.home.as_deref().map(|home| tree.at(home)).transpose()?;
    let found = rein_engine::instruction_files(user.as_deref(), &tree.at(&input.cwd)?);
    let shown = |path: &std::path::Path| tree.shown(path);
    let files: Vec<String> = found.iter().map(|(path, _)| shown(path)).collect();
    let texts: Vec<&String> = found.iter().map(|(_, text)| text).collect();
    if files.len() > 1_000 {
        return Err(Failure::wrong("too many files"));
    }
    Ok(json!({ "files": files, "texts": texts }))
}

#[cfg(test)]
mod tests {
    use super::super::call;
    use super::*;

    #[test]
    fn a_window_is_full_before_its_end() {
        let input =
            |used: u64| json!({"limits": {"context": 200_000, "output": 32_000}, "usage": {"input": used}});
        assert_eq!(call("context.usable", &input(0)), Ok(json!({"usable": 168_000})));
        assert_eq!(call("context.overflow", &input(167_999)), Ok(json!({"overflow": false})));
        assert_eq!(call("context.overflow", &input(168_000)), Ok(json!({"overflow": true})));
    }

    #[test]
    fn instruction_files_are_found_in_a_tree() {
        let tree = json!({"home/AGENTS.md": "u", "p/.git/": "", "p/AGENTS.md": "a", "p/q/CLAUDE.md": "b", "AGENTS.md": "no"});
        let found =
            call("instructions.discover", &json!({"tree": tree, "cwd": "p/q", "home": "home"})).unwrap();
        assert_eq!(found["files"], json!(["home/AGENTS.md", "p/AGENTS.md", "p/q/CLAUDE.md"]));
        assert!(call("instructions.discover", &json!({"tree": {"../x": ""}, "cwd": "."})).is_err());
    }
}
