//! How the salvaged database takes the place of the damaged one.
//!
//! Owns the names and the order of the moves. A draft becomes ready by a
//! rename; then the damaged file and its log are moved away, and the ready one
//! takes the name. Killed before the damaged file was moved: the next opening
//! starts over. Killed after it: the next opening completes the moves. At no
//! moment does the salvaged database stand beside the damaged one's log, which
//! SQLite would apply to it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};

use rein_protocol::Timestamp;

use crate::error::{Result, StoreError};
use crate::layout::{Layout, create_private, remove, sync_directory};

const DRAFT: &str = "sessions.db.salvaging";
const READY: &str = "sessions.db.salvaged-";
const DAMAGED: &str = "sessions.db.damaged-";

/// A salvage under way, without a complete new database.
pub(super) struct Swap {
    draft: PathBuf,
    stamp: String,
}

impl Swap {
    /// Clears away what an earlier try has left and makes room for a draft.
    pub(super) fn begin(layout: &Layout) -> Result<Self> {
        let draft = layout.root.join(DRAFT);
        remove(&draft)?;
        remove(&layout.root.join(format!("{DRAFT}-journal")))?;
        for stale in ready_files(layout)? {
            remove(&stale.path)?;
        }
        create_private(&draft).map_err(StoreError::io("create", &draft))?;
        let mut stamp = Timestamp::now().0;
        while layout.root.join(format!("{DAMAGED}{stamp}")).exists() {
            stamp += 1;
        }
        Ok(Self { draft, stamp: stamp.to_string() })
    }

    /// The file that the new database is built in.
    pub(super) fn draft(&self) -> &Path {
        &self.draft
    }

    /// The new database is complete.
    pub(super) fn ready(self, layout: &Layout) -> Result<ReadySwap> {
        File::open(&self.draft)
            .and_then(|draft| draft.sync_all())
            .map_err(StoreError::io("write to disk", &self.draft))?;
        let path = layout.root.join(format!("{READY}{}", self.stamp));
        rename(&self.draft, &path)?;
        sync_directory(&layout.root)?;
        Ok(ReadySwap { path, stamp: self.stamp })
    }

    /// A salvage whose damaged file was moved away, but which was not completed.
    pub(super) fn interrupted(layout: &Layout) -> Result<Option<ReadySwap>> {
        if layout.database.exists() {
            return Ok(None);
        }
        Ok(ready_files(layout)?.pop())
    }
}

/// A salvage with a complete new database.
pub(super) struct ReadySwap {
    path: PathBuf,
    stamp: String,
}

impl ReadySwap {
    /// The new database, before it has its place.
    pub(super) fn salvaged(&self) -> &Path {
        &self.path
    }

    /// Moves everything to its place; says where the damaged file is.
    pub(super) fn complete(self, layout: &Layout) -> Result<PathBuf> {
        let damaged = layout.root.join(format!("{DAMAGED}{}", self.stamp));
        let damaged_log = layout.root.join(format!("{DAMAGED}{}-wal", self.stamp));
        if layout.database.exists() {
            rename(&layout.database, &damaged)?;
            sync_directory(&layout.root)?;
        }
        if layout.wal.exists() {
            rename(&layout.wal, &damaged_log)?;
        }
        remove(&layout.shm)?;
        sync_directory(&layout.root)?;
        rename(&self.path, &layout.database)?;
        sync_directory(&layout.root)?;
        Ok(damaged)
    }
}

fn ready_files(layout: &Layout) -> Result<Vec<ReadySwap>> {
    let entries = fs::read_dir(&layout.root).map_err(StoreError::io("read", &layout.root))?;
    let ready = entries.flatten().filter_map(|entry| {
        let name = entry.file_name().into_string().ok()?;
        let stamp = name.strip_prefix(READY)?.to_owned();
        Some(ReadySwap { path: entry.path(), stamp })
    });
    Ok(ready.collect())
}

fn rename(from: &Path, to: &Path) -> Result<()> {
    fs::rename(from, to).map_err(StoreError::io("rename", from))
}
