//! Lines of a text with their numbers, as many as fit.
//!
//! It costs memory for what is shown and no more. Whether the text is counted to
//! its end is the caller's choice.

use std::io::{self, Read};

use super::View;
use super::lines::{Line, Lines};
use super::range::{Asked, Selection};
use crate::bound::{OUTPUT_BYTES, OUTPUT_LINES};

/// Characters of a line that are shown.
const SHOWN_CHARS: usize = 768;

/// Stands where lines between two ranges are not shown.
const GAP: &str = "…\n";

/// Whether lines that are not shown are counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Counting {
    Yes,
    No,
}

/// How lines are numbered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Numbering {
    /// 1 is the first.
    FromStart,
    /// -1 is the last; there are so many from here on.
    FromEnd(u64),
}

/// What is being collected.
pub(super) struct Slice<'a> {
    selection: &'a Selection,
    numbering: Numbering,
    text: String,
    /// Lines of the text, and those that stand for a gap.
    printed: usize,
    shown: u64,
    /// The last that was shown.
    last: u64,
    /// The first that did not fit.
    stopped: Option<u64>,
    crlf: u64,
    replaced: bool,
}

impl<'a> Slice<'a> {
    pub(super) fn new(selection: &'a Selection, numbering: Numbering) -> Self {
        Self {
            selection,
            numbering,
            text: String::new(),
            printed: 0,
            shown: 0,
            last: 0,
            stopped: None,
            crlf: 0,
            replaced: false,
        }
    }

    /// Takes the lines that are asked for. `bytes` is the size of the file, for when its lines are not counted.
    pub(super) fn read<R: Read>(
        mut self,
        mut lines: Lines<'_, R>,
        counting: Counting,
        bytes: u64,
        shown: &str,
    ) -> Result<View, String> {
        let read = self.collect(&mut lines).and_then(|passed| match counting {
            Counting::Yes => Ok((passed, Some(passed + lines.count_rest()?))),
            Counting::No if lines.has_more()? => Ok((passed, None)),
            Counting::No => Ok((passed, Some(passed))),
        });
        let (passed, total) = read.map_err(|error| super::refusal(shown, &error))?;
        let first = self.selection.spans.first().map_or(1, |span| span.first);
        if self.shown == 0 && first > 1 {
            let what = match self.selection.asked {
                Asked::Ranges => "ranges begin".to_owned(),
                Asked::Nothing | Asked::Offset => format!("offset {first} is"),
            };
            return Err(format!("{what} past the end: {shown} has {passed} lines."));
        }
        let (notes, summary) = (self.notes(total, bytes), self.summary(total));
        Ok(View { notes, summary, text: self.text, ..View::default() })
    }

    /// Returns how many lines have gone by.
    fn collect<R: Read>(&mut self, lines: &mut Lines<'_, R>) -> io::Result<u64> {
        let mut kept = Vec::new();
        let mut passed = 0;
        for span in &self.selection.spans {
            let before = (span.first - 1).saturating_sub(passed);
            let skipped = lines.skip(before)?;
            passed += skipped;
            if skipped < before {
                return Ok(passed);
            }
            let mut gap = if self.shown > 0 { GAP } else { "" };
            while passed < span.end() {
                let room = OUTPUT_LINES.saturating_sub(self.printed + usize::from(!gap.is_empty()));
                if room == 0 || self.text.len() >= OUTPUT_BYTES {
                    self.stopped = Some(passed + 1);
                    return Ok(passed);
                }
                let Some(line) = lines.next(&mut kept, SHOWN_CHARS * 4)? else { return Ok(passed) };
                passed += 1;
                let formatted = self.format(passed, &kept, line);
                // A line can be known to be too much only when it has been read.
                if self.shown > 0 && self.text.len() + gap.len() + formatted.len() > OUTPUT_BYTES {
                    self.stopped = Some(passed);
                    return Ok(passed);
                }
                self.text.push_str(gap);
                self.text.push_str(&formatted);
                self.printed += 1 + usize::from(!gap.is_empty());
                self.shown += 1;
                self.last = passed;
                gap = "";
            }
        }
        Ok(passed)
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
        let (text, label) = match self.numbering {
            Numbering::FromStart if number == 1 => (text.trim_start_matches('\u{feff}'), "1".to_owned()),
            Numbering::FromStart => (&*text, number.to_string()),
            Numbering::FromEnd(count) => (&*text, format!("-{}", (count + 1).saturating_sub(number))),
        };
        match text.char_indices().nth(SHOWN_CHARS) {
            None if is_whole => format!("{label}|{text}\n"),
            cut => {
                let shown = text.get(..cut.map_or(text.len(), |(at, _)| at)).unwrap_or_default();
                let rest = line.length.saturating_sub(shown.len() as u64);
                format!("{label}|{shown} [… {rest} bytes cut]\n")
            }
        }
    }

    fn notes(&self, total: Option<u64>, bytes: u64) -> Vec<String> {
        let mut notes = Vec::new();
        let first = self.selection.spans.first().map_or(1, |span| span.first);
        let next = self.stopped.unwrap_or(self.last + 1);
        let is_ranges = self.selection.asked == Asked::Ranges;
        // With ranges there is a way on only if some did not fit; else as long as there are lines.
        let way_on = match (is_ranges, self.stopped, total) {
            (true, None, _) => None,
            (false, None, Some(total)) if next > total => None,
            _ => self.selection.way_on(next),
        };
        let of = match total {
            Some(total) => total.to_string(),
            None => format!("a file of {bytes} bytes"),
        };
        match (total, way_on, self.numbering) {
            (Some(0), _, _) => notes.push("empty file".to_owned()),
            (_, _, Numbering::FromEnd(count)) => {
                notes.push(format!("the last {count} lines of {bytes} bytes, numbered from the end"));
            }
            (_, Some(way_on), _) if is_ranges => {
                notes.push(format!("shown to line {} of {of}: {way_on}", self.last))
            }
            (_, Some(way_on), _) => notes.push(format!("lines {first}-{} of {of}: {way_on}", self.last)),
            (Some(total), None, _) if is_ranges => notes.push(format!("{total} lines in all")),
            (Some(total), None, _) if first > 1 => notes.push(format!("end of file, {total} lines")),
            (Some(_) | None, None, _) => {}
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
