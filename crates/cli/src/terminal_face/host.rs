//! What the face asks about settings and the machine, from what the commands of
//! the binary are made of.

use std::fs::{self, File, OpenOptions};
use std::io::{self, BufWriter, ErrorKind, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use rein_llm::Usability;
use rein_protocol::Snapshot;
use rein_tui::host::{Finding, Host, HostError, ModelChoice, OwnTheme, RuleLine, Setting};
use rein_tui::theme::Theme;
use tokio::runtime::Handle;

use crate::doctor_command::{StoreCheck, findings};
use crate::error::CommandError;
use crate::models_command::figures;
use crate::sessions;
use crate::wiring::Setup;

/// A theme is a few lines.
const LONGEST_THEME: u64 = 64 * 1024;

/// The binary, as the face sees it.
pub struct BinaryHost {
    setup: Arc<Setup>,
    runtime: Handle,
}

impl BinaryHost {
    /// With the settings that hold for the conversation.
    pub fn new(setup: Arc<Setup>, runtime: Handle) -> Self {
        Self { setup, runtime }
    }
}

fn failed(error: CommandError) -> HostError {
    HostError(error.told())
}

impl Host for BinaryHost {
    fn models(&self) -> Result<Vec<ModelChoice>, HostError> {
        let models = self.setup.all_models().map_err(failed)?;
        let listing = self.runtime.block_on(models.listing());
        let mut choices = Vec::new();
        for provider in listing {
            let unusable = (provider.usability != Usability::Ready).then(|| provider.usability.to_string());
            choices.extend(provider.models.into_iter().map(|listed| ModelChoice {
                detail: figures(&listed.info),
                model: listed.model,
                unusable: unusable.clone(),
            }));
        }
        Ok(choices)
    }

    fn settings(&self) -> Result<Vec<Setting>, HostError> {
        let listed = self.setup.reloaded().map_err(failed)?.listing();
        let setting = |setting: rein_config::ListedSetting| Setting {
            key: setting.key,
            value: setting.value,
            origin: setting.origin.to_string(),
            about: setting.about,
            takes: setting.takes,
            choices: setting.choices,
        };
        Ok(listed.into_iter().map(setting).collect())
    }

    fn set(&self, key: &str, value: Option<&str>) -> Result<String, HostError> {
        let file = self.setup.places().directories.user_file();
        rein_config::change(&file, key, value).map_err(|error| HostError(error.to_string()))?;
        let loaded = self.setup.reloaded().map_err(failed)?;
        let listed = loaded.listing().into_iter().find(|setting| setting.key == key);
        let other = listed.filter(|setting| setting.origin.file.as_ref() != Some(&file) && value.is_some());
        Ok(match (other, value) {
            (Some(setting), _) => format!("written to {}, but {} holds", file.display(), setting.origin),
            (None, Some(_)) if key == "theme" => format!("{key}: written to {}", file.display()),
            (None, Some(_)) => format!("{key}: written to {}; holds from the next start on", file.display()),
            (None, None) => format!("{key}: no longer in {}; holds from the next start on", file.display()),
        })
    }

    fn rules(&self) -> Result<Vec<RuleLine>, HostError> {
        let layers = &self.setup.settings().permission;
        let rules = layers.iter().flat_map(|layer| &layer.rules);
        let line = |rule: &rein_config::PermissionRule| RuleLine {
            text: format!("{} {}: {}", rule.action.name(), rule.permission, rule.pattern),
            origin: rule.origin.to_string(),
        };
        Ok(rules.map(line).collect())
    }

    fn doctor(&self) -> Result<Vec<Finding>, HostError> {
        Ok(self.runtime.block_on(findings(&self.setup, StoreCheck::IsOpen)))
    }

    fn export(&self, session: &Snapshot, file: Option<PathBuf>) -> Result<PathBuf, HostError> {
        let file = file.map(|file| self.at_home(file)).unwrap_or_else(|| {
            let id = session.info.id.to_string();
            let short = id.get(id.len().saturating_sub(8)..).unwrap_or(&id);
            self.setup.directory().join(format!("rein-session-{short}.md"))
        });
        let written = OpenOptions::new().write(true).create_new(true).open(&file).and_then(|opened| {
            let mut out = BufWriter::new(opened);
            sessions::write_markdown(session, &mut out)?;
            out.flush()
        });
        match written {
            Ok(()) => Ok(file),
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {
                let shown = file.display();
                Err(HostError(format!(
                    "{shown} exists already and is left alone: name another with /export FILE"
                )))
            }
            Err(error) => Err(HostError(format!("{} cannot be written: {error}", file.display()))),
        }
    }

    fn themes(&self) -> Vec<OwnTheme> {
        let directory = self.setup.places().directories.config.join("themes");
        let Ok(entries) = fs::read_dir(&directory) else { return Vec::new() };
        let mut names: Vec<String> = entries
            .filter_map(|entry| {
                entry.ok()?.file_name().into_string().ok()?.strip_suffix(".toml").map(str::to_owned)
            })
            .collect();
        names.sort();
        names.into_iter().map(|name| OwnTheme { theme: own_theme(&directory, &name), name }).collect()
    }
}

impl BinaryHost {
    fn at_home(&self, file: PathBuf) -> PathBuf {
        match (file.strip_prefix("~"), self.setup.home()) {
            (Ok(below), Some(home)) => home.join(below),
            _ => file,
        }
    }
}

/// Reads a theme of the user's own.
pub(super) fn own_theme(directory: &Path, name: &str) -> Result<Theme, String> {
    if name.contains(['/', '\0']) || name.starts_with('.') {
        return Err(format!("`{name}` is no name of a theme"));
    }
    let file = directory.join(format!("{name}.toml"));
    let text = small(&file).map_err(|error| format!("{} cannot be read: {error}", file.display()))?;
    Theme::read(&text).map_err(|error| format!("{}: {error}", file.display()))
}

fn small(file: &Path) -> io::Result<String> {
    if !fs::metadata(file)?.is_file() {
        return Err(io::Error::other("it is no file"));
    }
    let mut text = String::new();
    io::Read::read_to_string(&mut io::Read::take(File::open(file)?, LONGEST_THEME), &mut text)?;
    Ok(text)
}
