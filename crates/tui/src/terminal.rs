//! The terminal as a device: its modes, and a thread that writes to it.
//!
//! Owns raw mode, bracketed paste, focus and keyboard reports, and that all of
//! it is undone whatever way the process takes: return, error, panic, suspend.
//! What is written is `screen`'s. A terminal that does not read blocks the
//! writing thread only; the next frame waits until the last one is out.

use std::io::{self, Write};
use std::panic::PanicHookInfo;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, Once, PoisonError};
use std::thread;

use crossterm::terminal::{disable_raw_mode, enable_raw_mode};
use rustix::termios::{OptionalActions, tcgetattr, tcgetwinsize, tcsetattr};
use tokio::sync::mpsc;

use crate::screen::Size;

/// Bracketed paste, focus reports, keys that can be told apart.
const ENTER: &str = "\u{1b}[?2004h\u{1b}[?1004h\u{1b}[>1u";
/// All of that off, the overlay gone, the cursor visible, no attributes, output no longer held back.
const LEAVE: &str = "\u{1b}[<u\u{1b}[?1004l\u{1b}[?2004l\u{1b}[0m\u{1b}[?25h\u{1b}[?2026l";

/// Whether a face has the terminal: panics are told after it is given back.
static TAKEN: AtomicBool = AtomicBool::new(false);
static PANICS: Mutex<Vec<String>> = Mutex::new(Vec::new());
static HOOK: Once = Once::new();
/// Whether the alternate screen is shown.
static OVERLAY: AtomicBool = AtomicBool::new(false);

/// Remembers whether the alternate screen is shown, for the way out.
pub fn note_overlay(shown: bool) {
    OVERLAY.store(shown, Ordering::SeqCst);
}

/// The terminal, taken from the shell. Given back when dropped.
#[derive(Debug)]
pub struct Terminal {
    writer: Writer,
    _restore: Restore,
}

#[derive(Debug)]
struct Restore;

impl Drop for Restore {
    fn drop(&mut self) {
        give_back();
    }
}

impl Terminal {
    /// Takes it.
    pub fn take() -> io::Result<Self> {
        HOOK.call_once(keep_panics);
        TAKEN.store(true, Ordering::SeqCst);
        let restore = Restore;
        enable_raw_mode()?;
        let mut writer = Writer::start()?;
        writer.write(ENTER.to_owned());
        Ok(Self { writer, _restore: restore })
    }

    /// Its size now.
    #[must_use]
    pub fn size() -> Size {
        let (columns, rows) = crossterm::terminal::size().unwrap_or_default();
        Size::new(columns, rows)
    }

    /// Its size at this very moment, if it can be told.
    #[must_use]
    pub fn size_now() -> Option<Size> {
        let size = tcgetwinsize(io::stdout()).ok()?;
        Some(Size::new(size.ws_col, size.ws_row))
    }

    /// Has the terminal report once more that keys are there, if they are. Keys that come together with a new
    /// size are otherwise read only when the next one comes: of the two reports the reader takes the first,
    /// and the system gives each of them once. Setting the modes that hold already makes it report again.
    pub fn stir() {
        let input = io::stdin();
        if let Ok(modes) = tcgetattr(&input) {
            // A terminal that is gone is noticed elsewhere.
            let _ = tcsetattr(&input, OptionalActions::Now, &modes);
        }
    }

    /// Whether what was given last has been written.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.writer.is_ready()
    }

    /// Waits until what was given last has been written; an error if the terminal is gone.
    pub async fn ready(&mut self) -> io::Result<()> {
        self.writer.ready().await
    }

    /// Hands over bytes to be written.
    pub fn write(&mut self, bytes: String) {
        self.writer.write(bytes);
    }

    /// Stops the process as Ctrl-Z does, and takes the terminal again when it goes on.
    pub async fn suspend(&mut self, continued: &mut tokio::signal::unix::Signal) -> io::Result<()> {
        self.writer.ready().await?;
        leave_modes();
        // Without a shell that could let it go on, nothing stops.
        rustix::process::kill_current_process_group(rustix::process::Signal::TSTP)?;
        let patience = tokio::time::sleep(std::time::Duration::from_millis(300));
        tokio::select! {
            // When both have come, the signal must not be left for later.
            biased;
            _ = continued.recv() => {}
            () = patience => {}
        }
        self.take_again()
    }

    /// Gives it to another program for a while.
    pub async fn lend(&mut self) -> io::Result<()> {
        self.writer.ready().await?;
        leave_modes();
        Ok(())
    }

    /// Puts the modes back after somebody else may have changed them.
    pub fn take_again(&mut self) -> io::Result<()> {
        // The second call does nothing while it believes that the first one holds.
        disable_raw_mode()?;
        enable_raw_mode()?;
        self.writer.write(ENTER.to_owned());
        Ok(())
    }
}

fn leave_modes() {
    // Nobody is left to tell if the terminal is gone.
    let mut out = io::stdout();
    if OVERLAY.swap(false, Ordering::SeqCst) {
        let _ = out.write_all(b"\x1b[?1049l");
    }
    if thread::panicking() {
        // Below what is left of the live region.
        let _ = out.write_all(b"\x1b[999B\r\n");
    }
    let _ = out.write_all(LEAVE.as_bytes());
    let _ = out.flush();
    let _ = disable_raw_mode();
}

fn give_back() {
    leave_modes();
    TAKEN.store(false, Ordering::SeqCst);
    let panics = std::mem::take(&mut *PANICS.lock().unwrap_or_else(PoisonError::into_inner));
    let mut err = io::stderr();
    for panic in panics {
        let _ = writeln!(err, "{panic}");
    }
}

/// A panic's message in the middle of a frame would be lost and would spoil the frame.
fn keep_panics() {
    let before = std::panic::take_hook();
    std::panic::set_hook(Box::new(move |info: &PanicHookInfo<'_>| {
        if !TAKEN.load(Ordering::SeqCst) {
            before(info);
            return;
        }
        let name = thread::current().name().unwrap_or("unnamed").to_owned();
        let told = format!("thread '{name}' {info}");
        tracing::error!("{told}");
        PANICS.lock().unwrap_or_else(PoisonError::into_inner).push(told);
    }));
}

/// A thread that writes, one piece after the other.
#[derive(Debug)]
struct Writer {
    pieces: mpsc::Sender<String>,
    written: mpsc::Receiver<io::Result<()>>,
    under_way: usize,
    /// What found no room: nothing that is drawn may be lost.
    overflow: String,
    thread: Option<thread::JoinHandle<()>>,
}

/// Enough for what is written around a frame; a frame itself waits until all is written.
const PIECES: usize = 16;

impl Writer {
    fn start() -> io::Result<Self> {
        let (pieces, mut waiting) = mpsc::channel::<String>(PIECES);
        let (done, written) = mpsc::channel(PIECES);
        let thread = thread::Builder::new().name("rein-terminal".to_owned()).spawn(move || {
            let mut out = io::stdout();
            while let Some(piece) = waiting.blocking_recv() {
                let result = out.write_all(piece.as_bytes()).and_then(|()| out.flush());
                if done.blocking_send(result).is_err() {
                    return;
                }
            }
        })?;
        Ok(Self { pieces, written, under_way: 0, overflow: String::new(), thread: Some(thread) })
    }

    fn is_ready(&self) -> bool {
        self.under_way == 0 && self.overflow.is_empty()
    }

    fn write(&mut self, piece: String) {
        if piece.is_empty() {
            return;
        }
        if !self.overflow.is_empty() {
            self.overflow.push_str(&piece);
            return;
        }
        match self.pieces.try_send(piece) {
            Ok(()) => self.under_way += 1,
            Err(mpsc::error::TrySendError::Full(piece) | mpsc::error::TrySendError::Closed(piece)) => {
                self.overflow = piece;
            }
        }
    }

    async fn ready(&mut self) -> io::Result<()> {
        loop {
            while self.under_way > 0 {
                match self.written.recv().await {
                    Some(result) => {
                        self.under_way -= 1;
                        result?;
                    }
                    None => return Err(io::ErrorKind::BrokenPipe.into()),
                }
            }
            if self.overflow.is_empty() {
                return Ok(());
            }
            let rest = std::mem::take(&mut self.overflow);
            self.pieces.try_send(rest).map_err(|_| io::Error::from(io::ErrorKind::BrokenPipe))?;
            self.under_way += 1;
        }
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        // Closing the channel ends the thread. It is not waited for if the terminal does not read:
        // the process would never end.
        let (nothing, _) = mpsc::channel(1);
        self.pieces = nothing;
        if let Some(thread) = self.thread.take().filter(|_| self.under_way == 0) {
            let _ = thread.join();
        }
    }
}
