//! What `rein stats` understands.

use clap::{Args, Subcommand, ValueEnum};

/// Which statistics are shown.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct StatsArguments {
    /// Of the last N days, today included
    #[arg(long, value_name = "N", default_value_t = 30, value_parser = clap::value_parser!(u32).range(1..=36_500))]
    pub days: u32,
    /// A row for each of these
    #[arg(long, value_name = "WHAT", value_enum, default_value_t)]
    pub by: GroupBy,
    /// As JSON
    #[arg(long)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Option<StatsCommand>,
}

/// What else can be shown.
#[derive(Debug, Subcommand)]
pub enum StatsCommand {
    /// Show for each step of a session how much of its prompt the provider's cache served, and why it was less
    Cache {
        /// The session: its id, or the beginning or end of it [default: the last of this directory]
        session: Option<String>,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// What a row stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum GroupBy {
    /// A day of this machine's clock
    #[default]
    Day,
    /// A model
    Model,
    /// A directory that sessions worked in
    Project,
    /// A tool
    Tool,
}
