//! The scratch project of the demo: a program of a few lines in the language
//! that every Unix has, and its test, of which one check fails.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use similar::TextDiff;

/// What a person would type.
pub const PROMPT: &str = "The test fails. Find out why, fix it, and show me that it passes.";
/// How the test is run.
pub const TEST: &str = "test.sh";

const FILES: [(&str, &str); 2] =
    [("slug.sh", include_str!("files/slug.sh")), (TEST, include_str!("files/test.sh"))];

/// The project and everything that the demo writes, in a directory of its own.
pub struct Scratch {
    root: tempfile::TempDir,
}

impl Scratch {
    /// Makes it in the directory for temporary files.
    pub fn make() -> io::Result<Self> {
        let root = tempfile::Builder::new().prefix("rein-demo-").tempdir()?;
        let scratch = Self { root };
        fs::create_dir(scratch.project())?;
        for (name, text) in FILES {
            fs::write(scratch.project().join(name), text)?;
        }
        Ok(scratch)
    }

    /// Where the agent works.
    pub fn project(&self) -> PathBuf {
        self.root.path().join("project")
    }

    /// Where rein keeps its own files meanwhile.
    pub fn home(&self) -> PathBuf {
        self.root.path().join("rein")
    }

    /// What is different from how it was made, as a unified diff.
    pub fn changes(&self) -> io::Result<String> {
        let mut changes = String::new();
        for (name, before) in FILES {
            let after = fs::read_to_string(self.project().join(name))?;
            if after != before {
                let diff = TextDiff::from_lines(before, after.as_str());
                let diff = diff.unified_diff().header(&format!("a/{name}"), &format!("b/{name}")).to_string();
                changes.push_str(&diff);
            }
        }
        Ok(changes)
    }

    /// Leaves it where it is.
    pub fn keep(self) -> PathBuf {
        self.root.keep()
    }

    /// Removes it.
    pub fn remove(self) -> io::Result<()> {
        self.root.close()
    }
}

/// The first comment of a file, for the introduction.
pub fn purpose(text: &str) -> &str {
    text.lines().find_map(|line| line.strip_prefix("# ")).unwrap_or_default()
}

/// The files and what they are for.
pub fn files() -> impl Iterator<Item = (&'static str, &'static str)> {
    FILES.into_iter().map(|(name, text)| (name, purpose(text)))
}

/// The path without the scratch directory before it, which nobody needs to read.
pub fn shortened<'a>(text: &'a str, project: &Path) -> std::borrow::Cow<'a, str> {
    let prefix = format!("{}/", project.display());
    if text.contains(&prefix) { text.replace(&prefix, "").into() } else { text.into() }
}
