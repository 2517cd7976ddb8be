//! Where a secret comes from, in words, and how it may be shown.

use std::fmt;

/// Where a key or token comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum KeySource {
    /// `provider.NAME.key` of the settings holds it.
    Settings,
    /// The command in `provider.NAME.key` prints it.
    SettingsCommand,
    /// This variable of the environment.
    Variable(String),
    /// `rein auth login` stored it.
    Stored,
    /// `rein auth login` put it into the keyring of the operating system.
    Keyring,
    /// `rein auth login` stored a command that prints it.
    StoredCommand,
    /// A login in a browser.
    Login,
    /// The variables of an account, with which requests are signed.
    Account,
}

impl KeySource {
    /// The word in machine formats.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Settings => "settings",
            Self::SettingsCommand => "settings_command",
            Self::Variable(_) => "variable",
            Self::Stored => "stored",
            Self::Keyring => "keyring",
            Self::StoredCommand => "stored_command",
            Self::Login => "login",
            Self::Account => "account",
        }
    }
}

impl fmt::Display for KeySource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Settings => f.write_str("the key in your settings"),
            Self::SettingsCommand => f.write_str("the key that the command in your settings prints"),
            Self::Variable(name) => write!(f, "the key in {name}"),
            Self::Stored => f.write_str("the stored key"),
            Self::Keyring => f.write_str("the key in your keyring"),
            Self::StoredCommand => f.write_str("the key that the stored command prints"),
            Self::Login => f.write_str("your login"),
            Self::Account => f.write_str("the keys of your account"),
        }
    }
}

/// What is known of one candidate, for a person. Holds no secret.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyReport {
    /// Where it comes from.
    pub source: KeySource,
    /// Its end, as [`mask`] shows it; nothing for what is not known yet.
    pub masked: Option<String>,
    /// What is made of it.
    pub state: KeyState,
}

/// What is made of a candidate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum KeyState {
    /// It is the one that is sent.
    Used,
    /// It is sent if those before it are turned away.
    Spare,
    /// It has to be fetched first: a command runs, or a login is renewed, when it is needed.
    Pending,
    /// The provider turned it away.
    Rejected,
}

impl KeyState {
    /// The word for it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Used => "used",
            Self::Spare => "spare",
            Self::Pending => "pending",
            Self::Rejected => "rejected",
        }
    }
}

/// A secret as it may be shown: its last four characters, and of a short one nothing.
#[must_use]
pub fn mask(secret: &str) -> String {
    const SHOWN: usize = 4;
    const SHORTEST: usize = 16;
    let count = secret.chars().count();
    if count < SHORTEST {
        return "…".to_owned();
    }
    format!("…{}", secret.chars().skip(count - SHOWN).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_of_a_long_secret_is_shown() {
        assert_eq!(mask("sk-0123456789abcdef"), "…cdef");
        assert_eq!(mask("sk-0123456789äöüß"), "…äöüß");
        assert_eq!(mask("hunter2-hunter2"), "…");
        assert_eq!(mask(""), "…");
    }
}
