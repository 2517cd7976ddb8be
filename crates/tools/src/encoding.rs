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
    /// UTF-16, little end first, without a mark.
    Utf16LittleBare,
    /// UTF-16, big end first, without a mark.
    Utf16BigBare,
    /// One byte a character: Windows-1252, which Latin-1 is taken to be.
    Windows1252,
    /// Something else.
    Other,
}

const UTF8_MARK: &[u8] = b"\xef\xbb\xbf";

impl Encoding {
    /// What a model is told of it; nothing of what is usual.
    pub(crate) fn note(self) -> Option<&'static str> {
        match self {
            Self::Utf8 | Self::Other => None,
            Self::Utf8Marked => Some("UTF-8 with a byte order mark; edit and write keep it"),
            Self::Utf16Little | Self::Utf16Big => Some("UTF-16, shown converted; edit and write keep it"),
            Self::Utf16LittleBare | Self::Utf16BigBare => {
                Some("UTF-16 without a mark, shown converted; edit and write keep it")
            }
            Self::Windows1252 => Some("Windows-1252 (Latin-1), shown converted; edit and write keep it"),
        }
    }

    /// By what a stream of it is made UTF-8, if it must be.
    pub(crate) fn converter(self) -> Option<&'static encoding_rs::Encoding> {
        match self {
            Self::Utf8 | Self::Utf8Marked | Self::Other => None,
            Self::Utf16Little | Self::Utf16LittleBare => Some(encoding_rs::UTF_16LE),
            Self::Utf16Big | Self::Utf16BigBare => Some(encoding_rs::UTF_16BE),
            Self::Windows1252 => Some(WINDOWS_1252),
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

/// UTF-16 without a mark, if the bytes can be nothing else: plain letters with a zero beside most of them.
pub(crate) fn bare_utf16(bytes: &[u8]) -> Option<Encoding> {
    let (pairs, _) = bytes.as_chunks::<2>();
    if pairs.len() < 2 || !bytes.contains(&0) {
        return None;
    }
    let zeros = |at: usize| pairs.iter().filter(|pair| pair.get(at) == Some(&0)).count();
    let encoding = match (zeros(0), zeros(1)) {
        (0, zeros) if zeros * 4 >= pairs.len() * 3 => Encoding::Utf16LittleBare,
        (zeros, 0) if zeros * 4 >= pairs.len() * 3 => Encoding::Utf16BigBare,
        _ => return None,
    };
    let is_odd = |pair: &&[u8; 2]| {
        let letter = if encoding == Encoding::Utf16LittleBare {
            u16::from_le_bytes(**pair)
        } else {
            u16::from_be_bytes(**pair)
        };
        (letter < 32 && !matches!(letter, 9 | 10 | 12 | 13 | 27)) || letter == 127
    };
    (!pairs.iter().any(|pair| is_odd(&pair))).then_some(encoding)
}

/// A file's text without its mark, or nothing if it is in no encoding that is known.
pub(crate) fn decode(bytes: &[u8]) -> Option<(String, Encoding)> {
    let encoding = marked_encoding(bytes);
    let text = match encoding {
        Encoding::Utf8 => return decode_unmarked(bytes),
        Encoding::Utf8Marked => std::str::from_utf8(bytes.strip_prefix(UTF8_MARK)?).ok()?.to_owned(),
        Encoding::Utf16Little => decode_utf16(bytes.get(2..)?, u16::from_le_bytes)?,
        Encoding::Utf16Big => decode_utf16(bytes.get(2..)?, u16::from_be_bytes)?,
        Encoding::Utf16LittleBare | Encoding::Utf16BigBare | Encoding::Windows1252 | Encoding::Other => {
            return None;
        }
    };
    Some((text, encoding))
}

fn decode_unmarked(bytes: &[u8]) -> Option<(String, Encoding)> {
    match bare_utf16(bytes) {
        Some(Encoding::Utf16LittleBare) => {
            return Some((decode_utf16(bytes, u16::from_le_bytes)?, Encoding::Utf16LittleBare));
        }
        Some(_) => return Some((decode_utf16(bytes, u16::from_be_bytes)?, Encoding::Utf16BigBare)),
        None => {}
    }
    if let Ok(text) = std::str::from_utf8(bytes) {
        return Some((text.to_owned(), Encoding::Utf8));
    }
    let mut sniffer = Sniffer::default();
    sniffer.feed(bytes);
    let encoding = sniffer.finish()?;
    let text = WINDOWS_1252.decode_without_bom_handling(bytes).0.into_owned();
    Some((text, encoding))
}

/// The bytes of a text in an encoding. Characters that the encoding has not are spelt out as numbers, so
/// ask [`can_encode`] first. In an unknown encoding the text is taken to be UTF-8.
pub(crate) fn encode(text: &str, encoding: Encoding) -> Vec<u8> {
    match encoding {
        Encoding::Utf8 | Encoding::Other => text.as_bytes().to_vec(),
        Encoding::Utf8Marked => [UTF8_MARK, text.as_bytes()].concat(),
        Encoding::Utf16Little => encode_utf16(&format!("\u{feff}{text}"), u16::to_le_bytes),
        Encoding::Utf16Big => encode_utf16(&format!("\u{feff}{text}"), u16::to_be_bytes),
        Encoding::Utf16LittleBare => encode_utf16(text, u16::to_le_bytes),
        Encoding::Utf16BigBare => encode_utf16(text, u16::to_be_bytes),
        Encoding::Windows1252 => WINDOWS_1252.encode(text).0.into_owned(),
    }
}

/// Whether a text that is written down in an encoding will be read as what it is.
pub(crate) fn can_encode(text: &str, encoding: Encoding) -> bool {
    match encoding {
        Encoding::Utf8
        | Encoding::Utf8Marked
        | Encoding::Utf16Little
        | Encoding::Utf16Big
        | Encoding::Other => true,
        Encoding::Utf16LittleBare | Encoding::Utf16BigBare | Encoding::Windows1252 => {
            decode(&encode(text, encoding)).is_some_and(|(read, _)| read == text)
        }
    }
}

fn decode_utf16(bytes: &[u8], unit: fn([u8; 2]) -> u16) -> Option<String> {
    let (pairs, []) = bytes.as_chunks::<2>() else { return None };
    let units: Vec<u16> = pairs.iter().map(|pair| unit(*pair)).collect();
    String::from_utf16(&units).ok()
}

fn encode_utf16(text: &str, bytes: fn(u16) -> [u8; 2]) -> Vec<u8> {
    text.encode_utf16().flat_map(bytes).collect()
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
            _ if self.characters == 0 && !self.odd => Some(Encoding::Windows1252),
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
        for encoding in [Encoding::Utf16LittleBare, Encoding::Utf16BigBare] {
            let text = "plain é\r\n";
            assert_eq!(decode(&encode(text, encoding)), Some((text.to_owned(), encoding)));
        }
        assert_eq!(decode(b"caf\xe9 \x80"), Some(("café €".to_owned(), Encoding::Windows1252)));
        assert_eq!(encode("café €", Encoding::Windows1252), b"caf\xe9 \x80");
        assert!(can_encode("é", Encoding::Windows1252) && can_encode("π", Encoding::Utf16Big));
        assert!(!can_encode("π", Encoding::Windows1252), "it has none");
        assert!(!can_encode("Ã©", Encoding::Windows1252), "it would be read as UTF-8");
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
                "[a-zé€\\n]{0,40}".prop_map(|text| encode(&text, Encoding::Windows1252)),
                "\\PC{0,40}".prop_map(|text| encode(&text, Encoding::Utf16Big)),
                "[a-z é\\n]{0,40}".prop_map(|text| encode(&text, Encoding::Utf16LittleBare)),
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
