//! `rein sandbox status`: what the kernel keeps commands from, by which means,
//! and how to get the rest.

use std::fmt::Write;

use rein_config::{Confine, SandboxSettings};
use rein_sandbox::jail::{self, Means, Wall, WallStatus, Way};
use serde_json::{Value, json};

use crate::args::{RunArguments, SandboxCommand, SharedArguments};
use crate::error::CommandError;
use crate::exit::Exit;
use crate::sessions::Form;
use crate::stdout;
use crate::wiring::{Setup, preference};

/// Does what was asked. Nothing enforced although it should be is a failure, so that scripts can ask.
pub fn execute(shared: &SharedArguments, command: &SandboxCommand) -> Result<Exit, CommandError> {
    let SandboxCommand::Status { json } = command;
    let setup = Setup::load(shared, &RunArguments::default())?;
    let settings = &setup.settings().settings.sandbox;
    let means = jail::means_for(preference(settings.means));
    match if *json { Form::Json } else { Form::Text } {
        Form::Json => stdout::print_json(&to_json(settings, &means))?,
        Form::Text => {
            setup.print_warnings();
            let text = to_text(settings, &means);
            stdout::print(|out| out.write_all(text.as_bytes()))?;
        }
    }
    let confined = settings.confine == Confine::Off || means.way.is_some();
    Ok(if confined { Exit::Success } else { Exit::Failure })
}

fn to_text(settings: &SandboxSettings, means: &Means) -> String {
    let mut text = String::new();
    let head = match (settings.confine, means.way) {
        (Confine::Off, _) => "Commands are not confined: sandbox.confine is \"off\".".to_owned(),
        (Confine::On, Some(way)) => format!("Commands are confined by {}.", named(way)),
        (Confine::On, None) => "Commands cannot be confined on this machine.".to_owned(),
    };
    // Writing to a string cannot fail.
    let _ = writeln!(text, "{head}\n");
    for (wall, status) in &means.walls {
        let (mark, words) = match status {
            WallStatus::Enforced(by) => ("yes", by.clone()),
            WallStatus::Partly(what) => ("partly", what.clone()),
            WallStatus::Missing(missing) => ("no", missing.why.clone()),
        };
        let _ = writeln!(text, "  {mark:<7}{:<42}{words}", about(*wall));
    }
    for (way, missing) in &means.missing {
        let _ = writeln!(
            text,
            "\n{} does not work here: {}\n  {}",
            capital(named(*way)),
            missing.why,
            missing.remedy
        );
    }
    let _ = writeln!(
        text,
        "\nNetwork: {}. Without the means to confine: {}. Settings: [sandbox].",
        word(&settings.network),
        word(&settings.unavailable)
    );
    text
}

fn to_json(settings: &SandboxSettings, means: &Means) -> Value {
    json!({
        "confine": settings.confine,
        "unavailable": settings.unavailable,
        "network": settings.network,
        "way": means.way,
        "complete": means.way.is_some() && means.is_complete(),
        "walls": means.walls.iter().map(|(wall, status)| json!({ "wall": wall, "status": status })).collect::<Vec<_>>(),
        "missing": means.missing.iter().map(|(way, missing)| json!({ "way": way, "why": missing.why, "remedy": missing.remedy })).collect::<Vec<_>>(),
    })
}

fn word(value: &impl serde::Serialize) -> String {
    serde_json::to_value(value).ok().and_then(|value| value.as_str().map(str::to_owned)).unwrap_or_default()
}

fn named(way: Way) -> &'static str {
    match way {
        Way::BuiltIn => "namespaces of rein's own, Landlock and a filter of system calls",
        Way::Bubblewrap => "bubblewrap, Landlock and a filter of system calls",
        Way::LandlockAlone => "Landlock and a filter of system calls alone",
        Way::Seatbelt => "the sandbox of macOS",
    }
}

fn about(wall: Wall) -> &'static str {
    match wall {
        Wall::Writing => "no writing outside of the workspace",
        Wall::Kept => "no change of what runs code in it",
        Wall::Secrets => "no reading of secrets",
        Wall::Network => "no network where it is off",
        Wall::Sockets => "no services of this machine",
        Wall::Processes => "no other processes",
        Wall::SystemCalls => "no system calls that no build needs",
        Wall::ProcessLimit => "not too many processes",
        Wall::Temporary => "no filling of the disk through /tmp",
        Wall::Outliving => "nothing outlives rein",
    }
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters
        .next()
        .map(|first| first.to_uppercase().collect::<String>() + characters.as_str())
        .unwrap_or_default()
}
