//! What goes out. A request is complete before it is sent, and showing it for
//! debugging reveals neither its secrets nor its body.

use std::fmt;
use std::time::Duration;

use bytes::Bytes;
use reqwest::Url;
use reqwest::header::{HeaderName, HeaderValue};

use crate::error::HttpError;

/// What is asked of a resource.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Method {
    /// Look at it.
    Get,
    /// Look whether it is there.
    Head,
    /// Send it something.
    Post,
    /// Replace it.
    Put,
    /// Remove it.
    Delete,
}

impl Method {
    pub(crate) fn to_library(self) -> reqwest::Method {
        match self {
            Self::Get => reqwest::Method::GET,
            Self::Head => reqwest::Method::HEAD,
            Self::Post => reqwest::Method::POST,
            Self::Put => reqwest::Method::PUT,
            Self::Delete => reqwest::Method::DELETE,
        }
    }
}

/// A request, ready to be sent.
#[derive(Clone)]
pub struct Request {
    pub(crate) method: Method,
    pub(crate) url: Url,
    pub(crate) headers: Vec<(HeaderName, HeaderValue)>,
    pub(crate) body: Bytes,
    pub(crate) idle_timeout: Option<Duration>,
}

impl Request {
    /// A request without headers and body.
    pub fn new(method: Method, url: &str) -> Result<Self, HttpError> {
        Ok(Self { method, url: parse_url(url)?, headers: Vec::new(), body: Bytes::new(), idle_timeout: None })
    }

    /// With a header that anybody may see.
    pub fn with_header(self, name: &str, value: &str) -> Result<Self, HttpError> {
        self.with_value(name, value, Sensitivity::Public)
    }

    /// With a header whose value is never shown.
    pub fn with_secret_header(self, name: &str, value: &str) -> Result<Self, HttpError> {
        self.with_value(name, value, Sensitivity::Secret)
    }

    /// With a body.
    #[must_use]
    pub fn with_body(mut self, body: impl Into<Bytes>) -> Self {
        self.body = body.into();
        self
    }

    /// With another limit on how long the server may be silent than the client's.
    #[must_use]
    pub fn with_idle_timeout(mut self, limit: Duration) -> Self {
        self.idle_timeout = Some(limit);
        self
    }

    fn with_value(mut self, name: &str, value: &str, sensitivity: Sensitivity) -> Result<Self, HttpError> {
        let invalid = || HttpError::InvalidHeader { name: name.to_owned() };
        let header = HeaderName::from_bytes(name.as_bytes()).map_err(|_| invalid())?;
        let mut content = HeaderValue::from_str(value).map_err(|_| invalid())?;
        content.set_sensitive(sensitivity == Sensitivity::Secret);
        self.headers.push((header, content));
        Ok(self)
    }
}

#[derive(PartialEq)]
enum Sensitivity {
    Public,
    Secret,
}

impl fmt::Debug for Request {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Request")
            .field("method", &self.method)
            .field("url", &presentable(&self.url))
            .field("headers", &self.headers)
            .field("body_bytes", &self.body.len())
            .finish()
    }
}

/// Host and, where it is not the usual one, port.
pub(crate) fn host_of(url: &Url) -> String {
    let host = url.host_str().unwrap_or_default();
    match url.port() {
        Some(port) => format!("{host}:{port}"),
        None => host.to_owned(),
    }
}

fn parse_url(text: &str) -> Result<Url, HttpError> {
    let invalid =
        |reason: &str| HttpError::InvalidUrl { url: without_secrets(text), reason: reason.to_owned() };
    let url = Url::parse(text.trim()).map_err(|error| invalid(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(invalid("only http and https are spoken"));
    }
    if url.host_str().is_none_or(str::is_empty) {
        return Err(invalid("it names no host"));
    }
    Ok(url)
}

/// A URL without credentials, query and fragment.
fn presentable(url: &Url) -> String {
    format!("{}://{}{}", url.scheme(), host_of(url), url.path())
}

/// The same for a text that is no URL: what could hold a secret goes, and so does length.
fn without_secrets(text: &str) -> String {
    let head = text.split(['?', '#']).next().unwrap_or_default();
    let shown = match (head.find("://"), head.rfind('@')) {
        (Some(scheme), Some(at)) if scheme < at => {
            format!("{}://{}", head.get(..scheme).unwrap_or_default(), head.get(at + 1..).unwrap_or_default())
        }
        _ => head.to_owned(),
    };
    shown.chars().take(200).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn debug_output_shows_neither_secrets_nor_body() {
        let request = Request::new(Method::Post, "https://user:pass@example.com:8443/v1/chat?key=abc")
            .unwrap()
            .with_header("content-type", "application/json")
            .unwrap()
            .with_secret_header("authorization", "Bearer sk-secret")
            .unwrap()
            .with_body("the prompt");
        let shown = format!("{request:?}");
        for hidden in ["user", "pass", "abc", "sk-secret", "prompt"] {
            assert!(!shown.contains(hidden), "{hidden} in {shown}");
        }
        assert!(shown.contains("https://example.com:8443/v1/chat"), "{shown}");
        assert!(shown.contains("application/json"), "{shown}");
    }

    #[test]
    fn a_bad_address_is_named_without_its_credentials() {
        let error = Request::new(Method::Get, "ftp://user:pass@host/file?key=abc").unwrap_err();
        assert_eq!(
            error,
            HttpError::InvalidUrl {
                url: "ftp://host/file".to_owned(),
                reason: "only http and https are spoken".to_owned()
            }
        );
        for bad in ["", "localhost:11434/v1", "/v1/chat", "http://", "not a url"] {
            assert!(matches!(Request::new(Method::Get, bad), Err(HttpError::InvalidUrl { .. })), "{bad}");
        }
    }

    #[test]
    fn a_header_with_a_line_break_is_refused_without_showing_it() {
        let error = Request::new(Method::Get, "http://host/")
            .unwrap()
            .with_secret_header("authorization", "Bearer sk-1\nx: y")
            .unwrap_err();
        assert_eq!(error, HttpError::InvalidHeader { name: "authorization".to_owned() });
        assert!(!error.to_string().contains("sk-1"));
    }
}
