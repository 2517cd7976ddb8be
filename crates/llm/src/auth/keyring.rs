//! Secrets that the operating system keeps: its keyring holds the text, and
//! rein's own store only says that it is there, under which name.
//!
//! Asking a keyring may take a while and may ask the person, so nothing is
//! fetched before a request needs it. Which program is asked is left to who
//! implements [`Keyring`]: nothing here can start one.

use std::pin::Pin;

use rein_http::CancellationToken;
use rein_protocol::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use super::vault::{Kept, KeptKind, Login, StoredSecret};
use super::{AuthError, Keychain};

/// What a keyring will have answered.
pub type KeyringFuture<'a, T> = Pin<Box<dyn Future<Output = Result<T, AuthError>> + Send + 'a>>;

/// The keyring of the operating system.
///
/// An implementer answers within [`COMMAND_LIMIT`](super::COMMAND_LIMIT), with
/// [`AuthError::Keyring`] if it cannot. Secrets go neither into the arguments
/// of a process nor into a log.
pub trait Keyring: Send + Sync {
    /// Keeps a secret under a name, in the place of what is there. `title` is what people see of it.
    fn keep<'a>(
        &'a self,
        name: &'a str,
        title: &'a str,
        secret: &'a SecretString,
        cancel: &'a CancellationToken,
    ) -> KeyringFuture<'a, ()>;

    /// The secret under a name, if there is one.
    fn recall<'a>(
        &'a self,
        name: &'a str,
        cancel: &'a CancellationToken,
    ) -> KeyringFuture<'a, Option<SecretString>>;

    /// Removes what is under a name, if there is anything.
    fn forget<'a>(&'a self, name: &'a str, cancel: &'a CancellationToken) -> KeyringFuture<'a, ()>;

    /// What a person calls it.
    fn place(&self) -> String;
}

/// The two tokens of a login, as a keyring holds them.
#[derive(Serialize, Deserialize)]
struct Tokens {
    access_token: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
}

/// Puts a secret into a keyring and says what is left to store. A command is none.
pub async fn keep(
    keyring: &dyn Keyring,
    provider: &str,
    secret: &StoredSecret,
    cancel: &CancellationToken,
) -> Result<Option<StoredSecret>, AuthError> {
    let (kind, text) = match secret {
        StoredSecret::Key(text) => (KeptKind::Key, text.clone()),
        StoredSecret::Token(text) => (KeptKind::Token, text.clone()),
        StoredSecret::Login(login) => (KeptKind::Login { expires: login.expires }, packed(login)),
        StoredSecret::Command(_) | StoredSecret::Kept(_) => return Ok(None),
    };
    let name = format!("{provider}-{}-{}", Timestamp::now().0, std::process::id());
    replace(keyring, &name, provider, &text, cancel).await?;
    Ok(Some(StoredSecret::Kept(Kept { kind, name })))
}

/// Keeps a secret, and looks whether it is there: some keyrings take things and lose them.
pub(super) async fn replace(
    keyring: &dyn Keyring,
    name: &str,
    provider: &str,
    secret: &SecretString,
    cancel: &CancellationToken,
) -> Result<(), AuthError> {
    keyring.keep(name, &format!("rein: {provider}"), secret, cancel).await?;
    match keyring.recall(name, cancel).await? {
        Some(found) if found.expose_secret() == secret.expose_secret() => Ok(()),
        _ => Err(AuthError::Keyring { reason: "what was put into it is not there".to_owned() }),
    }
}

pub(super) fn packed(login: &Login) -> SecretString {
    let tokens = Tokens {
        access_token: login.access_token.expose_secret().to_owned(),
        refresh_token: login.refresh_token.as_ref().map(|token| token.expose_secret().to_owned()),
    };
    // Texts can be written as JSON.
    serde_json::to_string(&tokens).unwrap_or_default().into()
}

pub(super) fn unpacked(text: &SecretString, expires: Option<Timestamp>) -> Option<Login> {
    let tokens: Tokens = serde_json::from_str(text.expose_secret()).ok()?;
    Some(Login {
        access_token: tokens.access_token.into(),
        refresh_token: tokens.refresh_token.map(SecretString::from),
        expires,
    })
}

impl Keychain {
    /// Fetches a secret from the keyring, unless it is known.
    pub(super) async fn fetch_kept(
        &self,
        provider: &str,
        kept: &Kept,
        cancel: &CancellationToken,
    ) -> Result<(), AuthError> {
        if self.recalled(&kept.name).is_some() {
            return Ok(());
        }
        let unusable = |reason: String| AuthError::KeptElsewhere { provider: provider.to_owned(), reason };
        let keyring = self
            .keyring
            .as_ref()
            .ok_or_else(|| unusable("there is none that can be asked here".to_owned()))?;
        let found = keyring.recall(&kept.name, cancel).await.map_err(|error| match error {
            AuthError::Keyring { reason } => unusable(reason),
            other => other,
        })?;
        let secret = found.ok_or_else(|| unusable("it is not in it, or it is locked".to_owned()))?;
        self.note_recalled(&kept.name, secret);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tokens_of_a_login_are_the_same_when_they_come_back() {
        let login = Login {
            access_token: "a \"quoted\" é".into(),
            refresh_token: Some("r\\".into()),
            expires: Some(Timestamp(5)),
        };
        let back = unpacked(&packed(&login), login.expires).unwrap();
        assert_eq!(back.access_token.expose_secret(), "a \"quoted\" é");
        assert_eq!(back.refresh_token.unwrap().expose_secret(), "r\\");
        assert_eq!(back.expires, Some(Timestamp(5)));
        assert!(unpacked(&"sk-1".into(), None).is_none());
    }
}
