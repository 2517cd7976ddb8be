//! What a process may do, said in words that every system's means understand.
//!
//! A [`Jail`] is plain data: [`Jail::standard`] makes the usual one, `plan`
//! turns it into what a kernel is told, [`means()`] says what this machine can
//! enforce, and [`explain`] recognises a failure that a jail caused. Whether a
//! process is jailed at all, and who is asked when it cannot be, is decided by
//! others.
//!
//! The invariant: where two wishes meet on a path, the longer path decides, and
//! on the same path the stricter one: hidden before read-only before writable.

pub(crate) mod bubblewrap;
pub(crate) mod caches;
mod explain;
mod explain_tables;
pub(crate) mod git;
mod means;
pub(crate) mod plan;
mod policy;
#[cfg(target_os = "linux")]
pub(crate) mod probe;
mod protected;
mod secrets;

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use caches::Caches;
pub use explain::{Refusal, Refused, explain};
pub(crate) use means::choose;
pub use means::{Means, Missing, Wall, WallStatus, Way, available, means, means_for};
pub use policy::JailRequest;

/// What a process and everything that it starts may do.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[non_exhaustive]
pub struct Jail {
    /// Directories (or files) that may be changed. Everything else may only be read.
    pub writable: Vec<PathBuf>,
    /// Paths that may not be changed even inside of what is writable, and not be created either.
    pub read_only: Vec<PathBuf>,
    /// Files and directories that may not even be read.
    pub hidden: Vec<PathBuf>,
    /// Whether it may talk to other machines.
    pub network: Network,
    /// Where it puts what nobody needs later.
    pub temporary: Temporary,
    /// How much of the machine it may use.
    pub limits: Limits,
    /// By which means it is to be held.
    #[serde(default)]
    pub preference: Preference,
}

/// Whether a process may talk to other machines.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Network {
    /// It may.
    On,
    /// It may not. Its own loopback works where there are namespaces.
    Off,
}

/// The directory that stands in for `/tmp` and `/var/tmp`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Temporary {
    /// A directory that belongs to the conversation, so that a later command finds what an earlier one left.
    /// Without one, every process has its own in memory, gone with it.
    pub directory: Option<PathBuf>,
    /// How much fits into the one in memory.
    pub limit_bytes: u64,
}

impl Default for Temporary {
    fn default() -> Self {
        Self { directory: None, limit_bytes: 2 << 30 }
    }
}

/// How much of the machine a process may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Limits {
    /// How many processes and threads at once, together.
    pub processes: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { processes: 4096 }
    }
}

/// By which means a process is to be held.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Preference {
    /// By the first that works here: what is built in, which holds most, then bubblewrap, then
    /// Landlock alone.
    #[default]
    Automatic,
    /// By namespaces that rein makes itself.
    BuiltIn,
    /// By namespaces that bubblewrap makes.
    Bubblewrap,
    /// By Landlock and the filter of system calls, without namespaces.
    LandlockAlone,
}

/// The directories that stand for the private temporary one inside.
pub(crate) const TEMPORARY: [&str; 2] = ["/tmp", "/var/tmp"];
