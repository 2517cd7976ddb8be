//! The `/dev` of a jail: the few devices that every program expects, terminals and shared memory of its own.

use std::fs;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};

use rustix::mount::{MountFlags, mount};

use super::calls::{Depth, mount_setattr};
use super::mounts::{clone_of, place};

const DEVICES: &[&str] = &["null", "zero", "full", "random", "urandom", "tty"];

const LINKS: &[(&str, &str)] = &[
    ("fd", "/proc/self/fd"),
    ("stdin", "/proc/self/fd/0"),
    ("stdout", "/proc/self/fd/1"),
    ("stderr", "/proc/self/fd/2"),
    ("ptmx", "pts/ptmx"),
    ("core", "/proc/kcore"),
];

/// The machine's devices, taken while they can still be reached.
pub(super) fn take() -> Vec<(&'static str, OwnedFd)> {
    DEVICES.iter().filter_map(|name| Some((*name, clone_of(&Path::new("/dev").join(name)).ok()?))).collect()
}

/// Puts a new directory in the place of `/dev`.
pub(super) fn make(devices: Vec<(&'static str, OwnedFd)>, limit: &str) -> io::Result<()> {
    let safe = MountFlags::NOSUID | MountFlags::NOEXEC;
    let text = |text: &str| std::ffi::CString::new(text).map_err(io::Error::other);
    mount("tmpfs", "/dev", "tmpfs", safe, text("mode=755,size=64k").ok().as_deref())?;
    for (name, device) in devices {
        let path = Path::new("/dev").join(name);
        fs::write(&path, "")?;
        mount_setattr(&device, c"", Depth::One, libc::MOUNT_ATTR_NOSUID | libc::MOUNT_ATTR_NOEXEC, 0, 0)?;
        place(&device, &path)?;
    }
    for (name, target) in LINKS {
        symlink(target, PathBuf::from("/dev").join(name))?;
    }
    fs::create_dir("/dev/pts")?;
    let terminals = text("newinstance,ptmxmode=0666,mode=620")?;
    mount("devpts", "/dev/pts", "devpts", safe, Some(terminals.as_c_str()))?;
    fs::create_dir("/dev/shm")?;
    let shared = text(&format!("mode=1777,size={limit}"))?;
    mount("tmpfs", "/dev/shm", "tmpfs", MountFlags::NOSUID | MountFlags::NODEV, Some(shared.as_c_str()))?;
    // Only the directory itself: the devices in it are mounts of their own.
    mount_setattr(rustix::fs::CWD, c"/dev", Depth::One, libc::MOUNT_ATTR_RDONLY, 0, 0)
}
