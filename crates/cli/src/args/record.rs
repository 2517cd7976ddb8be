//! The arguments of `rein audit` and `rein replay`: what was recorded, to be read
//! and to be played back.

use std::path::PathBuf;

use clap::Args;
use rein_protocol::Mode;

use super::mode_parser;

/// What of the record is exported.
#[derive(Debug, Args)]
pub struct AuditArguments {
    /// Only this session: its id, or the beginning or end of it
    #[arg(long, value_name = "ID")]
    pub session: Option<String>,
    /// Only what happened since then: 2026-01-31, 2026-01-31T12:00:00Z, or 90m, 24h, 7d ago
    #[arg(long, value_name = "WHEN")]
    pub since: Option<String>,
    /// One JSON object a line
    #[arg(long)]
    pub json: bool,
}

/// What is played back, and what may run meanwhile.
#[derive(Debug, Args)]
pub struct ReplayArguments {
    /// What `rein -p … --record FILE` wrote
    pub file: PathBuf,
    /// How much runs without asking [default: as recorded, but no more than the settings permit]
    ///
    /// Tools run for real, in this directory.
    #[arg(long, value_name = "MODE", value_parser = mode_parser())]
    pub mode: Option<Mode>,
    /// Permit something that would be asked for, as when it was recorded
    #[arg(long, value_name = "SPEC")]
    pub allow: Vec<String>,
    /// Refuse something, as when it was recorded
    #[arg(long, value_name = "SPEC")]
    pub deny: Vec<String>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}
