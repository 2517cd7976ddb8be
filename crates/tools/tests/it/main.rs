//! The crate against real files and processes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod apply_patch;
mod bash;
mod edit;
mod edit_forms;
mod find;
mod git;
mod grep;
mod hashline;
mod ignored;
mod instructions;
mod jobs;
mod list;
mod permitted;
mod read;
mod read_documents;
mod read_ranges;
mod shell_state;
mod specs;
mod swapped;
mod todo;
mod tool_search;
mod user_tool;
mod web_search;
mod web_server;
mod webfetch;
mod write;

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use rein_protocol::{ArtifactId, CallStatus, Display, Intent};
use rein_tools::bound::Bounder;
use rein_tools::{ArtifactSource, Complaint, FileMemory, Output, Plan, Registry, Scene};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

/// A workspace and what belongs to it.
struct Stage {
    _directory: tempfile::TempDir,
    /// Without links.
    root: PathBuf,
    scene: Scene,
    artifacts: Arc<Shelf>,
}

#[derive(Default)]
struct Shelf(Mutex<HashMap<ArtifactId, PathBuf>>);

#[async_trait]
impl ArtifactSource for Shelf {
    async fn path(&self, id: &ArtifactId) -> Option<PathBuf> {
        self.0.lock().unwrap().get(id).cloned()
    }
}

/// What became of a call, as the model and the person are told.
#[derive(Debug)]
struct Called {
    status: CallStatus,
    text: String,
    display: Display,
    pictures: Vec<rein_tools::Picture>,
}

#[derive(Default)]
struct Taken(Vec<u8>, bool);

impl Output for Taken {
    fn write(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    fn expect_terminal(&mut self) {
        self.1 = true;
    }
}

impl Stage {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().canonicalize().unwrap().join("workspace");
        std::fs::create_dir(&root).unwrap();
        let artifacts = Arc::new(Shelf::default());
        let scene = Scene {
            workspace: root.clone(),
            files: Arc::new(FileMemory::default()),
            artifacts: Arc::clone(&artifacts) as Arc<dyn ArtifactSource>,
            shell: rein_tools::bash::find_shell(),
            command_timeout: std::time::Duration::from_secs(120),
            may_read: Arc::new(|_| true),
            images: rein_tools::ImageSupport::Accepted,
            edit_form: rein_tools::EditForm::default(),
            snapshots: Arc::new(rein_tools::NoSnapshots),
            said: None,
            jail: None,
            keep_variables: Arc::default(),
            jobs: Arc::default(),
            shell_state: Arc::default(),
            instructions: Arc::default(),
            todos: Arc::default(),
        };
        Self { _directory: directory, root, scene, artifacts }
    }

    fn with(files: &[(&str, &str)]) -> Self {
        let stage = Self::new();
        for (name, content) in files {
            stage.put(name, content);
        }
        stage
    }

    fn at(&self, name: &str) -> PathBuf {
        self.root.join(name)
    }

    fn put(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.at(name);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(&path, content).unwrap();
        path
    }

    fn get(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.at(name)).unwrap()
    }

    fn keep(&self, content: impl AsRef<[u8]>) -> ArtifactId {
        let id = ArtifactId::new();
        let path = self.root.parent().unwrap().join(id.as_str());
        std::fs::write(&path, content).unwrap();
        self.artifacts.0.lock().unwrap().insert(id.clone(), path);
        id
    }

    async fn plan(&self, tool: &str, arguments: Value) -> Result<Box<dyn Plan>, Complaint> {
        Registry::builtin().get(tool).unwrap().plan(arguments, &self.scene).await
    }

    async fn intent(&self, tool: &str, arguments: Value) -> Intent {
        self.plan(tool, arguments).await.map_err(|complaint| complaint.0).unwrap().intent().clone()
    }

    /// Why a call is refused before it could run.
    async fn complaint(&self, tool: &str, arguments: Value) -> String {
        match self.plan(tool, arguments.clone()).await {
            Ok(_) => panic!("{tool} {arguments} was accepted"),
            Err(complaint) => complaint.0,
        }
    }

    async fn run(&self, plan: Box<dyn Plan>, cancel: &CancellationToken) -> Called {
        let mut taken = Taken::default();
        let outcome = plan.run(&self.scene, &mut taken, cancel).await;
        let mut bounder = Bounder::default();
        if taken.1 {
            bounder.expect_terminal();
        }
        let _ = bounder.write(&taken.0);
        assert!(!bounder.overflowed() || !outcome.display.title.starts_with("read"), "read bounds itself");
        let text = bounder.finish(None);
        let text = match outcome.trailer {
            None => text,
            Some(trailer) if text.is_empty() || text.ends_with('\n') => text + &trailer,
            Some(trailer) => text + "\n" + &trailer,
        };
        Called { status: outcome.status, text, display: outcome.display, pictures: outcome.pictures }
    }

    async fn call(&self, tool: &str, arguments: Value) -> Called {
        let plan = match self.plan(tool, arguments.clone()).await {
            Ok(plan) => plan,
            Err(complaint) => panic!("{tool} {arguments}: {complaint}"),
        };
        self.run(plan, &CancellationToken::new()).await
    }

    /// Calls what must succeed.
    async fn done(&self, tool: &str, arguments: Value) -> String {
        let called = self.call(tool, arguments.clone()).await;
        assert_eq!(called.status, CallStatus::Completed, "{tool} {arguments}: {}", called.text);
        called.text
    }

    /// Calls what must fail.
    async fn failed(&self, tool: &str, arguments: Value) -> String {
        let called = self.call(tool, arguments.clone()).await;
        assert_eq!(called.status, CallStatus::Failed, "{tool} {arguments}: {}", called.text);
        called.text
    }

    async fn read(&self, path: &str) -> String {
        self.done("read", json!({"path": path})).await
    }
}

fn make_fifo(path: &Path) {
    use rustix::fs::{CWD, FileType, Mode, mknodat};
    mknodat(CWD, path, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
}
