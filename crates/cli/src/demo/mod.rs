//! `rein demo`: a recorded model and the real everything else.
//!
//! The recording is served on loopback and goes through the real client, codec,
//! engine, tools, permission, sandbox and store. Everything that is written is
//! in a directory of the demo's own; no setting, key or home directory of the
//! user is read.

mod narrate;
mod project;

use std::io;
use std::path::Path;
use std::time::Duration;

use rein_http::CancellationToken;
use rein_http::replay::{Pace, Recording, Server};
use rein_llm::Prices;
use rein_protocol::OpenSession;
use rein_sandbox::{Spawn, Status};

use crate::args::DemoArguments;
use crate::error::CommandError;
use crate::exit::Exit;
use crate::headless::{self, Asks, Run, RunResult};
use crate::signals::Signals;
use crate::stdout;
use crate::streams::Streams;
use crate::terminal::{Ink, Target};
use crate::wiring::{self, Scripted};
use narrate::{Narrator, coloured_diff};
use project::{PROMPT, Scratch, TEST};

const RECORDING: &str = include_str!("recording.json");
/// How long a question is left on the screen before the demo answers it.
const READING_TIME: Duration = Duration::from_millis(1500);
/// The test takes milliseconds.
const TEST_LIMIT: Duration = Duration::from_secs(60);

/// Plays it. A success only if the test of the project passes in the end.
pub fn execute(arguments: &DemoArguments) -> Result<Exit, CommandError> {
    let scratch = Scratch::make().map_err(|error| {
        CommandError::failure(format!("the demo cannot write to {}", std::env::temp_dir().display()))
            .caused_by(error)
            .hint("set TMPDIR to a directory that can be written")
    })?;
    let ink = Target::of(&io::stdout()).ink();
    introduce(&scratch, ink)?;
    let runtime = wiring::runtime()?;
    let played = runtime.block_on(play(&scratch, arguments, ink));
    runtime.shutdown_background();
    let told = played.and_then(|(exit, result)| conclude(&scratch, &result, exit, ink));
    let place = match arguments.keep {
        true => Some(scratch.keep()),
        false => {
            scratch.remove().map_err(|error| {
                CommandError::failure("the demo's directory cannot be removed").caused_by(error)
            })?;
            None
        }
    };
    let exit = told?;
    if let Some(place) = place {
        stdout::print(|out| writeln!(out, "\nkept in {}", place.display()))?;
    }
    Ok(exit)
}

fn introduce(scratch: &Scratch, ink: Ink) -> Result<(), CommandError> {
    stdout::print(|out| {
        writeln!(out, "{}", ink.bold("rein demo"))?;
        writeln!(
            out,
            "The model's side of this was recorded; engine, tools, permission and files are real."
        )?;
        writeln!(out, "No key, no network, nothing outside of {}.\n", scratch.project().display())?;
        for (name, purpose) in project::files() {
            writeln!(out, "  {name:<8}  {purpose}")?;
        }
        writeln!(out, "\n{}", ink.bold(&format!("> {PROMPT}")))
    })
}

/// One turn in the scratch project, then the test once more, by ourselves.
async fn play(
    scratch: &Scratch,
    arguments: &DemoArguments,
    ink: Ink,
) -> Result<(Exit, RunResult), CommandError> {
    let mut signals = Signals::install()?;
    let broken = |error| CommandError::failure("the demo's recording cannot be played").caused_by(error);
    let recording = Recording::from_json(RECORDING).map_err(broken)?;
    let (pace, reading_time) = match arguments.fast {
        true => (Pace::Fast, Duration::ZERO),
        false => (Pace::Recorded, READING_TIME),
    };
    let server = Server::start(recording, pace).await.map_err(broken)?;
    let scripted = Scripted { home: scratch.home(), base_url: server.base_url(), prices: prices() };
    let (engine, model) = wiring::scripted_engine(scripted).await?;
    let streams = Streams::standard().map_err(|error| {
        CommandError::failure("a thread for the output cannot be started").caused_by(error)
    })?;
    let open =
        OpenSession { workspace: Some(scratch.project()), model: Some(model), ..OpenSession::default() };
    let run = Run {
        open,
        prompt: Some(PROMPT.to_owned()),
        pictures: Vec::new(),
        asks: Asks::AllowedOnce(reading_time),
    };
    let mut narrator = Narrator::new(ink, scratch.project());
    let (exit, result) = headless::run(&*engine, run, &mut narrator, streams, &mut signals).await?;
    if exit == Exit::Success && result.exit_code != Exit::Success {
        // Whoever watched went away, and the turn was broken off.
        return Ok((exit, result));
    }
    if let Some(mismatch) = server.mismatches().first() {
        return Err(CommandError::failure(format!(
            "the demo went another way than its recording: {}",
            mismatch.message
        )));
    }
    match exit {
        Exit::Success if !test_passes(&scratch.project()).await? => {
            Err(CommandError::failure("the demo's test does not pass in the end"))
        }
        exit => Ok((exit, result)),
    }
}

/// What models of the size of the recorded one cost.
fn prices() -> Prices {
    Prices { input: 1.25, output: 10.0, cached_input: Some(0.125), ..Prices::default() }
}

async fn test_passes(project: &Path) -> Result<bool, CommandError> {
    let spawn = Spawn::new("sh", project).arg(TEST).timeout(TEST_LIMIT);
    let exit = rein_sandbox::run(spawn, &mut |_| {}, &CancellationToken::new())
        .await
        .map_err(|error| CommandError::failure("the demo's test cannot be run").caused_by(error))?;
    Ok(exit.status == Status::Code(0))
}

fn conclude(scratch: &Scratch, result: &RunResult, exit: Exit, ink: Ink) -> Result<Exit, CommandError> {
    if exit != Exit::Success {
        let message = result.message.as_deref().unwrap_or("the demo did not come to its end");
        return match exit {
            Exit::Interrupted(_) => Ok(exit),
            _ => Err(CommandError::failure(message)),
        };
    }
    let changes = scratch
        .changes()
        .map_err(|error| CommandError::failure("the demo's files cannot be read").caused_by(error))?;
    stdout::print(|out| {
        writeln!(out, "\n{}", ink.bold("What changed"))?;
        write!(out, "{}", coloured_diff(&changes, ink, "  "))?;
        writeln!(out, "\n{} the demo ran the test once more by itself: it passes", ink.green("✓"))?;
        writeln!(out, "{}", ink.dim(&cost_line(result)))?;
        writeln!(out, "\n{}", ink.bold("On your own project"))?;
        writeln!(out, "  export OPENAI_API_KEY=…        or another provider's key, or run a local server")?;
        writeln!(out, "  cd your/project")?;
        writeln!(out, "  rein -p 'what does this project do?'")?;
        writeln!(out, "  rein -p 'fix the failing test' --mode free")?;
        writeln!(
            out,
            "Without --mode or --allow, what writes or runs programs is refused there: `rein --help`"
        )
    })?;
    Ok(Exit::Success)
}

fn cost_line(result: &RunResult) -> String {
    let cost = match result.cost_usd {
        Some(cost) => format!("${cost:.4} at the recorded model's prices"),
        None => "at an unknown price".to_owned(),
    };
    let usage = &result.usage;
    let input = usage.total().saturating_sub(usage.output);
    format!(
        "  {} steps, {} calls, {input} tokens in, {} out, {cost}",
        result.steps,
        result.calls.len(),
        usage.output
    )
}
