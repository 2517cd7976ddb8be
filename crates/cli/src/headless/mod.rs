//! A run without a person at it: one turn of one session, from the prompt to
//! the exit code.
//!
//! Everything goes through [`Service`]. A signal or a reader that went away
//! interrupts the turn and waits for its end, so that whatever was done is
//! durable when the process ends.

mod begin;
mod face;
mod json;
mod tally;
mod text;

use std::time::{Duration, Instant};

use futures_util::StreamExt;
use futures_util::stream::ReadyChunks;
use rein_protocol::{
    Answer, Ask, Content, EntryBody, Event, EventBody, EventStream, OpenSession, Reply, Service, SessionId,
};

pub use face::{Face, STOPPING};
pub use json::{Json, StreamJson};
pub use tally::{RunResult, dollars, words};
pub use text::{Activity, Text};

use crate::error::CommandError;
use crate::exit::Exit;
use crate::signals::{Signal, Signals};
use crate::streams::{OutputError, Printed, Streams};
use begin::Begun;
use tally::Tally;

/// How many events are printed before standard output is flushed.
const BATCH: usize = 64;
/// How much may wait for a slow reader before the events are made to wait too.
const PENDING: usize = 256 << 10;

/// What is to be done.
#[derive(Debug, Clone)]
pub struct Run {
    /// Which session, in which directory, with which model and mode.
    pub open: OpenSession,
    /// The prompt; without one, what had been broken off is gone on with.
    pub prompt: Option<String>,
    /// Pictures that go with it.
    pub pictures: Vec<Content>,
    /// What happens to asks.
    pub asks: Asks,
}

/// What happens when the engine asks for permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asks {
    /// The engine was told that nobody is there, so it does not ask.
    Unexpected,
    /// Each is answered with "once", after a moment to read it.
    AllowedOnce(Duration),
}

/// Runs it and prints it.
///
/// # Errors
/// If the turn could not be begun, or standard output could not be written.
pub async fn run(
    service: &dyn Service,
    run: Run,
    face: &mut dyn Face,
    streams: Streams,
    signals: &mut Signals,
) -> Result<(Exit, RunResult), CommandError> {
    let begun = Instant::now();
    let info = service.open(run.open.clone()).await?;
    let followed = match begin::begin(service, &info, run.prompt, run.pictures).await {
        Ok(Begun { tally, turn, events }) => {
            let mut pending = Printed::default();
            face.begin(&info, &turn, &mut pending);
            let mut follower = Follower {
                service,
                session: &info.id,
                asks: run.asks,
                tally,
                face,
                pending,
                stopped: Stopped::default(),
            };
            follower.follow(events.ready_chunks(BATCH), &streams, signals).await;
            Ok((follower.tally, follower.pending, follower.stopped))
        }
        Err(error) => Err(error),
    };
    let closed = service.close(&info.id).await;
    let (mut tally, mut pending, stopped) = followed?;
    if let Err(error) = closed {
        tally.break_off(&error.to_string());
    }
    let result = tally.finish(info.id.clone(), stopped.signal, begun.elapsed());
    match stopped.output {
        Some(error) => output_failed(error).map(|exit| (exit, result)),
        None => {
            face.end(&result, &mut pending);
            let sent = streams.send(&mut pending).await;
            let written = sent.and(streams.finish().await);
            match written {
                Ok(()) | Err(OutputError::Closed) => Ok((result.exit_code, result)),
                Err(error) => output_failed(error).map(|exit| (exit, result)),
            }
        }
    }
}

fn output_failed(error: OutputError) -> Result<Exit, CommandError> {
    match error {
        OutputError::Closed => Ok(Exit::Success),
        failed @ OutputError::Failed(_) => {
            Err(CommandError::failure("standard output cannot be written").caused_by(failed))
        }
    }
}

/// What ended the run from outside, if something did.
#[derive(Debug, Default)]
struct Stopped {
    signal: Option<Signal>,
    output: Option<OutputError>,
}

/// A turn under way, and everything that it is printed with.
struct Follower<'a> {
    service: &'a dyn Service,
    session: &'a SessionId,
    asks: Asks,
    tally: Tally,
    face: &'a mut dyn Face,
    pending: Printed,
    stopped: Stopped,
}

impl Follower<'_> {
    /// Until the turn is over.
    async fn follow(
        &mut self,
        mut events: ReadyChunks<EventStream>,
        streams: &Streams,
        signals: &mut Signals,
    ) {
        while !self.tally.is_over() {
            let (writable, stopping) = (self.stopped.output.is_none(), self.is_stopping());
            tokio::select! {
                biased;
                signal = signals.first(), if self.stopped.signal.is_none() => {
                    self.stopped.signal = Some(signal);
                    self.face.stopping(&mut self.pending);
                    self.interrupt().await;
                }
                error = streams.failed(), if writable => {
                    self.stopped.output = Some(error);
                    self.interrupt().await;
                }
                // What went wrong is told by `failed`.
                _ = streams.send(&mut self.pending), if writable && !self.pending.is_empty() => {}
                batch = events.next(), if self.pending.len() < PENDING || stopping => match batch {
                    Some(batch) => self.take(&batch).await,
                    None => self.tally.break_off("the session ended before the turn did"),
                },
            }
        }
    }

    fn is_stopping(&self) -> bool {
        self.stopped.signal.is_some() || self.stopped.output.is_some()
    }

    async fn interrupt(&mut self) {
        if let Err(error) = self.service.interrupt(self.session).await {
            self.tally.break_off(&error.to_string());
        }
    }

    async fn take(&mut self, batch: &[Event]) {
        for event in batch {
            self.tally.apply(event);
            self.face.event(event, &mut self.pending);
            if let EventBody::Entry { entry } = &event.body
                && let EntryBody::Asked { ask } = &entry.body
            {
                self.answer(ask).await;
            }
            if self.tally.is_over() {
                break;
            }
        }
        if self.stopped.output.is_some() {
            self.pending = Printed::default();
        }
    }

    async fn answer(&mut self, ask: &Ask) {
        let answer = match self.asks {
            Asks::AllowedOnce(moment) => {
                tokio::time::sleep(moment).await;
                Answer::Once
            }
            // Nobody can answer, and waiting for ever would help nobody.
            Asks::Unexpected => Answer::Reject { message: None },
        };
        // An ask that was settled meanwhile needs no answer.
        let _ = self.service.reply(self.session, Reply { ask: ask.id.clone(), answer }).await;
    }
}

#[cfg(test)]
mod tests;
