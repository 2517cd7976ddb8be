//! The process that stays beside the program: it reaps, and ends all when rein is gone.
//!
//! In a pid namespace it is the first process, to which every orphan comes, and
//! whose end is everybody's end. Without one it is the subreaper of all that it
//! started, and ends them one by one until none is left.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::fd::{AsFd, OwnedFd};
use std::process::ExitCode;
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    DumpableBehavior, Pid, Signal, WaitOptions, getpid, kill_process, set_dumpable_behavior, wait,
};

use super::leader;
use super::order::Order;
use super::record::{Failure, Others, Record};
use crate::family::descendants;
use crate::linux::calls::{self, Fork};
use crate::linux::mounts::Proc;
use crate::run::Status;

/// How often processes are counted where the kernel does not do it.
const COUNTING: Duration = Duration::from_millis(50);

/// How long ending one by one may take.
const ENDING: Duration = Duration::from_secs(10);

/// What is attended.
pub(super) struct Post {
    pub(super) status: File,
    pub(super) control: OwnedFd,
    pub(super) reach: Reach,
    pub(super) proc: Proc,
    /// To be counted, if the kernel does not.
    pub(super) most: Option<u32>,
}

/// How everybody is ended.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Reach {
    /// By ending itself.
    Namespace,
    /// By looking for them.
    Descendants,
}

/// Starts the program and attends it until nothing is left of it.
pub(super) fn lead(order: &Order, post: Post) -> ExitCode {
    match start(order, &post) {
        Ok((leader, signals)) => {
            let _ = Record::Started.write(&post.status);
            stay(leader, &signals, &post)
        }
        Err(failure) => {
            let _ = Record::Failed(failure).write(&post.status);
            ExitCode::FAILURE
        }
    }
}

fn start(order: &Order, post: &Post) -> Result<(Pid, OwnedFd), Failure> {
    let signals = calls::child_signals().map_err(|error| Failure::wall("watch its children", &error))?;
    let (mut report, reporter) = pipe_with(PipeFlags::CLOEXEC)
        .map(|(read, write)| (File::from(read), File::from(write)))
        .map_err(|error| Failure::wall("make a pipe", &error.into()))?;
    let leader = match calls::clone(0).map_err(|error| Failure::wall("fork", &error))? {
        Fork::Child => {
            drop(report);
            let failure = leader::become_program(order, post.proc);
            let _ = Record::Failed(failure).write(&reporter);
            std::process::exit(127);
        }
        Fork::Parent(leader) => leader,
    };
    drop(reporter);
    step_back(post.reach);
    // Ends when the program is executed.
    match Record::read(&mut report) {
        Some(Record::Failed(failure)) => Err(failure),
        Some(_) | None => Ok((leader, signals)),
    }
}

/// The attendant needs nothing any more, and nobody needs to look into it.
fn step_back(reach: Reach) {
    if reach == Reach::Namespace {
        let _ = crate::linux::capabilities::renounce();
    }
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    silence();
    let _ = std::env::set_current_dir("/");
}

/// Lets go of the program's streams: whoever reads them waits for the last one that holds them.
pub(super) fn silence() {
    if let Ok(null) = fs::OpenOptions::new().read(true).write(true).open("/dev/null") {
        let _ = rustix::stdio::dup2_stdin(&null);
        let _ = rustix::stdio::dup2_stdout(&null);
        let _ = rustix::stdio::dup2_stderr(&null);
    }
}

fn stay(leader: Pid, signals: &OwnedFd, post: &Post) -> ExitCode {
    let mut ended: Option<Status> = None;
    loop {
        let mut is_news = false;
        let others = reap(|pid, status| {
            if pid == leader {
                ended = Some(status);
                is_news = true;
            }
        });
        if let (true, Some(status)) = (is_news, ended) {
            let _ = Record::Exited(status, others).write(&post.status);
        }
        if others == Others::Gone {
            return ExitCode::SUCCESS;
        }
        let is_alone = wait_for_news(signals, &post.control, post.most.map(|_| COUNTING));
        let is_too_many = post.most.is_some_and(|most| count() > most);
        if is_alone || is_too_many {
            if post.reach == Reach::Descendants {
                end_descendants();
            }
            return ExitCode::FAILURE;
        }
    }
}

/// Takes every status that is there. Says whether children are left.
pub(super) fn reap(mut each: impl FnMut(Pid, Status)) -> Others {
    loop {
        match wait(WaitOptions::NOHANG) {
            Ok(Some((pid, status))) => {
                if let Some(code) = status.exit_status() {
                    each(pid, Status::Code(code));
                } else if let Some(signal) = status.terminating_signal() {
                    each(pid, Status::Signal(signal));
                }
            }
            Ok(None) => return Others::Living,
            Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Others::Gone,
        }
    }
}

/// Waits for the end of a child, or of rein: then it is true.
pub(super) fn wait_for_news(signals: &OwnedFd, control: &OwnedFd, at_most: Option<Duration>) -> bool {
    let mut watched = [
        PollFd::from_borrowed_fd(signals.as_fd(), PollFlags::IN),
        PollFd::from_borrowed_fd(control.as_fd(), PollFlags::IN),
    ];
    let timeout = at_most.and_then(|time| Timespec::try_from(time).ok());
    let _ = poll(&mut watched, timeout.as_ref());
    let is_over = watched.get(1).is_some_and(|control| !control.revents().is_empty());
    let mut buffer = [0_u8; 1024];
    while rustix::io::read(signals, &mut buffer).is_ok_and(|count| count > 0) {}
    is_over
}

/// How many processes and threads there are here.
fn count() -> u32 {
    let Ok(entries) = fs::read_dir("/proc") else { return 0 };
    let is_number = |name: &std::ffi::OsStr| name.as_encoded_bytes().first().is_some_and(u8::is_ascii_digit);
    entries
        .filter_map(Result::ok)
        .filter(|entry| is_number(&entry.file_name()))
        .map(|entry| fs::metadata(entry.path().join("task")).map_or(1, |tasks| links(&tasks)))
        .sum()
}

/// A directory of threads has a link for each.
fn links(tasks: &fs::Metadata) -> u32 {
    use std::os::unix::fs::MetadataExt;
    u32::try_from(tasks.nlink().saturating_sub(2)).unwrap_or(u32::MAX).max(1)
}

/// Ends all that was started, however far it went.
pub(super) fn end_descendants() {
    let begun = Instant::now();
    while begun.elapsed() < ENDING {
        for pid in descendants(getpid()) {
            let _ = kill_process(pid, Signal::KILL);
        }
        if reap(|_, _| {}) == Others::Gone {
            return;
        }
        std::thread::sleep(Duration::from_millis(1));
    }
}

/// Reads all that a descriptor's file holds, from its beginning.
pub(super) fn read_whole(file: &File) -> io::Result<Vec<u8>> {
    use std::os::unix::fs::FileExt;
    let length = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
    let mut bytes = vec![0; length];
    file.read_exact_at(&mut bytes, 0)?;
    Ok(bytes)
}

/// Waits until the other process says that it may go on; false if it never will.
pub(super) fn may_go_on(mut gate: impl Read) -> bool {
    gate.read_exact(&mut [0]).is_ok()
}

/// Lets the other process go on.
pub(super) fn let_go_on(mut gate: impl Write) -> io::Result<()> {
    gate.write_all(&[1])
}
