//! A question to a person, and the answer.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::display::Display;
use crate::id::{AskId, CallId, SessionId, TurnId};
use crate::question::{Question, Said};

/// A call that waits for a person.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Ask {
    /// What a reply names.
    pub id: AskId,
    /// Whose call it is.
    pub session: SessionId,
    /// In which turn.
    pub turn: TurnId,
    /// Which call waits.
    pub call: CallId,
    /// What needs a yes: all of it, or the call does not run.
    pub items: Vec<AskItem>,
    /// What "always" would allow from now on; empty where nothing may be allowed for good.
    #[serde(default)]
    pub always: Vec<Grant>,
    /// What will happen, for the person to look at.
    pub display: Display,
    /// What the model wants to know; the answer is [`Answer::Said`] then.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub question: Option<Question>,
}

/// One thing that needs a yes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct AskItem {
    /// The kind of thing: `edit`, `bash`, `external_directory`, `doom_loop`, …
    pub permission: String,
    /// The thing itself: a path, a command, a host.
    pub pattern: String,
    /// Why it is not simply done.
    pub reason: String,
}

/// What "always" allows: a permission and the pattern of the resources it covers.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
pub struct Grant {
    /// The kind of thing.
    pub permission: String,
    /// With `*` and `?` as wildcards.
    pub pattern: String,
}

/// How far an "always" reaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Scope {
    /// Until the session ends.
    #[default]
    Session,
    /// In every session of this workspace.
    Project,
    /// In every session.
    Everywhere,
}

/// A person's answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "type", rename_all = "snake_case")]
pub enum Answer {
    /// Yes, this call.
    Once,
    /// Yes, and do not ask for such things again.
    Always {
        /// What exactly; what the ask offered if absent.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        grants: Option<Vec<Grant>>,
        /// For how long.
        #[serde(default)]
        scope: Scope,
    },
    /// No. With words, the model is told and goes on; without, the turn ends.
    Reject {
        /// What the model should do instead.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// The answer to a question of the model.
    Said {
        /// What was said.
        #[serde(flatten)]
        said: Said,
    },
}

/// An answer to a certain ask.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Reply {
    /// Which ask.
    pub ask: AskId,
    /// The answer.
    pub answer: Answer,
}
