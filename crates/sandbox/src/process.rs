//! A process that runs: what it prints, when it ends, and how to end it.
//!
//! The handle may be kept for as long as one likes, so that a command can go on
//! in the background. Nothing is read unless somebody asks for it: a process
//! whose output nobody takes waits. Dropping the handle kills the family.

use std::ffi::OsString;
use std::time::{Duration, Instant};

use tokio::time::sleep_until;
use tokio_util::sync::CancellationToken;

use crate::child::Running;
use crate::error::SandboxError;
use crate::ladder::{self, Gone};
use crate::output::{LastWords, Output, Take};
use crate::pty::{self, Terminal};
use crate::run::{Ended, Exit, Leftovers, Status};
use crate::spawn::{Grace, Spawn};

/// How often it is looked whether what a process left behind is still there.
const LOOK: Duration = Duration::from_millis(500);

/// A started process and everything that it started.
pub struct Process {
    program: OsString,
    child: Running,
    output: Output,
    terminal: Option<Terminal>,
    begun: Instant,
    phase: Phase,
}

/// Something that a process did.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<'a> {
    /// It printed.
    Output(&'a [u8]),
    /// The process itself ended, and what it had printed has been told. What it started may go on.
    Exited,
    /// Nothing is left of it, or nothing that can be found. From now on this comes at once, every time.
    Gone,
}

/// What to do with processes that go on when the one that started them has ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftover {
    /// They are ended.
    End,
    /// They go on, for as long as the [`Process`] is kept.
    Keep,
}

#[derive(Debug)]
enum Phase {
    Running,
    /// The process has ended; its last words are read.
    Parting(LastWords),
    /// What it left behind is followed, and looked for at this moment.
    Left(tokio::time::Instant),
    Gone,
}

/// What [`Process::step`] brought.
enum Step {
    Output(usize),
    Exited,
    Gone,
}

impl Process {
    /// Starts it.
    ///
    /// # Errors
    ///
    /// [`SandboxError`] if it could not be started.
    pub async fn start(spawn: &Spawn) -> Result<Self, SandboxError> {
        check_directory(spawn).await?;
        let begun = Instant::now();
        let lacks = |what| {
            let program = spawn.program.clone();
            move |source| SandboxError::Resources { program, what, source }
        };
        let (output, other, terminal) = match spawn.terminal {
            None => {
                let (output, other) = Output::pipe().map_err(lacks("pipe"))?;
                (output, other, None)
            }
            Some(size) => {
                let (terminal, other) = pty::open(size).map_err(lacks("terminal"))?;
                (Output::terminal(terminal.clone()), other, Some(terminal))
            }
        };
        let child = Running::start(spawn, other).await?;
        let program = spawn.program.clone();
        Ok(Self { program, child, output, terminal, begun, phase: Phase::Running })
    }

    /// Its terminal, if it has one: to type on and to resize.
    #[must_use]
    pub fn terminal(&self) -> Option<&Terminal> {
        self.terminal.as_ref()
    }

    /// Waits for the next thing that happens. Can be dropped without loss.
    pub async fn next(&mut self) -> Event<'_> {
        match self.step().await {
            Step::Output(count) => Event::Output(self.output.read(count)),
            Step::Exited => Event::Exited,
            Step::Gone => Event::Gone,
        }
    }

    async fn step(&mut self) -> Step {
        loop {
            match &mut self.phase {
                // In this order, so that a flood of output cannot hide the end.
                Phase::Running => tokio::select! {
                    biased;
                    () = self.child.exited() => self.phase = Phase::Parting(LastWords::default()),
                    Some(count) = self.output.fill() => return Step::Output(count),
                },
                Phase::Parting(words) => match self.output.last_words(words).await {
                    Some(count) => return Step::Output(count),
                    None => {
                        self.phase = Phase::Left(tokio::time::Instant::now());
                        return Step::Exited;
                    }
                },
                Phase::Left(look) => {
                    let time_to_look = sleep_until(*look);
                    tokio::select! {
                        biased;
                        () = time_to_look => {}
                        Some(count) = self.output.fill() => return Step::Output(count),
                    }
                    self.phase = if ladder::has_survivors(&self.child).await {
                        Phase::Left(tokio::time::Instant::now() + LOOK)
                    } else {
                        self.child.settle();
                        Phase::Gone
                    };
                }
                Phase::Gone => return Step::Gone,
            }
        }
    }

    /// How the process itself ended, once it has.
    ///
    /// # Errors
    ///
    /// [`SandboxError::StatusLost`] if somebody else took the status.
    pub fn status(&self) -> Result<Option<Status>, SandboxError> {
        match self.child.status() {
            None => Ok(None),
            Some(Ok(status)) => Ok(Some(status)),
            Some(Err(())) => Err(SandboxError::StatusLost { program: self.program.clone() }),
        }
    }

    /// Whether something that the process started goes on, or could, because somebody holds its output.
    pub async fn has_leftovers(&self) -> bool {
        self.output.is_open() || ladder::has_survivors(&self.child).await
    }

    /// Sends SIGTERM to all of it, and after `grace` SIGKILL to what is left. What it prints meanwhile
    /// goes to `on_output`.
    pub async fn end(&mut self, grace: Grace, on_output: &mut (dyn FnMut(&[u8]) + Send)) -> Leftovers {
        let gone = ladder::end(&mut self.child, &mut self.output, &mut *on_output, grace).await;
        self.output.drain(on_output).await;
        self.child.settle();
        self.phase = Phase::Gone;
        match gone {
            Gone::All if !self.output.is_open() => Leftovers::None,
            Gone::All | Gone::NotAll => Leftovers::Escaped,
        }
    }

    /// Follows it to its end, to the end of its time, or until it is cancelled. Unless its leftovers are
    /// kept, nothing is left of it then.
    ///
    /// # Errors
    ///
    /// [`SandboxError::StatusLost`] if somebody else took the status.
    pub async fn finish(
        &mut self,
        timeout: Option<Duration>,
        grace: Grace,
        on_output: &mut (dyn FnMut(&[u8]) + Send),
        cancel: &CancellationToken,
        leftover: Leftover,
    ) -> Result<Exit, SandboxError> {
        let ended = self.wait(timeout, &mut *on_output, cancel).await;
        let leftovers = match ended {
            Ended::Exited if !self.has_leftovers().await => {
                self.child.settle();
                self.phase = Phase::Gone;
                Leftovers::None
            }
            Ended::Exited if leftover == Leftover::Keep => Leftovers::Running,
            Ended::Exited => match self.end(grace, on_output).await {
                Leftovers::None => Leftovers::Ended,
                other => other,
            },
            Ended::TimedOut | Ended::Cancelled => self.end(grace, on_output).await,
        };
        match self.status()? {
            Some(status) => Ok(Exit { status, ended, duration: self.begun.elapsed(), leftovers }),
            None => Err(SandboxError::StatusLost { program: self.program.clone() }),
        }
    }

    async fn wait(&mut self, timeout: Option<Duration>, take: Take<'_>, cancel: &CancellationToken) -> Ended {
        let time_is_over = async {
            match timeout {
                Some(timeout) => tokio::time::sleep(timeout).await,
                None => std::future::pending().await,
            }
        };
        tokio::pin!(time_is_over);
        loop {
            // In this order, so that a flood of output cannot hide the reasons to end it.
            let step = tokio::select! {
                biased;
                () = cancel.cancelled() => return Ended::Cancelled,
                () = &mut time_is_over => return Ended::TimedOut,
                step = self.step() => step,
            };
            match step {
                Step::Output(count) => take(self.output.read(count)),
                Step::Exited | Step::Gone => return Ended::Exited,
            }
        }
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
