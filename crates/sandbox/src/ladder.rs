//! Ending a family: asked first, killed then.
//!
//! While it dies it may print, and is read: a process that waits for its output
//! to be taken could otherwise not end by itself.

use std::time::Duration;

use rustix::process::{Pid, Signal};
use tokio::time::{Instant, sleep_until};

use crate::child::Running;
use crate::output::{Output, Take};
use crate::spawn::Grace;

/// How often it is looked whether members are still there.
const LOOK: Duration = Duration::from_millis(20);

/// How long a killed process may take to vanish. Longer means that it hangs in the kernel.
const DEATH: Duration = Duration::from_secs(2);

/// Whether all members are gone.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Gone {
    All,
    NotAll,
}

/// Sends SIGTERM to all, waits for at most `grace`, and sends SIGKILL to those who stay.
pub(crate) async fn end(child: &mut Running, output: &mut Output, take: Take<'_>, grace: Grace) -> Gone {
    let mut seen = living(child).await;
    child.family().signal(Signal::TERM, &seen);
    // A stopped process gets no signal but this one.
    child.family().signal(Signal::CONT, &seen);
    let gone = wait_until_gone(child, (output, take), &mut seen, grace.0, None).await;
    let gone = match gone {
        Gone::All => Gone::All,
        Gone::NotAll => wait_until_gone(child, (output, take), &mut seen, DEATH, Some(Signal::KILL)).await,
    };
    // Where members cannot be looked up, this is all that reaches those who ignored the first signal.
    child.family().signal(Signal::KILL, &[]);
    child.family().reap(&seen);
    gone
}

/// Looks again and again. With a signal, it is sent to whoever is there at each look: a family may still grow.
async fn wait_until_gone(
    child: &mut Running,
    (output, take): (&mut Output, Take<'_>),
    seen: &mut Vec<Pid>,
    patience: Duration,
    signal: Option<Signal>,
) -> Gone {
    let deadline = Instant::now() + patience;
    loop {
        let members = living(child).await;
        if let Some(signal) = signal {
            child.family().signal(signal, &members);
        }
        if members.is_empty() && child.status().is_some() {
            return Gone::All;
        }
        seen.extend(members.iter().filter(|member| !seen.contains(member)).copied().collect::<Vec<_>>());
        let now = Instant::now();
        if now >= deadline {
            return Gone::NotAll;
        }
        let ended_before = child.status().is_some();
        tokio::select! {
            () = sleep_until(deadline.min(now + LOOK)) => {}
            () = output.pump(take) => {}
            () = child.exited(), if !ended_before => {}
        }
    }
}

async fn living(child: &Running) -> Vec<Pid> {
    let family = child.family().clone();
    tokio::task::spawn_blocking(move || family.living()).await.unwrap_or_default()
}

/// Whether somebody is left after the child itself has ended.
pub(crate) async fn has_survivors(child: &Running) -> bool {
    !living(child).await.is_empty()
}
