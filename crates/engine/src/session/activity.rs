//! What a session does at the moment.

use rein_protocol::{SessionState, ToolCall, TurnId};
use tokio_util::sync::CancellationToken;

pub(super) enum Activity {
    Idle,
    Running {
        turn: TurnId,
        steps: u32,
        cancel: CancellationToken,
        /// Ends the step that is under way and not the turn. A child of `cancel`.
        nudge: CancellationToken,
    },
    /// A turn whose process had died.
    Broken {
        turn: TurnId,
        steps: u32,
        pending: Vec<ToolCall>,
    },
}

impl Activity {
    /// As the service tells it.
    pub(super) fn state(&self) -> SessionState {
        match self {
            Self::Idle => SessionState::Idle,
            Self::Running { turn, .. } => SessionState::Running { turn: turn.clone() },
            Self::Broken { turn, .. } => SessionState::Broken { turn: turn.clone() },
        }
    }

    /// Whether a turn is on its way to its end because somebody wants it so.
    pub(super) fn is_interrupted(&self) -> bool {
        matches!(self, Self::Running { cancel, .. } if cancel.is_cancelled())
    }

    /// Whether the step under way is on its way to its end, with or without its turn.
    pub(super) fn is_nudged(&self) -> bool {
        matches!(self, Self::Running { nudge, .. } if nudge.is_cancelled())
    }
}
