//! The log file: lines, appended, without secrets.
//!
//! A file that has grown too large becomes `rein.log.1`, that one `rein.log.2`,
//! and the last is removed. Any number of processes write to it. What cannot be
//! written is dropped: a log is no reason not to work.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use rein_permission::mask;

/// A file that is larger is put aside.
const LARGEST: u64 = 4 << 20;
/// Files that are kept, besides the one that is written.
const KEPT: u32 = 4;
/// What is longer is cut off.
const LONGEST_LINE: usize = 16 << 10;
/// What is longer is not even looked at. More than is written, so that no secret is cut in two where a line ends.
const LONGEST_READ: usize = 64 << 10;

/// The log of all reins of a user.
pub(super) struct LogFile {
    directory: PathBuf,
    largest: u64,
    open: Mutex<Option<File>>,
}

impl LogFile {
    /// The log in a directory. Nothing is made before there is something to write.
    pub(super) fn new(directory: &Path) -> Self {
        Self { directory: directory.to_owned(), largest: LARGEST, open: Mutex::new(None) }
    }

    /// Writes a line.
    pub(super) fn write(&self, line: &str) {
        // Before anything in it is written otherwise: secrets are known by what stands before them.
        let seen = line.get(..line.floor_char_boundary(line.len().min(LONGEST_READ))).unwrap_or_default();
        let line = one_line(&mask::secrets(seen));
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if self.write_line(&mut open, &line).is_err() {
            *open = None;
        }
    }

    fn path(&self, number: u32) -> PathBuf {
        let name = if number == 0 { "rein.log".to_owned() } else { format!("rein.log.{number}") };
        self.directory.join(name)
    }

    fn write_line(&self, open: &mut Option<File>, line: &str) -> io::Result<()> {
        let mut file = match open.take() {
            Some(file) if self.is_current(&file)? => file,
            _ => self.current()?,
        };
        // One call, so that lines of several processes do not mix.
        file.write_all(format!("{line}\n").as_bytes())?;
        *open = Some(file);
        Ok(())
    }

    /// Whether a file is still the one with the name, and not too large.
    fn is_current(&self, file: &File) -> io::Result<bool> {
        let mine = file.metadata()?;
        let named = fs::metadata(self.path(0));
        Ok(mine.len() < self.largest && named.is_ok_and(|named| named.ino() == mine.ino()))
    }

    /// The file to write to, with room in it.
    fn current(&self) -> io::Result<File> {
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory)?;
        // Only one puts files aside at a time; who comes second finds that it is done.
        let lock = File::open(&self.directory)?;
        lock.lock()?;
        if fs::metadata(self.path(0)).is_ok_and(|metadata| metadata.len() >= self.largest) {
            for number in (0..KEPT).rev() {
                // Most are not there at first.
                let _ = fs::rename(self.path(number), self.path(number + 1));
            }
        }
        OpenOptions::new().create(true).append(true).mode(0o600).open(self.path(0))
    }
}

fn one_line(line: &str) -> String {
    let cut = line.floor_char_boundary(line.len().min(LONGEST_LINE));
    let mut text = String::with_capacity(cut);
    for character in line.get(..cut).unwrap_or_default().chars() {
        if character.is_control() {
            text.extend(character.escape_default());
        } else {
            text.push(character);
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_put_aside_when_they_are_large_and_the_oldest_goes() {
        let directory = tempfile::tempdir().unwrap();
        let small = || LogFile { largest: 100, ..LogFile::new(directory.path()) };
        let (one, other) = (small(), small());
        for number in 0..100 {
            one.write(&format!("one {number:030}"));
            other.write(&format!("other {number:030}"));
        }
        let mut names: Vec<String> = fs::read_dir(directory.path())
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        assert_eq!(names, ["rein.log", "rein.log.1", "rein.log.2", "rein.log.3", "rein.log.4"]);
        for name in names {
            let text = fs::read_to_string(directory.path().join(name)).unwrap();
            assert!(text.len() < 200 && text.lines().all(|line| line.len() > 30), "{text}");
        }
    }

    #[test]
    fn a_line_stays_one_and_has_no_secrets() {
        let directory = tempfile::tempdir().unwrap();
        let log = LogFile::new(&directory.path().join("new"));
        log.write("a\nb \u{1b}[2J token=sk-ant-REDACTED-0123456789abcdef0123456789abcdef");
        let text = fs::read_to_string(directory.path().join("new/rein.log")).unwrap();
        assert!(text.starts_with("a\\nb \\u{1b}[2J token=***") && text.lines().count() == 1, "{text}");
    }

    #[test]
    fn a_secret_is_known_after_a_line_end_and_where_a_line_is_cut() {
        let directory = tempfile::tempdir().unwrap();
        let log = LogFile::new(directory.path());
        let key = format!("sk-ant-{}", "0123456789abcdef".repeat(4));
        log.write(&format!("said:\n{key}\tghp_{}\n", "a1".repeat(18)));
        log.write(&format!("{} {key}", "x".repeat(LONGEST_LINE - 12)));
        let text = fs::read_to_string(directory.path().join("rein.log")).unwrap();
        assert!(text.starts_with("said:\\n***\\t***\\n\n"), "{text}");
        assert!(!text.contains("sk-ant") && !text.contains("ghp_"), "{text}");
        assert_eq!(text.lines().count(), 2);
    }

    #[test]
    fn where_nothing_can_be_written_nothing_happens() {
        let directory = tempfile::tempdir().unwrap();
        fs::write(directory.path().join("file"), "").unwrap();
        LogFile::new(&directory.path().join("file/log")).write("lost");
    }
}
