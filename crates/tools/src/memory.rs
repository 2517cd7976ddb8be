//! Which files a conversation has seen, and in which state.
//!
//! A tool that changes a file refuses one that the model has not read, or that
//! changed since: it would overwrite what nobody looked at. Nothing here decides
//! that; it only knows.

use std::collections::{HashMap, VecDeque};
use std::fs::{File, Metadata};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::SystemTime;

use blake3::Hash;

/// Larger files are told apart by size and time only.
pub(crate) const HASHED_BYTES: u64 = 50 * 1024 * 1024;

/// A text beyond this is not kept.
const TEXT_BYTES: usize = 2 * 1024 * 1024;

/// All texts together.
const ALL_TEXT_BYTES: usize = 32 * 1024 * 1024;

/// The files that a conversation has seen.
#[derive(Debug, Default)]
pub struct FileMemory {
    files: Mutex<HashMap<PathBuf, Seen>>,
    texts: Mutex<Texts>,
}

/// What files said when they were seen, as far as there is room: the oldest make room for others.
#[derive(Debug, Default)]
struct Texts {
    kept: HashMap<PathBuf, Arc<str>>,
    /// The oldest first.
    order: VecDeque<PathBuf>,
    bytes: usize,
}

impl Texts {
    fn forget(&mut self, path: &Path) {
        if let Some(text) = self.kept.remove(path) {
            self.bytes -= text.len();
            self.order.retain(|other| other != path);
        }
    }

    fn keep(&mut self, path: &Path, text: &str) {
        self.forget(path);
        if text.len() > TEXT_BYTES {
            return;
        }
        self.bytes += text.len();
        self.kept.insert(path.to_owned(), Arc::from(text));
        self.order.push_back(path.to_owned());
        while self.bytes > ALL_TEXT_BYTES
            && let Some(oldest) = self.order.front().cloned()
        {
            self.forget(&oldest);
        }
    }
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
        // What is kept of it may be another state of it.
        self.texts().forget(path);
    }

    /// The same with the whole text of the file, without its byte order mark, so that it can be said later
    /// what has changed since.
    pub(crate) fn remember_text(&self, path: &Path, seen: Seen, text: &str) {
        self.files().insert(path.to_owned(), seen);
        self.texts().keep(path, text);
    }

    /// What a file said when it was seen, if that was kept.
    pub(crate) fn text_of(&self, path: &Path) -> Option<Arc<str>> {
        self.texts().kept.get(path).cloned()
    }

    /// Takes a file as not seen, because it is gone.
    pub(crate) fn forget(&self, path: &Path) {
        self.files().remove(path);
        self.texts().forget(path);
    }

    pub(crate) fn knowledge(&self, path: &Path, now: &Seen) -> Knowledge {
        match self.files().get(path) {
            None => Knowledge::Unread,
            Some(seen) if seen.is_same(now) => Knowledge::Current,
            Some(_) => Knowledge::Changed,
        }
    }

    fn texts(&self) -> MutexGuard<'_, Texts> {
        self.texts.lock().unwrap_or_else(PoisonError::into_inner)
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
    fn texts_are_kept_while_there_is_room() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("file");
        std::fs::write(&file, "").unwrap();
        let seen = look(&file).unwrap();
        let memory = FileMemory::default();
        let path = |index: usize| PathBuf::from(format!("/{index}"));
        let text = "x".repeat(TEXT_BYTES);
        for index in 0..20 {
            memory.remember_text(&path(index), seen.clone(), &text);
        }
        let kept: Vec<usize> = (0..20).filter(|index| memory.text_of(&path(*index)).is_some()).collect();
        assert_eq!(kept, (4..20).collect::<Vec<_>>(), "the oldest are gone");
        memory.remember_text(&path(19), seen.clone(), &format!("{text}x"));
        assert_eq!(memory.text_of(&path(19)), None, "too large, and the old text would be wrong");
        memory.remember(&path(18), seen.clone());
        assert_eq!(memory.text_of(&path(18)), None);
        assert_eq!(memory.texts().bytes, 14 * TEXT_BYTES);
        memory.forget(&path(17));
        assert_eq!(memory.knowledge(&path(17), &seen), Knowledge::Unread);
        assert_eq!(memory.knowledge(&path(16), &seen), Knowledge::Current);
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
