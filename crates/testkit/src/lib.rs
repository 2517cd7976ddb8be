//! Real counterparts for tests: a model server that can misbehave, a fake
//! [`Service`](rein_protocol::Service), temporary projects, a runner for the
//! binary. Not shipped.
//!
//! Layout: [`model_server`] speaks HTTP and SSE on loopback from a script;
//! [`fake_service`] plays sessions to a face; [`project`] makes directories
//! with a home of their own; [`runner`] starts the real binary in them.
//!
//! Nothing here reaches beyond loopback or touches a real home directory, and
//! nothing waits without end: every wait that a test can hang in gives up with
//! a panic that says what was waited for.

// Test support fails by panicking, as a test does.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, clippy::print_stderr)]

pub mod fake_service;
pub mod model_server;
pub mod project;
pub mod runner;

pub use fake_service::{Act, FaceCall, FakeCall, FakeService, FakeSession, Operation};
pub use model_server::{ModelServer, RecordedRequest, Said, SaidCall, Script, ScriptFile, Turn};
pub use project::Project;
pub use runner::{Output, Rein, Running, Signal};
