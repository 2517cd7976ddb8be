//! Sends requests, one attempt each.

use std::fmt;
use std::net::IpAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use tokio_util::sync::CancellationToken;

use crate::error::HttpError;
use crate::failure::{self, Destination};
use crate::record::{Player, Recorder};
use crate::request::{Request, host_of};
use crate::response::Response;
use crate::transport::{Transports, is_loopback, proxy_for};

/// Which proxy is used. Loopback hosts over plain HTTP are always reached directly.
#[derive(Clone, PartialEq, Eq, Default)]
pub enum ProxyMode {
    /// What `HTTPS_PROXY`, `HTTP_PROXY`, `ALL_PROXY` and `NO_PROXY` say.
    #[default]
    Environment,
    /// None.
    Direct,
    /// This one: `http://`, `https://`, `socks5://` or `socks5h://`, perhaps with credentials.
    Url(String),
}

impl fmt::Debug for ProxyMode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // An address of a proxy may hold credentials.
        f.write_str(match self {
            Self::Environment => "Environment",
            Self::Direct => "Direct",
            Self::Url(_) => "Url(..)",
        })
    }
}

/// How a client behaves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ClientOptions {
    /// How the client introduces itself.
    pub user_agent: String,
    /// How long a connection may take to be made.
    pub connect_timeout: Duration,
    /// How long a server may be silent, before its answer and within.
    pub idle_timeout: Duration,
    /// Whether proxies are used.
    pub proxy: ProxyMode,
    /// PEM certificates to trust beside the system's.
    pub certificate_file: Option<PathBuf>,
}

impl Default for ClientOptions {
    fn default() -> Self {
        Self {
            user_agent: concat!("rein/", env!("CARGO_PKG_VERSION")).to_owned(),
            connect_timeout: Duration::from_secs(10),
            idle_timeout: Duration::from_secs(120),
            proxy: ProxyMode::Environment,
            certificate_file: None,
        }
    }
}

/// The HTTP client. Cloning it is cheap and shares its connections.
#[derive(Debug, Clone)]
pub struct Client {
    shared: Arc<Shared>,
    tap: Tap,
}

/// What stands between a client and the network.
#[derive(Debug, Clone)]
enum Tap {
    /// Nothing.
    Open,
    /// Somebody who writes down what passes.
    Recorded(Recorder),
    /// Somebody who answers instead.
    Played(Arc<Player>),
}

#[derive(Debug)]
struct Shared {
    options: ClientOptions,
    authorities: Option<Vec<u8>>,
    transports: Transports,
}

impl Client {
    /// A client. Nothing costly happens before the first request.
    pub fn new(options: ClientOptions) -> Result<Self, HttpError> {
        if reqwest::header::HeaderValue::from_str(&options.user_agent).is_err() {
            return Err(HttpError::InvalidHeader { name: "user-agent".to_owned() });
        }
        let authorities = options.certificate_file.as_ref().map(read_authorities).transpose()?;
        let shared = Shared { options, authorities, transports: Transports::default() };
        Ok(Self { shared: Arc::new(shared), tap: Tap::Open })
    }

    /// The client, with everything that it sends and receives recorded.
    #[must_use]
    pub fn recorded(self, recorder: Recorder) -> Self {
        Self { tap: Tap::Recorded(recorder), ..self }
    }

    /// The client, answered from a recording: it opens no socket.
    #[must_use]
    pub fn played(self, player: Arc<Player>) -> Self {
        Self { tap: Tap::Played(player), ..self }
    }

    /// Sends a request and waits for the head of the answer, whatever its status.
    pub async fn send(&self, request: Request, cancel: &CancellationToken) -> Result<Response, HttpError> {
        match &self.tap {
            Tap::Open => self.send_out(request, cancel).await,
            Tap::Played(player) => Response::played(player.answer(&request)?, &request, cancel.clone()),
            Tap::Recorded(recorder) => {
                let mut tape = recorder.request(&request).await;
                tape.ready().await;
                match self.send_out(request, cancel).await {
                    Ok(response) => Ok(response.recorded(tape)),
                    Err(error) => {
                        tape.fail(&error);
                        Err(error)
                    }
                }
            }
        }
    }

    async fn send_out(&self, request: Request, cancel: &CancellationToken) -> Result<Response, HttpError> {
        let options = &self.shared.options;
        let destination = Destination {
            host: host_of(&request.url),
            proxy: proxy_for(&request.url, options),
            connect_timeout: options.connect_timeout,
        };
        let idle_timeout = request.idle_timeout.unwrap_or(options.idle_timeout);
        let client =
            self.shared.transports.for_url(&request.url, options, self.shared.authorities.as_deref())?;
        tracing::debug!(method = ?request.method, host = %destination.host, bytes = request.body.len(), "request");
        let mut builder = client.request(request.method.to_library(), request.url);
        for (name, value) in request.headers {
            builder = builder.header(name, value);
        }
        if !request.body.is_empty() {
            builder = builder.body(request.body);
        }
        let answer = tokio::select! {
            biased;
            () = cancel.cancelled() => return Err(HttpError::Cancelled),
            answer = tokio::time::timeout(idle_timeout, builder.send()) => answer,
        };
        match answer {
            // Only a proxy says so, whatever stands behind it.
            Ok(Ok(response)) if response.status().as_u16() == 407 && destination.proxy.is_some() => {
                Err(failure::of_proxy_login(&destination))
            }
            Ok(Ok(response)) => Ok(Response::new(response, destination.host, idle_timeout, cancel.clone())),
            Ok(Err(error)) => Err(failure::of_request(error, &destination)),
            Err(_) => Err(HttpError::Stalled { host: destination.host, after: idle_timeout }),
        }
    }
}

/// How far away an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reach {
    /// On this machine.
    Loopback,
    /// In a private network, as far as the address itself tells.
    Private,
    /// Anywhere else, and what is not an address.
    Public,
}

impl Reach {
    /// How far away an address is.
    #[must_use]
    pub fn of(url: &str) -> Self {
        let Ok(url) = reqwest::Url::parse(url) else { return Self::Public };
        let host = url.host_str().unwrap_or_default();
        if is_loopback(host) {
            return Self::Loopback;
        }
        let private = match host.trim_start_matches('[').trim_end_matches(']').parse::<IpAddr>() {
            Ok(IpAddr::V4(address)) => address.is_private() || address.is_link_local(),
            Ok(IpAddr::V6(address)) => address.is_unique_local() || address.is_unicast_link_local(),
            Err(_) => !host.contains('.') || host.ends_with(".local") || host.ends_with(".internal"),
        };
        if private { Self::Private } else { Self::Public }
    }
}

pub(crate) fn read_authorities(path: &PathBuf) -> Result<Vec<u8>, HttpError> {
    let fail = |reason: String| HttpError::CertificateFile { path: path.clone(), reason };
    let pem = std::fs::read(path).map_err(|error| fail(error.to_string()))?;
    match reqwest::Certificate::from_pem_bundle(&pem) {
        Ok(certificates) if !certificates.is_empty() => Ok(pem),
        Ok(_) => Err(fail("it holds no certificate".to_owned())),
        Err(_) => Err(fail("its content is not PEM".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn how_far_away_an_address_is() {
        let table = [
            ("http://127.0.0.1:8080/v1", Reach::Loopback),
            ("http://localhost/v1", Reach::Loopback),
            ("http://[::1]:1234", Reach::Loopback),
            ("http://192.168.1.5:8000/v1", Reach::Private),
            ("http://gpu-box:8000/v1", Reach::Private),
            ("http://gpu.local/v1", Reach::Private),
            ("https://api.example.com/v1", Reach::Public),
            ("http://127.0.0.1.example.com", Reach::Public),
            ("nonsense", Reach::Public),
        ];
        for (url, expected) in table {
            assert_eq!(Reach::of(url), expected, "{url}");
        }
    }
}
