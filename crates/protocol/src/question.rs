//! Something that the model asks the person, and what the person says.
//!
//! A question travels as an [`crate::Ask`] of the call that puts it, so that it
//! is durable, can be answered by any face and is withdrawn with its call.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A question of the model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Question {
    /// The question.
    pub text: String,
    /// Answers to choose from; words of one's own are always possible.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub choices: Vec<Choice>,
    /// How many of them may be chosen.
    #[serde(default)]
    pub selection: Selection,
    /// After how many seconds the model goes on without an answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub timeout: Option<u64>,
}

/// An answer to choose.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Choice {
    /// A few words.
    pub label: String,
    /// What it would mean.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
}

/// How many choices an answer may name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Selection {
    /// One.
    #[default]
    One,
    /// Any number.
    Several,
}

/// What a person said to a question.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Said {
    /// The labels that were chosen.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<String>,
    /// Words of one's own.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
}

impl Said {
    /// Whether nothing was said at all.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.chosen.is_empty() && self.text.as_deref().is_none_or(|text| text.trim().is_empty())
    }
}
