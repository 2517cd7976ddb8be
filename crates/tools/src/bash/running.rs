//! A command line that is understood: started, followed, and let go.

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use rein_protocol::{Intent, JobState};
use rein_sandbox::{SandboxError, Spawn, TerminalSize};
use tokio_util::sync::CancellationToken;

use super::ending::{self, Ending, Goes};
use super::hints;
use super::shell::{self, Slot};
use super::state::Carried;
use super::widening;
use crate::contract::{Outcome, Output, Plan, Scene};
use crate::jobs::{Attached, NotStarted, TimeLimit};

/// Bytes of an output in which it is looked for words that ask for a person.
const TELLING: u64 = 4 * 1024;

/// Whether the call waits for the command.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Wait {
    Yes,
    No,
}

/// What the command runs in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Screen {
    None,
    Terminal,
}

pub(super) struct Running {
    pub(super) intent: Intent,
    pub(super) command: String,
    /// Without links.
    pub(super) cwd: PathBuf,
    /// As the shell calls it.
    pub(super) logical_cwd: PathBuf,
    pub(super) carried: Carried,
    pub(super) limit: TimeLimit,
    pub(super) wait: Wait,
    pub(super) screen: Screen,
    /// Where the shell was, if that is not there any more.
    pub(super) missing: Option<PathBuf>,
}

/// How the following of a command came to an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Followed {
    /// The command itself is over.
    Over,
    /// It was interrupted.
    Interrupted,
    /// It runs for so long that it goes on in the background.
    Long,
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
        if cancel.is_cancelled() {
            return Outcome::interrupted(self.intent.display);
        }
        output.expect_terminal();
        let slot = if self.wait == Wait::Yes { scene.shell_state.slot() } else { None };
        let spawn = self.spawn(scene, slot.as_ref());
        let mut attached = match scene.jobs.start(&spawn, &self.command, self.limit).await {
            Ok(attached) => attached,
            Err(NotStarted::Failed(SandboxError::NotStarted { .. })) => {
                return Outcome::interrupted(self.intent.display);
            }
            Err(error) => return Outcome::failed(self.intent.display, failure(&error, &scene.shell)),
        };
        let patience = match self.wait {
            Wait::No => Some(Duration::ZERO),
            Wait::Yes => scene.jobs.settings().background_after,
        };
        let followed = match self.wait {
            Wait::No => Followed::Long,
            Wait::Yes => follow(&mut attached, output, patience, cancel).await,
        };
        self.conclude(scene, attached, followed, slot)
    }
}

impl Running {
    /// The one place where the process of a command line is described.
    fn spawn(&self, scene: &Scene, slot: Option<&Slot>) -> Spawn {
        let mut spawn = scene
            .held(Spawn::new(&scene.shell, &self.cwd))
            .arg("-c")
            .arg(shell::script(&scene.shell, slot))
            .arg(&scene.shell)
            .arg(slot.map_or(Path::new(""), Slot::file))
            .arg(self.carried.definitions())
            .arg(&self.command)
            .variable("PWD", &self.logical_cwd);
        for (name, value) in &self.carried.variables {
            spawn = spawn.variable(name, value);
        }
        match self.screen {
            Screen::None => spawn,
            Screen::Terminal => spawn.terminal(TerminalSize::default()),
        }
    }

    fn conclude(self, scene: &Scene, attached: Attached, followed: Followed, slot: Option<Slot>) -> Outcome {
        let job = attached.job().clone();
        let mut remarks = Vec::new();
        if let Some(missing) = &self.missing {
            remarks.push(format!("{} is gone, so it ran in the workspace", missing.display()));
        }
        let state = job.command_ended();
        let is_over = state.is_some() && followed != Followed::Long;
        if is_over {
            remarks.extend(self.keep_state(scene, slot.as_ref(), state));
        }
        let tail = job.since(job.since(u64::MAX).cursor.saturating_sub(TELLING));
        let goes = match (followed, job.state().is_alive()) {
            (Followed::Interrupted, _) | (Followed::Over, false) => Goes::Nowhere,
            (Followed::Over, true) => attached.detach().map_or(Goes::Nowhere, Goes::LeftBehind),
            (Followed::Long, _) => attached.detach().map_or(Goes::Nowhere, Goes::On),
        };
        let failed = !matches!(state, Some(JobState::Exited { code: 0 }));
        if is_over && failed && self.screen == Screen::None {
            remarks.extend(hints::wanted_a_person(&tail.bytes).map(|hint| format!("hint: {hint}")));
        }
        if let (Some(jail), Some(state), true) = (&scene.jail, state, is_over && failed) {
            remarks.extend(widening::refused(jail.jail(), state, &tail.bytes));
        }
        if let Some((kind, hint)) = hints::better_tool(&self.command)
            && scene.shell_state.is_new_hint(kind)
        {
            remarks.push(format!("hint: {hint}"));
        }
        ending::outcome(Ending {
            display: self.intent.display,
            state: if followed == Followed::Interrupted { Some(JobState::Killed) } else { state },
            is_interrupted: followed == Followed::Interrupted,
            limit: self.limit,
            printed: tail.cursor,
            goes,
            remarks,
        })
    }

    /// Keeps what the shell left behind. Says what the model should know of it.
    fn keep_state(&self, scene: &Scene, slot: Option<&Slot>, state: Option<JobState>) -> Option<String> {
        let slot = slot?;
        match slot.read() {
            Some(told) => scene.shell_state.take(&self.carried, told),
            // A command that was ended says so already.
            None if matches!(state, Some(JobState::Exited { .. } | JobState::Signalled { .. })) => {
                let note = "the shell ended early: directory, variables and functions stay as before";
                Some(note.to_owned())
            }
            None => None,
        }
    }
}

async fn follow(
    attached: &mut Attached,
    output: &mut dyn Output,
    patience: Option<Duration>,
    cancel: &CancellationToken,
) -> Followed {
    let long = async {
        match patience {
            Some(patience) => tokio::time::sleep(patience).await,
            None => std::future::pending().await,
        }
    };
    tokio::pin!(long);
    loop {
        tokio::select! {
            biased;
            () = cancel.cancelled() => break,
            () = &mut long => return Followed::Long,
            piece = attached.next() => match piece {
                Some(piece) => output.write(&piece),
                None => return Followed::Over,
            },
        }
    }
    attached.ask_to_end();
    while let Some(piece) = attached.next().await {
        output.write(&piece);
    }
    Followed::Interrupted
}

fn failure(error: &NotStarted, shell: &Path) -> String {
    match error {
        NotStarted::Failed(error) => {
            format!("The command was not run by {}: {error}.", shell.display())
        }
        NotStarted::TooMany(_) | NotStarted::Closed => format!("The command was not run: {error}."),
    }
}
