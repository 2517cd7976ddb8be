//! `cargo xtask check`: what the compiler does not see. Each checker is one
//! file and returns findings; this one runs them all and prints what they found.

mod arrows;
mod banned;
mod documents;
mod forgotten;
mod sizes;
mod snapshots;
mod words;

use std::fmt;
use std::io::Write;
use std::path::{Path, PathBuf};

use crate::docs;
use crate::error::XtaskError;
use crate::workspace::Workspace;

/// Something to mend.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Finding {
    /// Where, relative to the workspace.
    pub file: PathBuf,
    /// The line, counted from 1.
    pub line: usize,
    /// What is wrong and what to do.
    pub message: String,
}

impl Finding {
    /// A finding.
    pub fn new(file: &Path, line: usize, message: impl Into<String>) -> Self {
        Self { file: file.to_path_buf(), line, message: message.into() }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}: {}", self.file.display(), self.line, self.message)
    }
}

/// Runs every check and prints every finding.
pub fn run(workspace: &Workspace, out: &mut dyn Write) -> Result<(), XtaskError> {
    let packages = workspace.packages()?;
    let files = workspace.files()?;
    let sources = texts(workspace, &files, "rs")?;
    let checks = [
        ("arrows between crates", arrows::check(&packages, workspace.root())),
        ("sizes and file headers", sizes::check(&sources)),
        ("forgotten files", forgotten::check(&packages, &sources, workspace.root())),
        ("snapshots", snapshots::check(workspace, &files)?),
        ("generated documents", docs::check(workspace)?),
        ("words", words::check(&every_text(workspace, &files))),
        ("documents", documents::check(workspace.root(), &texts(workspace, &files, "md")?)),
        ("banned crates", banned::check(&workspace.read(Path::new("Cargo.lock"))?)),
    ];
    let mut count = 0;
    for (name, mut findings) in checks {
        findings.sort();
        count += findings.len();
        let outcome = if findings.is_empty() { "ok".to_owned() } else { format!("{} found", findings.len()) };
        writeln!(out, "check {name}: {outcome}").map_err(XtaskError::output)?;
        for finding in findings {
            writeln!(out, "  {finding}").map_err(XtaskError::output)?;
        }
    }
    match count {
        0 => Ok(()),
        count => Err(XtaskError::Findings { count }),
    }
}

/// The files with an extension, with their text.
fn texts(
    workspace: &Workspace,
    files: &[PathBuf],
    extension: &str,
) -> Result<Vec<(PathBuf, String)>, XtaskError> {
    files
        .iter()
        .filter(|file| file.extension().is_some_and(|found| found == extension))
        .map(|file| Ok((file.clone(), workspace.read(file)?)))
        .collect()
}

/// Every file that is text.
fn every_text(workspace: &Workspace, files: &[PathBuf]) -> Vec<(PathBuf, String)> {
    files.iter().filter_map(|file| Some((file.clone(), workspace.read(file).ok()?))).collect()
}
