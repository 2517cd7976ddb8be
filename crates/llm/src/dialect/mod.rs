//! Dialects: how models write calls into their text, where a server does not
//! take them out.
//!
//! A dialect is two pure things: a stage that finds words, reasoning and calls
//! in the text of an answer while it arrives, and a way to write tools, calls and
//! results into a request for a model that is not offered tools otherwise. A new
//! one is a file with a [`forms::Form`], a variant here and its line in `forms`.
//!
//! Layout: `stage` sits between a wire's decoder and whoever reads its events;
//! `scanner` holds text back and asks `opening`s; bodies read calls: `json_body`,
//! `parameters` (tags), `disorder` (tags out of order), `python_body`; `offered` and `coerce` match names and fit
//! arguments; `balance`, `literal` and `position` are what they stand on;
//! `spoken` reads a whole text; `render` rewrites requests, and `refusal` tells when it must; `leak` cuts what Harmony spills.

mod balance;
mod coerce;
mod disorder;
mod forms;
mod json_body;
mod json_head;
mod leak;
mod literal;
mod offered;
mod opening;
mod parameters;
mod position;
mod python_body;
mod refusal;
mod render;
mod scanner;
mod spoken;
mod stage;

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

pub(crate) use offered::OfferedTools;
pub(crate) use refusal::refuses_tools;
pub(crate) use render::rendered;
pub(crate) use scanner::Others;
pub use spoken::{Spoken, spoken};
pub(crate) use stage::Stage;

/// A way to write calls into text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Dialect {
    /// `<function_calls><invoke name="…"><parameter name="…">`
    AnthropicXml,
    /// `<tool_call>{"name": …, "arguments": …}</tool_call>`
    Hermes,
    /// `<tool_call><function=…><parameter=…>`
    QwenCoder,
    /// `<｜tool▁calls▁begin｜>` and what follows, of all versions.
    #[serde(rename = "deepseek")]
    DeepSeek,
    /// `<tool_call>name<arg_key>…</arg_key><arg_value>…</arg_value></tool_call>`
    Glm,
    /// `<|tool_calls_section_begin|><|tool_call_begin|>functions.name:0…`
    Kimi,
    /// `<|channel|>commentary to=functions.name<|message|>…`
    Harmony,
    /// A fence of `tool_code` with Python in it.
    Gemini,
    /// `<|tool_call>call:name{…}<tool_call|>`
    Gemma,
    /// `[name(argument="…")]`, or JSON, behind a tag or by itself.
    Llama,
    /// `[TOOL_CALLS]name[ARGS]{…}`, or with a list.
    Mistral,
    /// JSON in a fence, or by itself.
    Json,
}

/// A text that names no dialect.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is no dialect; there are: {known}", known = names())]
pub struct UnknownDialect(pub String);

impl Dialect {
    /// Every dialect.
    pub const ALL: [Dialect; 12] = [
        Dialect::AnthropicXml,
        Dialect::Hermes,
        Dialect::QwenCoder,
        Dialect::DeepSeek,
        Dialect::Glm,
        Dialect::Kimi,
        Dialect::Harmony,
        Dialect::Gemini,
        Dialect::Gemma,
        Dialect::Llama,
        Dialect::Mistral,
        Dialect::Json,
    ];

    /// The word that users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::AnthropicXml => "anthropic-xml",
            Self::Hermes => "hermes",
            Self::QwenCoder => "qwen-coder",
            Self::DeepSeek => "deepseek",
            Self::Glm => "glm",
            Self::Kimi => "kimi",
            Self::Harmony => "harmony",
            Self::Gemini => "gemini",
            Self::Gemma => "gemma",
            Self::Llama => "llama",
            Self::Mistral => "mistral",
            Self::Json => "json",
        }
    }
}

fn names() -> String {
    Dialect::ALL.map(Dialect::name).join(", ")
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

impl FromStr for Dialect {
    type Err = UnknownDialect;
    fn from_str(text: &str) -> Result<Self, UnknownDialect> {
        let found = Self::ALL.into_iter().find(|dialect| dialect.name() == text);
        found.ok_or_else(|| UnknownDialect(text.to_owned()))
    }
}

#[cfg(test)]
mod tests;
