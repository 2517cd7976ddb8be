//! A session that is there before the face is.

use std::collections::HashSet;
use std::path::PathBuf;

use rein_protocol::{Content, Delivery, EntryBody, Mode, ModelRef, SessionId, TurnId};

use super::act::Act;
use super::default_workspace;
use super::session::{Session, Step};

/// A session that is in the store, not open.
#[must_use]
pub struct FakeSession {
    pub(super) id: SessionId,
    pub(super) session: Session,
}

impl FakeSession {
    /// An empty session in the workspace `/project`.
    #[allow(clippy::new_without_default)]
    pub fn new() -> Self {
        Self::in_workspace(default_workspace())
    }

    /// An empty session in a certain workspace.
    pub fn in_workspace(workspace: impl Into<PathBuf>) -> Self {
        let id = SessionId::new();
        Self { session: Session::new(id.clone(), workspace.into()), id }
    }

    /// Its id.
    #[must_use]
    pub fn id(&self) -> SessionId {
        self.id.clone()
    }

    /// Its title; the beginning of the first prompt unless told.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.session.title = title.into();
        self
    }

    /// The model that answers; `fake/model` unless told.
    pub fn model(mut self, model: ModelRef) -> Self {
        self.session.model = model;
        self
    }

    /// The mode that holds.
    pub fn mode(mut self, mode: Mode) -> Self {
        self.session.mode = mode;
        self
    }

    /// With an entry, as it stands.
    pub fn entry(mut self, body: EntryBody) -> Self {
        self.session.append(body);
        self
    }

    /// With a turn that came to its end. Acts that wait have no place in it.
    #[track_caller]
    pub fn turn(mut self, prompt: impl Into<String>, acts: impl IntoIterator<Item = impl Into<Act>>) -> Self {
        self.play(prompt.into(), acts);
        let step = self.session.advance(&HashSet::new());
        assert!(step == Step::Idle, "a turn of the past has no gate to hold at and nobody to ask");
        self
    }

    /// With a turn in which the process died: at the first gate or ask of the acts, or after the last of them.
    pub fn broken_turn(
        mut self,
        prompt: impl Into<String>,
        acts: impl IntoIterator<Item = impl Into<Act>>,
    ) -> Self {
        let death = "the process dies here";
        self.play(prompt.into(), acts.into_iter().map(Into::into).chain([Act::hold(death)]));
        self.session.advance(&HashSet::new());
        self.session.die();
        self
    }

    fn play(&mut self, prompt: String, acts: impl IntoIterator<Item = impl Into<Act>>) {
        self.session.begin(TurnId::new(), vec![Content::text(prompt)], Delivery::Prompt, None);
        self.session.stage(acts.into_iter().map(Into::into).collect());
    }
}
