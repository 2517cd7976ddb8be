//! What `rein sessions` understands.

use std::path::PathBuf;

use clap::{Subcommand, ValueEnum};
use rein_protocol::EntryId;

/// What can be done with past sessions.
#[derive(Debug, Subcommand)]
pub enum SessionsCommand {
    /// List the sessions of this directory, the last used first
    List {
        /// Those of every directory
        #[arg(long)]
        all: bool,
        /// As a JSON array
        #[arg(long)]
        json: bool,
        /// At most N of them
        #[arg(long, value_name = "N")]
        limit: Option<usize>,
    },
    /// Show what was said and done in a session
    Show {
        /// The session: its id, or the beginning or end of it
        id: String,
        /// As a JSON object, with everything that is known
        #[arg(long)]
        json: bool,
    },
    /// Begin a new session with a summary of one; that one stays as it is
    Handoff {
        /// The session: its id, or the beginning or end of it
        id: String,
        /// What matters above all
        focus: Vec<String>,
    },
    /// Write a session to a file
    Export {
        /// The session: its id, or the beginning or end of it
        id: String,
        /// What is written: every entry, or what a person would read
        #[arg(long, value_enum, default_value_t)]
        format: ExportFormat,
        /// The file; standard output if absent
        #[arg(short = 'o', long = "output", value_name = "FILE")]
        file: Option<PathBuf>,
    },
    /// Show the places of a session, on all of its branches
    Tree {
        /// The session: its id, or the beginning or end of it
        id: String,
        /// As a JSON array
        #[arg(long)]
        json: bool,
    },
    /// Begin a session with a copy of another one
    Fork {
        /// The session: its id, or the beginning or end of it
        id: String,
        /// The last entry that is copied, as `tree` names it; everything if absent
        #[arg(long, value_name = "ENTRY")]
        at: Option<EntryId>,
        /// As a JSON object
        #[arg(long)]
        json: bool,
    },
    /// Name a session
    Rename {
        /// The session: its id, or the beginning or end of it
        id: String,
        /// The name
        #[arg(required = true)]
        title: Vec<String>,
    },
}

/// The form of an export.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ExportFormat {
    /// One entry a line, complete
    #[default]
    Jsonl,
    /// A document to read
    Markdown,
}
