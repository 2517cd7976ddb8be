//! The exclusive right to append to a session.
//!
//! A lease is a lock of the operating system on a file of its own, so it ends
//! with the process that holds it, however that ends. The file is removed when
//! a lease is given back; who locks a file that was removed meanwhile notices
//! and tries again.

use std::fs::{self, File, TryLockError};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rein_protocol::SessionId;

use crate::error::{Result, StoreError};
use crate::layout::{Layout, open_private};

/// More than the number of processes that could give back the lease in between.
const ATTEMPTS: usize = 100;

/// The exclusive right to append to a session, until it is dropped.
#[derive(Debug)]
pub struct Lease {
    session: SessionId,
    path: PathBuf,
    lock: File,
}

impl Lease {
    /// The session that this is for.
    #[must_use]
    pub fn session(&self) -> &SessionId {
        &self.session
    }

    pub(crate) fn take(layout: &Layout, session: &SessionId) -> Result<Self> {
        let path = layout.session_lock(session);
        for _ in 0..ATTEMPTS {
            let mut lock = open_private(&path).map_err(StoreError::io("open", &path))?;
            match lock.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => {
                    return Err(StoreError::InUse { session: session.clone(), pid: holder(&mut lock) });
                }
                Err(TryLockError::Error(cause)) => return Err(StoreError::io("lock", &path)(cause)),
            }
            if is_at(&lock, &path) {
                sign(&mut lock).map_err(StoreError::io("write", &path))?;
                return Ok(Self { session: session.clone(), path, lock });
            }
        }
        Err(StoreError::InUse { session: session.clone(), pid: None })
    }
}

impl Drop for Lease {
    fn drop(&mut self) {
        // Only who holds the lock removes the file, so it is ours. Unlocked by hand, because a
        // child that is just being started may share the descriptor for a moment.
        let given_back = fs::remove_file(&self.path).and_then(|()| self.lock.unlock());
        if let Err(error) = given_back {
            tracing::warn!("cannot give back {}: {error}", self.path.display());
        }
    }
}

/// Whether the file is still the one with this name.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::metadata(path)) {
        (Ok(ours), Ok(named)) => (ours.dev(), ours.ino()) == (named.dev(), named.ino()),
        _ => false,
    }
}

fn sign(lock: &mut File) -> io::Result<()> {
    lock.set_len(0)?;
    lock.seek(SeekFrom::Start(0))?;
    lock.write_all(std::process::id().to_string().as_bytes())
}

fn holder(lock: &mut File) -> Option<u32> {
    let mut text = String::new();
    lock.take(16).read_to_string(&mut text).ok()?;
    text.trim().parse().ok()
}
