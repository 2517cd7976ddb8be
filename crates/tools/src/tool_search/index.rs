//! Which texts fit some words best: BM25 over weighted fields. Pure.

use std::collections::HashMap;

/// How quickly more of the same word stops to count.
const SATURATION: f64 = 1.2;

/// How much the length of a text counts.
const LENGTH: f64 = 0.75;

/// Texts that can be searched.
#[derive(Debug, Default)]
pub(super) struct Index {
    texts: Vec<HashMap<String, f64>>,
    /// In how many texts a word is.
    spread: HashMap<String, usize>,
    average: f64,
}

impl Index {
    /// Adds a text of fields, each with how much it counts.
    pub(super) fn add(&mut self, fields: &[(&str, f64)]) {
        let mut words: HashMap<String, f64> = HashMap::new();
        for (text, weight) in fields {
            for word in words_of(text) {
                *words.entry(word).or_default() += weight;
            }
        }
        for word in words.keys() {
            *self.spread.entry(word.clone()).or_default() += 1;
        }
        let before = self.average * self.texts.len() as f64;
        let length: f64 = words.values().sum();
        self.texts.push(words);
        self.average = (before + length) / self.texts.len() as f64;
    }

    /// The texts that fit best, by their places, best first.
    pub(super) fn best(&self, query: &str, most: usize) -> Vec<usize> {
        let mut wanted = words_of(query);
        wanted.sort_unstable();
        wanted.dedup();
        let mut scored: Vec<(f64, usize)> = self
            .texts
            .iter()
            .enumerate()
            .map(|(place, text)| (wanted.iter().map(|word| self.score(word, text)).sum(), place))
            .filter(|(score, _)| *score > 0.0)
            .collect();
        scored.sort_by(|(a, first), (b, second)| b.total_cmp(a).then(first.cmp(second)));
        scored.into_iter().take(most).map(|(_, place)| place).collect()
    }

    fn score(&self, word: &str, text: &HashMap<String, f64>) -> f64 {
        let Some(count) = text.get(word) else { return 0.0 };
        let (all, with) = (self.texts.len() as f64, self.spread.get(word).copied().unwrap_or(0) as f64);
        let rarity = (1.0 + (all - with + 0.5) / (with + 0.5)).ln();
        let length: f64 = text.values().sum();
        let norm = SATURATION * (1.0 - LENGTH + LENGTH * length / self.average.max(1.0));
        rarity * count * (SATURATION + 1.0) / (count + norm)
    }
}

/// The words of a text: apart at what is no letter or digit and before capitals, without their plural.
fn words_of(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for character in text.chars() {
        let splits = !character.is_alphanumeric() || (character.is_uppercase() && was_lower);
        if splits {
            words.push(String::new());
        }
        was_lower = character.is_lowercase();
        if character.is_alphanumeric()
            && let Some(word) = words.last_mut()
        {
            word.extend(character.to_lowercase());
        }
    }
    words.retain(|word| !word.is_empty());
    for word in &mut words {
        if word.len() > 3 && word.ends_with('s') && !word.ends_with("ss") {
            word.pop();
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_every_spelling_of_a_name() {
        assert_eq!(
            words_of("createPullRequests-v2, list_issues"),
            ["create", "pull", "request", "v2", "list", "issue"]
        );
    }

    #[test]
    fn rare_words_and_names_count_more() {
        let mut index = Index::default();
        index.add(&[("github_create_issue", 6.0), ("Opens an issue in a repository.", 2.0)]);
        index.add(&[("github_list_issues", 6.0), ("Lists the issues of a repository.", 2.0)]);
        index.add(&[("slack_post", 6.0), ("Posts a message about an issue to a channel.", 2.0)]);
        assert_eq!(index.best("create an issue", 3)[0], 0);
        assert_eq!(index.best("message", 3), [2]);
        assert_eq!(index.best("list issues", 1), [1]);
        assert_eq!(index.best("weather", 3), [0_usize; 0]);
        assert_eq!(index.best("", 3), [0_usize; 0]);
    }
}
