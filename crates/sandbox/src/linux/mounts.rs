//! The file system of a jail, made by the first process of a new mount namespace.
//!
//! Nothing is copied and the root stays the root: the whole tree is made
//! read-only with one call, and what differs is mounted over it. The trees that
//! stay writable are taken before, so that it does not matter if they lie below
//! something that is replaced.

use std::ffi::CString;
use std::fs;
use std::io;
use std::os::fd::{AsFd, OwnedFd};
use std::path::{Path, PathBuf};

use rustix::fs::CWD;
use rustix::mount::{MountFlags, MoveMountFlags, OpenTreeFlags, mount, move_mount, open_tree};

use super::calls::{Depth, mount_setattr};
use super::devices;
use crate::helper::record::Failure;
use crate::jail::plan::{Plan, Step, temporary_directories};

/// No set-user-id programs and no devices, anywhere.
const SAFE: u64 = libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NODEV;
const READ_ONLY: u64 = libc::MOUNT_ATTR_RDONLY;

/// Where the empty file and the empty directory are that stand for hidden ones.
const EMPTY_DIRECTORY: &str = "/run/.rein/directory";
const EMPTY_FILE: &str = "/run/.rein/file";

/// Whose processes `/proc` shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Proc {
    /// Those of the pid namespace.
    Fresh,
    /// Those of the machine: a container that hides parts of its own does not let another be mounted.
    Outer,
}

/// Makes the file system as planned.
pub(crate) fn build(plan: &Plan) -> Result<Proc, Failure> {
    let fail = |what: &'static str| move |error: io::Error| Failure::wall(what, &error);
    let mut taken: Vec<(PathBuf, OwnedFd)> = Vec::new();
    for step in &plan.steps {
        if let Step::Writable(path) | Step::Keep(path) = step
            && let Ok(tree) = clone_of(path)
        {
            taken.push((path.clone(), tree));
        }
    }
    let own_devices = devices::take();
    let temporary = plan.temporary.as_deref().map(clone_of).transpose();
    let temporary = temporary.map_err(fail("take the temporary directory"))?;

    mount_setattr(CWD, c"/", Depth::Tree, READ_ONLY | SAFE, 0, libc::MS_PRIVATE)
        .map_err(fail("make the file system read-only"))?;
    let limit = plan.temporary_limit.to_string();
    make_temporary(temporary, &limit).map_err(fail("mount the temporary directory"))?;
    devices::make(own_devices, &limit).map_err(fail("make /dev"))?;
    make_run().map_err(fail("make /run"))?;
    let proc = mount_proc().map_err(fail("mount /proc"))?;
    for step in &plan.steps {
        let tree =
            taken.iter().position(|(path, _)| path == step.path()).map(|index| taken.swap_remove(index).1);
        apply(step, tree)
            .map_err(|error| Failure::wall(format!("mount {}", step.path().display()), &error))?;
    }
    // Only now: hiding needed the files in it.
    mount_setattr(CWD, c"/run", Depth::One, READ_ONLY, 0, 0).map_err(fail("close /run"))?;
    Ok(proc)
}

/// The processes of the namespace and nobody else's. Root could change the machine through it, so it is
/// read-only; it becomes so later, when the number of processes has been limited.
fn mount_proc() -> io::Result<Proc> {
    let flags = MountFlags::NOSUID | MountFlags::NODEV | MountFlags::NOEXEC;
    match mount("proc", "/proc", "proc", flags, None) {
        Ok(()) => Ok(Proc::Fresh),
        Err(rustix::io::Errno::PERM) => Ok(Proc::Outer),
        Err(error) => Err(error.into()),
    }
}

/// Makes `/proc` read-only.
pub(crate) fn close_proc() -> io::Result<()> {
    mount_setattr(CWD, c"/proc", Depth::Tree, READ_ONLY, 0, 0)
}

fn make_temporary(directory: Option<OwnedFd>, limit: &str) -> io::Result<()> {
    let places = temporary_directories();
    let tree = match directory {
        Some(tree) => {
            mount_setattr(&tree, c"", Depth::Tree, SAFE, 0, 0)?;
            tree
        }
        None => {
            let Some(first) = places.first() else { return Ok(()) };
            let data = CString::new(format!("mode=1777,size={limit}")).map_err(io::Error::other)?;
            mount("tmpfs", first, "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, Some(data.as_c_str()))?;
            clone_of(first)?
        }
    };
    for path in &places {
        let copy = open_tree(&tree, c"", clone_flags() | OpenTreeFlags::AT_EMPTY_PATH)?;
        place(&copy, path)?;
    }
    Ok(())
}

/// A new `/run`: the machine's is full of sockets of services that would do things outside.
fn make_run() -> io::Result<()> {
    if !Path::new("/run").is_dir() {
        return Ok(());
    }
    mount("tmpfs", "/run", "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, Some(c"mode=755,size=1m"))?;
    fs::create_dir_all(EMPTY_DIRECTORY)?;
    fs::write(EMPTY_FILE, "")?;
    use std::os::unix::fs::PermissionsExt;
    fs::set_permissions(EMPTY_FILE, fs::Permissions::from_mode(0o000))?;
    fs::set_permissions(EMPTY_DIRECTORY, fs::Permissions::from_mode(0o555))
}

fn apply(step: &Step, tree: Option<OwnedFd>) -> io::Result<()> {
    match step {
        Step::Writable(path) => {
            let Some(tree) = tree else { return Ok(()) };
            mount_setattr(&tree, c"", Depth::Tree, SAFE, 0, 0)?;
            make_way(path, &tree)?;
            place(&tree, path)
        }
        Step::Keep(path) => {
            let Some(tree) = tree else { return Ok(()) };
            mount_setattr(&tree, c"", Depth::Tree, SAFE | READ_ONLY, 0, 0)?;
            make_way(path, &tree)?;
            place(&tree, path)
        }
        Step::ReadOnly(path) => {
            let tree = clone_of(path)?;
            mount_setattr(&tree, c"", Depth::Tree, SAFE | READ_ONLY, 0, 0)?;
            place(&tree, path)
        }
        Step::HideDirectory(path) => hide(path, EMPTY_DIRECTORY),
        Step::HideFile(path) => hide(path, EMPTY_FILE),
        Step::PinLink(path) => {
            let flags = clone_flags() | OpenTreeFlags::AT_SYMLINK_NOFOLLOW;
            let tree = open_tree(CWD, path, flags)?;
            place(&tree, path)
        }
    }
}

fn hide(path: &Path, with: &str) -> io::Result<()> {
    // Gone since it was looked at, or below something that is replaced: then there is nothing to hide.
    if path.symlink_metadata().is_err() {
        return Ok(());
    }
    let tree = clone_of(Path::new(with))?;
    mount_setattr(&tree, c"", Depth::Tree, SAFE | READ_ONLY, 0, 0)?;
    place(&tree, path)
}

/// Something to mount on, where the directory above has been replaced by an empty one.
fn make_way(path: &Path, tree: &OwnedFd) -> io::Result<()> {
    if path.symlink_metadata().is_ok() {
        return Ok(());
    }
    if let Some(parent) = path.parent() {
        fs::create_dir_all(parent)?;
    }
    let is_directory = rustix::fs::fstat(tree).is_ok_and(|stat| {
        rustix::fs::FileType::from_raw_mode(stat.st_mode) == rustix::fs::FileType::Directory
    });
    if is_directory { fs::create_dir(path) } else { fs::write(path, "") }
}

fn clone_flags() -> OpenTreeFlags {
    OpenTreeFlags::OPEN_TREE_CLONE | OpenTreeFlags::OPEN_TREE_CLOEXEC | OpenTreeFlags::AT_RECURSIVE
}

/// A copy of the mounts at and below a path, which is nowhere yet.
pub(super) fn clone_of(path: &Path) -> io::Result<OwnedFd> {
    Ok(open_tree(CWD, path, clone_flags())?)
}

/// Puts it somewhere.
pub(super) fn place(tree: impl AsFd, path: &Path) -> io::Result<()> {
    Ok(move_mount(tree, c"", CWD, path, MoveMountFlags::MOVE_MOUNT_F_EMPTY_PATH)?)
}
