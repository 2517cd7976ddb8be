//! Which files a workspace has, for completion: those that git does not ignore.

use std::path::Path;

use ignore::WalkBuilder;

use crate::neutral::is_harmless;
use crate::picker::files::{self, FileIndex};

/// More than anybody finds by a few letters.
const LIMIT: usize = 200_000;

/// Looks below a directory. Takes as long as it takes: not for the thread with the keys.
#[must_use]
pub fn find(workspace: &Path) -> FileIndex {
    files::index(|report| {
        let walk = WalkBuilder::new(workspace).require_git(false).build();
        for entry in walk.flatten().take(LIMIT) {
            let Ok(path) = entry.path().strip_prefix(workspace) else { continue };
            let Some(text) = path.to_str().filter(|text| !text.is_empty()) else { continue };
            // A name that a terminal would obey is not one to be completed.
            if !text.chars().all(is_harmless) {
                continue;
            }
            let directory = entry.file_type().is_some_and(|kind| kind.is_dir());
            report(if directory { format!("{text}/") } else { text.to_owned() });
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ignored_and_hidden_files_are_not_offered() {
        let home = tempfile::tempdir().unwrap();
        for (name, text) in [(".gitignore", "target\n"), ("src/main.rs", ""), ("target/x", ""), (".env", "")]
        {
            let path = home.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let mut index = find(home.path());
        let hits: Vec<&str> = index.rank("", 10).into_iter().map(|hit| hit.path).collect();
        assert_eq!(hits, ["src/", "src/main.rs"]);
    }
}
