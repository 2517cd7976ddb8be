//! Renews a login, once: by one task of one process, while all others wait.
//!
//! A renewal often ends the token that it was made with, so one that is begun
//! is finished and written, whatever becomes of the request that needed it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use rein_http::{CancellationToken, Client, HttpError};
use rein_protocol::Timestamp;
use secrecy::SecretString;

use super::keyring::{self, Keyring};
use super::vault::{
    Kept, KeptKind, LONGEST_WAIT, LOOK_EVERY, Login, StoredCredential, StoredSecret, Vault, VaultLock,
};
use super::{AuthError, Keychain, OAuth, oauth};
use crate::catalog::Provider;

/// How long before its end a login is renewed.
const AHEAD: Duration = Duration::from_secs(60);

/// Whether a login ends soon.
pub(super) fn is_due(expires: Option<Timestamp>) -> bool {
    let ahead = i64::try_from(AHEAD.as_millis()).unwrap_or(i64::MAX);
    expires.is_some_and(|end| end.0.saturating_sub(ahead) <= Timestamp::now().0)
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
        let keyring = self.keyring.clone();
        let renewal = Renewal { http: http.clone(), vault, keyring, oauth, provider: provider.name.clone() };
        // A task of its own, so that it ends by itself even if nobody waits any more.
        let finished = tokio::spawn(renewal.finish(lock)).await;
        let renewed = finished.map_err(|_| AuthError::Unsupported { what: "a background task" })??;
        if let Some((name, text)) = renewed.recalled {
            self.note_recalled(&name, text);
        }
        self.remember(renewed.credentials);
        Ok(())
    }
}

struct Renewal {
    http: Client,
    vault: Arc<dyn Vault>,
    keyring: Option<Arc<dyn Keyring>>,
    oauth: OAuth,
    provider: String,
}

/// What is stored now.
struct Renewed {
    credentials: Vec<StoredCredential>,
    /// What the keyring holds under which name, if the login is there.
    recalled: Option<(String, SecretString)>,
}

impl Renewal {
    async fn finish(self, lock: VaultLock) -> Result<Renewed, AuthError> {
        let mut credentials = self.vault.read()?;
        let current = credentials
            .iter_mut()
            .filter(|credential| credential.provider == self.provider)
            .find_map(|credential| match &mut credential.secret {
                StoredSecret::Login(login) => Some(Place::File(login)),
                StoredSecret::Kept(Kept { kind: KeptKind::Login { expires }, name }) => {
                    Some(Place::Keyring(name.clone(), expires))
                }
                StoredSecret::Kept(_) | StoredSecret::Key(_) => None,
                StoredSecret::Token(_) | StoredSecret::Command(_) => None,
            })
            .ok_or_else(|| self.ended())?;
        let recalled = match current {
            // Where it is not due, another process has done it meanwhile.
            Place::File(login) => {
                if is_due(login.expires) {
                    *login = self.fresh(login.refresh_token.clone()).await?;
                    self.vault.write(&lock, &credentials)?;
                }
                None
            }
            Place::Keyring(name, expires) => {
                let (text, end) = self.fresh_in_keyring(&name, *expires).await?;
                *expires = end;
                self.vault.write(&lock, &credentials)?;
                Some((name, text))
            }
        };
        Ok(Renewed { credentials, recalled })
    }

    /// The tokens in the keyring, renewed if they are due. They are there before the file says so.
    async fn fresh_in_keyring(
        &self,
        name: &str,
        expires: Option<Timestamp>,
    ) -> Result<(SecretString, Option<Timestamp>), AuthError> {
        let never = CancellationToken::new();
        let keyring = self.keyring.as_deref().ok_or_else(|| AuthError::KeptElsewhere {
            provider: self.provider.clone(),
            reason: "there is none that can be asked here".to_owned(),
        })?;
        let text = keyring.recall(name, &never).await?.ok_or_else(|| self.ended())?;
        if !is_due(expires) {
            return Ok((text, expires));
        }
        let login = keyring::unpacked(&text, expires).ok_or_else(|| self.ended())?;
        let fresh = self.fresh(login.refresh_token).await?;
        let text = keyring::packed(&fresh);
        keyring::replace(keyring, name, &self.provider, &text, &never).await?;
        Ok((text, fresh.expires))
    }

    async fn fresh(&self, token: Option<SecretString>) -> Result<Login, AuthError> {
        let token = token.ok_or_else(|| self.ended())?;
        let fresh = oauth::refresh(&self.http, &self.oauth, &token).await.map_err(|error| match error {
            AuthError::Denied | AuthError::Expired => self.ended(),
            other => other,
        })?;
        Ok(Login { refresh_token: fresh.refresh_token.or(Some(token)), ..fresh })
    }

    fn ended(&self) -> AuthError {
        AuthError::Ended { provider: self.provider.clone() }
    }
}

/// Where a login is, and what of it is in the store.
enum Place<'a> {
    File(&'a mut Login),
    Keyring(String, &'a mut Option<Timestamp>),
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
