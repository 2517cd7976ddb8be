//! Signals that ask the process to stop.
//!
//! The first one is handed to whoever runs a turn, to end it properly; the
//! second one ends the process and the commands that it runs at once. A signal
//! that was ignored when the process began (by `nohup`, or for a background
//! job) stays ignored.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::mpsc;

use crate::error::CommandError;

/// A request to stop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// Ctrl-C.
    Interrupt,
    /// From a supervisor.
    Terminate,
    /// The terminal went away.
    Hangup,
}

impl Signal {
    const ALL: [Signal; 3] = [Signal::Interrupt, Signal::Terminate, Signal::Hangup];

    /// What the process ends with. A hangup counts as a termination.
    pub fn exit_code(self) -> u8 {
        match self {
            Self::Interrupt => 130,
            Self::Terminate | Self::Hangup => 143,
        }
    }

    fn kind(self) -> SignalKind {
        match self {
            Self::Interrupt => SignalKind::interrupt(),
            Self::Terminate => SignalKind::terminate(),
            Self::Hangup => SignalKind::hangup(),
        }
    }
}

/// The first signal, when it comes.
#[derive(Debug)]
pub struct Signals {
    first: mpsc::Receiver<Signal>,
    watchers: tokio::task::JoinSet<()>,
}

impl Signals {
    /// Takes over the signals of this process. Must be called inside a runtime.
    pub fn install() -> Result<Self, CommandError> {
        let ignored = ignored_at_start();
        let (sender, first) = mpsc::channel(1);
        let seen = Arc::new(AtomicBool::new(false));
        let mut watchers = tokio::task::JoinSet::new();
        for each in Signal::ALL {
            if ignored & (1 << (each.kind().as_raw_value() - 1)) != 0 {
                continue;
            }
            let mut stream = signal(each.kind())
                .map_err(|error| CommandError::failure("signals cannot be handled").caused_by(error))?;
            let (sender, seen) = (sender.clone(), Arc::clone(&seen));
            watchers.spawn(async move {
                while stream.recv().await.is_some() {
                    if seen.swap(true, Ordering::SeqCst) || sender.try_send(each).is_err() {
                        rein_sandbox::end_all();
                        std::process::exit(i32::from(each.exit_code()));
                    }
                }
            });
        }
        Ok(Self { first, watchers })
    }

    /// Signals that a test sends.
    #[cfg(test)]
    pub fn scripted() -> (mpsc::Sender<Signal>, Self) {
        let (sender, first) = mpsc::channel(1);
        (sender, Self { first, watchers: tokio::task::JoinSet::new() })
    }

    /// Waits for the first signal. To be called again only to wait for ever.
    pub async fn first(&mut self) -> Signal {
        match self.first.recv().await {
            Some(signal) => signal,
            None => std::future::pending().await,
        }
    }
}

impl Drop for Signals {
    fn drop(&mut self) {
        self.watchers.abort_all();
    }
}

/// The mask of ignored signals, where the system tells it.
fn ignored_at_start() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status
        .lines()
        .find_map(|line| line.strip_prefix("SigIgn:"))
        .and_then(|mask| u64::from_str_radix(mask.trim(), 16).ok())
        .unwrap_or(0)
}
