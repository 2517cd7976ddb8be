//! A process under way: its output as it comes, signals, its end.
//!
//! Three threads serve it: one for each output, one that waits for its end.
//! The process leads a group of its own. Invariants: a signal is never sent to
//! a process that has been reaped; no wait is longer than the watchdog's
//! patience; a process that is still there when this is dropped is killed with
//! its group.

use std::io::{Read, Write};
use std::os::unix::process::CommandExt;
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use rustix::process::{Pid, WaitId, WaitIdOptions, kill_process, kill_process_group, waitid};

use super::{Output, Rein, Signal, Stdin};

/// How long an output may stay open after the process has ended before its group is killed.
const GRACE: Duration = Duration::from_secs(5);

/// A process under way.
pub struct Running {
    shared: Arc<Shared>,
    group: Pid,
    stdin: Option<ChildStdin>,
    started: Instant,
    watchdog: Duration,
    read: [usize; 2],
}

struct Shared {
    state: Mutex<State>,
    changed: Condvar,
}

struct State {
    child: Child,
    status: Option<ExitStatus>,
    outputs: [Captured; 2],
}

#[derive(Default)]
struct Captured {
    bytes: Vec<u8>,
    ended: bool,
}

#[derive(Clone, Copy)]
enum Channel {
    Stdout = 0,
    Stderr = 1,
}

impl Running {
    #[track_caller]
    pub(super) fn start(rein: &Rein) -> Self {
        let mut command = Command::new(&rein.binary);
        command.args(&rein.arguments).current_dir(&rein.directory);
        command.env_clear().envs(&rein.environment).process_group(0);
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        command.stdin(match rein.stdin {
            Stdin::Empty => Stdio::null(),
            Stdin::Bytes(_) | Stdin::Open => Stdio::piped(),
        });
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => panic!("{} cannot be started: {error}", rein.binary.display()),
        };
        let group = Pid::from_child(&child);
        let (stdin, stdout, stderr) = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let state = State { child, status: None, outputs: Default::default() };
        let shared = Arc::new(Shared { state: Mutex::new(state), changed: Condvar::new() });
        capture(&shared, Channel::Stdout, stdout.expect("stdout is piped"));
        capture(&shared, Channel::Stderr, stderr.expect("stderr is piped"));
        reap(&shared, group);
        let stdin = match (&rein.stdin, stdin) {
            (Stdin::Bytes(bytes), Some(pipe)) => feed(pipe, bytes.clone()),
            (_, stdin) => stdin,
        };
        Self { shared, group, stdin, started: Instant::now(), watchdog: rein.watchdog, read: [0, 0] }
    }

    /// Its process id, which is also that of its group.
    #[must_use]
    pub fn pid(&self) -> i32 {
        self.group.as_raw_nonzero().get()
    }

    /// Sends a signal to the process alone. Does nothing if it has ended.
    pub fn kill(&self, signal: Signal) {
        let state = self.shared.lock();
        if state.status.is_none() {
            // It is not reaped while the lock is held; at worst it is a zombie.
            let _ = kill_process(self.group, signal.native());
        }
    }

    /// Sends a signal to the process and its group, as a terminal does. Does nothing if the process has ended.
    pub fn kill_group(&self, signal: Signal) {
        let state = self.shared.lock();
        if state.status.is_none() {
            let _ = kill_process_group(self.group, signal.native());
        }
    }

    /// Writes to its stdin, which [`Rein::stdin_open`] keeps open. A process that no longer reads is no error.
    pub fn write_stdin(&mut self, bytes: impl AsRef<[u8]>) {
        let stdin = self.stdin.as_mut().expect("stdin is open: say Rein::stdin_open before");
        let _ = stdin.write_all(bytes.as_ref()).and_then(|()| stdin.flush());
    }

    /// Closes its stdin.
    pub fn close_stdin(&mut self) {
        self.stdin = None;
    }

    /// From now on, how long after its start it may run; see [`Rein::watchdog`].
    pub fn set_watchdog(&mut self, patience: Duration) {
        self.watchdog = patience;
    }

    /// Whether it has ended.
    #[must_use]
    pub fn has_ended(&self) -> bool {
        self.shared.lock().status.is_some()
    }

    /// Waits until stdout has `pattern` after what was read before; returns everything up to its end.
    #[track_caller]
    pub fn read_stdout_until(&mut self, pattern: &str) -> String {
        self.read_until(Channel::Stdout, pattern)
    }

    /// The same for stderr.
    #[track_caller]
    pub fn read_stderr_until(&mut self, pattern: &str) -> String {
        self.read_until(Channel::Stderr, pattern)
    }

    /// Waits for its end and that of its outputs.
    #[track_caller]
    pub fn wait(mut self) -> Output {
        self.stdin = None;
        let status = self.until("end", |state| state.status);
        let ended = |state: &State| state.outputs.iter().all(|output| output.ended).then_some(());
        if self.shared.wait(GRACE, ended).is_none() {
            // Something that it started holds its outputs open.
            let _ = kill_process_group(self.group, rustix::process::Signal::KILL);
            self.until("close its outputs, which something it started holds open", ended);
        }
        let mut state = self.shared.lock();
        let [stdout, stderr] = std::mem::take(&mut state.outputs);
        Output::new(status, stdout.bytes, &stderr.bytes)
    }

    #[track_caller]
    fn read_until(&mut self, channel: Channel, pattern: &str) -> String {
        let start = self.read[channel as usize];
        let found = self.until(&format!("print `{pattern}`"), |state| {
            let output = &state.outputs[channel as usize];
            let unread = &output.bytes[start..];
            match unread.windows(pattern.len().max(1)).position(|window| window == pattern.as_bytes()) {
                Some(place) => Some(Ok(unread[..place + pattern.len()].to_vec())),
                None => output.ended.then_some(Err(())),
            }
        });
        match found {
            Ok(bytes) => {
                self.read[channel as usize] = start + bytes.len();
                String::from_utf8_lossy(&bytes).into_owned()
            }
            Err(()) => panic!("it ended without printing `{pattern}`{}", self.printed()),
        }
    }

    /// Waits until `ready` finds what it looks for; kills the group and panics when the watchdog loses patience.
    #[track_caller]
    fn until<T>(&self, what: &str, ready: impl Fn(&State) -> Option<T>) -> T {
        let patience = self.watchdog.saturating_sub(self.started.elapsed());
        match self.shared.wait(patience, ready) {
            Some(value) => value,
            None => {
                self.kill_group(Signal::Kill);
                panic!("it did not {what} within {:?} of its start{}", self.watchdog, self.printed())
            }
        }
    }

    fn printed(&self) -> String {
        let state = self.shared.lock();
        let [stdout, stderr] = &state.outputs;
        let text = |captured: &Captured| String::from_utf8_lossy(&captured.bytes).into_owned();
        format!("\n--- stdout so far\n{}\n--- stderr so far\n{}", text(stdout), text(stderr))
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        self.kill_group(Signal::Kill);
    }
}

impl Shared {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn update(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.lock());
        self.changed.notify_all();
    }

    fn wait<T>(&self, patience: Duration, ready: impl Fn(&State) -> Option<T>) -> Option<T> {
        let deadline = Instant::now() + patience;
        let mut state = self.lock();
        loop {
            if let Some(value) = ready(&state) {
                return Some(value);
            }
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return None;
            }
            state = self.changed.wait_timeout(state, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

/// Collects an output until its end. The thread ends with it, or with the test's process.
fn capture(shared: &Arc<Shared>, channel: Channel, mut pipe: impl Read + Send + 'static) {
    let shared = shared.clone();
    thread::spawn(move || {
        let mut buffer = vec![0; 64 * 1024];
        while let Ok(count @ 1..) = pipe.read(&mut buffer) {
            shared.update(|state| state.outputs[channel as usize].bytes.extend_from_slice(&buffer[..count]));
        }
        shared.update(|state| state.outputs[channel as usize].ended = true);
    });
}

/// Waits for the process's end, then reaps it under the lock, so that nobody signals its number afterwards.
fn reap(shared: &Arc<Shared>, process: Pid) {
    let shared = shared.clone();
    thread::spawn(move || {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(process), options) {}
        shared.update(|state| state.status = state.child.wait().ok());
    });
}

/// Writes everything and closes the pipe. A process that does not read all of it is no error.
fn feed(mut pipe: ChildStdin, bytes: Vec<u8>) -> Option<ChildStdin> {
    thread::spawn(move || {
        let _ = pipe.write_all(&bytes);
    });
    None
}
