//! What is left of root inside: over the files of the jail everything, over the machine nothing.
//!
//! A user gets no capability at all. Root keeps those that make it root over
//! files and users (a workspace in a container often belongs to somebody else,
//! and package managers change owners); the mounts around them are read-only,
//! and nothing that could change a mount is kept.
#![allow(unsafe_code)]

use std::io;

/// `CAP_CHOWN`, `CAP_DAC_OVERRIDE`, `CAP_FOWNER`, `CAP_FSETID`, `CAP_KILL`, `CAP_SETGID`, `CAP_SETUID`.
const OF_ROOT: u64 = 1 | 1 << 1 | 1 << 3 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7;

/// More than the kernel has; asking for one that it has not ends the loop.
const LAST: u32 = 63;

/// `_LINUX_CAPABILITY_VERSION_3`.
const VERSION: u32 = 0x2008_0522;

/// Gives up, for good and for all that is started, what is not kept.
pub(crate) fn reduce() -> io::Result<()> {
    let kept = if rustix::process::geteuid().is_root() { OF_ROOT } else { 0 };
    for capability in 0..=LAST {
        if kept & (1 << capability) == 0 {
            // SAFETY: takes two numbers. It fails for a capability that the kernel does not know.
            let answer =
                unsafe { libc::prctl(libc::PR_CAPBSET_DROP, libc::c_ulong::from(capability), 0, 0, 0) };
            if answer != 0 {
                break;
            }
        }
    }
    set(kept)
}

/// Gives up everything that this process has.
pub(crate) fn renounce() -> io::Result<()> {
    set(0)
}

fn set(kept: u64) -> io::Result<()> {
    let header = [VERSION, 0];
    let (low, high) = ((kept & 0xffff_ffff) as u32, (kept >> 32) as u32);
    // Effective, permitted, inheritable: first the low halves, then the high ones.
    let data = [low, low, 0, high, high, 0];
    // SAFETY: both arrays have the layout of the structures of version 3 and outlive the call.
    let answer = unsafe { libc::syscall(libc::SYS_capset, header.as_ptr(), data.as_ptr()) };
    if answer == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}
