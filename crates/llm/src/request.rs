//! What a model is asked, before a wire encodes it.

use rein_protocol::{Message, ToolSpec};
use serde::{Deserialize, Serialize};

/// A request to a model. The same request is always encoded to the same bytes.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelRequest {
    /// The name that the provider knows the model by. Where a model is named beside the request, that one counts.
    #[serde(default)]
    pub model: String,
    /// Instructions: what never changes first, so that a provider can cache it.
    #[serde(default)]
    pub system: Vec<String>,
    /// The tools that the model may call.
    #[serde(default)]
    pub tools: Vec<ToolSpec>,
    /// The conversation. It need not be whole: a codec makes it valid.
    #[serde(default)]
    pub messages: Vec<Message>,
    /// The longest answer in tokens; the provider's own limit if absent.
    #[serde(default)]
    pub max_output: Option<u64>,
}
