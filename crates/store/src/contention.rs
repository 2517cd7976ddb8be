//! Waiting for another process, with an end.
//!
//! SQLite's own busy handler backs off to a tenth of a second and is not asked
//! in every case, so it only takes the first collisions; this takes the rest.
//! The invariant: a wait ends, at the latest a moment after the patience does.

use std::thread::sleep;
use std::time::{Duration, Instant};

use crate::error::Fault;

/// What SQLite waits by itself before it reports that somebody else is at work.
pub(crate) const BUSY_TIMEOUT: Duration = Duration::from_millis(20);

const FIRST_PAUSE: Duration = Duration::from_micros(500);
const LONGEST_PAUSE: Duration = Duration::from_millis(8);

/// Repeats an attempt for as long as somebody else is in its way and the patience lasts.
/// An attempt that failed must have left nothing behind.
pub(crate) fn patiently<T>(
    patience: Duration,
    mut attempt: impl FnMut() -> Result<T, Fault>,
) -> Result<T, Fault> {
    let started = Instant::now();
    let mut pause = FIRST_PAUSE;
    loop {
        match attempt() {
            Err(fault) if fault.is_busy() && started.elapsed() < patience => {
                sleep(pause);
                pause = (pause * 2).min(LONGEST_PAUSE);
            }
            outcome => return outcome,
        }
    }
}
