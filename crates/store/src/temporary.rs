//! Files that are being written and have no name of their own yet.
//!
//! Each is locked for as long as its writer lives, so that whoever opens the
//! store can tell those of the dead and remove them, also where process ids
//! mean nothing, as between containers.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::{Result, StoreError};
use crate::layout::{Layout, create_private, remove};
use crate::lease::is_at;

const ATTEMPTS: usize = 100;
static COUNTER: AtomicU64 = AtomicU64::new(0);

/// A file below `temp/` that is removed when this is dropped, unless it was placed.
#[derive(Debug)]
pub(crate) struct Temporary {
    file: File,
    path: PathBuf,
    fate: Fate,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Fate {
    Removed,
    Placed,
}

impl Temporary {
    pub(crate) fn create(layout: &Layout) -> Result<Self> {
        for _ in 0..ATTEMPTS {
            let number = COUNTER.fetch_add(1, Ordering::Relaxed);
            let path = layout.temp.join(format!("{}-{number}.part", std::process::id()));
            match create_private(&path) {
                Ok(file) => {
                    // One who sweeps may have come in between; then the next name is tried.
                    if file.try_lock().is_ok() && is_at(&file, &path) {
                        return Ok(Self { file, path, fate: Fate::Removed });
                    }
                }
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(cause) => return Err(StoreError::io("create", &path)(cause)),
            }
        }
        let cause = io::Error::other("no free name was found");
        Err(StoreError::io("create a file in", &layout.temp)(cause))
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    pub(crate) fn path(&self) -> &Path {
        &self.path
    }

    /// Gives the file its name, over whatever has it.
    pub(crate) fn place(mut self, target: &Path) -> Result<()> {
        fs::rename(&self.path, target).map_err(StoreError::io("create", target))?;
        self.fate = Fate::Placed;
        Ok(())
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if self.fate == Fate::Removed
            && let Err(error) = remove(&self.path)
        {
            tracing::warn!("{error}");
        }
    }
}

/// Removes what dead processes have left.
pub(crate) fn sweep(layout: &Layout) {
    let Ok(entries) = fs::read_dir(&layout.temp) else { return };
    for path in entries.flatten().map(|entry| entry.path()) {
        if path.extension().is_none_or(|extension| extension != "part") {
            continue;
        }
        let Ok(file) = File::open(&path) else { continue };
        if file.try_lock().is_ok()
            && let Err(error) = remove(&path)
        {
            tracing::warn!("{error}");
        }
    }
}
