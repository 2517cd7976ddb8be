//! Work on a thread that is given so much time and no more.
//!
//! The work itself looks at a [`Stop`] and leaves what it has where its owner
//! can take it, so that a search that takes too long still shows what it
//! found. A file system may not answer; then the thread ends when it does.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use tokio_util::sync::CancellationToken;

/// How long a search may take.
pub(crate) const SEARCH: Duration = Duration::from_secs(20);

/// How long work that was told to stop is waited for.
const GRACE: Duration = Duration::from_millis(200);

/// Whether work is to stop. Cheap enough to look at before every read, by many threads, which a
/// token with its lock is not.
#[derive(Debug, Clone, Default)]
pub(crate) struct Stop(Arc<AtomicBool>);

impl Stop {
    /// Whether it is.
    pub(crate) fn is_set(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }

    /// From now on it is.
    pub(crate) fn set(&self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// Stops the work of an owner that is gone.
struct StopOnDrop(Stop);

impl Drop for StopOnDrop {
    fn drop(&mut self) {
        self.0.set();
    }
}

/// How it ended.
#[derive(Debug)]
pub(crate) enum Ended {
    /// By itself.
    Whole,
    /// By itself, with an error of the system.
    Failed(io::Error),
    /// The time was up.
    Late(Duration),
    /// It was cancelled.
    Interrupted,
    /// It panicked.
    Broken,
}

impl Ended {
    /// What the model should know of it.
    pub(crate) fn note(&self) -> Option<String> {
        match self {
            Self::Late(limit) => Some(format!(
                "stopped after {} s, so this is not all: search a smaller `path`",
                limit.as_secs_f64()
            )),
            Self::Whole | Self::Failed(_) | Self::Interrupted | Self::Broken => None,
        }
    }
}

/// Does the work, for at most so long and until cancelled.
pub(crate) async fn run(
    limit: Duration,
    cancel: &CancellationToken,
    work: impl FnOnce(&Stop) -> io::Result<()> + Send + 'static,
) -> Ended {
    if cancel.is_cancelled() {
        return Ended::Interrupted;
    }
    let stop = StopOnDrop(Stop::default());
    let inner = stop.0.clone();
    let mut working = tokio::task::spawn_blocking(move || work(&inner));
    let ended = tokio::select! {
        biased;
        () = cancel.cancelled() => Ended::Interrupted,
        worked = &mut working => return match worked {
            Ok(Ok(())) => Ended::Whole,
            Ok(Err(error)) => Ended::Failed(error),
            Err(_) => Ended::Broken,
        },
        () = tokio::time::sleep(limit) => Ended::Late(limit),
    };
    stop.0.set();
    // What it has in hand it may still put down.
    let _ = tokio::time::timeout(GRACE, working).await;
    ended
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::{Arc, Mutex};

    #[tokio::test]
    async fn work_without_end_is_stopped_and_what_it_left_can_be_taken() {
        let left = Arc::new(Mutex::new(Vec::new()));
        let inner = Arc::clone(&left);
        let ended = run(Duration::from_millis(1), &CancellationToken::new(), move |stop| {
            inner.lock().unwrap().push("begun");
            while !stop.is_set() {
                std::thread::yield_now();
            }
            inner.lock().unwrap().push("stopped");
            Ok(())
        })
        .await;
        assert_eq!(
            ended.note().as_deref(),
            Some("stopped after 0.001 s, so this is not all: search a smaller `path`")
        );
        assert_eq!(*left.lock().unwrap(), ["begun", "stopped"]);
    }

    #[tokio::test]
    async fn work_that_cannot_be_stopped_is_not_waited_for() {
        let (ended, end) = std::sync::mpsc::channel::<()>();
        let cancel = CancellationToken::new();
        let inner = cancel.clone();
        let run = run(SEARCH, &cancel, move |_| {
            inner.cancel();
            let _ = end.recv();
            Ok(())
        });
        assert!(matches!(run.await, Ended::Interrupted));
        drop(ended);
    }

    #[tokio::test]
    async fn what_was_cancelled_before_is_not_begun() {
        let cancel = CancellationToken::new();
        cancel.cancel();
        let ended = run(SEARCH, &cancel, |_| Err(io::Error::other("begun"))).await;
        assert!(matches!(ended, Ended::Interrupted));
    }
}
