//! The real binary against a real model server on loopback.

#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod answers;
mod auth;
mod basics;
mod budget;
mod config;
mod confined;
mod context;
mod crash_proof;
mod demo;
mod doctor;
mod hostile;
mod models;
mod permission;
mod permission_files;
mod plan_mode;
mod replay;
mod sessions;
mod stats;
mod stops;
mod telemetry;
mod terminal_face;

use rein_testkit::{ModelServer, Project, Rein, Script, Turn};

/// A run of the binary in a project.
fn rein(project: &Project) -> Rein {
    Rein::with_binary(env!("CARGO_BIN_EXE_rein"), project)
}

/// A run that talks to a server.
fn asking(project: &Project, server: &ModelServer) -> Rein {
    rein(project).server(server).args(["--model", "openai/test-model"])
}

fn server(turns: impl IntoIterator<Item = Turn>) -> ModelServer {
    ModelServer::start_blocking(Script::new().turns(turns))
}

/// The id in the hint at the end of a run that was no success.
#[track_caller]
fn session_in(stderr: &str) -> String {
    let hint = stderr.lines().find_map(|line| line.strip_prefix("resume with: rein --resume "));
    hint.unwrap_or_else(|| panic!("no hint in {stderr}")).to_owned()
}
