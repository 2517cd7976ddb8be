//! The outer part of the helper: it stays outside, makes the namespaces, and clears up behind them.

use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::process::{Command, ExitCode};

use rustix::fs::{MemfdFlags, memfd_create};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::process::{
    DumpableBehavior, Pid, Signal, getpid, kill_process, set_child_subreaper, set_dumpable_behavior,
    set_parent_process_death_signal,
};

use super::attend::{self, Post, Reach};
use super::ghosts::Ghosts;
use super::launch::numbers;
use super::order::{Order, Walls};
use super::record::{Failure, Others, Record, Stage};
use super::{ARGUMENT, order};
use crate::jail::{Network, Way, bubblewrap};
use crate::linux::calls::{self, Fork};
use crate::linux::mounts::{self, Proc};
use crate::linux::{capabilities, namespaces};

/// Process numbers below this are not given out a second time.
const RESERVED: u32 = 300;

/// What a helper was started with.
struct Pipes {
    order: File,
    status: File,
    control: OwnedFd,
}

/// The life of a helper.
pub(super) fn main(mut arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let role = arguments.next();
    let Some(pipes) = arguments.next().and_then(|numbers| Pipes::inherited(&numbers)) else {
        return ExitCode::from(2);
    };
    let order = attend::read_whole(&pipes.order).ok().and_then(|bytes| order::Order::decode(&bytes));
    let Some(order) = order else { return ExitCode::from(2) };
    let is_inner = role.as_deref() == Some(OsStr::new("inner"));
    match order.walls.as_ref().map(|walls| walls.way) {
        None | Some(Way::LandlockAlone | Way::Seatbelt) => attend_only(&order, pipes),
        Some(Way::BuiltIn) => built_in(&order, pipes),
        Some(Way::Bubblewrap) if is_inner => inside_bubblewrap(&order, pipes),
        Some(Way::Bubblewrap) => around_bubblewrap(&order, pipes),
    }
}

impl Pipes {
    fn inherited(numbers: &OsStr) -> Option<Self> {
        let mut numbers =
            numbers.to_str()?.split(':').map(|number| calls::inherited(number.parse().ok()?).ok());
        let mut next = || numbers.next().flatten();
        Some(Self { order: next()?.into(), status: next()?.into(), control: next()? })
    }

    fn fail(&self, failure: Failure) -> ExitCode {
        let _ = Record::Failed(failure).write(&self.status);
        ExitCode::FAILURE
    }
}

fn attend_only(order: &Order, pipes: Pipes) -> ExitCode {
    if let Err(error) = set_child_subreaper(Some(getpid())) {
        return pipes.fail(Failure::wall("become the parent of orphans", &error.into()));
    }
    let Pipes { status, control, .. } = pipes;
    attend::lead(order, Post { status, control, reach: Reach::Descendants, proc: Proc::Outer, most: None })
}

fn built_in(order: &Order, pipes: Pipes) -> ExitCode {
    let Some(walls) = &order.walls else { return ExitCode::from(2) };
    let ghosts = match Ghosts::make(&walls.plan.ghosts) {
        Ok(ghosts) => ghosts,
        Err(failure) => return pipes.fail(failure),
    };
    let forked = pipe_with(PipeFlags::CLOEXEC)
        .map_err(|error| Failure::wall("make a pipe", &error.into()))
        .and_then(|gate| {
            let forked = namespaces::enter(walls.network);
            Ok((gate, forked.map_err(|error| Failure::wall("make namespaces", &error))?))
        });
    let ((gate, opener), forked) = match forked {
        Ok(forked) => forked,
        Err(failure) => {
            ghosts.clear();
            return pipes.fail(failure);
        }
    };
    let first = match forked {
        Fork::Child => {
            drop(opener);
            return if attend::may_go_on(File::from(gate)) {
                first_process(order, walls, pipes)
            } else {
                ExitCode::FAILURE
            };
        }
        Fork::Parent(first) => first,
    };
    let mapped = namespaces::map_users(first).and_then(|()| attend::let_go_on(File::from(opener)));
    if let Err(error) = mapped {
        let _ = kill_process(first, Signal::KILL);
        let _ = pipes.fail(Failure::wall("say who is who in the user namespace", &error));
    }
    let Pipes { status, control, .. } = pipes;
    drop(status);
    guard(first, &control);
    ghosts.clear();
    ExitCode::SUCCESS
}

/// The first process of new namespaces.
fn first_process(order: &Order, walls: &Walls, pipes: Pipes) -> ExitCode {
    // If the outer part is gone already, the control pipe says so.
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    if walls.network == Network::Off
        && let Err(error) = calls::loopback_up()
    {
        return pipes.fail(Failure::wall("start the loopback", &error));
    }
    match mounts::build(&walls.plan) {
        Ok(proc) => inside(order, walls, pipes, proc),
        Err(failure) => pipes.fail(failure),
    }
}

/// The file system stands; what is left is to count, to give up power, and to start.
fn inside(order: &Order, walls: &Walls, pipes: Pipes, proc: Proc) -> ExitCode {
    let most = walls.processes.saturating_add(RESERVED);
    let is_counted = proc == Proc::Fresh && fs::write("/proc/sys/kernel/pid_max", most.to_string()).is_ok();
    let closed = match proc {
        // For a user bubblewrap puts one user namespace more between, from which no mount can be changed. What
        // a user could write in `/proc` needs capabilities that are given up below, and Landlock refuses it.
        Proc::Fresh if walls.way == Way::Bubblewrap && !rustix::process::geteuid().is_root() => {
            mounts::close_proc().or(Ok(()))
        }
        Proc::Fresh => mounts::close_proc(),
        Proc::Outer => Ok(()),
    };
    if let Err(error) = closed.and_then(|()| capabilities::reduce()) {
        return pipes.fail(Failure::wall("give up its power", &error));
    }
    let _ = rustix::thread::set_no_new_privs(true);
    let most = (!is_counted && proc == Proc::Fresh).then_some(walls.processes);
    let Pipes { status, control, .. } = pipes;
    attend::lead(order, Post { status, control, reach: Reach::Namespace, proc, most })
}

/// Waits for the end of the namespaces, and brings it about when rein is gone.
fn guard(first: Pid, control: &OwnedFd) {
    attend::silence();
    let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    let Ok(signals) = calls::child_signals() else {
        let _ = kill_process(first, Signal::KILL);
        return;
    };
    while attend::reap(|_, _| {}) == Others::Living {
        if attend::wait_for_news(&signals, control, None) {
            let _ = kill_process(first, Signal::KILL);
            while attend::reap(|_, _| {}) == Others::Living {
                std::thread::sleep(std::time::Duration::from_micros(200));
            }
        }
    }
}

fn around_bubblewrap(order: &Order, pipes: Pipes) -> ExitCode {
    let Some(walls) = &order.walls else { return ExitCode::from(2) };
    let ghosts = match Ghosts::make(&walls.plan.ghosts) {
        Ok(ghosts) => ghosts,
        Err(failure) => return pipes.fail(failure),
    };
    let code = match start_bubblewrap(walls, &pipes) {
        Ok((pid, complaints)) => {
            guard(pid, &pipes.control);
            // Only heard if the program was never started.
            let complaints = attend::read_whole(&complaints).unwrap_or_default();
            let what = format!("be held by bubblewrap ({})", String::from_utf8_lossy(&complaints).trim());
            pipes.fail(Failure { stage: Stage::Walls, errno: 0, what })
        }
        Err(error) => pipes.fail(Failure::wall("start bubblewrap", &error)),
    };
    ghosts.clear();
    code
}

/// The program's streams go through as other numbers: bubblewrap keeps its own open until the end.
fn start_bubblewrap(walls: &Walls, pipes: &Pipes) -> std::io::Result<(Pid, File)> {
    let complaints = File::from(memfd_create("rein-complaints", MemfdFlags::CLOEXEC)?);
    let streams = [rustix::stdio::stdin(), rustix::stdio::stdout(), rustix::stdio::stderr()]
        .map(|stream| rustix::io::fcntl_dupfd_cloexec(stream, 10));
    let [Ok(input), Ok(output), Ok(errors)] = streams else { return Err(std::io::ErrorKind::Other.into()) };
    let streams = [input, output, errors];
    let passed = [pipes.order.as_raw_fd(), pipes.status.as_raw_fd(), pipes.control.as_raw_fd()];
    let all: Vec<i32> = streams.iter().map(AsRawFd::as_raw_fd).chain(passed).collect();
    let [first, ..] = walls.bubblewrap.as_slice() else { return Err(std::io::ErrorKind::NotFound.into()) };
    let streams_argument = all.iter().take(3).map(i32::to_string).collect::<Vec<_>>().join(":");
    let mut command = Command::new(first);
    command
        .args(walls.bubblewrap.iter().skip(1))
        .args([
            "--ro-bind".as_ref(),
            fs::read_link("/proc/self/exe")?.as_os_str(),
            bubblewrap::HELPER.as_ref(),
        ])
        .args(["--", bubblewrap::HELPER, ARGUMENT, "inner", &numbers(passed), &streams_argument])
        .env_clear()
        .stdin(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .stderr(complaints.try_clone()?);
    #[allow(unsafe_code)]
    // SAFETY: the closure makes system calls and walks a vector; this process has one thread.
    unsafe {
        command.pre_exec(move || {
            for number in &all {
                if libc::fcntl(*number, libc::F_SETFD, 0) == -1 {
                    return Err(std::io::Error::last_os_error());
                }
            }
            Ok(())
        });
    }
    let child = command.spawn()?;
    let pid = i32::try_from(child.id()).ok().and_then(Pid::from_raw);
    pid.map(|pid| (pid, complaints)).ok_or_else(|| std::io::ErrorKind::Other.into())
}

/// The first process of namespaces that bubblewrap made.
fn inside_bubblewrap(order: &Order, pipes: Pipes) -> ExitCode {
    let Some(walls) = &order.walls else { return ExitCode::from(2) };
    let streams = std::env::args().nth(4).unwrap_or_default();
    let streams: Vec<OwnedFd> =
        streams.split(':').filter_map(|number| calls::inherited(number.parse().ok()?).ok()).collect();
    let [input, output, errors] = streams.as_slice() else { return ExitCode::from(2) };
    let _ = rustix::stdio::dup2_stdin(input);
    let _ = rustix::stdio::dup2_stdout(output);
    let _ = rustix::stdio::dup2_stderr(errors);
    drop(streams);
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    inside(order, walls, pipes, Proc::Fresh)
}
