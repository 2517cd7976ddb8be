//! Families of models: what their members have in common, wherever they are
//! served. Data, so that no code tests the name of a model: a pattern of
//! `families.toml` does, and what the entry of a model says comes before it.

use std::sync::OnceLock;

use serde::{Deserialize, Serialize};

use super::{ImageSupport, ModelInfo, Quirks, Thinking, ThinkingStyle};
use crate::dialect::Dialect;

const FILE: &str = include_str!("../../catalog/families.toml");

/// The form in which a model edits files best.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EditForm {
    /// A text, and what it becomes.
    #[default]
    Replace,
    /// Lines by their marks, and what they become.
    Hashline,
    /// A patch of several places at once.
    Patch,
}

/// What models of a family have in common. What is absent is not known.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Family {
    /// Its name.
    pub name: String,
    /// What names of its models hold, in small letters, where a word begins.
    pub patterns: Vec<String>,
    /// The form in which they edit best.
    pub edit: EditForm,
    /// Which instructions suit them.
    pub prompt: String,
    /// How they write calls into text, where the server does not understand calls.
    #[serde(default)]
    pub dialect: Option<Dialect>,
    /// Whether tools have to be described to them in words.
    #[serde(default)]
    pub teach: bool,
    /// Whether their answers begin in the middle of thinking: their template writes the tag that opens it.
    #[serde(default)]
    pub opened: bool,
    /// Whether they call tools.
    #[serde(default)]
    pub tools: Option<bool>,
    /// Whether they think before they answer.
    #[serde(default)]
    pub reasoning: Option<bool>,
    /// Whether they can be sent images.
    #[serde(default)]
    pub images: Option<ImageSupport>,
    /// What an effort means for them, where a provider says nothing about that.
    #[serde(default)]
    pub thinking: Option<Thinking>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    /// When the file was last compared with the world; for people.
    #[serde(rename = "checked")]
    _checked: String,
    family: Vec<Family>,
}

/// The families that come with rein. A file that cannot be read has none; a test keeps that from happening.
pub(super) fn all() -> &'static [Family] {
    static FAMILIES: OnceLock<Vec<Family>> = OnceLock::new();
    FAMILIES.get_or_init(|| match toml::from_str::<File>(FILE) {
        Ok(file) => file.family,
        Err(error) => {
            tracing::error!(%error, "the bundled families of models cannot be read");
            Vec::new()
        }
    })
}

impl Family {
    /// The family with this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        all().iter().find(|family| family.name == name)
    }

    /// The family of a model with this name: the one with the longest pattern in it.
    #[must_use]
    pub fn of(model: &str) -> Option<&'static Self> {
        let model = model.to_lowercase();
        let longest = |family: &Self| {
            family.patterns.iter().filter(|pattern| begins_a_word(&model, pattern)).map(String::len).max()
        };
        all()
            .iter()
            .filter_map(|family| Some((longest(family)?, family)))
            .max_by_key(|(length, _)| *length)
            .map(|(_, family)| family)
    }
}

/// Whether a text holds a pattern that nothing stands before but the end of a word.
fn begins_a_word(text: &str, pattern: &str) -> bool {
    !pattern.is_empty()
        && text.match_indices(pattern).any(|(at, _)| {
            text.get(..at).is_some_and(|before| !before.ends_with(|last: char| last.is_alphanumeric()))
        })
}

impl ModelInfo {
    /// What is known of a model that no table lists: what its family says.
    #[must_use]
    pub fn unlisted(id: &str) -> Self {
        Self { id: id.to_owned(), ..Self::default() }
    }

    /// Its family: the one that its entry names, or the one that its name speaks of.
    #[must_use]
    pub fn family(&self) -> Option<&'static Family> {
        match &self.family {
            Some(name) => Family::named(name),
            None => Family::of(&self.id),
        }
    }

    /// With what its family says where its entry says nothing. What a provider says of thinking comes before the family.
    #[must_use]
    pub fn completed(mut self, provider: &Quirks) -> Self {
        let Some(family) = self.family() else { return self };
        self.family = Some(family.name.clone());
        self.edit = self.edit.or(Some(family.edit));
        self.prompt = self.prompt.or_else(|| Some(family.prompt.clone()));
        self.tools = self.tools.or(family.tools);
        self.reasoning = self.reasoning.or(family.reasoning);
        self.images = self.images.or(family.images);
        if provider.thinking.style == ThinkingStyle::Unasked {
            self.thinking = self.thinking.or_else(|| family.thinking.clone());
        }
        self
    }

    /// With the dialect of its family, unless its entry or its provider names one: whoever does knows better than the
    /// name of the model. For models on this machine and those that no table lists.
    #[must_use]
    pub(crate) fn speaking(mut self, provider: &Quirks) -> Self {
        self.opened = self.opened.or(self.family().filter(|family| family.opened).map(|_| true));
        if self.dialect.or(provider.dialect).is_some() {
            return self;
        }
        let Some(family) = self.family() else { return self };
        self.dialect = family.dialect;
        self.teach = self.teach.or(family.teach.then_some(true));
        self
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn every_family_can_be_read_and_no_two_have_a_name_or_a_pattern_in_common() {
        let file: File = toml::from_str(FILE).unwrap();
        assert!(file.family.len() >= 20);
        let mut seen = HashSet::new();
        for family in &file.family {
            assert!(seen.insert(format!("name {}", family.name)), "{}", family.name);
            for pattern in &family.patterns {
                assert_eq!(pattern, &pattern.to_lowercase());
                assert!(seen.insert(pattern.clone()), "{pattern}");
            }
        }
    }

    #[test]
    fn a_model_belongs_to_the_family_that_its_name_speaks_of_most_closely() {
        for (model, family) in [
            ("gpt-5.4-mini", Some("gpt-5")),
            ("openai/gpt-oss-120b", Some("gpt-oss")),
            ("us.anthropic.claude-haiku-5-5", Some("claude")),
            ("Qwen2.5-Coder-7B-Instruct-Q4_K_M.gguf", Some("qwen-2.5-coder")),
            ("qwen3:8b", Some("qwen")),
            ("accounts/fireworks/models/deepseek-v4-pro", Some("deepseek")),
            ("deepseek-r1-distill-llama-70b", Some("deepseek-r1")),
            ("glm-4.5v", Some("glm-vision")),
            ("gpt-4o", Some("gpt-4o")),
            ("o3-mini", Some("o-series-mini")),
            ("o4-mini", Some("o-series")),
            ("foo3-mini", None),
            ("something", None),
            ("", None),
        ] {
            assert_eq!(Family::of(model).map(|family| family.name.as_str()), family, "{model}");
        }
    }

    #[test]
    fn the_dialect_of_a_family_counts_where_nobody_names_another() {
        let spoken = |model: &str| ModelInfo::unlisted(model).speaking(&Quirks::default());
        for (model, expected) in [
            ("qwen2.5-coder:7b", Some(Dialect::Hermes)),
            ("Qwen/Qwen3-Coder-30B-A3B-Instruct", Some(Dialect::QwenCoder)),
            ("Qwen3.5-35B-A3B", Some(Dialect::QwenCoder)),
            ("DeepSeek-R1-Distill-Qwen-32B", Some(Dialect::Hermes)),
            ("hf.co/unsloth/DeepSeek-V3.1-GGUF", Some(Dialect::DeepSeek)),
            ("zai-org/GLM-4.6", Some(Dialect::Glm)),
            ("Kimi-K2-Instruct", Some(Dialect::Kimi)),
            ("gpt-oss:20b", Some(Dialect::Harmony)),
            ("gemma3:27b", Some(Dialect::Gemini)),
            ("gemma-4-27b-it", Some(Dialect::Gemma)),
            ("llama3.3:70b", Some(Dialect::Llama)),
            ("devstral-small", Some(Dialect::Mistral)),
            ("granite3.3:8b", Some(Dialect::Hermes)),
            ("claude-opus-5", None),
            ("my-own-model", None),
        ] {
            let spoken = spoken(model);
            assert_eq!(
                (spoken.dialect, spoken.teach),
                (expected, model.contains("gemma3").then_some(true)),
                "{model}"
            );
        }
        let named = ModelInfo { dialect: Some(Dialect::Json), ..ModelInfo::unlisted("gemma3:27b") };
        assert_eq!(named.clone().speaking(&Quirks::default()), named);
        let untaught = ModelInfo { teach: Some(false), ..ModelInfo::unlisted("gemma3:27b") };
        assert_eq!(untaught.speaking(&Quirks::default()).teach, Some(false));
        let of_provider = Quirks { dialect: Some(Dialect::Json), ..Quirks::default() };
        let plain = ModelInfo::unlisted("gemma3:27b");
        assert_eq!(plain.clone().speaking(&of_provider), plain);
    }

    #[test]
    fn an_entry_comes_before_its_family_and_a_provider_that_speaks_of_thinking_too() {
        let own = ModelInfo {
            edit: Some(EditForm::Hashline),
            tools: Some(false),
            ..ModelInfo::unlisted("gpt-oss-20b")
        };
        let completed = own.clone().completed(&Quirks::default());
        assert_eq!((completed.edit, completed.tools), (Some(EditForm::Hashline), Some(false)));
        assert_eq!((completed.reasoning, completed.images), (Some(true), Some(ImageSupport::No)));
        assert_eq!(completed.thinking.map(|thinking| thinking.style), Some(ThinkingStyle::Level));
        let spoken = Quirks {
            thinking: Thinking { style: ThinkingStyle::Budget, ..Thinking::default() },
            ..Quirks::default()
        };
        assert_eq!(own.completed(&spoken).thinking, None);
        let unknown = ModelInfo::unlisted("something");
        assert_eq!(unknown.clone().completed(&Quirks::default()), unknown);
        let named = ModelInfo { family: Some("claude".to_owned()), ..ModelInfo::unlisted("mine") };
        assert_eq!(named.completed(&Quirks::default()).edit, Some(EditForm::Replace));
    }
}
