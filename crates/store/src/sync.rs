//! When what was committed reaches the disk.
//!
//! In a write-ahead log a commit is a write to the log, which survives the
//! death of the process at once and a power failure once the log was synced.
//! SQLite would do that only at a checkpoint; this does it at most a second
//! after a commit, and the directories of new blobs before it. A second file
//! descriptor on the log is harmless: SQLite's locks are on the other files.

use std::collections::BTreeSet;
use std::fs::File;
use std::io;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::error::{Result, StoreError};
use crate::layout::{Layout, sync_directory};

/// Leaves a quarter of the promised second to the disk.
const INTERVAL: Duration = Duration::from_millis(750);

/// Directories with names that the disk may not know yet.
#[derive(Debug, Clone, Default)]
pub(crate) struct Directories(Arc<Mutex<BTreeSet<PathBuf>>>);

impl Directories {
    pub(crate) fn add(&self, directory: PathBuf) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).insert(directory);
    }

    fn take(&self) -> BTreeSet<PathBuf> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

/// Remembers whether something has to be synced, and does it.
#[derive(Debug)]
pub(crate) struct Syncer {
    path: PathBuf,
    /// Opened once: the log is the same file for as long as our connection is open.
    log: Option<File>,
    due: Option<Instant>,
    directories: Directories,
}

impl Syncer {
    pub(crate) fn new(layout: &Layout, directories: Directories) -> Self {
        directories.add(layout.root.clone());
        Self { path: layout.wal.clone(), log: None, due: None, directories }
    }

    pub(crate) fn due(&self) -> Option<Instant> {
        self.due
    }

    /// Something was committed.
    pub(crate) fn committed(&mut self) {
        self.due.get_or_insert_with(|| Instant::now() + INTERVAL);
    }

    /// Brings everything to the disk. What failed is tried again an interval later.
    pub(crate) fn sync(&mut self) -> Result<()> {
        self.due = None;
        let outcome = self.sync_directories().and_then(|()| self.sync_log());
        if outcome.is_err() {
            self.committed();
        }
        outcome
    }

    fn sync_directories(&self) -> Result<()> {
        for directory in self.directories.take() {
            sync_directory(&directory).inspect_err(|_| self.directories.add(directory))?;
        }
        Ok(())
    }

    fn sync_log(&mut self) -> Result<()> {
        if self.log.is_none() {
            match File::open(&self.path) {
                Ok(file) => self.log = Some(file),
                // Nothing was written since the log was last taken into the database.
                Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
                Err(cause) => return Err(StoreError::io("open", &self.path)(cause)),
            }
        }
        let Some(log) = &self.log else { return Ok(()) };
        log.sync_data().map_err(StoreError::io("write to disk", &self.path))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn syncer(root: &std::path::Path) -> Syncer {
        Syncer::new(&Layout::new(root).unwrap(), Directories::default())
    }

    #[test]
    fn the_first_commit_sets_the_time_and_later_ones_do_not_postpone_it() {
        let directory = tempfile::tempdir().unwrap();
        let mut syncer = syncer(directory.path());
        assert_eq!(syncer.due(), None);
        let before = Instant::now();
        syncer.committed();
        let due = syncer.due().unwrap();
        assert!(due <= before + Duration::from_secs(1));
        syncer.committed();
        assert_eq!(syncer.due(), Some(due));
        syncer.sync().unwrap();
        assert_eq!(syncer.due(), None);
    }

    #[test]
    fn what_failed_is_tried_again() {
        let directory = tempfile::tempdir().unwrap();
        let mut syncer = syncer(directory.path());
        let missing = directory.path().join("missing");
        syncer.directories.add(missing.clone());
        assert!(syncer.sync().is_err());
        assert!(syncer.due().is_some());
        std::fs::create_dir(&missing).unwrap();
        syncer.sync().unwrap();
        assert_eq!(syncer.due(), None);
    }
}
