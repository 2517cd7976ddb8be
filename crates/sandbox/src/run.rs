//! The course of one process: from its start to the end of all that it started.

use std::time::{Duration, Instant};

use tokio::time::sleep;
use tokio_util::sync::CancellationToken;

use crate::child::Running;
use crate::error::SandboxError;
use crate::ladder::{self, Gone};
use crate::output::Output;
use crate::spawn::Spawn;

/// How a process ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Exit {
    /// What the direct child said.
    pub status: Status,
    /// Why it ended.
    pub ended: Ended,
    /// From the start until nothing was left of it.
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
    check_directory(&spawn).await?;
    let begun = Instant::now();
    let (mut output, input) = Output::new(on_output).map_err(|source| SandboxError::Resources {
        program: spawn.program.clone(),
        what: "pipe",
        source,
    })?;
    let mut child = Running::start(&spawn, input).await?;
    let ended = wait(&mut child, &mut output, spawn.timeout, cancel).await;
    let leftovers = clear(&mut child, &mut output, &spawn, ended).await;
    child.settle();
    match child.status() {
        Some(Ok(status)) => Ok(Exit { status, ended, duration: begun.elapsed(), leftovers }),
        Some(Err(())) | None => Err(SandboxError::StatusLost { program: spawn.program }),
    }
}

/// A missing directory and a missing program are the same error to the system.
async fn check_directory(spawn: &Spawn) -> Result<(), SandboxError> {
    let error = match tokio::fs::metadata(&spawn.cwd).await {
        Ok(metadata) if metadata.is_dir() => return Ok(()),
        Ok(_) => std::io::ErrorKind::NotADirectory.into(),
        Err(error) => error,
    };
    Err(SandboxError::Directory { cwd: spawn.cwd.clone(), source: error })
}

async fn wait(
    child: &mut Running,
    output: &mut Output<'_>,
    timeout: Option<Duration>,
    cancel: &CancellationToken,
) -> Ended {
    let time_is_over = async {
        match timeout {
            Some(timeout) => sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    // In this order, so that a flood of output cannot hide the reasons to end it.
    tokio::select! {
        biased;
        () = cancel.cancelled() => Ended::Cancelled,
        () = time_is_over => Ended::TimedOut,
        () = child.exited() => Ended::Exited,
        () = output.pump() => Ended::Exited,
    }
}

/// Ends what is left, and says what that was.
async fn clear(child: &mut Running, output: &mut Output<'_>, spawn: &Spawn, ended: Ended) -> Leftovers {
    if ended == Ended::Exited {
        output.drain().await;
        if !output.is_open() && !ladder::has_survivors(child).await {
            return Leftovers::None;
        }
    }
    let gone = ladder::end(child, output, spawn.grace).await;
    output.drain().await;
    match (gone, ended) {
        (Gone::All, Ended::Exited) if !output.is_open() => Leftovers::Ended,
        (Gone::All, Ended::TimedOut | Ended::Cancelled) if !output.is_open() => Leftovers::None,
        (Gone::All | Gone::NotAll, _) => Leftovers::Escaped,
    }
}
