//! What of the engine can be looked at with data from outside: for checks. No
//! session uses it.

use std::path::{Path, PathBuf};

use crate::context::budget;
use crate::instructions;

/// Tokens that a conversation may have in a window of which so many are an answer's, at most.
#[must_use]
pub fn usable_window(window: u64, output: Option<u64>) -> u64 {
    budget::usable(window, output)
}

/// The instruction files that hold in a workspace with the texts that are sent, the most general first.
#[must_use]
pub fn instruction_files(user: Option<&Path>, workspace: &Path) -> Vec<(PathBuf, String)> {
    let files = instructions::load(user, workspace, &|_| true);
    files.into_iter().map(|file| (file.path, file.text)).collect()
}
