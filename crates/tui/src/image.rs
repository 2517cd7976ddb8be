//! What a file says about itself if it is an image: format, size in pixels and
//! in bytes, from its first bytes alone.
//!
//! Whether a model can be sent it, and making it fit, is for others. Nothing but
//! a regular file is opened, so a pipe of that name holds up nothing.

use std::fs::File;
use std::io::Read;
use std::path::Path;

/// Where the size of a JPEG is found at the latest: its metadata comes before.
const HEAD: u64 = 512 * 1024;

/// Format and pixels of an image.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Shape {
    /// `png`, `jpeg`, `gif` or `webp`.
    pub format: &'static str,
    /// From left to right, where the head says so.
    pub width: u32,
    /// From top to bottom.
    pub height: u32,
}

/// A few words on the image in a file: `640x480 png 120 KB`. None if it is no image.
#[must_use]
pub fn facts(path: &Path) -> Option<String> {
    let metadata = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
    let mut head = Vec::new();
    File::open(path).ok()?.take(HEAD).read_to_end(&mut head).ok()?;
    let Shape { format, width, height } = shape(&head)?;
    let size = bytes(metadata.len());
    Some(match (width, height) {
        (0, _) | (_, 0) => format!("{format} {size}"),
        _ => format!("{width}x{height} {format} {size}"),
    })
}

fn bytes(count: u64) -> String {
    match count {
        0..1_000 => format!("{count} B"),
        1_000..1_000_000 => format!("{} KB", count.div_ceil(1_000)),
        _ => format!("{}.{} MB", count / 1_000_000, count / 100_000 % 10),
    }
}

/// What an image that begins like this is.
#[must_use]
pub fn shape(head: &[u8]) -> Option<Shape> {
    let (format, size) = match head {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => {
            ("png", Some((big(head, 16, 4), big(head, 20, 4))))
        }
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => {
            ("gif", Some((little(head, 6, 2), little(head, 8, 2))))
        }
        [0xff, 0xd8, 0xff, ..] => ("jpeg", jpeg(head)),
        [b'R', b'I', b'F', b'F', _, _, _, _, b'W', b'E', b'B', b'P', ..] => ("webp", webp(head)),
        _ => return None,
    };
    let (width, height) = size.unwrap_or_default();
    Some(Shape { format, width, height })
}

fn big(bytes: &[u8], at: usize, count: usize) -> u32 {
    let found = bytes.get(at..at + count).unwrap_or_default();
    found.iter().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

fn little(bytes: &[u8], at: usize, count: usize) -> u32 {
    let found = bytes.get(at..at + count).unwrap_or_default();
    found.iter().rev().fold(0, |number, byte| number << 8 | u32::from(*byte))
}

/// Segment after segment up to the one that begins a frame.
fn jpeg(bytes: &[u8]) -> Option<(u32, u32)> {
    let mut at = 2;
    while let [0xff, marker, rest @ ..] = bytes.get(at..)? {
        match marker {
            0xff => at += 1,
            0xc0..=0xc3 | 0xc5..=0xc7 | 0xc9..=0xcb | 0xcd..=0xcf => {
                return Some((big(rest, 5, 2), big(rest, 3, 2)));
            }
            0x01 | 0xd0..=0xd8 => at += 2,
            _ => at += 2 + usize::try_from(big(rest, 0, 2)).ok()?.max(2),
        }
    }
    None
}

fn webp(bytes: &[u8]) -> Option<(u32, u32)> {
    match bytes.get(12..16)? {
        b"VP8X" => Some((little(bytes, 24, 3) + 1, little(bytes, 27, 3) + 1)),
        b"VP8 " => Some((little(bytes, 26, 2) & 0x3fff, little(bytes, 28, 2) & 0x3fff)),
        b"VP8L" => {
            let packed = little(bytes, 21, 4);
            Some(((packed & 0x3fff) + 1, (packed >> 14 & 0x3fff) + 1))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_format_tells_its_size() {
        let png = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &[0, 0, 2, 128, 0, 0, 1, 224]].concat();
        let gif = [b"GIF89a".as_slice(), &[0x80, 2, 0xe0, 1]].concat();
        let jpeg =
            [&[0xff, 0xd8, 0xff, 0xe0, 0, 4, 1, 2, 0xff, 0xc0, 0, 17, 8][..], &[1, 224, 2, 128, 3]].concat();
        let webp = [b"RIFF0000WEBPVP8X0000\0\0\0\0".as_slice(), &[127, 2, 0, 223, 1, 0]].concat();
        for (bytes, format) in [(png, "png"), (gif, "gif"), (jpeg, "jpeg"), (webp, "webp")] {
            assert_eq!(shape(&bytes), Some(Shape { format, width: 640, height: 480 }), "{format}");
            // Cut anywhere, it is still read without harm.
            for end in 0..bytes.len() {
                let _ = shape(&bytes[..end]);
            }
        }
        assert_eq!(shape(b"#!/bin/sh"), None);
    }

    #[test]
    fn a_file_is_told_by_its_content_and_nothing_else_is_opened() {
        let home = tempfile::tempdir().unwrap();
        let path = home.path().join("no extension");
        let png = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &[0, 0, 2, 128, 0, 0, 1, 224]].concat();
        std::fs::write(&path, [png, vec![0; 119_500]].concat()).unwrap();
        assert_eq!(facts(&path).as_deref(), Some("640x480 png 120 KB"));
        std::fs::write(&path, "text").unwrap();
        assert_eq!(facts(&path), None);
        assert_eq!(facts(home.path()), None);
        assert_eq!(facts(Path::new("/dev/zero")), None);
    }
}
