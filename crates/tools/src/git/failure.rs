//! What a model is told when git refuses: what to do, where that is known, and
//! else what git said.

use super::repository::Repository;
use crate::bound::{Keep, truncate};

/// Lines and bytes that are told of what git said.
const LINES: usize = 20;
const BYTES: usize = 2_000;

/// What stands in a message of git, and what it means.
const MEANINGS: &[(&str, &str)] = &[
    (
        ".lock': File exists",
        "Another git process holds the lock of this repository. Wait and call again; if none runs, a crash left the file that is named below, and the user may remove it.",
    ),
    (
        "dubious ownership",
        "The repository belongs to another user, and git refuses it. If the user trusts it, they can run: git config --global --add safe.directory PATH",
    ),
    ("tell me who you are", IDENTITY),
    ("empty ident name", IDENTITY),
    ("auto-detect email address", IDENTITY),
    (
        "would be overwritten by checkout",
        "Nothing was switched: these files have changes that it would overwrite. Commit them first, or set force to discard them.",
    ),
    (
        "is not fully merged",
        "The branch has commits that are on no other. Set force only if they may be lost.",
    ),
    (
        "contains modified or untracked files",
        "The worktree has changes or new files. Set force only if they may be lost.",
    ),
    (
        "gpg failed to sign",
        "The commit must be signed and could not be. Ask the user to commit, or to unlock their key.",
    ),
    ("unmerged files", "There are conflicts. Edit these files, add them, then commit."),
    ("missing blob", PARTIAL),
    ("could not fetch", PARTIAL),
    ("lazy fetching disabled", PARTIAL),
    (
        "is beyond a symbolic link",
        "A path goes through a symbolic link, which git does not follow. Name the file itself.",
    ),
];

const IDENTITY: &str = "Nothing was committed: git does not know who commits. Ask the user for a name and an address, then with bash: git config user.name \"…\" && git config user.email \"…\"";

const PARTIAL: &str = "A part of the history is not on this machine (a partial clone), and reading does not fetch it. With bash: git fetch";

/// A sentence for the model.
pub(super) fn sentence(errors: &str, repository: &Repository) -> String {
    let said = truncate(errors.trim(), LINES, BYTES, Keep::Both).text;
    let meaning = MEANINGS.iter().find(|(part, _)| errors.contains(part)).map(|(_, meaning)| *meaning);
    match meaning {
        Some(meaning) => {
            format!("{}\n{said}", meaning.replace("PATH", &repository.root.display().to_string()))
        }
        None if said.is_empty() => "git refused and did not say why.".to_owned(),
        None => said,
    }
}
