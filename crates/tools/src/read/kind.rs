//! What a file is, told from its first bytes.

use crate::encoding::{Encoding, bare_utf16, marked_encoding};
use crate::picture::Format;

/// What a file is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// Text in any encoding.
    Text,
    /// A picture that a model can look at.
    Picture(Format),
    /// A PDF document.
    Pdf,
    /// A ZIP archive, or a document made of one.
    Zip,
    /// A tar archive.
    Tar,
    /// Something packed by gzip, often a tar archive.
    Gzip,
    /// An SQLite database.
    Database,
    /// Something else: what it is, in a few words.
    Binary(&'static str),
}

/// Beginnings that no text has.
const MAGIC: &[(&[u8], Kind)] = &[
    (b"%PDF-", Kind::Pdf),
    (b"PK\x03\x04", Kind::Zip),
    (b"PK\x05\x06", Kind::Zip),
    (b"\x1f\x8b\x08", Kind::Gzip),
    (b"SQLite format 3\0", Kind::Database),
    (b"\x7fELF", Kind::Binary("an ELF program or library")),
    (b"\xcf\xfa\xed\xfe", Kind::Binary("a Mach-O program or library")),
    (b"\xca\xfe\xba\xbe", Kind::Binary("a Java class or a universal program")),
    (b"\0asm", Kind::Binary("a WebAssembly module")),
    (b"\xfd7zXZ\0", Kind::Binary("xz data")),
    (b"\x28\xb5\x2f\xfd", Kind::Binary("Zstandard data")),
    (b"7z\xbc\xaf\x27\x1c", Kind::Binary("a 7-Zip archive")),
    (b"Rar!\x1a\x07", Kind::Binary("a RAR archive")),
    (b"OggS\0", Kind::Binary("an Ogg file")),
    (b"fLaC\0", Kind::Binary("a FLAC file")),
    (b"\x1aE\xdf\xa3", Kind::Binary("a Matroska or WebM video")),
    (b"\0\0\x01\0", Kind::Binary("an icon")),
    (b"II*\0", Kind::Binary("a TIFF image")),
    (b"MM\0*", Kind::Binary("a TIFF image")),
    (b"\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1", Kind::Binary("an old Office document")),
    (b"!<arch>\n", Kind::Binary("an archive of object files")),
];

/// Beginnings that a text can have too: they count only together with bytes that it cannot have.
const WEAK: &[(&[u8], &str)] = &[
    (b"BZh", "bzip2 data"),
    (b"ID3", "an MP3 file"),
    (b"wOFF", "a font"),
    (b"wOF2", "a font"),
    (b"BM", "a BMP image"),
    (b"MZ", "a Windows program or library"),
    (b"RIFF", "a RIFF file"),
];

/// Tells what a file is that begins with these bytes.
pub(super) fn of(begin: &[u8]) -> Kind {
    if let Some(format) = Format::of(begin) {
        return Kind::Picture(format);
    }
    if matches!(marked_encoding(begin), Encoding::Utf16Little | Encoding::Utf16Big) {
        return Kind::Text;
    }
    if let Some((_, kind)) = MAGIC.iter().find(|(magic, _)| begin.starts_with(magic)) {
        return *kind;
    }
    if begin.get(257..262) == Some(b"ustar") {
        return Kind::Tar;
    }
    if !looks_binary(begin) || bare_utf16(begin).is_some() {
        return Kind::Text;
    }
    let weak = WEAK.iter().find(|(magic, _)| begin.starts_with(magic)).map(|(_, what)| *what);
    let video = (begin.get(4..8) == Some(b"ftyp")).then_some("a video or an image in an MP4 container");
    Kind::Binary(weak.or(video).unwrap_or("a binary file"))
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
            b"\xff\xfea\0",
            b"h\0i\0\n\0",
        ] {
            assert_eq!(of(text), Kind::Text, "{text:?}");
        }
        assert_eq!(of(b"\x89PNG\r\n\x1a\n\0\0"), Kind::Picture(Format::Png));
        assert_eq!(of(b"RIFF\x10\0\0\0WEBPVP8 "), Kind::Picture(Format::WebP));
        assert_eq!(of(b"RIFF\x10\0\0\0WAVEfmt "), Kind::Binary("a RIFF file"));
        assert_eq!(of(b"%PDF-1.7"), Kind::Pdf);
        assert_eq!(of(b"hello\0world"), Kind::Binary("a binary file"));
        assert_eq!(of(&[1, 2, 3, 4, 5]), Kind::Binary("a binary file"));
    }
}
