//! Pictures that a person sends: from a file to content of a message.

use std::path::Path;

use rein_protocol::Content;
use rein_store::Store;
use rein_tools::{Picture, picture};

use crate::error::CommandError;

/// The picture in a file, made fit for models and kept.
pub(crate) async fn keep(store: &Store, file: &Path) -> Result<Content, CommandError> {
    let wrong = || CommandError::usage(format!("{} cannot be sent as a picture", file.display()));
    let bytes = tokio::fs::read(file).await.map_err(|error| wrong().caused_by(error))?;
    let prepared = tokio::task::spawn_blocking(|| picture::prepare(bytes, picture::Limits::default()));
    let prepared = prepared.await.map_err(|error| wrong().caused_by(error))?;
    let Picture { media_type, bytes } = prepared.map_err(|error| wrong().caused_by(error))?;
    let kept = store.put_blob(bytes).await;
    let blob = kept.map_err(|error| CommandError::failure("a picture was not kept").caused_by(error))?;
    Ok(Content::Image { media_type: media_type.to_owned(), blob })
}
