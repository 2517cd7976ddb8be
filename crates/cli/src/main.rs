//! The binary `rein`: what was asked on the command line, done.
//!
//! Layout: [`args`] is the command line; [`wiring`] is the only place that puts
//! the crates together; everything else reaches the engine through
//! `protocol::Service`. [`headless`] is one turn without a person at it, with
//! [`streams`], [`signals`] and [`prompt`] as its ways in and out; [`terminal_face`]
//! is the conversation at a terminal;
//! [`run_command`], [`sessions`], [`config_command`], [`models_command`], [`context_command`],
//! [`permission_command`], [`sandbox_command`], [`doctor_command`],
//! [`audit_command`], [`stats_command`], [`auth_command`], [`replay_command`], [`shell_command`] and [`demo`] are the
//! commands; [`telemetry`] is what is written down about rein itself; [`error`], [`exit`], [`terminal`],
//! [`stdout`] and [`machine`] are how a person, a shell and a program are told.
//!
//! Nothing is loaded or started before it is needed: `--version` and `--help`
//! read no file and start no thread.

mod args;
mod audit_command;
mod auth_command;
mod config_command;
mod context_command;
mod demo;
mod doctor_command;
mod error;
mod exit;
mod headless;
mod machine;
mod models_command;
mod permission_command;
mod prompt;
mod replay_command;
mod run_command;
mod sandbox_command;
mod sessions;
mod shell_command;
mod signals;
mod stats_command;
mod stdout;
mod streams;
mod telemetry;
mod terminal;
mod terminal_face;
mod terminal_hands;
mod terminal_welcome;
mod wiring;

use std::io;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};

use args::{Arguments, Command, ContextCommand, PromptCommand, RunArguments, SessionsCommand};
use error::CommandError;
use exit::Exit;
use terminal::Target;

fn main() -> ExitCode {
    // A process that holds commands is this program too.
    if let Some(code) = rein_sandbox::helper::main() {
        return code;
    }
    // The environment may hold a key, and commands run as the same user.
    rein_sandbox::protect_process();
    let arguments = match Arguments::try_parse() {
        Ok(arguments) => arguments,
        Err(error) => {
            // Nobody is left to tell if this cannot be printed.
            let _ = error.print();
            return if error.use_stderr() { Exit::Usage.into() } else { Exit::Success.into() };
        }
    };
    let done = dispatch(arguments);
    // Whatever way it came to its end.
    rein_sandbox::end_all();
    match done {
        Ok(exit) => exit.into(),
        Err(error) => {
            let stderr = io::stderr();
            let ink = Target::of(&stderr).ink();
            // As above.
            let _ = error.print(&mut stderr.lock(), ink);
            error.exit().into()
        }
    }
}

fn dispatch(arguments: Arguments) -> Result<Exit, CommandError> {
    let Arguments { run, mut shared, command } = arguments;
    shared.overrides.extend(shared.log_level.take().map(|level| format!("log.level={level}")));
    let Some(command) = command else {
        return if terminal_face::is_wanted(&run) {
            terminal_face::execute(&run, &shared)
        } else if run.is_headless() {
            run_command::execute(run, &shared)
        } else {
            Err(no_terminal_ui(&run))
        };
    };
    if run != RunArguments::default() {
        return Err(CommandError::usage("options of a run do not go together with a command")
            .hint("`rein --help` shows which options every command understands"));
    }
    match command {
        Command::Demo(demo) => demo::execute(&demo),
        Command::Sessions(SessionsCommand::Handoff { id, focus }) => {
            sessions::handoff(&shared, &id, &focus).map(|()| Exit::Success)
        }
        Command::Sessions(command) => {
            let mut setup = wiring::Setup::load(&shared, &RunArguments::default())?;
            let runtime = wiring::runtime()?;
            let listed = runtime.block_on(async {
                let archive = setup.archive().await?;
                sessions::execute(&*archive, setup.directory(), command).await
            });
            runtime.shutdown_background();
            listed.map(|()| Exit::Success)
        }
        Command::Config(command) => config_command::execute(&shared, &command).map(|()| Exit::Success),
        Command::Models(arguments) => {
            let setup = wiring::Setup::load(&shared, &RunArguments::default())?;
            let runtime = wiring::runtime()?;
            let done = runtime.block_on(models_command::execute(&setup, &arguments));
            runtime.shutdown_background();
            done.map(|()| Exit::Success)
        }
        Command::Prompt(PromptCommand::Show { model }) => {
            context_command::prompt(&shared, model.as_deref()).map(|()| Exit::Success)
        }
        Command::Context(ContextCommand::Show { session: Some(session), json, .. }) => {
            context_command::of_session(&shared, &session, json).map(|()| Exit::Success)
        }
        Command::Context(ContextCommand::Show { session: None, model, json }) => {
            context_command::show(&shared, model.as_deref(), json).map(|()| Exit::Success)
        }
        Command::Permission(command) => permission_command::execute(&shared, command),
        Command::Completions { shell } => shell_command::completions(shell).map(|()| Exit::Success),
        Command::Man => shell_command::man().map(|()| Exit::Success),
        Command::Doctor => doctor_command::execute(&shared),
        Command::Sandbox(command) => sandbox_command::execute(&shared, &command),
        Command::Replay(arguments) => replay_command::execute(&shared, &arguments),
        Command::Auth(command) => auth_command::execute(&shared, command),
        Command::Stats(arguments) => {
            let mut setup = wiring::Setup::load(&shared, &RunArguments::default())?;
            let runtime = wiring::runtime()?;
            let shown = runtime.block_on(stats_command::execute(&mut setup, &arguments));
            runtime.shutdown_background();
            shown.map(|()| Exit::Success)
        }
        Command::Audit(arguments) => {
            let mut setup = wiring::Setup::load(&shared, &RunArguments::default())?;
            let runtime = wiring::runtime()?;
            let exported = runtime.block_on(audit_command::execute(&mut setup, &arguments));
            runtime.shutdown_background();
            exported.map(|()| Exit::Success)
        }
    }
}

/// What to say to somebody who expects a conversation, or mistyped a command.
fn no_terminal_ui(run: &RunArguments) -> CommandError {
    let prompt = run.prompt();
    let Some(word) = run.words.first() else {
        return CommandError::usage("there is no terminal to talk at")
            .hint("ask for one thing at a time: rein -p 'what does this project do?'")
            .hint("or watch it work, without a key: rein demo")
            .hint("`rein --help` shows everything");
    };
    let command = Arguments::command();
    let names = command.get_subcommands().map(clap::Command::get_name);
    let nearest = names
        .map(|name| (strsim::damerau_levenshtein(name, word), name))
        .filter(|(distance, _)| *distance <= 2)
        .min();
    match nearest {
        Some((_, name)) => CommandError::usage(format!("there is no command `{word}`"))
            .hint(format!("did you mean `rein {name}`?")),
        None => CommandError::usage(format!("there is no command `{}`", terminal::one_line(word, 60)))
            .hint(format!("if it is meant for the model: rein -p '{}'", terminal::one_line(&prompt, 60))),
    }
}
