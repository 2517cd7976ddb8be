//! Which parts of a repository a commit needs to write, and which run code.
//!
//! `config` and `config.worktree` name programs, `hooks` are programs,
//! `info/attributes` chooses filters without being seen in a diff, and
//! `commondir` says where all of these are looked for. Everything else of the
//! repository is what `git commit` writes.
//!
//! A workspace whose `.git` is a file has its repository elsewhere. That file
//! may have been written by whoever worked here before, so it is believed only
//! when the repository, which lies outside, points back to this workspace.

use std::fs;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use super::protected::exists;

/// Of a repository: what stays as it is, there or not.
const KEPT: &[&str] = &["hooks", "config", "config.worktree", "info/attributes", "commondir"];

/// Of a repository with linked worktrees: what a commit in one of them writes.
const SHARED: &[&str] = &["objects", "refs", "logs", "reftable", "packed-refs"];

/// Of a linked worktree's own directory: what stays as it is.
const KEPT_OF_LINKED: &[&str] = &["config.worktree", "commondir", "gitdir", "locked"];

/// How far other repositories are looked for.
const DEPTH: usize = 4;
const ENTRIES: usize = 20_000;

/// Directories full of others' code in which nobody commits.
const SKIPPED: &[&str] = &["node_modules", "target", ".venv", "venv", "vendor", "__pycache__", ".git"];

/// What a workspace's repositories ask of a jail.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Repositories {
    pub(super) writable: Vec<PathBuf>,
    pub(super) read_only: Vec<PathBuf>,
}

/// Looks at the workspace, which is a canonical path.
pub(super) fn repositories(workspace: &Path) -> Repositories {
    let mut found = Repositories::default();
    let own = workspace.join(".git");
    let kind = fs::symlink_metadata(&own).map(|metadata| metadata.file_type());
    let is_repository = kind.is_ok();
    match kind {
        Ok(kind) if kind.is_dir() && !super::plan::is_ghost(&own) => keep(&own, &mut found.read_only),
        Ok(kind) if kind.is_file() => {
            found.read_only.push(own.clone());
            linked(workspace, &own, &mut found);
        }
        Ok(_) | Err(_) => {}
    }
    let mut budget = ENTRIES;
    let mut others = Vec::new();
    nested(workspace, DEPTH, &mut budget, &mut others);
    for other in others {
        if is_repository || !other.is_dir() {
            found.read_only.push(other);
        } else {
            keep(&other, &mut found.read_only);
        }
    }
    found
}

/// The parts of a repository that run code, with those of its worktrees and submodules.
fn keep(repository: &Path, read_only: &mut Vec<PathBuf>) {
    read_only.extend(KEPT.iter().map(|name| repository.join(name)));
    for linked in directories(&repository.join("worktrees")) {
        read_only.extend(KEPT_OF_LINKED.iter().map(|name| linked.join(name)).filter(|path| exists(path)));
    }
    if let Some(hooks) = hooks_path(repository) {
        read_only.push(hooks);
    }
    submodules(&repository.join("modules"), DEPTH, read_only);
}

fn submodules(modules: &Path, depth: usize, read_only: &mut Vec<PathBuf>) {
    for module in directories(modules) {
        if module.join("HEAD").is_file() {
            read_only.extend(KEPT.iter().map(|name| module.join(name)).filter(|path| exists(path)));
            submodules(&module.join("modules"), depth, read_only);
        } else if depth > 0 {
            // The name of a submodule may contain slashes.
            submodules(&module, depth - 1, read_only);
        }
    }
}

/// The directory that `core.hooksPath` names, if it is in the work tree. Read as written: git's own
/// reading of includes and conditions would start a process.
fn hooks_path(repository: &Path) -> Option<PathBuf> {
    let config = fs::read_to_string(repository.join("config")).ok()?;
    let value = config.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        name.trim().eq_ignore_ascii_case("hookspath").then(|| value.trim().trim_matches('"').to_owned())
    })?;
    let path = repository.parent()?.join(value);
    path.is_dir().then_some(path)
}

/// A workspace that is a linked worktree or a submodule.
fn linked(workspace: &Path, pointer: &Path, found: &mut Repositories) {
    let Some(directory) = pointed_to(pointer) else { return };
    if let Some(shared) = read_path(&directory.join("commondir"), &directory) {
        let Some(back) = read_path(&directory.join("gitdir"), &directory) else { return };
        let is_ours = directory.parent() == Some(shared.join("worktrees").as_path()) && back == *pointer;
        if !is_ours || !looks_like_a_repository(&shared) {
            return;
        }
        found.writable.push(directory.clone());
        found.writable.extend(SHARED.iter().map(|name| shared.join(name)).filter(|path| exists(path)));
        found.read_only.extend(KEPT_OF_LINKED.iter().map(|name| directory.join(name)).filter(|p| exists(p)));
        found.read_only.push(directory.join("config.worktree"));
    } else if looks_like_a_repository(&directory) && points_back(&directory, workspace) {
        found.writable.push(directory.clone());
        keep(&directory, &mut found.read_only);
    }
    found.read_only.dedup();
}

/// Where a `.git` file points to.
fn pointed_to(pointer: &Path) -> Option<PathBuf> {
    let text = fs::read(pointer).ok()?;
    let path = text.strip_prefix(b"gitdir:")?.trim_ascii();
    pointer.parent()?.join(std::ffi::OsStr::from_bytes(path)).canonicalize().ok()
}

fn read_path(file: &Path, base: &Path) -> Option<PathBuf> {
    let text = fs::read(file).ok()?;
    base.join(std::ffi::OsStr::from_bytes(text.trim_ascii())).canonicalize().ok()
}

fn looks_like_a_repository(directory: &Path) -> bool {
    directory.join("objects").is_dir() && directory.join("refs").is_dir() && directory.join("HEAD").exists()
}

/// Whether a submodule's repository names this work tree as its own.
fn points_back(directory: &Path, workspace: &Path) -> bool {
    fs::read_to_string(directory.join("config")).is_ok_and(|config| {
        config.lines().filter_map(|line| line.split_once('=')).any(|(name, value)| {
            name.trim().eq_ignore_ascii_case("worktree")
                && directory
                    .join(value.trim().trim_matches('"'))
                    .canonicalize()
                    .is_ok_and(|path| path == workspace)
        })
    })
}

/// The `.git` of every repository below a directory, without its own.
fn nested(directory: &Path, depth: usize, budget: &mut usize, found: &mut Vec<PathBuf>) {
    if depth == 0 {
        return;
    }
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.filter_map(Result::ok) {
        let Some(left) = budget.checked_sub(1) else { return };
        *budget = left;
        let name = entry.file_name();
        let is_directory = entry.file_type().is_ok_and(|kind| kind.is_dir());
        if !is_directory || SKIPPED.iter().any(|skipped| name == *skipped) {
            continue;
        }
        let git = entry.path().join(".git");
        if exists(&git) && !super::plan::is_ghost(&git) {
            found.push(git);
        }
        nested(&entry.path(), depth - 1, budget, found);
    }
}

fn directories(parent: &Path) -> Vec<PathBuf> {
    let Ok(entries) = fs::read_dir(parent) else { return Vec::new() };
    let is_directory = |entry: &fs::DirEntry| entry.file_type().is_ok_and(|kind| kind.is_dir());
    entries.filter_map(Result::ok).filter(is_directory).map(|entry| entry.path()).collect()
}
