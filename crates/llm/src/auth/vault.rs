//! What is kept of secrets between runs, and the contract of where.
//!
//! The place is a file, [`FileVault`](super::FileVault). What the keyring of the
//! operating system holds is in it by name alone; see [`keyring`](super::keyring).

use std::fs::File;
use std::time::{Duration, Instant};

use rein_protocol::Timestamp;
use secrecy::SecretString;

use super::AuthError;

/// How long another process is waited for.
pub(super) const LONGEST_WAIT: Duration = Duration::from_secs(10);
/// How often it is looked whether it is done.
pub(super) const LOOK_EVERY: Duration = Duration::from_millis(20);

/// A secret that `rein auth login` stored. Showing it shows no secrets.
#[derive(Debug, Clone)]
pub struct StoredCredential {
    /// Whose it is.
    pub provider: String,
    /// What it is.
    pub secret: StoredSecret,
    /// When it was stored.
    pub added: Timestamp,
}

/// What is stored. Showing it shows no secrets.
#[derive(Debug, Clone)]
pub enum StoredSecret {
    /// A key, sent as the provider's scheme says.
    Key(SecretString),
    /// A token, sent as a bearer's.
    Token(SecretString),
    /// A command that prints a key.
    Command(String),
    /// A login in a browser.
    Login(Login),
    /// What the keyring of the operating system holds.
    Kept(Kept),
}

/// What a keyring holds. There is no secret in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Kept {
    /// What it is.
    pub kind: KeptKind,
    /// The name that it has there.
    pub name: String,
}

/// What kind of secret a keyring holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeptKind {
    /// A key.
    Key,
    /// A token.
    Token,
    /// The tokens of a login.
    Login {
        /// When what is sent ends, if it does.
        expires: Option<Timestamp>,
    },
}

impl StoredSecret {
    /// The word for its kind.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Key(_) | Self::Kept(Kept { kind: KeptKind::Key, .. }) => "key",
            Self::Token(_) | Self::Kept(Kept { kind: KeptKind::Token, .. }) => "token",
            Self::Command(_) => "command",
            Self::Login(_) | Self::Kept(Kept { kind: KeptKind::Login { .. }, .. }) => "login",
        }
    }
}

/// A login in a browser. Showing it shows no secrets.
#[derive(Debug, Clone)]
pub struct Login {
    /// What is sent.
    pub access_token: SecretString,
    /// What another one is got with.
    pub refresh_token: Option<SecretString>,
    /// When what is sent ends, if it does.
    pub expires: Option<Timestamp>,
}

/// Where secrets are kept.
///
/// Other processes use the same place: whoever changes it holds the lock from
/// before reading until after writing. A write is whole or not at all, also if
/// the process is killed in the middle.
pub trait Vault: Send + Sync {
    /// Everything that is kept, in the order in which it is preferred.
    fn read(&self) -> Result<Vec<StoredCredential>, AuthError>;

    /// The right to change it, if nobody else has it, in this process or another. Ends when it is dropped.
    fn try_lock(&self) -> Result<Option<VaultLock>, AuthError>;

    /// Replaces everything.
    fn write(&self, lock: &VaultLock, credentials: &[StoredCredential]) -> Result<(), AuthError>;

    /// What a person calls the place.
    fn place(&self) -> String;
}

/// The right to change what is kept.
#[derive(Debug)]
pub struct VaultLock {
    _file: Option<File>,
}

impl VaultLock {
    /// A lock that ends when this file is closed.
    #[must_use]
    pub fn of_file(file: File) -> Self {
        Self { _file: Some(file) }
    }
}

/// Changes what is kept. Blocks while another process does.
pub fn update(
    vault: &dyn Vault,
    change: impl FnOnce(&mut Vec<StoredCredential>),
) -> Result<Vec<StoredCredential>, AuthError> {
    let begun = Instant::now();
    let lock = loop {
        if let Some(lock) = vault.try_lock()? {
            break lock;
        }
        if begun.elapsed() > LONGEST_WAIT {
            return Err(AuthError::Busy { after: LONGEST_WAIT });
        }
        std::thread::sleep(LOOK_EVERY);
    };
    let mut credentials = vault.read()?;
    change(&mut credentials);
    vault.write(&lock, &credentials)?;
    Ok(credentials)
}
