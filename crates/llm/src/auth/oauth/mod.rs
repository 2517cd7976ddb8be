//! Logins after OAuth 2: by a code on another device (RFC 8628) or in a
//! browser on this one (RFC 8252, with PKCE). A mechanism: whose login it is,
//! is data.
//!
//! Where a login is, a provider's entry may say; its client id does not come
//! with rein: who has one sets it in `provider.NAME.oauth`. Addresses that are not on this machine must be
//! `https`. What is sent and answered here is never logged.

mod browser;
mod device;
mod token;

use std::collections::BTreeMap;
use std::time::Duration;

use rein_http::Reach;
use serde::Deserialize;

use super::AuthError;

pub use browser::BrowserLogin;
pub use device::DeviceLogin;
pub(super) use token::{granted, refresh};

/// How long a server may take to answer.
pub(super) const ANSWER_LIMIT: Duration = Duration::from_secs(30);

/// How one logs in to a provider.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct OAuth {
    /// What the provider knows this program by.
    pub client_id: String,
    /// Where codes are exchanged for tokens.
    pub token_url: String,
    /// Where a login on another device begins, if there is such a thing.
    pub device_url: Option<String>,
    /// Where a login in a browser begins, if there is such a thing.
    pub authorize_url: Option<String>,
    /// What is asked for.
    pub scopes: Vec<String>,
    /// The port to come back to, for those who insist on one; any that is free if absent.
    pub redirect_port: Option<u16>,
    /// The path to come back to.
    pub redirect_path: Option<String>,
    /// What else the page of the login wants to be told.
    pub parameters: BTreeMap<String, String>,
}

impl OAuth {
    /// This, where it says something, and what `known` says elsewhere.
    #[must_use]
    pub(crate) fn or(self, known: Option<Self>) -> Self {
        let Some(known) = known else { return self };
        let text = |own: String, known: String| if own.is_empty() { known } else { own };
        Self {
            client_id: text(self.client_id, known.client_id),
            token_url: text(self.token_url, known.token_url),
            device_url: self.device_url.or(known.device_url),
            authorize_url: self.authorize_url.or(known.authorize_url),
            scopes: if self.scopes.is_empty() { known.scopes } else { self.scopes },
            redirect_port: self.redirect_port.or(known.redirect_port),
            redirect_path: self.redirect_path.or(known.redirect_path),
            parameters: if self.parameters.is_empty() { known.parameters } else { self.parameters },
        }
    }

    pub(super) fn checked<'a>(&self, field: &'static str, url: &'a str) -> Result<&'a str, AuthError> {
        if url.starts_with("https://") || Reach::of(url) == Reach::Loopback {
            Ok(url)
        } else {
            Err(AuthError::Insecure { field })
        }
    }

    fn client(&self, provider: &str) -> Result<&str, AuthError> {
        match self.client_id.trim() {
            "" => Err(AuthError::NotConfigured { provider: provider.to_owned(), missing: "client_id" }),
            id => Ok(id),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_go_over_secure_connections_or_stay_on_this_machine() {
        let oauth = OAuth::default();
        for url in ["https://login.example.com/token", "http://127.0.0.1:9/token"] {
            assert_eq!(oauth.checked("token_url", url), Ok(url));
        }
        for url in ["http://login.example.com", "http://10.0.0.1/", "ftp://127.0.0.1.example", ""] {
            assert_eq!(
                oauth.checked("token_url", url),
                Err(AuthError::Insecure { field: "token_url" }),
                "{url}"
            );
        }
    }
}
