//! Starting a process and taking its status.
//!
//! Every child has a thread of its own that starts it and waits for it. That
//! thread is the child's parent in the eyes of `PR_SET_PDEATHSIG`, which is sent
//! when the *thread* that forked ends: a worker or a blocking thread of the
//! runtime may end at any time and would take the child with it. This thread
//! ends after the child, so the signal comes when rein dies, and only then.
//!
//! The status is first looked at and only taken when the group has been dealt
//! with: as long as the child is a zombie, its number, which is also that of
//! the group and the session, cannot be given to anybody else.

use std::ffi::OsString;
use std::io;
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt;
use std::process::Child;
use std::sync::mpsc;

use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, getpid, getppid, setsid, waitid};
use tokio::sync::oneshot;

use crate::environment::clean_environment;
use crate::error::SandboxError;
use crate::family::{Family, MARK, mark, new_word};
use crate::hidden;
use crate::input;
use crate::registry;
use crate::run::Status;
use crate::spawn::Spawn;

/// Holds a child's start-up, a wait and nothing else.
const STACK: usize = 256 * 1024;

/// A child that runs or has not been released yet. Dropping it kills the family.
pub(crate) struct Running {
    family: Family,
    status: Option<Result<Status, ()>>,
    exited: oneshot::Receiver<Result<Status, ()>>,
    settled: bool,
    /// Dropping it lets the thread take the status.
    _release: mpsc::Sender<()>,
}

/// What comes back from the thread when the program runs.
type Started = oneshot::Sender<Result<Running, SandboxError>>;

impl Running {
    /// Starts a process whose standard output and error, and input if it is a terminal, are `output`.
    pub(crate) async fn start(spawn: &Spawn, output: OwnedFd) -> Result<Self, SandboxError> {
        let (started_sender, started) = oneshot::channel();
        let request = spawn.clone();
        let thread = std::thread::Builder::new().name("rein-child".to_owned()).stack_size(STACK);
        let begun = thread.spawn(move || accompany(request, output, started_sender));
        if let Err(source) = begun {
            return Err(SandboxError::Resources { program: spawn.program.clone(), what: "thread", source });
        }
        match started.await {
            Ok(Ok(running)) => Ok(running),
            Ok(Err(error)) => Err(error),
            Err(_) => Err(SandboxError::StatusLost { program: spawn.program.clone() }),
        }
    }

    /// Waits for the direct child to end. Can be called again, and can be dropped.
    pub(crate) async fn exited(&mut self) {
        if self.status.is_none() {
            self.status = Some((&mut self.exited).await.unwrap_or(Err(())));
        }
    }

    /// The status, once [`Self::exited`] is over.
    pub(crate) fn status(&self) -> Option<Result<Status, ()>> {
        self.status
    }

    /// Says that the family has been dealt with.
    pub(crate) fn settle(&mut self) {
        self.settled = true;
    }

    pub(crate) fn family(&self) -> &Family {
        &self.family
    }
}

impl Drop for Running {
    /// The family is killed if the future was dropped in the middle.
    fn drop(&mut self) {
        if !self.settled {
            let members = self.family.living();
            self.family.signal(Signal::KILL, &members);
        }
        registry::leave(&self.family);
    }
}

/// The life of the child's thread.
fn accompany(spawn: Spawn, output: OwnedFd, started: Started) {
    #[cfg(target_os = "linux")]
    if spawn.jail.is_some() || crate::helper::program().is_some() {
        return crate::attended::accompany(spawn, output, started);
    }
    let program = spawn.program.clone();
    if let Some(jail) = &spawn.jail
        && let Err(error) = crate::jail::choose(jail.preference)
    {
        let _ = started.send(Err(error));
        return;
    }
    let word = new_word();
    let mut child = match start(spawn, output, mark(&word)) {
        Ok(child) => child,
        Err(source) => {
            let _ = started.send(Err(SandboxError::Program { program, source }));
            return;
        }
    };
    let Some(id) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) else { return };
    let (exited_sender, released) = announce(Family::of(id, word), started);
    let _ = exited_sender.send(look_at_status(id));
    let _ = released.recv();
    let _ = child.wait();
}

/// Hands the running child over. What comes back says how it ended, and hears when it may be forgotten.
pub(crate) fn announce(
    family: Family,
    started: Started,
) -> (oneshot::Sender<Result<Status, ()>>, mpsc::Receiver<()>) {
    let (exited_sender, exited) = oneshot::channel();
    let (release, released) = mpsc::channel();
    let running = Running { family, status: None, exited, settled: false, _release: release };
    registry::enter(&running.family);
    // If nobody waits any more, the value comes back and is dropped, which kills the child.
    drop(started.send(Ok(running)));
    (exited_sender, released)
}

/// What a process is told of rein's own environment.
pub(crate) fn told(spawn: &Spawn) -> Vec<(OsString, OsString)> {
    let inherited = hidden::visible(std::env::vars_os());
    let inherited = inherited.into_iter().filter(|(name, _)| !spawn.without.contains(name));
    clean_environment(inherited, &spawn.keep)
}

fn start(spawn: Spawn, output: OwnedFd, mark: OsString) -> io::Result<Child> {
    let input = input::of(&spawn, &output)?;
    let errors = match &spawn.errors {
        Some(errors) => errors.try_clone()?,
        None => output.try_clone()?,
    };
    let mut command = crate::macos::command(&spawn);
    command
        .current_dir(&spawn.cwd)
        .env_clear()
        .envs(told(&spawn))
        .envs(spawn.terminal.map(|_| ("TERM", "xterm-256color")))
        .envs(crate::macos::temporary(&spawn))
        .envs(spawn.env)
        .env(MARK, mark)
        .stdin(input)
        .stdout(output)
        .stderr(errors);
    let (parent, has_terminal) = (getpid(), spawn.terminal.is_some());
    #[allow(unsafe_code)]
    // SAFETY: the closure runs between fork and exec of a process with several threads. It makes
    // system calls only: it neither allocates nor takes a lock.
    unsafe {
        command.pre_exec(move || prepare(parent, has_terminal));
    }
    // The command holds the writing end of the pipe: it must be gone for the reader to see an end.
    command.spawn()
}

/// What the child does before it becomes the program.
fn prepare(parent: Pid, has_terminal: bool) -> io::Result<()> {
    setsid()?;
    if has_terminal {
        rustix::process::ioctl_tiocsctty(rustix::stdio::stdin())?;
    }
    #[cfg(target_os = "linux")]
    {
        rustix::process::set_parent_process_death_signal(Some(Signal::KILL))?;
        // If rein died before the line above, the signal will never come.
        if getppid() != Some(parent) {
            return Err(io::Error::from(rustix::io::Errno::SRCH));
        }
        close_inherited_files();
    }
    #[cfg(not(target_os = "linux"))]
    let _ = (parent, getppid());
    reset_signals();
    Ok(())
}

/// What rein itself opens is closed on exec, but what rein was started with may not be.
#[cfg(target_os = "linux")]
pub(crate) fn close_inherited_files() {
    #[allow(unsafe_code)]
    // SAFETY: the call takes three numbers and marks descriptors; on a kernel without it, it fails
    // and changes nothing.
    unsafe {
        libc::syscall(libc::SYS_close_range, 3_u32, u32::MAX, libc::CLOSE_RANGE_CLOEXEC);
    }
}

/// Signals that rein ignores, or was started with as ignored, would stay ignored in the program.
/// The mask has been emptied by the standard library.
#[cfg(target_os = "linux")]
pub(crate) fn reset_signals() {
    // The kernel's `sigaction` with everything zero is the default disposition, on every
    // architecture. The C library's own call refuses the signals that it keeps for its threads.
    let default = [0_u64; 8];
    let set_size = 8_usize;
    for signal in 1..=64_i32 {
        #[allow(unsafe_code)]
        // SAFETY: the array outlives the call and is at least as large as the structure that is
        // read; no old value is asked for. Where it fails (SIGKILL, SIGSTOP) it has no effect.
        unsafe {
            libc::syscall(
                libc::SYS_rt_sigaction,
                signal,
                default.as_ptr(),
                std::ptr::null_mut::<libc::c_void>(),
                set_size,
            );
        }
    }
}

/// See the other one.
#[cfg(not(target_os = "linux"))]
fn reset_signals() {
    for signal in 1..32 {
        #[allow(unsafe_code)]
        // SAFETY: setting the default disposition is async-signal-safe and cannot call into Rust;
        // it fails without effect for numbers that have none.
        unsafe {
            libc::signal(signal, libc::SIG_DFL);
        }
    }
}

/// Waits for the end without taking the status.
fn look_at_status(id: Pid) -> Result<Status, ()> {
    loop {
        match waitid(WaitId::Pid(id), WaitIdOptions::EXITED | WaitIdOptions::NOWAIT) {
            Ok(Some(status)) => {
                return match (status.exit_status(), status.terminating_signal()) {
                    (Some(code), _) => Ok(Status::Code(code)),
                    (None, Some(signal)) => Ok(Status::Signal(signal)),
                    (None, None) => Err(()),
                };
            }
            Ok(None) | Err(rustix::io::Errno::INTR) => {}
            Err(_) => return Err(()),
        }
    }
}
