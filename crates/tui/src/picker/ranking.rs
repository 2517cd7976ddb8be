//! The fits of a query among many texts, kept while the query grows.
//!
//! Invariant: the indexes are those that fit the query, best first; equal ones in the order of the texts.

use super::fuzzy::Pattern;

/// What fits a query.
#[derive(Debug, Clone, Default)]
pub(super) struct Ranking {
    query: String,
    pattern: Pattern,
    /// Score and index, best first.
    hits: Vec<(i32, usize)>,
    count: usize,
    /// How many texts were looked at for the last query.
    looked_at: usize,
}

impl Ranking {
    /// Ranks `count` texts for a query; a longer query only looks at what fitted the shorter one.
    pub(super) fn update(
        &mut self,
        query: &str,
        count: usize,
        score: impl Fn(&Pattern, usize) -> Option<i32>,
    ) {
        let pattern = Pattern::new(query);
        let narrower = count == self.count && !self.query.trim().is_empty() && query.starts_with(&self.query);
        let hit = |index: usize| Some((score(&pattern, index)?, index));
        let hits: Vec<(i32, usize)> = match (pattern.is_empty(), narrower) {
            (true, _) => (0..count).map(|index| (0, index)).collect(),
            (false, true) => self.hits.iter().filter_map(|(_, index)| hit(*index)).collect(),
            (false, false) => (0..count).filter_map(hit).collect(),
        };
        self.looked_at = if narrower { self.hits.len() } else { count };
        self.hits = hits;
        self.hits.sort_unstable_by_key(|(score, index)| (-score, *index));
        self.query = query.to_owned();
        self.pattern = pattern;
        self.count = count;
    }

    pub(super) fn pattern(&self) -> &Pattern {
        &self.pattern
    }

    pub(super) fn len(&self) -> usize {
        self.hits.len()
    }

    pub(super) fn get(&self, place: usize) -> Option<usize> {
        self.hits.get(place).map(|(_, index)| *index)
    }

    pub(super) fn indexes(&self) -> impl Iterator<Item = usize> {
        self.hits.iter().map(|(_, index)| *index)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_longer_query_looks_only_at_what_fitted_before() {
        let texts = ["alpha", "beta", "alps", "gamma"];
        let mut ranking = Ranking::default();
        let mut looked = Vec::new();
        for query in ["", "a", "al", "alp", "alpx", "b"] {
            ranking.update(query, texts.len(), |pattern, index| pattern.score(texts[index]));
            looked.push((ranking.looked_at, ranking.len()));
        }
        assert_eq!(looked, [(4, 4), (4, 4), (4, 2), (2, 2), (2, 0), (4, 1)]);
    }
}
