//! A document of numbered parts, like pages or cells: those that are asked for,
//! as many as fit.

use super::View;
use super::range::{Asked, Selection, Span};
use crate::bound::{OUTPUT_BYTES, OUTPUT_LINES};

/// Characters of a line that are shown.
const LINE_CHARS: usize = 1_000;

/// Collects parts. `name` is what one is called, `one` gives its text.
pub(super) fn view(
    selection: &Selection,
    name: &str,
    total: u64,
    mut one: impl FnMut(u64) -> Result<String, String>,
) -> Result<View, String> {
    let mut selection = selection.clone().resolved(total);
    if selection.asked == Asked::Nothing {
        selection.asked = Asked::Ranges;
    }
    let first = selection.spans.first().map_or(1, |span| span.first);
    if first > total.max(1) {
        return Err(format!("There is no {name} {first}: there are {total}."));
    }
    let mut page = Page::default();
    for span in &selection.spans {
        for number in span.first..=span.end().min(total) {
            if !page.take(number, &one(number)?) {
                let notes = page.notes(&selection, name, total, Some(number));
                return Ok(page.into_view(notes, name, total));
            }
        }
    }
    let notes = page.notes(&selection, name, total, None);
    Ok(page.into_view(notes, name, total))
}

#[derive(Default)]
struct Page {
    text: String,
    lines: usize,
    shown: u64,
    last: u64,
    cut: Option<u64>,
}

impl Page {
    /// Whether it fitted. The first always does, in part if need be.
    fn take(&mut self, number: u64, text: &str) -> bool {
        let mut clipped = clipped(text);
        let mut lines = clipped.matches('\n').count();
        if self.shown > 0
            && (self.text.len() + clipped.len() > OUTPUT_BYTES || self.lines + lines > OUTPUT_LINES)
        {
            return false;
        }
        if clipped.len() > OUTPUT_BYTES || lines > OUTPUT_LINES {
            let by_lines =
                clipped.match_indices('\n').nth(OUTPUT_LINES - 1).map_or(clipped.len(), |(at, _)| at + 1);
            let end = clipped.floor_char_boundary(by_lines.min(OUTPUT_BYTES - 1));
            clipped.truncate(end);
            if !clipped.ends_with('\n') {
                clipped.push('\n');
            }
            lines = clipped.matches('\n').count();
            self.cut = Some(number);
        }
        self.text.push_str(&clipped);
        self.lines += lines;
        self.shown += 1;
        self.last = number;
        true
    }

    fn notes(&self, selection: &Selection, name: &str, total: u64, stopped: Option<u64>) -> Vec<String> {
        let next = stopped.unwrap_or(self.last + 1);
        let is_open = selection.spans.last().is_some_and(|Span { last, .. }| last.is_none());
        let goes_on = stopped.is_some() || (next <= total && (is_open || selection.asked == Asked::Offset));
        let way_on = goes_on.then(|| selection.way_on(next)).flatten();
        let mut notes = Vec::new();
        match way_on {
            Some(way_on) => notes.push(format!("{name}s up to {} of {total}: {way_on}", self.last)),
            None => notes.push(format!("{total} {name}s")),
        }
        if let Some(number) = self.cut {
            notes.push(format!("{name} {number} is shown only in part: it is too long"));
        }
        notes
    }

    fn into_view(self, notes: Vec<String>, name: &str, total: u64) -> View {
        let summary = match self.shown == total {
            true => format!("{total} {name}s"),
            false => format!("{} of {total} {name}s", self.shown),
        };
        View { text: self.text, notes, summary, ..View::default() }
    }
}

/// With long lines cut and every line ended.
fn clipped(text: &str) -> String {
    let mut result = String::with_capacity(text.len() + 1);
    for line in text.lines() {
        match line.char_indices().nth(LINE_CHARS) {
            None => result.push_str(line),
            Some((at, _)) => {
                let (kept, rest) = line.split_at(at);
                result.push_str(kept);
                result.push_str(&format!(" [… {} bytes cut]", rest.len()));
            }
        }
        result.push('\n');
    }
    result
}
