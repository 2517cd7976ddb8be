//! The file of a recording, written by a thread of its own.
//!
//! Every line is handed to the system whole and at once, so that whatever ends
//! the process leaves a file that can be read up to there. What cannot be
//! written is told when the recording is finished; the work that is recorded
//! does not wait for it and does not fail.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::Path;
use std::thread::{self, JoinHandle};

use tokio::sync::{mpsc, oneshot};

/// How many lines may wait for the disk before the exchanges do.
const WAITING_LINES: usize = 256;

/// What the thread is told.
pub(super) enum Message {
    Line(String),
    /// Make it durable, and say how it went.
    Finish(oneshot::Sender<io::Result<()>>),
}

/// Makes the file, for the user's eyes only, and the thread that writes it.
pub(super) fn create(path: &Path, head: &str) -> io::Result<(mpsc::Sender<Message>, JoinHandle<()>)> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(head.as_bytes())?;
    let (sender, receiver) = mpsc::channel(WAITING_LINES);
    let thread = thread::Builder::new().name("recording".to_owned()).spawn(move || write(file, receiver))?;
    Ok((sender, thread))
}

fn write(mut file: File, mut receiver: mpsc::Receiver<Message>) {
    let mut failed = None;
    while let Some(message) = receiver.blocking_recv() {
        match message {
            // After a line that was not written whole, no other would be a line.
            Message::Line(_) if failed.is_some() => {}
            Message::Line(line) => failed = file.write_all(line.as_bytes()).err(),
            Message::Finish(told) => {
                let outcome = match failed.take() {
                    Some(error) => Err(error),
                    None => file.sync_all(),
                };
                // Whoever asked may have gone.
                let _ = told.send(outcome);
                return;
            }
        }
    }
    if let Err(error) = file.sync_all() {
        tracing::warn!(%error, "a recording may not be durable");
    }
}
