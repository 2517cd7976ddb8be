//! What the program around the face does for it, where `Service` has no word for
//! it: files become pictures that the engine can send, programs are started on
//! the terminal.
//!
//! Everything has an answer that says it cannot be done, so that a face without
//! such a program works.

use std::path::Path;

use async_trait::async_trait;
use rein_protocol::{BlobId, Content};

/// The program around the face.
///
/// Contract for implementers: an error is a sentence for a person that says what
/// was wrong and what to do.
#[async_trait]
pub trait Hands: Send + Sync {
    /// Makes the picture in a file fit for models and keeps it.
    async fn keep_picture(&self, file: &Path) -> Result<Content, String> {
        Err(format!("{} cannot be sent: pictures are not kept here", file.display()))
    }

    /// The bytes of a picture that was kept.
    async fn picture(&self, _blob: &BlobId) -> Option<Vec<u8>> {
        None
    }

    /// Lets the person edit a file with a program of their choice on this terminal, and waits for it.
    /// The terminal is in its usual modes meanwhile.
    async fn edit(&self, _file: &Path) -> Result<(), String> {
        Err("no other editor can be started from here".to_owned())
    }
}

/// No program around it.
#[derive(Debug, Clone, Copy)]
pub struct Nobody;

impl Hands for Nobody {}
