//! The library's clients, built when first needed.
//!
//! Loading root certificates costs time and memory, so a client that has them
//! is built for the first `https` request and not before. Loopback hosts never
//! go through a proxy: no proxy can reach them.

use std::net::IpAddr;
use std::sync::OnceLock;

use reqwest::Url;
use reqwest::redirect::Policy;

use crate::client::{ClientOptions, ProxyMode};
use crate::error::HttpError;
use crate::request::host_of;

/// The clients, each at most once.
#[derive(Debug, Default)]
pub(crate) struct Transports {
    loopback: OnceLock<reqwest::Client>,
    plain: OnceLock<reqwest::Client>,
    secure: OnceLock<reqwest::Client>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    /// No TLS, no proxy.
    Loopback,
    /// No TLS, perhaps a proxy.
    Plain,
    /// TLS, perhaps a proxy.
    Secure,
}

impl Transports {
    /// The client for an address.
    pub(crate) fn for_url(
        &self,
        url: &Url,
        options: &ClientOptions,
        authorities: Option<&[u8]>,
    ) -> Result<reqwest::Client, HttpError> {
        let kind = kind_of(url, options);
        let slot = match kind {
            Kind::Loopback => &self.loopback,
            Kind::Plain => &self.plain,
            Kind::Secure => &self.secure,
        };
        match slot.get() {
            Some(client) => Ok(client.clone()),
            None => {
                let client = build(kind, options, authorities)?;
                Ok(slot.get_or_init(|| client).clone())
            }
        }
    }
}

/// The proxy that stands between here and an address, as host and port.
pub(crate) fn proxy_for(url: &Url, options: &ClientOptions) -> Option<String> {
    let proxy = proxy_address(url, options)?;
    Some(Url::parse(&proxy).map_or_else(|_| "that is set".to_owned(), |url| host_of(&url)))
}

/// The same as the setting has it, perhaps with credentials.
pub(crate) fn proxy_address(url: &Url, options: &ClientOptions) -> Option<String> {
    if kind_of(url, options) == Kind::Loopback {
        return None;
    }
    match &options.proxy {
        ProxyMode::Direct => None,
        ProxyMode::Url(proxy) => Some(proxy.clone()),
        ProxyMode::Environment => environment_proxy(url),
    }
}

fn environment_proxy(url: &Url) -> Option<String> {
    let host = url.host_str()?;
    let names = match url.scheme() {
        "https" => ["https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"],
        _ => PLAIN_PROXIES,
    };
    let exempt =
        variable("no_proxy").or_else(|| variable("NO_PROXY")).is_some_and(|list| exempts(&list, host));
    if exempt { None } else { names.iter().find_map(|name| variable(name)) }
}

const PLAIN_PROXIES: [&str; 4] = ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"];

/// Whether a host is this machine.
pub(crate) fn is_loopback(host: &str) -> bool {
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare.eq_ignore_ascii_case("localhost")
        || bare.parse::<IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn kind_of(url: &Url, options: &ClientOptions) -> Kind {
    if url.scheme() == "https" {
        return Kind::Secure;
    }
    if url.host_str().is_some_and(is_loopback) {
        return Kind::Loopback;
    }
    let secure_proxy = match &options.proxy {
        ProxyMode::Direct => false,
        ProxyMode::Url(proxy) => proxy.starts_with("https:"),
        ProxyMode::Environment => {
            PLAIN_PROXIES.iter().filter_map(|name| variable(name)).any(|proxy| proxy.starts_with("https:"))
        }
    };
    if secure_proxy { Kind::Secure } else { Kind::Plain }
}

fn build(
    kind: Kind,
    options: &ClientOptions,
    authorities: Option<&[u8]>,
) -> Result<reqwest::Client, HttpError> {
    let mut builder = base(options);
    builder = match (&options.proxy, kind) {
        (_, Kind::Loopback) | (ProxyMode::Direct, _) => builder.no_proxy(),
        (ProxyMode::Environment, _) => builder,
        (ProxyMode::Url(proxy), _) => builder.no_proxy().proxy(every_way(proxy)?),
    };
    let roots = if kind == Kind::Secure { Roots::System } else { Roots::None };
    finish(builder, roots, authorities)
}

/// Which certificates a client trusts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) enum Roots {
    /// The system's and the additional ones.
    System,
    /// None, because it will not need any.
    None,
}

/// What all clients have in common.
pub(crate) fn base(options: &ClientOptions) -> reqwest::ClientBuilder {
    install_provider();
    reqwest::Client::builder()
        .user_agent(&options.user_agent)
        .connect_timeout(options.connect_timeout)
        .redirect(Policy::none())
        .retry(reqwest::retry::never())
        .referer(false)
}

/// A proxy for everything.
pub(crate) fn every_way(proxy: &str) -> Result<reqwest::Proxy, HttpError> {
    let fail = |_| HttpError::Setup { detail: "the address of the proxy cannot be used".to_owned() };
    reqwest::Proxy::all(proxy).map_err(fail)
}

/// The client with its certificates.
pub(crate) fn finish(
    mut builder: reqwest::ClientBuilder,
    roots: Roots,
    authorities: Option<&[u8]>,
) -> Result<reqwest::Client, HttpError> {
    if roots == Roots::System {
        if let Some(pem) = authorities {
            let certificates = reqwest::Certificate::from_pem_bundle(pem).map_err(|error| setup(&error))?;
            builder = builder.tls_certs_merge(certificates);
        }
    } else {
        // An empty set of roots keeps the system's from being loaded.
        builder = builder.tls_certs_only(std::iter::empty());
    }
    builder.build().map_err(|error| setup(&error))
}

fn setup(error: &reqwest::Error) -> HttpError {
    let detail = std::error::Error::source(error).map_or_else(|| error.to_string(), ToString::to_string);
    HttpError::Setup { detail }
}

fn install_provider() {
    static INSTALLED: OnceLock<()> = OnceLock::new();
    INSTALLED.get_or_init(|| {
        // Fails only if another provider is installed already, which serves as well.
        let _ = rustls::crypto::ring::default_provider().install_default();
    });
}

fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.trim().is_empty())
}

fn exempts(list: &str, host: &str) -> bool {
    list.split(',').map(str::trim).any(|entry| {
        let entry = entry.trim_start_matches('.');
        entry == "*"
            || (!entry.is_empty()
                && (host == entry || host.strip_suffix(entry).is_some_and(|rest| rest.ends_with('.'))))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(url: &str) -> Kind {
        kind_of(
            &Url::parse(url).unwrap(),
            &ClientOptions { proxy: ProxyMode::Direct, ..ClientOptions::default() },
        )
    }

    #[test]
    fn only_https_needs_root_certificates() {
        assert_eq!(kind("http://127.0.0.1:8080/v1"), Kind::Loopback);
        assert_eq!(kind("http://localhost:11434/v1"), Kind::Loopback);
        assert_eq!(kind("http://[::1]:1234/"), Kind::Loopback);
        assert_eq!(kind("http://192.168.0.7:8000/v1"), Kind::Plain);
        assert_eq!(kind("http://localhost.example.com/"), Kind::Plain);
        assert_eq!(kind("https://127.0.0.1/"), Kind::Secure);
    }

    #[test]
    fn no_proxy_lists_match_whole_labels() {
        assert!(exempts("internal.example, .corp", "api.internal.example"));
        assert!(exempts("internal.example, .corp", "git.corp"));
        assert!(exempts("*", "anything"));
        assert!(!exempts("ample.com", "example.com"));
        assert!(!exempts("", "example.com"));
    }
}
