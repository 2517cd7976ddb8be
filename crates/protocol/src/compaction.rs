//! What makes room in a model's window: results left out and conversations
//! replaced by a summary, as the journal keeps them, and how full the window is.
//!
//! Nothing here is deleted from the journal: a compaction says from which entry
//! on a conversation is sent as it was, and what stands for everything before.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::id::{CallId, EntryId};
use crate::job::JobInfo;
use crate::message::ModelRef;
use crate::todo::TodoList;
use crate::usage::{Cost, Usage};

/// A result that models are no longer sent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PrunedResult {
    /// Whose result.
    pub call: CallId,
    /// What they are sent in its place.
    pub marker: String,
}

/// The earlier part of a conversation, replaced.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Compaction {
    /// What made it necessary.
    pub reason: CompactionReason,
    /// From this entry on the conversation is sent as it was. Absent: from the compaction itself on.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_kept: Option<EntryId>,
    /// What happened before, in words.
    pub summary: String,
    /// Who wrote the summary.
    pub source: SummarySource,
    /// What is kept as it was, whatever the summary says.
    #[serde(default)]
    pub carried: Carried,
    /// Tokens in the window before, as far as known.
    pub tokens_before: u64,
    /// Tokens in the window after, estimated.
    pub tokens_after: u64,
    /// What the summary used, if a model wrote it and its provider said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usage: Option<Usage>,
    /// What the summary cost.
    #[serde(default = "nothing")]
    pub cost: Cost,
}

fn nothing() -> Cost {
    Cost::ZERO
}

/// What made a compaction necessary.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CompactionReason {
    /// The window was nearly full.
    Threshold,
    /// The provider said that the conversation did not fit.
    Overflow,
    /// A person wanted it.
    Manual,
    /// The model's answer ended because there was no room for more.
    Length,
    /// Nothing had happened for a while, and the window was half full.
    Idle,
}

/// Who wrote a summary.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum SummarySource {
    /// A model.
    Model {
        /// Which.
        model: ModelRef,
    },
    /// rein itself, from the entries, because no model gave a usable one.
    Digest {
        /// Why not.
        why: String,
    },
}

/// What a compaction keeps by structure.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Carried {
    /// What the person said, first to last.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub words: Vec<CarriedWords>,
    /// What the agent meant to do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub todo: Option<TodoList>,
    /// The files that it read or wrote, the last used first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub files: Vec<TouchedFile>,
    /// Commands that still run in the background.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub jobs: Vec<JobInfo>,
    /// Questions that wait for the person, one line each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub asks: Vec<String>,
}

/// Something the person said.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct CarriedWords {
    /// As it was said; the middle of a long text is left out.
    pub text: String,
    /// How many messages before it are not carried.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub skipped: u32,
}

/// serde hands over a reference.
#[allow(clippy::trivially_copy_pass_by_ref)]
fn is_zero(count: &u32) -> bool {
    *count == 0
}

/// A file that the agent used.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TouchedFile {
    /// Which.
    #[serde(with = "crate::path_text")]
    #[schemars(with = "String")]
    pub path: PathBuf,
    /// How.
    pub touch: Touch,
}

/// How a file was used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Touch {
    /// It was read.
    Read,
    /// It was written.
    Write,
    /// Both.
    ReadWrite,
}

impl Touch {
    /// The mark in a list of files.
    #[must_use]
    pub fn mark(self) -> &'static str {
        match self {
            Self::Read => "Read",
            Self::Write => "Write",
            Self::ReadWrite => "RW",
        }
    }

    /// Used this way and that.
    #[must_use]
    pub fn and(self, other: Self) -> Self {
        if self == other { self } else { Self::ReadWrite }
    }
}

/// How full a model's window is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ContextUse {
    /// Tokens that the next request has, as far as known.
    pub used: u64,
    /// Of those, the ones of instructions and tools, estimated.
    pub base: u64,
    /// Tokens that fit into the window, if that is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<u64>,
    /// Of those, the ones that a conversation may have before room is made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub usable: Option<u64>,
}
