//! A tool's whole output, kept outside of the context.
//!
//! Owns the writing of artifacts; their content is a blob. The invariant: a
//! writer's memory does not grow with what is written, and what is beyond the
//! cap is counted, not kept.

use std::fs::File;
use std::io::{self, Write};
use std::path::Path;

use rein_protocol::{ArtifactId, BlobId, SessionId, Timestamp};

use crate::error::{Result, StoreError};
use crate::store::Store;
use crate::temporary::Temporary;

/// How many bytes of an artifact are kept: 1 GiB.
pub const ARTIFACT_CAP: u64 = 1 << 30;

const BUFFER: usize = 64 << 10;

/// What is known of an artifact.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ArtifactRecord {
    /// Its name.
    pub id: ArtifactId,
    /// The session that it was made in.
    pub session: SessionId,
    /// Its content.
    pub blob: BlobId,
    /// How long its content is.
    pub bytes: u64,
    /// When it was finished.
    pub created: Timestamp,
}

/// Writes an artifact. Dropped without [`ArtifactWriter::finish`], it leaves nothing.
pub struct ArtifactWriter {
    store: Store,
    session: SessionId,
    temporary: Temporary,
    buffer: Vec<u8>,
    hasher: blake3::Hasher,
    cap: u64,
    kept: u64,
    dropped: u64,
    health: Health,
}

/// After a failed write the file is not what was hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Health {
    Sound,
    Failed,
}

impl ArtifactWriter {
    pub(crate) fn new(store: Store, session: SessionId, temporary: Temporary, cap: u64) -> Self {
        Self {
            store,
            session,
            temporary,
            buffer: Vec::with_capacity(BUFFER),
            hasher: blake3::Hasher::new(),
            cap,
            kept: 0,
            dropped: 0,
            health: Health::Sound,
        }
    }

    /// Adds to the artifact. What goes beyond the cap is counted and dropped.
    ///
    /// # Errors
    ///
    /// If the disk refuses. The artifact cannot be finished then.
    pub fn write(&mut self, content: &[u8]) -> io::Result<()> {
        self.check()?;
        let room = usize::try_from(self.cap - self.kept).unwrap_or(usize::MAX);
        let (kept, dropped) = content.split_at(room.min(content.len()));
        self.dropped = self.dropped.saturating_add(length(dropped));
        self.hasher.update(kept);
        if self.buffer.len() + kept.len() > BUFFER {
            self.flush()?;
        }
        if kept.len() > BUFFER {
            let written = write_through(self.temporary.file(), kept);
            self.note(written)?;
        } else {
            self.buffer.extend_from_slice(kept);
        }
        self.kept += length(kept);
        Ok(())
    }

    /// Makes what was written visible to those who read [`ArtifactWriter::path`].
    ///
    /// # Errors
    ///
    /// If the disk refuses. The artifact cannot be finished then.
    pub fn flush(&mut self) -> io::Result<()> {
        self.check()?;
        let written = write_through(self.temporary.file(), &self.buffer);
        self.buffer.clear();
        self.note(written)
    }

    /// How many bytes were kept.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.kept
    }

    /// How many bytes were beyond the cap.
    #[must_use]
    pub fn dropped(&self) -> u64 {
        self.dropped
    }

    /// The file that is being written. It gets another name when the artifact is finished.
    #[must_use]
    pub fn path(&self) -> &Path {
        self.temporary.path()
    }

    /// Completes the artifact: from here on [`Store::artifact_path`] knows it.
    ///
    /// # Errors
    ///
    /// If the disk refused, now or before, or the session is not known.
    pub async fn finish(self) -> Result<ArtifactId> {
        let store = self.store.clone();
        let record = Store::on_blocking_thread(move || self.seal()).await?;
        let id = record.id.clone();
        store.add_artifact(record).await?;
        Ok(id)
    }

    fn seal(mut self) -> Result<ArtifactRecord> {
        let flushed = self.flush();
        flushed.map_err(StoreError::io("write", self.temporary.path()))?;
        let blob = BlobId(self.hasher.finalize().to_hex().to_string());
        self.store.blobs().place(self.temporary, &blob, self.kept)?;
        Ok(ArtifactRecord {
            id: ArtifactId::new(),
            session: self.session,
            blob,
            bytes: self.kept,
            created: Timestamp::now(),
        })
    }

    fn check(&self) -> io::Result<()> {
        match self.health {
            Health::Sound => Ok(()),
            Health::Failed => Err(io::Error::other("an earlier write to this artifact failed")),
        }
    }

    fn note(&mut self, outcome: io::Result<()>) -> io::Result<()> {
        outcome.inspect_err(|_| self.health = Health::Failed)
    }
}

impl std::fmt::Debug for ArtifactWriter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.temporary.path();
        f.debug_struct("ArtifactWriter")
            .field("path", &path)
            .field("bytes", &self.kept)
            .finish_non_exhaustive()
    }
}

fn write_through(mut file: &File, content: &[u8]) -> io::Result<()> {
    file.write_all(content)
}

fn length(content: &[u8]) -> u64 {
    u64::try_from(content.len()).unwrap_or(u64::MAX)
}
