//! The text of the editor, its cursor, and the way back.
//!
//! Owns every change of the text and the log that undoes it. Knows nothing of keys, chips or the screen.
//! Invariant: the cursor is on a grapheme boundary of the text; undoing everything gives the text back that it began with.

use std::ops::Range;

use unicode_segmentation::GraphemeCursor;

/// The log forgets its oldest edits beyond this.
const LOG_LIMIT: usize = 20_000;

/// What an edit is, to tell which ones are undone together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) enum EditKind {
    /// A key that put a character in.
    Type,
    /// A key that took a character out.
    Erase,
    /// Anything that stands alone.
    #[default]
    Alone,
}

#[derive(Debug, Clone)]
struct Edit {
    at: usize,
    removed: String,
    inserted: String,
    cursor: usize,
    group: u64,
}

/// Text with a cursor and an undo log.
#[derive(Debug, Clone, Default)]
pub(crate) struct Buffer {
    text: String,
    cursor: usize,
    done: Vec<Edit>,
    undone: Vec<Edit>,
    group: u64,
    last: EditKind,
}

impl Buffer {
    /// A buffer without a past.
    pub(crate) fn with(text: String, cursor: usize) -> Self {
        let mut buffer = Self { text, ..Self::default() };
        buffer.move_to(cursor);
        buffer
    }

    pub(crate) fn text(&self) -> &str {
        &self.text
    }

    pub(crate) fn cursor(&self) -> usize {
        self.cursor
    }

    pub(crate) fn before(&self) -> &str {
        self.text.get(..self.cursor).unwrap_or_default()
    }

    /// Moves the cursor to the grapheme boundary at or after `at`; what is typed next is undone on its own.
    pub(crate) fn move_to(&mut self, at: usize) {
        self.cursor = self.snap(at);
        self.last = EditKind::Alone;
    }

    /// Puts `inserted` where `range` was and the cursor behind it.
    pub(crate) fn replace(&mut self, kind: EditKind, range: Range<usize>, inserted: &str) {
        let range = self.char_floor(range.start)..self.char_floor(range.end.max(range.start));
        let removed = self.text.get(range.clone()).unwrap_or_default().to_owned();
        if removed.is_empty() && inserted.is_empty() {
            return;
        }
        if !self.joins(kind, &range, inserted) {
            self.group += 1;
        }
        self.last = kind;
        self.undone.clear();
        self.done.push(Edit {
            at: range.start,
            removed,
            inserted: inserted.to_owned(),
            cursor: self.cursor,
            group: self.group,
        });
        if self.done.len() > LOG_LIMIT {
            self.done.drain(..LOG_LIMIT / 4);
        }
        self.text.replace_range(range.clone(), inserted);
        self.cursor = self.snap(range.start + inserted.len());
    }

    /// Whether the edit goes into the group of the one before: typing within a word, erasing in a row.
    fn joins(&self, kind: EditKind, range: &Range<usize>, inserted: &str) -> bool {
        let Some(previous) = self.done.last() else { return false };
        if kind != self.last || kind == EditKind::Alone {
            return false;
        }
        match kind {
            EditKind::Type => {
                let word_begins = previous.inserted.ends_with(char::is_whitespace)
                    && !inserted.starts_with(char::is_whitespace);
                range.start == previous.at + previous.inserted.len() && !word_begins
            }
            EditKind::Erase => range.end == previous.at || range.start == previous.at,
            EditKind::Alone => false,
        }
    }

    /// Takes the last group of edits back; whether there was one.
    pub(crate) fn undo(&mut self) -> bool {
        let Some(group) = self.done.last().map(|edit| edit.group) else { return false };
        while let Some(edit) = self.done.pop_if(|edit| edit.group == group) {
            self.swap(edit.at, &edit.inserted, &edit.removed);
            self.cursor = self.snap(edit.cursor);
            self.undone.push(edit);
        }
        self.last = EditKind::Alone;
        true
    }

    /// Makes the last undone group again; whether there was one.
    pub(crate) fn redo(&mut self) -> bool {
        let Some(group) = self.undone.last().map(|edit| edit.group) else { return false };
        while let Some(edit) = self.undone.pop_if(|edit| edit.group == group) {
            self.swap(edit.at, &edit.removed, &edit.inserted);
            self.cursor = self.snap(edit.at + edit.inserted.len());
            self.done.push(edit);
        }
        self.last = EditKind::Alone;
        true
    }

    fn swap(&mut self, at: usize, old: &str, new: &str) {
        let range = self.char_floor(at)..self.char_floor(at + old.len());
        self.text.replace_range(range, new);
    }

    fn char_floor(&self, at: usize) -> usize {
        self.text.floor_char_boundary(at)
    }

    /// The grapheme boundary at or after `at`.
    pub(crate) fn snap(&self, at: usize) -> usize {
        let at = self.char_floor(at);
        let mut cursor = GraphemeCursor::new(at, self.text.len(), true);
        match cursor.is_boundary(&self.text, 0) {
            Ok(false) => self.next(at),
            _ => at,
        }
    }

    /// The boundary after `at`.
    pub(crate) fn next(&self, at: usize) -> usize {
        let mut cursor = GraphemeCursor::new(self.char_floor(at), self.text.len(), true);
        cursor.next_boundary(&self.text, 0).ok().flatten().unwrap_or(self.text.len())
    }

    /// The boundary before `at`.
    pub(crate) fn previous(&self, at: usize) -> usize {
        let mut cursor = GraphemeCursor::new(self.char_floor(at), self.text.len(), true);
        cursor.prev_boundary(&self.text, 0).ok().flatten().unwrap_or(0)
    }

    /// Where the logical line around `at` begins.
    pub(crate) fn line_start(&self, at: usize) -> usize {
        self.head(at).rfind('\n').map_or(0, |newline| newline + 1)
    }

    /// Where the logical line around `at` ends, before its newline.
    pub(crate) fn line_end(&self, at: usize) -> usize {
        let at = self.char_floor(at);
        self.tail(at).find('\n').map_or(self.text.len(), |newline| at + newline)
    }

    /// The start of the word at or before `at`.
    pub(crate) fn word_left(&self, at: usize) -> usize {
        let trimmed = self.head(at).trim_end_matches(|c| !is_word(c));
        self.snap(trimmed.trim_end_matches(is_word).len())
    }

    /// The end of the word at or after `at`.
    pub(crate) fn word_right(&self, at: usize) -> usize {
        let rest = self.tail(at).trim_start_matches(|c| !is_word(c)).trim_start_matches(is_word);
        self.snap(self.text.len() - rest.len())
    }

    /// The start of the run without white space at or before `at`.
    pub(crate) fn blank_left(&self, at: usize) -> usize {
        let trimmed = self.head(at).trim_end();
        self.snap(trimmed.trim_end_matches(|c: char| !c.is_whitespace()).len())
    }

    pub(crate) fn head(&self, at: usize) -> &str {
        self.text.get(..self.char_floor(at)).unwrap_or_default()
    }

    pub(crate) fn tail(&self, at: usize) -> &str {
        self.text.get(self.char_floor(at)..).unwrap_or_default()
    }
}

/// Whether word motions go over the character in one step.
pub(crate) fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || super::chips::is_sentinel(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn typed(buffer: &mut Buffer, text: &str) {
        for c in text.chars() {
            let at = buffer.cursor();
            buffer.replace(EditKind::Type, at..at, &c.to_string());
        }
    }

    #[test]
    fn undo_takes_back_a_word_at_a_time_and_redo_brings_it_again() {
        let mut buffer = Buffer::default();
        typed(&mut buffer, "one two");
        assert!(buffer.undo());
        assert_eq!((buffer.text(), buffer.cursor()), ("one ", 4));
        assert!(buffer.undo());
        assert_eq!((buffer.text(), buffer.cursor()), ("", 0));
        assert!(!buffer.undo());
        assert!(buffer.redo() && buffer.redo() && !buffer.redo());
        assert_eq!((buffer.text(), buffer.cursor()), ("one two", 7));
    }

    #[test]
    fn a_cluster_is_one_step() {
        let buffer = Buffer::with("a👩‍👩‍👧e\u{301}🇩🇪".to_owned(), 0);
        let mut stops = vec![0];
        while let Some(&at) = stops.last()
            && at < buffer.text().len()
        {
            stops.push(buffer.next(at));
        }
        assert_eq!(stops, [0, 1, 19, 22, 30]);
        assert_eq!(buffer.previous(30), 22);
        assert_eq!(buffer.snap(20), 22);
    }
}
