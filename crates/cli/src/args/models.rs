//! What `rein models` understands.

use clap::{Args, Subcommand};

/// Which models are listed, or what is done with the table of them.
#[derive(Debug, Args)]
#[command(args_conflicts_with_subcommands = true)]
pub struct ModelsArguments {
    /// Only those whose name is like this
    #[arg(value_name = "FILTER")]
    pub filter: Vec<String>,
    /// Only those that can be used now
    #[arg(long)]
    pub usable: bool,
    /// As a JSON array
    #[arg(long)]
    pub json: bool,
    #[command(subcommand)]
    pub command: Option<ModelsCommand>,
}

/// What can be done with the table of models.
#[derive(Debug, Subcommand)]
pub enum ModelsCommand {
    /// Lay a newer table of models over the one that comes with rein
    #[command(after_help = TABLE_FILE)]
    Refresh {
        /// A file, or an address that begins with https:// or http://
        #[arg(value_name = "FILE|URL")]
        source: String,
    },
}

const TABLE_FILE: &str = "\
The table is JSON as models.dev has it, or TOML:
  date = \"2026-01-31\"

  [[models]]
  provider = \"openai\"
  id = \"gpt-5\"
  context = 400000
  output = 128000
  prices = { input = 1.25, cached_input = 0.125, output = 10.0 }
It says what models are like, never where or how they are asked.";
