//! Arguments of `rein prompt` and `rein context`.

use clap::Subcommand;

/// What can be asked about the system prompt.
#[derive(Debug, Subcommand)]
pub enum PromptCommand {
    /// Print the system prompt of a session that begins here
    Show {
        /// For this model, as `provider/model`; families have heads of their own
        #[arg(long, value_name = "MODEL")]
        model: Option<String>,
    },
}

/// What can be asked about what a model is sent.
#[derive(Debug, Subcommand)]
pub enum ContextCommand {
    /// List every part that is sent with every request, with its tokens; of a session also the conversation
    Show {
        /// The session: its id, or the beginning or end of it; if absent, one that begins here
        session: Option<String>,
        /// For this model, as `provider/model`; a session has its own
        #[arg(long, value_name = "MODEL", conflicts_with = "session")]
        model: Option<String>,
        /// As JSON; of a session that begins here with the texts
        #[arg(long)]
        json: bool,
    },
}
