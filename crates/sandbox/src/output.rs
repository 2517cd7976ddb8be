//! Reading what a family prints: one pipe or one terminal, and one buffer.
//!
//! A writer that is faster than the reader waits, because nothing is read
//! ahead. So the memory is that of the buffer, whatever the amount.

use std::future::pending;
use std::io::{self, ErrorKind};
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::pipe::{PipeFlags, pipe_with};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::time::{Instant, timeout_at};

use crate::pty::Terminal;

const BUFFER: usize = 64 * 1024;

/// As much as a pipe can hold for a process that may not raise the limit: what a dead child may have left.
const PIPE_CAPACITY: usize = 1024 * 1024;

/// How long a pipe that somebody still holds may be silent after the child is gone.
const SILENCE: Duration = Duration::from_millis(50);

/// How long it may be talked into after the child is gone.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// Where output goes.
pub(crate) type Take<'a> = &'a mut (dyn FnMut(&[u8]) + Send);

/// The reading end.
pub(crate) struct Output {
    source: Source,
    buffer: Vec<u8>,
    open: bool,
}

enum Source {
    Pipe(Receiver),
    Terminal(Terminal),
}

/// How far the reading of what a dead child left has come.
#[derive(Debug, Default)]
pub(crate) struct LastWords {
    taken: usize,
    until: Option<Instant>,
}

impl Output {
    /// A pipe; the other end is for the child.
    pub(crate) fn pipe() -> io::Result<(Self, OwnedFd)> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        let pipe = Receiver::from_owned_fd(read)?;
        Ok((Self::of(Source::Pipe(pipe)), write))
    }

    /// What a terminal shows.
    pub(crate) fn terminal(terminal: Terminal) -> Self {
        Self::of(Source::Terminal(terminal))
    }

    fn of(source: Source) -> Self {
        Self { source, buffer: vec![0; BUFFER], open: true }
    }

    /// Whether somebody may still print.
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// What the last reading brought.
    pub(crate) fn read(&self, count: usize) -> &[u8] {
        self.buffer.get(..count).unwrap_or_default()
    }

    /// Waits for something to be printed; nothing, once all writers are gone. Can be dropped.
    pub(crate) async fn fill(&mut self) -> Option<usize> {
        while self.open {
            let read = match &mut self.source {
                Source::Pipe(pipe) => pipe.read(&mut self.buffer).await,
                Source::Terminal(terminal) => terminal.read(&mut self.buffer).await,
            };
            if let Some(count) = self.taken(read) {
                return Some(count);
            }
        }
        None
    }

    /// Reads until all writers are gone. Then it is silent for ever, so that it can stand in a `select!`.
    pub(crate) async fn pump(&mut self, take: Take<'_>) {
        while let Some(count) = self.fill().await {
            take(self.read(count));
        }
        pending().await
    }

    /// After the child is gone: takes what it left, and gives those that it left behind a moment to finish.
    pub(crate) async fn drain(&mut self, take: Take<'_>) {
        let mut words = LastWords::default();
        while let Some(count) = self.last_words(&mut words).await {
            take(self.read(count));
        }
    }

    /// One piece of what [`Self::drain`] takes. Can be dropped.
    pub(crate) async fn last_words(&mut self, words: &mut LastWords) -> Option<usize> {
        while self.open && words.until.is_none() && words.taken < PIPE_CAPACITY {
            let read = match &mut self.source {
                Source::Pipe(pipe) => pipe.try_read(&mut self.buffer),
                Source::Terminal(terminal) => terminal.try_read(&mut self.buffer),
            };
            match read {
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                read => {
                    if let Some(count) = self.taken(read) {
                        words.taken += count;
                        return Some(count);
                    }
                }
            }
        }
        let now = Instant::now();
        let until = *words.until.get_or_insert(now + LAST_WORDS);
        if !self.open || now >= until {
            return None;
        }
        timeout_at(until.min(now + SILENCE), self.fill()).await.unwrap_or_default()
    }

    fn taken(&mut self, read: io::Result<usize>) -> Option<usize> {
        match read {
            Ok(count) if count > 0 => Some(count),
            Err(error) if error.kind() == ErrorKind::Interrupted => None,
            // The end, or something that cannot be read any more, which is the same to us.
            Ok(_) | Err(_) => {
                self.open = false;
                None
            }
        }
    }
}
