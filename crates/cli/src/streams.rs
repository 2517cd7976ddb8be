//! The two output streams of the process, written by one thread in the order
//! in which things were said.
//!
//! A reader that is slow holds back whoever writes, never a signal: sending is
//! asynchronous and bounded. A reader that went away is reported as such.

use std::io::{self, ErrorKind, Write};
use std::sync::{Arc, Mutex, PoisonError};

use tokio::sync::{mpsc, oneshot};

/// How many handfuls of text may wait for a slow reader.
const CHUNKS: usize = 8;

/// What to write, and where.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Chunk {
    Out(String),
    Note(String),
}

/// Text on its way to the two streams, in order.
#[derive(Debug, Default)]
pub struct Printed {
    chunks: Vec<Chunk>,
    bytes: usize,
}

impl Printed {
    /// Adds to standard output.
    pub fn out(&mut self, text: &str) {
        self.bytes += text.len();
        match self.chunks.last_mut() {
            Some(Chunk::Out(last)) => last.push_str(text),
            _ if text.is_empty() => {}
            _ => self.chunks.push(Chunk::Out(text.to_owned())),
        }
    }

    /// Adds a line to standard error.
    pub fn note(&mut self, line: &str) {
        self.bytes += line.len();
        match self.chunks.last_mut() {
            Some(Chunk::Note(last)) => {
                last.push_str(line);
                last.push('\n');
            }
            _ => self.chunks.push(Chunk::Note(format!("{line}\n"))),
        }
    }

    /// How much it is.
    pub fn len(&self) -> usize {
        self.bytes
    }

    /// Whether it is nothing.
    pub fn is_empty(&self) -> bool {
        self.chunks.is_empty()
    }
}

/// Why standard output takes no more.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum OutputError {
    /// Whoever read it went away.
    #[error("the reader of standard output went away")]
    Closed,
    /// The system refused, for example because a disk is full.
    #[error("{0}")]
    Failed(String),
}

/// The way to the writing thread.
#[derive(Debug)]
pub struct Streams {
    sender: Option<mpsc::Sender<Printed>>,
    finished: oneshot::Receiver<()>,
    failure: Arc<Mutex<Option<OutputError>>>,
}

impl Streams {
    /// Onto the streams of the process.
    pub fn standard() -> io::Result<Self> {
        Self::onto(io::stdout(), io::stderr())
    }

    /// Onto any two writers.
    pub fn onto(out: impl Write + Send + 'static, notes: impl Write + Send + 'static) -> io::Result<Self> {
        let (sender, mut receiver) = mpsc::channel(CHUNKS);
        let (done, finished) = oneshot::channel();
        let failure = Arc::new(Mutex::new(None));
        let shared = Arc::clone(&failure);
        std::thread::Builder::new().name("output".to_owned()).spawn(move || {
            // The reason is there before the closed channel tells that there is one.
            if let Err(error) = write_all(&mut receiver, out, notes) {
                *shared.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            }
            drop(receiver);
            // Nobody waits if the process is ending already.
            let _ = done.send(());
        })?;
        Ok(Self { sender: Some(sender), finished, failure })
    }

    /// Waits until there is room, then hands over what is pending.
    pub async fn send(&self, pending: &mut Printed) -> Result<(), OutputError> {
        match &self.sender {
            Some(sender) => match sender.reserve().await {
                Ok(permit) => {
                    permit.send(std::mem::take(pending));
                    Ok(())
                }
                Err(_) => Err(self.failure()),
            },
            None => Err(self.failure()),
        }
    }

    /// Waits until standard output fails; for ever while it does not.
    pub async fn failed(&self) -> OutputError {
        match &self.sender {
            Some(sender) => {
                sender.closed().await;
                self.failure()
            }
            None => self.failure(),
        }
    }

    /// Waits until everything is written.
    pub async fn finish(mut self) -> Result<(), OutputError> {
        self.sender = None;
        // The thread may have ended before; what counts is what it left behind.
        let _ = (&mut self.finished).await;
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).take().map_or(Ok(()), Err)
    }

    fn failure(&self) -> OutputError {
        self.failure.lock().unwrap_or_else(PoisonError::into_inner).clone().unwrap_or(OutputError::Closed)
    }
}

fn write_all(
    receiver: &mut mpsc::Receiver<Printed>,
    mut out: impl Write,
    mut notes: impl Write,
) -> Result<(), OutputError> {
    while let Some(printed) = receiver.blocking_recv() {
        for chunk in printed.chunks {
            match chunk {
                Chunk::Out(text) => {
                    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(|error| match error
                        .kind()
                    {
                        ErrorKind::BrokenPipe => OutputError::Closed,
                        _ => OutputError::Failed(error.to_string()),
                    })?;
                }
                // Notes are a courtesy: a closed standard error must not end the work.
                Chunk::Note(text) => drop(notes.write_all(text.as_bytes()).and_then(|()| notes.flush())),
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Failing(ErrorKind);
    impl Write for Failing {
        fn write(&mut self, _: &[u8]) -> io::Result<usize> {
            Err(self.0.into())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn printed(text: &str) -> Printed {
        let mut printed = Printed::default();
        printed.out(text);
        printed
    }

    #[tokio::test]
    async fn a_reader_that_went_away_is_told_from_a_disk_that_is_full() {
        for (kind, expected) in [
            (ErrorKind::BrokenPipe, OutputError::Closed),
            (
                ErrorKind::StorageFull,
                OutputError::Failed(io::Error::from(ErrorKind::StorageFull).to_string()),
            ),
        ] {
            let streams = Streams::onto(Failing(kind), io::sink()).unwrap();
            streams.send(&mut printed("x")).await.unwrap();
            assert_eq!(streams.failed().await, expected);
            assert_eq!(streams.send(&mut printed("y")).await, Err(expected.clone()));
            assert_eq!(streams.finish().await, Err(expected));
        }
    }

    #[tokio::test]
    async fn a_closed_standard_error_does_not_stop_the_output() {
        let streams = Streams::onto(io::sink(), Failing(ErrorKind::BrokenPipe)).unwrap();
        let mut pending = printed("x");
        pending.note("note");
        pending.out("y");
        streams.send(&mut pending).await.unwrap();
        assert!(pending.is_empty());
        assert_eq!(streams.finish().await, Ok(()));
    }

    #[test]
    fn what_is_printed_keeps_its_order_and_merges_neighbours() {
        let mut printed = printed("a");
        printed.out("b");
        printed.note("n");
        printed.note("m");
        printed.out("c");
        printed.out("");
        assert_eq!(
            printed.chunks,
            [Chunk::Out("ab".into()), Chunk::Note("n\nm\n".into()), Chunk::Out("c".into())]
        );
    }
}
