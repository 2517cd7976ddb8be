//! What the face wants to know that no session has: settings, models, the state
//! of the machine. Whoever starts the face implements it; nothing here does.

use std::path::PathBuf;

use rein_protocol::{ModelRef, Snapshot};

use crate::theme::Theme;

/// The program around the face, as plain data.
///
/// Contract for implementers: every method may block and is called away from the
/// keyboard, perhaps two at a time; what is returned holds no secret; texts may
/// have anything in them, the face disarms them.
pub trait Host: Send + Sync {
    /// Every model that is known, those that can be used first.
    fn models(&self) -> Result<Vec<ModelChoice>, HostError>;

    /// Every setting, in the order of the reference.
    fn settings(&self) -> Result<Vec<Setting>, HostError>;

    /// Writes a setting into the user's own file, or takes it out of there if there is no value. Says what was
    /// done and from when on it holds.
    fn set(&self, key: &str, value: Option<&str>) -> Result<String, HostError>;

    /// The rules of permission that hold, in the order in which they are judged.
    fn rules(&self) -> Result<Vec<RuleLine>, HostError>;

    /// What works here and what does not.
    fn doctor(&self) -> Result<Vec<Finding>, HostError>;

    /// Writes a session as Markdown: into a file, or where the person will find it. An existing file is left
    /// alone and an error.
    fn export(&self, session: &Snapshot, file: Option<PathBuf>) -> Result<PathBuf, HostError>;

    /// The themes of the user's own; one that cannot be used says why.
    fn themes(&self) -> Vec<OwnTheme>;
}

/// Why something could not be done, and what to do.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct HostError(pub String);

/// A model to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelChoice {
    /// Which.
    pub model: ModelRef,
    /// Its window, its price.
    pub detail: String,
    /// Why it cannot be used now, if so.
    pub unusable: Option<String>,
}

/// A setting as it holds.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Setting {
    /// Its dotted name.
    pub key: String,
    /// Its value as a file would say it; nothing if it is not set.
    pub value: Option<String>,
    /// Where the value comes from.
    pub origin: String,
    /// What it is.
    pub about: String,
    /// What it takes, in words.
    pub takes: String,
    /// The values that it can have, where these are a few words.
    pub choices: Vec<String>,
}

/// A rule of permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RuleLine {
    /// What it says.
    pub text: String,
    /// Where it is written.
    pub origin: String,
}

/// One line of a check-up.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Finding {
    /// How it is.
    pub state: FindingState,
    /// What was looked at and what was found.
    pub what: String,
    /// What to do about it.
    pub next: Option<String>,
}

/// How something is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FindingState {
    /// As it should be.
    Good,
    /// It works, but something is worth knowing.
    Note,
    /// It does not work.
    Bad,
}

/// A theme of the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnTheme {
    /// What the file is called.
    pub name: String,
    /// What is in it, or why that cannot be used.
    pub theme: Result<Theme, String>,
}
