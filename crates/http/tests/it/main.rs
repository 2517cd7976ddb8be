//! The client and the replay server over real loopback sockets.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod callback;
mod client;
mod fetch;
mod record;
mod replay;
mod server;
mod tls;
