//! `git`, with real repositories.

mod changes;
mod hostile;
mod looks;

use std::path::Path;
use std::process::Command;

use crate::Stage;

/// The user's own git, without the machine's settings.
fn git(at: &Path, arguments: &[&str]) -> String {
    let done = Command::new("git")
        .args(arguments)
        .current_dir(at)
        .env("GIT_CONFIG_GLOBAL", "/dev/null")
        .env("GIT_CONFIG_NOSYSTEM", "1")
        .env_remove("GIT_DIR")
        .env("GIT_AUTHOR_DATE", "2026-01-02T03:04:05Z")
        .env("GIT_COMMITTER_DATE", "2026-01-02T03:04:05Z")
        .output()
        .unwrap();
    assert!(done.status.success(), "git {arguments:?}: {}", String::from_utf8_lossy(&done.stderr));
    String::from_utf8(done.stdout).unwrap()
}

/// A workspace that is a repository without commits.
fn unborn() -> Stage {
    let stage = Stage::new();
    git(&stage.root, &["init", "--quiet", "--initial-branch=main"]);
    git(&stage.root, &["config", "user.name", "Ada"]);
    git(&stage.root, &["config", "user.email", "ada@example.com"]);
    git(&stage.root, &["config", "commit.gpgsign", "false"]);
    stage
}

/// A workspace with one commit of these files.
fn repository(files: &[(&str, &str)]) -> Stage {
    let stage = unborn();
    for (name, content) in files {
        stage.put(name, content);
    }
    git(&stage.root, &["add", "."]);
    git(&stage.root, &["commit", "--quiet", "-m", "first"]);
    stage
}

/// The short name of a commit.
fn short(stage: &Stage, rev: &str) -> String {
    git(&stage.root, &["rev-parse", "--short", rev]).trim().to_owned()
}
