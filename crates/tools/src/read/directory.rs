//! A directory as a tree of bounded size.
//!
//! What is in it is shown, and a little of what is in the directories in it;
//! the rest is counted. What git ignores is named and not entered, and of what
//! may not be read only the number is told.

use std::fs::FileType;
use std::io;
use std::path::{Path, PathBuf};

use tokio_util::sync::CancellationToken;

use super::View;
use super::range::{Asked, Selection};
use crate::bound::{OUTPUT_BYTES, OUTPUT_LINES};
use crate::contract::Scene;
use crate::ignored::Ignored;
use crate::path::printable;
use crate::walk::left_out_note;

/// Names shown of a directory in the directory.
const CHILDREN: usize = 12;

/// Names counted of one; beyond these it is only said that there are more.
const COUNTED: usize = 10_000;

/// With more names than this of its own, nothing below them is shown.
const MOST_OPENED: usize = 60;

struct Entry {
    name: String,
    path: PathBuf,
    kind: Option<FileType>,
}

impl Entry {
    /// Directories with `/` and links with `@`.
    fn label(&self) -> String {
        let mark = match self.kind {
            Some(kind) if kind.is_dir() => "/",
            Some(kind) if kind.is_symlink() => "@",
            _ => "",
        };
        format!("{}{mark}", printable(&self.name))
    }

    fn is_directory(&self) -> bool {
        self.kind.is_some_and(|kind| kind.is_dir())
    }
}

/// Names in order.
pub(super) fn view(
    path: &Path,
    selection: &Selection,
    scene: &Scene,
    cancel: &CancellationToken,
) -> io::Result<View> {
    let mut left_out = 0;
    let (entries, _) = list(path, usize::MAX, scene, &mut left_out, cancel)?;
    let total = entries.len() as u64;
    let selection = selection.clone().resolved(total);
    let ignored = Ignored::new(path);
    let opens = entries.len() <= MOST_OPENED;
    let mut text = String::new();
    let (mut shown, mut last, mut stopped) = (0, 0, false);
    let mut printed = 0;
    for (number, entry) in (1_u64..).zip(&entries) {
        if !selection.spans.iter().any(|span| (span.first..=span.end()).contains(&number)) {
            continue;
        }
        let mut lines = Vec::new();
        let is_covered = entry.kind.is_some_and(|kind| ignored.covers(&entry.path, kind));
        match (entry.is_directory(), is_covered) {
            (_, true) => lines.push(format!("{} (ignored by git)", entry.label())),
            (true, false) if opens && entry.name != ".git" => {
                lines.push(entry.label());
                open(entry, &ignored, scene, &mut left_out, cancel, &mut lines);
            }
            _ => lines.push(entry.label()),
        }
        let block: String = lines.iter().map(|line| format!("{line}\n")).collect();
        if shown > 0 && (text.len() + block.len() > OUTPUT_BYTES || printed + lines.len() > OUTPUT_LINES) {
            stopped = true;
            break;
        }
        text.push_str(&block);
        (shown, last, printed) = (shown + 1, number, printed + lines.len());
    }
    let mut notes = Vec::new();
    let next = last + 1;
    if total == 0 && left_out == 0 {
        notes.push("empty directory".to_owned());
    } else if shown == 0 && total > 0 {
        notes.push(format!("past the end: the directory has {total} entries"));
    } else if next <= total && (stopped || selection.asked != Asked::Ranges) {
        let way_on = selection.way_on(next).unwrap_or_default();
        notes.push(format!("entries up to {last} of {total}: {way_on}"));
    }
    notes.extend(left_out_note(left_out));
    Ok(View { text, notes, summary: format!("{total} entries"), ..View::default() })
}

/// A few names of a directory in the directory, and how many there are more.
fn open(
    directory: &Entry,
    ignored: &Ignored,
    scene: &Scene,
    left_out: &mut usize,
    cancel: &CancellationToken,
    lines: &mut Vec<String>,
) {
    let Ok((entries, rest)) = list(&directory.path, COUNTED, scene, left_out, cancel) else {
        lines.push("  (cannot be opened)".to_owned());
        return;
    };
    let is_shown = |entry: &&Entry| !entry.kind.is_some_and(|kind| ignored.covers(&entry.path, kind));
    let (kept, ignored): (Vec<&Entry>, Vec<&Entry>) = entries.iter().partition(is_shown);
    // One more name takes no more room than the words that there is one.
    let count = if kept.len() == CHILDREN + 1 { kept.len() } else { CHILDREN };
    lines.extend(kept.iter().take(count).map(|entry| format!("  {}", entry.label())));
    let more = kept.len().saturating_sub(count);
    let mut folded = Vec::new();
    if more > 0 {
        folded.push(format!("{more}{} more", if rest == Rest::More { "+" } else { "" }));
    }
    if !ignored.is_empty() {
        folded.push(format!("{} ignored by git", ignored.len()));
    }
    if !folded.is_empty() {
        lines.push(format!("  … {}", folded.join(", ")));
    }
}

/// Whether a list is all there is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Rest {
    Nothing,
    More,
}

fn list(
    path: &Path,
    most: usize,
    scene: &Scene,
    left_out: &mut usize,
    cancel: &CancellationToken,
) -> io::Result<(Vec<Entry>, Rest)> {
    let mut entries = Vec::new();
    let mut rest = Rest::Nothing;
    for entry in std::fs::read_dir(path)? {
        if cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        if entries.len() >= most {
            rest = Rest::More;
            break;
        }
        let entry = entry?;
        if !(scene.may_read)(&entry.path()) {
            *left_out += 1;
            continue;
        }
        let name = entry.file_name().to_string_lossy().into_owned();
        entries.push(Entry { name, path: entry.path(), kind: entry.file_type().ok() });
    }
    entries.sort_by_cached_key(Entry::label);
    Ok((entries, rest))
}
