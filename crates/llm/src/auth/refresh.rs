//! Renews a login, once: by one task of one process, while all others wait.
//!
//! A renewal often ends the token that it was made with, so one that is begun
//! is finished and written, whatever becomes of the request that needed it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rein_http::{CancellationToken, Client, HttpError};
use rein_protocol::Timestamp;

use super::vault::{LONGEST_WAIT, LOOK_EVERY, Login, StoredCredential, StoredSecret, Vault, VaultLock};
use super::{AuthError, Keychain, OAuth, oauth};
use crate::catalog::Provider;

/// How long before its end a login is renewed.
const AHEAD: Duration = Duration::from_secs(60);

/// Whether a login ends soon.
pub(super) fn is_due(login: &Login) -> bool {
    let ahead = i64::try_from(AHEAD.as_millis()).unwrap_or(i64::MAX);
    login.expires.is_some_and(|end| end.0.saturating_sub(ahead) <= Timestamp::now().0)
}

impl Keychain {
    /// Renews the login of a provider.
    pub(super) async fn renew(
        &self,
        http: &Client,
        provider: &Provider,
        cancel: &CancellationToken,
    ) -> Result<(), AuthError> {
        let ended = || AuthError::Ended { provider: provider.name.clone() };
        let vault = self.vault.clone().ok_or_else(ended)?;
        let oauth = provider.oauth.clone().ok_or_else(ended)?;
        let lock = locked(&*vault, cancel).await?;
        let renewal = Renewal { http: http.clone(), vault, oauth, provider: provider.name.clone() };
        // A task of its own, so that it ends by itself even if nobody waits any more.
        let finished = tokio::spawn(renewal.finish(lock)).await;
        let credentials = finished.map_err(|_| AuthError::Unsupported { what: "a background task" })??;
        self.remember(credentials);
        Ok(())
    }
}

struct Renewal {
    http: Client,
    vault: Arc<dyn Vault>,
    oauth: OAuth,
    provider: String,
}

impl Renewal {
    async fn finish(self, lock: VaultLock) -> Result<Vec<StoredCredential>, AuthError> {
        let ended = || AuthError::Ended { provider: self.provider.clone() };
        let mut credentials = self.vault.read()?;
        let current = credentials
            .iter_mut()
            .filter(|credential| credential.provider == self.provider)
            .find_map(|credential| match &mut credential.secret {
                StoredSecret::Login(login) => Some(login),
                StoredSecret::Key(_) | StoredSecret::Token(_) | StoredSecret::Command(_) => None,
            })
            .ok_or_else(ended)?;
        if !is_due(current) {
            // Another process has done it meanwhile.
            return Ok(credentials);
        }
        let token = current.refresh_token.clone().ok_or_else(ended)?;
        let fresh = oauth::refresh(&self.http, &self.oauth, &token).await.map_err(|error| match error {
            AuthError::Denied | AuthError::Expired => ended(),
            other => other,
        })?;
        *current = Login { refresh_token: fresh.refresh_token.or(Some(token)), ..fresh };
        self.vault.write(&lock, &credentials)?;
        Ok(credentials)
    }
}

async fn locked(vault: &dyn Vault, cancel: &CancellationToken) -> Result<VaultLock, AuthError> {
    let begun = Instant::now();
    loop {
        if let Some(lock) = vault.try_lock()? {
            return Ok(lock);
        }
        // Whoever holds it may be waiting for the same server.
        if begun.elapsed() > LONGEST_WAIT + oauth::ANSWER_LIMIT {
            return Err(AuthError::Busy { after: begun.elapsed() });
        }
        tokio::select! {
            () = cancel.cancelled() => return Err(HttpError::Cancelled.into()),
            () = tokio::time::sleep(LOOK_EVERY) => {}
        }
    }
}
