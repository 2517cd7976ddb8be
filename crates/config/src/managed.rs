//! The administrator's file: rules that hold on this machine, and the freest
//! mode that can be chosen.
//!
//! It is the same for every user and named by nobody but the program: neither
//! an argument nor the environment chooses another. That it is there and
//! cannot be read or understood is an error, as with every other file.

use rein_protocol::Mode;

use crate::error::{Refusal, Warning};
use crate::origin::{Origin, Source};
use crate::permission;
use crate::project::freedom;
use crate::quote;
use crate::shape::{Node, Shape};

/// Where the administrator's file is.
pub const MANAGED_FILE: &str = "/etc/rein/managed.toml";

/// The keys that an administrator can set.
const KEYS: [&str; 2] = ["mode", permission::TABLE];

/// The freest mode that can be chosen, and who says so.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModeLimit {
    /// Which.
    pub mode: Mode,
    /// Where it is written.
    pub origin: Origin,
}

impl ModeLimit {
    /// The mode itself, or the limit if it is freer than that.
    #[must_use]
    pub fn applied_to(&self, mode: Mode) -> Mode {
        if freedom(mode) > freedom(self.mode) { self.mode } else { mode }
    }

    /// What is said about a mode that is freer.
    pub(crate) fn warning(&self, mode: Mode, origin: &Origin) -> Option<Warning> {
        let word = |mode: Mode| quote::string(mode.name());
        let is_looser = self.applied_to(mode) != mode && origin.source != Source::Default;
        is_looser.then(|| Warning {
            origin: origin.clone(),
            key: "mode".to_owned(),
            refusal: Refusal::Managed {
                value: word(mode),
                limit: word(self.mode),
                limit_origin: self.origin.clone(),
            },
        })
    }
}

/// What of the tree of settings an administrator can set.
pub(crate) fn tree(root: &Node) -> Node {
    let fields = match &root.shape {
        Shape::Table(fields) => {
            fields.iter().filter(|(name, _)| KEYS.contains(&name.as_str())).cloned().collect()
        }
        _ => Vec::new(),
    };
    Node { shape: Shape::Table(fields), ..root.clone() }
}
