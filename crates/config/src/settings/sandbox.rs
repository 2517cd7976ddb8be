//! Settings of the sandbox. None of them is open to projects: each could let
//! a repository out of it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Confining commands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SandboxSettings {
    /// Whether the kernel confines the commands that the agent runs.
    pub confine: Confine,
    /// What is done where the kernel lacks the means to confine commands.
    pub unavailable: WhenUnavailable,
    /// Whether confined commands reach other machines.
    pub network: NetworkAccess,
    /// With what commands are confined.
    pub means: SandboxMeans,
    /// Whether commands may write to the caches of package managers and build tools (cargo, npm, pip, go, …).
    pub caches: bool,
    /// Further places that commands may write to: absolute paths, or paths that begin with `~/`.
    pub writable: Vec<String>,
    /// Further places that commands may not read: absolute paths, or paths that begin with `~/`.
    pub hidden: Vec<String>,
    /// Names of variables that commands get although they look like secrets.
    pub keep_variables: Vec<String>,
    /// Megabytes that commands of a session may put into their temporary directory.
    #[schemars(range(min = 1, max = 1048576))]
    pub temporary_mb: u32,
    /// How many processes a command may have at once.
    #[schemars(range(min = 8, max = 1000000))]
    pub processes: u32,
}

impl Default for SandboxSettings {
    fn default() -> Self {
        Self {
            confine: Confine::On,
            unavailable: WhenUnavailable::Ask,
            network: NetworkAccess::AsNeeded,
            means: SandboxMeans::Auto,
            caches: true,
            writable: Vec::new(),
            hidden: Vec::new(),
            keep_variables: Vec::new(),
            temporary_mb: 4096,
            processes: 1024,
        }
    }
}

/// Whether commands are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Confine {
    /// They write only to the workspace, a temporary directory and caches, and do not see secrets.
    #[default]
    On,
    /// They run with all of your rights.
    Off,
}

/// What is done where commands cannot be confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum WhenUnavailable {
    /// A person is asked before a command runs with all of your rights; where nobody can answer, it is refused.
    #[default]
    Ask,
    /// Commands are refused.
    Refuse,
    /// rein does not start.
    Error,
}

/// Whether confined commands reach other machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum NetworkAccess {
    /// In mode `free`, and where a command that was allowed is for talking to other machines.
    #[default]
    AsNeeded,
    /// Always.
    On,
    /// Only where a person allowed it for a command.
    Off,
}

/// With what commands are confined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SandboxMeans {
    /// What is built in where it works, else bubblewrap, else Landlock alone.
    #[default]
    Auto,
    /// Bubblewrap only.
    Bubblewrap,
    /// What is built in only.
    Builtin,
}
