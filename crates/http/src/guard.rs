//! Where an untrusted URL may lead.
//!
//! A model or a page chose the URL, and this machine stands inside networks that neither should see.
//! [`Guard::check`] judges the URL as written, in every spelling of an address; the crate's resolver
//! judges every address that a name turns out to have, and only judged addresses are connected to, so
//! a name cannot point elsewhere between the check and the connection.

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;

use reqwest::Url;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};

use crate::address::{carried, objection};

/// Why a URL is not fetched.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// Not a URL.
    #[error("`{url}` is not a URL ({reason}); write it like `https://host/path`")]
    NotAUrl {
        /// What was given, shortened.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// Another scheme.
    #[error("`{scheme}:` URLs cannot be fetched, only http and https")]
    Scheme {
        /// Which.
        scheme: String,
    },
    /// It carries a name or a password.
    #[error("the URL for {host} holds a user name or password, which is not sent; write it without them")]
    Credentials {
        /// Which host.
        host: String,
    },
    /// It leads into this machine or a network that is not public.
    #[error(
        "{host} is {what} and not on the public internet, so it is not fetched; if it should be, the user can \
         add it to the setting `web.allow_private`"
    )]
    Private {
        /// The host, with the address that it has.
        host: String,
        /// What that is.
        what: &'static str,
    },
    /// A redirect from https to http.
    #[error("{host} redirects from https to http, which is not followed")]
    Downgrade {
        /// Who redirects.
        host: String,
    },
}

/// A pattern of the setting cannot be read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{pattern}` is no host, address or range; write `localhost`, `*.corp.example`, `10.1.2.3`, `10.0.0.0/8` or `*`"
)]
pub struct BadPattern {
    /// The pattern.
    pub pattern: String,
}

/// Which hosts may be reached although they are not public.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Guard {
    allowed: Vec<Allowed>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Allowed {
    Everything,
    /// This name.
    Name(String),
    /// All names below this one.
    Below(String),
    Range(IpAddr, u8),
}

impl Guard {
    /// A guard that lets through what is public, and hosts that match a pattern: a name, `*.name`, an
    /// address, a range like `10.0.0.0/8`, or `*`.
    ///
    /// # Errors
    ///
    /// The first pattern that cannot be read.
    pub fn allowing<P: AsRef<str>>(patterns: impl IntoIterator<Item = P>) -> Result<Self, BadPattern> {
        let allowed = patterns
            .into_iter()
            .map(|pattern| {
                let pattern = pattern.as_ref();
                Allowed::parse(pattern).ok_or_else(|| BadPattern { pattern: pattern.to_owned() })
            })
            .collect::<Result<_, _>>()?;
        Ok(Self { allowed })
    }

    /// A URL that may be fetched as far as it tells by itself.
    ///
    /// # Errors
    ///
    /// Why it may not.
    pub fn parse(&self, text: &str) -> Result<Url, Refusal> {
        let text = text.trim();
        let url = Url::parse(text).map_err(|error| Refusal::NotAUrl {
            url: text.chars().take(200).collect(),
            reason: error.to_string(),
        })?;
        self.check(&url)?;
        Ok(url)
    }

    /// Whether a URL may be fetched, as far as it tells by itself. What its name resolves to is
    /// judged when it is connected to.
    ///
    /// # Errors
    ///
    /// Why it may not.
    pub fn check(&self, url: &Url) -> Result<(), Refusal> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(Refusal::Scheme { scheme: url.scheme().to_owned() });
        }
        let host = url.host_str().unwrap_or_default();
        if !url.username().is_empty() || url.password().is_some() {
            return Err(Refusal::Credentials { host: host.to_owned() });
        }
        match literal(host) {
            Some(address) => self.check_address(host, address),
            None => Ok(()),
        }
    }

    /// Whether a name may be handed to a proxy, which resolves it where this machine cannot look.
    pub(crate) fn check_name_for_proxy(&self, host: &str) -> Result<(), Refusal> {
        let name = plain(host);
        let inside =
            ["localhost", "local", "internal", "intranet", "lan", "home", "corp", "home.arpa", "onion"];
        let private = !name.contains('.')
            || inside.iter().any(|suffix| {
                name.strip_suffix(suffix).is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
            });
        if literal(host).is_none() && private && !self.allows_name(&name) {
            return Err(Refusal::Private { host: host.to_owned(), what: "the name of a private host" });
        }
        Ok(())
    }

    fn check_address(&self, host: &str, address: IpAddr) -> Result<(), Refusal> {
        match objection(address) {
            Some(what) if !self.allows_address(address) && !self.allows_name(&plain(host)) => {
                Err(Refusal::Private { host: host.to_owned(), what })
            }
            _ => Ok(()),
        }
    }

    fn allows_name(&self, name: &str) -> bool {
        self.allowed.iter().any(|allowed| match allowed {
            Allowed::Everything => true,
            Allowed::Name(known) => known == name,
            Allowed::Below(known) => {
                name.strip_suffix(known.as_str()).is_some_and(|rest| rest.ends_with('.'))
            }
            Allowed::Range(..) => false,
        })
    }

    fn allows_address(&self, address: IpAddr) -> bool {
        let inner = match address {
            IpAddr::V6(address) => carried(address).map(IpAddr::V4),
            IpAddr::V4(_) => None,
        };
        let within = |base: &IpAddr, bits: &u8| {
            contains(*base, *bits, address) || inner.is_some_and(|inner| contains(*base, *bits, inner))
        };
        self.allowed.iter().any(|allowed| match allowed {
            Allowed::Everything => true,
            Allowed::Range(base, bits) => within(base, bits),
            Allowed::Name(_) | Allowed::Below(_) => false,
        })
    }
}

impl Allowed {
    fn parse(pattern: &str) -> Option<Self> {
        if pattern.trim() == "*" {
            return Some(Self::Everything);
        }
        let pattern = plain(pattern.trim());
        if let Some(address) = literal(&pattern) {
            return Some(Self::Range(address, width(address)));
        }
        if let Some((base, bits)) = pattern.split_once('/') {
            let base = literal(base)?;
            let bits = bits.parse().ok().filter(|bits| *bits <= width(base))?;
            return Some(Self::Range(base, bits));
        }
        let (name, below) = match pattern.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (pattern.as_str(), false),
        };
        let is_name = !name.is_empty()
            && name.split('.').all(|label| {
                !label.is_empty() && label.chars().all(|c| c.is_alphanumeric() || matches!(c, '-' | '_'))
            });
        let name = name.to_owned();
        is_name.then_some(if below { Self::Below(name) } else { Self::Name(name) })
    }
}

/// A name as it is compared: in lower case, without the dot of the root.
fn plain(host: &str) -> String {
    host.trim_end_matches('.').to_lowercase()
}

fn literal(host: &str) -> Option<IpAddr> {
    host.trim_start_matches('[').trim_end_matches(']').parse().ok()
}

fn width(address: IpAddr) -> u8 {
    if address.is_ipv4() { 32 } else { 128 }
}

fn contains(base: IpAddr, bits: u8, address: IpAddr) -> bool {
    let shift = u32::from(width(base) - bits);
    match (base, address) {
        (IpAddr::V4(base), IpAddr::V4(address)) => {
            (base.to_bits() ^ address.to_bits()).checked_shr(shift).unwrap_or(0) == 0
        }
        (IpAddr::V6(base), IpAddr::V6(address)) => {
            (base.to_bits() ^ address.to_bits()).checked_shr(shift).unwrap_or(0) == 0
        }
        _ => false,
    }
}

/// Resolves names to addresses that the guard lets through, and to no others.
#[derive(Clone)]
pub(crate) struct GuardedResolver {
    guard: Arc<Guard>,
    /// The proxy's own name: whoever set the proxy chose it.
    proxy: Option<String>,
}

impl GuardedResolver {
    pub(crate) fn new(guard: Arc<Guard>, proxy: Option<String>) -> Self {
        Self { guard, proxy: proxy.map(|host| plain(&host)) }
    }

    fn admitted(&self, name: &str, found: Vec<SocketAddr>) -> Result<Vec<SocketAddr>, Refusal> {
        if self.proxy.as_deref() == Some(plain(name).as_str()) {
            return Ok(found);
        }
        let mut refusal = None;
        let mut admitted = Vec::with_capacity(found.len());
        for address in found {
            match self.guard.check_address(name, address.ip()) {
                Ok(()) => admitted.push(address),
                Err(Refusal::Private { what, .. }) => {
                    refusal = Some(Refusal::Private { host: format!("{name} ({})", address.ip()), what });
                }
                Err(other) => refusal = Some(other),
            }
        }
        match refusal {
            Some(refusal) if admitted.is_empty() => Err(refusal),
            _ => Ok(admitted),
        }
    }
}

impl Resolve for GuardedResolver {
    fn resolve(&self, name: Name) -> Resolving {
        let resolver = self.clone();
        Box::pin(async move {
            let name = name.as_str();
            let found = tokio::net::lookup_host((name, 0)).await?.collect();
            let admitted = resolver.admitted(name, found)?;
            Ok(Box::new(admitted.into_iter()) as Addrs)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(url: &str) -> bool {
        matches!(Guard::default().parse(url), Err(Refusal::Private { .. }))
    }

    #[test]
    fn every_spelling_of_a_private_address_is_refused() {
        for url in [
            "http://127.0.0.1/",
            "http://127.1/",
            "http://2130706433/",
            "http://0x7f000001/",
            "http://0x7f.0.0.1/",
            "http://0177.0.0.1/",
            "http://017700000001/",
            "http://127.0.0.1./",
            "http://%31%32%37.0.0.1/",
            "http://１２７.0.0.1/",
            "http://127。0。0。1/",
            "http://0/",
            "http://[::1]/",
            "http://[0:0:0:0:0:0:0:1]:8080/",
            "http://[::ffff:127.0.0.1]/",
            "http://[::ffff:7f00:1]/",
            "http://[64:ff9b::7f00:1]/",
            "http://[2002:a9fe:a9fe::]/",
            "http://[fd00:ec2::254]/latest/meta-data/",
            "https://169.254.169.254/latest/meta-data/",
            "http://0xa9fea9fe/",
            "http://2852039166/",
            "http://10.0.0.1:80/",
        ] {
            assert!(refused(url), "{url}");
        }
        for url in ["http://1.1.1.1/", "https://example.com/", "http://127.0.0.1.example.com/"] {
            assert!(Guard::default().parse(url).is_ok(), "{url}");
        }
    }

    #[test]
    fn only_web_addresses_without_credentials_are_fetched() {
        let refusal = |url: &str| Guard::default().parse(url).unwrap_err();
        for scheme in ["file", "ftp", "gopher", "data", "javascript"] {
            assert_eq!(
                refusal(&format!("{scheme}://host/x")),
                Refusal::Scheme { scheme: scheme.to_owned() },
                "{scheme}"
            );
        }
        assert_eq!(
            refusal("https://user:pass@example.com/"),
            Refusal::Credentials { host: "example.com".to_owned() }
        );
        assert_eq!(
            refusal("https://example.com@evil.example/"),
            Refusal::Credentials { host: "evil.example".to_owned() }
        );
        assert!(matches!(refusal("not a url"), Refusal::NotAUrl { .. }));
        assert!(matches!(refusal("http://[::1/"), Refusal::NotAUrl { .. }));
        assert!(matches!(refusal("http://1.2.3.4.5.6/"), Refusal::NotAUrl { .. }));
    }

    #[test]
    fn a_setting_lets_hosts_and_ranges_through() {
        let guard = Guard::allowing(["localhost", "*.corp.example", "10.0.0.0/8", "fd00::/8", "192.168.1.7"]);
        let guard = guard.unwrap();
        for url in
            ["http://10.2.3.4/", "http://[fd12::1]/", "http://192.168.1.7/", "http://[::ffff:10.0.0.1]/"]
        {
            assert!(guard.parse(url).is_ok(), "{url}");
        }
        for url in
            ["http://127.0.0.1/", "http://192.168.1.8/", "http://[fc00::1]/", "http://11.0.0.1@10.0.0.1/"]
        {
            assert!(guard.parse(url).is_err(), "{url}");
        }
        assert!(guard.allows_name("localhost"));
        assert!(guard.allows_name("git.corp.example"));
        assert!(!guard.allows_name("corp.example") && !guard.allows_name("xcorp.example"));
        assert!(Guard::allowing(["*"]).unwrap().parse("http://127.0.0.1/").is_ok());
        assert!(Guard::allowing(["0.0.0.0/0"]).unwrap().parse("http://127.0.0.1/").is_ok());
        assert!(Guard::allowing(["0.0.0.0/0"]).unwrap().parse("http://[::1]/").is_err());
        for bad in ["", "*.", "10.0.0.0/33", "a/8", "http://host", "a b", "::1/129", "a..b"] {
            assert_eq!(Guard::allowing([bad]), Err(BadPattern { pattern: bad.to_owned() }));
        }
    }

    #[test]
    fn a_name_keeps_only_its_public_addresses() {
        let resolver = GuardedResolver::new(Arc::new(Guard::default()), None);
        let address = |text: &str| SocketAddr::new(text.parse().unwrap(), 0);
        let found = vec![address("10.0.0.1"), address("1.1.1.1"), address("::1")];
        assert_eq!(resolver.admitted("rebind.example", found), Ok(vec![address("1.1.1.1")]));
        assert_eq!(
            resolver.admitted("rebind.example", vec![address("169.254.169.254")]),
            Err(Refusal::Private {
                host: "rebind.example (169.254.169.254)".to_owned(),
                what: "a link-local address"
            })
        );
        let known = GuardedResolver::new(Arc::new(Guard::default()), Some("Proxy.corp".to_owned()));
        assert_eq!(known.admitted("proxy.corp.", vec![address("10.0.0.1")]), Ok(vec![address("10.0.0.1")]));
        let allowing = Guard::allowing(["rebind.example"]).unwrap();
        let allowing = GuardedResolver::new(Arc::new(allowing), None);
        assert_eq!(allowing.admitted("rebind.example", vec![address("::1")]), Ok(vec![address("::1")]));
    }

    #[test]
    fn what_sounds_private_is_not_handed_to_a_proxy() {
        for host in [
            "localhost",
            "a.localhost",
            "gpu-box",
            "printer.local",
            "metadata.google.internal",
            "x.home.arpa",
        ] {
            assert!(Guard::default().check_name_for_proxy(host).is_err(), "{host}");
            assert!(Guard::allowing([host]).unwrap().check_name_for_proxy(host).is_ok(), "{host}");
        }
        for host in ["example.com", "localhost.example.com", "notlocal.net", "1.1.1.1"] {
            assert!(Guard::default().check_name_for_proxy(host).is_ok(), "{host}");
        }
    }
}
