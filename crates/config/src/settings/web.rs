//! Settings of the tools that read the web.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::provider::VariableName;
use crate::secret::ServerUrl;

/// Reading the web.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct WebSettings {
    /// Hosts and addresses of private networks that may be fetched from all the same, for example `localhost`
    /// or `10.0.0.0/8`.
    pub allow_private: Vec<String>,
    /// Seconds that fetching a page may take.
    #[schemars(range(min = 1, max = 600))]
    pub timeout: u32,
    /// Megabytes of a page that are read at most.
    #[schemars(range(min = 1, max = 100))]
    pub size_mb: u32,
    /// Searching the web.
    pub search: SearchSettings,
}

impl Default for WebSettings {
    fn default() -> Self {
        Self { allow_private: Vec::new(), timeout: 30, size_mb: 5, search: SearchSettings::default() }
    }
}

/// Searching the web.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields)]
pub struct SearchSettings {
    /// Who is asked. If not set, there is no tool for searching.
    pub backend: Option<SearchBackend>,
    /// Where it is asked; a SearXNG server has no usual place.
    #[schemars(extend("format" = "http-url"))]
    pub endpoint: Option<ServerUrl>,
    /// The variable that holds the key.
    pub key_env: Option<VariableName>,
}

/// Who is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SearchBackend {
    /// A SearXNG server.
    Searxng,
    /// Brave Search, with a key.
    Brave,
    /// Tavily, with a key.
    Tavily,
    /// Exa, with a key.
    Exa,
    /// DuckDuckGo's page for browsers without scripts; no key.
    Html,
}
