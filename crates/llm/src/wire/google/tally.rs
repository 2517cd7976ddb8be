//! Token counts. Thoughts are counted beside the answer, what a cache served
//! within the prompt.

use rein_protocol::Usage;
use serde::Deserialize;

/// Counts as the provider sends them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(default)]
pub(super) struct Counts {
    #[serde(rename = "promptTokenCount")]
    pub prompt: Option<u64>,
    #[serde(rename = "cachedContentTokenCount")]
    pub cached: Option<u64>,
    #[serde(rename = "candidatesTokenCount")]
    pub said: Option<u64>,
    #[serde(rename = "thoughtsTokenCount")]
    pub thoughts: Option<u64>,
    #[serde(rename = "toolUsePromptTokenCount")]
    pub tools: Option<u64>,
    #[serde(rename = "totalTokenCount")]
    pub total: Option<u64>,
}

impl Counts {
    /// What was used, if anything is said of it. A prompt that is not counted is what the total leaves for it.
    pub(super) fn usage(&self) -> Option<Usage> {
        let output = self.said.unwrap_or(0).saturating_add(self.thoughts.unwrap_or(0));
        let (tools, cached) = (self.tools.unwrap_or(0), self.cached.unwrap_or(0));
        let prompt = match (self.prompt, self.total) {
            (Some(prompt), _) => prompt,
            (None, Some(total)) => total.saturating_sub(output).saturating_sub(tools),
            (None, None) => self.said.or(self.thoughts).map(|_| 0)?,
        };
        Some(Usage {
            input: prompt.saturating_sub(cached).saturating_add(tools),
            output,
            reasoning: self.thoughts.unwrap_or(0),
            cache_read: cached,
            cache_write: 0,
            cache_write_hour: 0,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_are_disjoint_and_what_is_missing_is_found_where_it_can_be() {
        let usage =
            |counts: Counts| counts.usage().map(|usage| (usage.input, usage.output, usage.cache_read));
        let counts = Counts {
            prompt: Some(10),
            cached: Some(4),
            said: Some(3),
            thoughts: Some(2),
            ..Counts::default()
        };
        assert_eq!(usage(counts), Some((6, 5, 4)));
        let total = Counts { prompt: None, cached: None, total: Some(15), ..counts };
        assert_eq!(usage(total), Some((10, 5, 0)));
        assert_eq!(usage(Counts { tools: Some(7), ..counts }), Some((13, 5, 4)));
        assert_eq!(usage(Counts::default()), None);
        let absurd = Counts { said: Some(u64::MAX), thoughts: Some(1), ..Counts::default() };
        assert_eq!(usage(absurd), Some((0, u64::MAX, 0)));
    }
}
