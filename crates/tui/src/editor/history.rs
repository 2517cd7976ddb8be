//! What was submitted before, and finding it again.
//!
//! Owns the entries and their form as lines of a file; where the file is and when it is written is for others.
//! Invariant: no entry occurs twice, none is blank, at most [`History::LIMIT`] are kept, the newest last.

use std::collections::HashSet;

/// Submitted texts, oldest first.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct History {
    entries: Vec<String>,
}

impl History {
    /// How many entries are kept.
    pub const LIMIT: usize = 10_000;

    /// Reads entries from the lines of a file, one entry a line as [`History::encode`] wrote it.
    pub fn load(file: &str) -> Self {
        let mut seen = HashSet::new();
        let mut entries: Vec<String> = file
            .lines()
            .rev()
            .map(decode)
            .filter(|entry| !entry.trim().is_empty() && seen.insert(entry.clone()))
            .take(Self::LIMIT)
            .collect();
        entries.reverse();
        Self { entries }
    }

    /// The whole history as the text of a file.
    pub fn save(&self) -> String {
        self.entries.iter().map(|entry| Self::encode(entry) + "\n").collect()
    }

    /// One entry as one line, to append to a file.
    pub fn encode(entry: &str) -> String {
        entry.replace('\\', "\\\\").replace('\n', "\\n").replace('\r', "\\r")
    }

    /// Adds an entry as the newest; an equal one before it is forgotten.
    pub fn push(&mut self, entry: &str) {
        if entry.trim().is_empty() {
            return;
        }
        self.entries.retain(|other| other != entry);
        self.entries.push(entry.to_owned());
        if self.entries.len() > Self::LIMIT {
            self.entries.remove(0);
        }
    }

    /// The entries, oldest first.
    pub fn entries(&self) -> &[String] {
        &self.entries
    }

    /// The newest entry before the one at `before` that begins with `prefix`.
    pub(crate) fn older(&self, before: usize, prefix: &str) -> Option<(usize, &str)> {
        let entries = self.entries.get(..before.min(self.entries.len())).unwrap_or_default();
        let index = entries.iter().rposition(|entry| entry.starts_with(prefix))?;
        Some((index, entries.get(index)?))
    }

    /// The oldest entry after the one at `after` that begins with `prefix`.
    pub(crate) fn newer(&self, after: usize, prefix: &str) -> Option<(usize, &str)> {
        let mut entries = self.entries.iter().enumerate().skip(after.saturating_add(1));
        let (index, entry) = entries.find(|(_, entry)| entry.starts_with(prefix))?;
        Some((index, entry))
    }

    /// The newest entry at or before `from` that contains `query`, letter case ignored.
    pub(crate) fn search_older(&self, from: usize, query: &str) -> Option<(usize, &str)> {
        let query = query.to_lowercase();
        let entries = self.entries.get(..=from.min(self.entries.len().checked_sub(1)?))?;
        let index = entries.iter().rposition(|entry| entry.to_lowercase().contains(&query))?;
        Some((index, entries.get(index)?))
    }

    /// The oldest entry at or after `from` that contains `query`, letter case ignored.
    pub(crate) fn search_newer(&self, from: usize, query: &str) -> Option<(usize, &str)> {
        let query = query.to_lowercase();
        let mut entries = self.entries.iter().enumerate().skip(from);
        let (index, entry) = entries.find(|(_, entry)| entry.to_lowercase().contains(&query))?;
        Some((index, entry))
    }
}

fn decode(line: &str) -> String {
    let mut entry = String::with_capacity(line.len());
    let mut characters = line.chars();
    while let Some(c) = characters.next() {
        match c {
            '\\' => match characters.next() {
                Some('n') => entry.push('\n'),
                Some('r') => entry.push('\r'),
                Some('\\') | None => entry.push('\\'),
                Some(other) => entry.extend(['\\', other]),
            },
            c => entry.push(c),
        }
    }
    entry
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entries_of_many_lines_survive_the_file() {
        let mut history = History::default();
        for entry in ["one\ntwo\\n", "back\\slash", " \t", "é\r\nü", "one\ntwo\\n"] {
            history.push(entry);
        }
        assert_eq!(history.entries(), ["back\\slash", "é\r\nü", "one\ntwo\\n"]);
        assert_eq!(history.save().lines().count(), 3);
        assert_eq!(History::load(&history.save()), history);
    }

    #[test]
    fn the_newest_of_equal_entries_is_kept_and_the_oldest_go_first() {
        let file: String = (0..History::LIMIT + 5).map(|n| format!("entry {n}\n")).collect();
        let history = History::load(&(file + "entry 7\n\n"));
        assert_eq!(history.entries().len(), History::LIMIT);
        assert_eq!(history.entries().last().unwrap(), "entry 7");
        assert_eq!(history.entries().first().unwrap(), "entry 5");
    }

    #[test]
    fn prefixes_and_searches_find_older_and_newer() {
        let history = History::load("cargo test\ngit log\nCargo build\ngit status\n");
        assert_eq!(history.older(4, "git"), Some((3, "git status")));
        assert_eq!(history.older(3, "git"), Some((1, "git log")));
        assert_eq!(history.newer(1, "git"), Some((3, "git status")));
        assert_eq!(history.search_older(3, "cargo"), Some((2, "Cargo build")));
        assert_eq!(history.search_newer(0, "S"), Some((0, "cargo test")));
        assert_eq!(History::default().search_older(0, ""), None);
    }
}
