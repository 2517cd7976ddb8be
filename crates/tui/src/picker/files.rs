//! Ranking of paths for `@` completion.
//!
//! Owns the paths and how well they fit; walking the disk is for others.

use super::ranking::Ranking;

/// Paths that can be found by a few of their letters.
#[derive(Debug, Clone, Default)]
pub struct FileIndex {
    paths: Vec<String>,
    ranking: Ranking,
}

/// A path that fits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hit<'a> {
    /// The path.
    pub path: &'a str,
    /// Byte offsets of the characters that fit.
    pub positions: Vec<usize>,
}

/// An index of the paths that a walk reports, relative to its root, directories with a `/` at the end.
pub fn index(walk: impl FnOnce(&mut dyn FnMut(String))) -> FileIndex {
    let mut paths = Vec::new();
    walk(&mut |path| paths.push(path));
    FileIndex::new(paths)
}

impl FileIndex {
    /// An index of some paths.
    pub fn new(mut paths: Vec<String>) -> Self {
        // Of equal fits the shorter path comes first, so shorter ones are kept first.
        paths.sort_by(|one, other| one.len().cmp(&other.len()).then_with(|| one.cmp(other)));
        paths.dedup();
        Self { paths, ranking: Ranking::default() }
    }

    /// How many paths there are.
    pub fn len(&self) -> usize {
        self.paths.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.paths.is_empty()
    }

    /// The best paths for a query. Typing on is cheaper than beginning anew.
    pub fn rank(&mut self, query: &str, limit: usize) -> Vec<Hit<'_>> {
        let paths = &self.paths;
        self.ranking.update(query, paths.len(), |pattern, index| pattern.score_path(paths.get(index)?));
        let pattern = self.ranking.pattern();
        let best = self.ranking.indexes().take(limit).filter_map(|index| paths.get(index));
        best.map(|path| Hit { path, positions: pattern.path_positions(path) }).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_walk_is_ranked_and_shorter_paths_win() {
        let walk = |found: &mut dyn FnMut(String)| {
            for path in
                ["src/editor/mod.rs", "src/", "docs/editor.md", "src/editor/", "src/lib.rs", "src/lib.rs"]
            {
                found(path.to_owned());
            }
        };
        let mut index = index(walk);
        assert_eq!(index.len(), 5);
        let paths = |hits: Vec<Hit<'_>>| hits.into_iter().map(|hit| hit.path.to_owned()).collect::<Vec<_>>();
        assert_eq!(paths(index.rank("edi", 10)), ["src/editor/", "docs/editor.md", "src/editor/mod.rs"]);
        assert_eq!(paths(index.rank("edim", 1)), ["docs/editor.md"]);
        assert_eq!(index.rank("lib", 10), [Hit { path: "src/lib.rs", positions: vec![4, 5, 6] }]);
    }
}
