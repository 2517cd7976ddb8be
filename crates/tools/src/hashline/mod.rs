//! Edits by line number, under a tag of the content that the numbers are of.
//!
//! [`render`] shows a text with its tag and its numbers; edits name both. A tag
//! follows from the whole content, so numbers can never be those of another
//! one: if the file has changed, the content that the tag stands for is looked
//! up, and the edits are moved to where their lines are now, or refused with
//! the lines as they are. All files of a call are changed, or none.

mod apply;
mod block;
mod echo;
mod error;
mod landing;
mod mend;
mod parse;
mod recover;

use std::ops::RangeInclusive;

pub use apply::{Applied, apply};
pub use error::HashlineError;
pub use parse::{Input, Kind, Operation, Section, parse};

use crate::change::{self, Change, Part};
use crate::contract::{Complaint, Scene};
use crate::edit::{caution, omission, omission_refused};
use crate::files::Loaded;
use crate::path::Place;
use crate::text::{self, Encoding};

/// Characters of a tag: 40 bits, so that even a thousand states of a file have different ones but for
/// one time in two million.
const TAG_CHARACTERS: usize = 8;

/// Letters and digits that are not easily mistaken for others.
const ALPHABET: &[u8; 32] = b"0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/// Lines around a change that are shown.
const AROUND: usize = 1;

/// Lines that are shown after an edit or with a refusal, at most.
const SHOWN_LINES: usize = 40;

/// Characters of a line that are shown there.
const SHOWN_CHARS: usize = 300;

/// The tag of a text. How its lines end does not matter.
#[must_use]
pub fn tag(text: &str) -> String {
    let mut hasher = blake3::Hasher::new();
    let mut rest = text.as_bytes();
    while let Some(at) = memchr::memmem::find(rest, b"\r\n") {
        hasher.update(rest.get(..at).unwrap_or_default());
        rest = rest.get(at + 1..).unwrap_or_default();
    }
    hasher.update(rest);
    let hash = hasher.finalize();
    hash.as_bytes()
        .iter()
        .flat_map(|byte| [byte >> 4, byte & 15])
        .collect::<Vec<u8>>()
        .chunks_exact(5)
        .flat_map(|nibbles| {
            // Five times four bits are four times five.
            let bits = nibbles.iter().fold(0_u32, |bits, nibble| bits << 4 | u32::from(*nibble));
            [15, 10, 5, 0].map(|shift| ALPHABET.get((bits >> shift & 31) as usize).copied().unwrap_or(b'0'))
        })
        .take(TAG_CHARACTERS)
        .map(char::from)
        .collect()
}

/// Lines of a text with their numbers, counted from 1, under the tag of the whole.
#[must_use]
pub fn render(path: &str, text: &str, lines: RangeInclusive<usize>) -> String {
    let mut shown = format!("[{path}#{}]\n", tag(text));
    let (first, last) = ((*lines.start()).max(1), *lines.end());
    for (index, line) in text.lines().enumerate().skip(first - 1).take_while(|(index, _)| *index < last) {
        shown.push_str(&format!("{}:{line}\n", index + 1));
    }
    shown
}

/// Keeps a text that is shown with its tag, so that edits of it can be understood after the file has
/// changed. Returns the tag.
pub fn keep(scene: &Scene, text: &str) -> String {
    let tag = tag(text);
    scene.snapshots.keep(&tag, text);
    tag
}

/// Works out edits by line.
pub(crate) async fn planned(input: &str, scene: &Scene) -> Result<Change, Complaint> {
    let input = parse(input).map_err(|error| nothing(&error.to_string()))?;
    let mut parts: Vec<Part> = Vec::new();
    let mut told = Vec::new();
    for section in merged(input.sections)? {
        let place = Place::find(&section.path, scene)?;
        if parts.iter().any(|part| part.place.path == place.path) {
            return Err(nothing(&format!("{} is named in two ways. Use one section for it.", place.shown)));
        }
        let (part, words) = one_file(place, section, scene).await?;
        parts.push(part);
        told.push(words);
    }
    if input.bare_rows > 0 {
        told.push("Note: some new lines lacked their +, and were taken as they are.".to_owned());
    }
    Ok(Change::several("edit", parts, told.join("\n")))
}

fn nothing(why: &str) -> Complaint {
    Complaint(format!("Nothing was changed. {why}"))
}

/// One section a file.
fn merged(sections: Vec<Section>) -> Result<Vec<Section>, Complaint> {
    let mut merged: Vec<Section> = Vec::new();
    for section in sections {
        match merged.iter_mut().find(|other| other.path == section.path) {
            Some(other) if other.tag == section.tag => other.operations.extend(section.operations),
            Some(_) => {
                return Err(nothing(&format!(
                    "{} has two sections with different tags. Use the newest.",
                    section.path
                )));
            }
            None => merged.push(section),
        }
    }
    Ok(merged)
}

async fn one_file(place: Place, section: Section, scene: &Scene) -> Result<(Part, String), Complaint> {
    let Some(loaded) = change::before(&place).await? else {
        let hint = change::hint_at_names(&place, scene);
        return Err(nothing(&format!("{} does not exist.{hint} To create a file, use write.", place.shown)));
    };
    let scene = scene.clone();
    let worked_out = tokio::task::spawn_blocking(move || worked_out(place, &section, loaded, &scene));
    worked_out.await.unwrap_or_else(|_| {
        Err(Complaint("The edit could not be worked out because of an internal error.".into()))
    })
}

fn worked_out(
    place: Place,
    section: &Section,
    loaded: Loaded,
    scene: &Scene,
) -> Result<(Part, String), Complaint> {
    let shown = place.shown.clone();
    let Some((before, encoding)) = text::decode(&loaded.bytes) else {
        return Err(nothing(&format!("{shown} is not UTF-8 text. Use a program with bash.")));
    };
    let mut notes = Vec::new();
    let operations = if tag(&before) == section.tag {
        apply::resolved(&shown, &before, &section.operations, &mut notes)
            .map_err(|error| nothing(&format!("{shown}: {error}")))?
    } else {
        notes.push(format!(
            "Note: {shown} had changed since {}; the edits were moved to where their lines are now.",
            section.tag
        ));
        recovered(&place, &before, section, &loaded, scene, &mut notes)?
    };
    let applied = mend::made(&shown, &before, &operations, notes)
        .map_err(|error| nothing(&format!("{shown}: {error}")))?;
    if applied.text == before {
        return Err(nothing(&format!(
            "The new lines are what {shown} has there already. Read it again before the next edit: the fault is elsewhere."
        )));
    }
    for operation in &operations {
        if let Some((line, words)) = omission::added(&before, &operation.body.join("\n")) {
            return Err(nothing(&format!("{shown}: {}", omission_refused(line, words))));
        }
    }
    let bytes = encoded(&shown, &applied.text, encoding)?;
    let new_tag = tag(&applied.text);
    let told = told(&shown, &new_tag, &before, &applied);
    let mut part = Part::new(place, Some(loaded.bytes), bytes);
    part.snapshot = Some((new_tag, applied.text));
    Ok((part, told))
}

/// Operations for an older content of the file.
fn recovered(
    place: &Place,
    now: &str,
    section: &Section,
    loaded: &Loaded,
    scene: &Scene,
    notes: &mut Vec<String>,
) -> Result<Vec<Operation>, Complaint> {
    let shown = &place.shown;
    let kept = scene.snapshots.find(&section.tag).filter(|text| tag(text) == section.tag);
    let remembered = || {
        let text = scene.files.text_of(&place.path)?;
        (tag(&text) == section.tag).then(|| text.to_string())
    };
    let Some(before) = kept.or_else(remembered) else {
        // Nobody has been asked whether it may be shown, unless it was before.
        change::must_be_known(place, &loaded.seen, scene)?;
        let lines = named(&section.operations);
        return Err(nothing(&format!(
            "{shown} does not have the tag {}, and no state of it that was shown had. As it is now:\n{}",
            section.tag,
            excerpt(shown, now, &lines)
        )));
    };
    let operations = apply::resolved(shown, &before, &section.operations, notes)
        .map_err(|error| nothing(&format!("{shown}: {error}")))?;
    recover::moved(&before, now, &operations).map_err(|lost| {
        if !(scene.may_read)(&place.path) {
            return nothing(&format!("{shown} has changed since {}. Read it again.", section.tag));
        }
        let lines: Vec<RangeInclusive<usize>> = lost.iter().map(|lost| lost.first..=lost.last).collect();
        nothing(&format!(
            "{shown} has changed since {}, at or beside the lines of this edit. As it is now:\n{}",
            section.tag,
            excerpt(shown, now, &lines)
        ))
    })
}

/// The lines that operations name.
fn named(operations: &[Operation]) -> Vec<RangeInclusive<usize>> {
    let lines = operations.iter().filter_map(|operation| match operation.kind {
        Kind::Swap(first, last) | Kind::Delete(first, last) => Some(first..=last),
        Kind::Before(line)
        | Kind::After(line)
        | Kind::SwapBlock(line)
        | Kind::DeleteBlock(line)
        | Kind::AfterBlock(line) => Some(line..=line),
        Kind::Head | Kind::Tail => None,
    });
    lines.collect()
}

/// Some lines of a text and those beside them, under its tag.
fn excerpt(shown: &str, text: &str, lines: &[RangeInclusive<usize>]) -> String {
    let wanted = |number: usize| {
        lines.iter().any(|range| {
            number + AROUND * 2 >= *range.start() && number <= range.end().saturating_add(AROUND * 2)
        })
    };
    let mut result = format!("[{shown}#{}]", tag(text));
    let mut last = 0;
    let shown = text.lines().enumerate().filter(|(index, _)| wanted(index + 1));
    for (count, (index, line)) in shown.enumerate() {
        if count == SHOWN_LINES {
            result.push_str("\n…");
            break;
        }
        if index > last && last > 0 {
            result.push_str("\n…");
        }
        let line: String = line.chars().take(SHOWN_CHARS).collect();
        result.push_str(&format!("\n{}:{line}", index + 1));
        last = index + 1;
    }
    result
}

fn told(shown: &str, tag: &str, before: &str, applied: &Applied) -> String {
    let lines: Vec<RangeInclusive<usize>> =
        applied.changed.iter().map(|range| range.start + 1..=range.end).collect();
    let mut told = excerpt(shown, &applied.text, &lines);
    if lines.is_empty() {
        told = format!("[{shown}#{tag}]");
    }
    for note in applied.notes.iter().cloned().chain(caution::of(shown, before)) {
        told.push('\n');
        told.push_str(&note);
    }
    told
}

fn encoded(shown: &str, after: &str, encoding: Encoding) -> Result<Vec<u8>, Complaint> {
    change::written(after, encoding).ok_or_else(|| {
        nothing(&format!("The new text of {shown} has characters that its encoding does not have."))
    })
}
