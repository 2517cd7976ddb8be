//! How a call is shown to a person, before and after it ran.
//!
//! A tool says *what* there is to show; a face decides how it looks. All text
//! here is untrusted: a face neutralises control sequences.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::todo::TodoItem;

/// What a face shows of a call.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Display {
    /// One line: `read src/main.rs`, `$ cargo test`.
    pub title: String,
    /// A few words on the outcome, once there is one: `120 lines`, `exit 1`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub summary: Option<String>,
    /// What can be unfolded.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub blocks: Vec<Block>,
}

impl Display {
    /// Only a title.
    pub fn titled(title: impl Into<String>) -> Self {
        Self { title: title.into(), summary: None, blocks: Vec::new() }
    }

    /// With a few words on the outcome.
    #[must_use]
    pub fn with_summary(mut self, summary: impl Into<String>) -> Self {
        self.summary = Some(summary.into());
        self
    }

    /// With something to unfold.
    #[must_use]
    pub fn with_block(mut self, block: Block) -> Self {
        self.blocks.push(block);
        self
    }
}

/// Something to unfold.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Block {
    /// Plain text.
    Text {
        /// The text.
        text: String,
    },
    /// A change of one file, as a unified diff.
    Diff {
        /// The file, relative to the workspace where it is inside.
        path: String,
        /// The hunks.
        unified: String,
        /// Lines added.
        added: usize,
        /// Lines removed.
        removed: usize,
    },
    /// A command line.
    Command {
        /// As it would be typed.
        command: String,
        /// Where it runs.
        cwd: String,
    },
    /// What the agent means to do, whole, as it is after the call.
    Todo {
        /// In order.
        items: Vec<TodoItem>,
    },
}
