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
    cancel: &'a CancellationToken,
}

/// What is known of a line beside what was kept of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Line {
    /// Its bytes without the line feed.
    pub(super) length: u64,
}

impl<'a, R: Read> Lines<'a, R> {
    pub(super) fn new(source: R, cancel: &'a CancellationToken) -> Self {
        Self { source, buffer: vec![0; BUFFER], start: 0, end: 0, cancel }
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

    /// Passes over so many lines, and says how many there were.
    pub(super) fn skip(&mut self, most: u64) -> io::Result<u64> {
        let mut passed = 0;
        let mut is_inside = false;
        while passed < most {
            if self.start == self.end && !self.fill()? {
                return Ok(passed + u64::from(is_inside));
            }
            let rest = self.buffer.get(self.start..self.end).unwrap_or_default();
            is_inside = rest.last() != Some(&b'\n');
            let mut after = rest.len();
            for feed in memchr::memchr_iter(b'\n', rest) {
                passed += 1;
                if passed == most {
                    after = feed + 1;
                    break;
                }
            }
            self.start += after;
        }
        Ok(passed)
    }

    /// Counts the lines that are left.
    pub(super) fn count_rest(&mut self) -> io::Result<u64> {
        self.skip(u64::MAX)
    }

    /// Whether there is another line.
    pub(super) fn has_more(&mut self) -> io::Result<bool> {
        Ok(self.start < self.end || self.fill()?)
    }

    fn fill(&mut self) -> io::Result<bool> {
        let count = read_some(&mut self.source, &mut self.buffer, self.cancel)?;
        (self.start, self.end) = (0, count);
        Ok(count > 0)
    }
}

/// Reads a piece of a stream, unless cancelled.
pub(super) fn read_some(
    source: &mut impl Read,
    buffer: &mut [u8],
    cancel: &CancellationToken,
) -> io::Result<usize> {
    loop {
        if cancel.is_cancelled() {
            // Not `Interrupted`, which means to try again.
            return Err(io::Error::other("cancelled"));
        }
        match source.read(buffer) {
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            read => return read,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_found_and_kept_in_part() {
        let cancel = CancellationToken::new();
        let text = format!("one\n\n{}\nlast", "x".repeat(200_000));
        let mut lines = Lines::new(text.as_bytes(), &cancel);
        let mut kept = Vec::new();
        let mut found = Vec::new();
        while let Some(line) = lines.next(&mut kept, 4).unwrap() {
            found.push((line.length, String::from_utf8(kept.clone()).unwrap()));
        }
        assert_eq!(
            found,
            [(3, "one".into()), (0, String::new()), (200_000, "xxxx".into()), (4, "last".to_owned())]
        );
    }

    #[test]
    fn a_line_end_at_the_end_begins_no_line() {
        let cancel = CancellationToken::new();
        for (text, count) in [("", 0), ("a", 1), ("a\n", 1), ("\n", 1), ("a\n\n", 2), ("a\nb", 2)] {
            assert_eq!(Lines::new(text.as_bytes(), &cancel).count_rest().unwrap(), count, "{text:?}");
        }
    }

    #[test]
    fn lines_are_passed_over_like_they_are_taken() {
        let cancel = CancellationToken::new();
        let text = format!("one\n\n{}\nlast", "x".repeat(200_000));
        for most in 0..6 {
            let mut lines = Lines::new(text.as_bytes(), &cancel);
            assert_eq!(lines.skip(most).unwrap(), most.min(4));
            assert_eq!(lines.count_rest().unwrap(), 4 - most.min(4), "{most}");
        }
    }

    #[test]
    fn a_stream_without_end_can_be_cancelled() {
        let cancel = CancellationToken::new();
        cancel.cancel();
        assert!(Lines::new(io::repeat(b'x'), &cancel).count_rest().is_err());
    }
}
