//! Which branch a directory is on, read from git's own files.
//!
//! Nothing is run, and nothing is read but two small files.

use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};

/// More than git writes into the files that are read.
const LIMIT: u64 = 4096;

/// The branch, or the beginning of the commit if there is none; nothing outside of a repository.
pub(crate) fn of(directory: &Path) -> Option<String> {
    let git = directory.ancestors().find_map(git_directory)?;
    let head = small(&git.join("HEAD"))?;
    let head = head.trim();
    match head.strip_prefix("ref:") {
        Some(name) => {
            let name = name.trim();
            Some(name.strip_prefix("refs/heads/").unwrap_or(name).to_owned())
        }
        None => head.get(..7).map(str::to_owned),
    }
}

fn git_directory(directory: &Path) -> Option<PathBuf> {
    let place = directory.join(".git");
    if place.is_dir() {
        return Some(place);
    }
    // A worktree or a submodule: a file says where.
    let text = small(&place)?;
    Some(directory.join(text.trim().strip_prefix("gitdir:")?.trim()))
}

fn small(file: &Path) -> Option<String> {
    // A pipe in its place would never end.
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut text = String::new();
    File::open(file).ok()?.take(LIMIT).read_to_string(&mut text).ok()?;
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn the_branch_is_found_from_below_in_worktrees_and_without_one() {
        let root = tempfile::tempdir().unwrap();
        let inner = root.path().join("a/b");
        fs::create_dir_all(&inner).unwrap();
        assert_eq!(of(Path::new("/proc/self")), None);
        fs::create_dir(root.path().join(".git")).unwrap();
        fs::write(root.path().join(".git/HEAD"), "ref: refs/heads/topic/one\n").unwrap();
        assert_eq!(of(&inner).as_deref(), Some("topic/one"));
        fs::write(root.path().join(".git/HEAD"), "0123456789abcdef0123456789abcdef01234567\n").unwrap();
        assert_eq!(of(&inner).as_deref(), Some("0123456"));
        fs::create_dir_all(root.path().join(".git/worktrees/w")).unwrap();
        fs::write(root.path().join(".git/worktrees/w/HEAD"), "ref: refs/heads/w\n").unwrap();
        fs::write(inner.join(".git"), "gitdir: ../../.git/worktrees/w\n").unwrap();
        assert_eq!(of(&inner).as_deref(), Some("w"));
        fs::write(root.path().join(".git/worktrees/w/HEAD"), [0xff, 0xfe]).unwrap();
        assert_eq!(of(&inner), None);
    }
}
