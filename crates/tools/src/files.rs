//! Opening and replacing files at resolved paths, without following a link that
//! appears in them, without waiting for pipes, and without leaving half a file.
//!
//! A file is replaced by a new one beside it that takes its name, so that a
//! reader sees the old or the new, and a full disk harms nothing. Mode and owner
//! are kept. It is written in place instead where the new one would not be the
//! same file to others (hard links) or cannot be made (directory not writable,
//! owner not ours).

use std::ffi::{OsStr, OsString};
use std::fs::{File, Metadata};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::UNIX_EPOCH;

use rustix::fs::{Access, AtFlags, CWD, FileType, Gid, Mode, OFlags, Stat, Uid};
use rustix::io::Errno;

use crate::memory::Seen;

static COUNT: AtomicU64 = AtomicU64::new(0);

/// A file that was read to its end.
pub(crate) struct Loaded {
    /// What is in it.
    pub(crate) bytes: Vec<u8>,
    /// The state in which it was.
    pub(crate) seen: Seen,
}

/// Why a file was not loaded.
#[derive(Debug)]
pub(crate) enum LoadError {
    /// It does not exist.
    Missing,
    /// It is a directory.
    Directory,
    /// It is something else that is no file: what it is.
    Special(&'static str),
    /// It has this many bytes, which are too many.
    TooLarge(u64),
    /// The system said no.
    Io(io::Error),
}

impl From<io::Error> for LoadError {
    fn from(error: io::Error) -> Self {
        match error.kind() {
            io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => Self::Missing,
            _ => Self::Io(error),
        }
    }
}

/// Opens a file for reading. It never waits: what is neither file nor directory is not opened at all.
pub(crate) fn open(path: &Path) -> Result<(File, Metadata), LoadError> {
    let metadata = std::fs::symlink_metadata(path)?;
    check_kind(&metadata)?;
    let file = open_without_links(path, OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY, Mode::empty())
        .map_err(io::Error::from)?;
    let file = File::from(file);
    let metadata = file.metadata()?;
    check_kind(&metadata)?;
    Ok((file, metadata))
}

fn check_kind(metadata: &Metadata) -> Result<(), LoadError> {
    if metadata.is_dir() {
        return Err(LoadError::Directory);
    }
    if metadata.is_file() {
        return Ok(());
    }
    Err(LoadError::Special(match FileType::from_raw_mode(metadata.mode()) {
        FileType::Fifo => "a named pipe",
        FileType::Socket => "a socket",
        FileType::CharacterDevice | FileType::BlockDevice => "a device",
        FileType::Symlink => "a symbolic link that appeared just now",
        FileType::RegularFile | FileType::Directory | FileType::Unknown => "no regular file",
    }))
}

/// Reads a file of at most so many bytes.
pub(crate) fn load(path: &Path, most: u64) -> Result<Loaded, LoadError> {
    let (file, metadata) = open(path)?;
    if metadata.len() > most {
        return Err(LoadError::TooLarge(metadata.len()));
    }
    let mut bytes = Vec::new();
    // Files of /proc claim to be empty, and others may grow.
    file.take(most + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > most {
        return Err(LoadError::TooLarge(bytes.len() as u64));
    }
    let seen = Seen::new(&metadata, Some(blake3::hash(&bytes)));
    Ok(Loaded { bytes, seen })
}

/// Why something named `shown` cannot be read, in words for the model.
pub(crate) fn refusal(shown: &str, error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::PermissionDenied => format!("{shown} may not be read: permission denied."),
        _ => format!("{shown} cannot be read: {error}."),
    }
}

/// The mode of a file that its mode or its owner protects from being written. To replace it would get
/// around that, because only the directory is asked then.
pub(crate) fn protection(path: &Path) -> Option<u32> {
    let mode = std::fs::symlink_metadata(path).ok()?.mode();
    let access = rustix::fs::accessat(CWD, path, Access::WRITE_OK, AtFlags::EACCESS);
    is_protected(mode, rustix::process::geteuid(), access).then_some(mode & 0o7777)
}

fn is_protected(mode: u32, user: Uid, access: rustix::io::Result<()>) -> bool {
    match access {
        Err(Errno::ACCESS | Errno::PERM) => true,
        // Whoever took all the bits away meant everybody, and only root need not mind.
        _ => !user.is_root() && mode & 0o222 == 0,
    }
}

/// Makes these bytes the content of a file, creating it and its directories where they are missing.
pub(crate) fn replace(path: &Path, bytes: &[u8]) -> io::Result<Seen> {
    let (Some(parent), Some(name)) = (path.parent(), path.file_name()) else {
        return Err(io::ErrorKind::IsADirectory.into());
    };
    std::fs::create_dir_all(parent)?;
    let directory = open_without_links(parent, DIRECTORY, Mode::empty())?;
    let file = match rustix::fs::statat(&directory, name, AtFlags::SYMLINK_NOFOLLOW) {
        Ok(old) if old.st_nlink > 1 => write_in_place(&directory, name, bytes)?,
        Ok(old) => match write_beside(&directory, name, bytes, Some(&old)) {
            Ok(file) => file,
            Err(Errno::ACCESS | Errno::PERM | Errno::ROFS) => write_in_place(&directory, name, bytes)?,
            Err(error) => return Err(error.into()),
        },
        Err(Errno::NOENT) => write_beside(&directory, name, bytes, None)?,
        Err(error) => return Err(error.into()),
    };
    Ok(Seen::new(&file.metadata()?, Some(blake3::hash(bytes))))
}

#[cfg(target_os = "linux")]
const DIRECTORY: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);
#[cfg(not(target_os = "linux"))]
const DIRECTORY: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);

/// Opens a resolved path. A link anywhere in it is an error, where the kernel can tell; at its end always.
fn open_without_links(path: &Path, flags: OFlags, mode: Mode) -> rustix::io::Result<OwnedFd> {
    let flags = flags | OFlags::CLOEXEC | OFlags::NOFOLLOW;
    #[cfg(target_os = "linux")]
    match rustix::fs::openat2(CWD, path, flags, mode, rustix::fs::ResolveFlags::NO_SYMLINKS) {
        // Older kernels do not have it, and some containers forbid it.
        Err(Errno::NOSYS | Errno::PERM) => {}
        opened => return opened,
    }
    rustix::fs::openat(CWD, path, flags, mode)
}

fn write_in_place(directory: &OwnedFd, name: &OsStr, bytes: &[u8]) -> io::Result<File> {
    let flags = OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let mut file = File::from(rustix::fs::openat(directory, name, flags, Mode::empty())?);
    check_kind(&file.metadata()?).map_err(|_| io::Error::from(io::ErrorKind::InvalidInput))?;
    // Shortened last, so that a failure in between leaves as much of the old as there can be.
    file.write_all(bytes)?;
    file.set_len(bytes.len() as u64)?;
    Ok(file)
}

/// Writes a new file and gives it the name. With an error, the old one is untouched.
fn write_beside(
    directory: &OwnedFd,
    name: &OsStr,
    bytes: &[u8],
    old: Option<&Stat>,
) -> rustix::io::Result<File> {
    // A name has at most 255 bytes, so the old one cannot simply be made longer.
    let beside = OsString::from(format!(
        ".rein-{}-{}-{}.tmp",
        std::process::id(),
        UNIX_EPOCH.elapsed().unwrap_or_default().as_nanos(),
        COUNT.fetch_add(1, Ordering::Relaxed)
    ));
    let mode = if old.is_some() { Mode::RUSR | Mode::WUSR } else { Mode::from_raw_mode(0o666) };
    let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
    let file = File::from(rustix::fs::openat(directory, &beside, flags, mode)?);
    let placed = fill(&file, bytes, old).and_then(|()| take_name(directory, &beside, name, old));
    if let Err(error) = placed {
        let _ = rustix::fs::unlinkat(directory, &beside, AtFlags::empty());
        return Err(error);
    }
    Ok(file)
}

fn fill(mut file: &File, bytes: &[u8], old: Option<&Stat>) -> rustix::io::Result<()> {
    file.write_all(bytes).map_err(|error| Errno::from_io_error(&error).unwrap_or(Errno::IO))?;
    // The name must not come to stand for content that a power cut can still take away.
    match rustix::fs::fsync(file) {
        // Not every file system can.
        Ok(()) | Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => {}
        Err(error) => return Err(error),
    }
    let Some(old) = old else { return Ok(()) };
    let new = rustix::fs::fstat(file.as_fd())?;
    if (new.st_uid, new.st_gid) != (old.st_uid, old.st_gid) {
        rustix::fs::fchown(file.as_fd(), Some(Uid::from_raw(old.st_uid)), Some(Gid::from_raw(old.st_gid)))?;
    }
    rustix::fs::fchmod(file.as_fd(), Mode::from_raw_mode(old.st_mode))
}

/// A name that was free must still be free.
fn take_name(
    directory: &OwnedFd,
    beside: &OsStr,
    name: &OsStr,
    old: Option<&Stat>,
) -> rustix::io::Result<()> {
    #[cfg(target_os = "linux")]
    if old.is_none() {
        let flags = rustix::fs::RenameFlags::NOREPLACE;
        match rustix::fs::renameat_with(directory, beside, directory, name, flags) {
            // Not every file system has it.
            Err(Errno::INVAL | Errno::NOSYS) => {}
            renamed => return renamed,
        }
    }
    #[cfg(not(target_os = "linux"))]
    let _ = old;
    rustix::fs::renameat(directory, beside, directory, name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::{PermissionsExt, symlink};

    fn directory() -> (tempfile::TempDir, std::path::PathBuf) {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().canonicalize().unwrap();
        (directory, path)
    }

    fn names(at: &Path) -> Vec<String> {
        let mut names: Vec<String> = std::fs::read_dir(at)
            .unwrap()
            .map(|entry| entry.unwrap().file_name().into_string().unwrap())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_is_replaced_with_its_mode_kept_and_nothing_left_beside_it() {
        let (_guard, at) = directory();
        let path = at.join("tool.sh");
        std::fs::write(&path, "old").unwrap();
        std::fs::set_permissions(&path, PermissionsExt::from_mode(0o751)).unwrap();
        let before = std::fs::metadata(&path).unwrap();
        replace(&path, b"new").unwrap();
        let after = std::fs::metadata(&path).unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
        assert_eq!(after.mode(), before.mode());
        assert_ne!(after.ino(), before.ino(), "readers of the old one keep it");
        assert_eq!(names(&at), ["tool.sh"]);
    }

    #[test]
    fn what_protects_a_file_from_whom() {
        let (root, user) = (Uid::ROOT, Uid::from_raw(1000));
        for (mode, user, access, expected) in [
            (0o100_444, user, Err(Errno::ACCESS), true),
            (0o100_644, user, Err(Errno::ACCESS), true),
            (0o100_644, user, Err(Errno::PERM), true),
            (0o100_644, root, Err(Errno::PERM), true),
            (0o100_555, user, Ok(()), true),
            (0o100_444, root, Ok(()), false),
            (0o100_644, user, Ok(()), false),
            (0o100_060, user, Ok(()), false),
            // Neither says that the file is protected: writing it tells what is the matter.
            (0o100_644, user, Err(Errno::ROFS), false),
            (0o100_644, user, Err(Errno::NOSYS), false),
        ] {
            assert_eq!(is_protected(mode, user, access), expected, "{mode:o} {user:?} {access:?}");
        }
    }

    #[test]
    fn directories_are_made_and_the_longest_name_works() {
        let (_guard, at) = directory();
        let path = at.join("a/b").join("x".repeat(255));
        replace(&path, b"new").unwrap();
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }

    #[test]
    fn hard_links_stay_links() {
        let (_guard, at) = directory();
        std::fs::write(at.join("one"), "a longer text").unwrap();
        std::fs::hard_link(at.join("one"), at.join("two")).unwrap();
        replace(&at.join("one"), b"short").unwrap();
        assert_eq!(std::fs::read(at.join("two")).unwrap(), b"short");
    }

    #[test]
    fn a_link_in_the_path_is_refused_wherever_it_is() {
        let (_guard, at) = directory();
        let (_other_guard, elsewhere) = directory();
        std::fs::write(elsewhere.join("file"), "precious").unwrap();
        symlink(&elsewhere, at.join("directory")).unwrap();
        symlink(elsewhere.join("file"), at.join("link")).unwrap();
        assert!(replace(&at.join("directory/file"), b"x").is_err());
        assert!(matches!(open(&at.join("directory/file")), Err(LoadError::Io(_))));
        assert!(matches!(open(&at.join("link")), Err(LoadError::Special(_))));
        assert_eq!(std::fs::read(elsewhere.join("file")).unwrap(), b"precious");
    }

    #[test]
    fn what_is_no_file_is_named_and_does_not_block() {
        let (_guard, at) = directory();
        let fifo = at.join("fifo");
        rustix::fs::mknodat(CWD, &fifo, FileType::Fifo, Mode::RUSR | Mode::WUSR, 0).unwrap();
        assert!(matches!(load(&fifo, 10), Err(LoadError::Special("a named pipe"))));
        assert!(matches!(load(Path::new("/dev/zero"), 10), Err(LoadError::Special("a device"))));
        assert!(matches!(load(&at, 10), Err(LoadError::Directory)));
        assert!(matches!(load(&at.join("fifo/below"), 10), Err(LoadError::Missing)));
        std::fs::write(at.join("large"), "0123456789+").unwrap();
        assert!(matches!(load(&at.join("large"), 10), Err(LoadError::TooLarge(11))));
    }

    #[test]
    fn a_file_in_a_directory_that_cannot_be_written_is_written_in_place() {
        let (_guard, at) = directory();
        let path = at.join("file");
        std::fs::write(&path, "old and long").unwrap();
        if rustix::process::geteuid().is_root() {
            // Root may write to any directory, so the way in place is taken directly.
            let opened = open_without_links(&at, DIRECTORY, Mode::empty()).unwrap();
            write_in_place(&opened, OsStr::new("file"), b"new").unwrap();
        } else {
            std::fs::set_permissions(&at, PermissionsExt::from_mode(0o555)).unwrap();
            replace(&path, b"new").unwrap();
            std::fs::set_permissions(&at, PermissionsExt::from_mode(0o755)).unwrap();
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"new");
    }
}
