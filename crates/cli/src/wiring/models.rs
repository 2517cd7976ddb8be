//! The catalog that holds here, and the models of roles.

use std::io::ErrorKind;
use std::path::PathBuf;

use rein_config::RoleSettings;
use rein_llm::catalog::TableSource;
use rein_llm::{Catalog, Models, Role, RoleChoice, RoleModel, Roles, Table};
use rein_protocol::ModelRef;

use super::{Setup, keys, providers, variable, warn};
use crate::error::CommandError;

impl Setup {
    /// Every provider and model: those that come with rein, what a newer table says of them, and the settings.
    pub(super) fn catalog(&self) -> Result<Catalog, CommandError> {
        let catalog =
            providers::catalog(self.with_table(Catalog::bundled()), &self.loaded.settings.provider)?;
        providers::check_addresses(&catalog, |name| variable(&self.places.environment, name))?;
        Ok(catalog)
    }

    /// All models, to be looked at.
    pub fn all_models(&self) -> Result<Models, CommandError> {
        Ok(self.models(self.catalog()?)?.with_keychain(keys::keychain(&self.places)))
    }

    /// Asks a server on this machine how much fits into a model, and says what to do if that is too little.
    pub(super) async fn check_window(&self, models: &Models, model: Option<&ModelRef>) {
        let Some(model) = model.filter(|model| models.has_own_window(model)) else { return };
        let window = models.local_window(model).await;
        if let Some(warning) = window.and_then(|window| window.warning(&model.model)) {
            warn(&warning);
        }
    }

    /// Where a newer table of models is kept.
    pub fn table_file(&self) -> PathBuf {
        self.places.directories.data.join("models.toml")
    }

    /// A table that cannot be used is said to be, and nothing else: figures are no reason not to work.
    fn with_table(&self, catalog: Catalog) -> Catalog {
        let file = self.table_file();
        let shown = file.display().to_string();
        let text = match std::fs::read_to_string(&file) {
            Ok(text) => text,
            Err(error) if error.kind() == ErrorKind::NotFound => return catalog,
            Err(error) => {
                warn(&format!("the table of models {shown} cannot be read and is ignored: {error}"));
                return catalog;
            }
        };
        match Table::read(&text, TableSource { name: &shown, today: "" }, &catalog) {
            Ok(table) => catalog.with_table(&table),
            Err(error) => {
                warn(&format!("the table of models {shown} is ignored: {error}"));
                catalog
            }
        }
    }

    /// The models that the settings have for roles.
    pub(super) fn roles(&self) -> Result<Roles, CommandError> {
        let settings = &self.loaded.settings.roles;
        settings.iter().map(|(name, chosen)| Ok((role(name)?, choice(name, chosen)?))).collect()
    }
}

fn role(name: &str) -> Result<Role, CommandError> {
    let names: Vec<&str> = Role::ALL.into_iter().map(Role::name).collect();
    Role::ALL.into_iter().find(|role| role.name() == name).ok_or_else(|| {
        CommandError::usage(format!("roles.{name} is set, but there is no such role"))
            .hint(format!("there are {}", names.join(", ")))
    })
}

fn choice(role: &str, settings: &RoleSettings) -> Result<RoleChoice, CommandError> {
    let parse = |text: &str| {
        text.parse::<RoleModel>().map_err(|error| CommandError::usage(format!("roles.{role}: {error}")))
    };
    Ok(RoleChoice {
        model: settings.model.as_ref().map(|name| parse(name.as_str())).transpose()?,
        fallback: settings.fallback.iter().map(|name| parse(name.as_str())).collect::<Result<_, _>>()?,
    })
}
