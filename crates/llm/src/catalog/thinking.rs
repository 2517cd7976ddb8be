//! How much a model thinks: what an effort means for it.

use std::collections::BTreeMap;

use serde::Deserialize;

use crate::request::Effort;

/// How a model is told how much to think.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Thinking {
    /// In what words.
    pub style: ThinkingStyle,
    /// Tokens for as little thinking as it can, where thinking is counted in tokens.
    pub minimal: u64,
    /// Tokens for little thinking, where thinking is counted in tokens.
    pub low: u64,
    /// Tokens for some.
    pub medium: u64,
    /// Tokens for much.
    pub high: u64,
    /// Tokens for as much as it can.
    pub max: u64,
    /// The most effort that it knows a word for, where thinking is said in words.
    pub highest: Effort,
    /// Whether it cannot be told not to think.
    pub always: bool,
    /// In what form its thinking is to be shown, where that can be chosen.
    pub display: Option<String>,
    /// Its own words for efforts, where they are not the usual ones.
    pub words: BTreeMap<Effort, String>,
    /// What stands for the signature of a call that it did not make itself, where it insists on one.
    pub stand_in: Option<String>,
}

impl Default for Thinking {
    fn default() -> Self {
        Self {
            style: ThinkingStyle::Unasked,
            minimal: 1_024,
            low: 4_096,
            medium: 10_240,
            high: 24_576,
            max: 32_768,
            highest: Effort::High,
            always: false,
            display: None,
            words: BTreeMap::new(),
            stand_in: None,
        }
    }
}

/// In what words a model is told how much to think.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ThinkingStyle {
    /// In none: it does as it does.
    #[default]
    Unasked,
    /// As a number of tokens.
    Budget,
    /// As a word; the model decides how much it needs.
    Adaptive,
    /// As a word for how far it may go.
    Level,
}

impl Thinking {
    /// The tokens that an effort means.
    #[must_use]
    pub fn budget(&self, effort: Effort) -> u64 {
        match effort {
            Effort::Off => 0,
            Effort::Minimal => self.minimal,
            Effort::Low => self.low,
            Effort::Medium => self.medium,
            Effort::High => self.high,
            Effort::Max => self.max,
        }
    }

    /// The word for an effort: its own, or the usual one.
    #[must_use]
    pub fn level(&self, effort: Effort) -> &str {
        self.words.get(&effort).map_or_else(|| self.word(effort), String::as_str)
    }

    /// The word for an effort, no stronger than the model knows.
    #[must_use]
    pub fn word(&self, effort: Effort) -> &'static str {
        match effort.min(self.highest) {
            Effort::Off | Effort::Minimal | Effort::Low => "low",
            Effort::Medium => "medium",
            Effort::High => "high",
            Effort::Max => "max",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_effort_is_a_number_or_a_word_that_the_model_knows() {
        let thinking = Thinking::default();
        assert_eq!((thinking.budget(Effort::Minimal), thinking.budget(Effort::Max)), (1_024, 32_768));
        assert_eq!((thinking.word(Effort::Max), thinking.word(Effort::Minimal)), ("high", "low"));
        let stronger = Thinking { highest: Effort::Max, ..thinking };
        assert_eq!(stronger.word(Effort::Max), "max");
        let own = Thinking { words: [(Effort::Off, "none".to_owned())].into(), ..stronger };
        assert_eq!((own.level(Effort::Off), own.level(Effort::High)), ("none", "high"));
    }
}
