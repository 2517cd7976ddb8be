//! Why there is no key, or none that can be kept. No message holds a secret.

use std::path::PathBuf;
use std::time::Duration;

use rein_http::HttpError;

use crate::error::{ErrorKind, ModelError};

/// Why a secret cannot be got, kept or renewed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum AuthError {
    /// Others could read the file.
    #[error(
        "{} can be read by others (its mode is {mode:04o}), so it is not used: run `chmod 600 {}`, and replace the \
         keys in it if others use this machine",
        .path.display(), .path.display()
    )]
    Permissions {
        /// Which file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// The file is somebody else's, or no file.
    #[error("{} is not used: {reason}", .path.display())]
    Unfit {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The file does not hold what it should. What it holds is not shown.
    #[error("{} cannot be understood (line {line}): mend it, or delete it and log in again", .path.display())]
    Damaged {
        /// Which file.
        path: PathBuf,
        /// Where, counted from 1.
        line: usize,
    },
    /// The file could not be read or written.
    #[error("{} cannot be {what}: {reason}", .path.display())]
    File {
        /// Which file.
        path: PathBuf,
        /// What was tried.
        what: &'static str,
        /// What the system said.
        reason: String,
    },
    /// Another process holds the store.
    #[error("another rein has been changing the stored credentials for {} s; try again", .after.as_secs())]
    Busy {
        /// How long was waited.
        after: Duration,
    },
    /// Nothing is there to run commands with, or to keep secrets in.
    #[error("{what} cannot be used here")]
    Unsupported {
        /// What is missing.
        what: &'static str,
    },
    /// The keyring of the operating system cannot be used.
    #[error("the keyring cannot be used: {reason}")]
    Keyring {
        /// What went wrong.
        reason: String,
    },
    /// A secret is in a keyring that cannot be asked now.
    #[error(
        "what is stored for `{provider}` is in the keyring of the system, and that cannot be asked: {reason}; unlock it, \
         or store the key in a file with `rein auth login {provider} --file`"
    )]
    KeptElsewhere {
        /// Whose secret.
        provider: String,
        /// What went wrong.
        reason: String,
    },
    /// A command did not print a key. Neither the command nor what it printed is shown.
    #[error("the command for the key did not work: {reason}; run it in your shell to see why")]
    Command {
        /// What went wrong.
        reason: String,
    },
    /// A login cannot be made with this data.
    #[error("`{provider}` has no login of this kind: {missing} is not set in provider.{provider}.oauth")]
    NotConfigured {
        /// Whose login.
        provider: String,
        /// Which field.
        missing: &'static str,
    },
    /// An address would be spoken to in the clear.
    #[error(
        "{field} must begin with https:// or be on this machine: a login in the clear can be read on its way"
    )]
    Insecure {
        /// Which field.
        field: &'static str,
    },
    /// The person, or the provider, said no.
    #[error("the login was denied")]
    Denied,
    /// Nobody finished it in time.
    #[error("the login was not finished in time; begin anew")]
    Expired,
    /// The login that was stored is no longer accepted.
    #[error("the login at `{provider}` has ended: run `rein auth login {provider}`")]
    Ended {
        /// Whose login.
        provider: String,
    },
    /// The provider's answer was no success.
    #[error("the login failed: {said}")]
    Refused {
        /// What the provider said.
        said: String,
    },
    /// The provider could not be reached.
    #[error(transparent)]
    Http(#[from] HttpError),
}

impl From<AuthError> for ModelError {
    fn from(error: AuthError) -> Self {
        match error {
            AuthError::Http(error) => error.into(),
            other => ModelError::new(ErrorKind::Auth, other.to_string()),
        }
    }
}
