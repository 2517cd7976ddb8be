//! Commands that go on in the background, and what became of them.

use std::fmt;
use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::Timestamp;

/// The name of a job, such as `job_1`: unique within the time that a session is open.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct JobId(pub String);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// A command in the background.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobInfo {
    /// Its name.
    pub id: JobId,
    /// As it was given.
    pub command: String,
    /// Where it was started.
    #[serde(with = "crate::path_text")]
    #[schemars(with = "String")]
    pub cwd: PathBuf,
    /// What became of it.
    pub state: JobState,
    /// When it began.
    pub started_at: Timestamp,
    /// When it ended.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ended_at: Option<Timestamp>,
    /// How much it has printed.
    pub output_bytes: u64,
}

/// What became of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum JobState {
    /// It runs.
    Running,
    /// The command has ended with this code; a process that it left behind still runs.
    Daemon {
        /// Of the command.
        code: i32,
    },
    /// It ended with this code.
    Exited {
        /// The exit code.
        code: i32,
    },
    /// A signal killed it that rein did not send.
    Signalled {
        /// Its number.
        signal: i32,
    },
    /// Its time was over.
    TimedOut,
    /// It was ended: by the model, by a person, or with the session.
    Killed,
}

impl JobState {
    /// Whether something of it still runs.
    #[must_use]
    pub fn is_alive(self) -> bool {
        match self {
            Self::Running | Self::Daemon { .. } => true,
            Self::Exited { .. } | Self::Signalled { .. } | Self::TimedOut | Self::Killed => false,
        }
    }
}

impl fmt::Display for JobState {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Running => f.write_str("running"),
            Self::Daemon { code } => write!(f, "running in the background after exit code {code}"),
            Self::Exited { code } => write!(f, "ended with exit code {code}"),
            Self::Signalled { signal } => write!(f, "killed by signal {signal}"),
            Self::TimedOut => f.write_str("timed out and was ended"),
            Self::Killed => f.write_str("was ended"),
        }
    }
}
