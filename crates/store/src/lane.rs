//! A thread that owns something and does jobs on it, one after the other.
//!
//! SQLite blocks, so connections live on threads of their own; async callers
//! hand over a job and await its answer. The queue is bounded: a caller waits
//! for room before it hands over. A job that was handed over is done even if
//! its caller has gone. When the lane is dropped, the thread does what is
//! still queued, finishes what it owns, and has ended when the drop returns.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::error::{Result, StoreError};

const ROOM: usize = 64;

/// What a lane's thread owns.
pub(crate) trait Attendant: Send + 'static {
    /// When it wants to be woken although there is no job.
    fn due(&self) -> Option<Instant>;

    /// Called once what [`Attendant::due`] said has come.
    fn wake(&mut self);

    /// Called when there will be no more jobs.
    fn finish(self);
}

struct Job<S> {
    work: Box<dyn FnOnce(&mut S) + Send>,
    /// Given back when the job is over.
    _room: OwnedSemaphorePermit,
}

/// A handle on the thread. The channel itself is unbounded, because its
/// receiver must be able to wait with a deadline; the permits bound it.
pub(crate) struct Lane<S: Attendant> {
    jobs: Option<Sender<Job<S>>>,
    room: Arc<Semaphore>,
    thread: Option<JoinHandle<()>>,
}

impl<S: Attendant> Lane<S> {
    pub(crate) fn start(name: &str, state: S) -> io::Result<Self> {
        let (jobs, queue) = channel();
        let thread = thread::Builder::new().name(name.to_owned()).spawn(move || serve(state, &queue))?;
        Ok(Self { jobs: Some(jobs), room: Arc::new(Semaphore::new(ROOM)), thread: Some(thread) })
    }

    /// Has the thread do something and waits for the answer. If this is dropped
    /// while it waits for room, the job is not done; afterwards it is.
    pub(crate) async fn call<T, F>(&self, work: F) -> Result<T>
    where
        T: Send + 'static,
        F: FnOnce(&mut S) -> T + Send + 'static,
    {
        let room = Arc::clone(&self.room).acquire_owned().await.map_err(|_| StoreError::Closed)?;
        let (answer, answered) = oneshot::channel();
        let work = Box::new(move |state: &mut S| {
            // A caller that has gone does not want to know.
            let _ = answer.send(work(state));
        });
        let jobs = self.jobs.as_ref().ok_or(StoreError::Closed)?;
        jobs.send(Job { work, _room: room }).map_err(|_| StoreError::Closed)?;
        answered.await.map_err(|_| StoreError::Closed)
    }
}

impl<S: Attendant> Drop for Lane<S> {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            // A job may hold the last handle; a thread cannot wait for itself.
            if thread.thread().id() != thread::current().id() && thread.join().is_err() {
                tracing::error!("a thread of the session store panicked");
            }
        }
    }
}

fn serve<S: Attendant>(mut state: S, queue: &Receiver<Job<S>>) {
    loop {
        let next = match state.due() {
            None => queue.recv().map_err(|_| RecvTimeoutError::Disconnected),
            Some(due) => queue.recv_timeout(due.saturating_duration_since(Instant::now())),
        };
        match next {
            Ok(job) => (job.work)(&mut state),
            Err(RecvTimeoutError::Timeout) => {}
            Err(RecvTimeoutError::Disconnected) => break,
        }
        if state.due().is_some_and(|due| due <= Instant::now()) {
            state.wake();
        }
    }
    state.finish();
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Notes {
        lines: Sender<String>,
        due: Option<Instant>,
    }

    impl Notes {
        fn start() -> (Lane<Notes>, Receiver<String>) {
            let (lines, written) = channel();
            (Lane::start("notes", Notes { lines, due: None }).unwrap(), written)
        }

        fn note(&self, line: &str) {
            self.lines.send(line.to_owned()).unwrap();
        }
    }

    impl Attendant for Notes {
        fn due(&self) -> Option<Instant> {
            self.due
        }
        fn wake(&mut self) {
            self.due = None;
            self.note("woken");
        }
        fn finish(self) {
            self.note("finished");
        }
    }

    /// Polls a call once, which hands the job over, and forgets the answer.
    async fn hand_over(call: impl Future<Output = Result<()>>) {
        tokio::select! { biased; _ = call => {}, () = std::future::ready(()) => {} }
    }

    #[tokio::test]
    async fn jobs_are_done_in_order_before_the_drop_returns_also_when_nobody_waits() {
        let (lane, written) = Notes::start();
        let expected: Vec<String> = (0..ROOM).map(|number| number.to_string()).collect();
        for line in expected.clone() {
            hand_over(lane.call(move |notes| notes.note(&line))).await;
        }
        drop(lane);
        let lines: Vec<String> = written.iter().collect();
        assert_eq!(lines, [expected, vec!["finished".to_owned()]].concat());
    }

    #[tokio::test]
    async fn the_owner_is_woken_when_it_is_due() {
        let (lane, written) = Notes::start();
        lane.call(|notes| notes.due = Some(Instant::now())).await.unwrap();
        assert_eq!(written.recv().unwrap(), "woken");
    }

    #[tokio::test]
    async fn a_job_may_drop_the_last_handle() {
        let (lane, written) = Notes::start();
        let lane = Arc::new(lane);
        let (go, gone) = channel::<()>();
        let inside = Arc::clone(&lane);
        hand_over(lane.call(move |_| {
            let _ = gone.recv();
            drop(inside);
        }))
        .await;
        drop(lane);
        go.send(()).unwrap();
        assert_eq!(written.iter().collect::<Vec<_>>(), ["finished"]);
    }
}
