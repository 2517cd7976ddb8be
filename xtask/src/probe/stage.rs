//! Tools that work on files, run on a tree that is made for them and taken away
//! afterwards. Nothing outside of it is named.

use std::path::{Component, Path, PathBuf};
use std::sync::Arc;

use async_trait::async_trait;
use rein_protocol::{ArtifactId, CallStatus};
use rein_tools::{ArtifactSource, FileMemory, Output, Registry, Scene};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use tokio_util::sync::CancellationToken;

use super::{Answer, Failure, typed};

/// Files in a directory of their own.
pub struct Tree {
    _directory: tempfile::TempDir,
    root: PathBuf,
}

impl Tree {
    /// Files by their paths. What ends with `/` is a directory, and `a -> b` a link.
    pub fn new(files: &Map<String, Value>) -> Result<Self, Failure> {
        let directory = tempfile::tempdir().map_err(Failure::wrong)?;
        let root = directory.path().canonicalize().map_err(Failure::wrong)?;
        let tree = Self { _directory: directory, root };
        for (name, content) in files {
            tree.put(name, content)
                .map_err(|error| Failure::Wrong(format!("{name}: {}", error.message())))?;
        }
        Ok(tree)
    }

    fn put(&self, name: &str, content: &Value) -> Result<(), Failure> {
        if let Some((link, target)) = name.split_once(" -> ") {
            let target = self.at(target)?;
            return std::os::unix::fs::symlink(target, self.at(link)?).map_err(Failure::wrong);
        }
        let path = self.at(name)?;
        if name.ends_with('/') {
            return std::fs::create_dir_all(path).map_err(Failure::wrong);
        }
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent).map_err(Failure::wrong)?;
        }
        std::fs::write(path, content.as_str().unwrap_or_default()).map_err(Failure::wrong)
    }

    /// A path in the tree.
    pub fn at(&self, name: &str) -> Result<PathBuf, Failure> {
        let inside =
            Path::new(name).components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
        match inside {
            true => Ok(self.root.join(name)),
            false => Err(Failure::wrong("the path leads out of the tree")),
        }
    }

    /// A path as it was given.
    pub fn shown(&self, path: &Path) -> String {
        path.strip_prefix(&self.root).unwrap_or(path).to_string_lossy().into_owned()
    }
}

/// `tool.run`: calls, one after the other, in one conversation.
pub fn run(input: &Value) -> Answer {
    #[derive(Deserialize)]
    struct Input {
        #[serde(default)]
        tree: Map<String, Value>,
        #[serde(default)]
        workspace: String,
        calls: Vec<Call>,
    }
    #[derive(Deserialize)]
    struct Call {
        tool: String,
        arguments: Value,
    }
    const TOOLS: [&str; 6] = ["read", "write", "edit", "glob", "grep", "list"];
    let input: Input = typed(input)?;
    let tree = Tree::new(&input.tree)?;
    let workspace = tree.at(&input.workspace)?;
    std::fs::create_dir_all(&workspace).map_err(Failure::wrong)?;
    let scene = scene(workspace.clone());
    let registry = Registry::builtin();
    let runtime =
        tokio::runtime::Builder::new_current_thread().enable_all().build().map_err(Failure::wrong)?;
    let mut results = Vec::new();
    for call in input.calls {
        let tool = registry.get(&call.tool).filter(|_| TOOLS.contains(&call.tool.as_str()));
        let tool =
            tool.ok_or_else(|| Failure::Wrong(format!("no tool `{}` that works on files alone", call.tool)))?;
        results.push(runtime.block_on(called(tool.as_ref(), call.arguments, &scene)));
    }
    Ok(json!({ "results": results, "files": files(&workspace) }))
}

async fn called(tool: &dyn rein_tools::Tool, arguments: Value, scene: &Scene) -> Value {
    let plan = match tool.plan(arguments, scene).await {
        Ok(plan) => plan,
        Err(complaint) => return json!({"status": "failed", "text": complaint.0}),
    };
    let mut taken = Taken::default();
    let outcome = plan.run(scene, &mut taken, &CancellationToken::new()).await;
    let mut text = String::from_utf8_lossy(&taken.0).into_owned();
    if let Some(trailer) = outcome.trailer {
        text.push('\n');
        text.push_str(&trailer);
    }
    let status = if outcome.status == CallStatus::Completed { "completed" } else { "failed" };
    json!({"status": status, "text": text})
}

#[derive(Default)]
struct Taken(Vec<u8>);

impl Output for Taken {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }
}

struct NoArtifacts;

#[async_trait]
impl ArtifactSource for NoArtifacts {
    async fn path(&self, _: &ArtifactId) -> Option<PathBuf> {
        None
    }
}

fn scene(workspace: PathBuf) -> Scene {
    Scene {
        workspace,
        files: Arc::new(FileMemory::default()),
        artifacts: Arc::new(NoArtifacts),
        shell: rein_tools::bash::find_shell(),
        command_timeout: std::time::Duration::from_secs(120),
        may_read: Arc::new(|_| true),
        images: rein_tools::ImageSupport::Refused,
        edit_form: rein_tools::EditForm::default(),
        snapshots: Arc::new(rein_tools::NoSnapshots),
        said: None,
        jail: None,
        keep_variables: Arc::default(),
        jobs: Arc::default(),
        shell_state: Arc::default(),
        instructions: Arc::default(),
        todos: Arc::default(),
    }
}

/// The files of a directory and those below it that are text.
fn files(directory: &Path) -> Map<String, Value> {
    let mut found = Map::new();
    let mut open = vec![directory.to_path_buf()];
    while let Some(next) = open.pop() {
        for entry in std::fs::read_dir(&next).into_iter().flatten().flatten() {
            let path = entry.path();
            match entry.file_type() {
                Ok(kind) if kind.is_dir() => open.push(path),
                Ok(kind) if kind.is_file() => {
                    let name = path.strip_prefix(directory).unwrap_or(&path).to_string_lossy().into_owned();
                    let text = std::fs::read(&path).ok().and_then(|bytes| String::from_utf8(bytes).ok());
                    found.insert(name, json!(text));
                }
                _ => {}
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::super::call;
    use super::*;

    #[test]
    fn tools_work_on_a_tree_of_their_own() {
        let calls = json!([
            {"tool": "write", "arguments": {"path": "a/b.txt", "content": "hello\n"}},
            {"tool": "read", "arguments": {"path": "a/b.txt"}},
            {"tool": "read", "arguments": {"path": "gone"}},
        ]);
        let done = call("tool.run", &json!({"tree": {"x": "y"}, "workspace": "w", "calls": calls})).unwrap();
        assert_eq!(done["files"], json!({"a/b.txt": "hello\n"}));
        assert!(done["results"][1]["text"].as_str().unwrap().contains("hello"));
        assert_eq!(done["results"][2]["status"], "failed");
        let bash = json!({"calls": [{"tool": "bash", "arguments": {"command": "true"}}]});
        assert!(matches!(call("tool.run", &bash), Err(Failure::Wrong(_))));
    }
}
