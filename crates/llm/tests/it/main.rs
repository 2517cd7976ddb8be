//! Models over real loopback sockets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod anthropic;
mod bedrock;
mod choose;
mod discovery;
mod google;
mod property;
mod responses;
mod server;
mod stream;
mod switching;
