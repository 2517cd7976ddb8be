//! What the next request of a session consists of, and why.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A part of what is sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextPart {
    /// Where it stands.
    pub section: ContextSection,
    /// What it is: a file, a tool, a kind of message.
    pub name: String,
    /// Why it is sent.
    pub why: String,
    /// Its tokens, estimated.
    pub tokens: u64,
    /// Its bytes.
    pub bytes: u64,
}

/// A section of a request, in the order in which they are sent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum ContextSection {
    /// The tools that the model may call.
    Tools,
    /// What rein says first; the same for every session.
    Head,
    /// What files of the user and of the project say.
    Instructions,
    /// Where the agent is.
    Environment,
    /// What was said and done.
    Conversation,
}
