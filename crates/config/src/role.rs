//! Which model does what, as it can be set. What roles there are, and what a
//! missing value means, the model layer knows.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The model of a role.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct RoleSettings {
    /// The model, as `provider/model`, or `provider/model:effort` with how much it should think: `off`, `minimal`, `low`,
    /// `medium`, `high` or `max`.
    #[schemars(extend("x-rein-project" = "yes"))]
    pub model: Option<RoleModelName>,
    /// Models to go on with, in this order, when that one has no quota left, is overloaded or cannot be reached.
    #[schemars(extend("x-rein-project" = "yes"))]
    pub fallback: Vec<RoleModelName>,
}

/// A model, perhaps with an effort behind a colon.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("format" = "model"))]
pub struct RoleModelName(String);

impl RoleModelName {
    /// As it was written.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}
