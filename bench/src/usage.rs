//! What a child process used. Owns the one call of the system that tells it,
//! and nothing else: the standard library waits for a child without asking.
//!
//! The figures are those of the child and of every descendant that was waited
//! for: time is their sum, memory that of the largest.

#![allow(unsafe_code)]

use std::io;
use std::mem::MaybeUninit;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, ExitStatus};
use std::time::Duration;

/// What a process and its descendants used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Usage {
    /// Time on a processor in the program itself.
    pub user: Duration,
    /// Time on a processor in the system on its behalf.
    pub system: Duration,
    /// The largest resident set, in bytes.
    pub max_rss: u64,
}

/// Waits for the end of a child.
pub fn wait(child: Child) -> io::Result<(ExitStatus, Usage)> {
    let process = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    let mut status = 0;
    let mut usage = MaybeUninit::<libc::rusage>::zeroed();
    loop {
        // SAFETY: both pointers are to locals that outlive the call and have the types that it writes. The
        // process is our child and not waited for yet: `child` is owned here and never asked again.
        let waited = unsafe { libc::wait4(process, &raw mut status, 0, usage.as_mut_ptr()) };
        if waited == process {
            break;
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
    // SAFETY: it consists of integers only, was zeroed, and has been written by the call above.
    let usage = unsafe { usage.assume_init() };
    Ok((ExitStatus::from_raw(status), Usage::of(&usage)))
}

impl Usage {
    fn of(usage: &libc::rusage) -> Self {
        // Linux counts kilobytes, macOS bytes.
        let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
        Self {
            user: duration(usage.ru_utime),
            system: duration(usage.ru_stime),
            max_rss: u64::try_from(usage.ru_maxrss).unwrap_or(0) * unit,
        }
    }
}

fn duration(time: libc::timeval) -> Duration {
    let seconds = u64::try_from(time.tv_sec).unwrap_or(0);
    let micros = u64::try_from(time.tv_usec).unwrap_or(0);
    Duration::from_secs(seconds) + Duration::from_micros(micros)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn the_exit_code_and_the_work_of_a_descendant_are_seen() {
        let count = "i=0; while [ $i -lt 20000 ]; do i=$((i+1)); done";
        let child = Command::new("sh").args(["-c", &format!("sh -c '{count}'; exit 7")]).spawn().unwrap();
        let (status, usage) = wait(child).unwrap();
        assert_eq!(status.code(), Some(7));
        assert!(usage.user + usage.system > Duration::ZERO, "{usage:?}");
        assert!(usage.max_rss > 100_000, "{usage:?}");
    }
}
