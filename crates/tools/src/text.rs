//! How a file's bytes are a text: its encoding and its line ends, told from the
//! bytes, and put back when it is written.

use memchr::memmem;

/// How a text is written down.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// UTF-8.
    Utf8,
    /// UTF-8 with a byte order mark.
    Utf8Marked,
    /// UTF-16, little end first, with a byte order mark.
    Utf16Little,
    /// UTF-16, big end first, with a byte order mark.
    Utf16Big,
    /// Something else.
    Other,
}

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

/// The encoding that the first bytes tell of; without a mark it is taken to be UTF-8.
pub(crate) fn marked_encoding(bytes: &[u8]) -> Encoding {
    if bytes.starts_with(UTF8_MARK) {
        Encoding::Utf8Marked
    } else if bytes.starts_with(b"\xff\xfe") {
        Encoding::Utf16Little
    } else if bytes.starts_with(b"\xfe\xff") {
        Encoding::Utf16Big
    } else {
        Encoding::Utf8
    }
}

/// A file's text without its mark, or nothing if it is in no encoding that is known.
pub(crate) fn decode(bytes: &[u8]) -> Option<(String, Encoding)> {
    let encoding = marked_encoding(bytes);
    let text = match encoding {
        Encoding::Utf8 => std::str::from_utf8(bytes).ok()?.to_owned(),
        Encoding::Utf8Marked => std::str::from_utf8(bytes.strip_prefix(UTF8_MARK)?).ok()?.to_owned(),
        Encoding::Utf16Little => decode_utf16(bytes, u16::from_le_bytes)?,
        Encoding::Utf16Big => decode_utf16(bytes, u16::from_be_bytes)?,
        Encoding::Other => return None,
    };
    Some((text, encoding))
}

/// The bytes of a text in an encoding.
pub(crate) fn encode(text: &str, encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Utf8 | Encoding::Other => text.as_bytes().to_vec(),
        Encoding::Utf8Marked => [UTF8_MARK, text.as_bytes()].concat(),
        Encoding::Utf16Little => encode_utf16(text, u16::to_le_bytes),
        Encoding::Utf16Big => encode_utf16(text, u16::to_be_bytes),
    }
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, []) = bytes.as_chunks::<2>() else { return None };
    let units: Vec<u16> = pairs.iter().skip(1).map(|pair| unit(*pair)).collect();
    String::from_utf16(&units).ok()
}

fn encode_utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(bytes).collect()
}

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
    fn every_encoding_reads_back() {
        for encoding in [Encoding::Utf8, Encoding::Utf8Marked, Encoding::Utf16Little, Encoding::Utf16Big] {
            let text = "é\r\n😀\n";
            assert_eq!(decode(&encode(text, encoding)), Some((text.to_owned(), encoding)));
        }
        assert_eq!(decode(b"caf\xe9"), None);
        assert_eq!(decode(b"\xff\xfea"), None, "half a unit");
        assert_eq!(decode(b"\xff\xfe\x00\xd8"), None, "half a character");
    }

    #[test]
    fn the_line_ends_of_most_lines_count() {
        assert_eq!(LineEnds::of(b"a\r\nb\r\nc\n"), LineEnds::CrLf);
        assert_eq!(LineEnds::of(b"a\nb\r\n"), LineEnds::Lf);
        assert_eq!(LineEnds::of(b"a"), LineEnds::Lf);
        assert_eq!(LineEnds::CrLf.applied_to(b"a\nb\r\nc\rd\n"), b"a\r\nb\r\nc\rd\r\n");
        assert_eq!(LineEnds::Lf.applied_to(b"a\nb\r\n"), b"a\nb\n");
    }
}
