//! `cargo xtask test`: everything that has to be green, in the order in which
//! a failure is cheapest to find, stopping at the first.
//!
//! It builds into the same directory with the same settings as a plain
//! `cargo test`, so that nothing is compiled twice.

use std::io::Write;
use std::process::{Command, Stdio};

use crate::check;
use crate::error::XtaskError;
use crate::workspace::{Workspace, cargo, clean};

/// Programs that the tests run, and the Debian package of each.
const PROGRAMS: [(&str, &str); 8] = [
    ("git", "git"),
    ("bash", "bash"),
    ("bwrap", "bubblewrap"),
    ("make", "make"),
    ("node", "nodejs"),
    ("ps", "procps"),
    ("python3", "python3"),
    ("script", "bsdutils"),
];

/// Runs it all.
pub fn run(workspace: &Workspace) -> Result<(), XtaskError> {
    heading("prerequisites")?;
    for (program, package) in PROGRAMS {
        if !is_installed(program) {
            install(program, package)?;
        }
    }
    for (component, command) in [("rustfmt", "fmt"), ("clippy", "clippy")] {
        if !answers(&cargo(), &[command, "--version"]) {
            let remedy = format!("run `rustup component add {component}`");
            return Err(XtaskError::Missing { what: format!("`cargo {command}`"), remedy });
        }
    }
    step(workspace, &["fmt", "--all", "--check"], Some("run `cargo fmt --all`"))?;
    step(workspace, &["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"], None)?;
    if answers(&cargo(), &["nextest", "--version"]) {
        step(workspace, &["nextest", "run", "--workspace"], None)?;
    } else {
        step(workspace, &["test", "--workspace", "--all-targets"], None)?;
    }
    step(workspace, &["test", "--doc", "--workspace"], None)?;
    heading("cargo xtask check")?;
    check::run(workspace, &mut std::io::stdout().lock())
}

fn step(workspace: &Workspace, arguments: &[&str], hint: Option<&'static str>) -> Result<(), XtaskError> {
    let shown = format!("cargo {}", arguments.join(" "));
    heading(&shown)?;
    let mut command = clean(Command::new(cargo()));
    command.args(arguments).current_dir(workspace.root()).stdin(Stdio::null());
    let status = command.status().map_err(|error| XtaskError::Start { program: shown.clone(), error })?;
    if status.success() { Ok(()) } else { Err(XtaskError::Failed { program: shown, status, hint }) }
}

fn heading(text: &str) -> Result<(), XtaskError> {
    let mut out = std::io::stdout().lock();
    writeln!(out, "\n== {text}").and_then(|()| out.flush()).map_err(XtaskError::output)
}

fn is_installed(program: &str) -> bool {
    answers(program, &["--version"])
}

fn answers(program: &str, arguments: &[&str]) -> bool {
    let mut command = clean(Command::new(program));
    command.args(arguments).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

/// Installs a Debian package where that is possible without asking anybody.
fn install(program: &str, package: &str) -> Result<(), XtaskError> {
    let missing = || XtaskError::Missing {
        what: format!("`{program}`"),
        remedy: format!("install it, on Debian and Ubuntu with `sudo apt-get install {package}`"),
    };
    if !is_installed("apt-get") || !is_root() {
        return Err(missing());
    }
    let apt = |arguments: &[&str]| {
        let mut command = Command::new("apt-get");
        command.args(arguments).env("DEBIAN_FRONTEND", "noninteractive").stdin(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    };
    let install = || apt(&["install", "-y", "--no-install-recommends", package]);
    // The package list of a fresh machine is empty or old.
    let installed = install() || (apt(&["update"]) && install());
    if installed && is_installed(program) { Ok(()) } else { Err(missing()) }
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").stdin(Stdio::null()).output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
