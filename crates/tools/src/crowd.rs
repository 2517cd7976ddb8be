//! Where most of what was found is, so that the next search can be narrower.
//!
//! Counts by directory; leaves what is counted to its users. Says nothing when
//! there is nothing to choose from.

use std::collections::HashMap;
use std::path::{Component, Path, PathBuf};

use crate::path::printable;

/// Directories that are named.
const NAMED: usize = 4;

/// How much was found in which directory, by paths relative to where it was looked for.
#[derive(Debug, Default)]
pub(crate) struct Crowd {
    by_directory: HashMap<PathBuf, usize>,
}

impl Crowd {
    /// So much more was found in a file.
    pub(crate) fn add(&mut self, file: &Path, count: usize) {
        let directory = file.parent().unwrap_or(Path::new(""));
        match self.by_directory.get_mut(directory) {
            Some(known) => *known += count,
            None => {
                self.by_directory.insert(directory.to_owned(), count);
            }
        }
    }

    /// The directories with most of it, below one that is shown like this: `most in src/a (12), src/b (3)`.
    pub(crate) fn hint(&self, root: &str) -> Option<String> {
        let mut base = PathBuf::new();
        loop {
            let groups = self.groups(&base);
            match groups.as_slice() {
                [] => return None,
                // There is no choice here, but there may be one below.
                [(Some(only), _)] => base.push(only),
                [(None, _)] => return None,
                several => return Some(told(several, &base, root)),
            }
        }
    }

    /// How much is in each directory right below `base`, the most first; `None` is `base` itself.
    fn groups(&self, base: &Path) -> Vec<(Option<PathBuf>, usize)> {
        let mut groups: HashMap<Option<PathBuf>, usize> = HashMap::new();
        for (directory, count) in &self.by_directory {
            let Ok(rest) = directory.strip_prefix(base) else { continue };
            let next = rest.components().next().map(|part: Component<'_>| PathBuf::from(part.as_os_str()));
            *groups.entry(next).or_default() += count;
        }
        let mut groups: Vec<_> = groups.into_iter().collect();
        groups.sort_by(|(first, a), (second, b)| b.cmp(a).then(first.cmp(second)));
        groups
    }
}

fn told(groups: &[(Option<PathBuf>, usize)], base: &Path, root: &str) -> String {
    let root = if root == "." { Path::new("") } else { Path::new(root) };
    let named: Vec<String> = groups
        .iter()
        .filter_map(|(next, count)| {
            let path = root.join(base).join(next.as_ref()?);
            Some(format!("{} ({count})", printable(&path.to_string_lossy())))
        })
        .take(NAMED)
        .collect();
    format!("most in {}", named.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn crowd(files: &[(&str, usize)]) -> Crowd {
        let mut crowd = Crowd::default();
        for (file, count) in files {
            crowd.add(Path::new(file), *count);
        }
        crowd
    }

    #[test]
    fn the_directories_with_most_are_named_where_there_is_a_choice() {
        let found =
            crowd(&[("src/a/x.rs", 2), ("src/a/deep/y.rs", 5), ("src/b/z.rs", 9), ("src/main.rs", 1)]);
        assert_eq!(found.hint("."), Some("most in src/b (9), src/a (7)".to_owned()));
        assert_eq!(found.hint("crates/x"), Some("most in crates/x/src/b (9), crates/x/src/a (7)".to_owned()));
    }

    #[test]
    fn nothing_is_said_where_all_is_in_one_place() {
        assert_eq!(crowd(&[("a.rs", 3), ("b.rs", 4)]).hint("."), None);
        assert_eq!(crowd(&[("src/a.rs", 3)]).hint("."), None);
        assert_eq!(Crowd::default().hint("."), None);
    }
}
