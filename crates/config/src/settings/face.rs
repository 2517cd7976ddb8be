//! What a person sees and presses at a terminal.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Actions of the terminal face with the keys that they have instead of their own.
pub type KeySettings = BTreeMap<String, Vec<String>>;

/// How much of what a model thinks is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ThoughtsShown {
    /// The last lines while it thinks, a line when it is over.
    #[default]
    Line,
    /// All of it.
    Whole,
    /// Nothing of it.
    Hidden,
}

/// A part of the status line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum StatusPart {
    /// How much runs without asking.
    Mode,
    /// The model that answers.
    Model,
    /// How much it thinks, if that was said.
    Effort,
    /// The name of the directory.
    Directory,
    /// The branch of the repository.
    Branch,
    /// How full the model's window is.
    Context,
    /// Money so far.
    Cost,
    /// How much of what was sent came from a cache.
    Cache,
    /// Commands in the background.
    Jobs,
    /// Messages that wait.
    Queue,
    /// How to get help.
    Help,
}

impl StatusPart {
    /// Every part in the usual order.
    pub const ALL: [Self; 11] = [
        Self::Mode,
        Self::Model,
        Self::Effort,
        Self::Directory,
        Self::Branch,
        Self::Context,
        Self::Cost,
        Self::Cache,
        Self::Jobs,
        Self::Queue,
        Self::Help,
    ];

    /// The word in a file.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Mode => "mode",
            Self::Model => "model",
            Self::Effort => "effort",
            Self::Directory => "directory",
            Self::Branch => "branch",
            Self::Context => "context",
            Self::Cost => "cost",
            Self::Cache => "cache",
            Self::Jobs => "jobs",
            Self::Queue => "queue",
            Self::Help => "help",
        }
    }
}
