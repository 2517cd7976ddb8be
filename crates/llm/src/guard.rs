//! Watches over an answer that arrives: how much of it there is, and whether it
//! gets anywhere.
//!
//! A connection without a byte is noticed by `http`. A server that only keeps
//! the connection alive is noticed here: it is given longer, since models think
//! for minutes behind such signs of life, but not for ever.

use std::time::{Duration, Instant};

use rein_protocol::{Finish, Timestamp};

use crate::error::{ErrorKind, ModelError};
use crate::event::ModelEvent;
use crate::retry::Patience;

/// How many times longer than without a byte a server may be without a word.
const QUIET_FACTOR: u32 = 10;

/// What watches over one answer.
#[derive(Debug)]
pub(crate) struct Guard {
    room: usize,
    longest_answer: usize,
    quiet_since: Instant,
    longest_quiet: Duration,
    patience: Patience,
    said: bool,
}

/// Whether what arrived said something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Heard {
    Words,
    Nothing,
}

impl Guard {
    pub(crate) fn new(longest_answer: usize, idle_timeout: Duration, patience: Patience) -> Self {
        Self {
            room: longest_answer,
            longest_answer,
            quiet_since: Instant::now(),
            longest_quiet: idle_timeout.saturating_mul(QUIET_FACTOR),
            patience,
            said: false,
        }
    }

    /// So many bytes arrived.
    pub(crate) fn check(&mut self, bytes: usize, heard: Heard) -> Result<(), ModelError> {
        let Some(room) = self.room.checked_sub(bytes) else { return Err(self.too_long()) };
        self.room = room;
        match heard {
            Heard::Words => self.quiet_since = Instant::now(),
            Heard::Nothing if self.quiet_since.elapsed() > self.longest_quiet => return Err(self.too_quiet()),
            Heard::Nothing => {}
        }
        Ok(())
    }

    /// An answer that ended at the output limit without a word: the conversation has left no room for one. The end is
    /// taken out of the events then.
    pub(crate) fn overflow(&mut self, events: &mut Vec<ModelEvent>) -> Option<ModelError> {
        self.said |=
            events.iter().any(|event| !matches!(event, ModelEvent::Usage(_) | ModelEvent::Finished(_)));
        if self.said || !matches!(events.last(), Some(ModelEvent::Finished(Finish::Length))) {
            return None;
        }
        events.pop();
        let message =
            "the conversation leaves the model no room for an answer: it reached its limit without a word";
        Some(ModelError::new(ErrorKind::Overflow, message))
    }

    /// An error, with whether it is waited for.
    pub(crate) fn judge(&self, error: ModelError) -> ModelError {
        self.patience.judge(error, Timestamp::now())
    }

    fn too_long(&self) -> ModelError {
        let limit = self.longest_answer / 1_000_000;
        let message = format!("the answer is larger than {limit} MB and was not read to its end");
        ModelError::new(ErrorKind::Protocol, message)
            .with_hint("what came is kept; ask for less at once, or check what the server sends")
    }

    fn too_quiet(&self) -> ModelError {
        let seconds = self.longest_quiet.as_secs_f32();
        let message = format!("the provider kept the connection alive for {seconds} s without a word");
        ModelError::new(ErrorKind::Stalled, message)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_may_be_as_large_as_the_limit_and_no_larger() {
        let mut guard = Guard::new(10_000_000, Duration::from_secs(60), Patience::Interactive);
        assert_eq!(guard.check(9_999_999, Heard::Words), Ok(()));
        assert_eq!(guard.check(1, Heard::Nothing), Ok(()));
        let error = guard.check(1, Heard::Words).unwrap_err();
        assert_eq!(error.message, "the answer is larger than 10 MB and was not read to its end");
        assert!(!error.retryable());
    }

    #[test]
    fn signs_of_life_alone_are_not_enough_for_ever() {
        let mut guard = Guard::new(1000, Duration::ZERO, Patience::Interactive);
        assert_eq!(guard.check(1, Heard::Words), Ok(()));
        while guard.quiet_since.elapsed() == Duration::ZERO {}
        assert_eq!(guard.check(1, Heard::Nothing).unwrap_err().kind, ErrorKind::Stalled);
        assert_eq!(guard.check(1, Heard::Words), Ok(()));
    }
}
