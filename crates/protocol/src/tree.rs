//! The whole of a session's journal, also what is on other branches than the
//! one that is active, as far as a person finds a way through it.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{EntryId, Timestamp};

/// A place in the tree to which one can travel.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TreeNode {
    /// The entry.
    pub entry: EntryId,
    /// The nearest place above it that is in the tree too.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub parent: Option<EntryId>,
    /// When it was.
    pub at: Timestamp,
    /// What it is.
    pub kind: TreeKind,
    /// How it begins, one line of at most 200 characters.
    pub text: String,
    /// Whether it is on the branch that is active.
    pub active: bool,
}

/// What stands at a place of the tree.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum TreeKind {
    /// Words of the person.
    User,
    /// The last words of the agent in a turn.
    Agent,
    /// A summary took the place of what was before.
    Compacted,
    /// The person came here from another branch.
    Travelled,
}
