//! Small languages that commands carry in their arguments: what a `sed` or
//! `awk` program does besides printing.

pub mod awk;
pub mod sed;

/// Something that a program in a small language does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Deed {
    /// Runs a command.
    Executes,
    /// Writes to this file; none if its name is computed.
    Writes(Option<String>),
    /// Reads this file; none if its name is computed.
    Reads(Option<String>),
    /// Opens a connection.
    Connects,
    /// Looks at the environment.
    Environment,
    /// Cannot be read, so it may do anything.
    Unreadable,
}
