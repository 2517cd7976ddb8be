//! Loading from real files below a temporary directory.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod additions;
mod errors;
mod files;
mod grants;
mod layers;
mod managed;
mod permission;
mod project;
mod reference;

use std::fs;
use std::path::{Path, PathBuf};

use rein_config::{Action, ConfigError, Directories, Environment, Flag, FormRule, LoadRequest, Loaded, load};
use tempfile::TempDir;

/// `PERMISSION:PATTERN`, and twice for a `deny`; the real forms are the permission crate's.
fn read_form(text: &str, action: Action) -> Result<Vec<FormRule>, String> {
    let (permission, pattern) = text.split_once(':').ok_or("there is no colon in it")?;
    let rule = FormRule { permission: permission.to_owned(), pattern: pattern.to_owned(), action };
    Ok(if action == Action::Deny { vec![rule.clone(), rule] } else { vec![rule] })
}

/// A home directory and a repository, both real and both temporary.
struct Fixture {
    root: TempDir,
    variables: Vec<(String, std::ffi::OsString)>,
    flags: Vec<Flag>,
    start: PathBuf,
}

impl Fixture {
    fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let start = root.path().join("repo");
        fs::create_dir_all(start.join(".git")).unwrap();
        Self { root, variables: Vec::new(), flags: Vec::new(), start }
    }

    fn path(&self, relative: &str) -> PathBuf {
        self.root.path().join(relative)
    }

    fn write(self, relative: &str, content: impl AsRef<[u8]>) -> Self {
        let path = self.path(relative);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(path, content).unwrap();
        self
    }

    fn user(self, content: impl AsRef<[u8]>) -> Self {
        self.write("home/config/config.toml", content)
    }

    fn project(self, content: impl AsRef<[u8]>) -> Self {
        self.write("repo/.rein/config.toml", content)
    }

    fn variable(mut self, name: &str, value: impl Into<std::ffi::OsString>) -> Self {
        self.variables.push((name.to_owned(), value.into()));
        self
    }

    fn flag(mut self, flag: Flag) -> Self {
        self.flags.push(flag);
        self
    }

    fn assign(self, assignment: &str) -> Self {
        self.flag(Flag::assignment("-c", assignment).unwrap())
    }

    fn start(mut self, relative: &str) -> Self {
        self.start = self.path(relative);
        fs::create_dir_all(&self.start).unwrap();
        self
    }

    fn try_load(&self) -> Result<Loaded, ConfigError> {
        load(&LoadRequest {
            directories: &self.directories(),
            workspace_start: &self.start,
            environment: &self.variables.iter().cloned().collect(),
            flags: &self.flags,
            managed: &self.path("etc/managed.toml"),
            forms: read_form,
        })
    }

    fn directories(&self) -> Directories {
        let home: Environment = [("REIN_HOME", self.path("home"))].into_iter().collect();
        Directories::find(&home).unwrap()
    }

    fn managed(self, content: impl AsRef<[u8]>) -> Self {
        self.write("etc/managed.toml", content)
    }

    fn load(&self) -> Loaded {
        self.try_load().unwrap_or_else(|error| panic!("{error}"))
    }

    /// The error as a person sees it, with paths from the temporary directory on.
    fn error(&self) -> String {
        self.shorten(&self.try_load().expect_err("this should not load").to_string())
    }

    fn warnings(&self) -> String {
        let warnings: Vec<String> = self.load().warnings.iter().map(ToString::to_string).collect();
        self.shorten(&warnings.join("\n"))
    }

    fn shorten(&self, text: &str) -> String {
        text.replace(self.root.path().to_str().unwrap(), "")
    }

    fn short(&self, path: &Path) -> String {
        self.shorten(path.to_str().unwrap())
    }
}
