//! What to do about an error, said with the names of the provider at hand.

use super::{ErrorKind, ModelError};
use crate::auth::KeySource;

/// What is known of the provider that answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Advice {
    /// Its name in the catalog or in settings.
    pub provider: String,
    /// The model that was asked.
    pub model: String,
    /// Its models whose names are alike.
    pub near_models: Vec<String>,
    /// Where the key that was sent comes from, if one was.
    pub key_source: Option<KeySource>,
    /// Where its key is looked for.
    pub key_env: Vec<String>,
    /// Where keys and credit are to be had.
    pub account_page: Option<String>,
    /// Where its API begins.
    pub base_url: String,
}

impl Advice {
    /// The error with what to do about it, unless it says so already.
    pub(crate) fn add_to(&self, mut error: ModelError) -> ModelError {
        if error.hint.is_none() {
            error.hint = self.for_kind(error.kind, error.status);
        }
        error
    }

    fn for_kind(&self, kind: ErrorKind, status: Option<u16>) -> Option<String> {
        match kind {
            ErrorKind::Auth => Some(self.key(status)),
            ErrorKind::Quota => Some(format!(
                "{}, use another key ({}), or choose another model with --model",
                self.credit(),
                self.another_key()
            )),
            ErrorKind::NotFound => Some(self.name()),
            ErrorKind::BadRequest => Some(format!(
                "{} did not accept the request; try another model with --model, or check the settings of this provider",
                self.provider
            )),
            ErrorKind::RateLimit => Some("wait a while, or choose another model with --model".to_owned()),
            ErrorKind::Overloaded => Some("try again later, or choose another model with --model".to_owned()),
            ErrorKind::Protocol => Some(format!(
                "check that {} is the address of an API: it usually ends in a version such as /v1",
                self.base_url
            )),
            ErrorKind::Overflow
            | ErrorKind::Network
            | ErrorKind::Stalled
            | ErrorKind::Cut
            | ErrorKind::Cancelled
            | ErrorKind::NoModel
            | ErrorKind::Other => None,
        }
    }

    fn key(&self, status: Option<u16>) -> String {
        let page = self.account_page.as_ref().map(|page| format!(" (keys: {page})")).unwrap_or_default();
        match (&self.key_source, status) {
            (None, _) => format!("no key was sent: {}{page}", self.another_key()),
            (Some(source), Some(403)) => format!(
                "check that {source} may use this model, and that the provider serves your region{page}"
            ),
            (Some(KeySource::Login), _) => format!("log in anew: rein auth login {}", self.provider),
            (Some(source), _) => format!("check {source}, or replace it: {}{page}", self.another_key()),
        }
    }

    /// How another key is set. A key in a variable or in settings comes before one that is stored.
    fn another_key(&self) -> String {
        let login = format!("rein auth login {}", self.provider);
        match (&self.key_source, self.key_env.first()) {
            (Some(KeySource::Variable(name)), _) => format!("export {name}=…"),
            (Some(KeySource::Settings | KeySource::SettingsCommand), _) => {
                format!("provider.{}.key in your settings", self.provider)
            }
            (Some(KeySource::Account), Some(name)) => format!("export {name}=…"),
            (None, Some(name)) => format!("export {name}=… or run `{login}`"),
            (
                Some(KeySource::Stored | KeySource::Keyring | KeySource::StoredCommand | KeySource::Login),
                _,
            )
            | (_, None) => login,
        }
    }

    fn name(&self) -> String {
        let Self { provider, base_url, .. } = self;
        match self.near_models.as_slice() {
            [] => format!("check the model's name (--model {provider}/NAME) and the address {base_url}"),
            near => {
                let names: Vec<String> = near.iter().map(|model| format!("{provider}/{model}")).collect();
                format!("did you mean {}? Otherwise check the address {base_url}", names.join(" or "))
            }
        }
    }

    fn credit(&self) -> String {
        match &self.account_page {
            Some(page) => format!("check plan and credit of your account at {page}"),
            None => format!("check plan and credit of your account at {}", self.provider),
        }
    }
}
