//! What to do about an error, said with the names of the provider at hand.

use super::{ErrorKind, ModelError};

/// What is known of the provider that answered.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Advice {
    /// Its name in the catalog or in settings.
    pub provider: String,
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
            ErrorKind::Quota => Some(format!("{}, or choose another model with --model", self.credit())),
            ErrorKind::NotFound => Some(format!(
                "check the model's name (--model {}/NAME) and the address {}",
                self.provider, self.base_url
            )),
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
        let place = match self.key_env.first() {
            Some(name) => format!("the key in {name}"),
            None => format!("the key of `{}` in your settings", self.provider),
        };
        let page = self.account_page.as_ref().map(|page| format!(" (keys: {page})")).unwrap_or_default();
        match status {
            Some(403) => format!(
                "check that {place} may use this model, and that the provider serves your region{page}"
            ),
            _ => format!("check {place}{page}"),
        }
    }

    fn credit(&self) -> String {
        match &self.account_page {
            Some(page) => format!("check plan and credit of your account at {page}"),
            None => format!("check plan and credit of your account at {}", self.provider),
        }
    }
}
