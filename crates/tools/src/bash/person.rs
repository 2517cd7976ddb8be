//! A command line of the person: run with the person's own rights, because it
//! is the person who runs it.
//!
//! Nothing judges and nothing confines it, and there is no time limit. What it
//! has in common with the commands of models is the environment without
//! secrets, the shell, and that nothing of it is left when it is over. It runs in
//! the workspace and leaves no directory, variables or functions behind for others.

use rein_protocol::{Block, Display, JobState};
use rein_sandbox::{Ended, Leftovers, SandboxError, Spawn, Status};
use tokio_util::sync::CancellationToken;

use super::ending::{self, Ending, Goes};
use crate::contract::{Complaint, Outcome, Output, Scene};
use crate::jobs::TimeLimit;

/// Whether something can be run as a command line.
///
/// # Errors
///
/// If it is empty, too long, or contains what no command line can.
pub fn check(command: &str) -> Result<(), Complaint> {
    super::check(command)
}

/// Runs a command line to its end, or until it is cancelled.
pub async fn run(
    command: &str,
    scene: &Scene,
    output: &mut dyn Output,
    cancel: &CancellationToken,
) -> Outcome {
    let workspace = &scene.workspace;
    let display = Display::titled(super::title(command, workspace, workspace))
        .with_block(Block::Command { command: command.to_owned(), cwd: workspace.display().to_string() });
    output.expect_terminal();
    let spawn = Spawn::new(&scene.shell, workspace)
        .keeping(scene.keep_variables.iter().cloned())
        .arg("-c")
        .arg(command)
        .variable("PWD", workspace);
    let mut printed = 0;
    let mut take = |bytes: &[u8]| {
        printed += bytes.len() as u64;
        output.write(bytes);
    };
    let exit = match rein_sandbox::run(spawn, &mut take, cancel).await {
        Ok(exit) => exit,
        Err(SandboxError::NotStarted { .. }) => return Outcome::interrupted(display),
        Err(error) => {
            let message = format!("The command was not run by {}: {error}.", scene.shell.display());
            return Outcome::failed(display, message);
        }
    };
    let remark = match exit.leftovers {
        Leftovers::None => None,
        Leftovers::Ended => Some("what it left in the background was ended"),
        Leftovers::Running | Leftovers::Escaped => Some("something that it started still runs"),
    };
    ending::outcome(Ending {
        display,
        state: Some(match exit.status {
            Status::Code(code) => JobState::Exited { code },
            Status::Signal(signal) => JobState::Signalled { signal },
        }),
        is_interrupted: exit.ended == Ended::Cancelled,
        limit: TimeLimit::None,
        printed,
        goes: Goes::Nowhere,
        remarks: remark.map(str::to_owned).into_iter().collect(),
    })
}
