//! Settings of how room is made in a model's window.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Making room in the model's window.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct CompactionSettings {
    /// Who writes the summary.
    #[schemars(extend("x-rein-project" = "yes"))]
    pub model: Summariser,
    /// Percent of the usable window at which room is made. What is usable is the window less the room for an answer.
    #[schemars(range(min = 20, max = 100), extend("x-rein-project" = "yes"))]
    pub threshold: u32,
    /// Minutes of quiet after which a conversation is compacted that fills half of the window or more; 0 means never.
    #[schemars(range(min = 0, max = 10080))]
    pub idle: u32,
    /// Whether work goes on with the model's larger sibling, where the catalog knows one, before anything is
    /// compacted.
    pub promote: bool,
}

impl Default for CompactionSettings {
    fn default() -> Self {
        Self { model: Summariser::default(), threshold: 100, idle: 0, promote: false }
    }
}

/// Who writes the summary of a conversation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Summariser {
    /// The model that does the work.
    #[default]
    Same,
    /// The model of the role `small`.
    Small,
}
