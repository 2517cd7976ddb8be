//! Where things are below the root, and that only their owner can read them.
//!
//! Owns paths, the making of directories and files, and their modes; leaves
//! what is in the files to others. The invariant: whatever is made here has
//! mode 0700 or 0600 from its first moment, whatever the umask is.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions, Permissions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rein_protocol::SessionId;

use crate::error::{Result, StoreError};

const DIRECTORY_MODE: u32 = 0o700;
const FILE_MODE: u32 = 0o600;

/// The paths of a store.
#[derive(Debug, Clone)]
pub(crate) struct Layout {
    pub(crate) root: PathBuf,
    pub(crate) database: PathBuf,
    pub(crate) wal: PathBuf,
    pub(crate) shm: PathBuf,
    /// Its presence says that damage was met while the store was in use.
    pub(crate) suspect: PathBuf,
    pub(crate) blobs: PathBuf,
    pub(crate) temp: PathBuf,
    pub(crate) locks: PathBuf,
}

impl Layout {
    /// The layout below a root, which becomes absolute: a later change of
    /// directory must not move the store.
    pub(crate) fn new(root: &Path) -> Result<Self> {
        let root = std::path::absolute(root).map_err(StoreError::io("find", root))?;
        Ok(Self {
            database: root.join("sessions.db"),
            wal: root.join("sessions.db-wal"),
            shm: root.join("sessions.db-shm"),
            suspect: root.join("sessions.db.suspect"),
            blobs: root.join("blobs"),
            temp: root.join("temp"),
            locks: root.join("locks"),
            root,
        })
    }

    pub(crate) fn store_lock(&self) -> PathBuf {
        self.locks.join("store.lock")
    }

    pub(crate) fn session_lock(&self, session: &SessionId) -> PathBuf {
        self.locks.join(format!("{session}.lock"))
    }

    /// Makes the directories and takes away what others may do with what is there.
    /// Single blobs are looked at only if a directory above them was open to
    /// others: otherwise nobody could have reached them.
    pub(crate) fn prepare(&self) -> Result<()> {
        let mut loose = false;
        for directory in [&self.root, &self.blobs, &self.temp, &self.locks] {
            loose |= ensure_directory(directory)? == Found::Loose;
        }
        if loose {
            tighten_below(&self.root);
        }
        for file in [&self.database, &self.wal, &self.shm] {
            if let Ok(metadata) = fs::metadata(file) {
                tighten(file, &metadata)?;
            }
        }
        Ok(())
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Found {
    Tight,
    Loose,
}

/// A directory that only we can enter. Missing parents are made likewise.
pub(crate) fn make_directory(path: &Path) -> Result<()> {
    ensure_directory(path).map(|_| ())
}

fn ensure_directory(path: &Path) -> Result<Found> {
    match fs::metadata(path) {
        Ok(metadata) if metadata.is_dir() => tighten(path, &metadata),
        Ok(_) => Err(StoreError::NotADirectory { path: path.to_owned() }),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            match DirBuilder::new().recursive(true).mode(DIRECTORY_MODE).create(path) {
                Ok(()) => Ok(Found::Tight),
                Err(cause) => Err(StoreError::io("create the directory", path)(cause)),
            }
        }
        Err(cause) => {
            Err(obstacle(path).unwrap_or_else(|| StoreError::io("enter the directory", path)(cause)))
        }
    }
}

/// The nearest parent that is not a directory.
fn obstacle(path: &Path) -> Option<StoreError> {
    let exists = path.ancestors().find_map(|parent| Some((parent, fs::metadata(parent).ok()?)));
    match exists {
        Some((parent, metadata)) if !metadata.is_dir() => {
            Some(StoreError::NotADirectory { path: parent.to_owned() })
        }
        _ => None,
    }
}

fn tighten(path: &Path, metadata: &Metadata) -> Result<Found> {
    let wanted = if metadata.is_dir() { DIRECTORY_MODE } else { FILE_MODE };
    let ours = metadata.uid() == rustix::process::geteuid().as_raw();
    if !ours || metadata.permissions().mode() & 0o777 & !wanted == 0 {
        return Ok(Found::Tight);
    }
    fs::set_permissions(path, Permissions::from_mode(wanted))
        .map_err(StoreError::io("restrict the permissions of", path))?;
    Ok(Found::Loose)
}

/// As far as it goes: what cannot be tightened is logged, not fatal.
fn tighten_below(directory: &Path) {
    let Ok(entries) = fs::read_dir(directory) else { return };
    for entry in entries.flatten() {
        // Not followed: what a link points to is not ours to change.
        let Ok(metadata) = entry.metadata() else { continue };
        if metadata.is_symlink() {
            continue;
        }
        let path = entry.path();
        if let Err(error) = tighten(&path, &metadata) {
            tracing::warn!("{error}");
        }
        if metadata.is_dir() {
            tighten_below(&path);
        }
    }
}

/// Opens a file for reading and writing that only we can read, and makes it if it is not there.
pub(crate) fn open_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create(true).truncate(false).mode(FILE_MODE).open(path)
}

/// Makes a file that was not there.
pub(crate) fn create_private(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).create_new(true).mode(FILE_MODE).open(path)
}

/// Has the disk remember which names a directory holds.
pub(crate) fn sync_directory(path: &Path) -> Result<()> {
    File::open(path).and_then(|directory| directory.sync_all()).map_err(StoreError::io("write to disk", path))
}

/// Removes a file; that it is gone already is as good.
pub(crate) fn remove(path: &Path) -> Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(StoreError::io("remove", path)(error)),
        _ => Ok(()),
    }
}
