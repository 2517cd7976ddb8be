//! The broker and the gate as a whole: tables for what each mode and layer does, and
//! properties that hold for all rules.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod broker;
mod cases;
mod commands;
mod properties;
mod rights;
mod table;
