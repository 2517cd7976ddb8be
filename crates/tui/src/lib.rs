//! The terminal face: `protocol::Service` for a person at a terminal.
//!
//! Layout: [`model`] is the state and what changes it, [`view`] what it looks
//! like, both pure; [`screen`] turns lines into the fewest bytes, [`paint`] into
//! what this terminal understands; `shell` is the loop around them, with
//! `terminal`, `worker` (calls of the service) and `keep` (files) as its hands.
//! [`line`] is what all of them speak, [`neutral`] disarms untrusted text. The
//! parts are [`editor`], [`markdown`] with [`highlight`], and [`picker`].
//! [`bindings`] says which key does what, [`theme`] which colour means what,
//! [`host`] what is asked of the program around, and [`calls`] asks it.
//!
//! What is finished is written once into the terminal's own scrollback and never
//! touched again; only a small region below it is live.

pub mod bindings;
mod branch;
pub mod calls;
mod clipboard;
pub mod editor;
mod files;
pub mod graphics;
pub mod hands;
pub mod highlight;
pub mod host;
pub mod image;
mod keep;
pub mod line;
pub mod markdown;
pub mod model;
pub mod neutral;
mod outside;
pub mod paint;
pub mod picker;
pub mod screen;
mod shell;
mod signals;
mod terminal;
pub mod theme;
pub mod view;
pub mod welcome;
mod worker;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;

use rein_protocol::{ModelRef, OpenSession, ServiceError, SessionId};

pub use bindings::{BindingError, Bindings};
pub use editor::{Editing, Keymap};
pub use graphics::Graphics;
pub use hands::Hands;
pub use host::Host;
pub use model::Thoughts;
pub use paint::{Ink, Letters, Palette};
pub use screen::{Cover, Reflow, Size};
pub use shell::run;
pub use theme::Theme;
pub use view::StatusPart;

/// What the face is told.
#[derive(Clone)]
pub struct TuiOptions {
    /// The session to begin with.
    pub open: OpenSession,
    /// Something to say at once.
    pub prompt: Option<String>,
    /// Where drafts and history are kept; nowhere if absent.
    pub state_directory: Option<PathBuf>,
    /// Models to choose from.
    pub models: Vec<ModelRef>,
    /// What the terminal can show.
    pub palette: Palette,
    /// What it does when it becomes narrower.
    pub reflow: Reflow,
    /// Where it shows what covers everything.
    pub cover: Cover,
    /// How keys are understood.
    pub editing: Editing,
    /// Which key does what.
    pub bindings: Bindings,
    /// What the status line shows, in this order.
    pub status: Vec<StatusPart>,
    /// The theme, by its name, and what is in it. For `auto` this is the dark one until the terminal was asked.
    pub theme: (String, Theme),
    /// How much of what a model thinks is shown.
    pub thoughts: Thoughts,
    /// How the terminal wants pictures.
    pub graphics: Graphics,
    /// What is asked about settings and the machine; nothing can be, if absent.
    pub host: Option<Arc<dyn Host>>,
    /// What the program around the face does for it.
    pub hands: Arc<dyn Hands>,
}

impl std::fmt::Debug for TuiOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("TuiOptions")
            .field("open", &self.open)
            .field("theme", &self.theme)
            .finish_non_exhaustive()
    }
}

impl TuiOptions {
    /// For this terminal, as the environment describes it.
    #[must_use]
    pub fn new(open: OpenSession) -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        Self {
            open,
            prompt: None,
            state_directory: None,
            models: Vec::new(),
            palette: Palette::detect(variable),
            reflow: Reflow::detect(variable),
            cover: Cover::detect(variable),
            editing: Editing::default(),
            bindings: Bindings::default(),
            status: StatusPart::ALL.to_vec(),
            theme: ("terminal".to_owned(), Theme::default()),
            thoughts: Thoughts::default(),
            graphics: Graphics::detect(variable),
            host: None,
            hands: Arc::new(hands::Nobody),
        }
    }
}

/// How the face ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Exit {
    /// Who ended it.
    pub ended: Ended,
    /// The session that was open, if something was said in it.
    pub session: Option<SessionId>,
}

/// Who ended the face.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// The person.
    Quit,
    /// SIGINT.
    Interrupted,
    /// SIGTERM.
    Terminated,
    /// SIGHUP, or the terminal went away.
    HungUp,
}

/// Why the face could not be shown.
#[derive(Debug, thiserror::Error)]
pub enum TuiError {
    /// The terminal did not do what terminals do.
    #[error("the terminal cannot be used: {0}; without one, ask with: rein -p 'PROMPT'")]
    Terminal(#[source] io::Error),
    /// The first session cannot be opened.
    #[error(transparent)]
    Open(ServiceError),
    /// Signals cannot be handled.
    #[error("signals cannot be handled: {0}")]
    Signals(#[source] io::Error),
}
