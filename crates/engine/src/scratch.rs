//! The directories of one conversation that are no journal: what commands take
//! for `/tmp`, what shells leave behind, the logs of jobs, and texts as the
//! model saw them.
//!
//! All but the last go with the conversation. What a process that was killed
//! left is cleared away by a later one, once it is old.

use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rein_protocol::SessionId;
use rein_tools::Snapshots;

/// What is older than this and still there belongs to nobody any more.
const OLD: Duration = Duration::from_secs(14 * 24 * 60 * 60);

/// Texts of a conversation are kept up to this size.
const MOST_SNAPSHOTS: u64 = 64 << 20;

/// The directories of a conversation.
#[derive(Debug, Clone)]
pub(crate) struct Scratch {
    root: PathBuf,
}

impl Scratch {
    /// Where they are below the store's own directory. Nothing is made yet.
    pub(crate) fn of(store: &Path, session: &SessionId) -> Self {
        Self { root: store.join("scratch").join(session.to_string()) }
    }

    /// What commands take for `/tmp`.
    pub(crate) fn temporary(&self) -> io::Result<PathBuf> {
        self.made("tmp")
    }

    /// Where shells leave what later ones need.
    pub(crate) fn shell(&self) -> io::Result<PathBuf> {
        self.made("shell")
    }

    /// Where jobs log.
    pub(crate) fn jobs(&self) -> io::Result<PathBuf> {
        self.made("jobs")
    }

    fn made(&self, name: &str) -> io::Result<PathBuf> {
        let path = self.root.join(name);
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&path)?;
        Ok(path)
    }

    /// Removes what goes with the conversation.
    pub(crate) fn remove(&self) {
        for name in ["tmp", "shell", "jobs"] {
            // What cannot be removed now is old later.
            let _ = fs::remove_dir_all(self.root.join(name));
        }
        // Stays where texts are kept in it.
        let _ = fs::remove_dir(&self.root);
    }
}

/// Removes what conversations left that ended without clearing up. Blocks.
pub(crate) fn clear_old(store: &Path) {
    let Ok(entries) = fs::read_dir(store.join("scratch")) else { return };
    let is_old = |path: &Path| {
        let modified = fs::symlink_metadata(path).and_then(|metadata| metadata.modified());
        modified.is_ok_and(|at| SystemTime::now().duration_since(at).is_ok_and(|age| age > OLD))
    };
    for entry in entries.filter_map(Result::ok).filter(|entry| is_old(&entry.path())) {
        let _ = fs::remove_dir_all(entry.path());
    }
}

/// Texts as the model saw them, as files with the name of their key.
#[derive(Debug, Clone)]
pub(crate) struct KeptTexts {
    directory: PathBuf,
}

impl KeptTexts {
    pub(crate) fn of(scratch: &Scratch) -> Self {
        Self { directory: scratch.root.join("texts") }
    }

    fn place(&self, key: &str) -> Option<PathBuf> {
        let plain =
            !key.is_empty() && key.len() <= 128 && key.bytes().all(|byte| byte.is_ascii_alphanumeric());
        plain.then(|| self.directory.join(key))
    }

    fn write(&self, place: &Path, text: &str) -> io::Result<()> {
        fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        let kept: u64 = fs::read_dir(&self.directory)?
            .filter_map(|entry| entry.ok()?.metadata().ok())
            .map(|metadata| metadata.len())
            .sum();
        if kept + text.len() as u64 > MOST_SNAPSHOTS {
            fs::remove_dir_all(&self.directory)?;
            fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        }
        let unfinished = place.with_extension("part");
        fs::write(&unfinished, text)?;
        fs::rename(&unfinished, place)
    }
}

impl Snapshots for KeptTexts {
    fn keep(&self, key: &str, text: &str) {
        let Some(place) = self.place(key).filter(|place| !place.exists()) else { return };
        if let Err(error) = self.write(&place, text) {
            tracing::warn!(%error, "a text as the model saw it could not be kept");
        }
    }

    fn find(&self, key: &str) -> Option<String> {
        fs::read_to_string(self.place(key)?).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_found_by_their_key_and_outlive_the_rest() {
        let directory = tempfile::tempdir().unwrap();
        let scratch = Scratch::of(directory.path(), &SessionId::new());
        let texts = KeptTexts::of(&scratch);
        assert_eq!(texts.find("ABC"), None);
        texts.keep("ABC", "one\n");
        texts.keep("../escape", "two\n");
        scratch.temporary().unwrap();
        scratch.remove();
        assert_eq!(texts.find("ABC").as_deref(), Some("one\n"));
        assert_eq!(texts.find("../escape"), None);
        assert!(!scratch.root.join("tmp").exists());
        assert!(!directory.path().join("scratch/escape").exists());
    }

    #[test]
    fn only_what_is_old_is_cleared_away() {
        let directory = tempfile::tempdir().unwrap();
        let (old, new) = (directory.path().join("scratch/old"), directory.path().join("scratch/new"));
        fs::create_dir_all(&old).unwrap();
        fs::create_dir_all(&new).unwrap();
        let long_ago = SystemTime::now() - OLD - Duration::from_secs(60);
        fs::File::open(&old).unwrap().set_modified(long_ago).unwrap();
        clear_old(directory.path());
        assert_eq!((old.exists(), new.exists()), (false, true));
    }
}
