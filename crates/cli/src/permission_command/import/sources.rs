//! Where other agents keep their rules, and what is in those files.
//!
//! A file that is not there is skipped; one that cannot be read or understood
//! is an error with its line: half of somebody's rules would be worse than none.

use std::fs;
use std::io::{ErrorKind, Read};
use std::path::{Path, PathBuf};

use rein_permission::forms::{Found, claude, codex, json, opencode};
use toml::de::{DeTable, DeValue};

use super::{Agent, Owner, Source};
use crate::args::ImportFrom;
use crate::error::CommandError;
use crate::wiring::Places;

/// What is read of a file at most.
const LIMIT: u64 = 10_000_000;

/// Everything that there is to take over.
pub(super) fn read(places: &Places, from: ImportFrom) -> Result<Vec<Source>, CommandError> {
    let agents: &[Agent] = match from {
        ImportFrom::Claude => &[Agent::Claude],
        ImportFrom::Opencode => &[Agent::Opencode],
        ImportFrom::Codex => &[Agent::Codex],
        ImportFrom::All => &[Agent::Claude, Agent::Opencode, Agent::Codex],
    };
    let mut sources = Vec::new();
    for agent in agents {
        for (owner, directory) in directories(places, *agent) {
            for file in files(*agent, &directory)? {
                if let Some(text) = text(&file)? {
                    let found = found(*agent, &file, &text)?;
                    sources.push(Source { agent: *agent, owner, file, found });
                }
            }
        }
    }
    Ok(sources)
}

/// Where files are looked for, whether there are some or not.
pub(super) fn directories(places: &Places, agent: Agent) -> Vec<(Owner, PathBuf)> {
    let variable =
        |name: &str| places.environment.get(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let home = variable("HOME");
    let below_home = |name: &str| home.as_ref().map(|home| home.join(name));
    let project = places.project_root();
    let (user, own) = match agent {
        Agent::Claude => (variable("CLAUDE_CONFIG_DIR").or_else(|| below_home(".claude")), vec![".claude"]),
        Agent::Opencode => {
            let user = variable("XDG_CONFIG_HOME").or_else(|| below_home(".config"));
            (user.map(|config| config.join("opencode")), vec![".opencode", ""])
        }
        Agent::Codex => (variable("CODEX_HOME").or_else(|| below_home(".codex")), vec![".codex"]),
    };
    let user = user.into_iter().map(|directory| (Owner::User, directory)).collect::<Vec<_>>();
    let is_users = |directory: &PathBuf| user.iter().any(|(_, other)| other == directory);
    let project: Vec<(Owner, PathBuf)> = own
        .into_iter()
        .map(|name| if name.is_empty() { project.clone() } else { project.join(name) })
        // In the home directory they are the user's.
        .filter(|directory| !is_users(directory))
        .map(|directory| (Owner::Project, directory))
        .collect();
    user.into_iter().chain(project).collect()
}

/// The files in a directory that may hold rules.
fn files(agent: Agent, directory: &Path) -> Result<Vec<PathBuf>, CommandError> {
    let named = |names: &[&str]| names.iter().map(|name| directory.join(name)).collect::<Vec<_>>();
    match agent {
        Agent::Claude => Ok(named(&["settings.json", "settings.local.json"])),
        Agent::Opencode => Ok(named(&["opencode.json", "opencode.jsonc"])),
        Agent::Codex => {
            let mut files = named(&["config.toml"]);
            let rules = directory.join("rules");
            match fs::read_dir(&rules) {
                Ok(entries) => {
                    let paths = entries.flatten().map(|entry| entry.path());
                    let mut found: Vec<PathBuf> = paths
                        .filter(|path| path.extension().is_some_and(|extension| extension == "rules"))
                        .collect();
                    found.sort();
                    files.append(&mut found);
                }
                Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {}
                Err(error) => return Err(unreadable(&rules).caused_by(error)),
            }
            Ok(files)
        }
    }
}

fn text(file: &Path) -> Result<Option<String>, CommandError> {
    let metadata = match fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => {
            return Ok(None);
        }
        Err(error) => return Err(unreadable(file).caused_by(error)),
    };
    // Opening a pipe would wait for its other end.
    if !metadata.is_file() {
        return Err(unreadable(file).hint("it is not a regular file"));
    }
    let mut bytes = Vec::new();
    let read = fs::File::open(file).and_then(|opened| opened.take(LIMIT + 1).read_to_end(&mut bytes));
    read.map_err(|error| unreadable(file).caused_by(error))?;
    if bytes.len() as u64 > LIMIT {
        return Err(unreadable(file).hint(format!("it is larger than {LIMIT} bytes")));
    }
    String::from_utf8(bytes).map(Some).map_err(|_| unreadable(file).hint("it is not UTF-8"))
}

fn unreadable(file: &Path) -> CommandError {
    CommandError::usage(format!("{} cannot be read", file.display()))
}

fn found(agent: Agent, file: &Path, text: &str) -> Result<Vec<Found>, CommandError> {
    let name = file.to_string_lossy();
    let parsed = || {
        json::parse(text).map_err(|error| {
            CommandError::usage(format!("{}:{}: {}", file.display(), error.line, error.problem))
        })
    };
    match agent {
        Agent::Claude => Ok(claude::settings(&parsed()?, &name)),
        Agent::Opencode => Ok(opencode::settings(&parsed()?, &name)),
        Agent::Codex if file.extension().is_some_and(|extension| extension == "rules") => {
            Ok(codex::rule_file(text, &name))
        }
        Agent::Codex => codex_settings(file, text),
    }
}

/// The settings of Codex that say how much runs without asking.
fn codex_settings(file: &Path, text: &str) -> Result<Vec<Found>, CommandError> {
    let line = |at: usize| text.get(..at).unwrap_or(text).matches('\n').count() + 1;
    let table = DeTable::parse(text).map_err(|error| {
        let line = error.span().map_or(1, |span| line(span.start));
        CommandError::usage(format!("{}:{line}: {}", file.display(), error.message()))
    })?;
    let settings = table.get_ref().iter().filter_map(|(key, value)| {
        let key_name = key.get_ref().as_ref();
        let value = match value.get_ref() {
            DeValue::String(text) => text.as_ref(),
            _ => "…",
        };
        matches!(key_name, "approval_policy" | "sandbox_mode")
            .then(|| codex::setting(key_name, value, line(key.span().start)))
    });
    Ok(settings.collect())
}
