//! What a model is asked, before a wire encodes it.

use std::collections::HashMap;

use bytes::Bytes;
use rein_protocol::{BlobId, Message, ToolSpec};
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
    /// Whether and what it has to call.
    #[serde(default)]
    pub tool_choice: ToolChoice,
    /// The conversation. It need not be whole: a codec makes it valid.
    #[serde(default)]
    pub messages: Vec<Message>,
    /// The longest answer in tokens; the provider's own limit if absent.
    #[serde(default)]
    pub max_output: Option<u64>,
    /// How much it should think; as it does by itself if absent.
    #[serde(default)]
    pub effort: Option<Effort>,
    /// What the provider should keep for the next request, where that has to be said.
    #[serde(default)]
    pub cache: CachePlan,
    /// The bytes of the images in the conversation. One that is missing is said to be.
    #[serde(skip)]
    pub images: HashMap<BlobId, Bytes>,
}

/// Whether and what a model has to call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ToolChoice {
    /// As it likes.
    #[default]
    Auto,
    /// Nothing.
    None,
    /// Any tool.
    Required,
    /// This tool.
    Tool(String),
}

pub use rein_protocol::Effort;

/// Where a provider is told that what came until there will come again. Providers who find that out by themselves are
/// told nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct CachePlan {
    /// Behind the last tool.
    pub tools: bool,
    /// Behind the instructions.
    pub system: bool,
    /// Behind this many of the last messages.
    pub messages: usize,
    /// How long it should be kept.
    pub lifetime: CacheLifetime,
}

impl Default for CachePlan {
    fn default() -> Self {
        Self { tools: true, system: true, messages: 2, lifetime: CacheLifetime::Minutes5 }
    }
}

/// How long a provider keeps what it was told to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum CacheLifetime {
    /// Five minutes since it was last used.
    #[default]
    Minutes5,
    /// An hour, at a higher price.
    Hour1,
}
