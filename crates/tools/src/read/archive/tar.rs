//! The headers of a tar archive: ustar, with the long names of GNU and pax.

use std::io;

use tokio_util::sync::CancellationToken;

use super::{Entry, Kind, Listing, MOST_NAME, Source, name_of};

const BLOCK: u64 = 512;

/// Bytes of a header that extends another; longer ones are passed over.
const MOST_EXTENSION: u64 = 64 * 1024;

/// What headers say of the one that follows.
#[derive(Default)]
struct Extension {
    name: Option<String>,
    target: Option<String>,
    size: Option<u64>,
}

/// Lists an archive to its end, or to what cannot be understood.
pub(super) fn list(mut source: impl Source, cancel: &CancellationToken) -> io::Result<Listing> {
    let mut listing = Listing::default();
    let mut extension = Extension::default();
    loop {
        if cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        match step(&mut source, &mut listing, &mut extension) {
            Ok(true) => {}
            Ok(false) => return Ok(listing),
            // What was found until here is worth showing.
            Err(_) if cancel.is_cancelled() => return Err(io::Error::other("cancelled")),
            Err(error) if listing.total == 0 => return Err(error),
            Err(error) => {
                listing.unfinished = Some(match error.kind() {
                    io::ErrorKind::FileTooLarge => "there may be more: too much would have to be unpacked",
                    _ => "the archive is broken or cut after this",
                });
                return Ok(listing);
            }
        }
    }
}

/// Takes the next header. False at the end.
fn step(source: &mut impl Source, listing: &mut Listing, extension: &mut Extension) -> io::Result<bool> {
    let mut header = [0; BLOCK as usize];
    let count = read_full(source, &mut header)?;
    if count == 0 || header.iter().all(|byte| *byte == 0) {
        return Ok(false);
    }
    if count < header.len() || !is_valid(&header) {
        return Err(io::ErrorKind::InvalidData.into());
    }
    let field = |from: usize, length: usize| header.get(from..from + length).unwrap_or_default();
    let size = number(field(124, 12)).ok_or(io::ErrorKind::InvalidData)?;
    let flag = field(156, 1).first().copied().unwrap_or_default();
    if matches!(flag, b'L' | b'K' | b'x' | b'g') {
        let bytes = content(source, size)?;
        match flag {
            b'L' => extension.name = Some(name_of(&bytes)),
            b'K' => extension.target = Some(name_of(&bytes)),
            b'x' => extension.read(&bytes),
            _ => {}
        }
        return Ok(true);
    }
    let Extension { name, target, size: long_size } = std::mem::take(extension);
    let size = long_size.unwrap_or(size);
    let name = name.unwrap_or_else(|| match name_of(field(345, 155)) {
        prefix if prefix.is_empty() || field(257, 6) != b"ustar\0" => name_of(field(0, 100)),
        prefix => format!("{prefix}/{}", name_of(field(0, 100))),
    });
    let kind = match flag {
        b'0' | b'7' | 0 if name.ends_with('/') => Kind::Directory,
        b'0' | b'7' | 0 => Kind::File,
        b'5' => Kind::Directory,
        b'1' | b'2' => Kind::Link(target.unwrap_or_else(|| name_of(field(157, 100)))),
        _ => Kind::Other,
    };
    let is_file = kind == Kind::File;
    listing.add(Entry { name, kind, size: if is_file { size } else { 0 } });
    // Links and directories have no content, whatever size they claim.
    if is_file || !matches!(flag, b'1'..=b'6') {
        source.pass(padded(size)?)?;
    }
    Ok(true)
}

impl Extension {
    /// Lines like `28 path=some/long/name`.
    fn read(&mut self, mut rest: &[u8]) {
        while let Some(space) = memchr::memchr(b' ', rest) {
            let length = std::str::from_utf8(rest.get(..space).unwrap_or_default()).ok();
            let Some(length) = length.and_then(|length| length.parse::<usize>().ok()) else { return };
            let Some(record) = rest.get(space + 1..length) else { return };
            let record = record.strip_suffix(b"\n").unwrap_or(record);
            if let Some(value) = record.strip_prefix(b"path=") {
                self.name = Some(name_of(value));
            } else if let Some(value) = record.strip_prefix(b"linkpath=") {
                self.target = Some(name_of(value));
            } else if let Some(value) = record.strip_prefix(b"size=") {
                self.size = std::str::from_utf8(value).ok().and_then(|value| value.parse().ok());
            }
            rest = rest.get(length..).unwrap_or_default();
        }
    }
}

/// What follows a header, as much as can matter.
fn content(source: &mut impl Source, size: u64) -> io::Result<Vec<u8>> {
    let kept = size.min(MOST_EXTENSION).max(size.min(MOST_NAME as u64));
    let mut bytes = vec![0; usize::try_from(kept).unwrap_or_default()];
    if read_full(source, &mut bytes)? < bytes.len() {
        return Err(io::ErrorKind::UnexpectedEof.into());
    }
    source.pass(padded(size)? - kept)?;
    Ok(bytes)
}

fn padded(size: u64) -> io::Result<u64> {
    size.checked_next_multiple_of(BLOCK).ok_or_else(|| io::ErrorKind::InvalidData.into())
}

fn read_full(source: &mut impl Source, buffer: &mut [u8]) -> io::Result<usize> {
    let mut count = 0;
    while let Some(rest) = buffer.get_mut(count..).filter(|rest| !rest.is_empty()) {
        match source.read(rest) {
            Ok(0) => break,
            Ok(more) => count += more,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(count)
}

/// The sum of all bytes, those of the sum itself taken as spaces.
fn is_valid(header: &[u8]) -> bool {
    let sum: u64 = (0..)
        .zip(header)
        .map(|(at, byte)| if (148..156).contains(&at) { 32 } else { u64::from(*byte) })
        .sum();
    number(header.get(148..156).unwrap_or_default()) == Some(sum)
}

/// Octal digits, or bytes after a mark.
fn number(field: &[u8]) -> Option<u64> {
    match field {
        [mark, rest @ ..] if mark & 0x80 != 0 => rest.iter().try_fold(u64::from(mark & 0x7f), |sum, byte| {
            sum.checked_mul(256)?.checked_add(u64::from(*byte))
        }),
        _ => {
            let text = std::str::from_utf8(field).ok()?.trim_matches(['\0', ' ']);
            if text.is_empty() { Some(0) } else { u64::from_str_radix(text, 8).ok() }
        }
    }
}
