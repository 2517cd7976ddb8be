//! Values that must not be seen: keys, header values, passwords in addresses.
//!
//! Every way to print or serialise them yields a mask; what they are is only
//! got by asking for it by name.

use std::fmt;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize, Serializer};

/// What is shown instead.
pub(crate) const MASK: &str = "********";

/// A text that is shown as a mask.
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
#[schemars(extend("writeOnly" = true))]
pub struct Secret(String);

impl Secret {
    /// A secret.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text itself, for the one place that sends it.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for Secret {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(MASK)
    }
}

impl Serialize for Secret {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(MASK)
    }
}

/// The address of a server. A user name and password in it, and what follows a `?`, are shown as a mask.
#[derive(Clone, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(transparent)]
pub struct ServerUrl(String);

impl ServerUrl {
    /// An address.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The whole address, credentials included.
    #[must_use]
    pub fn expose(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (open, masked) = match self.0.split_once(['?', '#']) {
            Some((before, after)) if !after.is_empty() => (before, format!("?{MASK}")),
            _ => (self.0.as_str(), String::new()),
        };
        let start = open.find("://").map_or(0, |at| at + "://".len());
        let (scheme, rest) = open.split_at(start);
        let authority = rest.split('/').next().unwrap_or(rest);
        match authority.rsplit_once('@') {
            Some((credentials, _)) => {
                let host = rest.get(credentials.len()..).unwrap_or_default();
                write!(f, "{scheme}{MASK}{host}{masked}")
            }
            None => write!(f, "{open}{masked}"),
        }
    }
}

impl fmt::Debug for ServerUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", self.to_string())
    }
}

impl Serialize for ServerUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_secret_is_only_got_by_asking_for_it() {
        let secret = Secret::new("hunter2");
        assert_eq!(format!("{secret:?}"), MASK);
        assert_eq!(serde_json::to_value(&secret).unwrap(), MASK);
        assert_eq!(secret.expose(), "hunter2");
    }

    #[test]
    fn an_address_is_shown_without_its_credentials() {
        for (address, shown) in [
            ("https://api.example.com/v1", "https://api.example.com/v1"),
            ("https://ada:hunter2@proxy:8080/a@b", "https://********@proxy:8080/a@b"),
            ("https://ada:p@ss@proxy", "https://********@proxy"),
            ("https://host/path?key=hunter2&mail=a@b", "https://host/path?********"),
            ("https://ada:hunter2@host?key=hunter2", "https://********@host?********"),
            ("ada:hunter2@host/v1", "********@host/v1"),
            ("nonsense", "nonsense"),
        ] {
            let url = ServerUrl::new(address);
            assert_eq!(url.to_string(), shown);
            assert_eq!(format!("{url:?}"), format!("{shown:?}"));
            assert_eq!(serde_json::to_value(&url).unwrap(), shown);
            assert_eq!(url.expose(), address);
        }
    }
}
