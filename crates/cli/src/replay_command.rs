//! `rein replay`: the same run once more, against its recording instead of a
//! model, and whether it goes the same way.
//!
//! Everything but the model is real: tools run, in this directory and with the
//! permission that holds here and now. A file says nothing about what may run:
//! it may be anybody's.

use std::sync::Arc;

use rein_http::{Divergence, Player};
use rein_protocol::{Event, Mode, OpenSession, SessionInfo, TurnId};
use serde_json::{Value, json};

use crate::args::{ReplayArguments, RunArguments, SharedArguments};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::headless::{self, Asks, Face, Run, RunResult, STOPPING};
use crate::signals::Signals;
use crate::stdout;
use crate::streams::{Printed, Streams};
use crate::terminal::neutralise;
use crate::wiring::{self, RecordedRun, SessionAge, Setup, today};

/// Plays it. A success only if every request is what it was.
pub fn execute(shared: &SharedArguments, arguments: &ReplayArguments) -> Result<Exit, CommandError> {
    let player = Player::open(&arguments.file).map_err(|error| unusable(arguments).caused_by(error))?;
    let run: RecordedRun = serde_json::from_value(player.run().clone()).map_err(|error| {
        unusable(arguments).caused_by(error).hint("only what `rein -p … --record FILE` wrote can be played")
    })?;
    if run.session == SessionAge::Resumed || run.prompt.is_none() {
        return Err(unusable(arguments).hint(
            "it was recorded in a session that had begun before, of which it holds only the rest; \
             record one from its first prompt",
        ));
    }
    let flags = RunArguments {
        mode: arguments.mode,
        allow: arguments.allow.clone(),
        deny: arguments.deny.clone(),
        ..RunArguments::default()
    };
    let setup = Setup::load(shared, &flags)?;
    let runtime = wiring::runtime()?;
    let played = runtime.block_on(play(&setup, arguments, run, player));
    runtime.shutdown_background();
    played
}

fn unusable(arguments: &ReplayArguments) -> CommandError {
    CommandError::usage(format!("{} cannot be played", arguments.file.display()))
}

async fn play(
    setup: &Setup,
    arguments: &ReplayArguments,
    run: RecordedRun,
    player: Player,
) -> Result<Exit, CommandError> {
    let mut signals = Signals::install()?;
    let here = setup.directory().to_string_lossy().into_owned();
    let player = player
        .replacing(&run.workspace, &here)
        .replacing(&format!("date: {}", run.date), &format!("date: {}", today()));
    let player = Arc::new(player);
    let scratch = tempfile::tempdir().map_err(|error| {
        CommandError::failure(format!("nothing can be kept in {}", std::env::temp_dir().display()))
            .caused_by(error)
            .hint("set TMPDIR to a directory that can be written")
    })?;
    let mode = match arguments.mode {
        Some(mode) => mode,
        None => stricter(run.mode, setup.settings().settings.mode),
    };
    setup.print_warnings();
    let engine = setup.played_engine(&run, Arc::clone(&player), scratch.path()).await?;
    let streams = Streams::standard().map_err(|error| {
        CommandError::failure("a thread for the output cannot be started").caused_by(error)
    })?;
    let open = OpenSession {
        workspace: Some(setup.directory().to_owned()),
        model: Some(run.model.clone()),
        mode: Some(mode),
        ..OpenSession::default()
    };
    let prompt = Run { open, prompt: run.prompt.clone(), pictures: Vec::new(), asks: Asks::Unexpected };
    let (exit, _) = headless::run(&*engine, prompt, &mut Silent, streams, &mut signals).await?;
    if let Exit::Interrupted(_) = exit {
        return Ok(exit);
    }
    conclude(arguments, &player, (run.mode, mode))
}

/// Says how it went.
fn conclude(arguments: &ReplayArguments, player: &Player, modes: (Mode, Mode)) -> Result<Exit, CommandError> {
    let (divergence, served) = (player.finish(), player.served());
    if arguments.json {
        stdout::print_json(&report(divergence.as_ref(), served))?;
    } else {
        let text = match &divergence {
            None => format!("the same: {served} requests, each as it was recorded\n"),
            Some(divergence) => told(divergence, modes),
        };
        stdout::print(|out| out.write_all(text.as_bytes()))?;
    }
    Ok(if divergence.is_none() { Exit::Success } else { Exit::Failure })
}

fn told(divergence: &Divergence, (recorded, now): (Mode, Mode)) -> String {
    let mut text = format!("{}\n", neutralise(&divergence.to_string()));
    if let Divergence::Differs { difference, .. } = divergence {
        let value = |value: &str| neutralise(value).replace('\n', "\n            ");
        text.push_str(&format!("  recorded: {}\n", value(&difference.expected)));
        text.push_str(&format!("  now:      {}\n", value(&difference.got)));
    }
    if recorded != now {
        text.push_str(&format!(
            "it was recorded in mode {}, and played in mode {}: --mode {} permits the same\n",
            recorded.name(),
            now.name(),
            recorded.name()
        ));
    }
    text
}

fn report(divergence: Option<&Divergence>, served: usize) -> Value {
    let details = divergence.map(|divergence| match divergence {
        Divergence::Differs { request, difference } => json!({
            "kind": "differs", "request": request, "place": difference.place,
            "expected": difference.expected, "got": difference.got,
        }),
        Divergence::More { request } => json!({"kind": "more", "request": request}),
        Divergence::Fewer { recorded, made } => json!({"kind": "fewer", "recorded": recorded, "made": made}),
    });
    json!({"type": "replay", "same": divergence.is_none(), "requests": served, "divergence": details})
}

/// The one of two modes in which less runs without asking.
fn stricter(one: Mode, other: Mode) -> Mode {
    let freedom = |mode: Mode| match mode {
        Mode::Plan => 0,
        Mode::Tight => 1,
        Mode::Write => 2,
        Mode::Free => 3,
    };
    if freedom(one) <= freedom(other) { one } else { other }
}

/// Prints nothing: what the run says was said when it was recorded.
struct Silent;

impl Face for Silent {
    fn begin(&mut self, _: &SessionInfo, _: &TurnId, _: &mut Printed) {}

    fn event(&mut self, _: &Event, _: &mut Printed) {}

    fn stopping(&mut self, to: &mut Printed) {
        to.note(STOPPING);
    }

    fn end(&mut self, _: &RunResult, _: &mut Printed) {}
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_recording_never_permits_more_than_holds_here() {
        assert_eq!(stricter(Mode::Free, Mode::Tight), Mode::Tight);
        assert_eq!(stricter(Mode::Plan, Mode::Free), Mode::Plan);
        assert_eq!(stricter(Mode::Write, Mode::Write), Mode::Write);
    }
}
