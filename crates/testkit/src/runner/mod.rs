//! Runs the real binary in a [`Project`]: a clean environment, a watchdog, and
//! everything it printed.
//!
//! Owns how a run is described and judged; the process itself is
//! [`Running`]'s. Nothing of the test's own environment reaches the process but
//! `PATH`.

mod running;

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::ExitStatus;
use std::time::Duration;

use serde_json::Value;

use crate::model_server::ModelServer;
use crate::project::Project;

pub use running::Running;

const WATCHDOG: Duration = Duration::from_secs(60);

/// A run of the binary that is to come. It can be started more than once.
#[derive(Clone)]
#[must_use]
pub struct Rein {
    binary: PathBuf,
    arguments: Vec<OsString>,
    environment: BTreeMap<OsString, OsString>,
    directory: PathBuf,
    stdin: Stdin,
    watchdog: Duration,
}

#[derive(Clone)]
pub(crate) enum Stdin {
    Empty,
    Bytes(Vec<u8>),
    Open,
}

impl Rein {
    /// The `rein` binary that was built with the test: where cargo or nextest say, else beside the test's own.
    #[track_caller]
    pub fn new(project: &Project) -> Self {
        let told = ["CARGO_BIN_EXE_rein", "NEXTEST_BIN_EXE_rein"].into_iter().find_map(std::env::var_os);
        let binary = told.map(PathBuf::from).or_else(beside_the_test);
        Self::with_binary(
            binary.expect("the rein binary: build it, or name it with Rein::with_binary"),
            project,
        )
    }

    /// A certain binary: `Rein::with_binary(env!("CARGO_BIN_EXE_rein"), &project)`.
    pub fn with_binary(binary: impl Into<PathBuf>, project: &Project) -> Self {
        let rein = Self {
            binary: binary.into(),
            arguments: Vec::new(),
            environment: BTreeMap::new(),
            directory: project.path().to_owned(),
            stdin: Stdin::Empty,
            watchdog: WATCHDOG,
        };
        rein.env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", project.home())
            .env("REIN_HOME", project.rein_home())
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
    }

    /// One more argument.
    pub fn arg(mut self, argument: impl AsRef<OsStr>) -> Self {
        self.arguments.push(argument.as_ref().to_owned());
        self
    }

    /// More arguments.
    pub fn args<T: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = T>) -> Self {
        self.arguments.extend(arguments.into_iter().map(|argument| argument.as_ref().to_owned()));
        self
    }

    /// A variable of the environment.
    pub fn env(mut self, name: impl AsRef<OsStr>, value: impl AsRef<OsStr>) -> Self {
        self.environment.insert(name.as_ref().to_owned(), value.as_ref().to_owned());
        self
    }

    /// Without that variable, even one that every run has.
    pub fn env_remove(mut self, name: impl AsRef<OsStr>) -> Self {
        self.environment.remove(name.as_ref());
        self
    }

    /// Talks to this server: sets `OPENAI_BASE_URL` and `OPENAI_API_KEY`.
    pub fn server(self, server: &ModelServer) -> Self {
        self.env("OPENAI_BASE_URL", server.base_url()).env("OPENAI_API_KEY", "test-key")
    }

    /// Runs in that directory instead of the project's.
    pub fn current_dir(mut self, directory: impl AsRef<Path>) -> Self {
        self.directory = directory.as_ref().to_owned();
        self
    }

    /// What it reads from stdin, then the end. Without this, stdin is empty.
    pub fn stdin(mut self, bytes: impl AsRef<[u8]>) -> Self {
        self.stdin = Stdin::Bytes(bytes.as_ref().to_vec());
        self
    }

    /// Stdin stays open, for [`Running::write_stdin`].
    pub fn stdin_open(mut self) -> Self {
        self.stdin = Stdin::Open;
        self
    }

    /// How long it may run before it is killed and the test fails; 60 s unless told.
    pub fn watchdog(mut self, patience: Duration) -> Self {
        self.watchdog = patience;
        self
    }

    /// Runs it to its end. Blocks: inside of a runtime, call it from `spawn_blocking` or from a test that needs
    /// no other task meanwhile (a [`ModelServer`] has its own thread).
    #[track_caller]
    pub fn run(&self) -> Output {
        self.spawn().wait()
    }

    /// Starts it.
    #[track_caller]
    pub fn spawn(&self) -> Running {
        Running::start(self)
    }
}

fn beside_the_test() -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    // target/debug/deps/test-1234 and target/debug/rein
    let binary = test.parent()?.parent()?.join("rein");
    binary.is_file().then_some(binary)
}

/// What a process left behind.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Output {
    /// The exit code; none if a signal ended it.
    pub code: Option<i32>,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
    /// Everything it printed, what is not UTF-8 replaced.
    pub stdout: String,
    /// Everything it complained about, what is not UTF-8 replaced.
    pub stderr: String,
    /// The bytes of stdout.
    pub stdout_bytes: Vec<u8>,
}

impl Output {
    pub(crate) fn new(status: ExitStatus, stdout_bytes: Vec<u8>, stderr: &[u8]) -> Self {
        Self {
            code: status.code(),
            signal: status.signal(),
            stdout: String::from_utf8_lossy(&stdout_bytes).into_owned(),
            stderr: String::from_utf8_lossy(stderr).into_owned(),
            stdout_bytes,
        }
    }

    /// Panics with everything that was printed unless the exit code is 0.
    #[track_caller]
    pub fn assert_success(&self) -> &Self {
        self.assert_code(0)
    }

    /// Panics with everything that was printed unless the exit code is this one.
    #[track_caller]
    pub fn assert_code(&self, code: i32) -> &Self {
        assert!(self.code == Some(code), "expected exit code {code}, but {self}");
        self
    }

    /// Each line of stdout as JSON.
    #[must_use]
    #[track_caller]
    pub fn json_lines(&self) -> Vec<Value> {
        let lines = self.stdout.lines().map(|line| match serde_json::from_str(line) {
            Ok(value) => value,
            Err(error) => panic!("`{line}` is not JSON: {error}; {self}"),
        });
        lines.collect()
    }
}

impl fmt::Display for Output {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (self.code, self.signal) {
            (Some(code), _) => write!(f, "it exited with {code}")?,
            (None, Some(signal)) => write!(f, "signal {signal} ended it")?,
            (None, None) => f.write_str("how it ended is unknown")?,
        }
        write!(f, "\n--- stdout\n{}\n--- stderr\n{}", self.stdout, self.stderr)
    }
}

/// A signal to send.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    /// As by Ctrl-C.
    Interrupt,
    /// A request to end.
    Terminate,
    /// Ends it at once; it cannot be caught.
    Kill,
    /// The terminal is gone.
    Hangup,
    /// As by Ctrl-\.
    Quit,
    /// Stops it; it cannot be caught.
    Stop,
    /// Goes on after a stop.
    Continue,
}

impl Signal {
    pub(crate) fn native(self) -> rustix::process::Signal {
        match self {
            Self::Interrupt => rustix::process::Signal::INT,
            Self::Terminate => rustix::process::Signal::TERM,
            Self::Kill => rustix::process::Signal::KILL,
            Self::Hangup => rustix::process::Signal::HUP,
            Self::Quit => rustix::process::Signal::QUIT,
            Self::Stop => rustix::process::Signal::STOP,
            Self::Continue => rustix::process::Signal::CONT,
        }
    }
}
