//! What changes something: the command line that it is, what it discards, and
//! what became of it.
//!
//! The line is exactly what is run, so that a rule for `git commit *` judges
//! what happens. The user's own hooks and filters run with it, as they would
//! if the user typed it.

use std::ffi::{OsStr, OsString};

use super::ask::{Answer, Asker, Stop, answer};
use super::neutral::{Conduct, spawn};
use super::request::{Change, Force, Named, Part};
use super::{Told, failure, words};
use crate::bound::{Keep, truncate};
use crate::program::{self, quoted};

/// Bytes of what hooks print that are kept, and lines of it that are told.
const MOST_PRINTED: usize = 1024 * 1024;
const TOLD_LINES: usize = 40;
const TOLD_BYTES: usize = 4 * 1024;

impl Change {
    /// The arguments of git.
    pub(super) fn arguments(&self) -> Vec<OsString> {
        match self {
            Self::Add { paths } => with_paths(words(&["add"]), paths),
            Self::Commit { message } => {
                let mut arguments = words(&["commit", "-m"]);
                arguments.push(message.into());
                arguments
            }
            Self::CreateBranch { name, at, force } => {
                let mut arguments = words(&["branch"]);
                arguments.extend(flag(*force, "--force"));
                arguments.push(name.into());
                arguments.extend(at.as_ref().map(|at| OsString::from(&at.0)));
                arguments
            }
            Self::DeleteBranch { name, force } => {
                let mut arguments = words(&["branch"]);
                arguments.push(if *force == Force::Yes { "-D" } else { "-d" }.into());
                arguments.push(name.into());
                arguments
            }
            Self::Switch { name, force } => checkout(*force, &[name, "--"]),
            Self::SwitchNew { name, at, force } => checkout(*force, &["-b", name, &at.0, "--"]),
            Self::Detach { at, force } => checkout(*force, &["--detach", &at.0, "--"]),
            Self::Restore { paths, from, part } => {
                let mut arguments = words(&["restore"]);
                arguments.extend(from.as_ref().map(|from| OsString::from(format!("--source={}", from.0))));
                arguments.extend((*part == Part::Index).then(|| OsString::from("--staged")));
                with_paths(arguments, paths)
            }
            Self::AddWorktree { path, name, at, force } => {
                let mut arguments = words(&["worktree", "add"]);
                arguments.extend(flag(*force, "--force"));
                if let Some(name) = name {
                    arguments.extend(words(&["-b", name]));
                }
                arguments.push("--".into());
                arguments.push(path.given.clone());
                arguments.extend(at.as_ref().map(|at| OsString::from(&at.0)));
                arguments
            }
            Self::RemoveWorktree { path, force } => {
                let mut arguments = words(&["worktree", "remove"]);
                arguments.extend(flag(*force, "--force"));
                arguments.push("--".into());
                arguments.push(path.given.clone());
                arguments
            }
        }
    }

    /// The line that somebody would type.
    pub(super) fn line(&self) -> String {
        let arguments: Vec<String> = self.arguments().iter().map(|word| quoted(OsStr::new(word))).collect();
        format!("git {}", arguments.join(" "))
    }

    /// What it loses for good, in the words of somebody who is asked.
    pub(super) fn loss(&self) -> Option<&'static str> {
        match self {
            Self::Restore { part: Part::Files, .. } => {
                Some("discards the changes in these files that are not staged or committed")
            }
            Self::Switch { force: Force::Yes, .. }
            | Self::SwitchNew { force: Force::Yes, .. }
            | Self::Detach { force: Force::Yes, .. } => Some("discards every change that is not committed"),
            Self::DeleteBranch { force: Force::Yes, .. } => {
                Some("discards commits that are on no other branch")
            }
            Self::CreateBranch { force: Force::Yes, .. } => {
                Some("moves a branch that exists; commits that are on no other are discarded")
            }
            Self::RemoveWorktree { force: Force::Yes, .. } => {
                Some("discards the changes and new files in that worktree")
            }
            Self::RemoveWorktree { force: Force::No, .. } => {
                Some("removes that worktree's directory, with ignored files")
            }
            Self::Restore { part: Part::Index, .. }
            | Self::Add { .. }
            | Self::Commit { .. }
            | Self::CreateBranch { force: Force::No, .. }
            | Self::DeleteBranch { force: Force::No, .. }
            | Self::Switch { force: Force::No, .. }
            | Self::SwitchNew { force: Force::No, .. }
            | Self::Detach { force: Force::No, .. }
            | Self::AddWorktree { .. } => None,
        }
    }

    /// What else of the user's runs with it.
    pub(super) fn company(&self) -> Option<&'static str> {
        match self {
            Self::Commit { .. } => {
                Some("runs the repository's commit hooks, and signs if the user's settings say so")
            }
            Self::Switch { .. } | Self::SwitchNew { .. } | Self::Detach { .. } | Self::AddWorktree { .. } => {
                Some("runs the repository's checkout hook and filters")
            }
            Self::Add { .. } | Self::Restore { .. } => Some("runs the repository's filters"),
            Self::CreateBranch { .. } | Self::DeleteBranch { .. } | Self::RemoveWorktree { .. } => None,
        }
    }
}

fn checkout(force: Force, rest: &[&str]) -> Vec<OsString> {
    let mut arguments = words(&["checkout"]);
    arguments.extend(flag(force, "--force"));
    arguments.extend(words(rest));
    arguments
}

fn flag(force: Force, name: &str) -> Option<OsString> {
    (force == Force::Yes).then(|| name.into())
}

fn with_paths(mut arguments: Vec<OsString>, paths: &[Named]) -> Vec<OsString> {
    arguments.push("--".into());
    arguments.extend(paths.iter().map(|path| path.given.clone()));
    arguments
}

/// Does it.
pub(super) async fn perform(asker: &Asker<'_>, change: &Change) -> Result<Told, Stop> {
    if let Change::Commit { .. } = change {
        must_have_something_to_commit(asker).await?;
    }
    let spawn = spawn(asker.scene, &asker.git, Conduct::Change, &change.arguments());
    let done = answer(program::collect(spawn, MOST_PRINTED, asker.cancel).await, asker.scene, asker.cancel)?;
    if done.code != 0 {
        let printed = said(&done);
        return Err(Stop::Failed(failure::sentence(&printed, asker.repository)));
    }
    let mut told = match change {
        Change::Add { .. } | Change::Restore { .. } => super::status::status(asker, &[]).await?,
        Change::Commit { .. } => committed(asker).await?,
        Change::CreateBranch { name, .. } => {
            Told::short(&format!("branch {name} made; checkout switches to it"))
        }
        Change::DeleteBranch { name, .. } => Told::short(&format!("branch {name} deleted")),
        Change::Switch { .. } | Change::SwitchNew { .. } | Change::Detach { .. } => {
            super::status::status(asker, &[]).await?
        }
        Change::AddWorktree { .. } | Change::RemoveWorktree { .. } => {
            super::history::worktrees(asker).await?
        }
    };
    let remarks = remarks(change, &done);
    if !remarks.is_empty() {
        told.text = format!("{}\n{remarks}\n", told.text.trim_end());
    }
    Ok(told)
}

/// What hooks and git itself had to say besides. Of what git prints on success, the result says more.
fn remarks(change: &Change, done: &Answer) -> String {
    match change {
        Change::DeleteBranch { .. } => said_shortly(&String::from_utf8_lossy(&done.output)),
        Change::Commit { .. } | Change::Add { .. } | Change::CreateBranch { .. } => {
            said_shortly(&done.errors)
        }
        Change::Switch { .. }
        | Change::SwitchNew { .. }
        | Change::Detach { .. }
        | Change::Restore { .. }
        | Change::AddWorktree { .. }
        | Change::RemoveWorktree { .. } => String::new(),
    }
}

fn said(done: &Answer) -> String {
    format!("{}\n{}", done.errors.trim(), String::from_utf8_lossy(&done.output).trim())
}

fn said_shortly(text: &str) -> String {
    truncate(text.trim(), TOLD_LINES, TOLD_BYTES, Keep::Both).text
}

/// A merge may be concluded without a difference.
async fn must_have_something_to_commit(asker: &Asker<'_>) -> Result<(), Stop> {
    if asker.repository.private.join("MERGE_HEAD").exists() {
        return Ok(());
    }
    let quiet = words(&[
        "diff",
        "--cached",
        "--quiet",
        "--no-ext-diff",
        "--no-textconv",
        "--ignore-submodules=dirty",
    ]);
    let staged = asker.try_ask(&quiet, 1_000).await?;
    if staged.code == 0 {
        return Err(Stop::Failed(
            "Nothing is staged, so nothing was committed. Stage with action add and paths first; status shows what there is."
                .into(),
        ));
    }
    Ok(())
}

async fn committed(asker: &Asker<'_>) -> Result<Told, Stop> {
    let mut told = super::history::log(asker, None, &[], 1).await?;
    told.notes.clear();
    let mut numbers = words(&["show", "--format=", "--no-show-signature", "--shortstat", "--no-ext-diff"]);
    numbers.extend(words(&[
        "--no-textconv",
        "--diff-merges=first-parent",
        "--ignore-submodules=dirty",
        "HEAD",
        "--",
    ]));
    let numbers = asker.ask(&numbers, 1_000).await?;
    let numbers = String::from_utf8_lossy(&numbers.output).trim().to_owned();
    told.text = format!("committed {}{numbers}\n", told.text);
    told.summary = told.text.split_whitespace().nth(1).unwrap_or("committed").to_owned();
    Ok(told)
}
