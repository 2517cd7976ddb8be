//! What a model is sent and what it says: provider-neutral messages.
//!
//! A wire codec turns these into a provider's JSON and back. What a provider
//! needs to see again verbatim (signatures, encrypted reasoning) travels in
//! `opaque` values that nobody else reads.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::id::{BlobId, CallId};

/// A model of a provider: `provider/model`. The model part may contain slashes.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, JsonSchema)]
#[schemars(with = "String")]
pub struct ModelRef {
    /// The provider's name in the catalog or in settings.
    pub provider: String,
    /// The name that the provider knows the model by.
    pub model: String,
}

/// Why a text does not name a model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` does not name a model: write `provider/model`, for example `openai/gpt-5`")]
pub struct InvalidModelRef(pub String);

impl FromStr for ModelRef {
    type Err = InvalidModelRef;
    fn from_str(text: &str) -> Result<Self, InvalidModelRef> {
        match text.split_once('/') {
            Some((provider, model)) if !provider.is_empty() && !model.is_empty() => {
                Ok(Self { provider: provider.to_owned(), model: model.to_owned() })
            }
            _ => Err(InvalidModelRef(text.to_owned())),
        }
    }
}

impl fmt::Display for ModelRef {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.provider, self.model)
    }
}

impl Serialize for ModelRef {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for ModelRef {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer)?.parse().map_err(serde::de::Error::custom)
    }
}

/// A piece of what a person or a tool says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Content {
    /// Words.
    Text {
        /// The words.
        text: String,
    },
    /// A picture, kept as a blob.
    Image {
        /// `image/png`, `image/jpeg`, `image/webp` or `image/gif`.
        media_type: String,
        /// Where its bytes are.
        blob: BlobId,
    },
}

impl Content {
    /// Words as content.
    pub fn text(text: impl Into<String>) -> Self {
        Self::Text { text: text.into() }
    }
}

/// The arguments of a tool call as the model wrote them.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum ToolInput {
    /// A JSON object.
    Json {
        /// The object.
        value: Value,
    },
    /// Something that is not a JSON object. Kept as it came, so that the model can be told.
    Malformed {
        /// The text as it came.
        text: String,
        /// What is wrong with it.
        error: String,
    },
}

impl ToolInput {
    /// Reads a model's argument text. Nothing at all means "no arguments".
    #[must_use]
    pub fn parse(text: &str) -> Self {
        if text.trim().is_empty() {
            return Self::Json { value: Value::Object(serde_json::Map::new()) };
        }
        match serde_json::from_str::<Value>(text) {
            Ok(value @ Value::Object(_)) => Self::Json { value },
            Ok(Value::Null) => Self::Json { value: Value::Object(serde_json::Map::new()) },
            Ok(_) => Self::Malformed { text: text.to_owned(), error: "not a JSON object".to_owned() },
            Err(error) => Self::Malformed { text: text.to_owned(), error: error.to_string() },
        }
    }

    /// The argument text for a provider, which may insist on valid JSON.
    #[must_use]
    pub fn to_json_text(&self) -> String {
        match self {
            Self::Json { value } => value.to_string(),
            Self::Malformed { .. } => "{}".to_owned(),
        }
    }
}

/// A call that a model proposes.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolCall {
    /// Ours, unique.
    pub id: CallId,
    /// The provider's, to be sent back to it; not necessarily unique.
    pub wire_id: String,
    /// The tool's name as the model wrote it.
    pub tool: String,
    /// The arguments as the model wrote them.
    pub input: ToolInput,
}

/// A piece of a model's answer.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum AssistantPart {
    /// Words for the person.
    Text {
        /// The words.
        text: String,
    },
    /// Thinking aloud.
    Reasoning {
        /// The readable part; may be empty.
        text: String,
        /// What the provider wants to see again, verbatim.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        opaque: Option<Value>,
    },
    /// A proposed call.
    Call(ToolCall),
}

/// One message of a conversation as a model sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "role", rename_all = "snake_case")]
pub enum Message {
    /// From the person, or from rein on the person's behalf.
    User {
        /// What was said.
        content: Vec<Content>,
    },
    /// From a model.
    Assistant {
        /// Which model said it: reasoning may only go back to the one it came from.
        model: ModelRef,
        /// What it said, in its order.
        parts: Vec<AssistantPart>,
    },
    /// The result of one call.
    Tool {
        /// Which call.
        call: CallId,
        /// The provider's id of that call.
        wire_id: String,
        /// The tool's name.
        tool: String,
        /// What the model is told.
        content: Vec<Content>,
        /// Whether the call did not do what was asked.
        is_error: bool,
    },
}

/// A tool as a model is told of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct ToolSpec {
    /// What the model calls it by.
    pub name: String,
    /// When and how to use it.
    pub description: String,
    /// JSON schema of the arguments, an object.
    pub input_schema: Value,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_model_name_may_contain_slashes() {
        let model: ModelRef = "openrouter/meta/llama-3".parse().unwrap();
        assert_eq!((model.provider.as_str(), model.model.as_str()), ("openrouter", "meta/llama-3"));
        assert_eq!(model.to_string(), "openrouter/meta/llama-3");
        for bad in ["", "gpt", "/gpt", "openai/"] {
            assert!(bad.parse::<ModelRef>().is_err(), "{bad}");
        }
    }

    #[test]
    fn absent_arguments_are_an_empty_object() {
        let empty = ToolInput::Json { value: serde_json::json!({}) };
        for text in ["", "  ", "{}", "null"] {
            assert_eq!(ToolInput::parse(text), empty, "{text:?}");
        }
        assert!(matches!(ToolInput::parse("[1]"), ToolInput::Malformed { .. }));
        assert!(matches!(ToolInput::parse("{\"a\": "), ToolInput::Malformed { .. }));
    }
}
