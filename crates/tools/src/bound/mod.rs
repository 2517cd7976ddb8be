//! Keeping what a model is told small, whatever a tool prints.
//!
//! [`Bounder`] takes bytes as they come, in constant memory; [`truncate`] cuts a
//! text that is there already. Neither writes anywhere: who uses a `Bounder`
//! keeps the whole output when it says so.

mod bounder;
mod cut;

pub use bounder::{Bounder, Limits, Spill};
pub use cut::{Keep, Truncated, truncate};

/// Characters of a line that are shown.
pub const LINE_CHARS: usize = 2_000;

/// Characters of a line that are shown if a program printed it.
pub const TERMINAL_LINE_CHARS: usize = 768;

/// Bytes that a model is told of one call.
pub const OUTPUT_BYTES: usize = 50 * 1024;

/// Lines that a model is told of one call.
pub const OUTPUT_LINES: usize = 2_000;
