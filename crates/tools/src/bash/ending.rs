//! What the model and the person are told when a call of `bash` is over.

use rein_protocol::{CallStatus, Display, JobInfo, JobState};

use crate::contract::Outcome;
use crate::jobs::TimeLimit;

/// How a call came to its end.
pub(super) struct Ending {
    pub(super) display: Display,
    /// What became of the command; nothing if it still runs.
    pub(super) state: Option<JobState>,
    pub(super) is_interrupted: bool,
    pub(super) limit: TimeLimit,
    /// Bytes that it printed.
    pub(super) printed: u64,
    pub(super) goes: Goes,
    pub(super) remarks: Vec<String>,
}

/// What goes on after the call.
pub(super) enum Goes {
    /// Nothing.
    Nowhere,
    /// The command.
    On(JobInfo),
    /// Something that the command left behind.
    LeftBehind(JobInfo),
}

pub(super) fn outcome(ending: Ending) -> Outcome {
    let (status, summary, said) = told(&ending);
    let mut parts: Vec<String> = said.into_iter().collect();
    if let Goes::LeftBehind(job) = &ending.goes {
        parts.push(format!("what it left in the background goes on as {}", job.id));
    }
    if ending.printed == 0 && !matches!(ending.goes, Goes::On(_)) {
        parts.push("no output".to_owned());
    }
    let mut trailer: Vec<String> = Vec::new();
    if !parts.is_empty() {
        trailer.push(format!("[{}]", parts.join("; ")));
    }
    trailer.extend(ending.remarks.iter().map(|remark| format!("[{remark}]")));
    let trailer = (!trailer.is_empty()).then(|| trailer.join("\n"));
    Outcome { status, display: ending.display.with_summary(summary), trailer, pictures: Vec::new() }
}

fn told(ending: &Ending) -> (CallStatus, String, Option<String>) {
    if let Goes::On(job) = &ending.goes {
        let said = format!("still running as {}; use job to read, wait or kill", job.id);
        return (CallStatus::Completed, format!("runs as {}", job.id), Some(said));
    }
    if ending.is_interrupted {
        let said = "interrupted by the user".to_owned();
        return (CallStatus::Interrupted, "interrupted".to_owned(), Some(said));
    }
    match ending.state {
        Some(JobState::Exited { code: 0 }) => (CallStatus::Completed, "exit 0".to_owned(), None),
        Some(JobState::Exited { code } | JobState::Daemon { code }) => {
            (CallStatus::Failed, format!("exit {code}"), Some(format!("exit code {code}")))
        }
        Some(JobState::Signalled { signal }) => {
            let said = format!("killed by signal {}", named(signal));
            (CallStatus::Failed, format!("signal {signal}"), Some(said))
        }
        Some(JobState::TimedOut) => {
            let seconds = match ending.limit {
                TimeLimit::Always(limit) | TimeLimit::Attached(limit) => limit.as_secs(),
                TimeLimit::None => 0,
            };
            let said = format!(
                "timed out after {seconds} s and was ended; set `timeout` to more seconds (at most 3600) if it needs them"
            );
            (CallStatus::Failed, format!("timed out after {seconds} s"), Some(said))
        }
        Some(JobState::Killed | JobState::Running) | None => {
            (CallStatus::Failed, "ended".to_owned(), Some("it was ended".to_owned()))
        }
    }
}

fn named(signal: i32) -> String {
    let name = match signal {
        6 => "SIGABRT",
        9 => "SIGKILL, perhaps for want of memory",
        11 => "SIGSEGV",
        15 => "SIGTERM",
        _ => return signal.to_string(),
    };
    format!("{signal} ({name})")
}
