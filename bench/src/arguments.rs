//! The command line.

use std::path::PathBuf;

use clap::Parser;

/// Measures the release binary against a scripted model on loopback.
#[derive(Debug, Clone, PartialEq, Parser)]
#[command(name = "rein-bench", about, max_term_width = 100)]
pub struct Arguments {
    /// Write every value to FILE, as JSON
    #[arg(long, value_name = "FILE")]
    pub json: Option<PathBuf>,

    /// Measure only this scenario; may be given more than once
    #[arg(long, value_name = "NAME")]
    pub only: Vec<String>,

    /// Runs of each scenario
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = clap::value_parser!(u16).range(1..))]
    pub runs: u16,

    /// Measure this binary instead of building target/release/rein
    #[arg(long, value_name = "PATH")]
    pub binary: Option<PathBuf>,

    /// Also what takes long and much disk
    #[arg(long)]
    pub large: bool,

    /// Exit with 1 if a target is missed
    #[arg(long)]
    pub strict: bool,

    /// Name the scenarios and measure nothing
    #[arg(long)]
    pub list: bool,
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_definition_is_consistent_and_no_runs_are_refused() {
        Arguments::command().debug_assert();
        assert_eq!(Arguments::try_parse_from(["rein-bench"]).unwrap().runs, 10);
        assert!(Arguments::try_parse_from(["rein-bench", "--runs", "0"]).is_err());
    }
}
