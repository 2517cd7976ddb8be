//! Starting a helper, seen from rein.

use std::ffi::OsStr;
use std::fs::File;
use std::io::{self, Write};
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Stdio};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::setsid;

use super::ARGUMENT;
use super::order::Order;
use crate::child::{close_inherited_files, reset_signals};

/// A helper that was started.
pub(crate) struct Launched {
    pub(crate) child: Child,
    /// Where its records come from.
    pub(crate) records: File,
    /// What keeps it going: dropping it ends everything.
    pub(crate) control: OwnedFd,
}

/// The standard streams of a program.
pub(crate) struct Streams {
    pub(crate) input: Stdio,
    pub(crate) output: OwnedFd,
    pub(crate) errors: OwnedFd,
}

/// Starts a helper with an order. Its standard streams are those of the program.
pub(crate) fn launch(helper: &Path, order: &Order, streams: Streams) -> io::Result<Launched> {
    let order_file = File::from(memfd_create("rein-order", MemfdFlags::CLOEXEC)?);
    (&order_file).write_all(&order.encode())?;
    let (records, status) = pipe_with(PipeFlags::CLOEXEC)?;
    let (watched, control) = pipe_with(PipeFlags::CLOEXEC)?;
    let passed = [order_file.as_raw_fd(), status.as_raw_fd(), watched.as_raw_fd()];
    let mut command = Command::new(helper);
    command
        .args([OsStr::new(ARGUMENT), OsStr::new("outer"), OsStr::new(&numbers(passed))])
        // The program's own environment is in the order: it must not change how the helper is loaded.
        .env_clear()
        .stdin(streams.input)
        .stdout(streams.output)
        .stderr(streams.errors);
    #[allow(unsafe_code)]
    // SAFETY: the closure runs between fork and exec of a process with several threads. It makes
    // system calls only: it neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(move || {
            setsid()?;
            close_inherited_files();
            for number in passed {
                if libc::fcntl(number, libc::F_SETFD, 0) == -1 {
                    return Err(io::Error::last_os_error());
                }
            }
            reset_signals();
            Ok(())
        });
    }
    let child = command.spawn()?;
    Ok(Launched { child, records: File::from(records), control })
}

/// Descriptors as an argument.
pub(super) fn numbers(passed: [RawFd; 3]) -> String {
    let [order, status, control] = passed;
    format!("{order}:{status}:{control}")
}
