//! `rein doctor`: what works here and what does not, each with the next step.

use std::fmt::Write;

use rein_config::Confine;
use rein_sandbox::jail;

use crate::args::{RunArguments, SharedArguments};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::stdout;
use crate::terminal::neutralise;
use crate::wiring::{Setup, own_tools, preference, runtime};

/// Looks at everything that a run needs. Something that is wrong is a failure, so that scripts can ask.
pub fn execute(shared: &SharedArguments) -> Result<Exit, CommandError> {
    let setup = Setup::load(shared, &RunArguments::default())?;
    let mut report = Report::default();
    settings(&setup, &mut report);
    sandbox(&setup, &mut report);
    report.good(format!("shell: {}", rein_tools::bash::find_shell().display()));
    let runtime = runtime()?;
    let own = runtime.block_on(own_tools(&setup.places().directories.config));
    runtime.shutdown_background();
    for problem in &own.problems {
        report.bad(
            format!(
                "tool {}: {}",
                neutralise(&problem.path.display().to_string()),
                neutralise(&problem.what)
            ),
            neutralise(&problem.next_step).into_owned(),
        );
    }
    let names: Vec<String> = own.tools.iter().map(|tool| tool.spec().name).collect();
    if !names.is_empty() {
        report.good(format!("your own tools: {}", names.join(", ")));
    }
    stdout::print(|out| out.write_all(report.text.as_bytes()))?;
    Ok(if report.wrong { Exit::Failure } else { Exit::Success })
}

fn settings(setup: &Setup, report: &mut Report) {
    let loaded = setup.settings();
    match loaded.files.as_slice() {
        [] => report.good("settings: none written, all defaults".to_owned()),
        files => {
            let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            report.good(format!("settings: {}", neutralise(&names.join(", "))));
        }
    }
    for warning in &loaded.warnings {
        report.bad(
            neutralise(&warning.to_string()).into_owned(),
            "`rein config show --origin` tells more".into(),
        );
    }
}

fn sandbox(setup: &Setup, report: &mut Report) {
    let settings = &setup.settings().settings.sandbox;
    if settings.confine == Confine::Off {
        report
            .bad("sandbox: switched off".to_owned(), "sandbox.confine = \"on\" confines commands".to_owned());
        return;
    }
    match jail::available(preference(settings.means)) {
        Ok(_) => report.good("sandbox: commands are confined (`rein sandbox status`)".to_owned()),
        Err(missing) => report.bad(format!("sandbox: {}", missing.why), missing.remedy),
    }
}

/// Lines, and whether one of them is bad.
#[derive(Default)]
struct Report {
    text: String,
    wrong: bool,
}

impl Report {
    fn good(&mut self, what: String) {
        // Writing to a string cannot fail.
        let _ = writeln!(self.text, "ok     {what}");
    }

    fn bad(&mut self, what: String, next: String) {
        self.wrong = true;
        let _ = writeln!(self.text, "wrong  {what}\n       {next}");
    }
}
