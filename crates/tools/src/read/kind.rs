//! Whether a file is text, told from its first bytes; and if not, what it is.

use crate::text::{Encoding, marked_encoding};

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text in UTF-8 or something like it.
    Text,
    /// Text in UTF-16.
    Utf16,
    /// No text: what it is, in a few words.
    Binary(&'static str),
}

/// Beginnings that no text has.
const MAGIC: &[(&[u8], &str)] = &[
    (b"\x89PNG\r\n\x1a\n", "a PNG image"),
    (b"\xff\xd8\xff", "a JPEG image"),
    (b"GIF87a", "a GIF image"),
    (b"GIF89a", "a GIF image"),
    (b"%PDF-", "a PDF document"),
    (b"\x7fELF", "an ELF program or library"),
    (b"\xcf\xfa\xed\xfe", "a Mach-O program or library"),
    (b"\xca\xfe\xba\xbe", "a Java class or a universal program"),
    (b"\0asm", "a WebAssembly module"),
    (b"PK\x03\x04", "a ZIP archive (or a document made of one)"),
    (b"\x1f\x8b", "gzip data"),
    (b"BZh", "bzip2 data"),
    (b"\xfd7zXZ\0", "xz data"),
    (b"\x28\xb5\x2f\xfd", "Zstandard data"),
    (b"7z\xbc\xaf\x27\x1c", "a 7-Zip archive"),
    (b"SQLite format 3\0", "an SQLite database"),
    (b"OggS\0", "an Ogg file"),
    (b"ID3", "an MP3 file"),
    (b"\0\0\x01\0", "an icon"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"!<arch>\n", "an archive of object files"),
];

/// Beginnings that a text can have too: only together with bytes that it cannot have.
const WEAK: &[&str] = &["bzip2 data", "an MP3 file", "a font"];

/// Tells what a file is that begins with these bytes.
pub(super) fn of(begin: &[u8]) -> Kind {
    if matches!(marked_encoding(begin), Encoding::Utf16Little | Encoding::Utf16Big) {
        return Kind::Utf16;
    }
    let known = MAGIC.iter().find(|(magic, _)| begin.starts_with(magic)).map(|(_, kind)| *kind);
    let riff = begin.starts_with(b"RIFF").then(|| match begin.get(8..12) {
        Some(b"WEBP") => "a WebP image",
        Some(b"WAVE") => "a WAVE file",
        _ => "a RIFF file",
    });
    let tar = (begin.get(257..262) == Some(b"ustar")).then_some("a tar archive");
    match known.or(riff).or(tar) {
        Some(kind) if !WEAK.contains(&kind) || looks_binary(begin) => Kind::Binary(kind),
        _ if looks_binary(begin) => Kind::Binary("a binary file"),
        _ => Kind::Text,
    }
}

/// A zero byte is in no text but UTF-16; many control characters are in none.
fn looks_binary(begin: &[u8]) -> bool {
    let odd = |byte: &&u8| matches!(byte, 0..=6 | 14..=26 | 28..=31 | 127);
    begin.contains(&0) || begin.iter().filter(odd).count() * 10 > begin.len()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_told_from_what_is_not() {
        for text in [
            &b""[..],
            b"hello\n",
            b"caf\xe9 au lait",
            b"BM is two letters",
            b"BZh is three",
            b"\x1b[31mred\x1b[0m",
        ] {
            assert_eq!(of(text), Kind::Text, "{text:?}");
        }
        assert_eq!(of(b"\xff\xfea\0"), Kind::Utf16);
        assert_eq!(of(b"\x89PNG\r\n\x1a\n\0\0"), Kind::Binary("a PNG image"));
        assert_eq!(of(b"RIFF\x10\0\0\0WEBPVP8 "), Kind::Binary("a WebP image"));
        assert_eq!(of(b"hello\0world"), Kind::Binary("a binary file"));
        assert_eq!(of(&[1, 2, 3, 4, 5]), Kind::Binary("a binary file"));
    }
}
