//! From the settings of the sandbox to what the engine needs to know of it.

use std::path::{Path, PathBuf};

use rein_config::{Confine, NetworkAccess, SandboxMeans, SandboxSettings, WhenUnavailable};
use rein_engine::{Commands, JailSettings};
use rein_permission::{Action, Layer, LayerKind, NetworkSetting, Rule};
use rein_sandbox::jail::{self, Caches, Preference};

use crate::error::CommandError;

/// How commands are confined on this machine, under these settings. Tries it out, which blocks for a moment.
pub(super) fn commands(settings: &SandboxSettings, home: Option<&Path>) -> Result<Commands, CommandError> {
    if settings.confine == Confine::Off {
        return Ok(Commands::Unconfined);
    }
    let preference = preference(settings.means);
    match jail::available(preference) {
        Ok(_) => Ok(Commands::Confined(Box::new(JailSettings {
            caches: if settings.caches { Caches::On } else { Caches::Off },
            writable: paths(&settings.writable, "sandbox.writable", home)?,
            hidden: paths(&settings.hidden, "sandbox.hidden", home)?,
            preference,
            temporary_bytes: u64::from(settings.temporary_mb) << 20,
            processes: settings.processes,
            network: match settings.network {
                NetworkAccess::AsNeeded => NetworkSetting::AsNeeded,
                NetworkAccess::On => NetworkSetting::On,
                NetworkAccess::Off => NetworkSetting::Off,
            },
        }))),
        Err(missing) if settings.unavailable == WhenUnavailable::Error => {
            Err(CommandError::failure(format!("commands cannot be confined here: {}", missing.why))
                .hint(missing.remedy)
                .hint("`rein sandbox status` says what works; sandbox.unavailable = \"ask\" goes on without"))
        }
        Err(_) => Ok(Commands::Unavailable),
    }
}

/// How the demo's commands are confined: as usual, or not at all where that is not possible. They are harmless.
pub(super) fn of_the_demo() -> Commands {
    match commands(&SandboxSettings::default(), None) {
        Ok(confined @ Commands::Confined(_)) => confined,
        Ok(Commands::Unconfined | Commands::Unavailable) | Err(_) => Commands::Unconfined,
    }
}

/// The rule that keeps commands from running unconfined where that is set.
pub(super) fn refusing(settings: &SandboxSettings) -> Option<Layer> {
    (settings.unavailable == WhenUnavailable::Refuse).then(|| {
        let rule = Rule::new("sandbox", "off", Action::Deny, "sandbox.unavailable = \"refuse\"");
        Layer { kind: LayerKind::User, rules: vec![rule] }
    })
}

pub(crate) fn preference(means: SandboxMeans) -> Preference {
    match means {
        SandboxMeans::Auto => Preference::Automatic,
        SandboxMeans::Bubblewrap => Preference::Bubblewrap,
        SandboxMeans::Builtin => Preference::BuiltIn,
    }
}

fn paths(texts: &[String], key: &str, home: Option<&Path>) -> Result<Vec<PathBuf>, CommandError> {
    let wrong = |text: &str, why: &str| CommandError::usage(format!("`{key}` has `{text}`: {why}"));
    texts
        .iter()
        .map(|text| match (text.strip_prefix("~/"), home) {
            (Some(rest), Some(home)) => Ok(home.join(rest)),
            (Some(_), None) => Err(wrong(text, "there is no home directory")),
            (None, _) if text.starts_with('/') => Ok(PathBuf::from(text)),
            (None, _) => Err(wrong(text, "write an absolute path, or one that begins with ~/")),
        })
        .collect()
}
