//! A pseudo terminal for a child: the only one that it has, and never rein's.
//!
//! The child's side is its standard input, output and error; `child` makes it
//! the controlling terminal of the child's session. This side is read like a
//! pipe, and written by whoever types.

use std::io;
use std::os::fd::OwnedFd;
use std::sync::Arc;

use rustix::fs::{Mode, OFlags, fcntl_getfl, fcntl_setfl};
use rustix::pty::{OpenptFlags, grantpt, openpt, ptsname, unlockpt};
use rustix::termios::{Winsize, tcsetwinsize};
use tokio::io::unix::AsyncFd;

/// What a terminal takes for the end of the input, at the beginning of a line.
const END_OF_INPUT: &[u8] = &[4];

/// How large a terminal is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TerminalSize {
    /// Lines.
    pub rows: u16,
    /// Characters of a line.
    pub columns: u16,
}

impl Default for TerminalSize {
    fn default() -> Self {
        Self { rows: 40, columns: 120 }
    }
}

/// Rein's side of a child's terminal. Clones are the same terminal; it is gone with the last of them.
#[derive(Debug, Clone)]
pub struct Terminal {
    side: Arc<AsyncFd<OwnedFd>>,
}

/// A new terminal, and the child's side of it.
pub(crate) fn open(size: TerminalSize) -> io::Result<(Terminal, OwnedFd)> {
    let flags = OpenptFlags::RDWR | OpenptFlags::NOCTTY;
    #[cfg(target_os = "linux")]
    let flags = flags | OpenptFlags::CLOEXEC;
    let side = openpt(flags)?;
    #[cfg(not(target_os = "linux"))]
    rustix::io::fcntl_setfd(&side, rustix::io::FdFlags::CLOEXEC)?;
    grantpt(&side)?;
    unlockpt(&side)?;
    let name = ptsname(&side, Vec::new())?;
    let other = rustix::fs::open(name, OFlags::RDWR | OFlags::NOCTTY | OFlags::CLOEXEC, Mode::empty())?;
    fcntl_setfl(&side, fcntl_getfl(&side)? | OFlags::NONBLOCK)?;
    #[allow(unsafe_code)]
    // SAFETY: the descriptor is owned by what registers it, which gives it out by reference only, so
    // it stays the same and open for as long as it is registered.
    let side = unsafe { AsyncFd::register(side)? };
    let terminal = Terminal { side: Arc::new(side) };
    terminal.resize(size)?;
    Ok((terminal, other))
}

impl Terminal {
    /// Tells the programs on it that it has another size.
    ///
    /// # Errors
    ///
    /// What the system said.
    pub fn resize(&self, size: TerminalSize) -> io::Result<()> {
        let size = Winsize { ws_row: size.rows, ws_col: size.columns, ws_xpixel: 0, ws_ypixel: 0 };
        Ok(tcsetwinsize(self.side.get_ref(), size)?)
    }

    /// Types. Waits while the programs on it do not read; what was typed by then stays typed if it is dropped.
    ///
    /// # Errors
    ///
    /// What the system said, above all when nobody is on it any more.
    pub async fn write(&self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            let mut ready = self.side.writable().await?;
            match ready.try_io(|side| Ok(rustix::io::write(side, bytes)?)) {
                Ok(Ok(count)) => bytes = bytes.get(count..).unwrap_or_default(),
                Ok(Err(error)) if error.kind() == io::ErrorKind::Interrupted => {}
                Ok(Err(error)) => return Err(error),
                Err(_would_block) => {}
            }
        }
        Ok(())
    }

    /// Says that nothing more is typed, to a program that reads lines.
    ///
    /// # Errors
    ///
    /// See [`Self::write`].
    pub async fn end_input(&self) -> io::Result<()> {
        self.write(END_OF_INPUT).await
    }

    pub(crate) async fn read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            let mut ready = self.side.readable().await?;
            if let Ok(read) = ready.try_io(|side| Ok(rustix::io::read(side, &mut *buffer)?)) {
                return read;
            }
        }
    }

    pub(crate) fn try_read(&self, buffer: &mut [u8]) -> io::Result<usize> {
        Ok(rustix::io::read(self.side.get_ref(), buffer)?)
    }
}
