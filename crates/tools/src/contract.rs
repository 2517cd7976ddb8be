//! The two steps of a tool, and what it is given for them.

use std::ffi::OsString;
use std::fmt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use rein_protocol::{ArtifactId, CallStatus, Display, Intent, Said, ToolSpec};
use rein_sandbox::Spawn;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use crate::bash::SharedShellState;
use crate::edit::EditForm;
use crate::instructions::Instructions;
use crate::jobs::Jobs;
use crate::memory::FileMemory;
use crate::todo::TodoBoard;
use crate::walls::Walls;

/// Something that a model can call.
///
/// A tool keeps nothing between calls; what must be remembered is in the [`Scene`].
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the model is told of it: always the same bytes.
    fn spec(&self) -> ToolSpec;

    /// Says what the call would do, without doing anything. It may look at files, but it may tell
    /// the model of their content only if they have been read before: nobody has been asked yet.
    ///
    /// # Errors
    ///
    /// A [`Complaint`] for the model if the call makes no sense.
    async fn plan(&self, arguments: Value, scene: &Scene) -> Result<Box<dyn Plan>, Complaint>;
}

/// A call that is understood and has not run.
#[async_trait]
pub trait Plan: Send {
    /// Everything that [`Plan::run`] will do.
    fn intent(&self) -> &Intent;

    /// Does it. Ends soon after `cancel` is cancelled, and then says [`CallStatus::Interrupted`].
    /// A failure is an [`Outcome`] as well.
    async fn run(
        self: Box<Self>,
        scene: &Scene,
        output: &mut dyn Output,
        cancel: &CancellationToken,
    ) -> Outcome;
}

/// What the model is told when a call cannot be made as it wrote it: what was
/// wrong with which field, and what to write instead.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Complaint(pub String);

impl fmt::Display for Complaint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// Where calls happen: one for a conversation.
#[derive(Clone)]
pub struct Scene {
    /// What relative paths are relative to, and where commands run.
    pub workspace: PathBuf,
    /// Which files the conversation has seen.
    pub files: Arc<FileMemory>,
    /// Where whole outputs are kept.
    pub artifacts: Arc<dyn ArtifactSource>,
    /// What runs command lines, by `-c`. [`crate::bash::find_shell`] finds one.
    pub shell: PathBuf,
    /// How long a command line may run when the model does not say.
    pub command_timeout: Duration,
    /// Whether a file below a directory may be read: rules can forbid what a search would otherwise show.
    pub may_read: Arc<dyn Fn(&Path) -> bool + Send + Sync>,
    /// Whether the model that called can look at pictures.
    pub images: ImageSupport,
    /// The form in which the model that called writes its edits.
    pub edit_form: EditForm,
    /// Texts as the model saw them.
    pub snapshots: Arc<dyn Snapshots>,
    /// What holds the commands of this very call.
    pub jail: Option<Walls>,
    /// Variables that commands get although they look like secrets.
    pub keep_variables: Arc<[OsString]>,
    /// What the person said to the question of this very call.
    pub said: Option<Said>,
    /// The commands that run.
    pub jobs: Arc<Jobs>,
    /// What commands left behind for later ones.
    pub shell_state: Arc<SharedShellState>,
    /// Which instruction files the model has been shown.
    pub instructions: Arc<Instructions>,
    /// What the agent means to do.
    pub todos: Arc<TodoBoard>,
}

impl Scene {
    /// A process of this call, held as its commands are.
    #[must_use]
    pub fn held(&self, spawn: Spawn) -> Spawn {
        let spawn = spawn.keeping(self.keep_variables.iter().cloned());
        match &self.jail {
            Some(jail) => spawn.jailed(Arc::clone(jail.jail())),
            None => spawn,
        }
    }
}

/// Whether a model can look at pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ImageSupport {
    /// It can.
    Accepted,
    /// It cannot, or nothing is known of it.
    #[default]
    Refused,
}

/// Where texts are kept as the model saw them, by what they are.
pub trait Snapshots: Send + Sync {
    /// Keeps a text under a key that follows from it. What cannot be kept is only missed later.
    fn keep(&self, key: &str, text: &str);

    /// The text that was kept under this key in this conversation.
    fn find(&self, key: &str) -> Option<String>;
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoSnapshots;

impl Snapshots for NoSnapshots {
    fn keep(&self, _: &str, _: &str) {}

    fn find(&self, _: &str) -> Option<String> {
        None
    }
}

/// Where whole outputs are kept.
#[async_trait]
pub trait ArtifactSource: Send + Sync {
    /// The file that holds an artifact, if there is one of that name in this conversation.
    async fn path(&self, id: &ArtifactId) -> Option<PathBuf>;
}

/// Where a call prints. The engine bounds, streams and keeps what is written.
pub trait Output: Send {
    /// Takes bytes that need not be whole lines or valid UTF-8.
    fn write(&mut self, bytes: &[u8]);

    /// Says that what is written from now on is what a program prints on a terminal: see
    /// [`Bounder::expect_terminal`](crate::bound::Bounder::expect_terminal).
    fn expect_terminal(&mut self) {}
}

/// What became of a call that ran.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// `Completed`, `Failed` or `Interrupted`.
    pub status: CallStatus,
    /// What a face shows.
    pub display: Display,
    /// What the model is told after the bounded output, and what is never cut: exit codes, hints, failures.
    pub trailer: Option<String>,
    /// Pictures that the model is shown with the output.
    pub pictures: Vec<Picture>,
}

/// A picture in one of the forms that models take.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Picture {
    /// `image/png`, `image/jpeg`, `image/webp` or `image/gif`.
    pub media_type: &'static str,
    /// The file.
    pub bytes: Vec<u8>,
}

impl Outcome {
    /// It did what it said.
    #[must_use]
    pub fn completed(display: Display) -> Self {
        Self { status: CallStatus::Completed, display, trailer: None, pictures: Vec::new() }
    }

    /// It could not do it; the model is told why.
    #[must_use]
    pub fn failed(display: Display, message: impl Into<String>) -> Self {
        Self {
            status: CallStatus::Failed,
            display: display.with_summary("failed"),
            trailer: Some(message.into()),
            pictures: Vec::new(),
        }
    }

    /// It was stopped.
    #[must_use]
    pub fn interrupted(display: Display) -> Self {
        Self {
            status: CallStatus::Interrupted,
            display: display.with_summary("interrupted"),
            trailer: Some("[interrupted by the user]".to_owned()),
            pictures: Vec::new(),
        }
    }

    /// With words after the output.
    #[must_use]
    pub fn with_trailer(mut self, trailer: Option<String>) -> Self {
        self.trailer = trailer;
        self
    }
}
