//! Who asks: where a provider's keys come from, which of them is used, and
//! how a login is kept fresh.
//!
//! In this order: the key of the settings, the variables that the provider's
//! entry in the catalog names, what `rein auth login` stored, the variables
//! with tokens, an account. All of them are candidates; one that the provider
//! turns away makes room for the next. Running a command and keeping a
//! secret are left to what implements [`SecretCommand`], [`Keyring`] and [`Vault`]. The
//! invariant: nothing here shows a secret but by [`mask`].
//!
//! Layout: [`source`] names where a secret comes from; `candidates` lists and
//! chooses them; `keychain` is what the process knows; [`vault`], [`file`] and
//! [`keyring`] are how secrets are kept; `account_file` gets tokens for an account; [`oauth`] are logins; `refresh` renews them.

mod account_file;
mod candidates;
mod command;
mod error;
pub mod file;
mod keychain;
pub mod keyring;
pub mod oauth;
mod refresh;
pub mod source;
pub mod vault;

pub(crate) use candidates::{Another, is_about_the_key};
pub use command::{COMMAND_LIMIT, SecretCommand, SecretCommandFuture};
pub use error::AuthError;
pub use file::FileVault;
pub use keychain::Keychain;
pub use keyring::{Keyring, KeyringFuture};
pub use oauth::OAuth;
pub use source::{KeyReport, KeySource, KeyState, mask};
pub use vault::{Kept, KeptKind, Login, StoredCredential, StoredSecret, Vault, VaultLock, update};
