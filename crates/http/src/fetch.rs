//! Fetches a URL that nobody vouches for.
//!
//! Every hop is judged by the [`Guard`] before it is taken, and the addresses of a name when they are
//! known; nothing but the URL and a few fixed headers is sent: no cookies, no credentials, no referrer.
//! Size, time and the number of redirects are bounded; a body is counted after decompression. What a
//! page means is left to the callers.
//!
//! Through a proxy it is the proxy that resolves names. Then the URL and its name are still judged,
//! but not the address that the proxy finds: whoever sets the proxy relies on its rules. Proxies are
//! those of [`ProxyMode`](crate::ProxyMode); one that only the system's settings name is not used.

use std::collections::HashMap;
use std::error::Error;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use reqwest::Url;
use reqwest::header::{ACCEPT, HeaderValue, LOCATION};
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::client::{ClientOptions, read_authorities};
use crate::error::HttpError;
use crate::failure::{self, Destination};
use crate::guard::{Guard, GuardedResolver, Refusal};
use crate::request::host_of;
use crate::response::Headers;
use crate::transport::{Roots, base, every_way, finish, proxy_address, proxy_for};

/// What is asked for, best first.
const ACCEPTED: HeaderValue = HeaderValue::from_static(
    "text/markdown, text/html;q=0.9, text/plain;q=0.8, application/json;q=0.8, */*;q=0.5",
);

/// How untrusted URLs are fetched.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FetchOptions {
    /// How connections are made. Its idle timeout is not used: the whole fetch has one limit.
    pub client: ClientOptions,
    /// Which hosts may be reached although they are not public.
    pub guard: Guard,
    /// How many bytes of a body are read.
    pub max_bytes: usize,
    /// How long a fetch may take, redirects and body included.
    pub timeout: Duration,
    /// How many redirects are followed.
    pub redirects: usize,
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            client: ClientOptions::default(),
            guard: Guard::default(),
            max_bytes: 5 * 1024 * 1024,
            timeout: Duration::from_secs(30),
            redirects: 5,
        }
    }
}

/// What came of a fetch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Fetched {
    /// An answer, whatever its status.
    Page(Page),
    /// A redirect to where the caller does not want to be led unasked.
    Elsewhere {
        /// Who redirects.
        from: Url,
        /// Where to. It has been judged by the guard.
        to: Url,
        /// The status code.
        status: u16,
    },
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Page {
    /// Where it came from in the end.
    pub url: Url,
    /// The status code.
    pub status: u16,
    /// The headers.
    pub headers: Headers,
    /// The body, decompressed, as far as it was read.
    pub body: Vec<u8>,
    /// How reading it ended.
    pub ending: Ending,
}

/// How reading a body ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Ending {
    /// All of it was read.
    Whole,
    /// It is larger than the limit.
    TooLarge,
    /// It was not all there in time.
    TooSlow,
    /// It broke off.
    Broken(HttpError),
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FetchError {
    /// It leads where it may not.
    #[error(transparent)]
    Refused(#[from] Refusal),
    /// The connection failed.
    #[error(transparent)]
    Http(#[from] HttpError),
    /// It leads in circles, or nearly.
    #[error("{host} redirects more than {limit} times; try the address that it leads to, {url}")]
    TooManyRedirects {
        /// Who redirects.
        host: String,
        /// How many are followed.
        limit: usize,
        /// Where the last one leads.
        url: String,
    },
    /// A redirect leads nowhere.
    #[error("{host} redirects to something that is no address; try another URL")]
    BadRedirect {
        /// Who redirects.
        host: String,
    },
    /// No answer in time.
    #[error("{host} did not answer within {} s; try again later or another source", .after.as_secs_f32())]
    TooSlow {
        /// Who.
        host: String,
        /// How long was waited.
        after: Duration,
    },
}

/// Fetches untrusted URLs. Cloning it is cheap and shares its connections.
#[derive(Debug, Clone)]
pub struct Fetcher {
    shared: Arc<Shared>,
}

struct Shared {
    options: FetchOptions,
    guard: Arc<Guard>,
    authorities: Option<Vec<u8>>,
    clients: Mutex<HashMap<(Roots, Option<String>), reqwest::Client>>,
}

impl fmt::Debug for Shared {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The clients are known by their proxies, whose addresses may hold credentials.
        self.options.fmt(f)
    }
}

impl Fetcher {
    /// A fetcher. Nothing costly happens before the first fetch.
    ///
    /// # Errors
    ///
    /// When the certificate file or the user agent cannot be used.
    pub fn new(options: FetchOptions) -> Result<Self, HttpError> {
        if HeaderValue::from_str(&options.client.user_agent).is_err() {
            return Err(HttpError::InvalidHeader { name: "user-agent".to_owned() });
        }
        let authorities = options.client.certificate_file.as_ref().map(read_authorities).transpose()?;
        let guard = Arc::new(options.guard.clone());
        Ok(Self { shared: Arc::new(Shared { options, guard, authorities, clients: Mutex::default() }) })
    }

    /// How it fetches.
    #[must_use]
    pub fn options(&self) -> &FetchOptions {
        &self.shared.options
    }

    /// Fetches a URL. A redirect is followed if `may_follow(from, to)` says so and the guard does not
    /// object.
    ///
    /// # Errors
    ///
    /// Why there is no answer.
    pub async fn fetch(
        &self,
        url: &Url,
        may_follow: &(dyn Fn(&Url, &Url) -> bool + Sync),
        cancel: &CancellationToken,
    ) -> Result<Fetched, FetchError> {
        let deadline = Instant::now() + self.shared.options.timeout;
        let mut url = url.clone();
        let mut followed = 0;
        loop {
            self.shared.guard.check(&url)?;
            let response = self.head(&url, deadline, cancel).await?;
            let Some(location) = redirect(&response) else {
                return self.page(url, response, deadline, cancel).await.map(Fetched::Page);
            };
            let next = self.next_hop(&url, &location)?;
            if !may_follow(&url, &next) {
                return Ok(Fetched::Elsewhere { from: url, to: next, status: response.status().as_u16() });
            }
            if followed == self.shared.options.redirects {
                let limit = followed;
                return Err(FetchError::TooManyRedirects { host: host_of(&url), limit, url: next.into() });
            }
            followed += 1;
            url = next;
        }
    }

    /// Where a redirect leads, if it may.
    fn next_hop(&self, url: &Url, location: &str) -> Result<Url, FetchError> {
        let bad = || FetchError::BadRedirect { host: host_of(url) };
        let next = url.join(location).map_err(|_| bad())?;
        self.shared.guard.check(&next)?;
        if url.scheme() == "https" && next.scheme() == "http" {
            return Err(Refusal::Downgrade { host: host_of(url) }.into());
        }
        Ok(next)
    }

    /// Sends the request and waits for the head of the answer.
    async fn head(
        &self,
        url: &Url,
        deadline: Instant,
        cancel: &CancellationToken,
    ) -> Result<reqwest::Response, FetchError> {
        let options = &self.shared.options;
        let destination = Destination {
            host: host_of(url),
            proxy: proxy_for(url, &options.client),
            connect_timeout: options.client.connect_timeout,
        };
        let client = self.client_for(url)?;
        tracing::debug!(host = %destination.host, "fetch");
        let sending = client.get(url.clone()).header(ACCEPT, ACCEPTED).send();
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(HttpError::Cancelled.into()),
            answer = tokio::time::timeout_at(deadline, sending) => answer,
        };
        match answer {
            Ok(Ok(response)) => Ok(response),
            Ok(Err(error)) => Err(match refusal_in(&error) {
                Some(refusal) => refusal.into(),
                None => failure::of_request(error, &destination).into(),
            }),
            Err(_) => Err(FetchError::TooSlow { host: destination.host, after: options.timeout }),
        }
    }

    /// Reads the body, as much of it as is wanted.
    async fn page(
        &self,
        url: Url,
        mut response: reqwest::Response,
        deadline: Instant,
        cancel: &CancellationToken,
    ) -> Result<Page, FetchError> {
        let limit = self.shared.options.max_bytes;
        let status = response.status().as_u16();
        let headers = response
            .headers()
            .iter()
            .map(|(name, value)| (name.as_str(), String::from_utf8_lossy(value.as_bytes())))
            .collect();
        let mut body: Vec<u8> = Vec::new();
        let ending = loop {
            let read = tokio::select! {
                biased;
                () = cancel.cancelled() => return Err(HttpError::Cancelled.into()),
                read = tokio::time::timeout_at(deadline, response.chunk()) => read,
            };
            match read {
                Ok(Ok(Some(bytes))) => {
                    let room = limit.saturating_sub(body.len());
                    body.extend_from_slice(bytes.get(..room).unwrap_or(&bytes));
                    if bytes.len() > room {
                        break Ending::TooLarge;
                    }
                }
                Ok(Ok(None)) => break Ending::Whole,
                Ok(Err(error)) => break Ending::Broken(failure::of_body(error, &host_of(&url))),
                Err(_) => break Ending::TooSlow,
            }
        };
        Ok(Page { url, status, headers, body, ending })
    }

    /// The client that takes the way to a URL. Which way that is is settled here and not left to the
    /// library, so that no client without a guarded resolver can go directly.
    fn client_for(&self, url: &Url) -> Result<reqwest::Client, FetchError> {
        let options = &self.shared.options.client;
        let proxy = proxy_address(url, options);
        let proxy_url = proxy.as_deref().and_then(parse_proxy);
        if proxy.is_some() {
            self.shared.guard.check_name_for_proxy(url.host_str().unwrap_or_default())?;
        }
        let secure = url.scheme() == "https" || proxy_url.as_ref().is_some_and(|url| url.scheme() == "https");
        let roots = if secure { Roots::System } else { Roots::None };
        let key = (roots, proxy);
        let known = self.shared.clients.lock().unwrap_or_else(PoisonError::into_inner).get(&key).cloned();
        if let Some(client) = known {
            return Ok(client);
        }
        let proxy_host = proxy_url.as_ref().and_then(Url::host_str).map(str::to_owned);
        let resolver = GuardedResolver::new(Arc::clone(&self.shared.guard), proxy_host);
        let mut builder = base(options).no_proxy().dns_resolver(resolver);
        if let (_, Some(proxy)) = &key {
            builder = builder.proxy(every_way(proxy)?);
        }
        let client = finish(builder, roots, self.shared.authorities.as_deref())?;
        let mut clients = self.shared.clients.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(clients.entry(key).or_insert(client).clone())
    }
}

/// The address of a proxy, which may come without a scheme.
fn parse_proxy(address: &str) -> Option<Url> {
    if address.contains("://") {
        Url::parse(address).ok()
    } else {
        Url::parse(&format!("http://{address}")).ok()
    }
}

/// Where an answer sends the one who asked.
fn redirect(response: &reqwest::Response) -> Option<String> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    // Some servers write raw UTF-8 there.
    let location = response.headers().get(LOCATION)?;
    Some(String::from_utf8_lossy(location.as_bytes()).into_owned())
}

/// What the resolver had against it, from below the library's layers.
fn refusal_in(error: &reqwest::Error) -> Option<Refusal> {
    let mut next: Option<&(dyn Error + 'static)> = error.source();
    while let Some(current) = next {
        if let Some(refusal) = current.downcast_ref::<Refusal>() {
            return Some(refusal.clone());
        }
        next = current.source();
    }
    None
}
