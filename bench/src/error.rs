//! Why a measurement could not be made. That a target is missed is no error.

use std::io;
use std::path::{Path, PathBuf};

use rein_store::StoreError;

/// Why a measurement could not be made.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// Something with a file or a program did not work.
    #[error("cannot {action} {}: {error}", path.display())]
    Io {
        /// What was tried.
        action: &'static str,
        /// With what.
        path: PathBuf,
        /// Why not.
        error: io::Error,
    },
    /// The binary that is to be measured could not be built.
    #[error("`{command}` failed ({status}): mend that, or name a binary with --binary")]
    Build {
        /// As it would be typed.
        command: String,
        /// How it ended.
        status: std::process::ExitStatus,
    },
    /// There is no such binary.
    #[error("there is no binary at {}: build one with `cargo build --release -p rein`", path.display())]
    NoBinary {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// There is no such scenario.
    #[error("there is no scenario `{name}`; there are: {known}")]
    UnknownScenario {
        /// The name as given.
        name: String,
        /// The names that there are.
        known: String,
    },
    /// A run did not do what it was measured for: its figures would mean nothing.
    #[error("a run of `{scenario}` is not correct: {reason}")]
    Incorrect {
        /// Which scenario.
        scenario: String,
        /// What was expected and what came.
        reason: String,
    },
    /// A run took so long that it was ended.
    #[error("a run of `{scenario}` was ended after {seconds} s")]
    TooLong {
        /// Which scenario.
        scenario: String,
        /// How long it was waited for.
        seconds: u64,
    },
    /// The session to resume could not be made.
    #[error("the session to resume cannot be made")]
    Store(#[from] StoreError),
    /// The launcher was started by something else than this program.
    #[error("`--launch` is for this program's own use: it needs a file for the figures and a program")]
    Launch,
}

impl BenchError {
    /// For `map_err`: an action on a path failed.
    pub fn io(action: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_owned();
        move |error| Self::Io { action, path, error }
    }

    /// A run did not do what it was measured for.
    pub fn incorrect(scenario: &str, reason: impl Into<String>) -> Self {
        Self::Incorrect { scenario: scenario.to_owned(), reason: reason.into() }
    }
}
