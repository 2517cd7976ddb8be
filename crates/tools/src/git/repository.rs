//! The repository that the workspace is in, found by looking at the disk:
//! nothing is run before somebody has been asked.
//!
//! A file `.git` can name any directory of the disk, and reading that one shows
//! what is in it. So a directory outside of the working tree counts as part of
//! the repository only if it says so itself; otherwise the intent names it.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::contract::{Complaint, Scene};
use crate::path::{Place, printable, shown};

/// A file that points elsewhere is no longer than this.
const POINTER_BYTES: u64 = 8 * 1024;

/// A working tree and where its history is. All paths are absolute and without links.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Repository {
    /// The top of the working tree.
    pub(super) root: PathBuf,
    /// What belongs to this working tree alone: its head, its index, what is in progress.
    pub(super) private: PathBuf,
    /// Where the history is.
    pub(super) common: PathBuf,
    /// Where the calls happen: the workspace.
    pub(super) workspace: PathBuf,
}

impl Repository {
    /// The repository that the workspace is in.
    pub(super) fn find(scene: &Scene) -> Result<Self, Complaint> {
        let workspace = Place::find(".", scene)?.path;
        for root in workspace.ancestors() {
            if let Some(private) = private_directory(root) {
                let common =
                    pointed_to(&private.join("commondir"), &private, "").unwrap_or_else(|| private.clone());
                return Ok(Self { root: root.to_owned(), private, common, workspace });
            }
            if is_store(root) {
                return Err(Complaint(format!(
                    "{} is a bare repository, without files to work on. Use bash for it: git --git-dir={0} …",
                    root.display()
                )));
            }
        }
        Err(Complaint(format!(
            "{} is in no git repository. If one is wanted, make it with bash: git init",
            workspace.display()
        )))
    }

    /// Whether the workspace is only a part of it.
    pub(super) fn is_larger_than_workspace(&self) -> bool {
        self.workspace != self.root
    }

    /// Where the history is, if it is somewhere that has nothing to do with the working tree.
    pub(super) fn foreign_store(&self) -> Option<&Path> {
        let inside = self.common.starts_with(&self.root);
        (!inside && !self.is_linked() && !self.is_submodule()).then_some(&self.common)
    }

    /// Whether the store knows this working tree: only who may write there can say so.
    fn is_linked(&self) -> bool {
        self.private.starts_with(self.common.join("worktrees"))
            && pointed_to(&self.private.join("gitdir"), &self.private, "")
                .is_some_and(|back| back == self.root.join(".git"))
    }

    /// Whether the store is that of a submodule, in the repository around this one.
    fn is_submodule(&self) -> bool {
        self.root.ancestors().skip(1).any(|above| self.common.starts_with(above.join(".git/modules")))
    }

    /// A path of git, relative to the root, as the other tools show and take it.
    pub(super) fn shown(&self, path: &Path, scene: &Scene) -> String {
        shown(&self.root.join(path), &scene.workspace)
    }

    /// What was begun and not finished.
    pub(super) fn in_progress(&self) -> Option<&'static str> {
        UNFINISHED.iter().find(|(file, _)| self.private.join(file).exists()).map(|(_, what)| *what)
    }

    /// Whether git itself finds the same, from what `rev-parse` printed.
    pub(super) fn must_be(&self, printed: &[u8]) -> Result<(), String> {
        use std::os::unix::ffi::OsStrExt;
        let root = self.root.as_os_str().as_bytes();
        let common = self.common.as_os_str().as_bytes();
        if printed == [root, b"\n", common, b"\n"].concat() {
            return Ok(());
        }
        Err(format!(
            "Nothing was done: the repository of {} says that its files are elsewhere ({}). Look at core.worktree in its configuration.",
            self.root.display(),
            printable(String::from_utf8_lossy(printed).trim())
        ))
    }
}

const UNFINISHED: &[(&str, &str)] = &[
    ("rebase-merge", "rebase in progress: git rebase --continue or --abort (bash)"),
    ("rebase-apply", "rebase in progress: git rebase --continue or --abort (bash)"),
    ("MERGE_HEAD", "merge in progress: resolve conflicts, add, commit; or git merge --abort (bash)"),
    ("CHERRY_PICK_HEAD", "cherry-pick in progress: git cherry-pick --continue or --abort (bash)"),
    ("REVERT_HEAD", "revert in progress: git revert --continue or --abort (bash)"),
    ("BISECT_LOG", "bisect in progress: git bisect reset ends it (bash)"),
];

/// What `.git` in a directory leads to, if it is the top of a working tree.
fn private_directory(root: &Path) -> Option<PathBuf> {
    let entry = root.join(".git");
    let found =
        if entry.is_dir() { entry.canonicalize().ok()? } else { pointed_to(&entry, root, "gitdir:")? };
    found.join("HEAD").symlink_metadata().is_ok().then_some(found)
}

/// The path that a small file holds.
fn pointed_to(file: &Path, relative_to: &Path, before: &str) -> Option<PathBuf> {
    use std::os::unix::ffi::OsStringExt;
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    std::fs::File::open(file).ok()?.take(POINTER_BYTES).read_to_end(&mut bytes).ok()?;
    let target = bytes.strip_prefix(before.as_bytes())?.trim_ascii();
    if target.is_empty() {
        return None;
    }
    let target = PathBuf::from(std::ffi::OsString::from_vec(target.to_vec()));
    relative_to.join(target).canonicalize().ok()
}

/// Whether a directory is a repository without a working tree.
fn is_store(directory: &Path) -> bool {
    directory.join("HEAD").is_file() && directory.join("objects").is_dir() && directory.join("refs").is_dir()
}
