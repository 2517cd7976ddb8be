//! How a file's bytes are a text: its encoding, which `encoding` knows, and its
//! line ends, told from the bytes and put back when it is written.

use memchr::memmem;

pub(crate) use crate::encoding::{Encoding, decode, encode};

/// How the lines of a text end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum LineEnds {
    /// Mostly or only with a line feed, or there are none.
    Lf,
    /// Mostly or only with carriage return and line feed.
    CrLf,
}

impl LineEnds {
    /// What most lines end with.
    pub(crate) fn of(bytes: &[u8]) -> Self {
        let all = memchr::memchr_iter(b'\n', bytes).count();
        let crlf = memmem::find_iter(bytes, b"\r\n").count();
        if crlf > all - crlf { Self::CrLf } else { Self::Lf }
    }

    /// A text with all its line ends made into these.
    pub(crate) fn applied_to(self, bytes: &[u8]) -> Vec<u8> {
        let plain = replace_all(bytes, b"\r\n", b"\n");
        match self {
            Self::Lf => plain,
            Self::CrLf => replace_all(&plain, b"\n", b"\r\n"),
        }
    }
}

fn replace_all(bytes: &[u8], from: &[u8], to: &[u8]) -> Vec<u8> {
    let mut result = Vec::with_capacity(bytes.len());
    let mut done = 0;
    for at in memmem::find_iter(bytes, from) {
        result.extend_from_slice(bytes.get(done..at).unwrap_or_default());
        result.extend_from_slice(to);
        done = at + from.len();
    }
    result.extend_from_slice(bytes.get(done..).unwrap_or_default());
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_line_ends_of_most_lines_count() {
        assert_eq!(LineEnds::of(b"a\r\nb\r\nc\n"), LineEnds::CrLf);
        assert_eq!(LineEnds::of(b"a\nb\r\n"), LineEnds::Lf);
        assert_eq!(LineEnds::of(b"a"), LineEnds::Lf);
        assert_eq!(LineEnds::CrLf.applied_to(b"a\nb\r\nc\rd\n"), b"a\r\nb\r\nc\rd\r\n");
        assert_eq!(LineEnds::Lf.applied_to(b"a\nb\r\n"), b"a\nb\n");
    }
}
