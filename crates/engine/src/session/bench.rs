//! What the turns of a session work with.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rein_protocol::SessionId;
use rein_protocol::transcript::Transcript;
use rein_tools::{ImageSupport, JobSettings, Jobs, Scene, SharedShellState};

use super::gatekeeper;
use crate::confinement::Jailer;
use crate::dispatch::ArtifactShelf;
use crate::options::EngineOptions;
use crate::pictures::Pictures;
use crate::prompt::SystemPrompt;
use crate::remember;
use crate::scratch::{KeptTexts, Scratch};
use crate::service::Parts;
use crate::spending::Ledger;
use crate::turn::Workbench;

pub(super) fn workbench(
    parts: &Parts,
    session: &SessionId,
    workspace: &Path,
    transcript: &Transcript,
    prompt: SystemPrompt,
    ledger: Arc<Ledger>,
) -> Workbench {
    let options = &parts.options;
    let artifacts = ArtifactShelf::new(options.store.clone(), session.clone());
    let scratch = Scratch::of(options.store.root(), session);
    let shell = made(scratch.shell(), "where shells keep what they know");
    let scene = Scene {
        workspace: workspace.to_owned(),
        files: Arc::new(remember::files_of(transcript)),
        artifacts: Arc::new(artifacts.clone()),
        shell: options.settings.shell.clone().unwrap_or_else(rein_tools::bash::find_shell),
        command_timeout: options.settings.command_timeout,
        may_read: gatekeeper::read_filter(options, workspace),
        images: ImageSupport::Refused,
        edit_form: rein_tools::EditForm::default(),
        snapshots: Arc::new(KeptTexts::of(&scratch)),
        said: None,
        jobs: Arc::new(Jobs::new(jobs(options, &scratch))),
        shell_state: Arc::new(
            shell.clone().map_or_else(SharedShellState::default, SharedShellState::in_directory),
        ),
        instructions: Arc::new(remember::instructions_of(transcript)),
        todos: Arc::new(remember::todos_of(transcript)),
        jail: None,
        keep_variables: options.settings.keep_variables.clone().into(),
    };
    Workbench {
        models: Arc::clone(&parts.models),
        tools: Arc::clone(&parts.tools),
        scene,
        settings: options.settings.clone(),
        prompt,
        cache: Arc::default(),
        artifacts,
        pictures: Pictures::new(options.store.clone()),
        jailer: Arc::new(jailer(options, workspace, &scratch, shell)),
        scratch,
        ledger,
    }
}

/// The same with what the agent knows on another branch. What runs in the background goes on.
pub(super) fn remembering(bench: &Workbench, options: &EngineOptions, transcript: &Transcript) -> Workbench {
    Workbench {
        models: Arc::clone(&bench.models),
        tools: Arc::clone(&bench.tools),
        scene: Scene {
            files: Arc::new(remember::files_of(transcript)),
            instructions: Arc::new(remember::instructions_of(transcript)),
            todos: Arc::new(remember::todos_of(transcript)),
            ..bench.scene.clone()
        },
        settings: bench.settings.clone(),
        prompt: bench.prompt.clone(),
        cache: Arc::clone(&bench.cache),
        ledger: Arc::clone(&bench.ledger),
        artifacts: bench.artifacts.clone(),
        pictures: Pictures::new(options.store.clone()),
        jailer: bench.jailer.clone(),
        scratch: bench.scratch.clone(),
    }
}

fn jobs(options: &EngineOptions, scratch: &Scratch) -> JobSettings {
    JobSettings {
        most_running: options.settings.most_jobs,
        background_after: options.settings.background_after,
        output_cap: options.settings.output_bytes,
        directory: made(scratch.jobs(), "where jobs log"),
    }
}

fn jailer(options: &EngineOptions, workspace: &Path, scratch: &Scratch, shell: Option<PathBuf>) -> Jailer {
    Jailer {
        commands: options.commands.clone(),
        workspace: workspace.to_owned(),
        home: options.home.clone(),
        own: options.protected.clone(),
        temporary: made(scratch.temporary(), "the temporary directory of commands"),
        shell,
    }
}

/// Without such a directory less is kept, which is no reason not to work.
fn made(directory: std::io::Result<PathBuf>, what: &str) -> Option<PathBuf> {
    directory.map_err(|error| tracing::warn!(%error, "{what} could not be made")).ok()
}
