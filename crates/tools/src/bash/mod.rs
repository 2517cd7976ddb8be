//! `bash`: a command line.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use rein_protocol::{Block, CallStatus, Display, Effect, Intent, ToolSpec};
use rein_sandbox::{Ended, Exit, Leftovers, SandboxError, Spawn, Status};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::arguments;
use crate::contract::{Complaint, Outcome, Output, Plan, Scene, Tool};
use crate::schema;

/// The kernel takes no longer argument.
const MOST_BYTES: usize = 128 * 1024 - 1;

/// Characters of a command in a title.
const TITLE_CHARS: usize = 120;

/// Runs a command line.
pub(crate) struct Bash;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    command: String,
    /// Seconds, if the usual limit is too short.
    #[schemars(range(min = 1, max = 3600))]
    timeout: Option<u64>,
}

/// A shell that understands `-c`: bash if it is in `PATH` or where it usually is, else sh.
#[must_use]
pub fn find_shell() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> = std::env::split_paths(&path)
        .filter(|directory| directory.is_absolute())
        .chain(["/bin".into(), "/usr/bin".into()])
        .collect();
    ["bash", "sh"]
        .iter()
        .flat_map(|name| directories.iter().map(move |directory| directory.join(name)))
        .find(|candidate| candidate.is_file())
        .unwrap_or_else(|| PathBuf::from("/bin/sh"))
}

#[async_trait]
impl Tool for Bash {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "bash".to_owned(),
            description: include_str!("bash.md").trim().to_owned(),
            input_schema: schema::of::<Arguments>(),
        }
    }

    async fn plan(&self, arguments: Value, scene: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        let Arguments { command, timeout } = arguments::parse("bash", arguments)?;
        if command.trim().is_empty() {
            return Err(Complaint("`command` is empty. Give a command line.".to_owned()));
        }
        if command.contains('\0') {
            return Err(Complaint(
                "`command` contains a NUL character, which no command line can. Use printf '\\0' for one."
                    .into(),
            ));
        }
        if command.len() > MOST_BYTES {
            return Err(Complaint(format!(
                "`command` has {} bytes; at most {MOST_BYTES} can be passed. Put the text into a file with write and use that.",
                command.len()
            )));
        }
        let cwd = scene.workspace.clone();
        let display = Display::titled(title(&command))
            .with_block(Block::Command { command: command.clone(), cwd: cwd.display().to_string() });
        let intent = Intent { effects: vec![Effect::Execute { command: command.clone(), cwd }], display };
        let timeout = timeout.unwrap_or(scene.command_timeout.as_secs().max(1));
        Ok(Box::new(Running { intent, command, timeout }))
    }
}

fn title(command: &str) -> String {
    let line = command.trim().lines().next().unwrap_or_default();
    let short: String = line.chars().take(TITLE_CHARS).collect();
    let more = if short.len() < command.trim().len() { " …" } else { "" };
    format!("$ {short}{more}")
}

struct Running {
    intent: Intent,
    command: String,
    timeout: u64,
}

#[async_trait]
impl Plan for Running {
    fn intent(&self) -> &Intent {
        &self.intent
    }

    async fn run(
        self: Box<Self>,
        scene: &Scene,
        output: &mut dyn Output,
        cancel: &CancellationToken,
    ) -> Outcome {
        let spawn = Spawn::new(&scene.shell, &scene.workspace)
            .arg("-c")
            .arg(&self.command)
            .timeout(Duration::from_secs(self.timeout));
        let mut printed = Printed::Nothing;
        let mut take = |bytes: &[u8]| {
            printed = Printed::Something;
            output.write(bytes);
        };
        let exit = rein_sandbox::run(spawn, &mut take, cancel).await;
        match exit {
            Ok(exit) => ended(self.intent.display, &exit, self.timeout, printed),
            Err(SandboxError::NotStarted { .. }) => Outcome::interrupted(self.intent.display),
            Err(error) => Outcome::failed(self.intent.display, failure(&error, &scene.shell)),
        }
    }
}

/// Whether there was any output.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Printed {
    Nothing,
    Something,
}

fn failure(error: &SandboxError, shell: &Path) -> String {
    format!("The command was not run by {}: {error}.", shell.display())
}

fn ended(display: Display, exit: &Exit, timeout: u64, printed: Printed) -> Outcome {
    let (status, summary, mut said) = match (exit.ended, exit.status) {
        (Ended::Cancelled, _) => {
            (CallStatus::Interrupted, "interrupted".to_owned(), "interrupted by the user".to_owned())
        }
        (Ended::TimedOut, _) => (
            CallStatus::Failed,
            format!("timed out after {timeout} s"),
            format!(
                "timed out after {timeout} s and was ended; set `timeout` to more seconds (at most 3600) if it needs them"
            ),
        ),
        (Ended::Exited, Status::Code(0)) => (CallStatus::Completed, "exit 0".to_owned(), String::new()),
        (Ended::Exited, Status::Code(code)) => {
            (CallStatus::Failed, format!("exit {code}"), format!("exit code {code}"))
        }
        (Ended::Exited, Status::Signal(signal)) => {
            (CallStatus::Failed, format!("signal {signal}"), format!("killed by signal {}", named(signal)))
        }
    };
    let left = match exit.leftovers {
        Leftovers::None => "",
        Leftovers::Ended => "processes left in the background were ended",
        Leftovers::Escaped => "a process left in the background could not be ended and may still run",
    };
    for remark in [left, if printed == Printed::Nothing { "no output" } else { "" }] {
        if !remark.is_empty() {
            said.push_str(if said.is_empty() { "" } else { "; " });
            said.push_str(remark);
        }
    }
    let trailer = (!said.is_empty()).then(|| format!("[{said}]"));
    Outcome { status, display: display.with_summary(summary), trailer, pictures: Vec::new() }
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
