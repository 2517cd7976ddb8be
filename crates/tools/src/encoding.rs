//! How a text is written down: told from its bytes, and put back when it is
//! written.
//!
//! A mark at the beginning decides. Without one a text is UTF-8, or else
//! Windows-1252, of which Latin-1 text is a part, if nothing in it speaks
//! against that. The invariant: [`encode`] of what [`decode`] gave are the same
//! bytes.

use encoding_rs::WINDOWS_1252;

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
    /// One byte a character: Windows-1252, which Latin-1 is taken to be.
    Other,
}

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

impl Encoding {
    /// What a model is told of it; nothing of what is usual.
    pub(crate) fn note(self) -> Option<&'static str> {
        match self {
            Self::Utf8 => None,
            Self::Utf8Marked => Some("UTF-8 with a byte order mark; edit and write keep it"),
            Self::Utf16Little | Self::Utf16Big => Some("UTF-16, shown converted; edit and write keep it"),
            Self::Other => Some("Windows-1252 (Latin-1), shown converted; edit and write keep it"),
        }
    }

    /// By what a stream of it is made UTF-8, if it must be.
    pub(crate) fn converter(self) -> Option<&'static encoding_rs::Encoding> {
        match self {
            Self::Utf8 | Self::Utf8Marked => None,
            Self::Utf16Little => Some(encoding_rs::UTF_16LE),
            Self::Utf16Big => Some(encoding_rs::UTF_16BE),
            Self::Other => Some(WINDOWS_1252),
        }
    }
}

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
        Encoding::Utf8 => return decode_unmarked(bytes),
        Encoding::Utf8Marked => std::str::from_utf8(bytes.strip_prefix(UTF8_MARK)?).ok()?.to_owned(),
        Encoding::Utf16Little => decode_utf16(bytes, u16::from_le_bytes)?,
        Encoding::Utf16Big => decode_utf16(bytes, u16::from_be_bytes)?,
        Encoding::Other => return None,
    };
    Some((text, encoding))
}

fn decode_unmarked(bytes: &[u8]) -> Option<(String, Encoding)> {
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some((text.to_owned(), Encoding::Utf8));
    }
    let mut sniffer = Sniffer::default();
    sniffer.feed(bytes);
    let encoding = sniffer.finish()?;
    let text = WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned();
    Some((text, encoding))
}

/// The bytes of a text in an encoding; in UTF-8 if it has characters that the encoding has not.
pub(crate) fn encode(text: &str, encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Utf8 => text.as_bytes().to_vec(),
        Encoding::Utf8Marked => [UTF8_MARK, text.as_bytes()].concat(),
        Encoding::Utf16Little => encode_utf16(text, u16::to_le_bytes),
        Encoding::Utf16Big => encode_utf16(text, u16::to_be_bytes),
        Encoding::Other => match WINDOWS_1252.encode(text) {
            (bytes, _, false) => bytes.into_owned(),
            (_, _, true) => text.as_bytes().to_vec(),
        },
    }
}

/// Whether a text can be written down in an encoding.
pub(crate) fn can_encode(text: &str, encoding: Encoding) -> bool {
    encoding != Encoding::Other || !WINDOWS_1252.encode(text).2
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, []) = bytes.as_chunks::<2>() else { return None };
    let units: Vec<u16> = pairs.iter().skip(1).map(|pair| unit(*pair)).collect();
    String::from_utf16(&units).ok()
}

fn encode_utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    std::iter::once(0xfeff).chain(text.encode_utf16()).flat_map(bytes).collect()
}

/// Tells the encoding of bytes without a mark that come in pieces.
#[derive(Debug, Default)]
pub(crate) struct Sniffer {
    /// The beginning of a character that a piece ended in.
    partial: Vec<u8>,
    /// Characters of several bytes that are valid UTF-8.
    characters: u64,
    /// Bytes that are not.
    broken: u64,
    /// Bytes that no text in one byte a character has.
    odd: bool,
}

impl Sniffer {
    /// Looks at the next piece.
    pub(crate) fn feed(&mut self, piece: &[u8]) {
        let joined;
        let mut rest = match self.partial.is_empty() {
            true => piece,
            false => {
                joined = [std::mem::take(&mut self.partial).as_slice(), piece].concat();
                &joined
            }
        };
        loop {
            let (valid, after) = match std::str::from_utf8(rest) {
                Ok(_) => (rest, None),
                Err(error) => (rest.get(..error.valid_up_to()).unwrap_or_default(), Some(error.error_len())),
            };
            self.characters += valid.iter().filter(|byte| **byte >= 0xc0).count() as u64;
            self.odd |= valid.contains(&0);
            let broken = rest.get(valid.len()..).unwrap_or_default();
            let length = match after {
                None => return,
                Some(None) => {
                    broken.clone_into(&mut self.partial);
                    return;
                }
                Some(Some(length)) => length,
            };
            self.reject(broken.get(..length).unwrap_or_default());
            rest = broken.get(length..).unwrap_or_default();
        }
    }

    fn reject(&mut self, bytes: &[u8]) {
        self.broken += bytes.len() as u64;
        self.odd |= bytes.iter().any(|byte| matches!(byte, 0x81 | 0x8d | 0x8f | 0x90 | 0x9d));
    }

    /// The encoding; nothing if it is a mixture, or no text.
    pub(crate) fn finish(mut self) -> Option<Encoding> {
        let partial = std::mem::take(&mut self.partial);
        self.reject(&partial);
        match self.broken {
            0 => Some(Encoding::Utf8),
            _ if self.characters == 0 && !self.odd => Some(Encoding::Other),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn every_encoding_reads_back() {
        for encoding in [Encoding::Utf8, Encoding::Utf8Marked, Encoding::Utf16Little, Encoding::Utf16Big] {
            let text = "é\r\n😀\n";
            assert_eq!(decode(&encode(text, encoding)), Some((text.to_owned(), encoding)));
        }
        assert_eq!(decode(b"caf\xe9 \x80"), Some(("café €".to_owned(), Encoding::Other)));
        assert_eq!(encode("café €", Encoding::Other), b"caf\xe9 \x80");
        assert_eq!(encode("π", Encoding::Other), "π".as_bytes(), "nothing is lost");
        assert!(!can_encode("π", Encoding::Other) && can_encode("é", Encoding::Other));
        assert_eq!(decode(b"\xff\xfea"), None, "half a unit");
        assert_eq!(decode(b"\xff\xfe\x00\xd8"), None, "half a character");
        assert_eq!(decode(b"caf\xe9 caf\xc3\xa9"), None, "a mixture");
        assert_eq!(decode(b"caf\xe9\0"), None, "no text");
    }

    proptest! {
        #[test]
        fn what_was_decoded_is_encoded_to_the_same_bytes(
            bytes in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..200),
                "[a-zé€\\n]{0,40}".prop_map(|text| encode(&text, Encoding::Other)),
                "\\PC{0,40}".prop_map(|text| encode(&text, Encoding::Utf16Big)),
            ],
        ) {
            if let Some((text, encoding)) = decode(&bytes) {
                prop_assert_eq!(encode(&text, encoding), bytes);
            }
        }

        #[test]
        fn pieces_are_judged_like_the_whole(
            bytes in prop_oneof![
                proptest::collection::vec(any::<u8>(), 0..60),
                "[a-zé😀]{0,20}".prop_map(String::into_bytes),
            ],
            size in 1_usize..7,
        ) {
            let mut pieces = Sniffer::default();
            bytes.chunks(size).for_each(|piece| pieces.feed(piece));
            let mut whole = Sniffer::default();
            whole.feed(&bytes);
            prop_assert_eq!(pieces.finish(), whole.finish());
        }
    }
}
