//! The pages of a database file, with those of its log over them.
//!
//! Reads the files as bytes; knows SQLite's file format as far as pages and
//! the write-ahead log go, and trusts nothing it reads. Of the log, exactly
//! what SQLite would take is taken: complete transactions with good checksums.

use std::collections::HashMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::Path;

const MAGIC: &[u8] = b"SQLite format 3\0";
const USUAL_SIZE: usize = 4096;
const LOG_HEADER: usize = 32;
const FRAME_HEADER: usize = 24;

/// A page by its number, counted from 1.
pub(super) struct Pages {
    database: File,
    log: Option<File>,
    /// Where in the log the newest version of a page is.
    newer: HashMap<u32, u64>,
    size: usize,
    count: u32,
}

impl Pages {
    pub(super) fn open(database: &Path, log: &Path) -> io::Result<Self> {
        let database = File::open(database)?;
        let log = File::open(log).ok();
        let mut header = [0; 18];
        let whole = database.read_exact_at(&mut header, 0).is_ok();
        let log_header = log.as_ref().and_then(LogHeader::read);
        let size = match page_size(&header) {
            Some(size) if whole => size,
            _ => log_header.as_ref().map_or(USUAL_SIZE, |header| header.page_size),
        };
        let newer = match (&log, log_header) {
            (Some(file), Some(header)) if header.page_size == size => index_log(file, header),
            _ => HashMap::new(),
        };
        let in_file = database.metadata()?.len() / as_u64(size);
        let in_log = newer.keys().copied().max().unwrap_or(0);
        let count = u32::try_from(in_file).unwrap_or(u32::MAX).max(in_log);
        Ok(Self { database, log, newer, size, count })
    }

    /// How many bytes a page has.
    pub(super) fn size(&self) -> usize {
        self.size
    }

    pub(super) fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        1..=self.count
    }

    /// How many bytes there are at all: no row can be longer.
    pub(super) fn total(&self) -> usize {
        usize::try_from(self.count).unwrap_or(usize::MAX).saturating_mul(self.size)
    }

    /// A page as a reader would see it, if it can be read at all.
    pub(super) fn page(&self, number: u32) -> Option<Vec<u8>> {
        let mut page = vec![0; self.size];
        match (self.newer.get(&number), &self.log) {
            (Some(&offset), Some(log)) => log.read_exact_at(&mut page, offset).ok()?,
            _ => {
                let offset = u64::from(number.checked_sub(1)?) * as_u64(self.size);
                self.database.read_exact_at(&mut page, offset).ok()?;
            }
        }
        Some(page)
    }
}

fn page_size(header: &[u8]) -> Option<usize> {
    if !header.starts_with(MAGIC) {
        return None;
    }
    let size = match header.get(16..18)? {
        // 65536 does not fit.
        [0, 1] => 65_536,
        bytes => usize::from(u16::from_be_bytes(bytes.try_into().ok()?)),
    };
    is_page_size(size).then_some(size)
}

fn is_page_size(size: usize) -> bool {
    size.is_power_of_two() && (512..=65_536).contains(&size)
}

/// The beginning of the log.
struct LogHeader {
    page_size: usize,
    salt: [u8; 8],
    order: ByteOrder,
    sum: Checksum,
}

#[derive(Clone, Copy)]
enum ByteOrder {
    Big,
    Little,
}

impl LogHeader {
    fn read(log: &File) -> Option<Self> {
        let mut header = [0; LOG_HEADER];
        log.read_exact_at(&mut header, 0).ok()?;
        let order = match word(&header, 0)? {
            0x377f_0682 => ByteOrder::Little,
            0x377f_0683 => ByteOrder::Big,
            _ => return None,
        };
        let page_size = usize::try_from(word(&header, 8)?).ok()?;
        let sum = Checksum::default().over(header.get(..24)?, order);
        if !is_page_size(page_size) || !sum.is(&header, 24) {
            return None;
        }
        Some(Self { page_size, salt: header.get(16..24)?.try_into().ok()?, order, sum })
    }
}

/// Where the newest committed version of each page is.
fn index_log(log: &File, header: LogHeader) -> HashMap<u32, u64> {
    let (mut committed, mut pending) = (HashMap::new(), Vec::new());
    let mut sum = header.sum;
    let mut offset = as_u64(LOG_HEADER);
    let mut frame = vec![0; FRAME_HEADER + header.page_size];
    while read_whole(log, &mut frame, offset) {
        let (head, page) = frame.split_at(FRAME_HEADER);
        let (Some(start), Some(number), Some(commit)) = (head.get(..8), word(head, 0), word(head, 4)) else {
            break;
        };
        sum = sum.over(start, header.order).over(page, header.order);
        if head.get(8..16) != Some(header.salt.as_slice()) || !sum.is(head, 16) {
            break;
        }
        pending.push((number, offset + as_u64(FRAME_HEADER)));
        if commit != 0 {
            committed.extend(pending.drain(..));
        }
        offset += as_u64(frame.len());
    }
    committed
}

fn read_whole(file: &File, buffer: &mut [u8], offset: u64) -> bool {
    file.read_exact_at(buffer, offset).is_ok()
}

/// SQLite's running checksum of a log.
#[derive(Clone, Copy, Default)]
struct Checksum(u32, u32);

impl Checksum {
    fn over(self, bytes: &[u8], order: ByteOrder) -> Self {
        let Self(mut first, mut second) = self;
        for pair in bytes.as_chunks::<8>().0 {
            let [a, b, c, d, e, f, g, h] = *pair;
            let (one, other) = match order {
                ByteOrder::Big => (u32::from_be_bytes([a, b, c, d]), u32::from_be_bytes([e, f, g, h])),
                ByteOrder::Little => (u32::from_le_bytes([a, b, c, d]), u32::from_le_bytes([e, f, g, h])),
            };
            first = first.wrapping_add(one).wrapping_add(second);
            second = second.wrapping_add(other).wrapping_add(first);
        }
        Self(first, second)
    }

    fn is(self, bytes: &[u8], offset: usize) -> bool {
        word(bytes, offset) == Some(self.0) && word(bytes, offset + 4) == Some(self.1)
    }
}

fn word(bytes: &[u8], offset: usize) -> Option<u32> {
    let bytes = bytes.get(offset..offset.checked_add(4)?)?;
    Some(u32::from_be_bytes(bytes.try_into().ok()?))
}

fn as_u64(number: usize) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
