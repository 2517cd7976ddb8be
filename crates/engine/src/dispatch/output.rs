//! What a call prints: shown while it comes, bounded for the model, kept whole
//! in an artifact when it is more than the model gets.
//!
//! Memory stays constant whatever a call prints: the bounds, a short tail for
//! the faces, and a buffer of the artifact's writer.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use rein_protocol::{ArtifactId, CallId, EventBody, SessionId};
use rein_store::{ArtifactWriter, Store, StoreError};
use rein_tools::bound::{Bounder, Spill};
use rein_tools::{ArtifactSource, Output};

use crate::session::link::Link;

/// How much unseen output is kept for the faces; of more, they get the end.
const LIVE_TAIL: usize = 8 << 10;
/// How often it is shown.
const LIVE_TICK: Duration = Duration::from_millis(33);

/// Where a session's artifacts are.
#[derive(Clone)]
pub(crate) struct ArtifactShelf {
    store: Store,
    session: SessionId,
}

impl ArtifactShelf {
    pub(crate) fn new(store: Store, session: SessionId) -> Self {
        Self { store, session }
    }

    /// The file of an artifact of this session; those of others are not for it.
    async fn find(&self, id: &ArtifactId) -> Result<Option<std::path::PathBuf>, StoreError> {
        match self.store.artifact(id).await? {
            Some(artifact) if artifact.session == self.session => self.store.artifact_path(id).await,
            _ => Ok(None),
        }
    }
}

#[async_trait]
impl ArtifactSource for ArtifactShelf {
    async fn path(&self, id: &ArtifactId) -> Option<std::path::PathBuf> {
        self.find(id).await.unwrap_or_else(|error| {
            tracing::warn!(%id, %error, "an artifact could not be looked up");
            None
        })
    }
}

/// The output of one call; clones are the same output.
#[derive(Clone)]
pub(crate) struct CallOutput {
    call: CallId,
    link: Link,
    collected: Arc<Mutex<Collected>>,
}

struct Collected {
    bounder: Bounder,
    shelf: ArtifactShelf,
    artifact: Artifact,
    live: LiveTail,
}

/// The artifact of an output that is too long.
enum Artifact {
    NotNeeded,
    Writing(Box<ArtifactWriter>),
    /// It could not be kept whole, for this reason.
    Failed(String),
}

/// What the model gets, and where the rest is.
pub(crate) struct Kept {
    pub(crate) text: String,
    pub(crate) artifact: Option<ArtifactId>,
}

impl CallOutput {
    pub(crate) fn new(call: CallId, link: Link, shelf: ArtifactShelf) -> Self {
        let collected = Collected {
            bounder: Bounder::default(),
            shelf,
            artifact: Artifact::NotNeeded,
            live: LiveTail::default(),
        };
        Self { call, link, collected: Arc::new(Mutex::new(collected)) }
    }

    /// Shows what has come since the last time, if the session has room for it.
    fn show(&self) {
        let Some(delta) = self.lock().live.take() else { return };
        let body = EventBody::CallOutput { call: self.call.clone(), delta };
        if let Err(EventBody::CallOutput { delta, .. }) = self.link.try_emit(body) {
            self.lock().live.put_back(&delta);
        }
    }

    /// Does something that prints here, and shows what comes of it while it does.
    pub(crate) async fn shown_while<T>(&self, work: impl Future<Output = T>) -> T {
        tokio::pin!(work);
        let mut tick = tokio::time::interval(LIVE_TICK);
        loop {
            tokio::select! {
                biased;
                done = &mut work => return done,
                _ = tick.tick() => self.show(),
            }
        }
    }

    /// Ends the output: the bounded text, and the artifact if there is one.
    pub(crate) async fn finish(self) -> Kept {
        let (spill, bounder) = {
            let mut collected = self.lock();
            let spill = std::mem::replace(&mut collected.artifact, Artifact::NotNeeded);
            (spill, std::mem::take(&mut collected.bounder))
        };
        let (artifact, trouble) = match spill {
            Artifact::NotNeeded => (None, None),
            Artifact::Writing(writer) => keep(*writer).await,
            Artifact::Failed(reason) => (None, Some(reason)),
        };
        let mut text = bounder.finish(artifact.as_ref());
        if let Some(reason) = trouble {
            text.push_str(&format!("\n[the whole output could not be kept: {reason}]"));
        }
        Kept { text, artifact }
    }

    fn lock(&self) -> std::sync::MutexGuard<'_, Collected> {
        self.collected.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

async fn keep(writer: ArtifactWriter) -> (Option<ArtifactId>, Option<String>) {
    let dropped = writer.dropped();
    match writer.finish().await {
        Ok(id) if dropped == 0 => (Some(id), None),
        Ok(id) => (Some(id), Some(format!("its last {dropped} bytes were too much"))),
        Err(error) => (None, Some(error.to_string())),
    }
}

impl Output for CallOutput {
    fn write(&mut self, bytes: &[u8]) {
        let mut collected = self.lock();
        collected.live.push(bytes);
        collected.take(bytes);
    }

    fn expect_terminal(&mut self) {
        self.lock().bounder.expect_terminal();
    }
}

impl Collected {
    fn take(&mut self, bytes: &[u8]) {
        match self.bounder.write(bytes) {
            Spill::Nothing => {}
            Spill::Begin(before) => {
                self.artifact = match self.shelf.store.artifact_writer(&self.shelf.session) {
                    Ok(writer) => Artifact::Writing(Box::new(writer)),
                    Err(error) => Artifact::Failed(error.to_string()),
                };
                self.keep(&before);
                self.keep(bytes);
            }
            Spill::Continue => self.keep(bytes),
        }
    }

    fn keep(&mut self, bytes: &[u8]) {
        if let Artifact::Writing(writer) = &mut self.artifact
            && let Err(error) = writer.write(bytes)
        {
            self.artifact = Artifact::Failed(error.to_string());
        }
    }
}

/// The end of what the faces have not seen yet.
#[derive(Default)]
struct LiveTail {
    bytes: Vec<u8>,
    skipped: bool,
}

impl LiveTail {
    fn push(&mut self, bytes: &[u8]) {
        let excess = (self.bytes.len() + bytes.len()).saturating_sub(LIVE_TAIL);
        if excess > 0 {
            self.bytes.drain(..excess.min(self.bytes.len()));
            self.skipped = true;
        }
        self.bytes.extend_from_slice(bytes.get(bytes.len().saturating_sub(LIVE_TAIL)..).unwrap_or_default());
    }

    /// Everything up to the last whole character.
    fn take(&mut self) -> Option<String> {
        let complete = match std::str::from_utf8(&self.bytes) {
            Ok(_) => self.bytes.len(),
            Err(error) if error.error_len().is_none() => error.valid_up_to(),
            Err(_) => self.bytes.len(),
        };
        if complete == 0 {
            return None;
        }
        let text: Vec<u8> = self.bytes.drain(..complete).collect();
        let text = String::from_utf8_lossy(&text);
        let start = if std::mem::take(&mut self.skipped) { "\n[…]\n" } else { "" };
        Some(format!("{start}{text}"))
    }

    fn put_back(&mut self, text: &str) {
        let newer = std::mem::take(&mut self.bytes);
        self.push(text.as_bytes());
        self.push(&newer);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_character_is_not_shown_before_it_is_whole() {
        let mut live = LiveTail::default();
        live.push(&"é".as_bytes()[..1]);
        assert_eq!(live.take(), None);
        live.push(&"é".as_bytes()[1..]);
        live.push(b"!");
        assert_eq!(live.take().as_deref(), Some("é!"));
        assert_eq!(live.take(), None);
    }

    #[test]
    fn bytes_that_are_no_text_are_replaced_and_do_not_hold_up_the_rest() {
        let mut live = LiveTail::default();
        live.push(b"a\xffb");
        assert_eq!(live.take().as_deref(), Some("a\u{fffd}b"));
    }

    #[test]
    fn of_too_much_the_end_is_shown() {
        let mut live = LiveTail::default();
        for _ in 0..100 {
            live.push(&[b'x'; 1 << 10]);
        }
        live.push(b"end");
        let shown = live.take().unwrap();
        assert!(shown.starts_with("\n[…]\n") && shown.ends_with("xend") && shown.len() < LIVE_TAIL + 16);
    }

    #[test]
    fn of_too_much_at_once_the_end_is_shown_as_such() {
        let mut live = LiveTail::default();
        live.push(&[b'x'; LIVE_TAIL + 1]);
        assert_eq!(live.take().unwrap(), format!("\n[…]\n{}", "x".repeat(LIVE_TAIL)));
    }

    #[test]
    fn what_could_not_be_published_comes_before_what_came_later() {
        let mut live = LiveTail::default();
        live.push(b"one");
        let taken = live.take().unwrap();
        live.push(b"two");
        live.put_back(&taken);
        assert_eq!(live.take().as_deref(), Some("onetwo"));
    }
}
