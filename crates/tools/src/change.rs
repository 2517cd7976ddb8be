//! A change of files that has been worked out and not been made: what `write`
//! and every form of `edit` have in common.
//!
//! What the files were when the change was planned must be what they are when
//! it is made, or nothing is done. Of several files all are changed or none;
//! `made` does that.

mod made;

use async_trait::async_trait;
use rein_protocol::{Block, Display, Effect, Intent};
use tokio_util::sync::CancellationToken;

use crate::contract::{Complaint, Outcome, Output, Plan, Scene};
use crate::diff::{self, Extent};
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

/// The same for a file that has been loaded. One that changed is shown with what changed, if that is
/// known; then it has been seen as it is now.
pub(crate) fn must_be_known_as(place: &Place, now: &Loaded, scene: &Scene) -> Result<(), Complaint> {
    let refused = must_be_known(place, &now.seen, scene);
    match what_changed(place, now, scene) {
        Some(difference) if refused.is_err() => Err(Complaint(format!(
            "{} was not changed, because it has changed on disk since it was read:\n{difference}",
            place.shown
        ))),
        _ => refused,
    }
}

/// What changed in a file since it was seen, in words for the model; nothing if it did not, or if that
/// is not known.
pub(crate) fn what_changed(place: &Place, now: &Loaded, scene: &Scene) -> Option<String> {
    let is_changed = scene.files.knowledge(&place.path, &now.seen) == Knowledge::Changed;
    // Nobody has been asked yet, and the rules may be others by now.
    if !is_changed || !(scene.may_read)(&place.path) {
        return None;
    }
    let (before, after) = (scene.files.text_of(&place.path)?, readable(&now.bytes)?);
    let (difference, extent) = diff::told(&before, &after);
    Some(match extent {
        Extent::Whole => {
            scene.files.remember_text(&place.path, now.seen.clone(), &after);
            format!("{difference}Take that into account and call again.")
        }
        Extent::Cut => format!("{difference}Read it again, then change it."),
    })
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

/// A file that a change is about.
pub(crate) struct Part {
    pub(crate) place: Place,
    /// What it was; nothing if there was none.
    pub(crate) before: Option<Vec<u8>>,
    /// What it becomes; nothing if it goes.
    pub(crate) after: Option<Vec<u8>>,
    /// The file whose mode a new one gets: where it was moved from.
    pub(crate) mode_of: Option<std::path::PathBuf>,
    /// A text to keep under a key once it is there.
    pub(crate) snapshot: Option<(String, String)>,
}

impl Part {
    /// A file that changes or comes to be.
    pub(crate) fn new(place: Place, before: Option<Vec<u8>>, after: Vec<u8>) -> Self {
        Self { place, before, after: Some(after), mode_of: None, snapshot: None }
    }

    fn block(&self) -> Option<Block> {
        let old = readable(self.before.as_deref().unwrap_or_default())?;
        let new = readable(self.after.as_deref().unwrap_or_default())?;
        Some(diff::block(&self.place.shown, &old, &new))
    }
}

/// A change that has been worked out.
pub(crate) struct Change {
    intent: Intent,
    parts: Vec<Part>,
    told: String,
}

impl Change {
    /// From one state of a file to another. `verb` and `told` are for the person and the model.
    pub(crate) fn new(verb: &str, place: Place, before: Option<&[u8]>, after: Vec<u8>, told: String) -> Self {
        Self::several(verb, vec![Part::new(place, before.map(<[u8]>::to_vec), after)], told)
    }

    /// Of several files at once.
    pub(crate) fn several(verb: &str, parts: Vec<Part>, told: String) -> Self {
        let title = match parts.as_slice() {
            [part] => format!("{verb} {}", part.place.shown),
            parts => format!("{verb} {} files", parts.len()),
        };
        let display = parts.iter().filter_map(Part::block).fold(Display::titled(title), Display::with_block);
        let effects = parts.iter().map(|part| Effect::Write { path: part.place.path.clone() }).collect();
        Self { intent: Intent { effects, display }, parts, told }
    }
}

/// The text of a file, if it is one.
pub(crate) fn readable(bytes: &[u8]) -> Option<String> {
    text::decode(bytes).map(|(text, _)| text)
}

/// The bytes of a text in an encoding; nothing if it cannot be written in it.
pub(crate) fn written(text: &str, encoding: text::Encoding) -> Option<Vec<u8>> {
    let bytes = text::encode(text, encoding);
    let is_plain = matches!(encoding, text::Encoding::Utf8 | text::Encoding::Utf8Marked);
    (is_plain || readable(&bytes).as_deref() == Some(text)).then_some(bytes)
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
        let Self { parts, told, .. } = *self;
        let scene = scene.clone();
        // Once begun it is not interrupted: it is short, and half a change is none.
        match tokio::task::spawn_blocking(move || made::make(&parts, &scene)).await {
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
    let sums = display.blocks.iter().fold(None, |sums: Option<(usize, usize)>, block| match block {
        Block::Diff { added, removed, .. } => {
            let (all_added, all_removed) = sums.unwrap_or_default();
            Some((all_added + added, all_removed + removed))
        }
        _ => sums,
    });
    match sums {
        Some((added, removed)) => format!("+{added} -{removed}"),
        None => "written".to_owned(),
    }
}
