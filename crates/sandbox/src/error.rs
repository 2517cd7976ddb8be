//! What can go wrong before a process runs. What goes wrong in it is its exit.

use std::ffi::OsString;
use std::io;
use std::path::PathBuf;

/// Why a process could not be started or followed.
#[derive(Debug, thiserror::Error)]
pub enum SandboxError {
    /// The directory to run in is not there, is no directory or may not be entered.
    #[error("cannot run in {}: {source}; choose a directory that exists", .cwd.display())]
    Directory {
        /// As given.
        cwd: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The program could not be executed.
    #[error("cannot start {}: {source}", .program.display())]
    Program {
        /// As given.
        program: OsString,
        /// What the system said.
        source: io::Error,
    },
    /// The system had no pipe or thread left.
    #[error("cannot start {}: no {what} to be had: {source}", .program.display())]
    Resources {
        /// As given.
        program: OsString,
        /// What was missing.
        what: &'static str,
        /// What the system said.
        source: io::Error,
    },
    /// A jail was asked for, and there is no means here to make one. Nothing was started.
    #[error("commands cannot be confined here: {why}{}{remedy}", if .remedy.is_empty() { "" } else { "; what helps: " })]
    Unavailable {
        /// What was tried and what the system said.
        why: String,
        /// What would help, or nothing.
        remedy: String,
    },
    /// The jail could not be built around this process, though it works in general. Nothing was started.
    #[error("cannot confine {}: {what}", .program.display())]
    Confinement {
        /// As given.
        program: OsString,
        /// Which step failed and what the system said.
        what: String,
    },
    /// It was cancelled before it began: nothing was started.
    #[error("cancelled before {} was started", .program.display())]
    NotStarted {
        /// As given.
        program: OsString,
    },
    /// The process ended, but somebody else in this process took its exit status.
    #[error("the exit status of {} is lost; SIGCHLD must not be ignored while rein runs", .program.display())]
    StatusLost {
        /// As given.
        program: OsString,
    },
}
