//! Reading what a family prints: one pipe, one buffer, one callback.
//!
//! A writer that is faster than the callback waits, because nothing is read
//! ahead. So the memory is that of the buffer, whatever the amount.

use std::future::pending;
use std::io::ErrorKind;
use std::os::fd::OwnedFd;
use std::time::Duration;

use rustix::pipe::{PipeFlags, pipe_with};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio::time::{Instant, timeout_at};

const BUFFER: usize = 64 * 1024;

/// As much as a pipe can hold for a process that may not raise the limit: what a dead child may have left.
const PIPE_CAPACITY: usize = 1024 * 1024;

/// How long a pipe that somebody still holds may be silent after the child is gone.
const SILENCE: Duration = Duration::from_millis(50);

/// How long it may be talked into after the child is gone.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// The reading end.
pub(crate) struct Output<'a> {
    pipe: Receiver,
    buffer: Vec<u8>,
    take: &'a mut (dyn FnMut(&[u8]) + Send),
    open: bool,
}

impl<'a> Output<'a> {
    /// A pipe: what comes out of it goes to `take`; the other end is for the child.
    pub(crate) fn new(take: &'a mut (dyn FnMut(&[u8]) + Send)) -> std::io::Result<(Self, OwnedFd)> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        let pipe = Receiver::from_owned_fd(read)?;
        Ok((Self { pipe, buffer: vec![0; BUFFER], take, open: true }, write))
    }

    /// Whether somebody may still print.
    pub(crate) fn is_open(&self) -> bool {
        self.open
    }

    /// Reads until all writers are gone. Then it is silent for ever, so that it can stand in a `select!`.
    pub(crate) async fn pump(&mut self) {
        while self.open {
            let read = self.pipe.read(&mut self.buffer).await;
            self.pass_on(read);
        }
        pending().await
    }

    /// After the child is gone: takes what it left, and gives those that it left behind a moment to finish.
    pub(crate) async fn drain(&mut self) {
        let mut taken = 0;
        while self.open && taken < PIPE_CAPACITY {
            match self.pipe.try_read(&mut self.buffer) {
                Err(error) if error.kind() == ErrorKind::WouldBlock => break,
                read => taken += self.pass_on(read),
            }
        }
        let last = Instant::now() + LAST_WORDS;
        while self.open {
            let deadline = last.min(Instant::now() + SILENCE);
            match timeout_at(deadline, self.pipe.read(&mut self.buffer)).await {
                Ok(read) => {
                    self.pass_on(read);
                }
                Err(_) => break,
            }
            if Instant::now() >= last {
                break;
            }
        }
    }

    fn pass_on(&mut self, read: std::io::Result<usize>) -> usize {
        match read {
            Ok(count) if count > 0 => {
                (self.take)(self.buffer.get(..count).unwrap_or_default());
                count
            }
            Err(error) if error.kind() == ErrorKind::Interrupted => 0,
            // The end, or a pipe that cannot be read any more, which is the same to us.
            Ok(_) | Err(_) => {
                self.open = false;
                0
            }
        }
    }
}
