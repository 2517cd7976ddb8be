//! One command: what it is, what became of it, and what it printed.

use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::Duration;

use rein_protocol::{JobId, JobInfo, JobState, Timestamp};
use rein_sandbox::{Terminal, TerminalSize};
use tokio::sync::watch;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use super::log::{Log, Printed};

/// Characters of a command in a sentence.
const SHORT: usize = 60;

/// How long a command may run.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeLimit {
    /// For as long as it likes.
    None,
    /// For so long, wherever.
    Always(Duration),
    /// For so long while a call waits for it, and for as long as it likes in the background.
    Attached(Duration),
}

/// A command that was started.
#[derive(Debug)]
pub struct Job {
    id: OnceLock<JobId>,
    command: String,
    cwd: PathBuf,
    started_at: Timestamp,
    limit: TimeLimit,
    begun: Instant,
    state: watch::Sender<JobState>,
    inside: Mutex<Inside>,
    end: CancellationToken,
}

#[derive(Debug, Default)]
struct Inside {
    log: Log,
    ended_at: Option<Timestamp>,
    terminal: Option<Terminal>,
    /// How the command itself ended, if something of it went on.
    command_ended: Option<JobState>,
    /// What the model has seen of the output.
    seen: u64,
}

impl Job {
    pub(super) fn new(command: &str, cwd: &Path, terminal: Option<Terminal>, limit: TimeLimit) -> Self {
        Self {
            id: OnceLock::new(),
            command: command.to_owned(),
            cwd: cwd.to_owned(),
            started_at: Timestamp::now(),
            limit,
            begun: Instant::now(),
            state: watch::channel(JobState::Running).0,
            inside: Mutex::new(Inside { terminal, ..Inside::default() }),
            end: CancellationToken::new(),
        }
    }

    /// Its name, once it is in the background.
    #[must_use]
    pub fn id(&self) -> Option<JobId> {
        self.id.get().cloned()
    }

    /// Its command line.
    #[must_use]
    pub fn command(&self) -> &str {
        &self.command
    }

    /// What faces are told, once it is in the background.
    #[must_use]
    pub fn info(&self) -> Option<JobInfo> {
        let id = self.id()?;
        let inside = self.inside();
        Some(JobInfo {
            id,
            command: self.command.clone(),
            cwd: self.cwd.clone(),
            state: self.state(),
            started_at: self.started_at,
            ended_at: inside.ended_at,
            output_bytes: inside.log.count(),
        })
    }

    /// What became of it.
    #[must_use]
    pub fn state(&self) -> JobState {
        *self.state.borrow()
    }

    /// Waits until nothing of it runs.
    pub async fn over(&self) -> JobState {
        let mut receiver = self.state.subscribe();
        match receiver.wait_for(|state| !state.is_alive()).await {
            Ok(state) => *state,
            // The sender is a part of this value, so it is there.
            Err(_) => self.state(),
        }
    }

    /// What it printed from a cursor on, as far as it is in memory.
    #[must_use]
    pub fn since(&self, cursor: u64) -> Printed {
        self.inside().log.since(cursor)
    }

    /// What the model has not seen yet; from now on it has.
    #[must_use]
    pub fn take_unseen(&self) -> Printed {
        let mut inside = self.inside();
        let printed = inside.log.since(inside.seen);
        inside.seen = printed.cursor;
        printed
    }

    pub(super) fn mark_seen(&self) {
        let mut inside = self.inside();
        inside.seen = inside.log.count();
    }

    /// The file with its whole output, and how many bytes are not in it.
    #[must_use]
    pub fn log_file(&self) -> Option<(PathBuf, u64)> {
        self.inside().log.file().map(|(path, dropped)| (path.to_owned(), dropped))
    }

    /// Its terminal, if it runs in one and is not over: for a person to type on and to resize.
    #[must_use]
    pub fn terminal(&self) -> Option<Terminal> {
        self.inside().terminal.clone()
    }

    /// Tells its terminal, if it has one, that it has another size.
    pub fn resize(&self, size: TerminalSize) {
        if let Some(terminal) = self.terminal() {
            // A terminal whose programs are gone has no use for a size.
            let _ = terminal.resize(size);
        }
    }

    /// How the command itself ended, if it has.
    #[must_use]
    pub fn command_ended(&self) -> Option<JobState> {
        match self.state() {
            JobState::Running => None,
            JobState::Daemon { .. } => self.inside().command_ended,
            over => Some(over),
        }
    }

    pub(super) fn ask_to_end(&self) {
        self.end.cancel();
    }

    pub(super) async fn asked_to_end(&self) {
        self.end.cancelled().await;
    }

    /// When it must end.
    pub(super) fn deadline(&self) -> Option<Instant> {
        match self.limit {
            TimeLimit::None => None,
            TimeLimit::Attached(_) if self.id.get().is_some() => None,
            TimeLimit::Always(limit) | TimeLimit::Attached(limit) => self.begun.checked_add(limit),
        }
    }

    pub(super) fn write(&self, bytes: &[u8]) {
        self.inside().log.write(bytes);
    }

    pub(super) fn give_name(&self, id: JobId, directory: Option<&Path>, cap: u64) {
        if let Some(directory) = directory {
            // Without the directory there is no log, and the end of the output is in memory anyway.
            let _ = std::fs::create_dir_all(directory);
            self.inside().log.keep_in(directory.join(format!("{id}.log")), cap);
        }
        let _ = self.id.set(id);
    }

    pub(super) fn go_on_as_daemon(&self, ended: JobState) {
        self.inside().command_ended = Some(ended);
        let code = match ended {
            JobState::Exited { code } => code,
            JobState::Signalled { signal } => 128 + signal,
            _ => 0,
        };
        self.state.send_replace(JobState::Daemon { code });
    }

    pub(super) fn end_with(&self, state: JobState) {
        {
            let mut inside = self.inside();
            inside.ended_at = Some(Timestamp::now());
            inside.terminal = None;
        }
        self.state.send_replace(state);
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The beginning of a command line, in one line.
pub(crate) fn short(command: &str) -> String {
    let line = command.trim().lines().next().unwrap_or_default();
    let short: String = line.chars().take(SHORT).collect();
    if short.len() < command.trim().len() { short + " …" } else { short }
}
