//! What is to be started: a description, nothing happens here.

use std::ffi::OsString;
use std::fmt;
use std::os::fd::OwnedFd;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use crate::jail::Jail;
use crate::pty::TerminalSize;

/// A process to be started.
///
/// Its standard input is empty and its standard output and error are one pipe,
/// unless [`Self::input`] and [`Self::errors`] say otherwise; it leads a session
/// of its own and has no terminal, unless it is to have one of its own.
#[derive(Clone)]
#[non_exhaustive]
pub struct Spawn {
    /// A path, or a name to be looked up in `PATH`.
    pub program: OsString,
    /// Its arguments, without the program's name.
    pub args: Vec<OsString>,
    /// Where it runs.
    pub cwd: PathBuf,
    /// Variables beyond the cleaned environment; they win over it, and are not cleaned.
    pub env: Vec<(OsString, OsString)>,
    /// Variables of rein's own environment that it does not get.
    pub without: Vec<OsString>,
    /// What it reads from its standard input.
    pub input: Option<Arc<[u8]>>,
    /// Where its standard error goes if not where its standard output goes.
    pub errors: Option<Arc<OwnedFd>>,
    /// How long it may run.
    pub timeout: Option<Duration>,
    /// How long a process that was asked to end may take before it is killed.
    pub grace: Grace,
    /// What holds it. Without one it may do what rein may do.
    pub jail: Option<Arc<Jail>>,
    /// Names of variables that the user wants to be kept though they look like secrets.
    pub keep: Vec<OsString>,
    /// The terminal that it runs in; without one its input is empty and its output a pipe.
    pub terminal: Option<TerminalSize>,
}

/// The time between SIGTERM and SIGKILL.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Grace(pub Duration);

impl Default for Grace {
    fn default() -> Self {
        Self(Duration::from_secs(2))
    }
}

impl Spawn {
    /// A process without arguments, additions to its environment, or a time limit.
    pub fn new(program: impl Into<OsString>, cwd: impl Into<PathBuf>) -> Self {
        Self {
            program: program.into(),
            args: Vec::new(),
            cwd: cwd.into(),
            env: Vec::new(),
            without: Vec::new(),
            input: None,
            errors: None,
            timeout: None,
            grace: Grace::default(),
            jail: None,
            keep: Vec::new(),
            terminal: None,
        }
    }

    /// With one more argument.
    #[must_use]
    pub fn arg(mut self, argument: impl Into<OsString>) -> Self {
        self.args.push(argument.into());
        self
    }

    /// With a variable of this value in its environment.
    #[must_use]
    pub fn variable(mut self, name: impl Into<OsString>, value: impl Into<OsString>) -> Self {
        self.env.push((name.into(), value.into()));
        self
    }

    /// Without a variable that rein itself has.
    #[must_use]
    pub fn without(mut self, name: impl Into<OsString>) -> Self {
        self.without.push(name.into());
        self
    }

    /// With something to read on its standard input.
    #[must_use]
    pub fn input(mut self, bytes: impl Into<Arc<[u8]>>) -> Self {
        self.input = Some(bytes.into());
        self
    }

    /// With its standard error apart: what it writes there goes to `errors`, and not to who takes the output.
    #[must_use]
    pub fn errors(mut self, errors: impl Into<Arc<OwnedFd>>) -> Self {
        self.errors = Some(errors.into());
        self
    }

    /// With a time limit.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// In a jail.
    #[must_use]
    pub fn jailed(mut self, jail: Arc<Jail>) -> Self {
        self.jail = Some(jail);
        self
    }

    /// With these variables kept in its environment, whatever they look like.
    #[must_use]
    pub fn keeping(mut self, names: impl IntoIterator<Item = OsString>) -> Self {
        self.keep.extend(names);
        self
    }

    /// In a terminal of its own of this size.
    #[must_use]
    pub fn terminal(mut self, size: TerminalSize) -> Self {
        self.terminal = Some(size);
        self
    }

    /// With another time between asking and killing.
    #[must_use]
    pub fn grace(mut self, grace: Grace) -> Self {
        self.grace = grace;
        self
    }
}

/// Arguments and values may carry secrets, so only their number and the names are shown.
impl fmt::Debug for Spawn {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Spawn")
            .field("program", &self.program)
            .field("args", &self.args.len())
            .field("cwd", &self.cwd)
            .field("env", &self.env.iter().map(|(name, _)| name).collect::<Vec<_>>())
            .field("timeout", &self.timeout)
            .field("grace", &self.grace)
            .field("jailed", &self.jail.is_some())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_shows_no_values() {
        let spawn = Spawn::new("tool", "/").arg("--password=hunter2").variable("TOKEN", "hunter3");
        let shown = format!("{spawn:?}");
        assert!(shown.contains("TOKEN") && !shown.contains("hunter"), "{shown}");
    }
}
