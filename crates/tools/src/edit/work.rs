//! A count of the steps that comparing may take, so that no content and no
//! `old` make an edit slow.

/// Steps of comparing characters or lines in one edit. Enough for every block of ordinary code, and
/// some tens of milliseconds.
pub(super) const MOST: u64 = 20_000_000;

/// What is left to be spent.
#[derive(Debug)]
pub(super) struct Work {
    left: u64,
}

impl Work {
    /// So many steps.
    pub(super) fn of(steps: u64) -> Self {
        Self { left: steps }
    }

    /// Takes steps. False if there are not so many left; then there are none left at all.
    pub(super) fn spend(&mut self, steps: usize) -> bool {
        match self.left.checked_sub(steps as u64) {
            Some(left) => {
                self.left = left;
                true
            }
            None => {
                self.left = 0;
                false
            }
        }
    }

    /// How much is left.
    #[cfg(test)]
    pub(super) fn left(&self) -> u64 {
        self.left
    }

    /// Whether nothing is left.
    pub(super) fn is_spent(&self) -> bool {
        self.left == 0
    }
}
