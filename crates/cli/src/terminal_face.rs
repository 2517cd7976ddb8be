//! `rein` at a terminal: from arguments to the face that a person talks to.
//! `options` is what settings say about it, `host` what it can ask.

mod host;
mod options;

use std::io::{self, IsTerminal, Write};
use std::sync::Arc;

use rein_tui::welcome::Chosen;
use rein_tui::{Ended, TuiOptions};

use crate::args::{DemoArguments, OutputFormat, RunArguments, SharedArguments};
use crate::demo;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::sessions::{self, Opening};
use crate::signals::Signal;
use crate::terminal::Target;
use crate::terminal_hands::TerminalHands;
use crate::terminal_welcome;
use crate::wiring::{self, Setup};
use host::BinaryHost;
pub use options::{FaceOptions, face_options};

/// Whether somebody sits at a terminal and asked for nothing else.
pub fn is_wanted(run: &RunArguments) -> bool {
    let word = run.words.first().is_some_and(|word| !word.contains(char::is_whitespace));
    // A lone word is more likely a mistyped command.
    run.print.is_none()
        && run.output == OutputFormat::default()
        && !run.quiet
        && !word
        && io::stdin().is_terminal()
        && io::stdout().is_terminal()
}

/// Opens it.
pub fn execute(run: &RunArguments, shared: &SharedArguments) -> Result<Exit, CommandError> {
    let setup = Setup::load(shared, run)?.with_person();
    let _telemetry = crate::telemetry::start(&setup);
    let runtime = wiring::runtime()?;
    let exit = runtime.block_on(open(setup, run, shared));
    runtime.shutdown_background();
    match exit? {
        Some(exit) => Ok(exit),
        // It has a runtime of its own.
        None => demo::execute(&DemoArguments { fast: false, keep: false }),
    }
}

/// How it ended; nothing if the person wants to see the demo.
async fn open(
    setup: Setup,
    run: &RunArguments,
    shared: &SharedArguments,
) -> Result<Option<Exit>, CommandError> {
    let Opening { mut setup, mut open, had } = sessions::opening(setup, run, shared).await?;
    let FaceOptions { bindings, editing, status, theme, thoughts } = face_options(&setup)?;
    let mut named = run.model.clone();
    let (engine, model) = loop {
        match setup.engine(named.as_deref(), had.as_ref()).await {
            Err(error) if error.is_for_want_of_a_model() => match terminal_welcome::guide(&setup).await? {
                Chosen::Provider(_) => {}
                Chosen::Model(model) => named = Some(model.to_string()),
                Chosen::Demo => return Ok(None),
                Chosen::Nothing => return Err(error),
            },
            engine => break engine?,
        }
    };
    open.model = model;
    let mut options = TuiOptions::new(open);
    options.state_directory = Some(setup.places().directories.state.join("tui"));
    options.models = setup.models_to_choose_from().to_vec();
    (options.bindings, options.editing) = (bindings, editing);
    (options.status, options.theme, options.thoughts) = (status, theme, thoughts);
    let store = setup.store().await?;
    let setup = Arc::new(setup);
    options.host = Some(Arc::new(BinaryHost::new(Arc::clone(&setup), tokio::runtime::Handle::current())));
    options.prompt = Some(run.prompt()).filter(|prompt| !prompt.is_empty());
    let hands = TerminalHands::new(store, &setup.places().environment, setup.directory());
    options.hands = Arc::new(hands);
    let exit = rein_tui::run(engine, options)
        .await
        .map_err(|error| CommandError::failure("the terminal face cannot be shown").caused_by(error))?;
    if let Some(session) = &exit.session {
        let mut stderr = io::stderr();
        let ink = Target::of(&stderr).ink();
        // Nobody is left to tell if this cannot be printed.
        let _ = writeln!(stderr, "{}", ink.dim(&format!("go on with: rein --resume {session}")));
    }
    Ok(Some(match exit.ended {
        Ended::Quit => Exit::Success,
        Ended::Interrupted => Exit::Interrupted(Signal::Interrupt),
        Ended::Terminated => Exit::Interrupted(Signal::Terminate),
        Ended::HungUp => Exit::Interrupted(Signal::Hangup),
    }))
}
