//! A part of a text file, with line numbers.
//!
//! It costs memory for what is shown and no more, and it reads no further than
//! it must: a file is read to its end, to count and to hash it, only if it is
//! not large.

use std::fs::{File, Metadata};
use std::io::{self, Cursor, Read, Seek};

use blake3::Hash;
use tokio_util::sync::CancellationToken;

use super::kind::{self, Kind};
use super::lines::{Hashing, Line, Lines};
use super::{Range, View, refusal};
use crate::bound::{LINE_CHARS, OUTPUT_BYTES};
use crate::memory::{HASHED_BYTES, Seen};
use crate::text;

/// Bytes by which a file is judged.
const SAMPLE: u64 = 8 * 1024;

/// Characters of a line that are shown: the number and the remark must fit beside them.
const SHOWN_CHARS: usize = LINE_CHARS - 100;

/// Reads a part of a file.
pub(super) fn view(
    mut file: File,
    metadata: &Metadata,
    shown: &str,
    range: Range,
    cancel: &CancellationToken,
) -> Result<View, String> {
    let mut sample = Vec::new();
    let sampled = file.by_ref().take(SAMPLE).read_to_end(&mut sample).and_then(|_| file.rewind());
    sampled.map_err(|error| refusal(shown, &error))?;
    let bytes = metadata.len();
    let (mut view, hash) = match kind::of(&sample) {
        Kind::Binary(what) => {
            return Err(format!(
                "{shown} is {what} of {bytes} bytes, not text. Use a program with bash to look into it."
            ));
        }
        Kind::Utf16 => view_utf16(file, shown, range, cancel)?,
        Kind::Text => {
            let hashing = if bytes <= HASHED_BYTES { Hashing::Yes } else { Hashing::No };
            // Somebody may write to it faster than it is read. Files of /proc claim to be empty.
            let end = if bytes == 0 { HASHED_BYTES } else { bytes };
            Slice::new(range).read(Lines::new(file.take(end), hashing, cancel), bytes, shown)?
        }
    };
    view.seen = Some(Seen::new(metadata, hash));
    Ok(view)
}

fn view_utf16(
    file: File,
    shown: &str,
    range: Range,
    cancel: &CancellationToken,
) -> Result<(View, Option<Hash>), String> {
    let mut bytes = Vec::new();
    file.take(HASHED_BYTES + 1).read_to_end(&mut bytes).map_err(|error| refusal(shown, &error))?;
    if bytes.len() as u64 > HASHED_BYTES {
        return Err(format!("{shown} is UTF-16 text, and too large to convert here. Use iconv with bash."));
    }
    let Some((text, _)) = text::decode(&bytes) else {
        return Err(format!(
            "{shown} begins like UTF-16 text but is not. Use a program with bash to look into it."
        ));
    };
    let length = text.len() as u64;
    let lines = Lines::new(Cursor::new(text), Hashing::Yes, cancel);
    let (mut view, _) = Slice::new(range).read(lines, length, shown)?;
    view.notes.push("UTF-16, shown converted; edit and write keep it".to_owned());
    Ok((view, Some(blake3::hash(&bytes))))
}

/// What is being collected.
struct Slice {
    range: Range,
    text: String,
    shown: u64,
    crlf: u64,
    replaced: bool,
}

impl Slice {
    fn new(range: Range) -> Self {
        Self { range, text: String::new(), shown: 0, crlf: 0, replaced: false }
    }

    fn read<R: Read>(
        mut self,
        mut lines: Lines<'_, R>,
        bytes: u64,
        shown: &str,
    ) -> Result<(View, Option<Hash>), String> {
        let read = self.collect(&mut lines).and_then(|skipped| {
            let total = match lines.hash() {
                Some(_) => Some(skipped + self.shown + lines.count_rest()?),
                None if lines.has_more()? => None,
                None => Some(skipped + self.shown),
            };
            Ok((skipped, total))
        });
        let (skipped, total) = read.map_err(|error| refusal(shown, &error))?;
        if self.shown == 0 && self.range.first > 1 {
            return Err(format!("offset {} is past the end: {shown} has {skipped} lines.", self.range.first));
        }
        let (notes, summary) = (self.notes(total, bytes), self.summary(total));
        Ok((View { notes, summary, text: self.text, seen: None }, lines.hash()))
    }

    /// Skips to the first line and takes as many as there are and may be. Returns how many were skipped.
    fn collect<R: Read>(&mut self, lines: &mut Lines<'_, R>) -> io::Result<u64> {
        let mut kept = Vec::new();
        let mut skipped = 0;
        while skipped + 1 < self.range.first {
            if lines.next(&mut kept, 0)?.is_none() {
                return Ok(skipped);
            }
            skipped += 1;
        }
        // A line can be known to be too much only when it has been read.
        while self.shown < self.range.count && self.text.len() < OUTPUT_BYTES {
            let Some(line) = lines.next(&mut kept, SHOWN_CHARS * 4)? else { break };
            let number = self.range.first + self.shown;
            let formatted = self.format(number, &kept, line);
            if self.shown > 0 && self.text.len() + formatted.len() > OUTPUT_BYTES {
                // It is shown by the next call, and still counts as a line of the file.
                self.range.count = self.shown;
                return Ok(skipped + 1);
            }
            self.text.push_str(&formatted);
            self.shown += 1;
        }
        Ok(skipped)
    }

    fn format(&mut self, number: u64, kept: &[u8], line: Line) -> String {
        let is_whole = line.length == kept.len() as u64;
        let kept = match kept.strip_suffix(b"\r") {
            Some(without) if is_whole => {
                self.crlf += 1;
                without
            }
            _ => kept,
        };
        let text = String::from_utf8_lossy(kept);
        self.replaced |= is_whole && matches!(text, std::borrow::Cow::Owned(_));
        let text = if number == 1 { text.trim_start_matches('\u{feff}') } else { &text };
        match text.char_indices().nth(SHOWN_CHARS) {
            None if is_whole => format!("{number}|{text}\n"),
            cut => {
                let shown = text.get(..cut.map_or(text.len(), |(at, _)| at)).unwrap_or_default();
                let rest = line.length.saturating_sub(shown.len() as u64);
                format!("{number}|{shown} [… {rest} bytes cut]\n")
            }
        }
    }

    fn notes(&self, total: Option<u64>, bytes: u64) -> Vec<String> {
        let (first, last) = (self.range.first, self.range.first + self.shown.saturating_sub(1));
        let mut notes = Vec::new();
        match total {
            Some(0) => notes.push("empty file".to_owned()),
            Some(total) if last < total => {
                notes.push(format!("lines {first}-{last} of {total}: continue with offset {}", last + 1));
            }
            Some(total) if first > 1 => notes.push(format!("end of file, {total} lines")),
            Some(_) => {}
            None => notes.push(format!(
                "lines {first}-{last} of a file of {bytes} bytes: continue with offset {}",
                last + 1
            )),
        }
        if self.crlf > 0 {
            let what = if self.crlf == self.shown { "CRLF line ends" } else { "CRLF and LF line ends mixed" };
            notes.push(what.to_owned());
        }
        if self.replaced {
            notes.push("not UTF-8: what is not is shown as \u{FFFD}".to_owned());
        }
        notes
    }

    fn summary(&self, total: Option<u64>) -> String {
        match total {
            Some(total) if total == self.shown => format!("{total} lines"),
            Some(total) => format!("{} of {total} lines", self.shown),
            None => format!("{} lines of more", self.shown),
        }
    }
}
