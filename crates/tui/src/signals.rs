//! The signals that end the face.

use std::io;

use futures_util::FutureExt;
use tokio::signal::unix::{Signal, SignalKind, signal};

use crate::Ended;

/// Those that end it.
pub(crate) struct Signals {
    terminate: Signal,
    hangup: Signal,
    interrupt: Signal,
}

impl Signals {
    pub(crate) fn install() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            hangup: signal(SignalKind::hangup())?,
            interrupt: signal(SignalKind::interrupt())?,
        })
    }

    pub(crate) async fn fatal(&mut self) -> Ended {
        tokio::select! {
            _ = self.terminate.recv() => Ended::Terminated,
            _ = self.hangup.recv() => Ended::HungUp,
        }
    }

    /// Interrupts that were meant for another program.
    pub(crate) fn forget_interrupts(&mut self) {
        while self.interrupt.recv().now_or_never().is_some() {}
    }

    pub(crate) async fn ending(&mut self) -> Ended {
        tokio::select! {
            _ = self.terminate.recv() => Ended::Terminated,
            _ = self.hangup.recv() => Ended::HungUp,
            _ = self.interrupt.recv() => Ended::Interrupted,
        }
    }
}
