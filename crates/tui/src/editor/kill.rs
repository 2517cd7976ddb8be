//! Text that was killed and can be yanked.
//!
//! Invariant: at most [`LIMIT`] texts are kept, the newest last.

/// How many killed texts are kept.
const LIMIT: usize = 60;

/// On which side of the cursor text was killed; kills in a row are joined in reading order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Side {
    /// Before the cursor.
    Left,
    /// After the cursor.
    Right,
}

/// Whether a kill comes right after another one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Run {
    /// The first of a row.
    First,
    /// Joined to the one before.
    Next,
}

/// The kill ring.
#[derive(Debug, Clone, Default)]
pub(crate) struct KillRing {
    texts: Vec<String>,
    /// How many steps back from the newest the last yank was.
    turned: usize,
}

impl KillRing {
    pub(crate) fn kill(&mut self, text: &str, side: Side, run: Run) {
        if text.is_empty() {
            return;
        }
        self.turned = 0;
        match (run, self.texts.last_mut()) {
            (Run::Next, Some(last)) if side == Side::Left => last.insert_str(0, text),
            (Run::Next, Some(last)) => last.push_str(text),
            _ => {
                self.texts.push(text.to_owned());
                if self.texts.len() > LIMIT {
                    self.texts.remove(0);
                }
            }
        }
    }

    /// The newest text.
    pub(crate) fn newest(&mut self) -> Option<&str> {
        self.turned = 0;
        self.texts.last().map(String::as_str)
    }

    /// The text before the one that was yanked last, around the ring.
    pub(crate) fn turn(&mut self) -> Option<&str> {
        self.turned = (self.turned + 1) % self.texts.len().max(1);
        self.texts.iter().rev().nth(self.turned).map(String::as_str)
    }

    /// Rewrites every text, such as when what it refers to is gone.
    pub(crate) fn rewrite(&mut self, rewrite: impl Fn(&str) -> String) {
        for text in &mut self.texts {
            *text = rewrite(text);
        }
        self.texts.retain(|text| !text.is_empty());
    }
}
