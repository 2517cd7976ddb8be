//! The terminal face: `protocol::Service` for a person at a terminal.

pub mod line;
