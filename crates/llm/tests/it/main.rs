//! Models over real loopback sockets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod accounts;
mod anthropic;
mod bedrock;
mod choose;
mod dialect;
mod discovery;
mod fuzz;
mod google;
mod kept;
mod keys;
mod login;
mod matrix;
mod pairwise;
mod property;
mod recording;
mod responses;
mod roles;
mod server;
mod speech;
mod stream;
mod switching;
mod validity;
