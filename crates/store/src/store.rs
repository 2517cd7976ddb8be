//! The handle through which everything else uses the store.
//!
//! Owns the two threads and the order in which they end: the reader first, so
//! that the writer is the last to close the database and leaves it tidy, then
//! our presence. Everything that blocks happens on those threads or on
//! tokio's blocking ones.

use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rein_protocol::{ArtifactId, BlobId, Entry, EntryId, Seq, SessionId};
use rusqlite::Connection;

use crate::artifact::{ArtifactRecord, ArtifactWriter};
use crate::blob::Blobs;
use crate::database;
use crate::error::{Fault, Result, StoreError};
use crate::lane::Lane;
use crate::layout::Layout;
use crate::lease::Lease;
use crate::options::StoreOptions;
use crate::presence::Presence;
use crate::reader::{self, Reader};
use crate::record::{self, NewSession, SessionCopy, SessionQuery, SessionRecord};
use crate::salvage::SalvageReport;
use crate::statistics::{self, Fact, FactQuery};
use crate::sync::{Directories, Syncer};
use crate::temporary::{self, Temporary};
use crate::writer::Writer;

/// Sessions on disk. Cloning is cheap; all clones are the same store.
///
/// When the last clone is dropped, everything is written and the threads have
/// ended. That blocks for a moment: async code should use [`Store::close`].
#[derive(Clone)]
pub struct Store {
    inner: Arc<Inner>,
}

/// Dropped in this order.
struct Inner {
    reader: Lane<Reader>,
    writer: Lane<Writer>,
    blobs: Blobs,
    artifact_cap: u64,
    salvage: Option<SalvageReport>,
    _presence: Presence,
}

impl Store {
    /// Opens the store, and makes it if there is none. Blocks, usually for a few milliseconds.
    ///
    /// # Errors
    ///
    /// If the directory cannot be used, or holds something that is not a store
    /// or is one of a newer rein. A damaged database is salvaged instead: see
    /// [`Store::salvage_report`].
    pub fn open(options: StoreOptions) -> Result<Self> {
        let layout = Layout::new(&options.root)?;
        layout.prepare()?;
        let opened = database::open(&layout, &options)?;
        temporary::sweep(&layout);
        let directories = Directories::default();
        let writer = Writer {
            connection: opened.connection,
            layout: layout.clone(),
            patience: options.patience,
            syncer: Syncer::new(&layout, directories.clone()),
            after_commit: options.after_commit,
            appended: 0,
        };
        let reader = Reader::new(layout.clone(), options.patience);
        let no_thread = |cause| StoreError::io("start a thread for", &layout.root)(cause);
        Ok(Self {
            inner: Arc::new(Inner {
                reader: Lane::start("store-reader", reader).map_err(no_thread)?,
                writer: Lane::start("store-writer", writer).map_err(no_thread)?,
                blobs: Blobs { layout: layout.clone(), durability: options.durability, directories },
                artifact_cap: options.artifact_cap,
                salvage: opened.salvage,
                _presence: opened.presence,
            }),
        })
    }

    /// The directory that the store owns.
    #[must_use]
    pub fn root(&self) -> &Path {
        &self.layout().root
    }

    /// What was saved, if the database was found damaged when this store was opened.
    #[must_use]
    pub fn salvage_report(&self) -> Option<&SalvageReport> {
        self.inner.salvage.as_ref()
    }

    /// Waits until everything written so far is on the disk.
    ///
    /// # Errors
    ///
    /// If the disk refuses.
    pub async fn flush(&self) -> Result<()> {
        self.inner.writer.call(Writer::flush).await?
    }

    /// Waits until everything written so far is on the disk and, if this is the
    /// last clone, until the store is closed.
    ///
    /// # Errors
    ///
    /// If the disk refuses.
    pub async fn close(self) -> Result<()> {
        let flushed = self.flush().await;
        Self::on_blocking_thread(move || {
            drop(self);
            Ok(())
        })
        .await?;
        flushed
    }

    /// Begins a session.
    ///
    /// # Errors
    ///
    /// [`StoreError::SessionExists`], or if the database cannot be written.
    pub async fn create_session(&self, new: NewSession) -> Result<()> {
        self.inner.writer.call(move |writer| writer.create_session(new)).await?
    }

    /// Appends entries, all or none. They are committed when this returns. If it
    /// is dropped before, they are committed or not, and [`Store::session`] tells.
    ///
    /// # Errors
    ///
    /// [`StoreError::Conflict`] if the first does not follow the session's leaf
    /// or one of the others not the one before it; [`StoreError::UnknownSession`];
    /// or if the database cannot be written.
    pub async fn append(&self, session: &SessionId, entries: Vec<Entry>) -> Result<()> {
        let session = session.clone();
        self.inner.writer.call(move |writer| writer.append(&session, &entries)).await?
    }

    /// The entries from the first to the session's leaf.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnknownSession`], [`StoreError::UnreadableEntry`], or if the
    /// database cannot be read.
    pub async fn branch(&self, session: &SessionId) -> Result<Vec<Entry>> {
        let session = session.clone();
        self.read(move |connection| reader::branch(connection, &session)).await
    }

    /// The entries from the first to this one, whatever branch it is on. Nothing if the session has no such entry.
    ///
    /// # Errors
    ///
    /// As for [`Store::branch`].
    pub async fn branch_to(&self, session: &SessionId, entry: &EntryId) -> Result<Option<Vec<Entry>>> {
        let (session, entry) = (session.clone(), entry.clone());
        self.read(move |connection| reader::branch_to(connection, &session, &entry)).await
    }

    /// Begins a session with what is in another one, all of it or nothing.
    ///
    /// # Errors
    ///
    /// As for [`Store::create_session`] and [`Store::append`].
    pub async fn create_copy(&self, copy: SessionCopy) -> Result<()> {
        self.inner.writer.call(move |writer| writer.create_copy(copy)).await?
    }

    /// At most `limit` entries after a place, in order, whatever branch they are on.
    ///
    /// # Errors
    ///
    /// As for [`Store::branch`].
    pub async fn entries_after(&self, session: &SessionId, after: Seq, limit: usize) -> Result<Vec<Entry>> {
        let session = session.clone();
        self.read(move |connection| reader::entries_after(connection, &session, after, limit)).await
    }

    /// What is known of a session.
    ///
    /// # Errors
    ///
    /// [`StoreError::UnreadableSession`], or if the database cannot be read.
    pub async fn session(&self, id: &SessionId) -> Result<Option<SessionRecord>> {
        let id = id.clone();
        self.read(move |connection| record::find(connection, &id)).await
    }

    /// Sessions, the last updated first. One that cannot be read is left out and logged.
    ///
    /// # Errors
    ///
    /// If the database cannot be read.
    pub async fn sessions(&self, query: SessionQuery) -> Result<Vec<SessionRecord>> {
        self.read(move |connection| record::list(connection, &query)).await
    }

    /// Sessions whose id begins like this, with or without `ses_`, the last updated first.
    ///
    /// # Errors
    ///
    /// If the database cannot be read.
    pub async fn find_session(&self, prefix: &str) -> Result<Vec<SessionRecord>> {
        let prefix = prefix.to_owned();
        self.read(move |connection| record::find_by_prefix(connection, &prefix)).await
    }

    /// What was done and spent, in the order in which it happened. Entries that cannot be read are left out.
    ///
    /// # Errors
    ///
    /// If the database cannot be read.
    pub async fn facts(&self, query: FactQuery) -> Result<Vec<Fact>> {
        self.read(move |connection| statistics::facts(connection, &query)).await
    }

    /// Takes the exclusive right to append to a session; it need not exist yet.
    ///
    /// # Errors
    ///
    /// [`StoreError::InUse`] if somebody has it, also in this process.
    pub async fn lease(&self, session: &SessionId) -> Result<Lease> {
        let (layout, session) = (self.layout().clone(), session.clone());
        Self::on_blocking_thread(move || Lease::take(&layout, &session)).await
    }

    /// Begins an artifact. Blocks, but not for long.
    ///
    /// # Errors
    ///
    /// If the disk refuses.
    pub fn artifact_writer(&self, session: &SessionId) -> Result<ArtifactWriter> {
        let temporary = Temporary::create(self.layout())?;
        Ok(ArtifactWriter::new(self.clone(), session.clone(), temporary, self.inner.artifact_cap))
    }

    /// What is known of an artifact.
    ///
    /// # Errors
    ///
    /// If the database cannot be read.
    pub async fn artifact(&self, id: &ArtifactId) -> Result<Option<ArtifactRecord>> {
        let id = id.clone();
        self.read(move |connection| reader::artifact(connection, &id)).await
    }

    /// The file with an artifact's content. It must not be written to.
    ///
    /// # Errors
    ///
    /// If the database cannot be read.
    pub async fn artifact_path(&self, id: &ArtifactId) -> Result<Option<PathBuf>> {
        let artifact = self.artifact(id).await?;
        artifact.map(|artifact| self.inner.blobs.path(&artifact.blob)).transpose()
    }

    /// Keeps content. The same content is kept once.
    ///
    /// # Errors
    ///
    /// If the disk refuses.
    pub async fn put_blob(&self, content: Vec<u8>) -> Result<BlobId> {
        let blobs = self.inner.blobs.clone();
        Self::on_blocking_thread(move || blobs.put(&content)).await
    }

    /// Content, if it is there.
    ///
    /// # Errors
    ///
    /// [`StoreError::InvalidBlob`] if the id is not a hash, [`StoreError::DamagedBlob`]
    /// if the content is not what the id says, or if the file cannot be read.
    pub async fn blob(&self, id: &BlobId) -> Result<Option<Vec<u8>>> {
        let (blobs, id) = (self.inner.blobs.clone(), id.clone());
        Self::on_blocking_thread(move || blobs.read(&id)).await
    }

    pub(crate) fn blobs(&self) -> &Blobs {
        &self.inner.blobs
    }

    pub(crate) async fn add_artifact(&self, artifact: ArtifactRecord) -> Result<()> {
        self.inner.writer.call(move |writer| writer.add_artifact(&artifact)).await?
    }

    /// Short work that blocks. It is done even if nobody waits for it any more.
    pub(crate) async fn on_blocking_thread<T: Send + 'static>(
        work: impl FnOnce() -> Result<T> + Send + 'static,
    ) -> Result<T> {
        tokio::task::spawn_blocking(work).await.map_err(|_| StoreError::Closed)?
    }

    async fn read<T: Send + 'static>(
        &self,
        query: impl Fn(&Connection) -> Result<T, Fault> + Send + 'static,
    ) -> Result<T> {
        self.inner.reader.call(move |reader| reader.ask(query)).await?
    }

    fn layout(&self) -> &Layout {
        &self.inner.blobs.layout
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").field("root", &self.root()).finish_non_exhaustive()
    }
}
