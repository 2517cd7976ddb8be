//! What `rein auth` understands.

use clap::{Args, Subcommand};

/// What can be done about keys and logins.
#[derive(Debug, Subcommand)]
pub enum AuthCommand {
    /// Store a key for a provider, or log in to it with a browser
    Login(LoginArguments),
    /// Remove what is stored for a provider
    Logout {
        /// The provider, for example openai
        #[arg(required_unless_present = "all")]
        provider: Option<String>,
        /// Everything that is stored
        #[arg(long, conflicts_with = "provider")]
        all: bool,
    },
    /// List what is stored
    List {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Show which key each provider is asked with, and where it comes from
    Status(StatusArguments),
}

/// What is shown of keys.
#[derive(Debug, Args)]
pub struct StatusArguments {
    /// Only this provider
    pub provider: Option<String>,
    /// Ask the provider for its models with it
    #[arg(long)]
    pub check: bool,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// How one logs in.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("way").args(["key_from_stdin", "command", "browser", "device"]))]
pub struct LoginArguments {
    /// The provider, for example openai
    pub provider: Option<String>,
    /// Read the key from standard input
    #[arg(long)]
    pub key_from_stdin: bool,
    /// It is a token, sent as a bearer's whatever the provider wants of keys
    #[arg(long, conflicts_with_all = ["command", "browser", "device"])]
    pub token: bool,
    /// Keep a command that prints the key instead of the key, for example 'pass show openai'
    #[arg(long, value_name = "COMMAND")]
    pub command: Option<String>,
    /// Log in with a browser on this machine
    #[arg(long)]
    pub browser: bool,
    /// Log in with a code that is typed into a page on any device
    #[arg(long)]
    pub device: bool,
    /// Keep it in a file that only you can read, not in the keyring of the system
    #[arg(long)]
    pub file: bool,
    /// Keep what is stored for the provider, and use this if that is turned away
    #[arg(long)]
    pub add: bool,
}
