//! The second role of the binary: the process that stands between rein and a program.
//!
//! It builds the walls, starts the program, says how it ended the moment it
//! does, and stays while anything that the program started lives. Without a
//! jail it only attends: orphans come back to it, whatever they did to their
//! session and their environment. When rein is gone, which it sees by the end of
//! a pipe that nobody else holds, it ends everything and itself.
//!
//! The invariant: nothing that was started below a helper outlives it, except
//! when the helper itself is killed where there is no pid namespace.
//!
//! Layout: `order` is what it is told and `record` what it says; `launch` starts
//! it; `supervise` is its outer part, `attend` the inner one, which is the first
//! process of a pid namespace where there is one; `leader` becomes the program;
//! `ghosts` are made and taken away around it.

#[cfg(target_os = "linux")]
mod attend;
#[cfg(target_os = "linux")]
mod ghosts;
#[cfg(target_os = "linux")]
pub(crate) mod launch;
#[cfg(target_os = "linux")]
mod leader;
pub(crate) mod order;
pub(crate) mod record;
#[cfg(target_os = "linux")]
mod supervise;

use std::ffi::OsStr;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::{PoisonError, RwLock};

/// The hidden first argument.
pub(crate) const ARGUMENT: &str = "--rein-helper";

static PROGRAM: RwLock<Option<PathBuf>> = RwLock::new(None);

/// To be called first in `main`: if this process was started as a helper, it is one, and what comes back is
/// its exit code. Otherwise this program can from now on be started as a helper.
pub fn main() -> Option<ExitCode> {
    let mut arguments = std::env::args_os().skip(1);
    if arguments.next().as_deref() != Some(OsStr::new(ARGUMENT)) {
        use_program("/proc/self/exe");
        return None;
    }
    #[cfg(target_os = "linux")]
    return Some(supervise::main(arguments));
    #[cfg(not(target_os = "linux"))]
    Some(ExitCode::FAILURE)
}

/// Says which program is the helper: one that calls [`main`] first.
pub fn use_program(path: impl Into<PathBuf>) {
    *PROGRAM.write().unwrap_or_else(PoisonError::into_inner) = Some(path.into());
}

/// The program, if there is one and this system needs it.
pub(crate) fn program() -> Option<PathBuf> {
    if cfg!(not(target_os = "linux")) {
        return None;
    }
    PROGRAM.read().unwrap_or_else(PoisonError::into_inner).clone()
}
