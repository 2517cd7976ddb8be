//! How much is shown beside words: of what a model thinks, and of pictures.

use super::Model;
use crate::graphics::Graphics;

/// How much of what a model thinks is shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Thoughts {
    /// The last lines while it thinks, a line when it is over.
    #[default]
    Gist,
    /// All of it.
    Whole,
    /// That it thinks, and nothing of what.
    Hidden,
}

impl Model {
    /// With pictures as the terminal wants them.
    #[must_use]
    pub fn with_graphics(mut self, graphics: Graphics) -> Self {
        self.graphics = graphics;
        self
    }

    /// With so much of what a model thinks.
    #[must_use]
    pub fn with_thoughts(mut self, thoughts: Thoughts) -> Self {
        self.thoughts = thoughts;
        self
    }

    /// Shows all of what a model thinks from now on, or a line of it.
    pub(crate) fn toggle_thoughts(&mut self) {
        let (thoughts, words) = match self.thoughts {
            Thoughts::Gist | Thoughts::Hidden => (Thoughts::Whole, "thoughts are shown whole from now on"),
            Thoughts::Whole => (Thoughts::Gist, "thoughts are one line from now on"),
        };
        self.thoughts = thoughts;
        self.remark(words);
    }
}
