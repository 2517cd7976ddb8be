//! What this process knows of secrets: what is stored, what commands printed,
//! and what a provider turned away. Cloning it is cheap and shares all of it.

use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rein_http::CancellationToken;
use secrecy::{ExposeSecret, SecretString};

use super::AuthError;
use super::command::{SecretCommand, secret_in};
use super::keyring::Keyring;
use super::vault::{Login, StoredCredential, StoredSecret, Vault};
use crate::error::{ErrorKind, ModelError};

/// How long a key without credit is left alone, if the provider does not say.
const WITHOUT_CREDIT: Duration = Duration::from_secs(10 * 60);

/// The secrets that a process knows.
#[derive(Clone, Default)]
pub struct Keychain {
    pub(super) vault: Option<Arc<dyn Vault>>,
    command: Option<Arc<dyn SecretCommand>>,
    pub(super) keyring: Option<Arc<dyn Keyring>>,
    shared: Arc<Shared>,
}

#[derive(Default)]
struct Shared {
    stored: Mutex<Vec<StoredCredential>>,
    printed: Mutex<HashMap<String, SecretString>>,
    /// What a keyring holds, by its name there.
    recalled: Mutex<HashMap<String, SecretString>>,
    /// Tokens for accounts that files describe.
    minted: Mutex<HashMap<String, Login>>,
    rejected: Mutex<Vec<Rejection>>,
    /// Commands and names in a keyring that brought nothing new.
    failed: Mutex<HashSet<String>>,
}

/// A secret that a provider did not want, until when.
struct Rejection {
    provider: String,
    secret: SecretString,
    until: Option<Instant>,
}

impl fmt::Debug for Keychain {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Keychain").field("stored", &lock(&self.shared.stored).len()).finish_non_exhaustive()
    }
}

impl Keychain {
    /// What a vault holds.
    pub fn open(vault: Arc<dyn Vault>) -> Result<Self, AuthError> {
        let stored = vault.read()?;
        let shared = Shared { stored: Mutex::new(stored), ..Shared::default() };
        Ok(Self { vault: Some(vault), command: None, keyring: None, shared: Arc::new(shared) })
    }

    /// With a way to run the commands that print secrets.
    #[must_use]
    pub fn with_command(mut self, command: Arc<dyn SecretCommand>) -> Self {
        self.command = Some(command);
        self
    }

    /// With the keyring of the operating system.
    #[must_use]
    pub fn with_keyring(mut self, keyring: Option<Arc<dyn Keyring>>) -> Self {
        self.keyring = keyring;
        self
    }

    /// Every secret that is stored and known by now, to keep them from other processes.
    #[must_use]
    pub fn secrets(&self) -> Vec<SecretString> {
        let secret_of = |credential: &StoredCredential| match &credential.secret {
            StoredSecret::Key(secret) | StoredSecret::Token(secret) => vec![secret.clone()],
            StoredSecret::Command(_) => Vec::new(),
            StoredSecret::Kept(kept) => self.recalled(&kept.name).into_iter().collect(),
            StoredSecret::Login(login) => [Some(login.access_token.clone()), login.refresh_token.clone()]
                .into_iter()
                .flatten()
                .collect(),
        };
        lock(&self.shared.stored).iter().flat_map(secret_of).collect()
    }

    pub(super) fn stored(&self, provider: &str) -> Vec<StoredSecret> {
        let stored = lock(&self.shared.stored);
        let own = stored.iter().filter(|credential| credential.provider == provider);
        own.map(|credential| credential.secret.clone()).collect()
    }

    pub(super) fn remember(&self, credentials: Vec<StoredCredential>) {
        *lock(&self.shared.stored) = credentials;
    }

    pub(super) fn printed(&self, command: &str) -> Option<SecretString> {
        lock(&self.shared.printed).get(command).cloned()
    }

    pub(super) fn forget_printed(&self, command: &str) {
        lock(&self.shared.printed).remove(command);
    }

    /// Notes that a command, or a name in a keyring, brings nothing that could be tried.
    pub(super) fn note_failed(&self, source: &str) {
        lock(&self.shared.failed).insert(source.to_owned());
    }

    pub(super) fn has_failed(&self, source: &str) -> bool {
        lock(&self.shared.failed).contains(source)
    }

    pub(super) fn recalled(&self, name: &str) -> Option<SecretString> {
        lock(&self.shared.recalled).get(name).cloned()
    }

    pub(super) fn minted(&self, file: &str) -> Option<Login> {
        lock(&self.shared.minted).get(file).cloned()
    }

    pub(super) fn note_minted(&self, file: &str, login: Login) {
        lock(&self.shared.minted).insert(file.to_owned(), login);
    }

    pub(super) fn note_recalled(&self, name: &str, secret: SecretString) {
        lock(&self.shared.recalled).insert(name.to_owned(), secret);
    }

    /// Runs a command, unless what it prints is known.
    pub(super) async fn run(&self, command: &str, cancel: &CancellationToken) -> Result<(), AuthError> {
        if self.printed(command).is_some() {
            return Ok(());
        }
        let Some(runner) = &self.command else {
            return Err(AuthError::Unsupported { what: "a command for a key" });
        };
        let printed = runner.run(command, cancel).await;
        let secret =
            printed.and_then(|printed| secret_in(&printed)).inspect_err(|_| self.note_failed(command))?;
        lock(&self.shared.printed).insert(command.to_owned(), secret);
        Ok(())
    }

    pub(super) fn reject(&self, provider: &str, secret: &SecretString, error: &ModelError) {
        let until = match error.kind {
            ErrorKind::Quota => Some(Instant::now() + error.retry_after.unwrap_or(WITHOUT_CREDIT)),
            _ => None,
        };
        let mut rejected = lock(&self.shared.rejected);
        rejected.push(Rejection { provider: provider.to_owned(), secret: secret.clone(), until });
    }

    pub(super) fn is_rejected(&self, provider: &str, secret: &SecretString) -> bool {
        let now = Instant::now();
        lock(&self.shared.rejected).iter().any(|rejection| {
            rejection.provider == provider
                && rejection.until.is_none_or(|until| until > now)
                && rejection.secret.expose_secret() == secret.expose_secret()
        })
    }

    /// Forgets what a provider turned away.
    pub(super) fn pardon(&self, provider: &str) {
        lock(&self.shared.rejected).retain(|rejection| rejection.provider != provider);
        lock(&self.shared.failed).clear();
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
