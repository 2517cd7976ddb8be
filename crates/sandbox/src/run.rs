//! The course of one process: from its start to the end of all that it started.

use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::error::SandboxError;
use crate::process::{Leftover, Process};
use crate::spawn::Spawn;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// What the direct child said.
    pub status: Status,
    /// Why it ended.
    pub ended: Ended,
    /// From the start until nothing was left of it but what was to be kept.
    pub duration: Duration,
    /// What it left behind in the background.
    pub leftovers: Leftovers,
}

/// What a process says when it ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Status {
    /// It exited with this code.
    Code(i32),
    /// This signal killed it.
    Signal(i32),
}

/// Why a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// By itself, or by somebody else's signal.
    Exited,
    /// Its time was over.
    TimedOut,
    /// It was cancelled.
    Cancelled,
}

/// What a process that ended by itself left behind.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftovers {
    /// Nothing.
    None,
    /// Processes in the background; they were ended.
    Ended,
    /// Processes in the background; they still run, because that was wanted.
    Running,
    /// Something that could not be found or ended, for example because it changed its user.
    Escaped,
}

/// Runs a process to its end and hands over what it prints, standard output and
/// error in the order in which they were written.
///
/// When the process exits while something that it started still runs, the rest
/// is ended too, and `run` returns at once. On timeout or cancellation the whole
/// family gets SIGTERM, and SIGKILL after [`Spawn::grace`]. If the future is
/// dropped, the family is killed.
///
/// # Errors
///
/// [`SandboxError`] if the process could not be started. A process that fails is
/// not an error but an [`Exit`].
pub async fn run(
    spawn: Spawn,
    on_output: &mut (dyn FnMut(&[u8]) + Send),
    cancel: &CancellationToken,
) -> Result<Exit, SandboxError> {
    if cancel.is_cancelled() {
        return Err(SandboxError::NotStarted { program: spawn.program });
    }
    let mut process = Process::start(&spawn).await?;
    process.finish(spawn.timeout, spawn.grace, on_output, cancel, Leftover::End).await
}
