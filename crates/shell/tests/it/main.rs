//! What the analysis says, seen from outside.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod bash;
mod cases;
mod constructs;
mod differential;
mod effects;
mod properties;
mod support;
mod variables;
mod wrappers;
