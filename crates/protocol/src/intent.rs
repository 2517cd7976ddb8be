//! What a call would do, said before it does anything.
//!
//! A tool computes an [`Intent`] from its arguments without side effects. The
//! gate judges it, a face previews it, and calls are ordered by it.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::display::Display;
use crate::question::Question;

/// One thing a call would do to the world. Paths are absolute, with `..` and
/// symbolic links resolved as far as they exist.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Effect {
    /// Reads a file or what is below a directory.
    Read {
        /// Which.
        #[serde(with = "crate::path_text")]
        #[schemars(with = "String")]
        path: PathBuf,
    },
    /// Creates or changes a file.
    Write {
        /// Which.
        #[serde(with = "crate::path_text")]
        #[schemars(with = "String")]
        path: PathBuf,
    },
    /// Runs a command line in a shell.
    Execute {
        /// As the shell gets it.
        command: String,
        /// Where.
        #[serde(with = "crate::path_text")]
        #[schemars(with = "String")]
        cwd: PathBuf,
        /// Shell text that says what earlier commands left behind: functions, variables and a changed
        /// path that this one is run with. It is read as if it came before the command.
        #[serde(default, skip_serializing_if = "String::is_empty")]
        prelude: String,
    },
    /// Talks to a host.
    Fetch {
        /// What is asked of it.
        url: String,
    },
    /// Runs a command of this call with more rights than commands have.
    Widen {
        /// Which.
        right: Right,
    },
    /// Puts a question to the person.
    Consult {
        /// The question.
        question: Question,
    },
}

/// A right beyond those that a confined command has.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Right {
    /// To reach other machines.
    Network,
    /// To change a file or what is below a directory.
    Write {
        /// Which.
        #[serde(with = "crate::path_text")]
        #[schemars(with = "String")]
        path: PathBuf,
    },
    /// To do whatever the user can.
    Unconfined,
}

impl Right {
    /// As rules name it.
    #[must_use]
    pub fn resource(&self) -> String {
        match self {
            Self::Network => "network".to_owned(),
            Self::Write { path } => format!("write {}", path.display()),
            Self::Unconfined => "off".to_owned(),
        }
    }
}

/// How much harm an effect can do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Tier {
    /// Looks only.
    Read,
    /// Changes files.
    Write,
    /// Talks to the network.
    Net,
    /// Runs programs.
    Exec,
}

impl Effect {
    /// The tier of this effect.
    #[must_use]
    pub fn tier(&self) -> Tier {
        match self {
            Self::Read { .. } => Tier::Read,
            Self::Write { .. } => Tier::Write,
            Self::Execute { .. } | Self::Widen { .. } => Tier::Exec,
            Self::Fetch { .. } => Tier::Net,
            Self::Consult { .. } => Tier::Read,
        }
    }

    /// The resource that permission patterns are matched against.
    #[must_use]
    pub fn resource(&self) -> String {
        match self {
            Self::Read { path } | Self::Write { path } => path.display().to_string(),
            Self::Execute { command, .. } => command.clone(),
            Self::Fetch { url } => url.clone(),
            Self::Widen { right } => right.resource(),
            Self::Consult { question } => question.text.clone(),
        }
    }

    /// Whether two calls with these effects must run one after the other.
    #[must_use]
    pub fn conflicts_with(&self, other: &Effect) -> bool {
        match (self, other) {
            // Only how a command runs, which is an effect by itself.
            (Self::Widen { .. }, _) | (_, Self::Widen { .. }) => false,
            // A person answers one question after the other.
            (Self::Consult { .. }, Self::Consult { .. }) => true,
            (Self::Consult { .. }, _) | (_, Self::Consult { .. }) => false,
            (Self::Execute { .. }, Self::Fetch { .. }) | (Self::Fetch { .. }, _) => false,
            (Self::Execute { .. }, _) | (_, Self::Execute { .. }) => true,
            (Self::Write { path: a }, Self::Write { path: b } | Self::Read { path: b })
            | (Self::Read { path: a }, Self::Write { path: b }) => a.starts_with(b) || b.starts_with(a),
            (Self::Read { .. }, Self::Read { .. } | Self::Fetch { .. })
            | (Self::Write { .. }, Self::Fetch { .. }) => false,
        }
    }
}

/// What a call would do and how to show it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
pub struct Intent {
    /// Everything it would do. Nothing here means that it touches nothing outside of rein.
    pub effects: Vec<Effect>,
    /// The preview.
    pub display: Display,
}

impl Intent {
    /// The worst tier among the effects.
    #[must_use]
    pub fn tier(&self) -> Tier {
        self.effects.iter().map(Effect::tier).max().unwrap_or(Tier::Read)
    }

    /// Whether a call with this intent must wait for one with the other.
    #[must_use]
    pub fn conflicts_with(&self, other: &Intent) -> bool {
        self.effects.iter().any(|mine| other.effects.iter().any(|theirs| mine.conflicts_with(theirs)))
    }
}

/// How much runs without asking.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Mode {
    /// Reads run; what writes, executes or talks to the network asks.
    #[default]
    Tight,
    /// Edits inside the workspace run too.
    Write,
    /// Everything runs that no rule denies.
    Free,
    /// Only reads run; the rest is withheld.
    Plan,
}

impl Mode {
    /// Every mode, in the order of this type.
    pub const ALL: [Mode; 4] = [Mode::Tight, Mode::Write, Mode::Free, Mode::Plan];

    /// The word that users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Tight => "tight",
            Self::Write => "write",
            Self::Free => "free",
            Self::Plan => "plan",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn write(path: &str) -> Effect {
        Effect::Write { path: path.into() }
    }
    fn read(path: &str) -> Effect {
        Effect::Read { path: path.into() }
    }
    fn execute() -> Effect {
        Effect::Execute { command: "make".into(), cwd: "/w".into(), prelude: String::new() }
    }
    fn fetch() -> Effect {
        Effect::Fetch { url: "https://example.com".into() }
    }

    #[cfg(unix)]
    #[test]
    fn a_path_that_is_not_utf_8_can_be_written() {
        use std::os::unix::ffi::OsStrExt;
        let effect = Effect::Write { path: std::ffi::OsStr::from_bytes(b"/w/a\xff").into() };
        assert_eq!(serde_json::to_string(&effect).unwrap(), "{\"type\":\"write\",\"path\":\"/w/a\u{fffd}\"}");
    }

    #[test]
    fn conflicts_are_symmetric_and_follow_paths() {
        let all = [write("/w/a"), write("/w/b"), write("/w"), read("/w/a"), read("/w"), execute(), fetch()];
        for one in &all {
            for other in &all {
                assert_eq!(one.conflicts_with(other), other.conflicts_with(one), "{one:?} {other:?}");
            }
        }
        assert!(write("/w/a").conflicts_with(&write("/w/a")));
        assert!(write("/w/a").conflicts_with(&read("/w")));
        assert!(!write("/w/a").conflicts_with(&write("/w/b")));
        assert!(!write("/w/ab").conflicts_with(&write("/w/a")));
        assert!(!read("/w").conflicts_with(&read("/w")));
        assert!(execute().conflicts_with(&read("/w/a")));
        assert!(execute().conflicts_with(&execute()));
        assert!(!fetch().conflicts_with(&execute()));
    }
}
