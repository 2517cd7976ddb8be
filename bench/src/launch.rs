//! The launcher: starts one program, waits for it, and writes down what it used.
//!
//! It is this same binary, started anew for every run. A program's largest
//! resident set counts from the moment of the fork, when it still is that of
//! its parent: measured directly from a process that serves megabytes to it,
//! every child would seem to have them. A launcher is small.
//!
//! Standard streams, directory and environment are handed on as they are.

use std::ffi::OsString;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use crate::error::BenchError;
use crate::usage;

/// The word that makes this binary a launcher.
pub const WORD: &str = "--launch";

/// What one run took, and how it ended.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Launched {
    /// From before the start to after the end.
    pub wall_ms: f64,
    /// On processors, in the program.
    pub user_ms: f64,
    /// On processors, in the system.
    pub system_ms: f64,
    /// The largest resident set, in bytes.
    pub max_rss: u64,
    /// The exit code, if it exited.
    pub code: Option<i32>,
    /// The signal, if one ended it.
    pub signal: Option<i32>,
}

impl Launched {
    /// What a launcher wrote down.
    pub fn read(report: &Path) -> Result<Self, BenchError> {
        let text = fs::read_to_string(report).map_err(BenchError::io("read", report))?;
        serde_json::from_str(&text).map_err(|error| BenchError::io("understand", report)(error.into()))
    }
}

/// The arguments with which this binary launches a program.
pub fn arguments(report: &Path, program: &Path, arguments: &[OsString]) -> Vec<OsString> {
    let mut all = vec![WORD.into(), report.into(), program.into()];
    all.extend_from_slice(arguments);
    all
}

/// Launches what the arguments after [`WORD`] say.
pub fn launch(mut arguments: impl Iterator<Item = OsString>) -> Result<(), BenchError> {
    let mut next = || arguments.next().map(PathBuf::from).ok_or(BenchError::Launch);
    let (report, program) = (next()?, next()?);
    let began = Instant::now();
    let started = Command::new(&program).args(arguments).spawn().and_then(usage::wait);
    let wall = began.elapsed();
    let (status, usage) = started.map_err(BenchError::io("run", &program))?;
    let launched = Launched {
        wall_ms: wall.as_secs_f64() * 1e3,
        user_ms: usage.user.as_secs_f64() * 1e3,
        system_ms: usage.system.as_secs_f64() * 1e3,
        max_rss: usage.max_rss,
        code: status.code(),
        signal: status.signal(),
    };
    let text =
        serde_json::to_string(&launched).map_err(|error| BenchError::io("write", &report)(error.into()))?;
    fs::write(&report, text).map_err(BenchError::io("write", &report))
}
