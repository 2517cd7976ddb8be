//! The store as its users see it: real files, real SQLite, real processes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod artifacts;
mod child;
mod files;
mod journal;
mod leases;
mod processes;
mod salvage;
mod sample;
mod sessions;
mod statistics;
mod tree;
