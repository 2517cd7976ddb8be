//! Empty things that must be there to be mounted on, and must be gone afterwards.
//!
//! Several processes, of several reins, may need the same ghost at once. Each
//! holds a shared lock on it; whoever ends last gets the exclusive one and
//! removes it. Only what has the mode of a ghost and is empty is ever removed,
//! and only with calls that fail if it is not.

use std::fs::{self, DirBuilder, File, OpenOptions, Permissions};
use std::io::{self, ErrorKind, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::{FlockOperation, flock};

use super::record::Failure;
use crate::jail::plan::{Body, GHOST_DIRECTORY, GHOST_FILE, Ghost, is_ghost};

/// How often a ghost that vanishes at the wrong moment is made again.
const TRIES: usize = 20;

/// The ghosts that this process holds.
pub(super) struct Ghosts(Vec<(PathBuf, File)>);

impl Ghosts {
    pub(super) fn make(wanted: &[Ghost]) -> Result<Self, Failure> {
        let mut held = Self(Vec::with_capacity(wanted.len()));
        for ghost in wanted {
            match hold(ghost) {
                Ok(Some(file)) => held.0.push((ghost.path.clone(), file)),
                // Somebody made a real one since the plan was made: it is mounted read-only as it is.
                Ok(None) => {}
                Err(error) => {
                    held.clear();
                    return Err(Failure::wall(
                        format!("keep {} from being made", ghost.path.display()),
                        &error,
                    ));
                }
            }
        }
        Ok(held)
    }

    /// Removes those that nobody else needs.
    pub(super) fn clear(self) {
        for (path, held) in self.0.into_iter().rev() {
            drop(held);
            remove(&path);
        }
    }
}

fn hold(ghost: &Ghost) -> io::Result<Option<File>> {
    for _ in 0..TRIES {
        match make(ghost) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                if !is_ghost(&ghost.path) {
                    return Ok(None);
                }
            }
            Err(error) => return Err(error),
        }
        let Ok(file) = File::open(&ghost.path) else { continue };
        flock(&file, FlockOperation::LockShared)?;
        if is_same(&file, &ghost.path) {
            return Ok(Some(file));
        }
    }
    Err(ErrorKind::ResourceBusy.into())
}

fn make(ghost: &Ghost) -> io::Result<()> {
    match ghost.body {
        Body::Directory => {
            DirBuilder::new().mode(0o555).create(&ghost.path)?;
            fs::set_permissions(&ghost.path, Permissions::from_mode(GHOST_DIRECTORY))
        }
        Body::Empty | Body::Here => {
            let mut file = OpenOptions::new().write(true).create_new(true).mode(0o444).open(&ghost.path)?;
            if ghost.body == Body::Here {
                file.write_all(b".\n")?;
            }
            file.set_permissions(Permissions::from_mode(GHOST_FILE))
        }
    }
}

fn remove(path: &Path) {
    let Ok(file) = File::open(path) else { return };
    let is_last = flock(&file, FlockOperation::NonBlockingLockExclusive).is_ok();
    if !is_last || !is_ghost(path) || !is_same(&file, path) {
        return;
    }
    // What cannot be removed now is removed by the next one.
    let _ = if path.is_dir() { fs::remove_dir(path) } else { fs::remove_file(path) };
}

/// Whether a path still leads to the file that was opened.
fn is_same(file: &File, path: &Path) -> bool {
    match (file.metadata(), path.symlink_metadata()) {
        (Ok(opened), Ok(found)) => (opened.dev(), opened.ino()) == (found.dev(), found.ino()),
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ghost(path: &Path, body: Body) -> Ghost {
        Ghost { path: path.to_owned(), body }
    }

    #[test]
    fn the_last_one_takes_the_ghosts_away() {
        let directory = tempfile::tempdir().unwrap();
        let wanted = [
            ghost(&directory.path().join(".rein"), Body::Directory),
            ghost(&directory.path().join("commondir"), Body::Here),
        ];
        let first = Ghosts::make(&wanted).unwrap();
        let second = Ghosts::make(&wanted).unwrap();
        assert_eq!(fs::read_to_string(&wanted[1].path).unwrap(), ".\n");
        first.clear();
        assert!(wanted.iter().all(|ghost| is_ghost(&ghost.path)), "the second one needs them");
        second.clear();
        assert_eq!(fs::read_dir(directory.path()).unwrap().count(), 0);
    }

    #[test]
    fn what_a_killed_one_left_is_found_and_taken_away() {
        let directory = tempfile::tempdir().unwrap();
        let wanted = [ghost(&directory.path().join(".rein"), Body::Directory)];
        drop(Ghosts::make(&wanted).unwrap());
        assert!(is_ghost(&wanted[0].path));
        Ghosts::make(&wanted).unwrap().clear();
        assert!(!wanted[0].path.exists());
    }

    #[test]
    fn what_is_real_stays() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join(".rein");
        fs::create_dir(&path).unwrap();
        Ghosts::make(&[ghost(&path, Body::Directory)]).unwrap().clear();
        assert!(path.is_dir());
    }
}
