//! Where a path really leads.
//!
//! The gate itself never looks at a disk. Whoever holds a [`crate::Policy`] and
//! has a disk hands in a [`Paths`] that follows links; without one, paths are
//! resolved by text.

use std::fmt;
use std::path::{Component, Path, PathBuf};

/// Says where a path leads.
///
/// A resolver gets absolute paths and must return an absolute path without `.`
/// and `..`, with every link followed as far as the path exists: also a link
/// whose target does not exist, and links in the middle of the path. What it
/// cannot find out it returns as the text says. It never fails, and the same
/// path gives the same answer during one judgement.
pub trait Paths: fmt::Debug + Send + Sync {
    /// The file or directory that is meant.
    fn resolve(&self, path: &Path) -> PathBuf;
}

/// Paths by their text alone.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Lexical;

impl Paths for Lexical {
    fn resolve(&self, path: &Path) -> PathBuf {
        without_process_root(&absolute(path, Path::new("/")))
    }
}

/// The path from `base`, with `.` and `..` resolved by text.
pub(crate) fn absolute(path: &Path, base: &Path) -> PathBuf {
    let mut resolved = PathBuf::new();
    for component in base.join(path).components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir => {
                resolved.pop();
            }
            Component::Prefix(_) | Component::RootDir | Component::Normal(_) => resolved.push(component),
        }
    }
    resolved
}

/// `/proc/self/root/etc` is `/etc`.
fn without_process_root(path: &Path) -> PathBuf {
    let mut path = path.to_path_buf();
    loop {
        let mut components = path.components();
        let root = components.next();
        let names: Vec<_> = components.by_ref().take(3).collect();
        let is = |index: usize, name: &str| {
            names.get(index).is_some_and(|component: &Component<'_>| component.as_os_str() == name)
        };
        if root != Some(Component::RootDir) || names.len() < 3 || !is(0, "proc") || !is(2, "root") {
            return path;
        }
        path = Path::new("/").join(components.as_path());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_alone_takes_dots_and_the_root_of_a_process_away() {
        for (path, expected) in [
            ("/w/./a/../b", "/w/b"),
            ("/w/../../etc", "/etc"),
            ("/proc/self/root/etc/shadow", "/etc/shadow"),
            ("/proc/1/root/proc/self/root/w", "/w"),
            ("/proc/self/rooted/x", "/proc/self/rooted/x"),
            ("/", "/"),
        ] {
            assert_eq!(Lexical.resolve(Path::new(path)), Path::new(expected), "{path}");
        }
    }
}
