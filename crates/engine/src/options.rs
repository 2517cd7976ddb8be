//! What an engine is made of and how it behaves.

use std::ffi::OsString;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use rein_config::{Directories, ModeLimit, Summariser};
use rein_llm::Models;
use rein_permission::{Layer, Presence};
use rein_protocol::Mode;
use rein_store::Store;
use rein_tools::Registry;

use crate::confinement::Commands;
use crate::spending::Caps;
use crate::verify::Verify;

/// The parts of an engine.
pub struct EngineOptions {
    /// Where sessions are kept.
    pub store: Store,
    /// The models that can be asked.
    pub models: Arc<Models>,
    /// The tools that models can call.
    pub tools: Arc<Registry>,
    /// Figures and defaults.
    pub settings: EngineSettings,
    /// Permission rules, weakest claim first; the session's own grants are added by the engine.
    pub layers: Vec<Layer>,
    /// Whether somebody can answer.
    pub presence: Presence,
    /// The freest mode that the administrator of the machine permits.
    pub mode_limit: Option<ModeLimit>,
    /// The user's home directory, for patterns that begin with `~`.
    pub home: Option<PathBuf>,
    /// Directories of rein itself that no mode opens for writing.
    pub protected: Vec<PathBuf>,
    /// How commands are confined.
    pub commands: Commands,
    /// Where grants that outlive their session are kept; without it they last as long as the session.
    pub directories: Option<Directories>,
}

/// Figures and defaults.
#[derive(Debug, Clone, PartialEq)]
pub struct EngineSettings {
    /// The mode of a new session.
    pub mode: Mode,
    /// How many model calls a turn may make; 0 means any number.
    pub max_steps: u32,
    /// What may be spent.
    pub caps: Caps,
    /// What proves the work, if anything does.
    pub verify: Option<Verify>,
    /// The shell that `bash` runs; found on the path if absent.
    pub shell: Option<PathBuf>,
    /// How long a command may run when the model does not say.
    pub command_timeout: Duration,
    /// After which time a command goes on in the background; never if absent.
    pub background_after: Option<Duration>,
    /// How many commands may run in the background.
    pub most_jobs: usize,
    /// How many bytes of a command's output are kept.
    pub output_bytes: u64,
    /// Variables that commands get although they look like secrets.
    pub keep_variables: Vec<OsString>,
    /// How often a failed model call is tried in all.
    pub attempts: u32,
    /// The first wait between two tries; it doubles.
    pub retry_base: Duration,
    /// How room is made in the model's window.
    pub compaction: CompactionSettings,
    /// Whether a small model names a session after its first turn, where a person is there.
    pub titles: bool,
}

/// How room is made in the model's window.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CompactionSettings {
    /// Who writes the summary.
    pub model: Summariser,
    /// Percent of the usable window at which room is made.
    pub threshold: u8,
    /// The quiet after which a conversation that fills half of the window is compacted; never if absent.
    pub idle: Option<Duration>,
    /// Whether work goes on with a larger sibling of the model before anything is compacted.
    pub promote: bool,
}

impl Default for CompactionSettings {
    fn default() -> Self {
        Self { model: Summariser::Same, threshold: 100, idle: None, promote: false }
    }
}

impl Default for EngineSettings {
    fn default() -> Self {
        Self {
            mode: Mode::Tight,
            max_steps: 125,
            caps: Caps::default(),
            verify: None,
            shell: None,
            command_timeout: Duration::from_secs(120),
            background_after: Some(Duration::from_secs(60)),
            most_jobs: 16,
            output_bytes: 1 << 30,
            keep_variables: Vec::new(),
            attempts: 5,
            retry_base: Duration::from_secs(2),
            compaction: CompactionSettings::default(),
            titles: false,
        }
    }
}
