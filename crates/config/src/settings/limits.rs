//! What may be spent, and what proves that the work is done.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// What may be spent.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct BudgetSettings {
    /// US dollars that a run may cost; 0 means any amount. A project can only lower it.
    #[schemars(range(min = 0), extend("x-rein-project" = "narrower"))]
    pub cost: f64,
    /// Tokens that a run may use, read and written, from caches and not; 0 means any number. A project can only
    /// lower it.
    #[schemars(range(min = 0), extend("x-rein-project" = "narrower"))]
    pub tokens: u64,
    /// Seconds that the turns of a run may take together; 0 means any time. A project can only lower it.
    #[schemars(extend("x-rein-project" = "narrower"))]
    pub time: u32,
    /// What is done under a cap on cost when nobody knows what a model costs.
    pub unknown_cost: UnknownCost,
    /// What all sessions together may spend in a day of this machine's clock.
    pub day: DayBudgetSettings,
}

/// What may be spent in a day.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct DayBudgetSettings {
    /// US dollars; 0 means any amount. A project can only lower it.
    #[schemars(range(min = 0), extend("x-rein-project" = "narrower"))]
    pub cost: f64,
    /// Tokens; 0 means any number. A project can only lower it.
    #[schemars(range(min = 0), extend("x-rein-project" = "narrower"))]
    pub tokens: u64,
}

/// What a cap on cost means where a cost is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum UnknownCost {
    /// Such a model is not asked.
    #[default]
    Refuse,
    /// It is asked, and what it costs is not counted.
    Accept,
}

/// Proving that the work is done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct VerifySettings {
    /// The command line that is run when a turn that changed something is about to end. Its exit code alone counts.
    pub command: Option<String>,
    /// What a failure means.
    pub mode: VerifyMode,
    /// How often the command is run in one turn before it has failed for good.
    #[schemars(range(min = 1, max = 3))]
    pub attempts: u32,
    /// Seconds that the command may take.
    #[schemars(range(min = 1, max = 3600))]
    pub timeout_s: u32,
}

impl Default for VerifySettings {
    fn default() -> Self {
        Self { command: None, mode: VerifyMode::Advisory, attempts: 3, timeout_s: 120 }
    }
}

/// What it means that the command fails.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum VerifyMode {
    /// The model is told once, and the turn ends as it would have.
    #[default]
    Advisory,
    /// The model is told and goes on; after the last attempt the turn ends as failed.
    Enforcing,
}
