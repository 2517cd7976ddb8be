//! What a job printed: its end in memory, all of it in a file once it has a name.

use std::collections::VecDeque;
use std::fs::{File, OpenOptions};
use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// Bytes that are kept in memory.
const KEPT: usize = 128 * 1024;

/// Some of what a job printed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Printed {
    /// As it was printed.
    pub bytes: Vec<u8>,
    /// Bytes that were asked for and are not in memory any more.
    pub missed: u64,
    /// Where the next ones will be.
    pub cursor: u64,
}

#[derive(Debug, Default)]
pub(super) struct Log {
    count: u64,
    end: VecDeque<u8>,
    file: Option<LogFile>,
}

#[derive(Debug)]
struct LogFile {
    path: PathBuf,
    /// Closed when it is full or the disk is.
    file: Option<File>,
    room: u64,
    dropped: u64,
}

impl Log {
    pub(super) fn count(&self) -> u64 {
        self.count
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        self.count += bytes.len() as u64;
        if let Some(file) = &mut self.file {
            file.write(bytes);
        }
        let kept = bytes.get(bytes.len().saturating_sub(KEPT)..).unwrap_or_default();
        let excess = (self.end.len() + kept.len()).saturating_sub(KEPT);
        self.end.drain(..excess.min(self.end.len()));
        self.end.extend(kept);
    }

    /// Writes to a file from now on, and first what is in memory.
    pub(super) fn keep_in(&mut self, path: PathBuf, cap: u64) {
        let link_is_wrong = i32::try_from(OFlags::NOFOLLOW.bits()).unwrap_or_default();
        let mut options = OpenOptions::new();
        options.write(true).create(true).truncate(true).mode(0o600).custom_flags(link_is_wrong);
        let Ok(file) = options.open(&path) else { return };
        let mut file = LogFile { path, file: Some(file), room: cap, dropped: 0 };
        file.dropped = self.count - self.end.len() as u64;
        let (begin, end) = self.end.as_slices();
        file.write(begin);
        file.write(end);
        self.file = Some(file);
    }

    /// What was printed from a cursor on.
    pub(super) fn since(&self, cursor: u64) -> Printed {
        let first = self.count - self.end.len() as u64;
        let from = cursor.clamp(first, self.count);
        let skipped = usize::try_from(from - first).unwrap_or(usize::MAX);
        Printed {
            bytes: self.end.iter().skip(skipped).copied().collect(),
            missed: first.saturating_sub(cursor),
            cursor: self.count,
        }
    }

    /// The file, and how many bytes are not in it.
    pub(super) fn file(&self) -> Option<(&Path, u64)> {
        self.file.as_ref().map(|file| (file.path.as_path(), file.dropped))
    }
}

impl LogFile {
    fn write(&mut self, bytes: &[u8]) {
        let room = usize::try_from(self.room).unwrap_or(usize::MAX).min(bytes.len());
        let (kept, dropped) = bytes.split_at(room);
        self.dropped += dropped.len() as u64;
        self.room -= kept.len() as u64;
        let written = self.file.as_mut().map(|file| file.write_all(kept));
        if !matches!(written, Some(Ok(()))) {
            // A log with a hole would mislead: it ends here.
            (self.file, self.room) = (None, 0);
            self.dropped += kept.len() as u64;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_end_is_kept_and_what_is_missed_is_counted() {
        let mut log = Log::default();
        log.write(b"one\n");
        assert_eq!(log.since(0), Printed { bytes: b"one\n".to_vec(), missed: 0, cursor: 4 });
        log.write(b"two\n");
        assert_eq!(log.since(4), Printed { bytes: b"two\n".to_vec(), missed: 0, cursor: 8 });
        assert_eq!(log.since(99).bytes, b"");
        log.write(&vec![b'x'; 10 * KEPT]);
        log.write(b"end");
        let printed = log.since(8);
        assert_eq!((printed.bytes.len(), printed.missed), (KEPT, 9 * KEPT as u64 + 3));
        assert!(printed.bytes.ends_with(b"xend"));
    }

    #[test]
    fn a_file_holds_what_fits_under_its_cap() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("log");
        let mut log = Log::default();
        log.write(b"before ");
        log.keep_in(path.clone(), 10);
        log.write(b"after");
        log.write(b"more");
        assert_eq!(std::fs::read(&path).unwrap(), b"before aft");
        assert_eq!(log.file(), Some((path.as_path(), 6)));
        log.keep_in(directory.path().join("missing/log"), 10);
        assert_eq!(log.since(0).bytes, b"before aftermore", "the memory does not need a disk");
    }
}
