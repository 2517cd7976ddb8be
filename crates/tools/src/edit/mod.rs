//! `edit`: pieces of files, in whichever form a model writes them.
//!
//! [`form`] tells the forms apart; this file replaces text by text, and hands
//! the others to `apply_patch` and `hashline`. [`mod@replace`] and what is below
//! it are pure. All pieces of a call are worked out before anything is written,
//! and what a later piece finds is what the earlier ones left.

pub mod blocks;
pub(crate) mod caution;
pub mod form;
mod indent;
#[cfg(test)]
mod ladder_tests;
pub(crate) mod lines;
pub(crate) mod nearest;
pub mod omission;
mod plain;
mod replace;
mod rung;
mod stream;
mod work;

use async_trait::async_trait;
use rein_protocol::ToolSpec;
use serde_json::Value;

use crate::change::{self, Change, Part};
use crate::contract::{Complaint, Plan, Scene, Tool};
use crate::path::Place;
use crate::text::{self, Encoding};
use crate::{apply_patch, hashline};
pub use form::EditForm;
use form::{Asked, FileEdits, Piece};
pub(crate) use indent::moved;
pub use replace::{ReplaceAll, ReplaceError, replace};
pub use rung::Rung;
pub(crate) use rung::outline::plain as plain_line;

/// Changes pieces of files; offered in one form, understood in each.
pub(crate) struct Edit(pub(crate) EditForm);

#[async_trait]
impl Tool for Edit {
    fn spec(&self) -> ToolSpec {
        self.0.spec()
    }

    async fn plan(&self, arguments: Value, scene: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        let change = match form::read(self.0, arguments)? {
            Asked::Replace(files) => replaced(files, scene).await?,
            Asked::Patch(patch) => apply_patch::planned(&patch, scene).await?,
            Asked::Hashline(input) => hashline::planned(&input, scene).await?,
        };
        Ok(Box::new(change))
    }
}

/// Works out replacements of text by text.
async fn replaced(files: Vec<FileEdits>, scene: &Scene) -> Result<Change, Complaint> {
    let mut parts: Vec<Part> = Vec::new();
    let mut told = Vec::new();
    for file in files {
        let place = Place::find(&file.path, scene)?;
        if parts.iter().any(|part| part.place.path == place.path) {
            return Err(Complaint(format!(
                "{} is named twice. Put all edits of a file into one list.",
                place.shown
            )));
        }
        let (part, words) = one_file(place, file.pieces, scene).await?;
        parts.push(part);
        told.push(words);
    }
    Ok(Change::several("edit", parts, told.join("\n")))
}

async fn one_file(place: Place, pieces: Vec<Piece>, scene: &Scene) -> Result<(Part, String), Complaint> {
    let before = change::before(&place).await?;
    match &before {
        None => is_new(&place, &pieces, scene)?,
        // An empty file holds nothing that could be lost.
        Some(loaded) if loaded.bytes.is_empty() => {}
        Some(loaded) => change::must_be_known_as(&place, loaded, scene)?,
    }
    let shown = place.shown.clone();
    let worked_out = tokio::task::spawn_blocking(move || {
        let bytes = before.map(|loaded| loaded.bytes);
        let edited = edited(&shown, bytes.as_deref().unwrap_or_default(), &pieces);
        (bytes, edited)
    });
    let Ok((before, edited)) = worked_out.await else {
        return Err(Complaint("The edit could not be worked out because of an internal error.".into()));
    };
    let edited = edited.map_err(|why| Complaint(format!("{} was not changed: {why}", place.shown)))?;
    let told = match before {
        None => format!("Created {}.", place.shown),
        Some(_) => edited.told(&place.shown),
    };
    Ok((Part::new(place, before, edited.bytes), told))
}

/// A file that is not there can only be made.
fn is_new(place: &Place, pieces: &[Piece], scene: &Scene) -> Result<(), Complaint> {
    if pieces.first().is_some_and(|piece| piece.old.is_empty()) {
        return Ok(());
    }
    let hint = change::hint_at_names(place, scene);
    Err(Complaint(format!("{} does not exist.{hint} To create a file, use write.", place.shown)))
}

/// A file after its edits.
struct Edited {
    bytes: Vec<u8>,
    /// The lines where they were made.
    lines: Vec<usize>,
    /// Which were not found exactly, and how.
    loose: Vec<(usize, Rung)>,
    caution: Option<String>,
}

impl Edited {
    fn told(&self, shown: &str) -> String {
        let mut told = match self.lines.as_slice() {
            [line] => format!("Edited {shown} at line {line}."),
            lines => format!("Edited {shown} at {} places.", lines.len()),
        };
        for (line, rung) in &self.loose {
            told.push_str(&format!(" Line {line} was matched {rung}; check it."));
        }
        if let Some(caution) = &self.caution {
            told.push('\n');
            told.push_str(caution);
        }
        told
    }
}

fn edited(shown: &str, before: &[u8], pieces: &[Piece]) -> Result<Edited, String> {
    let (original, encoding) = match text::decode(before) {
        Some((text, encoding)) => (Some(text), encoding),
        None => (None, Encoding::Other),
    };
    let mut bytes = match &original {
        Some(text) => text.clone().into_bytes(),
        None => before.to_vec(),
    };
    let caution = original.as_deref().and_then(|text| caution::of(shown, text));
    let mut result = Edited { bytes: Vec::new(), lines: Vec::new(), loose: Vec::new(), caution };
    for (index, piece) in pieces.iter().enumerate() {
        let which = if pieces.len() > 1 {
            format!("edit {} of {}: ", index + 1, pieces.len())
        } else {
            String::new()
        };
        fits(piece, original.as_deref()).map_err(|why| format!("{which}{why}"))?;
        let replaced = replace::replace_bytes(&bytes, &piece.old, &piece.new, piece.all)
            .map_err(|error| format!("{which}{}", explained(&error, &bytes, &piece.old)))?;
        if replaced.rung != Rung::Exact {
            result.loose.extend(replaced.lines.iter().map(|line| (*line, replaced.rung)));
        }
        result.lines.extend(replaced.lines);
        bytes = replaced.bytes;
    }
    result.bytes = encoded(bytes, encoding)?;
    if result.bytes == before && !before.is_empty() {
        return Err("the edits undo each other. Nothing would change.".to_owned());
    }
    Ok(result)
}

/// Whether a piece can be put into a file at all.
fn fits(piece: &Piece, original: Option<&str>) -> Result<(), String> {
    // In a file of an unknown encoding, plain letters mean what they mean, and nothing else does.
    if original.is_none() && !(piece.old.is_ascii() && piece.new.is_ascii()) {
        return Err("it is not UTF-8, so only ASCII text in it can be replaced by ASCII text here. \
                    Convert it first, for example with iconv, or use a program with bash."
            .to_owned());
    }
    match omission::added(original.unwrap_or_default(), &piece.new) {
        Some((line, words)) if !piece.old.lines().any(|old| old.trim() == words) => {
            Err(omission_refused(line, words))
        }
        _ => Ok(()),
    }
}

/// What a model is told that left something out.
pub(crate) fn omission_refused(line: usize, words: &str) -> String {
    format!(
        "line {line} of the new text, {words:?}, stands for text that was left out, and would replace it. \
         Write that text out, or make a smaller edit that does not touch it."
    )
}

fn encoded(bytes: Vec<u8>, encoding: Encoding) -> Result<Vec<u8>, String> {
    if encoding == Encoding::Utf8 || encoding == Encoding::Other {
        return Ok(bytes);
    }
    let text = String::from_utf8(bytes).map_err(|_| "the result would not be text.".to_owned())?;
    change::written(&text, encoding).ok_or_else(|| {
        "the new text has characters that the encoding of the file does not have. Use others, or convert it first."
            .to_owned()
    })
}

fn explained(error: &ReplaceError, content: &[u8], old: &str) -> String {
    match error {
        ReplaceError::NotFound => nearest::explain(&String::from_utf8_lossy(content), old, "`old`"),
        ReplaceError::Ambiguous { .. }
        | ReplaceError::Identical
        | ReplaceError::Unchanged { .. }
        | ReplaceError::EmptyOld => error.to_string(),
    }
}
