//! `rein config`: what holds, where it comes from, and what can be set.

use rein_config::ShowOrigin;

use crate::args::{ConfigCommand, RunArguments, SharedArguments};
use crate::error::CommandError;
use crate::stdout;
use crate::wiring::{Places, Setup};

/// Does what was asked.
pub fn execute(shared: &SharedArguments, command: &ConfigCommand) -> Result<(), CommandError> {
    match command {
        ConfigCommand::Show { origin, json } => {
            show(shared, *json, if *origin { ShowOrigin::Yes } else { ShowOrigin::No })
        }
        ConfigCommand::Schema => stdout::print_json(&rein_config::schema()),
        ConfigCommand::Path => path(shared),
    }
}

fn show(shared: &SharedArguments, json: bool, origin: ShowOrigin) -> Result<(), CommandError> {
    let setup = Setup::load(shared, &RunArguments::default())?;
    if json {
        return stdout::print_json(&setup.settings().show_json());
    }
    setup.print_warnings();
    let shown = setup.settings().show(origin);
    stdout::print(|out| out.write_all(shown.as_bytes()))
}

/// Where rein looks, whether there is something or not. Works with settings that are wrong.
fn path(shared: &SharedArguments) -> Result<(), CommandError> {
    let places = Places::find(shared)?;
    stdout::print(|out| {
        writeln!(out, "managed   {}", rein_config::MANAGED_FILE)?;
        writeln!(out, "user      {}", places.directories.user_file().display())?;
        for file in places.project_files() {
            writeln!(out, "project   {}", file.display())?;
        }
        writeln!(out, "grants    {}", places.directories.grants_file().display())?;
        writeln!(out, "sessions  {}", places.directories.data.display())
    })
}
