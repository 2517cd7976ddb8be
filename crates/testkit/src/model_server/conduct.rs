//! How the bytes of an answer misbehave on their way, and the setters for it.
//!
//! Places are counted in bytes of the body, before HTTP's own framing: a place
//! may be inside an event or inside a character.

use std::time::Duration;

use super::turn::Turn;

/// What happens to the bytes of an answer.
#[derive(Clone, Default)]
pub(crate) struct Conduct {
    pub(crate) hangs_up: bool,
    pub(crate) delay: Option<Duration>,
    pub(crate) held_at: Option<String>,
    pub(crate) split: Option<usize>,
    pub(crate) framing: Framing,
    pub(crate) lines: LineEnding,
    pub(crate) comments: Comments,
    triggers: Vec<Trigger>,
}

/// How a client finds the end of the body.
#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) enum Framing {
    /// Chunks for streams, a length for the rest.
    #[default]
    Usual,
    UntilClose,
}

#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) enum LineEnding {
    #[default]
    LineFeed,
    CarriageReturnLineFeed,
}

#[derive(Clone, Copy, Default, PartialEq)]
pub(crate) enum Comments {
    #[default]
    None,
    BeforeEveryEvent,
}

/// Something that happens at a place in the body.
#[derive(Clone)]
pub(crate) struct Trigger {
    pub(crate) offset: usize,
    pub(crate) fault: Fault,
}

#[derive(Clone, Debug)]
pub(crate) enum Fault {
    Stall,
    Gate(String),
    Cut,
    Reset,
}

impl Conduct {
    /// What happens, in order of place.
    pub(crate) fn triggers(&self) -> Vec<Trigger> {
        let mut triggers = self.triggers.clone();
        triggers.sort_by_key(|trigger| trigger.offset);
        triggers
    }

    fn at(&mut self, offset: usize, fault: Fault) {
        self.triggers.push(Trigger { offset, fault });
    }
}

/// How its bytes misbehave.
impl Turn {
    /// Waits before the head of the response.
    pub fn delay(mut self, delay: Duration) -> Self {
        self.conduct.delay = Some(delay);
        self
    }

    /// Waits before the head of the response until the test opens the gate.
    pub fn gate_before_head(mut self, name: impl Into<String>) -> Self {
        self.conduct.held_at = Some(name.into());
        self
    }

    /// After `bytes` of the body, waits until the test opens the gate.
    pub fn gate_after(mut self, bytes: usize, name: impl Into<String>) -> Self {
        self.conduct.at(bytes, Fault::Gate(name.into()));
        self
    }

    /// After `bytes` of the body, sends nothing more until
    /// [`release`](super::ModelServer::release) or until the client goes away.
    pub fn stall_after(mut self, bytes: usize) -> Self {
        self.conduct.at(bytes, Fault::Stall);
        self
    }

    /// After `bytes` of the body, closes the connection.
    pub fn cut_after(mut self, bytes: usize) -> Self {
        self.conduct.at(bytes, Fault::Cut);
        self
    }

    /// After `bytes` of the body, resets the connection. What the client has not read yet may be lost.
    pub fn reset_after(mut self, bytes: usize) -> Self {
        self.conduct.at(bytes, Fault::Reset);
        self
    }

    /// Sends the body in pieces of so many bytes, each a write and, in a stream, a chunk of its own, so that
    /// a client that hands chunks on as they come sees every boundary.
    pub fn split_every(mut self, bytes: usize) -> Self {
        self.conduct.split = Some(bytes.max(1));
        self
    }

    /// The end of the body is the end of the connection: a cut cannot be told from an end.
    pub fn until_close(mut self) -> Self {
        self.conduct.framing = Framing::UntilClose;
        self
    }

    /// Lines of events end with CR LF.
    pub fn crlf(mut self) -> Self {
        self.conduct.lines = LineEnding::CarriageReturnLineFeed;
        self
    }

    /// A comment line before every event.
    pub fn comments(mut self) -> Self {
        self.conduct.comments = Comments::BeforeEveryEvent;
        self
    }
}
