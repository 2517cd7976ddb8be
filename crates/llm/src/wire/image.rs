//! Pictures on their way to a provider: their bytes as text, or words in their
//! place where they cannot be sent.

use base64::Engine as _;
use rein_protocol::BlobId;

use crate::catalog::{ImageSupport, Quirks};
use crate::request::ModelRequest;

/// Who shows a picture.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Shower {
    Person,
    Tool,
}

/// A picture as it can be sent.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Picture {
    /// Its bytes in base64.
    Bytes(String),
    /// What the model is told instead.
    Words(String),
}

/// A picture of a request.
pub(super) fn picture(
    request: &ModelRequest,
    quirks: &Quirks,
    shower: Shower,
    media_type: &str,
    blob: &BlobId,
) -> Picture {
    let seen = match quirks.images {
        ImageSupport::Yes => true,
        ImageSupport::FromPersons => shower == Shower::Person,
        ImageSupport::No => false,
    };
    match request.images.get(blob) {
        _ if !seen => Picture::Words(format!("[an image ({media_type}), which this model cannot see]")),
        Some(bytes) => Picture::Bytes(base64::engine::general_purpose::STANDARD.encode(bytes)),
        None => Picture::Words(format!("[an image ({media_type}), which is no longer there]")),
    }
}
