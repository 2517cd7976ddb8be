//! What is in an archive, by name and size. Nothing is unpacked, but for what
//! must be to get from one name to the next, and of that only so much.

mod tar;
mod zip;

use std::fs::File;
use std::io::{self, Read, Seek};

use flate2::read::MultiGzDecoder;
use tokio_util::sync::CancellationToken;

use super::file::Asked;
use super::lines::read_some;
use super::{View, refusal, units};
use crate::path::printable;

/// Names that are kept of one archive.
const MOST_ENTRIES: usize = 10_000;

/// Bytes of a name.
const MOST_NAME: usize = 4096;

/// Bytes that are unpacked to find names.
const MOST_UNPACKED: u64 = 512 * 1024 * 1024;

/// Something in an archive.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Entry {
    name: String,
    kind: Kind,
    size: u64,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    File,
    Directory,
    Link(String),
    Other,
}

/// The names that were found.
#[derive(Debug, Default, PartialEq, Eq)]
struct Listing {
    entries: Vec<Entry>,
    /// How many there are, also of those that are not kept.
    total: u64,
    /// Bytes of all files.
    unpacked: u64,
    /// Why there may be more, if so.
    unfinished: Option<&'static str>,
}

impl Listing {
    fn add(&mut self, entry: Entry) {
        self.total += 1;
        self.unpacked = self.unpacked.saturating_add(entry.size);
        if self.entries.len() < MOST_ENTRIES {
            self.entries.push(entry);
        }
    }
}

/// The names in a ZIP archive.
pub(super) fn view_zip(file: File, bytes: u64, asked: &Asked<'_>) -> Result<View, String> {
    let listing = zip::list(file, bytes, asked.cancel).map_err(|error| broken(asked, "ZIP", &error))?;
    show(&listing, "ZIP archive", asked)
}

/// The names in a tar archive.
pub(super) fn view_tar(file: File, asked: &Asked<'_>) -> Result<View, String> {
    let listing = tar::list(Seeking(file), asked.cancel).map_err(|error| broken(asked, "tar", &error))?;
    show(&listing, "tar archive", asked)
}

/// The names in a tar archive that is packed; of anything else, only that it is packed.
pub(super) fn view_gzip(mut file: File, bytes: u64, asked: &Asked<'_>) -> Result<View, String> {
    let mut begin = Vec::new();
    // What cannot be unpacked is no archive either.
    let _ = MultiGzDecoder::new(&mut file).take(512).read_to_end(&mut begin);
    if begin.get(257..262) != Some(b"ustar") {
        return Err(format!(
            "{} is gzip data of {bytes} bytes and no archive. Use zcat with bash, and cut what it prints.",
            asked.shown
        ));
    }
    file.rewind().map_err(|error| refusal(asked.shown, &error))?;
    let unpacked = Unpacking { source: MultiGzDecoder::new(file), room: MOST_UNPACKED, cancel: asked.cancel };
    let listing = tar::list(unpacked, asked.cancel).map_err(|error| broken(asked, "tar", &error))?;
    show(&listing, "tar archive packed by gzip", asked)
}

fn broken(asked: &Asked<'_>, what: &str, error: &io::Error) -> String {
    format!("{} begins like a {what} archive but cannot be listed: {error}.", asked.shown)
}

fn show(listing: &Listing, what: &str, asked: &Asked<'_>) -> Result<View, String> {
    let mut view = units::view(asked.selection, "entry", listing.entries.len() as u64, |number| {
        let entry = usize::try_from(number - 1).ok().and_then(|index| listing.entries.get(index));
        Ok(entry.map(line).unwrap_or_default())
    })?;
    // The plural of entry is not made by an s.
    view.notes = view.notes.into_iter().map(|note| note.replace("entrys", "entries")).collect();
    view.summary = format!("{} entries", listing.total);
    view.notes.insert(0, format!("{what}, {} bytes unpacked", listing.unpacked));
    if listing.total > listing.entries.len() as u64 {
        view.notes
            .push(format!("{} more entries are not listed", listing.total - listing.entries.len() as u64));
    }
    view.notes.extend(listing.unfinished.map(str::to_owned));
    Ok(view)
}

fn line(entry: &Entry) -> String {
    let name = printable(&entry.name);
    match &entry.kind {
        Kind::File => format!("{:>10} {name}", entry.size),
        Kind::Directory => format!("{:>10} {}/", "", name.trim_end_matches('/')),
        Kind::Link(target) => format!("{:>10} {name} -> {}", "link", printable(target)),
        Kind::Other => format!("{:>10} {name}", "special"),
    }
}

/// A stream of which parts can be passed over.
trait Source: Read {
    fn pass(&mut self, bytes: u64) -> io::Result<()>;
}

struct Seeking(File);

impl Read for Seeking {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer)
    }
}

impl Source for Seeking {
    fn pass(&mut self, bytes: u64) -> io::Result<()> {
        let bytes = i64::try_from(bytes).map_err(|_| io::Error::from(io::ErrorKind::InvalidData))?;
        self.0.seek_relative(bytes)
    }
}

/// What is unpacked, up to a limit.
struct Unpacking<'a, R> {
    source: R,
    room: u64,
    cancel: &'a CancellationToken,
}

impl<R: Read> Read for Unpacking<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.room == 0 {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        let count = read_some(&mut self.source, buffer, self.cancel)?;
        self.room = self.room.saturating_sub(count as u64);
        Ok(count)
    }
}

impl<R: Read> Source for Unpacking<'_, R> {
    fn pass(&mut self, bytes: u64) -> io::Result<()> {
        io::copy(&mut self.by_ref().take(bytes), &mut io::sink()).map(|_| ())
    }
}

/// A name in whatever encoding, of bounded length.
fn name_of(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len()).min(MOST_NAME);
    String::from_utf8_lossy(bytes.get(..end).unwrap_or_default()).into_owned()
}
