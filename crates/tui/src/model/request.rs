//! What the face asks beside turns, of the service or of the host, and what
//! comes back. Who asks and waits is `calls`.

use std::path::PathBuf;

use rein_protocol::{
    ContextPart, ContextUse, EntryId, GivenGrant, SessionId, SessionInfo, Snapshot, TreeNode,
};

use crate::host::{Finding, ModelChoice, OwnTheme, RuleLine, Setting};

/// Something to be asked.
#[derive(Debug, Clone, PartialEq)]
pub enum Request {
    /// Which models there are.
    Models,
    /// The places of the session.
    Tree,
    /// What is allowed for longer than once, and by rules.
    Permissions,
    /// What the next request consists of.
    Context,
    /// The session as it is, for something.
    Look(Purpose),
    /// Make room in the window.
    Compact {
        /// With a view to.
        focus: Option<String>,
    },
    /// Go on in a new session with a summary.
    Handoff {
        /// With a view to.
        focus: Option<String>,
    },
    /// A new session from a place of one.
    Fork {
        /// Which; the open one if absent.
        session: Option<SessionId>,
        /// The place; the last if absent.
        at: Option<EntryId>,
    },
    /// Name a session.
    Rename {
        /// Which; the open one if absent.
        session: Option<SessionId>,
        /// The name.
        title: String,
    },
    /// Go to an earlier place: what comes next follows on it.
    Travel(EntryId),
    /// Go to before a message of the person, to say it differently.
    Revisit(EntryId),
    /// Take a queued message back.
    TakeBack {
        /// Which.
        queued: EntryId,
        /// What to write into the editor then; nothing if it was only to be removed.
        text: String,
    },
    /// Take a grant back.
    Revoke(GivenGrant),
    /// Write the session into a file.
    Export {
        /// Which; the host chooses if absent.
        file: Option<PathBuf>,
    },
    /// Look at everything that a run needs.
    Doctor,
    /// Every setting.
    Settings,
    /// Change a setting.
    Set {
        /// Its name.
        key: String,
        /// Its value; the default if absent.
        value: Option<String>,
    },
    /// The user's own themes.
    Themes,
}

/// What a session is looked at for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// To choose an earlier message.
    Messages,
    /// To see what was changed.
    Diff,
    /// To count.
    Stats,
    /// To copy the last answer.
    Copy,
    /// To learn how full the window is.
    Window,
}

/// What came back.
#[derive(Debug)]
pub enum Answer {
    /// The models.
    Models(Vec<ModelChoice>),
    /// The tree.
    Tree(Vec<TreeNode>),
    /// Grants and rules.
    Permissions(Vec<GivenGrant>, Vec<RuleLine>),
    /// The parts of a request, and how full the window is.
    Context(Vec<ContextPart>, Option<ContextUse>),
    /// The session.
    Looked(Purpose, Box<Snapshot>),
    /// There is a new session to go on with.
    Began(SessionInfo, &'static str),
    /// A session has another name.
    Renamed(SessionId, String),
    /// What is to be edited.
    ToEdit(String),
    /// What was found.
    Doctor(Vec<Finding>),
    /// The settings.
    Settings(Vec<Setting>),
    /// The themes.
    Themes(Vec<OwnTheme>),
    /// It is done, and this is to be said.
    Said(String),
    /// It is done.
    Done,
    /// It was not done, and why.
    Failed(String),
}

impl Request {
    /// Whether it may take long, so that nothing else waits for it.
    #[must_use]
    pub fn is_slow(&self) -> bool {
        matches!(
            self,
            Self::Models
                | Self::Handoff { .. }
                | Self::Doctor
                | Self::Settings
                | Self::Set { .. }
                | Self::Themes
        )
    }
}
