//! The task of a command: reads what it prints, as long as there is something
//! to read, and ends it when it is asked to or its time is over.

use std::future::pending;
use std::sync::{Arc, Weak};

use rein_protocol::JobState;
use rein_sandbox::{Event, Grace, Process, Status};
use tokio::sync::mpsc;
use tokio::time::sleep_until;

use super::Jobs;
use super::record::Job;
use super::room::{self, Room};

/// Why a command is not followed any more.
enum Reason {
    Gone,
    Asked,
    TimeIsOver,
    Overfull,
}

pub(super) async fn follow(
    mut process: Process,
    job: Arc<Job>,
    listener: mpsc::Sender<Vec<u8>>,
    grace: Grace,
    jobs: Weak<Jobs>,
    room: Option<Room>,
) {
    let mut listener = Some(listener);
    let reason = tokio::select! {
        biased;
        reason = until_over(&mut process, &job, &mut listener, &jobs) => reason,
        () = room::overfull(room.as_ref()) => Reason::Overfull,
    };
    let state = match reason {
        Reason::Gone => ended(&process),
        Reason::Asked | Reason::TimeIsOver | Reason::Overfull => {
            let mut take = |bytes: &[u8]| {
                job.write(bytes);
                // A call that does not keep up misses last words; the log has them.
                if let Some(listener) = &listener {
                    let _ = listener.try_send(bytes.to_vec());
                }
            };
            process.end(grace, &mut take).await;
            if let (Reason::Overfull, Some(room)) = (&reason, &room) {
                take(room::notice(room).as_bytes());
            }
            if matches!(reason, Reason::TimeIsOver) { JobState::TimedOut } else { JobState::Killed }
        }
    };
    // Before the state is told, so that nothing of it is left by then.
    drop(process);
    job.end_with(state);
    if let Some(jobs) = jobs.upgrade() {
        jobs.changed(&job);
    }
    drop(listener);
}

async fn until_over(
    process: &mut Process,
    job: &Arc<Job>,
    listener: &mut Option<mpsc::Sender<Vec<u8>>>,
    jobs: &Weak<Jobs>,
) -> Reason {
    loop {
        let piece = tokio::select! {
            biased;
            () = job.asked_to_end() => return Reason::Asked,
            () = time_is_over(job) => return Reason::TimeIsOver,
            event = process.next() => match event {
                Event::Output(bytes) => {
                    job.write(bytes);
                    listener.is_some().then(|| bytes.to_vec())
                }
                Event::Exited => {
                    if !process.has_leftovers().await {
                        return Reason::Gone;
                    }
                    job.go_on_as_daemon(ended(process));
                    // The call is over with the command itself; what is left will be a job.
                    *listener = None;
                    if let Some(jobs) = jobs.upgrade() {
                        jobs.changed(job);
                    }
                    None
                }
                Event::Gone => return Reason::Gone,
            },
        };
        if let (Some(piece), Some(sender)) = (piece, listener.as_ref()) {
            let sent = tokio::select! {
                biased;
                () = job.asked_to_end() => return Reason::Asked,
                () = time_is_over(job) => return Reason::TimeIsOver,
                sent = sender.send(piece) => sent,
            };
            if sent.is_err() {
                *listener = None;
            }
        }
    }
}

async fn time_is_over(job: &Job) {
    match job.deadline() {
        None => pending().await,
        Some(deadline) => {
            sleep_until(deadline).await;
            // A limit that counts only for calls is gone once the call is.
            if job.deadline().is_none() {
                pending().await
            }
        }
    }
}

fn ended(process: &Process) -> JobState {
    match process.status() {
        Ok(Some(Status::Code(code))) => JobState::Exited { code },
        Ok(Some(Status::Signal(signal))) => JobState::Signalled { signal },
        Ok(None) | Err(_) => JobState::Killed,
    }
}
