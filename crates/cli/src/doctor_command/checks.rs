//! What is looked at, one function a thing. Nothing here changes anything,
//! except that a store that is not there yet is made.

use std::io::IsTerminal;
use std::path::Path;
use std::time::Duration;

use futures_util::future::join_all;
use rein_config::Confine;
use rein_http::CancellationToken;
use rein_llm::auth::KeySource;
use rein_llm::{ListedProvider, Models, Usability};
use rein_sandbox::jail;
use rein_store::{Store, StoreOptions};
use rein_tui::host::{Finding, FindingState};
use rein_tui::theme::Depth;
use rein_tui::{Ink, Letters, Palette};

use crate::error::CommandError;
use crate::terminal_face::face_options;
use crate::wiring::{Setup, own_tools, preference};

/// How long a server is waited for.
const PATIENCE: Duration = Duration::from_secs(8);
/// With less than that, a long session may not fit.
const LITTLE_SPACE: u64 = 200 << 20;

/// What is done about the store.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum StoreCheck {
    /// It is opened.
    Opens,
    /// It is open in this process already.
    IsOpen,
}

/// Everything.
pub async fn findings(setup: &Setup, store_check: StoreCheck) -> Vec<Finding> {
    let mut found = settings(setup);
    found.extend(models(setup).await);
    found.push(sandbox(setup));
    found.extend(tools(setup).await);
    found.extend(store(setup, store_check).await);
    found.extend(machine());
    found
}

/// What needs no settings.
pub fn machine() -> Vec<Finding> {
    vec![good(format!("shell: {}", rein_tools::bash::find_shell().display())), terminal()]
}

/// Settings that cannot be loaded.
pub fn wrong_settings(error: &CommandError) -> Finding {
    bad(
        format!("settings: {}", error.told()),
        "put that right; `rein config path` lists the files, `rein config schema` what can be set",
    )
}

fn good(what: impl Into<String>) -> Finding {
    Finding { state: FindingState::Good, what: what.into(), next: None }
}

fn note(what: impl Into<String>, next: impl Into<String>) -> Finding {
    Finding { state: FindingState::Note, what: what.into(), next: Some(next.into()) }
}

fn bad(what: impl Into<String>, next: impl Into<String>) -> Finding {
    Finding { state: FindingState::Bad, what: what.into(), next: Some(next.into()) }
}

fn hints(error: &CommandError, otherwise: &str) -> String {
    if error.hints().is_empty() { otherwise.to_owned() } else { error.hints().join("\n") }
}

fn settings(setup: &Setup) -> Vec<Finding> {
    let loaded = setup.settings();
    let mut found = vec![match loaded.files.as_slice() {
        [] => good("settings: none written, all defaults"),
        files => {
            let names: Vec<String> = files.iter().map(|file| file.display().to_string()).collect();
            good(format!("settings: {}", names.join(", ")))
        }
    }];
    for warning in &loaded.warnings {
        found.push(bad(format!("settings: {warning}"), "`rein config show --origin` tells more"));
    }
    if let Err(error) = face_options(setup) {
        found.push(bad(
            format!("settings: {}", error.told()),
            hints(&error, "put that right; `rein config show --origin` tells more"),
        ));
    }
    found
}

/// Keys, servers, and the model that a run would use.
async fn models(setup: &Setup) -> Vec<Finding> {
    let models = match setup.all_models() {
        Ok(models) => models,
        Err(error) => {
            let next = hints(&error, "look at `provider` and `roles` in your settings");
            return vec![bad(format!("models: {}", error.told()), next)];
        }
    };
    let listing = models.listing().await;
    let mut found = Vec::new();
    let mut asked = Vec::new();
    for provider in &listing {
        let keys = models.key_report(&provider.name);
        if let Some(key) = keys.first() {
            let from = match &key.source {
                KeySource::Variable(name) => format!("${name}"),
                source => source.to_string(),
            };
            found.push(good(format!("credentials: {} has a key from {from}", provider.title)));
        }
        let local = models_here(provider);
        if provider.usability == Usability::Ready && (!keys.is_empty() || local) {
            asked.push(provider);
        } else if !keys.is_empty() {
            let why = format!("credentials: {} cannot be used: {}", provider.title, provider.usability);
            found.push(bad(why, format!("`rein auth login {}` or its documentation", provider.name)));
        }
    }
    found.extend(join_all(asked.iter().map(|provider| reached(&models, provider))).await);
    found.push(chosen(setup, &models).await);
    found
}

/// Whether a server on this machine answered with its models.
fn models_here(provider: &ListedProvider) -> bool {
    provider.usability == Usability::Ready && !provider.models.is_empty()
}

async fn reached(models: &Models, provider: &ListedProvider) -> Finding {
    let name = &provider.title;
    let asking = async { models.list(&provider.name, &CancellationToken::new()).await };
    match tokio::time::timeout(PATIENCE, asking).await {
        Ok(Ok(listed)) => good(format!("models: {name} answers and lists {} models", listed.len())),
        Ok(Err(error)) => {
            let next = error.hint.unwrap_or_else(|| format!("`rein auth status --check {}`", provider.name));
            bad(format!("models: {name}: {}", error.message), next)
        }
        Err(_) => bad(
            format!("models: {name} did not answer within {} s", PATIENCE.as_secs()),
            "look at the network and at network.proxy in your settings",
        ),
    }
}

async fn chosen(setup: &Setup, models: &Models) -> Finding {
    let wanted = setup.settings().settings.model.as_ref().map(ToString::to_string);
    let choosing = async { models.choose(wanted.as_deref(), &CancellationToken::new()).await };
    match tokio::time::timeout(PATIENCE, choosing).await {
        Ok(Ok(model)) => good(format!("model: {model} would answer")),
        Ok(Err(error)) => {
            let next = error.hint.unwrap_or_default();
            let ways = "`rein auth login PROVIDER` stores a key; `rein models` lists what there is";
            bad(format!("model: {}", error.message), [next.as_str(), ways].join("\n").trim().to_owned())
        }
        Err(_) => bad("model: none was found in time", "`rein models` lists what there is"),
    }
}

fn sandbox(setup: &Setup) -> Finding {
    let settings = &setup.settings().settings.sandbox;
    if settings.confine == Confine::Off {
        return bad("sandbox: switched off", "sandbox.confine = \"on\" confines commands");
    }
    match jail::available(preference(settings.means)) {
        Ok(_) => good("sandbox: commands are confined (`rein sandbox status`)"),
        Err(missing) => bad(format!("sandbox: {}", missing.why), missing.remedy),
    }
}

async fn tools(setup: &Setup) -> Vec<Finding> {
    let own = own_tools(&setup.places().directories.config).await;
    let mut found: Vec<Finding> = own
        .problems
        .iter()
        .map(|problem| {
            bad(format!("tool {}: {}", problem.path.display(), problem.what), problem.next_step.clone())
        })
        .collect();
    let names: Vec<String> = own.tools.iter().map(|tool| tool.spec().name).collect();
    if !names.is_empty() {
        found.push(good(format!("your own tools: {}", names.join(", "))));
    }
    found
}

/// Whether sessions can be kept, and for how long there is room.
async fn store(setup: &Setup, check: StoreCheck) -> Vec<Finding> {
    let data = setup.places().directories.data.clone();
    let shown = data.display().to_string();
    if check == StoreCheck::Opens {
        let opening = tokio::task::spawn_blocking({
            let data = data.clone();
            move || Store::open(StoreOptions::new(&data)).map(|_| ())
        });
        let failed = match opening.await {
            Ok(Ok(())) => None,
            Ok(Err(error)) => Some(error.to_string()),
            Err(error) => Some(error.to_string()),
        };
        if let Some(why) = failed {
            let next = "make the directory writable, or name another with REIN_HOME";
            return vec![bad(format!("store: sessions cannot be kept in {shown}: {why}"), next)];
        }
    }
    let mut found = vec![good(format!("store: sessions are kept in {shown}"))];
    if let Some(free) = free_space(&data).filter(|free| *free < LITTLE_SPACE) {
        let next = "make room, or name another place with REIN_HOME";
        found.push(bad(format!("store: only {} MB are free in {shown}", free >> 20), next));
    }
    found
}

fn free_space(directory: &Path) -> Option<u64> {
    let space = rustix::fs::statvfs(directory.ancestors().find(|above| above.exists())?).ok()?;
    Some(space.f_bavail.saturating_mul(space.f_frsize))
}

/// What a person would see.
fn terminal() -> Finding {
    let variable = |name: &str| std::env::var(name).ok();
    if !std::io::stdout().is_terminal() {
        return note("terminal: none here", "at one, `rein` alone opens a conversation");
    }
    let palette = Palette::detect(variable);
    let name = variable("TERM").unwrap_or_else(|| "no TERM".to_owned());
    if palette.letters == Letters::Ascii {
        return note(
            format!("terminal: {name}, only ASCII letters"),
            "a UTF-8 locale, for example LC_ALL=C.UTF-8, shows the rest",
        );
    }
    if palette.ink == Ink::Plain {
        return note(format!("terminal: {name} without colours"), "NO_COLOR or TERM=dumb turned them off");
    }
    if variable("TMUX").is_some_and(|value| !value.is_empty()) {
        return note(
            format!("terminal: {name} in tmux"),
            "for /copy: tmux set -g set-clipboard on, or set -g allow-passthrough on",
        );
    }
    match Depth::detect(variable) {
        Depth::True => good(format!("terminal: {name}, all colours")),
        Depth::Indexed => good(format!("terminal: {name}, 256 colours")),
        Depth::Palette => good(format!("terminal: {name}, 16 colours")),
    }
}
