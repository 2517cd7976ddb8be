//! Which secrets a provider could be shown, in order, and which one it is.
//!
//! Listing costs nothing: no command runs and no login is renewed before a
//! request needs it, by [`Models::prepare_key`].

use rein_http::CancellationToken;
use rein_protocol::Timestamp;
use secrecy::{ExposeSecret, SecretString};

use super::command::command_in;
use super::keyring::unpacked;
use super::refresh::is_due;
use super::source::{KeyReport, KeySource, KeyState, mask};
use super::vault::{Kept, KeptKind, Login, StoredSecret};
use crate::catalog::{AccessScheme, Provider};
use crate::endpoint::Endpoint;
use crate::error::{ErrorKind, ModelError};
use crate::models::Models;
use crate::retry::Patience;
use crate::sending::{AwsKeys, Credential};

/// A secret that could be sent.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub source: KeySource,
    pub material: Material,
}

/// What is there of it.
#[derive(Debug, Clone)]
pub(crate) enum Material {
    Key(SecretString),
    Token(SecretString),
    Command(String),
    Login(Login),
    Kept(Kept),
    AccountFile(String),
    Aws(AwsKeys),
}

/// Whether another secret is left to try.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Another {
    Left,
    None,
}

impl Models {
    /// Who asks a provider, if anything is known of that by now.
    pub(crate) fn credential(&self, provider: &Provider) -> Option<Credential> {
        self.chosen(provider).map(|(_, credential)| credential)
    }

    /// Who asks a provider, and where that comes from.
    pub(crate) fn chosen(&self, provider: &Provider) -> Option<(KeySource, Credential)> {
        let ready: Vec<(KeySource, Credential)> = self
            .candidates(provider)
            .into_iter()
            .filter_map(|candidate| Some((candidate.source.clone(), self.ready(provider, &candidate)?)))
            .collect();
        let accepted = ready.iter().find(|(_, credential)| !self.is_rejected(provider, credential));
        accepted.or(ready.first()).cloned()
    }

    /// Whether there is anything to show a provider, fetched or not.
    pub(crate) fn has_candidate(&self, provider: &Provider) -> bool {
        !self.candidates(provider).is_empty()
    }

    /// Fetches what the next request needs: runs a command, renews a login.
    /// One that does not work makes room for the next.
    pub(crate) async fn prepare_key(
        &self,
        provider: &Provider,
        cancel: &CancellationToken,
    ) -> Result<(), ModelError> {
        if self.options().patience == Patience::Replayed {
            // What is played back looks at no key: no command runs for it, and nobody is asked for a token.
            return Ok(());
        }
        let mut failure = None;
        for candidate in self.candidates(provider) {
            match self.fetch(provider, &candidate, cancel).await {
                Ok(()) => match self.ready(provider, &candidate) {
                    Some(credential) if self.is_rejected(provider, &credential) => {
                        if let Material::Command(command) = &candidate.material {
                            // It ran once more and printed the same.
                            self.keychain.note_failed(command);
                        }
                    }
                    _ => return Ok(()),
                },
                Err(error) if error.kind == ErrorKind::Cancelled => return Err(error),
                Err(error) => failure = failure.or(Some(error)),
            }
        }
        match failure {
            Some(error) if self.chosen(provider).is_none() => Err(error),
            _ => Ok(()),
        }
    }

    /// Notes that a provider turned a request away, and says whether there is something else to show.
    pub(crate) fn turned_away(&self, provider: &Provider, used: &Endpoint, error: &ModelError) -> Another {
        let Some(credential) = &used.credential else { return Another::None };
        self.keychain.reject(&provider.name, sent(credential), error);
        for candidate in self.candidates(provider) {
            if let Material::Command(command) = &candidate.material
                && used.key_source.as_ref() == Some(&candidate.source)
                && !self.keychain.has_failed(command)
            {
                // What it prints may be good for a while only.
                self.keychain.forget_printed(command);
            }
        }
        let left = self.candidates(provider).iter().any(|candidate| {
            match (self.ready(provider, candidate), &candidate.material) {
                (Some(credential), _) => !self.is_rejected(provider, &credential),
                (None, Material::Command(source) | Material::AccountFile(source)) => {
                    !self.keychain.has_failed(source)
                }
                (None, Material::Kept(kept)) => !self.keychain.has_failed(&kept.name),
                (None, _) => true,
            }
        });
        if left {
            tracing::info!(
                provider = provider.name,
                kind = error.kind.name(),
                "turned away; trying the next key"
            );
            return Another::Left;
        }
        // The account may have been topped up by the next request.
        self.keychain.pardon(&provider.name);
        Another::None
    }

    /// What is known of a provider's secrets, for a person.
    #[must_use]
    pub fn key_report(&self, provider: &str) -> Vec<KeyReport> {
        let Some(provider) = self.catalog().provider(provider) else { return Vec::new() };
        let used = self.chosen(provider).map(|(_, credential)| sent(&credential).expose_secret().to_owned());
        let mut taken = false;
        let report = |candidate: Candidate| {
            let ready = self.ready(provider, &candidate);
            let state = match &ready {
                None => KeyState::Pending,
                Some(credential) if self.is_rejected(provider, credential) => KeyState::Rejected,
                Some(credential) if !taken && used.as_deref() == Some(sent(credential).expose_secret()) => {
                    taken = true;
                    KeyState::Used
                }
                Some(_) => KeyState::Spare,
            };
            let masked = ready.as_ref().map(|credential| match credential {
                Credential::Aws(keys) => mask(&keys.access_key),
                Credential::Key(secret) | Credential::Token(secret) => mask(secret.expose_secret()),
            });
            KeyReport { source: candidate.source, masked, state }
        };
        self.candidates(provider).into_iter().map(report).collect()
    }

    /// Everything that a provider could be shown, the preferred first.
    fn candidates(&self, provider: &Provider) -> Vec<Candidate> {
        let mut found = Vec::new();
        let mut add = |source: KeySource, material: Material| found.push(Candidate { source, material });
        let own = provider.key.as_ref().map(ExposeSecret::expose_secret).map(str::trim);
        if let Some(key) = own.filter(|key| !key.is_empty()) {
            match command_in(key) {
                Some(command) => add(KeySource::SettingsCommand, Material::Command(command.to_owned())),
                None => add(KeySource::Settings, Material::Key(key.into())),
            }
        }
        for name in &provider.key_env {
            if let Some(value) = self.variable(name) {
                add(KeySource::Variable(name.clone()), Material::Key(value.into()));
            }
        }
        for secret in self.keychain.stored(&provider.name) {
            match secret {
                StoredSecret::Key(key) => add(KeySource::Stored, Material::Key(key)),
                StoredSecret::Token(token) => add(KeySource::Stored, Material::Token(token)),
                StoredSecret::Command(command) => add(KeySource::StoredCommand, Material::Command(command)),
                StoredSecret::Login(login) => add(KeySource::Login, Material::Login(login)),
                StoredSecret::Kept(kept) => {
                    let login = matches!(kept.kind, KeptKind::Login { .. });
                    let source = if login { KeySource::Login } else { KeySource::Keyring };
                    add(source, Material::Kept(kept));
                }
            }
        }
        for name in &provider.access.token_env {
            if let Some(value) = self.variable(name) {
                add(KeySource::Variable(name.clone()), Material::Token(value.into()));
            }
        }
        // Another account is another bill: it does not step in for a key.
        let named = |name: &String| Some((name.clone(), self.variable(name)?));
        let file = provider.access.account_file_env.iter().find_map(named);
        if let (true, Some((name, file))) = (found.is_empty(), file) {
            found
                .push(Candidate { source: KeySource::Variable(name), material: Material::AccountFile(file) });
        }
        if found.is_empty()
            && matches!(provider.access.scheme, AccessScheme::Aws(_))
            && let Some(keys) = self.aws_keys()
        {
            found.push(Candidate { source: KeySource::Account, material: Material::Aws(keys) });
        }
        found
    }

    /// What would be sent, if it is there.
    fn ready(&self, provider: &Provider, candidate: &Candidate) -> Option<Credential> {
        match &candidate.material {
            Material::Key(key) => Some(as_sent(provider, key)),
            Material::Token(token) => Some(Credential::Token(token.expose_secret().trim().into())),
            Material::Command(command) => self.keychain.printed(command).map(|key| as_sent(provider, &key)),
            Material::Login(login) => {
                let over = login.expires.is_some_and(|end| end <= Timestamp::now());
                (!over).then(|| Credential::Token(login.access_token.clone()))
            }
            Material::AccountFile(file) => {
                let login = self.keychain.minted(file)?;
                let over = login.expires.is_some_and(|end| end <= Timestamp::now());
                (!over).then_some(Credential::Token(login.access_token))
            }
            Material::Kept(kept) => {
                let text = self.keychain.recalled(&kept.name)?;
                match kept.kind {
                    KeptKind::Key => Some(as_sent(provider, &text)),
                    KeptKind::Token => Some(Credential::Token(text)),
                    KeptKind::Login { expires } => {
                        let over = expires.is_some_and(|end| end <= Timestamp::now());
                        let login = unpacked(&text, expires).filter(|_| !over)?;
                        Some(Credential::Token(login.access_token))
                    }
                }
            }
            Material::Aws(keys) => Some(Credential::Aws(keys.clone())),
        }
    }

    async fn fetch(
        &self,
        provider: &Provider,
        candidate: &Candidate,
        cancel: &CancellationToken,
    ) -> Result<(), ModelError> {
        match &candidate.material {
            Material::Command(command) => Ok(self.keychain.run(command, cancel).await?),
            Material::Login(login) if is_due(login.expires) => {
                self.renewed(provider, login.expires, cancel).await
            }
            Material::AccountFile(file) => {
                let scope = &provider.access.account_scope;
                let minted = self.keychain.mint(self.http(), file, scope, cancel).await;
                Ok(minted.inspect_err(|_| self.keychain.note_failed(file))?)
            }
            Material::Kept(kept) => {
                match kept.kind {
                    KeptKind::Login { expires } if is_due(expires) => {
                        self.renewed(provider, expires, cancel).await?;
                    }
                    KeptKind::Login { .. } | KeptKind::Key | KeptKind::Token => {}
                }
                let fetched = self.keychain.fetch_kept(&provider.name, kept, cancel).await;
                Ok(fetched.inspect_err(|_| self.keychain.note_failed(&kept.name))?)
            }
            Material::Login(_) | Material::Key(_) | Material::Token(_) | Material::Aws(_) => Ok(()),
        }
    }

    /// Renews a login. What does not succeed is no matter while what is there is good for a while yet.
    async fn renewed(
        &self,
        provider: &Provider,
        expires: Option<Timestamp>,
        cancel: &CancellationToken,
    ) -> Result<(), ModelError> {
        match self.keychain.renew(self.http(), provider, cancel).await {
            Err(error) if expires.is_some_and(|end| end > Timestamp::now()) => {
                tracing::debug!(%error, "a login was not renewed");
                Ok(())
            }
            other => Ok(other?),
        }
    }

    fn is_rejected(&self, provider: &Provider, credential: &Credential) -> bool {
        self.keychain.is_rejected(&provider.name, sent(credential))
    }

    fn aws_keys(&self) -> Option<AwsKeys> {
        Some(AwsKeys {
            access_key: self.variable("AWS_ACCESS_KEY_ID")?,
            secret_key: self.variable("AWS_SECRET_ACCESS_KEY")?.into(),
            session_token: self.variable("AWS_SESSION_TOKEN").map(SecretString::from),
        })
    }
}

/// Whether an answer is about who asks, so that somebody else could be let in.
pub(crate) fn is_about_the_key(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::Auth | ErrorKind::Quota)
}

/// A key as the provider wants it.
fn as_sent(provider: &Provider, key: &SecretString) -> Credential {
    let text = key.expose_secret().trim();
    match &provider.access.token_prefix {
        Some(prefix) if text.starts_with(prefix) => Credential::Token(text.into()),
        _ if matches!(provider.access.scheme, AccessScheme::Aws(_)) => Credential::Token(text.into()),
        _ => Credential::Key(text.into()),
    }
}

fn sent(credential: &Credential) -> &SecretString {
    match credential {
        Credential::Key(secret) | Credential::Token(secret) => secret,
        Credential::Aws(keys) => &keys.secret_key,
    }
}
