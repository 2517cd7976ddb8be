//! Which files git ignores: the rules of `.ignore`, `.gitignore` and
//! `.git/info/exclude` in a directory, in those above it up to the root of the
//! repository, and in those below it as a walk enters them.
//!
//! Ignore files come with a repository, so they are not trusted: only small
//! regular files are read, only so many bytes of them in one walk, and whatever
//! else has such a name is counted and has no rules.

use std::collections::HashMap;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, PoisonError, RwLock};

use ignore::Match;
use ignore::gitignore::{Gitignore, GitignoreBuilder};

use crate::files::{self, LoadError};

/// Bytes of one ignore file.
const MOST_BYTES: u64 = 1024 * 1024;

/// Lines of one ignore file.
const MOST_LINES: usize = 10_000;

/// Bytes of one line; as long as a path can be.
const MOST_LINE: usize = 4096;

/// Bytes of all ignore files that one walk reads.
const MOST_IN_ALL: u64 = 16 * 1024 * 1024;

/// The rules that hold in the directories of one walk.
pub(crate) struct Ignored {
    /// By directory; those that were entered.
    entered: RwLock<HashMap<OsString, Option<Arc<Rules>>>>,
    /// Bytes that may still be read.
    room: AtomicU64,
    refused: AtomicUsize,
}

/// The rules of one directory, and of those above it.
struct Rules {
    ignore: Gitignore,
    git_ignore: Gitignore,
    git_exclude: Gitignore,
    above: Option<Arc<Rules>>,
}

impl Ignored {
    /// The rules for a walk of `root`, which is a path without links. A file has none.
    pub(crate) fn new(root: &Path) -> Self {
        let this = Self {
            entered: RwLock::default(),
            room: AtomicU64::new(MOST_IN_ALL),
            refused: AtomicUsize::new(0),
        };
        if root.is_dir() {
            let mut directories = Vec::new();
            for directory in root.ancestors() {
                directories.push(directory);
                if directory.join(".git").symlink_metadata().is_ok() {
                    break;
                }
            }
            let rules = directories.iter().rev().fold(None, |above, directory| this.below(directory, above));
            this.enter(root, rules);
        }
        this
    }

    /// Whether what is in a directory that was entered is ignored; if not and it is a directory, it is entered.
    pub(crate) fn covers(&self, path: &Path, kind: std::fs::FileType) -> bool {
        let above = path.parent().and_then(|parent| {
            let entered = self.entered.read().unwrap_or_else(PoisonError::into_inner);
            entered.get(parent.as_os_str()).cloned().flatten()
        });
        if above.as_ref().is_some_and(|rules| rules.cover(path, kind.is_dir())) {
            return true;
        }
        if kind.is_dir() {
            let rules = self.below(path, above);
            self.enter(path, rules);
        }
        false
    }

    /// How many ignore files were not obeyed.
    pub(crate) fn refused(&self) -> usize {
        self.refused.load(Ordering::Relaxed)
    }

    fn enter(&self, directory: &Path, rules: Option<Arc<Rules>>) {
        let mut entered = self.entered.write().unwrap_or_else(PoisonError::into_inner);
        entered.insert(directory.as_os_str().to_owned(), rules);
    }

    /// The rules in a directory, given those above it.
    fn below(&self, directory: &Path, above: Option<Arc<Rules>>) -> Option<Arc<Rules>> {
        let git_exclude = match self.git_directory(directory) {
            Some(git) => self.load(directory, &git.join("info/exclude")),
            None => Gitignore::empty(),
        };
        let ignore = self.load(directory, &directory.join(".ignore"));
        let git_ignore = self.load(directory, &directory.join(".gitignore"));
        // Most directories have no rules of their own.
        if ignore.is_empty() && git_ignore.is_empty() && git_exclude.is_empty() {
            return above;
        }
        Some(Arc::new(Rules { ignore, git_ignore, git_exclude, above }))
    }

    /// Where git keeps what belongs to a work tree; for a linked one it is elsewhere.
    fn git_directory(&self, directory: &Path) -> Option<PathBuf> {
        let git = directory.join(".git");
        git.symlink_metadata().ok()?;
        let git = git.canonicalize().ok()?;
        if git.is_dir() {
            return Some(git);
        }
        let named = self.line(&git)?;
        let own = directory.join(named.strip_prefix("gitdir: ")?).canonicalize().ok()?;
        match self.line(&own.join("commondir")) {
            Some(shared) => own.join(shared).canonicalize().ok(),
            None => Some(own),
        }
    }

    /// The only line of a small file.
    fn line(&self, path: &Path) -> Option<String> {
        String::from_utf8(self.bytes(path)?).ok().map(|text| text.trim_end().to_owned())
    }

    fn load(&self, directory: &Path, path: &Path) -> Gitignore {
        let Some(bytes) = self.bytes(path) else { return Gitignore::empty() };
        let text = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes);
        if memchr::memchr_iter(b'\n', text).count() > MOST_LINES {
            return self.refuse();
        }
        let mut builder = GitignoreBuilder::new(directory);
        let lines = text.split(|byte| *byte == b'\n').filter(|line| line.len() <= MOST_LINE);
        for line in lines.filter_map(|line| std::str::from_utf8(line).ok()) {
            // A line that is no pattern matches nothing, as with git.
            let _ = builder.add_line(None, line);
        }
        builder.build().unwrap_or_else(|_| self.refuse())
    }

    /// What is in a small regular file; nothing if there is none.
    fn bytes(&self, path: &Path) -> Option<Vec<u8>> {
        match files::load(path, MOST_BYTES) {
            Ok(loaded) if self.take_room(loaded.bytes.len() as u64) => Some(loaded.bytes),
            Err(LoadError::Missing) => None,
            Ok(_) | Err(_) => {
                self.refuse();
                None
            }
        }
    }

    fn take_room(&self, bytes: u64) -> bool {
        let less = |room: u64| room.checked_sub(bytes);
        self.room.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less).is_ok()
    }

    fn refuse(&self) -> Gitignore {
        self.refused.fetch_add(1, Ordering::Relaxed);
        Gitignore::empty()
    }
}

impl Rules {
    /// Of each kind of file the nearest one that says something counts, and `.ignore` before git's own.
    fn cover(&self, path: &Path, is_directory: bool) -> bool {
        let nearest = |of: fn(&Rules) -> &Gitignore| {
            let found = std::iter::successors(Some(self), |rules| rules.above.as_deref())
                .map(|rules| of(rules).matched(path, is_directory))
                .find(|found| !found.is_none());
            found.map_or(Match::None, |found| found.map(|_| ()))
        };
        nearest(|rules| &rules.ignore)
            .or(nearest(|rules| &rules.git_ignore))
            .or(nearest(|rules| &rules.git_exclude))
            .is_ignore()
    }
}
