//! What can be used now, and if not, why not.
//!
//! No provider is asked over the network but servers on this machine: whether
//! a key is good is found out by using it.

use std::fmt;

use rein_protocol::ModelRef;

use crate::catalog::{AccessScheme, ModelInfo, Provider, SignIn};
use crate::discovery::LocalServer;
use crate::endpoint::{unsaid, wants_key};
use crate::models::Models;
use crate::wire::Wire;

/// Whether a provider can be used now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Usability {
    /// As far as that can be told without asking it.
    Ready,
    /// There is no key.
    NoKey {
        /// Where it is looked for.
        variables: Vec<String>,
    },
    /// Nobody signed in.
    NoSignIn {
        /// Where a token is looked for.
        variables: Vec<String>,
    },
    /// A part of its address is not said.
    NoAddress {
        /// Where it is looked for.
        variables: Vec<String>,
    },
    /// No such server runs on this machine.
    NotRunning {
        /// Where it was looked for.
        address: String,
    },
    /// rein does not speak its protocol.
    NotSpoken {
        /// Which.
        wire: &'static str,
    },
}

impl fmt::Display for Usability {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Ready => f.write_str("usable"),
            Self::NoKey { variables } => write!(f, "no key: {} is not set", variables.join(" or ")),
            Self::NoSignIn { variables } => {
                write!(f, "nobody signed in with it, and {} is not set", variables.join(" or "))
            }
            Self::NoAddress { variables } => {
                write!(f, "its address is not complete: {} is not set", variables.join(" or "))
            }
            Self::NotRunning { address } => write!(f, "no server runs at {address}"),
            Self::NotSpoken { wire } => write!(f, "its protocol {wire} is not spoken"),
        }
    }
}

impl Usability {
    /// The word in machine formats.
    #[must_use]
    pub fn name(&self) -> &'static str {
        match self {
            Self::Ready => "ready",
            Self::NoKey { .. } => "no_key",
            Self::NoSignIn { .. } => "no_sign_in",
            Self::NoAddress { .. } => "no_address",
            Self::NotRunning { .. } => "not_running",
            Self::NotSpoken { .. } => "not_spoken",
        }
    }
}

/// A provider, and what it has.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedProvider {
    /// What users write before the slash.
    pub name: String,
    /// What it calls itself.
    pub title: String,
    /// Whether it can be used now.
    pub usability: Usability,
    /// Its models, as far as known.
    pub models: Vec<ListedModel>,
}

/// A model, and what is known of it.
#[derive(Debug, Clone, PartialEq)]
pub struct ListedModel {
    /// How it is named.
    pub model: ModelRef,
    /// What is known of it, its family's part included.
    pub info: ModelInfo,
}

impl Models {
    /// Every provider and model that is known, in the order of the catalog. Looks for servers on this machine.
    pub async fn listing(&self) -> Vec<ListedProvider> {
        let servers = self.local_servers().await;
        let providers = self.catalog().providers().iter();
        providers.map(|provider| self.listed(provider, &servers)).collect()
    }

    fn listed(&self, provider: &Provider, servers: &[LocalServer]) -> ListedProvider {
        let server = servers.iter().find(|server| server.provider == provider.name);
        let serving = server.map(|server| server.models.as_slice()).unwrap_or_default();
        let known = provider.models.iter().map(|model| &model.id);
        let new = serving.iter().filter(|id| provider.model(id).is_none());
        let models = known.chain(new).map(|id| {
            let model = ModelRef { provider: provider.name.clone(), model: id.clone() };
            // Another address is another seller.
            let info = ModelInfo { prices: self.pricing(&model), ..self.catalog().info(provider, id) };
            ListedModel { model, info }
        });
        ListedProvider {
            name: provider.name.clone(),
            title: provider.title.clone(),
            usability: self.usability(provider, server),
            models: models.collect(),
        }
    }

    fn usability(&self, provider: &Provider, server: Option<&LocalServer>) -> Usability {
        if !Wire::ALL.contains(&provider.wire) {
            return Usability::NotSpoken { wire: provider.wire.name() };
        }
        if provider.local_port.is_some() {
            return match server {
                Some(_) => Usability::Ready,
                None => Usability::NotRunning { address: provider.base_url.clone() },
            };
        }
        let (base_url, _) = self.address(provider);
        if let Some((name, variables)) = unsaid(provider, &base_url) {
            let variables = if variables.is_empty() { vec![name.to_owned()] } else { variables.to_vec() };
            return Usability::NoAddress { variables };
        }
        if self.has_candidate(provider) || !wants_key(provider, &base_url) {
            return Usability::Ready;
        }
        let access = &provider.access;
        let pair = match access.scheme {
            AccessScheme::Aws(_) => Some("AWS_ACCESS_KEY_ID".to_owned()),
            AccessScheme::Bearer | AccessScheme::Header(_) => None,
        };
        let variables = provider.key_env.iter().chain(&access.token_env).cloned().chain(pair).collect();
        match provider.sign_in {
            Some(SignIn::Oauth) => Usability::NoSignIn { variables },
            None => Usability::NoKey { variables },
        }
    }
}
