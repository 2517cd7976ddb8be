//! The directory at the end of a ZIP archive, also of one in the 64-bit form.

use std::fs::File;
use std::io::{self, BufReader, Read, Seek, SeekFrom};

use memchr::memmem;
use tokio_util::sync::CancellationToken;

use super::{Entry, Kind, Listing, name_of};

/// The end of the directory, and the longest comment after it.
const MOST_END: u64 = 22 + 65_535;

const ENTRY: [u8; 4] = *b"PK\x01\x02";

/// Where the directory is.
struct Place {
    total: u64,
    size: u64,
    start: u64,
}

/// Lists an archive.
pub(super) fn list(mut file: File, bytes: u64, cancel: &CancellationToken) -> io::Result<Listing> {
    let place = find(&mut file, bytes)?;
    file.seek(SeekFrom::Start(place.start))?;
    let mut source = BufReader::new(file).take(place.size);
    let mut listing = Listing::default();
    let mut header = [0; 46];
    while listing.total < place.total {
        if cancel.is_cancelled() {
            return Err(io::Error::other("cancelled"));
        }
        if source.read_exact(&mut header).is_err() || !header.starts_with(&ENTRY) {
            listing.unfinished = Some("the archive is broken after this");
            break;
        }
        let (name_length, extra_length, comment_length) =
            (short(&header, 28), short(&header, 30), short(&header, 32));
        let mut rest =
            vec![0; usize::from(name_length) + usize::from(extra_length) + usize::from(comment_length)];
        if source.read_exact(&mut rest).is_err() {
            listing.unfinished = Some("the archive is broken after this");
            break;
        }
        let (name, rest) = rest.split_at(usize::from(name_length));
        let extra = rest.get(..usize::from(extra_length)).unwrap_or_default();
        let name = name_of(name);
        let kind = if name.ends_with('/') { Kind::Directory } else { Kind::File };
        let size = match long(&header, 24) {
            u32::MAX => large_size(extra).unwrap_or(u64::from(u32::MAX)),
            size => u64::from(size),
        };
        listing.add(Entry { name, kind, size });
    }
    Ok(listing)
}

fn find(file: &mut File, bytes: u64) -> io::Result<Place> {
    let invalid = || io::Error::new(io::ErrorKind::InvalidData, "its directory is missing");
    let from = bytes.saturating_sub(MOST_END);
    file.seek(SeekFrom::Start(from))?;
    let mut end = Vec::new();
    file.take(MOST_END).read_to_end(&mut end)?;
    let at = memmem::rfind(&end, b"PK\x05\x06").ok_or_else(invalid)?;
    let record = end.get(at..at + 22).ok_or_else(invalid)?;
    let position = from + at as u64;
    let (total, size, start) = (short(record, 10), long(record, 12), long(record, 16));
    let place = match (total, size, start) {
        (u16::MAX, _, _) | (_, u32::MAX, _) | (_, _, u32::MAX) => find_large(file, position)?,
        _ => Place { total: u64::from(total), size: u64::from(size), start: u64::from(start) },
    };
    // Something may stand before the archive; the directory then begins later than it says.
    let is_there = |file: &mut File, start: u64| -> io::Result<bool> {
        let mut begin = [0; 4];
        file.seek(SeekFrom::Start(start))?;
        Ok(file.read_exact(&mut begin).is_ok() && begin == ENTRY)
    };
    if place.total == 0 || is_there(file, place.start)? {
        return Ok(place);
    }
    match position.checked_sub(place.size) {
        Some(start) if is_there(file, start)? => Ok(Place { start, ..place }),
        _ => Err(invalid()),
    }
}

/// Before the end stands where the end of the large form is.
fn find_large(file: &mut File, end: u64) -> io::Result<Place> {
    let invalid = || io::Error::from(io::ErrorKind::InvalidData);
    let mut locator = [0; 20];
    file.seek(SeekFrom::Start(end.checked_sub(20).ok_or_else(invalid)?))?;
    file.read_exact(&mut locator)?;
    let mut record = [0; 56];
    file.seek(SeekFrom::Start(longest(&locator, 8)))?;
    file.read_exact(&mut record)?;
    if !locator.starts_with(b"PK\x06\x07") || !record.starts_with(b"PK\x06\x06") {
        return Err(invalid());
    }
    Ok(Place { total: longest(&record, 32), size: longest(&record, 40), start: longest(&record, 48) })
}

/// The size in the 64-bit form, which stands first if the short one says so.
fn large_size(mut extra: &[u8]) -> Option<u64> {
    while extra.len() >= 4 {
        let (kind, length) = (short(extra, 0), usize::from(short(extra, 2)));
        let content = extra.get(4..4 + length)?;
        if kind == 1 && content.len() >= 8 {
            return Some(longest(content, 0));
        }
        extra = extra.get(4 + length..)?;
    }
    None
}

fn take<const N: usize>(bytes: &[u8], at: usize) -> [u8; N] {
    bytes.get(at..at + N).and_then(|bytes| bytes.try_into().ok()).unwrap_or([0; N])
}

fn short(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes(take(bytes, at))
}

fn long(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes(take(bytes, at))
}

fn longest(bytes: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(take(bytes, at))
}
