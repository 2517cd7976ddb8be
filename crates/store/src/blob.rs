//! Content by its hash: plain files, written once.
//!
//! Owns `blobs/`. The invariant: a file there is whole, also after a power
//! failure, because its content reaches the disk before it gets its name.

use std::fs;
use std::io::{self, Write};
use std::path::PathBuf;

use rein_protocol::BlobId;

use crate::error::{Result, StoreError};
use crate::layout::{Layout, make_directory, sync_directory};
use crate::options::Durability;
use crate::sync::Directories;
use crate::temporary::Temporary;

const DIGITS: usize = 64;

/// The blobs of a store.
#[derive(Debug, Clone)]
pub(crate) struct Blobs {
    pub(crate) layout: Layout,
    pub(crate) durability: Durability,
    pub(crate) directories: Directories,
}

impl Blobs {
    /// Where a blob is, if it is there. Anything but a hash is refused before it becomes a path.
    pub(crate) fn path(&self, id: &BlobId) -> Result<PathBuf> {
        let hexadecimal = |byte: u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
        match id.0.get(..2) {
            Some(first) if id.0.len() == DIGITS && id.0.bytes().all(hexadecimal) => {
                Ok(self.layout.blobs.join(first).join(&id.0))
            }
            _ => Err(StoreError::InvalidBlob { text: id.0.clone() }),
        }
    }

    pub(crate) fn put(&self, content: &[u8]) -> Result<BlobId> {
        let id = BlobId(blake3::hash(content).to_hex().to_string());
        let length = u64::try_from(content.len()).unwrap_or(u64::MAX);
        if self.is_there(&id, length)? {
            return Ok(id);
        }
        let temporary = Temporary::create(&self.layout)?;
        temporary.file().write_all(content).map_err(StoreError::io("write", temporary.path()))?;
        self.place(temporary, &id, length)?;
        Ok(id)
    }

    /// Gives a written file the name of its content.
    pub(crate) fn place(&self, temporary: Temporary, id: &BlobId, length: u64) -> Result<()> {
        if self.is_there(id, length)? {
            return Ok(());
        }
        temporary.file().sync_data().map_err(StoreError::io("write to disk", temporary.path()))?;
        let target = self.path(id)?;
        let directory = target.parent().unwrap_or(&self.layout.blobs);
        make_directory(directory)?;
        temporary.place(&target)?;
        for directory in [directory, &self.layout.blobs] {
            match self.durability {
                Durability::Every => sync_directory(directory)?,
                Durability::Second => self.directories.add(directory.to_owned()),
            }
        }
        Ok(())
    }

    pub(crate) fn read(&self, id: &BlobId) -> Result<Option<Vec<u8>>> {
        let path = self.path(id)?;
        let content = match fs::read(&path) {
            Ok(content) => content,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(cause) => return Err(StoreError::io("read", &path)(cause)),
        };
        if blake3::hash(&content).to_hex().as_str() != id.0 {
            return Err(StoreError::DamagedBlob { path });
        }
        Ok(Some(content))
    }

    /// By name and length: a file that was cut short is written anew.
    fn is_there(&self, id: &BlobId, length: u64) -> Result<bool> {
        let metadata = fs::metadata(self.path(id)?);
        Ok(metadata.is_ok_and(|metadata| metadata.is_file() && metadata.len() == length))
    }
}
