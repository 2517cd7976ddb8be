//! Pictures of a conversation: kept as blobs, and read again for every request
//! that shows them.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};

use bytes::Bytes;
use rein_llm::{ImageSupport as Takes, Models};
use rein_protocol::{BlobId, Content, Message, ModelRef, ServiceError};
use rein_store::Store;
use rein_tools::{ImageSupport, Picture};

/// Bytes of pictures that are kept at hand.
const AT_HAND: usize = 32 << 20;

/// The pictures of a conversation.
pub(crate) struct Pictures {
    store: Store,
    at_hand: Mutex<HashMap<BlobId, Bytes>>,
}

impl Pictures {
    pub(crate) fn new(store: Store) -> Self {
        Self { store, at_hand: Mutex::default() }
    }

    /// Keeps pictures that a tool shows, as content of its result. One that cannot be kept is said to be missing.
    pub(crate) async fn keep(&self, pictures: Vec<Picture>) -> Vec<Content> {
        let mut content = Vec::with_capacity(pictures.len());
        for Picture { media_type, bytes } in pictures {
            content.push(match self.store.put_blob(bytes).await {
                Ok(blob) => Content::Image { media_type: media_type.to_owned(), blob },
                Err(error) => Content::text(format!("[a picture could not be kept: {error}]")),
            });
        }
        content
    }

    /// The bytes of every picture in these messages, as far as they are still there.
    pub(crate) async fn of(&self, messages: &[Message]) -> HashMap<BlobId, Bytes> {
        let mut found = HashMap::new();
        for blob in messages.iter().flat_map(blobs) {
            if found.contains_key(blob) {
                continue;
            }
            if let Some(bytes) = self.read(blob).await {
                found.insert(blob.clone(), bytes);
            }
        }
        found
    }

    async fn read(&self, blob: &BlobId) -> Option<Bytes> {
        let known = self.at_hand.lock().unwrap_or_else(PoisonError::into_inner).get(blob).cloned();
        if known.is_some() {
            return known;
        }
        let bytes = match self.store.blob(blob).await {
            Ok(found) => Bytes::from(found?),
            Err(error) => {
                tracing::warn!(%error, "a picture could not be read");
                return None;
            }
        };
        let mut at_hand = self.at_hand.lock().unwrap_or_else(PoisonError::into_inner);
        if at_hand.values().map(Bytes::len).sum::<usize>() + bytes.len() > AT_HAND {
            at_hand.clear();
        }
        at_hand.insert(blob.clone(), bytes.clone());
        Some(bytes)
    }
}

fn blobs(message: &Message) -> impl Iterator<Item = &BlobId> {
    let content: &[Content] = match message {
        Message::User { content } | Message::Tool { content, .. } => content,
        Message::Assistant { .. } => &[],
    };
    content.iter().filter_map(|content| match content {
        Content::Image { blob, .. } => Some(blob),
        Content::Text { .. } => None,
    })
}

/// Whether the results of tools may show pictures to a model.
pub(crate) fn in_results(models: &Models, model: &ModelRef) -> ImageSupport {
    match takes(models, model) {
        Takes::Yes => ImageSupport::Accepted,
        Takes::FromPersons | Takes::No => ImageSupport::Refused,
    }
}

/// Refuses pictures for a model that cannot look at them, before anything is sent.
pub(crate) fn check(models: &Models, model: &ModelRef, content: &[Content]) -> Result<(), ServiceError> {
    let shown = content.iter().any(|content| matches!(content, Content::Image { .. }));
    if shown && takes(models, model) == Takes::No {
        let message = format!("{model} cannot look at pictures; choose another model or leave them out");
        return Err(ServiceError::Invalid { message });
    }
    Ok(())
}

/// Whether a model takes pictures at all.
fn takes(models: &Models, model: &ModelRef) -> Takes {
    models.resolve(model).map_or(Takes::No, |endpoint| endpoint.quirks.images)
}
