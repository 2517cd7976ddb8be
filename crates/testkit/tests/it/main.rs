//! The testkit's own parts, each against a counterpart written here.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod client;
mod conduct;
mod fake_service;
mod project;
mod runner;
mod server;
mod sessions;
