//! How a provider is shown who asks: data, so that no code knows a provider.

use std::collections::BTreeMap;

use serde::Deserialize;

/// How a provider is shown who asks.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Access {
    /// How the key is sent.
    pub scheme: AccessScheme,
    /// Variables that hold a token instead of a key, the first that is set. A token is sent as a bearer's, whatever
    /// the scheme.
    pub token_env: Vec<String>,
    /// Variables that name a file that describes an account, the first that is set. Tokens for it are fetched.
    pub account_file_env: Vec<String>,
    /// What a token for such an account is asked for.
    pub account_scope: String,
    /// How a key begins that is a token in truth.
    pub token_prefix: Option<String>,
    /// Headers that a token wants beside it. A value for a header that is there already is added to it after a comma.
    pub token_headers: BTreeMap<String, String>,
}

/// How a key is sent.
#[derive(Debug, Clone, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum AccessScheme {
    /// `authorization: Bearer KEY`.
    #[default]
    Bearer,
    /// In a header of this name.
    Header(String),
    /// Not at all: requests are signed for this service with the keys of an AWS account. A key from `key_env` is
    /// preferred, and sent as a bearer's.
    Aws(String),
}
