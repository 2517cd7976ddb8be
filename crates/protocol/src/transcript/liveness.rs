//! Whether somebody works on a session whose journal is looked at.

/// Whether a turn without an end is under way or was cut off.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Liveness {
    /// Some process works on it.
    Running,
    /// No process does.
    Dead,
}
