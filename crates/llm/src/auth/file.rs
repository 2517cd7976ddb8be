//! Secrets in a file that only its owner can read.
//!
//! TOML, mode 0600, replaced as a whole: written beside, synced and renamed.
//! A file that others could read is not used. The lock is a file of its own,
//! because the one with the secrets is replaced.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io::{self, Read, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rein_protocol::Timestamp;
use secrecy::{ExposeSecret, SecretString};
use serde::{Deserialize, Serialize};

use super::AuthError;
use super::vault::{Kept, KeptKind, Login, StoredCredential, StoredSecret, Vault, VaultLock};

const NAME: &str = "credentials.toml";
const LOCK: &str = "credentials.lock";
const LONGEST: u64 = 1024 * 1024;
const HEAD: &str =
    "# Written by `rein auth`. Whoever reads this can spend your money: keep it to yourself.\n\n";

/// Secrets in a file.
#[derive(Debug, Clone)]
pub struct FileVault {
    directory: PathBuf,
}

impl FileVault {
    /// The file `credentials.toml` of a directory, which need not exist.
    pub fn in_directory(directory: impl Into<PathBuf>) -> Self {
        Self { directory: directory.into() }
    }

    /// The file.
    #[must_use]
    pub fn path(&self) -> PathBuf {
        self.directory.join(NAME)
    }

    fn replace(&self, text: &str) -> io::Result<()> {
        let fresh = self.directory.join(format!("{NAME}.{}.new", std::process::id()));
        // What a process of the same number left when it was killed.
        match fs::remove_file(&fresh) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let written = write_new(&fresh, text).and_then(|()| fs::rename(&fresh, self.path()));
        if written.is_err() {
            // The first failure is the one to tell.
            let _ = fs::remove_file(&fresh);
        }
        written?;
        File::open(&self.directory)?.sync_all()
    }
}

impl Vault for FileVault {
    fn read(&self) -> Result<Vec<StoredCredential>, AuthError> {
        let path = self.path();
        let failed = |error: io::Error| file_error(&path, "read", &error);
        // Looked at before it is opened: opening a pipe would wait for its other end.
        match fs::metadata(&path) {
            Ok(metadata) => check(&path, &metadata)?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(failed(error)),
        }
        let file = File::open(&path).map_err(failed)?;
        check(&path, &file.metadata().map_err(failed)?)?;
        let mut text = String::new();
        file.take(LONGEST).read_to_string(&mut text).map_err(failed)?;
        let content: Content = toml::from_str(&text).map_err(|error| {
            let at = error.span().map_or(0, |span| span.start);
            let before = text.get(..at).unwrap_or_default();
            AuthError::Damaged { path: path.clone(), line: before.matches('\n').count() + 1 }
        })?;
        let later = || AuthError::Unfit {
            path: path.clone(),
            reason: "it holds something that this version of rein does not know".to_owned(),
        };
        content.credential.into_iter().map(|row| row.into_credential().ok_or_else(later)).collect()
    }

    fn try_lock(&self) -> Result<Option<VaultLock>, AuthError> {
        let path = self.directory.join(LOCK);
        let failed = |error: io::Error| file_error(&path, "locked", &error);
        DirBuilder::new().recursive(true).mode(0o700).create(&self.directory).map_err(failed)?;
        let file = OpenOptions::new()
            .create(true)
            .truncate(false)
            .write(true)
            .mode(0o600)
            .open(&path)
            .map_err(failed)?;
        match file.try_lock() {
            Ok(()) => Ok(Some(VaultLock::of_file(file))),
            Err(TryLockError::WouldBlock) => Ok(None),
            Err(TryLockError::Error(error)) => Err(failed(error)),
        }
    }

    fn write(&self, _lock: &VaultLock, credentials: &[StoredCredential]) -> Result<(), AuthError> {
        let content = Content { credential: credentials.iter().map(Row::of).collect() };
        let path = self.path();
        let text = toml::to_string(&content)
            .map_err(|error| file_error(&path, "written", &io::Error::other(error.to_string())))?;
        self.replace(&format!("{HEAD}{text}")).map_err(|error| file_error(&path, "written", &error))
    }

    fn place(&self) -> String {
        format!("{} (a file that only you can read; it is not encrypted)", self.path().display())
    }
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new().write(true).create_new(true).mode(0o600).open(path)?;
    file.write_all(text.as_bytes())?;
    file.sync_all()
}

fn check(path: &Path, metadata: &fs::Metadata) -> Result<(), AuthError> {
    let unfit = |reason: &str| AuthError::Unfit { path: path.to_owned(), reason: reason.to_owned() };
    if !metadata.is_file() {
        return Err(unfit("it is no file"));
    }
    if metadata.len() > LONGEST {
        return Err(unfit("it is larger than keys can be"));
    }
    let mode = metadata.mode() & 0o777;
    if mode & 0o077 != 0 {
        return Err(AuthError::Permissions { path: path.to_owned(), mode });
    }
    Ok(())
}

fn file_error(path: &Path, what: &'static str, error: &io::Error) -> AuthError {
    AuthError::File { path: path.to_owned(), what, reason: error.to_string() }
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Content {
    #[serde(default)]
    credential: Vec<Row>,
}

/// One credential as it is written.
#[derive(Serialize, Deserialize)]
struct Row {
    provider: String,
    kind: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    secret: Option<String>,
    /// The name under which the keyring of the operating system holds the secret.
    #[serde(skip_serializing_if = "Option::is_none")]
    keyring: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    refresh: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    expires: Option<i64>,
    added: i64,
}

impl Row {
    fn of(credential: &StoredCredential) -> Self {
        let plain = |secret: &SecretString| Some(secret.expose_secret().to_owned());
        let (secret, refresh, expires) = match &credential.secret {
            StoredSecret::Key(secret) | StoredSecret::Token(secret) => (plain(secret), None, None),
            StoredSecret::Command(command) => (Some(command.clone()), None, None),
            StoredSecret::Login(login) => (
                plain(&login.access_token),
                login.refresh_token.as_ref().and_then(plain),
                login.expires.map(|moment| moment.0),
            ),
            StoredSecret::Kept(kept) => match kept.kind {
                KeptKind::Key | KeptKind::Token => (None, None, None),
                KeptKind::Login { expires } => (None, None, expires.map(|moment| moment.0)),
            },
        };
        let keyring = match &credential.secret {
            StoredSecret::Kept(kept) => Some(kept.name.clone()),
            _ => None,
        };
        Self {
            provider: credential.provider.clone(),
            kind: credential.secret.kind().to_owned(),
            secret,
            keyring,
            refresh,
            expires,
            added: credential.added.0,
        }
    }

    fn into_credential(self) -> Option<StoredCredential> {
        let added = Timestamp(self.added);
        if let Some(name) = self.keyring {
            let kind = match self.kind.as_str() {
                "key" => KeptKind::Key,
                "token" => KeptKind::Token,
                "login" => KeptKind::Login { expires: self.expires.map(Timestamp) },
                _ => return None,
            };
            let secret = StoredSecret::Kept(Kept { kind, name });
            return Some(StoredCredential { provider: self.provider, secret, added });
        }
        let text = self.secret?;
        let secret = match self.kind.as_str() {
            "key" => StoredSecret::Key(text.into()),
            "token" => StoredSecret::Token(text.into()),
            "command" => StoredSecret::Command(text),
            "login" => StoredSecret::Login(Login {
                access_token: text.into(),
                refresh_token: self.refresh.map(SecretString::from),
                expires: self.expires.map(Timestamp),
            }),
            _ => return None,
        };
        Some(StoredCredential { provider: self.provider, secret, added })
    }
}
