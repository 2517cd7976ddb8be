//! `bash`: a command line.
//!
//! Every command runs in a fresh shell that is given what earlier ones left
//! behind; `state` is what that is and `shell` how it is handed over. The
//! command itself belongs to [`crate::jobs`].

mod ending;
mod hints;
mod leading;
pub mod person;
mod running;
mod shell;
mod state;
mod widening;

use std::path::{Path, PathBuf};
use std::time::Duration;

use async_trait::async_trait;
use rein_protocol::{Block, Display, Effect, Intent, ToolSpec};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::Value;

use crate::arguments;
use crate::contract::{Complaint, Plan, Scene, Tool};
use crate::jobs::TimeLimit;
use crate::schema;

pub use state::{SharedShellState, ShellState};

/// The kernel takes no longer argument.
const MOST_BYTES: usize = 128 * 1024 - 1;

/// Characters of a command in a title.
const TITLE_CHARS: usize = 120;

/// Runs a command line.
pub(crate) struct Bash;

#[derive(Debug, Deserialize, JsonSchema)]
struct Arguments {
    command: String,
    /// Seconds, if the usual limit is too short.
    #[schemars(range(min = 1, max = 3600))]
    timeout: Option<u64>,
    /// Do not wait for it.
    background: Option<bool>,
    /// Run it in a terminal; `job` can type.
    pty: Option<bool>,
    /// Only after the sandbox refused something: `network`, `write PATH` or `off`. The user is asked.
    #[serde(default)]
    widen: Vec<String>,
}

/// A shell that understands `-c`: bash if it is in `PATH` or where it usually is, else sh.
#[must_use]
pub fn find_shell() -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let directories: Vec<PathBuf> = std::env::split_paths(&path)
        .filter(|directory| directory.is_absolute())
        .chain(["/bin".into(), "/usr/bin".into()])
        .collect();
    ["bash", "sh"]
        .iter()
        .flat_map(|name| directories.iter().map(move |directory| directory.join(name)))
        .find(|candidate| candidate.is_file())
        .unwrap_or_else(|| PathBuf::from("/bin/sh"))
}

#[async_trait]
impl Tool for Bash {
    fn spec(&self) -> ToolSpec {
        ToolSpec {
            name: "bash".to_owned(),
            description: include_str!("bash.md").trim().to_owned(),
            input_schema: schema::of::<Arguments>(),
        }
    }

    async fn plan(&self, arguments: Value, scene: &Scene) -> Result<Box<dyn Plan>, Complaint> {
        let Arguments { command, timeout, background, pty, widen } = arguments::parse("bash", arguments)?;
        check(&command)?;
        let state = scene.shell_state.get();
        let (start, missing) = match start_directory(scene, &state) {
            Ok(start) => (start, None),
            Err(missing) => (scene.workspace.clone(), Some(missing)),
        };
        let (cwd, command) = match leading::directory(&command, &start) {
            Some((directory, rest)) => (directory, rest.to_owned()),
            None => (start, command),
        };
        let resolved = cwd.canonicalize().unwrap_or_else(|_| cwd.clone());
        let display = Display::titled(title(&command, &resolved, &scene.workspace))
            .with_block(Block::Command { command: command.clone(), cwd: resolved.display().to_string() });
        let carried = state.carried_into(&command);
        let effect =
            Effect::Execute { command: command.clone(), cwd: resolved.clone(), prelude: carried.prelude() };
        let mut effects = vec![effect];
        for right in &widen {
            effects.push(Effect::Widen { right: widening::right(right, &resolved)? });
        }
        let limit = match (timeout, background) {
            (Some(seconds), _) => TimeLimit::Always(Duration::from_secs(seconds)),
            (None, Some(true)) => TimeLimit::None,
            (None, _) => TimeLimit::Attached(scene.command_timeout.max(Duration::from_secs(1))),
        };
        Ok(Box::new(running::Running {
            intent: Intent { effects, display },
            command,
            cwd: resolved,
            logical_cwd: cwd,
            carried,
            limit,
            wait: if background == Some(true) { running::Wait::No } else { running::Wait::Yes },
            screen: if pty == Some(true) { running::Screen::Terminal } else { running::Screen::None },
            missing,
        }))
    }
}

fn check(command: &str) -> Result<(), Complaint> {
    if command.trim().is_empty() {
        return Err(Complaint("`command` is empty. Give a command line.".to_owned()));
    }
    if command.contains('\0') {
        return Err(Complaint(
            "`command` contains a NUL character, which no command line can. Use printf '\\0' for one.".into(),
        ));
    }
    if command.len() > MOST_BYTES {
        return Err(Complaint(format!(
            "`command` has {} bytes; at most {MOST_BYTES} can be passed. Put the text into a file with write and use that.",
            command.len()
        )));
    }
    Ok(())
}

/// Where the shell is, or the directory that is not there any more.
fn start_directory(scene: &Scene, state: &ShellState) -> Result<PathBuf, PathBuf> {
    match &state.cwd {
        None => Ok(scene.workspace.clone()),
        Some(cwd) if cwd.is_dir() => Ok(cwd.clone()),
        Some(cwd) => Err(cwd.clone()),
    }
}

fn title(command: &str, cwd: &Path, workspace: &Path) -> String {
    let line = command.trim().lines().next().unwrap_or_default();
    let short: String = line.chars().take(TITLE_CHARS).collect();
    let more = if short.len() < command.trim().len() { " …" } else { "" };
    let place = match cwd.strip_prefix(workspace) {
        Ok(inside) if inside.as_os_str().is_empty() => String::new(),
        Ok(inside) => format!(" (in {})", inside.display()),
        Err(_) => format!(" (in {})", cwd.display()),
    };
    format!("$ {short}{more}{place}")
}
