//! How a store is opened. Owns the choices and their defaults, nothing else.

use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::artifact::ARTIFACT_CAP;

/// What a power failure may take. The death of the process never takes anything
/// that was acknowledged, and neither ever makes the store inconsistent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Durability {
    /// At most what was appended in the last second.
    #[default]
    Second,
    /// Nothing: every append waits for the disk.
    Every,
}

/// Called on the writer thread after each committed append, before the append
/// is answered, with the number of entries appended through this store so far.
/// It must not hold the store, which would then never be closed.
pub type CommitHook = Arc<dyn Fn(u64) + Send + Sync>;

/// How to open a store.
#[derive(Clone)]
pub struct StoreOptions {
    /// The directory that the store owns. It is made if it does not exist.
    pub root: PathBuf,
    /// What a power failure may take.
    pub durability: Durability,
    /// How long an access waits for another process before it fails.
    pub patience: Duration,
    /// How many bytes of an artifact are kept.
    pub artifact_cap: u64,
    /// A place to observe durable steps. It delays every append by what it takes.
    pub after_commit: Option<CommitHook>,
}

impl StoreOptions {
    /// The store in this directory, with everything else as it should usually be.
    pub fn new(root: impl Into<PathBuf>) -> Self {
        Self {
            root: root.into(),
            durability: Durability::default(),
            patience: Duration::from_secs(10),
            artifact_cap: ARTIFACT_CAP,
            after_commit: None,
        }
    }
}

impl fmt::Debug for StoreOptions {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StoreOptions")
            .field("root", &self.root)
            .field("durability", &self.durability)
            .field("patience", &self.patience)
            .field("artifact_cap", &self.artifact_cap)
            .field("after_commit", &self.after_commit.as_ref().map(|_| ".."))
            .finish()
    }
}
