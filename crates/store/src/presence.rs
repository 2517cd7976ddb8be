//! Who else has the store open, and how the last one left it.
//!
//! Every process that has the store open holds `locks/store.lock` shared. Who
//! can have it exclusively for a moment is alone, and only who is alone looks
//! for damage, moves files or repairs. The file's content says that a store
//! was once completed here, and in which boot of the machine it was last
//! opened by one who was alone.
//!
//! How damage is looked for without reading the whole database at every start:
//! the death of a process cannot damage pages, because the system still has
//! them; only a failing disk, a power failure or a stranger can. So pages are
//! checked when the store was not closed properly *and* the machine has been
//! started anew since (or that is not known), and when damage was met while
//! the store was in use. Otherwise errors are reacted to when they come.

use std::fs::{self, File, TryLockError};
use std::io::{Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::error::{Result, StoreError};
use crate::layout::{Layout, open_private};

const MARK: &str = "rein session store";
const PAUSE: Duration = Duration::from_millis(2);

/// Whether anybody else has the store open.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Company {
    Alone,
    Others,
}

/// Whether a store was ever completed here: what is unreadable then is damaged, not foreign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum History {
    Store,
    None,
}

/// Why the pages of the database should be checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Doubt {
    None,
    /// The machine went down while the store was open.
    PowerFailure,
    /// Damage was met while the store was in use.
    Reported,
}

/// Our lock on the store, held for as long as it is open.
#[derive(Debug)]
pub(crate) struct Presence {
    lock: File,
    path: PathBuf,
    content: String,
    pub(crate) company: Company,
    pub(crate) doubt: Doubt,
}

impl Presence {
    /// Enters the store. Waits, within the patience, for one who is alone in it
    /// and may be repairing it.
    pub(crate) fn enter(layout: &Layout, patience: Duration) -> Result<Self> {
        let path = layout.store_lock();
        let mut lock = open_private(&path).map_err(StoreError::io("open", &path))?;
        let company = match lock.try_lock() {
            Ok(()) => Company::Alone,
            Err(TryLockError::WouldBlock) => {
                share(&lock, &path, patience)?;
                Company::Others
            }
            Err(TryLockError::Error(cause)) => return Err(StoreError::io("lock", &path)(cause)),
        };
        let mut content = Vec::new();
        lock.read_to_end(&mut content).map_err(StoreError::io("read", &path))?;
        let content = String::from_utf8_lossy(&content).into_owned();
        let doubt = match company {
            Company::Others => Doubt::None,
            Company::Alone => doubt(layout, &content),
        };
        Ok(Self { lock, path, content, company, doubt })
    }

    pub(crate) fn history(&self) -> History {
        if self.content.starts_with(MARK) { History::Store } else { History::None }
    }

    /// The store is complete: lets others in.
    pub(crate) fn settle(&mut self, patience: Duration) -> Result<()> {
        if self.company == Company::Others {
            return Ok(());
        }
        let content = mark();
        if content != self.content {
            self.write(&content).map_err(StoreError::io("write", &self.path))?;
            self.content = content;
        }
        share(&self.lock, &self.path, patience)
    }

    fn write(&mut self, content: &str) -> std::io::Result<()> {
        self.lock.set_len(0)?;
        self.lock.seek(SeekFrom::Start(0))?;
        self.lock.write_all(content.as_bytes())
    }
}

fn mark() -> String {
    format!("{MARK}\n{}\n", boot().unwrap_or_default())
}

fn doubt(layout: &Layout, content: &str) -> Doubt {
    if layout.suspect.exists() {
        return Doubt::Reported;
    }
    // SQLite removes the log when the last one closes the database.
    let left_open = fs::metadata(&layout.wal).is_ok_and(|wal| wal.len() > 0);
    if left_open && (boot().is_none() || content != mark()) { Doubt::PowerFailure } else { Doubt::None }
}

/// A name for the time since the machine was started, where the system gives one.
fn boot() -> Option<String> {
    let id = fs::read_to_string("/proc/sys/kernel/random/boot_id").ok()?;
    Some(id.trim().to_owned())
}

fn share(lock: &File, path: &Path, patience: Duration) -> Result<()> {
    let started = Instant::now();
    loop {
        match lock.try_lock_shared() {
            Ok(()) => return Ok(()),
            Err(TryLockError::WouldBlock) if started.elapsed() < patience => sleep(PAUSE),
            Err(TryLockError::WouldBlock) => {
                return Err(StoreError::Busy { path: path.to_owned(), waited: patience });
            }
            Err(TryLockError::Error(cause)) => return Err(StoreError::io("lock", path)(cause)),
        }
    }
}
