//! What can be set about a provider of models and its models.
//!
//! Which wires exist and what a missing value means, the model layer knows.
//! None of this may come from a project: it would send keys elsewhere.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::secret::{Secret, ServerUrl};

/// A provider of models.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ProviderSettings {
    /// The protocol that the provider speaks.
    pub wire: Option<String>,
    /// Where its API begins: `https://…` or `http://…`.
    #[schemars(extend("format" = "http-url"))]
    pub base_url: Option<ServerUrl>,
    /// The key itself, or after a `!` the command that prints it. Better kept with `rein auth login`, or in an
    /// environment variable, see `key_env`.
    pub key: Option<Secret>,
    /// The environment variable that holds the key, or several: the first that is set counts, the others are tried
    /// if it is turned away.
    pub key_env: Option<KeyEnvironment>,
    /// How one logs in to it with `rein auth login`.
    pub oauth: OAuthSettings,
    /// Seconds of silence after which a stream counts as dead; as `network.idle_timeout` says if not set.
    #[schemars(range(min = 1, max = 3600))]
    pub idle_timeout: Option<u32>,
    /// Headers to send with every request.
    #[schemars(extend("x-rein-entry" = "HEADER"))]
    pub headers: BTreeMap<String, Secret>,
    /// Models of this provider by the name it knows them by.
    #[schemars(extend("x-rein-entry" = "MODEL"))]
    pub models: BTreeMap<String, ModelSettings>,
}

/// How one logs in to a provider with a browser, by OAuth.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct OAuthSettings {
    /// What the provider knows this program by: the id of a client that you registered there.
    pub client_id: Option<String>,
    /// Where codes are exchanged for tokens.
    #[schemars(extend("format" = "http-url"))]
    pub token_url: Option<ServerUrl>,
    /// Where a login by a code on any device begins.
    #[schemars(extend("format" = "http-url"))]
    pub device_url: Option<ServerUrl>,
    /// Where a login in a browser on this machine begins.
    #[schemars(extend("format" = "http-url"))]
    pub authorize_url: Option<ServerUrl>,
    /// What is asked for.
    pub scopes: Vec<String>,
    /// The port of this machine to come back to, if the provider insists on one.
    #[schemars(range(min = 1, max = 65535))]
    pub redirect_port: Option<u16>,
    /// The path to come back to; `/callback` if not set.
    pub redirect_path: Option<String>,
    /// What else the page of the login wants to be told.
    #[schemars(extend("x-rein-entry" = "PARAMETER"))]
    pub parameters: BTreeMap<String, String>,
}

/// A model of a provider.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct ModelSettings {
    /// Tokens that fit into its window.
    #[schemars(range(min = 1))]
    pub context: Option<u64>,
    /// Tokens that it can answer with at most.
    #[schemars(range(min = 1))]
    pub output: Option<u64>,
    /// Whether it can be sent images.
    pub images: Option<bool>,
    /// Whether it calls tools.
    pub tools: Option<bool>,
    /// The family that it belongs to, if its name does not speak of it, for example `qwen-coder`.
    pub family: Option<String>,
    /// How it writes calls into its text, if the server leaves them there, for example `hermes`.
    pub dialect: Option<String>,
    /// Whether tools are described to it in words, for models and servers that take none otherwise.
    pub teach: Option<bool>,
    /// A model with a larger window to go on with when this one is full.
    pub promote: Option<String>,
    /// US dollars for a million input tokens.
    #[schemars(range(min = 0))]
    pub input_price: Option<f64>,
    /// US dollars for a million output tokens.
    #[schemars(range(min = 0))]
    pub output_price: Option<f64>,
    /// US dollars for a million input tokens read from the cache.
    #[schemars(range(min = 0))]
    pub cache_read_price: Option<f64>,
    /// US dollars for a million input tokens written to the cache.
    #[schemars(range(min = 0))]
    pub cache_write_price: Option<f64>,
}

/// The name of an environment variable.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("format" = "variable"))]
pub struct VariableName(String);

impl AsRef<str> for VariableName {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

/// Environment variables to look for a key in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum KeyEnvironment {
    /// This one.
    One(VariableName),
    /// The first of these that is set.
    FirstOf(Vec<VariableName>),
}

impl KeyEnvironment {
    /// The variables, in the order to look.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        let names = match self {
            Self::One(name) => std::slice::from_ref(name),
            Self::FirstOf(names) => names,
        };
        names.iter().map(|name| name.0.as_str())
    }
}
