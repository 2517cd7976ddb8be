//! What settings say about the face: keys, status line, theme. What is wrong
//! with them is said with the place where it is written.

use rein_config::ThoughtsShown;
use rein_tui::theme::{self, Depth, Theme};
use rein_tui::{Bindings, Editing, StatusPart, Thoughts};

use super::host::own_theme;
use crate::error::CommandError;
use crate::wiring::Setup;

/// What the face is told by settings.
pub struct FaceOptions {
    /// Which key does what.
    pub bindings: Bindings,
    /// How the editor understands keys.
    pub editing: Editing,
    /// What the status line shows.
    pub status: Vec<StatusPart>,
    /// The theme and its name.
    pub theme: (String, Theme),
    /// How much of what a model thinks is shown.
    pub thoughts: Thoughts,
}

/// Reads them.
pub fn face_options(setup: &Setup) -> Result<FaceOptions, CommandError> {
    let loaded = setup.settings();
    let settings = &loaded.settings;
    let place = |key: &str| loaded.origins.get(key).map_or_else(|| key.to_owned(), ToString::to_string);
    let keys = settings.keys.iter().map(|(action, keys)| (action.as_str(), keys.as_slice()));
    let bindings = Bindings::read(keys).map_err(|error| {
        CommandError::usage(format!("{}: keys: {error}", place(&format!("keys.{}", error.action()))))
    })?;
    let status = settings.status_line.iter().filter_map(|part| StatusPart::from_name(part.name())).collect();
    let name = settings.theme.clone();
    let depth = Depth::detect(|name| std::env::var(name).ok());
    let found = match name.as_str() {
        theme::AUTO => theme::builtin("dark"),
        name => theme::builtin(name),
    };
    let chosen = match found {
        Some(theme) => theme,
        None => {
            let directory = setup.places().directories.config.join("themes");
            own_theme(&directory, &name).map_err(|why| {
                let names: Vec<&str> = theme::BUILTIN.iter().map(|(name, _)| *name).collect();
                CommandError::usage(format!("{}: theme `{name}`: {why}", place("theme")))
                    .hint(format!("with rein come {}", names.join(", ")))
            })?
        }
    };
    let editing = if settings.vim { Editing::Vim } else { Editing::Plain };
    let thoughts = match settings.thoughts {
        ThoughtsShown::Line => Thoughts::Gist,
        ThoughtsShown::Whole => Thoughts::Whole,
        ThoughtsShown::Hidden => Thoughts::Hidden,
    };
    Ok(FaceOptions { bindings, editing, status, theme: (name, chosen.at(depth)), thoughts })
}
