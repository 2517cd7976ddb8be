//! `cargo xtask`: what is done to the workspace rather than by the product.
//!
//! One file or folder a command; this one only takes the arguments apart and
//! turns a failure into a message and an exit code. Nothing here is shipped.

mod check;
mod conformance;
mod docs;
mod error;
mod probe;
mod source;
mod test;
mod workspace;

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, Subcommand};

use crate::error::XtaskError;
use crate::workspace::Workspace;

/// Tasks of the rein workspace.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask")]
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    /// Everything that has to be green: format, lints, tests, doc tests, checks.
    Test,
    /// Arrows between crates, sizes, forgotten files, generated documents, words, links, banned crates.
    Check,
    /// Writes the generated documents.
    Docs,
    /// Answers JSON lines `{"op": …, "input": …}` on stdin with JSON lines on stdout.
    Probe,
    /// Runs directories of recorded cases against the project's own functions.
    Conformance(conformance::Arguments),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    let workspace = Workspace::here();
    let mut out = std::io::stdout().lock();
    let done = match arguments.command {
        Command::Test => {
            // The children write to the same terminal.
            drop(out);
            test::run(&workspace)
        }
        Command::Check => check::run(&workspace, &mut out),
        Command::Docs => docs::write(&workspace, &mut out),
        Command::Probe => probe::run(&mut std::io::stdin().lock(), &mut out),
        Command::Conformance(arguments) => conformance::run(&workspace, &arguments, &mut out),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(XtaskError::Closed) => ExitCode::FAILURE,
        Err(error) => {
            // With stderr closed as well there is nobody left to tell.
            let _ = writeln!(std::io::stderr(), "error: {error}");
            ExitCode::FAILURE
        }
    }
}
