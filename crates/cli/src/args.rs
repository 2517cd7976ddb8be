//! The command line: what can be asked of the binary, and nothing about how it
//! is done.

mod auth;
mod budget;
mod context;
mod models;
mod record;
mod sessions;
mod shell;
mod stats;

use std::path::PathBuf;

use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use rein_protocol::Mode;

use crate::exit::EXIT_CODES;
pub use auth::{AuthCommand, LoginArguments, StatusArguments};
pub use budget::BudgetArguments;
pub use context::{ContextCommand, PromptCommand};
pub use models::{ModelsArguments, ModelsCommand};
pub use record::{AuditArguments, ReplayArguments};
pub use sessions::{ExportFormat, SessionsCommand};
pub use shell::CompletionShell;
pub use stats::{GroupBy, StatsArguments, StatsCommand};

const EXAMPLES: &str = "\
Examples:
  rein demo                                   see it work, without a key or a network
  rein -p 'what does src/main.rs do?'         ask about this directory
  git diff | rein -p 'review this change'     add a file or a command's output
  rein -p 'fix the typo' --allow 'edit:docs/**'
  rein --continue -p 'now add a test'         go on with the last session here
  rein -p 'list the tests' --output json      for scripts";

/// An AI coding agent for the terminal: a model proposes; rein plans, asks,
/// records, and only then runs.
///
/// Without a person to ask, everything that writes, runs programs or talks to
/// the network is refused unless --allow, --mode or the settings permit it.
#[derive(Debug, Parser)]
#[command(
    name = "rein",
    version,
    after_help = "`rein --help` has more, with examples and the exit codes.",
    after_long_help = format!("{EXAMPLES}\n\n{EXIT_CODES}"),
    max_term_width = 100
)]
pub struct Arguments {
    #[command(flatten)]
    pub run: RunArguments,
    #[command(flatten)]
    pub shared: SharedArguments,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// What a headless run is told.
#[derive(Debug, Clone, PartialEq, Default, Args)]
pub struct RunArguments {
    /// Run without a terminal UI: do PROMPT, print the answer, exit
    ///
    /// The prompt is taken from the arguments, from standard input if that is
    /// not a terminal, or from both: then what was piped in is put after the
    /// words of the prompt, between <stdin> and </stdin>.
    #[arg(short, long, value_name = "PROMPT", num_args = 0.., help_heading = "Run")]
    pub print: Option<Vec<String>>,

    /// More words of the prompt
    #[arg(value_name = "PROMPT", help_heading = "Run", hide = true)]
    pub words: Vec<String>,

    /// What is printed on standard output
    #[arg(
        long,
        visible_alias = "output-format",
        value_name = "FORMAT",
        value_enum,
        default_value_t,
        help_heading = "Run"
    )]
    pub output: OutputFormat,

    /// Say nothing of what the agent does; errors and refusals are still told
    #[arg(short, long, help_heading = "Run")]
    pub quiet: bool,

    /// The model, as provider/name [default: from the settings, or the first that can be used]
    #[arg(short, long, value_name = "MODEL", help_heading = "Run")]
    pub model: Option<String>,

    /// A picture that goes with the prompt: PNG, JPEG, WebP or GIF; can be given several times
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub image: Vec<PathBuf>,

    /// Stop after so many calls of the model; 0 for no cap [default: from the settings]
    #[arg(long, value_name = "N", help_heading = "Run")]
    pub max_steps: Option<u32>,

    #[command(flatten)]
    pub budget: BudgetArguments,

    /// Write what is sent to the model and what it answers to FILE, without keys, for `rein replay`
    ///
    /// One JSON object a line. The file must not exist yet; only you can read
    /// it. What the model was shown is in it: files, output, prompts.
    #[arg(long, value_name = "FILE", help_heading = "Run")]
    pub record: Option<PathBuf>,

    /// Go on with the last session of this directory
    #[arg(short, long = "continue", conflicts_with = "resume", help_heading = "Session")]
    pub continue_last: bool,

    /// Go on with a session, named by its id or the beginning or end of it
    ///
    /// Without a prompt the agent goes on with what had been broken off; if
    /// nothing had, the last answer is printed once more.
    #[arg(short, long, value_name = "ID", help_heading = "Session")]
    pub resume: Option<String>,

    /// How much runs without asking
    ///
    /// tight: only reading; write: edits in this directory too; free:
    /// everything that no rule denies; plan: only reading, the rest is withheld.
    /// A session that is gone on with does not keep the mode that it had.
    #[arg(long, value_name = "MODE", value_parser = mode_parser(), help_heading = "Permission")]
    pub mode: Option<Mode>,

    /// Permit something that would be asked for, for example 'edit:src/**'
    ///
    /// A permission and perhaps a pattern: read, edit, bash, webfetch,
    /// external_directory or sandbox, then a colon and what it is about, where
    /// `*` and `?` stand for anything. A pattern never allows what a command
    /// hides or turns into something else.
    #[arg(long, value_name = "SPEC", help_heading = "Permission")]
    pub allow: Vec<String>,

    /// Refuse something, whatever else permits it
    #[arg(long, value_name = "SPEC", help_heading = "Permission")]
    pub deny: Vec<String>,
}

/// What every command understands.
#[derive(Debug, Clone, PartialEq, Default, Args)]
pub struct SharedArguments {
    /// Work in DIR instead of the current directory
    #[arg(short = 'C', long, value_name = "DIR", global = true, help_heading = "Everywhere")]
    pub cwd: Option<PathBuf>,

    /// Set a setting for this run only
    #[arg(long = "config", value_name = "KEY=VALUE", global = true, help_heading = "Everywhere")]
    pub overrides: Vec<String>,

    /// How much is written to the log file
    #[arg(long, value_name = "LEVEL", global = true, help_heading = "Everywhere")]
    #[arg(value_parser = ["off", "error", "warn", "info", "debug", "trace"])]
    pub log_level: Option<String>,
}

/// The form of standard output.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum OutputFormat {
    /// The model's words, as they come
    #[default]
    Text,
    /// One JSON object at the end
    Json,
    /// Every event as a line of JSON, then the object
    StreamJson,
}

/// Everything that is not a run.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Watch the agent fix a small program: a recorded model, the real engine, no key and no network
    Demo(DemoArguments),
    /// List, show, export, fork and rename past sessions
    #[command(subcommand)]
    Sessions(SessionsCommand),
    /// Show the settings, where they come from, and what can be set
    #[command(subcommand)]
    Config(ConfigCommand),
    /// List models, what they cost and can do, and whether they can be used now
    Models(ModelsArguments),
    /// Explain, list, test, import and revoke what may run
    #[command(subcommand, visible_alias = "permissions")]
    Permission(PermissionCommand),
    /// Look at everything that a run needs, and say what is wrong
    Doctor,
    /// Print what completes commands and options in a shell
    #[command(after_help = shell::COMPLETIONS)]
    Completions {
        /// The shell
        #[arg(value_enum)]
        shell: CompletionShell,
    },
    /// Print the manual page
    #[command(after_help = "rein man | man -l -")]
    Man,
    /// Say what the kernel keeps commands from, and how to get the rest
    #[command(subcommand)]
    Sandbox(SandboxCommand),
    /// Log in to providers and out, and see which keys are used
    #[command(subcommand)]
    Auth(AuthCommand),
    /// Export what was asked, decided and done, as NDJSON or as a table
    Audit(AuditArguments),
    /// Show what was spent and done, by day, model, project or tool
    Stats(StatsArguments),
    /// Run a recorded session again, without a network, and say where it goes another way
    Replay(ReplayArguments),
    /// Show the system prompt, as it is sent
    #[command(subcommand)]
    Prompt(PromptCommand),
    /// Show what is sent with every request, and why
    #[command(subcommand)]
    Context(ContextCommand),
}

/// What can be asked about the sandbox.
#[derive(Debug, Subcommand)]
pub enum SandboxCommand {
    /// What is enforced, by which means, and what is missing
    Status {
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

/// What can be asked about permission.
#[derive(Debug, Subcommand)]
pub enum PermissionCommand {
    /// Say whether a command, an edit, a read or a fetch would run, and why
    Explain(ExplainArguments),
    /// List every rule that holds here, where it is written, and the mode
    List {
        /// With what was allowed for good in other directories
        #[arg(long)]
        all: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Take back what was allowed for good
    Revoke {
        /// Its id or its pattern, as `rein permission list --all` shows them
        #[arg(value_name = "ID|PATTERN", required_unless_present = "all")]
        grant: Option<String>,
        /// Everything that has this pattern, or simply everything
        #[arg(long)]
        all: bool,
    },
    /// Check your own expectations: a file of commands and what should become of them
    #[command(after_help = TEST_FILE)]
    Test {
        /// The file: TOML with [[case]] tables, or a JSON object a line
        file: PathBuf,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Take over the rules of another agent, with the same meaning or a stricter one
    Import {
        /// Whose
        #[arg(long, value_name = "AGENT", value_enum, default_value_t)]
        from: ImportFrom,
        /// Add them to your settings, after showing them
        #[arg(long)]
        write: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
}

const TEST_FILE: &str = "\
A case says what is done and what should become of it:
  [[case]]
  cmd = \"git push origin main\"      or edit, read, fetch, or permission and pattern
  expect = \"ask\"                    allow, ask or deny; must = \"ask\" for at least that strict
  mode = \"write\"                    the mode that holds here if absent
  rules = [\"allow bash:git *\"]      judged by these instead of your rules
  why = \"a push leaves this machine\"";

/// What is to be explained.
#[derive(Debug, Args)]
#[command(group = clap::ArgGroup::new("what").required(true).args(["command", "edit", "read", "fetch"]))]
pub struct ExplainArguments {
    /// A command line
    pub command: Option<String>,
    /// A file that would be changed
    #[arg(long, value_name = "PATH")]
    pub edit: Option<PathBuf>,
    /// A file that would be read
    #[arg(long, value_name = "PATH")]
    pub read: Option<PathBuf>,
    /// An address that something would be fetched from
    #[arg(long, value_name = "URL")]
    pub fetch: Option<String>,
    /// In this mode [default: the one that holds here]
    #[arg(long, value_name = "MODE", value_parser = mode_parser())]
    pub mode: Option<Mode>,
    /// As JSON
    #[arg(long)]
    pub json: bool,
}

/// Whose rules are taken over.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, ValueEnum)]
pub enum ImportFrom {
    /// Claude Code
    Claude,
    /// opencode
    Opencode,
    /// Codex
    Codex,
    /// All three
    #[default]
    All,
}

/// What the demo is told.
#[derive(Debug, Args)]
pub struct DemoArguments {
    /// Do not wait where the recorded model took its time
    #[arg(long)]
    pub fast: bool,
    /// Keep the project and the session that the demo makes
    #[arg(long)]
    pub keep: bool,
}

/// What can be asked about settings.
#[derive(Debug, Subcommand)]
pub enum ConfigCommand {
    /// Show the settings that hold here
    Show {
        /// With where each comes from
        #[arg(long)]
        origin: bool,
        /// As JSON
        #[arg(long)]
        json: bool,
    },
    /// Print the JSON schema of the settings file
    Schema,
    /// Print where settings files are looked for
    Path,
}

fn mode_parser() -> impl TypedValueParser<Value = Mode> {
    PossibleValuesParser::new(Mode::ALL.map(Mode::name))
        .map(|word| Mode::ALL.into_iter().find(|mode| mode.name() == word).unwrap_or_default())
}

impl RunArguments {
    /// Whether anything here asks for a headless run.
    pub fn is_headless(&self) -> bool {
        self.print.is_some() || self.resume.is_some() || self.continue_last
    }

    /// The words of the prompt, as they were on the command line.
    pub fn prompt(&self) -> String {
        self.print.iter().flatten().chain(&self.words).map(String::as_str).collect::<Vec<_>>().join(" ")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    fn parse(line: &[&str]) -> Arguments {
        Arguments::try_parse_from([&["rein"], line].concat()).unwrap()
    }

    #[test]
    fn the_definition_is_consistent() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn the_prompt_may_stand_before_and_after_other_options() {
        for line in [
            &["-p", "fix it", "--model", "a/b"][..],
            &["--model", "a/b", "-p", "fix", "it"],
            &["-p", "--model", "a/b", "fix it"],
            &["--print", "fix", "--model=a/b", "it"],
            &["-m", "a/b", "-p", "--", "fix it"],
        ] {
            let run = parse(line).run;
            assert_eq!((run.prompt().as_str(), run.is_headless()), ("fix it", true), "{line:?}");
            assert_eq!(run.model.as_deref(), Some("a/b"));
        }
    }

    #[test]
    fn a_prompt_may_be_the_name_of_a_command() {
        let arguments = parse(&["-p", "demo"]);
        assert!(arguments.command.is_none());
        assert_eq!(arguments.run.prompt(), "demo");
    }

    #[test]
    fn shared_options_may_stand_before_and_after_the_command() {
        for line in [&["-C", "/x", "sessions", "list"][..], &["sessions", "list", "-C", "/x"]] {
            assert_eq!(parse(line).shared.cwd, Some("/x".into()));
        }
    }

    #[test]
    fn permission_options_add_up() {
        let run =
            parse(&["-p", "x", "--allow", "edit:a", "--allow", "bash:b", "--deny", "c", "--mode", "free"])
                .run;
        assert_eq!((run.allow, run.deny), (vec!["edit:a".into(), "bash:b".into()], vec!["c".into()]));
        assert_eq!(run.mode, Some(Mode::Free));
        assert!(Arguments::try_parse_from(["rein", "-p", "x", "--mode", "loose"]).is_err());
    }
}
