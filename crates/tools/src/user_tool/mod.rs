//! Tools that users write themselves, in any language: a program in a folder
//! `tool` or `tools` that says what it is (`describe`) and does it (`run`).
//!
//! A program is started once to be described, and then for every call; rein
//! trusts none of what it says. What is wrong with one is a [`Problem`] for the
//! user and no reason to stop. Which folders are looked at, and whether a
//! project is trusted enough that its programs may be started at all, is
//! decided by whoever calls [`UserTools::discover`].
//!
//! Whatever a program says of itself, a call of it is the execution of a
//! program, and its intent says so by the command line. So the rules for
//! commands apply, and nobody becomes harmless by claiming to only read.

mod check;
mod describe;
mod discover;
mod reply;
mod start;

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rein_protocol::{Block, CallStatus, Display, Effect, Intent, Tier, ToolSpec};
use rein_sandbox::{Ended, Leftovers, SandboxError, Status};
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::bound::{Keep, truncate};
use crate::contract::{Complaint, Outcome, Output, Plan, Scene, Tool};
use crate::program::{self, Ran};
use describe::Description;
pub use discover::{Discovered, Limits, Origin, Problem, ToolDirectory, UserTools};
use reply::Reply;
use start::{Runner, Stamp};

/// Characters of arguments in a title.
const TITLE_CHARS: usize = 100;

/// Lines and bytes that are told of what a program complained about.
const ERROR_LINES: usize = 20;
const ERROR_BYTES: usize = 4 * 1024;

/// A program that described itself.
pub(crate) struct UserTool {
    description: Description,
    runner: Runner,
    /// What the program was when it did.
    stamp: Stamp,
}

#[async_trait]
impl Tool for UserTool {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: self.description.name.clone(),
            description: self.description.text.clone(),
            input_schema: self.description.schema.clone(),
        }
    }

    async fn plan(&self, arguments: Value, scene: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        let arguments = check::fitting(&self.description.name, arguments, &self.description.schema)?;
        let command = self.runner.line("run");
        let cwd = scene.workspace.clone();
        let shown = arguments.to_string();
        let short: String = shown.chars().take(TITLE_CHARS).collect();
        let more = if short.len() < shown.len() { " …" } else { "" };
        let display = Display::titled(format!("{} {short}{more}", self.description.name))
            .with_block(Block::Command { command: command.clone(), cwd: cwd.display().to_string() })
            .with_block(Block::Text {
                text: format!(
                    "A tool of {}; it says that it {}.\nArguments: {}",
                    owner(self.runner.origin),
                    claim(self.description.tier),
                    serde_json::to_string_pretty(&arguments).unwrap_or(shown)
                ),
            });
        let intent =
            Intent { effects: vec![Effect::Execute { command, cwd, prelude: String::new() }], display };
        let timeout = self.description.timeout.unwrap_or(scene.command_timeout).max(Duration::from_secs(1));
        Ok(Box::new(Planned {
            intent,
            runner: self.runner.clone(),
            stamp: self.stamp.clone(),
            arguments: arguments.to_string().into_bytes().into(),
            timeout,
        }))
    }
}

fn owner(origin: Origin) -> &'static str {
    match origin {
        Origin::User => "the user's own",
        Origin::Project => "this project",
    }
}

fn claim(tier: Tier) -> &'static str {
    match tier {
        Tier::Read => "only reads",
        Tier::Write => "changes files",
        Tier::Net => "talks to the network",
        Tier::Exec => "runs programs",
    }
}

struct Planned {
    intent: Intent,
    runner: Runner,
    stamp: Stamp,
    arguments: Arc<[u8]>,
    timeout: Duration,
}

#[async_trait]
impl Plan for Planned {
    fn intent(&self) -> &Intent {
        &self.intent
    }

    async fn run(
        self: Box<Self>,
        scene: &Scene,
        output: &mut dyn Output,
        cancel: &CancellationToken,
    ) -> Outcome {
        let display = self.intent.display;
        if cancel.is_cancelled() {
            return Outcome::interrupted(display);
        }
        if Stamp::of(&self.runner.path).await.ok().as_ref() != Some(&self.stamp) {
            return Outcome::failed(
                display,
                format!(
                    "Nothing was run: {} changed or vanished since it described itself. The user must restart rein to use it again.",
                    self.runner.path.display()
                ),
            );
        }
        let spawn = start::spawn(&self.runner, &scene.workspace, "run", self.timeout);
        let spawn = scene.held(spawn).input(self.arguments);
        let mut reply = Reply::new(output);
        let ran = program::run(spawn, &mut |bytes| reply.take(bytes), cancel).await;
        match ran {
            Ok(ran) => ended(display, &ran, reply.finish(), self.timeout),
            Err(SandboxError::NotStarted { .. }) => Outcome::interrupted(display),
            Err(error) => Outcome::failed(display, format!("The tool was not run: {error}.")),
        }
    }
}

/// What became of a program, by how it ended and what it said last.
fn ended(display: Display, ran: &Ran, said: reply::Said, timeout: Duration) -> Outcome {
    let seconds = timeout.as_secs();
    let (summary, failure) = match (ran.exit.ended, ran.exit.status, said.error) {
        (Ended::Cancelled, _, _) => return Outcome::interrupted(display),
        (Ended::TimedOut, _, _) => (
            format!("timed out after {seconds} s"),
            Some(format!("The tool was ended because it took longer than {seconds} s.")),
        ),
        (Ended::Exited, Status::Code(0), None) => ("done".to_owned(), None),
        (Ended::Exited, Status::Code(0), Some(error)) => ("failed".to_owned(), Some(error)),
        (Ended::Exited, Status::Code(code), error) => {
            let error = error.map(|error| format!("{error}\n")).unwrap_or_default();
            (format!("exit {code}"), Some(format!("{error}[exit code {code}]")))
        }
        (Ended::Exited, Status::Signal(signal), _) => {
            (format!("signal {signal}"), Some(format!("[killed by signal {signal}]")))
        }
    };
    let left = match ran.exit.leftovers {
        Leftovers::None => None,
        Leftovers::Ended => Some("[processes left in the background were ended]".to_owned()),
        Leftovers::Escaped | Leftovers::Running => {
            Some("[a process left in the background could not be ended and may still run]".to_owned())
        }
    };
    let nothing =
        (failure.is_none() && said.printed == reply::Printed::Nothing).then(|| "[no output]".to_owned());
    let complaint = truncate(ran.errors.trim(), ERROR_LINES, ERROR_BYTES, Keep::Tail).text;
    let complaint =
        (failure.is_some() && !complaint.is_empty()).then(|| format!("standard error:\n{complaint}"));
    let status = if failure.is_some() { CallStatus::Failed } else { CallStatus::Completed };
    let remarks: Vec<String> = [failure, complaint, left, nothing].into_iter().flatten().collect();
    Outcome {
        status,
        display: display.with_summary(summary),
        trailer: (!remarks.is_empty()).then(|| remarks.join("\n")),
        pictures: Vec::new(),
    }
}
