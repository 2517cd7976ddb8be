//! Why a task failed.

use std::path::PathBuf;

/// Why a task failed.
#[derive(Debug, thiserror::Error)]
pub enum XtaskError {
    /// A file could not be read.
    #[error("cannot read {}: {error}", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A file could not be written.
    #[error("cannot write {}: {error}", path.display())]
    Write {
        /// Which.
        path: PathBuf,
        /// Why.
        error: std::io::Error,
    },
    /// A program could not be started.
    #[error("cannot run `{program}`: {error}")]
    Start {
        /// As it would be typed.
        program: String,
        /// Why.
        error: std::io::Error,
    },
    /// A program ended with a failure.
    #[error("`{program}` failed ({status}){}", hint.map(|hint| format!("\nhint: {hint}")).unwrap_or_default())]
    Failed {
        /// As it would be typed.
        program: String,
        /// How it ended.
        status: std::process::ExitStatus,
        /// What to do about it.
        hint: Option<&'static str>,
    },
    /// Something that the tests need is not installed.
    #[error("{what} is missing: {remedy}")]
    Missing {
        /// What.
        what: String,
        /// How to get it.
        remedy: String,
    },
    /// A program or file said something that makes no sense.
    #[error("{what} is not what was expected: {detail}")]
    Strange {
        /// Whose words.
        what: String,
        /// What is wrong.
        detail: String,
    },
    /// Checks found something.
    #[error("{count} {}", if *count == 1 { "thing to mend" } else { "things to mend" })]
    Findings {
        /// How many.
        count: usize,
    },
    /// Cases disagree, and that was asked to be a failure.
    #[error("{count} cases differ that are not listed as deliberate")]
    Differ {
        /// How many.
        count: usize,
    },
    /// Files of cases could not be read.
    #[error("{count} files of cases could not be read")]
    Unreadable {
        /// How many.
        count: usize,
    },
    /// Nobody reads the output any more.
    #[error("the output was closed")]
    Closed,
}

impl XtaskError {
    /// A failure to write to stdout.
    pub fn output(error: std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::BrokenPipe => Self::Closed,
            _ => Self::Write { path: "stdout".into(), error },
        }
    }
}
