//! Sessions on disk: the journal, artifacts and blobs.
//!
//! [`Store`] is the one way in. It owns a directory with a SQLite database
//! (write-ahead log), content-addressed blobs beside it, and lock files. What
//! an entry means is left to `rein-protocol`; who may append is left to the
//! engine, which holds a [`Lease`].
//!
//! What is kept, whatever happens to the process: an entry is either wholly
//! there or not at all, an append that returned is there, and no entry is ever
//! changed. What is kept when the power fails is said by [`Durability`].
//!
//! Layout. The handle: `store`, `options`, `error`. The two threads behind it:
//! `lane` (a thread that does jobs in order), `writer`, `reader`, `sync`. The
//! tables: `schema` (migrations), `record` (sessions), `journal` (entries),
//! `title`, `statistics` (what they say was done and spent). Opening: `layout` (paths and modes), `presence` (who else is
//! here), `database`, `contention`, `salvage`. Files: `temporary`, `blob`,
//! `artifact`, `lease`.
//!
//! ```text
//! root/                     0700, every file in it 0600
//!   sessions.db             and -wal, -shm
//!   blobs/ab/<blake3>       whole or absent
//!   temp/<pid>-<n>.part     locked while its writer lives
//!   locks/store.lock        held shared by every process that has the store open
//!   locks/<session>.lock    held by the process that may append to the session
//! ```

mod artifact;
mod blob;
mod contention;
mod database;
mod error;
mod journal;
mod lane;
mod layout;
mod lease;
mod options;
mod presence;
mod reader;
mod record;
mod salvage;
mod schema;
mod statistics;
mod store;
mod sync;
mod temporary;
mod title;
mod writer;

pub use artifact::{ARTIFACT_CAP, ArtifactRecord, ArtifactWriter};
pub use error::{Conflict, Result, StoreError};
pub use lease::Lease;
pub use options::{CommitHook, Durability, StoreOptions};
pub use record::{NewSession, SessionCopy, SessionQuery, SessionRecord};
pub use salvage::SalvageReport;
pub use statistics::{Deed, Fact, FactQuery, Facts};
pub use store::Store;
pub use title::{LONGEST as LONGEST_TITLE, one_line};
