//! A change of one file that has been worked out and not been made: what
//! `write` and `edit` have in common.
//!
//! What the file was when the change was planned must be what it is when the
//! change is made, or nothing is done.

use async_trait::async_trait;
use blake3::Hash;
use rein_protocol::{Block, Display, Effect, Intent};
use tokio_util::sync::CancellationToken;

use crate::contract::{Complaint, Outcome, Output, Plan, Scene};
use crate::diff;
use crate::files::{self, LoadError, Loaded};
use crate::memory::{Knowledge, Seen};
use crate::near;
use crate::path::Place;
use crate::text;

/// Files beyond this are for programs to change.
pub(crate) const MOST_BYTES: u64 = crate::memory::HASHED_BYTES;

/// The file as it is before a change; nothing if there is none.
pub(crate) async fn before(place: &Place) -> Result<Option<Loaded>, Complaint> {
    let path = place.path.clone();
    let loaded = tokio::task::spawn_blocking(move || files::load(&path, MOST_BYTES)).await;
    let shown = &place.shown;
    match loaded.unwrap_or_else(|error| Err(LoadError::Io(error.into()))) {
        Ok(loaded) => unprotected(place).map(|()| Some(loaded)).map_err(Complaint),
        Err(LoadError::Missing) => Ok(None),
        Err(LoadError::Directory) => Err(Complaint(format!("{shown} is a directory. Name a file in it."))),
        Err(LoadError::Special(kind)) => {
            Err(Complaint(format!("{shown} is {kind}, which cannot be changed. Name a file.")))
        }
        Err(LoadError::TooLarge(bytes)) => Err(Complaint(format!(
            "{shown} has {bytes} bytes, too many to change here. Use a program with bash."
        ))),
        Err(LoadError::Io(error)) => Err(Complaint(format!("{shown} cannot be read: {error}."))),
    }
}

/// Refuses a file that is protected from being written.
fn unprotected(place: &Place) -> Result<(), String> {
    match files::protection(&place.path) {
        Some(mode) => Err(format!(
            "{} is write-protected (mode {mode:04o}), so it was not changed. Ask the user whether it may be, or write to another file.",
            place.shown
        )),
        None => Ok(()),
    }
}

/// Refuses a file that the model has not seen as it is.
pub(crate) fn must_be_known(place: &Place, now: &Seen, scene: &Scene) -> Result<(), Complaint> {
    let shown = &place.shown;
    match scene.files.knowledge(&place.path, now) {
        Knowledge::Current => Ok(()),
        Knowledge::Unread => Err(Complaint(format!(
            "{shown} exists and has not been read in this conversation. Read it first, then change it."
        ))),
        Knowledge::Changed => Err(Complaint(format!(
            "{shown} has changed on disk since it was read. Read it again, then change it."
        ))),
    }
}

/// Names that a missing file may have been meant to have, for the end of a complaint. Only inside the
/// workspace, because nobody has been asked yet.
pub(crate) fn hint_at_names(place: &Place, scene: &Scene) -> String {
    if place.is_inside(scene) { near_files(&place.path, scene) } else { String::new() }
}

/// Names beside a missing file that are like its own.
pub(crate) fn near_files(path: &std::path::Path, scene: &Scene) -> String {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else { return String::new() };
    let Ok(entries) = std::fs::read_dir(parent) else {
        return match parent.exists() {
            true => String::new(),
            false => {
                format!(" There is no directory {} either.", crate::path::shown(parent, &scene.workspace))
            }
        };
    };
    let names: Vec<String> = entries
        .filter_map(Result::ok)
        .filter(|entry| (scene.may_read)(&entry.path()))
        .map(|entry| entry.file_name().to_string_lossy().into_owned())
        .collect();
    let found = near::nearest(&name.to_string_lossy(), names.iter().map(String::as_str));
    if found.is_empty() {
        return String::new();
    }
    let shown: Vec<String> =
        found.iter().map(|name| crate::path::shown(&parent.join(name), &scene.workspace)).collect();
    format!(" Did you mean {}?", shown.join(" or "))
}

/// A change that has been worked out.
pub(crate) struct Change {
    intent: Intent,
    place: Place,
    before: Option<Hash>,
    after: Vec<u8>,
    told: String,
}

impl Change {
    /// From one state of a file to another. `verb` and `told` are for the person and the model.
    pub(crate) fn new(verb: &str, place: Place, before: Option<&[u8]>, after: Vec<u8>, told: String) -> Self {
        let display = Display::titled(format!("{verb} {}", place.shown));
        let display = match (readable(before.unwrap_or_default()), readable(&after)) {
            (Some(old), Some(new)) => display.with_block(diff::block(&place.shown, &old, &new)),
            _ => display,
        };
        let intent = Intent { effects: vec![Effect::Write { path: place.path.clone() }], display };
        Self { intent, place, before: before.map(blake3::hash), after, told }
    }

    fn apply(&self, scene: &Scene) -> Result<(), String> {
        self.place.still_leads_here(scene)?;
        let shown = &self.place.shown;
        let now = match files::load(&self.place.path, MOST_BYTES) {
            Ok(loaded) => Some(blake3::hash(&loaded.bytes)),
            Err(LoadError::Missing) => None,
            Err(_) => return Err(format!("Nothing was done: {shown} is no longer a file that can be read.")),
        };
        if now != self.before {
            return Err(format!(
                "Nothing was done: {shown} changed while the call waited. Read it again, then change it."
            ));
        }
        unprotected(&self.place)?;
        match files::replace(&self.place.path, &self.after) {
            Ok(seen) => {
                scene.files.remember(&self.place.path, seen);
                Ok(())
            }
            Err(error) => Err(format!("{shown} could not be written: {error}.")),
        }
    }
}

fn readable(bytes: &[u8]) -> Option<String> {
    text::decode(bytes).map(|(text, _)| text)
}

#[async_trait]
impl Plan for Change {
    fn intent(&self) -> &Intent {
        &self.intent
    }

    async fn run(
        self: Box<Self>,
        scene: &Scene,
        output: &mut dyn Output,
        cancel: &CancellationToken,
    ) -> Outcome {
        let display = self.intent.display.clone();
        if cancel.is_cancelled() {
            return Outcome::interrupted(display);
        }
        let summary = counts(&display);
        let told = self.told.clone();
        let scene = scene.clone();
        // Once begun it is not interrupted: it is short, and half a change is none.
        match tokio::task::spawn_blocking(move || self.apply(&scene)).await {
            Ok(Ok(())) => {
                output.write(told.as_bytes());
                Outcome::completed(display.with_summary(summary))
            }
            Ok(Err(message)) => Outcome::failed(display, message),
            Err(_) => Outcome::failed(display, "The file could not be written because of an internal error."),
        }
    }
}

/// `+3 -1`.
fn counts(display: &Display) -> String {
    match display.blocks.first() {
        Some(Block::Diff { added, removed, .. }) => format!("+{added} -{removed}"),
        _ => "written".to_owned(),
    }
}
