//! Which files a conversation has seen, and in which state.
//!
//! A tool that changes a file refuses one that the model has not read, or that
//! changed since: it would overwrite what nobody looked at. Nothing here decides
//! that; it only knows.

use std::collections::HashMap;
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use blake3::Hash;

/// Larger files are told apart by size and time only.
pub(crate) const HASHED_BYTES: u64 = 50 * 1024 * 1024;

/// The files that a conversation has seen.
#[derive(Debug, Default)]
pub struct FileMemory {
    files: Mutex<HashMap<PathBuf, Seen>>,
}

/// A file at the moment it was seen.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    length: u64,
    modified: Option<SystemTime>,
    hash: Option<Hash>,
}

/// What is known of a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Knowledge {
    /// It has never been seen.
    Unread,
    /// It is as it was when it was seen.
    Current,
    /// It is not.
    Changed,
}

impl Seen {
    /// A file with this metadata and, if it was read to its end, this hash.
    pub(crate) fn new(metadata: &Metadata, hash: Option<Hash>) -> Self {
        Self { length: metadata.len(), modified: metadata.modified().ok(), hash }
    }

    fn is_same(&self, other: &Self) -> bool {
        match (self.hash, other.hash) {
            // A file that was only touched has not changed.
            (Some(one), Some(other)) => one == other,
            _ => self.length == other.length && self.modified == other.modified,
        }
    }
}

impl FileMemory {
    /// Takes a file as seen in the state that it has now; for a conversation that is taken up again.
    /// A file that cannot be read stays unseen.
    pub fn remember_current(&self, path: &Path) {
        if let Ok(seen) = look(path) {
            self.remember(path, seen);
        }
    }

    pub(crate) fn remember(&self, path: &Path, seen: Seen) {
        self.files().insert(path.to_owned(), seen);
    }

    pub(crate) fn knowledge(&self, path: &Path, now: &Seen) -> Knowledge {
        match self.files().get(path) {
            None => Knowledge::Unread,
            Some(seen) if seen.is_same(now) => Knowledge::Current,
            Some(_) => Knowledge::Changed,
        }
    }

    fn files(&self) -> MutexGuard<'_, HashMap<PathBuf, Seen>> {
        self.files.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn look(path: &Path) -> io::Result<Seen> {
    // A pipe would make it wait.
    let metadata = std::fs::metadata(path)?;
    if !metadata.is_file() {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    let hash = match metadata.len() {
        0..=HASHED_BYTES => {
            let mut hasher = blake3::Hasher::new();
            hasher.update_reader(File::open(path)?)?;
            Some(hasher.finalize())
        }
        _ => None,
    };
    Ok(Seen::new(&metadata, hash))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_unread_then_current_then_changed() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        std::fs::write(&path, "one").unwrap();
        let memory = FileMemory::default();
        assert_eq!(memory.knowledge(&path, &look(&path).unwrap()), Knowledge::Unread);
        memory.remember_current(&path);
        assert_eq!(memory.knowledge(&path, &look(&path).unwrap()), Knowledge::Current);
        std::fs::write(&path, "two").unwrap();
        assert_eq!(memory.knowledge(&path, &look(&path).unwrap()), Knowledge::Changed);
        std::fs::write(&path, "one").unwrap();
        assert_eq!(memory.knowledge(&path, &look(&path).unwrap()), Knowledge::Current);
    }

    #[test]
    fn what_is_no_file_stays_unseen() {
        let directory = tempfile::tempdir().unwrap();
        let memory = FileMemory::default();
        memory.remember_current(directory.path());
        memory.remember_current(&directory.path().join("missing"));
        assert!(memory.files().is_empty());
    }
}
