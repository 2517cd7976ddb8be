//! `rein -p`, `rein --continue` and `rein --resume`: from arguments to a run.

use std::io;

use crate::args::{OutputFormat, RunArguments, SharedArguments};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::headless::{self, Activity, Asks, Face, Json, Run, StreamJson, Text};
use crate::sessions::Opening;
use crate::signals::Signals;
use crate::streams::Streams;
use crate::terminal::Target;
use crate::wiring::{self, RecordPlan, SessionAge, Setup};
use crate::{machine, prompt, sessions, stdout, telemetry};

/// Does it. In the machine formats an error that kept the run from beginning
/// is also a line on standard output.
pub fn execute(run: RunArguments, shared: &SharedArguments) -> Result<Exit, CommandError> {
    let output = run.output;
    let executed = begin(run, shared);
    match (&executed, output) {
        (Ok(_), _) | (_, OutputFormat::Text) => {}
        (Err(error), OutputFormat::Json | OutputFormat::StreamJson) => {
            stdout::print(|out| writeln!(out, "{}", machine::line(&error.to_json())?))?;
        }
    }
    executed
}

fn begin(run: RunArguments, shared: &SharedArguments) -> Result<Exit, CommandError> {
    let prompt = prompt::collect(&run.prompt())?;
    if prompt.is_none() && run.resume.is_none() && !run.continue_last {
        return Err(CommandError::usage("there is no prompt: it was neither given nor piped in")
            .hint("rein -p 'what does this project do?'"));
    }
    if !run.image.is_empty() && prompt.is_none() {
        return Err(CommandError::usage("--image goes with a prompt, and there is none"));
    }
    let setup = Setup::load(shared, &run)?;
    let _telemetry = telemetry::start(&setup);
    let runtime = wiring::runtime()?;
    let exit = runtime.block_on(run_in(setup, run, shared, prompt));
    // What may still be there are threads that wait for something that no longer matters.
    runtime.shutdown_background();
    exit
}

async fn run_in(
    setup: Setup,
    run: RunArguments,
    shared: &SharedArguments,
    prompt: Option<String>,
) -> Result<Exit, CommandError> {
    let mut signals = Signals::install()?;
    let Opening { mut setup, mut open, had } = sessions::opening(setup, &run, shared).await?;
    if let Some(file) = &run.record {
        let session = if open.session.is_some() { SessionAge::Resumed } else { SessionAge::New };
        setup.record(RecordPlan { file: file.clone(), prompt: prompt.clone(), session });
    }
    let (engine, model) = setup.engine(run.model.as_deref(), had.as_ref()).await?;
    open.model = model;
    let streams = Streams::standard().map_err(|error| {
        CommandError::failure("a thread for the output cannot be started").caused_by(error)
    })?;
    let mut face = face(&run);
    let pictures = setup.pictures(&run.image).await?;
    let run = Run { open, prompt, pictures, asks: Asks::Unexpected };
    let ran = headless::run(&*engine, run, &mut *face, streams, &mut signals).await.map(|(exit, _)| exit);
    drop(engine);
    let recorded = setup.finish_recording().await;
    // What the run came to is more than what became of its recording.
    let exit = ran?;
    recorded.map(|()| exit)
}

fn face(run: &RunArguments) -> Box<dyn Face> {
    let ink = Target::of(&io::stderr()).ink();
    match run.output {
        OutputFormat::Text => {
            let activity = if run.quiet { Activity::Quiet } else { Activity::Told };
            Box::new(Text::new(Target::of(&io::stdout()), ink, activity))
        }
        OutputFormat::Json => Box::new(Json { ink }),
        OutputFormat::StreamJson => Box::new(StreamJson { ink }),
    }
}
