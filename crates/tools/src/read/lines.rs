//! Lines of a stream of any size, in constant memory: of each line only as much
//! is kept as is asked for.

use std::io::{self, Read};

use tokio_util::sync::CancellationToken;

const BUFFER: usize = 64 * 1024;

/// Lines of a stream.
pub(super) struct Lines<'a, R> {
    source: R,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    hasher: Option<blake3::Hasher>,
    cancel: &'a CancellationToken,
}

/// What is known of a line beside what was kept of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    /// Its bytes without the line feed.
    pub(super) length: u64,
}

/// Whether everything that goes by is hashed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Hashing {
    Yes,
    No,
}

impl<'a, R: Read> Lines<'a, R> {
    pub(super) fn new(source: R, hashing: Hashing, cancel: &'a CancellationToken) -> Self {
        let hasher = (hashing == Hashing::Yes).then(blake3::Hasher::new);
        Self { source, buffer: vec![0; BUFFER], start: 0, end: 0, hasher, cancel }
    }

    /// The next line: at most `room` bytes of it are put into `kept`, which is emptied first.
    pub(super) fn next(&mut self, kept: &mut Vec<u8>, room: usize) -> io::Result<Option<Line>> {
        kept.clear();
        let mut length = 0_u64;
        loop {
            if self.start == self.end && !self.fill()? {
                return Ok((length > 0).then_some(Line { length }));
            }
            let rest = self.buffer.get(self.start..self.end).unwrap_or_default();
            let feed = memchr::memchr(b'\n', rest);
            let piece = rest.get(..feed.unwrap_or(rest.len())).unwrap_or_default();
            kept.extend_from_slice(piece.get(..piece.len().min(room - kept.len())).unwrap_or_default());
            length += piece.len() as u64;
            self.start += piece.len() + usize::from(feed.is_some());
            if feed.is_some() {
                return Ok(Some(Line { length }));
            }
        }
    }

    /// Counts the lines that are left.
    pub(super) fn count_rest(&mut self) -> io::Result<u64> {
        let mut count = 0;
        while self.next(&mut Vec::new(), 0)?.is_some() {
            count += 1;
        }
        Ok(count)
    }

    /// Whether there is another line.
    pub(super) fn has_more(&mut self) -> io::Result<bool> {
        Ok(self.start < self.end || self.fill()?)
    }

    /// What has gone by, hashed.
    pub(super) fn hash(&self) -> Option<blake3::Hash> {
        self.hasher.as_ref().map(blake3::Hasher::finalize)
    }

    fn fill(&mut self) -> io::Result<bool> {
        if self.cancel.is_cancelled() {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let count = loop {
            match self.source.read(&mut self.buffer) {
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                read => break read?,
            }
        };
        (self.start, self.end) = (0, count);
        if let Some(hasher) = &mut self.hasher {
            hasher.update(self.buffer.get(..count).unwrap_or_default());
        }
        Ok(count > 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_and_kept_in_part() {
        let cancel = CancellationToken::new();
        let text = format!("one\n\n{}\nlast", "x".repeat(200_000));
        let mut lines = Lines::new(text.as_bytes(), Hashing::Yes, &cancel);
        let mut kept = Vec::new();
        let mut found = Vec::new();
        while let Some(line) = lines.next(&mut kept, 4).unwrap() {
            found.push((line.length, String::from_utf8(kept.clone()).unwrap()));
        }
        assert_eq!(
            found,
            [(3, "one".into()), (0, String::new()), (200_000, "xxxx".into()), (4, "last".to_owned())]
        );
        assert_eq!(lines.hash(), Some(blake3::hash(text.as_bytes())));
    }

    #[test]
    fn a_line_end_at_the_end_begins_no_line() {
        let cancel = CancellationToken::new();
        for (text, count) in [("", 0), ("a", 1), ("a\n", 1), ("\n", 1), ("a\n\n", 2), ("a\nb", 2)] {
            assert_eq!(
                Lines::new(text.as_bytes(), Hashing::No, &cancel).count_rest().unwrap(),
                count,
                "{text:?}"
            );
        }
    }

    #[test]
    fn a_stream_without_end_can_be_cancelled() {
        let cancel = CancellationToken::new();
        cancel.cancel();
        assert!(Lines::new(io::repeat(b'x'), Hashing::No, &cancel).count_rest().is_err());
    }
}
