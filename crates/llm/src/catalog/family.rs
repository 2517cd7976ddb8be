//! What is known of models by their names alone: the dialect of a family.
//!
//! For models that no provider's table lists, such as those that a person serves
//! on their own machine. Data: `families.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::dialect::Dialect;

/// Models that come under many names.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Family {
    /// What is in their names, in small letters, without anything between letters and digits.
    pub(crate) names: Vec<String>,
    /// How they write calls into their text.
    pub(crate) dialect: Dialect,
    /// Whether tools are described to them in words.
    #[serde(default)]
    pub(crate) teach: bool,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Families {
    family: Vec<Family>,
}

static FAMILIES: LazyLock<Vec<Family>> =
    LazyLock::new(|| match toml::from_str::<Families>(include_str!("../../catalog/families.toml")) {
        Ok(families) => families.family,
        Err(error) => {
            tracing::error!(%error, "the families of models cannot be read");
            Vec::new()
        }
    });

/// The family that a model is of, by its name.
pub(crate) fn family_of(model: &str) -> Option<&'static Family> {
    let letters: String =
        model.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect();
    FAMILIES.iter().find(|family| family.names.iter().any(|name| letters.contains(name.as_str())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_are_known_by_the_names_that_people_meet() {
        let dialect = |model: &str| family_of(model).map(|family| family.dialect);
        for (model, expected) in [
            ("qwen2.5-coder:7b", Some(Dialect::Hermes)),
            ("Qwen/Qwen3-Coder-30B-A3B-Instruct", Some(Dialect::QwenCoder)),
            ("hf.co/unsloth/DeepSeek-V3.1-GGUF", Some(Dialect::DeepSeek)),
            ("zai-org/GLM-4.6", Some(Dialect::Glm)),
            ("gpt-oss:20b", Some(Dialect::Harmony)),
            ("gemma3:27b", Some(Dialect::Gemini)),
            ("llama3.3:70b", Some(Dialect::Llama)),
            ("devstral-small", Some(Dialect::Mistral)),
            ("my-own-model", None),
        ] {
            assert_eq!(dialect(model), expected, "{model}");
        }
    }

    #[test]
    fn every_name_is_written_as_names_are_compared() {
        assert!(!FAMILIES.is_empty());
        for name in FAMILIES.iter().flat_map(|family| &family.names) {
            assert!(name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit()), "{name}");
        }
    }
}
