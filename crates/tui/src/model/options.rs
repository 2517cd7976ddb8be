//! What a face is told before anything happens.

use rein_protocol::ModelRef;

use super::Model;
use super::choose::Themes;
use crate::bindings::Bindings;
use crate::editor::{Draft, Editing, History, ImageProbe};
use crate::theme::Theme;
use crate::theme::background::Background;
use crate::view::StatusPart;

impl Model {
    /// With models to choose from.
    #[must_use]
    pub fn with_models(mut self, models: Vec<ModelRef>) -> Self {
        self.models = models;
        self
    }

    /// With keys of the person's choice.
    #[must_use]
    pub fn with_keys(mut self, bindings: Bindings, editing: Editing) -> Self {
        self.editor = std::mem::take(&mut self.editor).with_keymap(bindings.editor().clone());
        self.editor.set_editing(editing);
        self.bindings = bindings;
        self
    }

    /// With a host that can be asked.
    #[must_use]
    pub fn with_host(mut self) -> Self {
        self.has_host = true;
        self
    }

    /// With these parts in the status line.
    #[must_use]
    pub fn with_status(mut self, parts: Vec<StatusPart>) -> Self {
        self.status = parts;
        self
    }

    /// With a theme, and what is behind the text as far as that is known.
    #[must_use]
    pub fn with_theme(mut self, name: &str, theme: Theme, background: Option<Background>) -> Self {
        self.theme = Themes::new(name, theme, background);
        self
    }

    /// What things are painted with now.
    #[must_use]
    pub fn theme(&self) -> Theme {
        self.theme.shown()
    }

    /// With a way to tell images from other files.
    #[must_use]
    pub fn with_image_probe(mut self, probe: ImageProbe) -> Self {
        self.editor = std::mem::take(&mut self.editor).with_image_probe(probe);
        self
    }

    /// With what was sent and drafted before.
    #[must_use]
    pub fn with_memory(mut self, history: History, draft: Draft) -> Self {
        self.editor = std::mem::take(&mut self.editor).with_history(history);
        self.editor.restore(draft);
        self
    }
}
