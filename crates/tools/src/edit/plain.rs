//! A content with every CRLF made LF, and the way back. Pure.
//!
//! Everything that looks for text looks here, so that line ends are never part
//! of the question; everything that changes text changes the original bytes.

use std::borrow::Cow;

use memchr::memmem;

/// A content with every CRLF made LF.
pub(super) struct Plain<'a> {
    /// The content without the carriage returns of its line ends.
    pub(super) bytes: Cow<'a, [u8]>,
    /// Where in `bytes` the line feeds are that had a carriage return, in ascending order.
    shortened: Vec<usize>,
}

impl<'a> Plain<'a> {
    /// A content, plain.
    pub(super) fn of(content: &'a [u8]) -> Self {
        let mut bytes = Vec::new();
        let mut shortened = Vec::new();
        let mut done = 0;
        for at in memmem::find_iter(content, b"\r\n") {
            bytes.extend_from_slice(content.get(done..at).unwrap_or_default());
            shortened.push(bytes.len());
            done = at + 1;
        }
        if shortened.is_empty() {
            return Self { bytes: Cow::Borrowed(content), shortened };
        }
        bytes.extend_from_slice(content.get(done..).unwrap_or_default());
        Self { bytes: Cow::Owned(bytes), shortened }
    }

    /// Where a place in `bytes` is in the content. A CRLF is never split.
    pub(super) fn original(&self, at: usize) -> usize {
        at + self.shortened.partition_point(|place| *place < at)
    }
}

/// The lines, counted from 1, of places in ascending order.
pub(super) fn lines_of(content: &[u8], places: impl IntoIterator<Item = usize>) -> Vec<usize> {
    let mut line = 1;
    let mut from = 0;
    places
        .into_iter()
        .map(|at| {
            line += memchr::memchr_iter(b'\n', content.get(from..at).unwrap_or_default()).count();
            from = at.max(from);
            line
        })
        .collect()
}
