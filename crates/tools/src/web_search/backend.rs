//! The back ends by name: what to send, and what an answer holds. No sockets here; each back end is a
//! file with these two functions.

use std::fmt;
use std::str::FromStr;

use rein_http::{HttpError, Request, Url};
use secrecy::SecretString;
use serde_json::Value;
use tokio_util::sync::CancellationToken;

use super::{brave, duckduckgo, exa, searxng, tavily};

/// Who searches.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Backend {
    /// A SearXNG instance, by its JSON.
    SearXng,
    /// Brave Search.
    Brave,
    /// Tavily.
    Tavily,
    /// Exa.
    Exa,
    /// DuckDuckGo's plain HTML, without a key.
    DuckDuckGo,
}

/// A name that is no back end's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UnknownBackend(pub String);

impl fmt::Display for UnknownBackend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}` is no search back end; there are {}", self.0, Backend::NAMES.join(", "))
    }
}

impl std::error::Error for UnknownBackend {}

impl FromStr for Backend {
    type Err = UnknownBackend;

    fn from_str(name: &str) -> Result<Self, UnknownBackend> {
        match name.trim().to_lowercase().as_str() {
            "searxng" => Ok(Self::SearXng),
            "brave" => Ok(Self::Brave),
            "tavily" => Ok(Self::Tavily),
            "exa" => Ok(Self::Exa),
            "duckduckgo" => Ok(Self::DuckDuckGo),
            _ => Err(UnknownBackend(name.to_owned())),
        }
    }
}

impl fmt::Display for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::SearXng => "searxng",
            Self::Brave => "brave",
            Self::Tavily => "tavily",
            Self::Exa => "exa",
            Self::DuckDuckGo => "duckduckgo",
        })
    }
}

/// What is searched for.
pub(super) struct Query {
    /// On one line.
    pub(super) words: String,
    pub(super) count: usize,
}

/// A result as a back end gave it: perhaps with tags, perhaps hostile.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Hit {
    pub(super) title: String,
    pub(super) url: String,
    pub(super) snippet: String,
}

/// Why an answer holds no results.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Unreadable {
    /// It is something else.
    Garbage,
    /// It wants to know whether a person searches.
    Blocked,
}

impl Backend {
    /// The names that a setting may have.
    pub const NAMES: [&str; 5] = ["searxng", "brave", "tavily", "exa", "duckduckgo"];

    pub(super) fn usual_endpoint(self) -> Option<&'static str> {
        match self {
            Self::SearXng => None,
            Self::Brave => Some("https://api.search.brave.com/res/v1/web/search"),
            Self::Tavily => Some("https://api.tavily.com/search"),
            Self::Exa => Some("https://api.exa.ai/search"),
            Self::DuckDuckGo => Some("https://html.duckduckgo.com/html/"),
        }
    }

    pub(super) fn needs_key(self) -> bool {
        match self {
            Self::Brave | Self::Tavily | Self::Exa => true,
            Self::SearXng | Self::DuckDuckGo => false,
        }
    }

    pub(super) fn request(
        self,
        endpoint: &Url,
        key: Option<&SecretString>,
        query: &Query,
    ) -> Result<Request, HttpError> {
        match self {
            Self::SearXng => searxng::request(endpoint, key, query),
            Self::Brave => brave::request(endpoint, key, query),
            Self::Tavily => tavily::request(endpoint, key, query),
            Self::Exa => exa::request(endpoint, key, query),
            Self::DuckDuckGo => duckduckgo::request(endpoint, query),
        }
    }

    pub(super) fn hits(self, body: &[u8], stop: &CancellationToken) -> Result<Vec<Hit>, Unreadable> {
        let from_json = |hits: fn(&Value) -> Option<Vec<Hit>>| {
            let value: Value = serde_json::from_slice(body).map_err(|_| Unreadable::Garbage)?;
            hits(&value).ok_or(Unreadable::Garbage)
        };
        match self {
            Self::SearXng => from_json(searxng::hits),
            Self::Brave => from_json(brave::hits),
            Self::Tavily => from_json(tavily::hits),
            Self::Exa => from_json(exa::hits),
            Self::DuckDuckGo => duckduckgo::hits(&String::from_utf8_lossy(body), stop),
        }
    }
}

/// Results from a list of objects; fields that are missing are empty.
pub(super) fn listed(list: Option<&Value>, snippet: fn(&Value) -> String) -> Option<Vec<Hit>> {
    let hits = list?.as_array()?.iter().map(|item| Hit {
        title: text(item, "title"),
        url: text(item, "url"),
        snippet: snippet(item),
    });
    Some(hits.collect())
}

/// A field that should be text.
pub(super) fn text(item: &Value, name: &str) -> String {
    item.get(name).and_then(Value::as_str).unwrap_or_default().to_owned()
}

/// A URL with parameters added to it.
pub(super) fn with_parameters(url: &Url, parameters: &[(&str, &str)]) -> Url {
    let mut url = url.clone();
    url.query_pairs_mut().extend_pairs(parameters);
    url
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_back_end_is_known_by_its_name() {
        for name in Backend::NAMES {
            assert_eq!(name.parse::<Backend>().unwrap().to_string(), name);
        }
        assert_eq!(
            "gogle".parse::<Backend>().unwrap_err().to_string(),
            "`gogle` is no search back end; there are searxng, brave, tavily, exa, duckduckgo"
        );
    }
}
