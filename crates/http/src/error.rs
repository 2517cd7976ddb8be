//! Every way in which talking HTTP can fail.
//!
//! A message names the host, what happened and the next step. It never holds a
//! header, a body, a query or the credentials of a URL.

use std::path::PathBuf;
use std::time::Duration;

/// Why a request was not answered, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HttpError {
    /// The address makes no sense.
    #[error("`{url}` is not a usable address: {reason}; write it like `https://host/path`")]
    InvalidUrl {
        /// The address, without credentials and query.
        url: String,
        /// What is wrong with it.
        reason: String,
    },
    /// A header cannot be sent. Its value is not shown: it may be a secret.
    #[error(
        "the header `{name}` holds characters that cannot be sent; look for a stray line break in its value"
    )]
    InvalidHeader {
        /// Which header.
        name: String,
    },
    /// The file with additional certificate authorities is not usable.
    #[error("the certificate file {} cannot be used: {reason}; it must hold PEM certificates", .path.display())]
    CertificateFile {
        /// Which file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// The client could not be set up.
    #[error(
        "the HTTP client could not be set up: {detail}; check the system's certificates and proxy settings"
    )]
    Setup {
        /// What the library said.
        detail: String,
    },
    /// The name does not resolve.
    #[error("the host name of {host} could not be found; check the address and the network connection")]
    Dns {
        /// Host and port.
        host: String,
    },
    /// Nothing listens there.
    #[error("{host} refused the connection; check that a server runs there and that the port is right")]
    Refused {
        /// Host and port.
        host: String,
    },
    /// The connection could not be made for another reason.
    #[error("{host} could not be reached: {detail}; check the network connection")]
    Unreachable {
        /// Host and port.
        host: String,
        /// What the system said.
        detail: String,
    },
    /// The two sides could not agree on a secure connection.
    #[error(
        "no secure connection to {host}: {detail}; if a company proxy re-signs traffic or the server has a private \
         certificate, name its authority in the certificate file setting or in SSL_CERT_FILE"
    )]
    Tls {
        /// Host and port.
        host: String,
        /// What the library said.
        detail: String,
    },
    /// The proxy did not let the request through.
    #[error(
        "{host} could not be reached through the proxy {proxy}: {detail}; check HTTPS_PROXY, HTTP_PROXY and NO_PROXY"
    )]
    Proxy {
        /// Host and port of the destination.
        host: String,
        /// Host and port of the proxy, as far as known.
        proxy: String,
        /// What was seen.
        detail: String,
    },
    /// The connection was not made in time.
    #[error("{host} did not accept a connection within {} s; check the network connection or try again later", .after.as_secs_f32())]
    ConnectTimeout {
        /// Host and port.
        host: String,
        /// How long was waited.
        after: Duration,
    },
    /// No byte came for too long.
    #[error("{host} sent nothing for {} s; try again, or raise the idle timeout if the server is that slow", .after.as_secs_f32())]
    Stalled {
        /// Host and port.
        host: String,
        /// How long was waited.
        after: Duration,
    },
    /// The connection ended in the middle of the answer.
    #[error("the connection to {host} was cut before the answer was complete; try again")]
    Cut {
        /// Host and port.
        host: String,
    },
    /// The answer is not HTTP, or its encoding is broken.
    #[error(
        "{host} does not answer in proper HTTP: {detail}; check the address and its scheme, http or https"
    )]
    Protocol {
        /// Host and port.
        host: String,
        /// What the library said.
        detail: String,
    },
    /// One event of a stream is larger than is accepted.
    #[error("one event of the stream is larger than {limit} bytes; the server is not one for event streams")]
    EventTooLarge {
        /// The limit in bytes.
        limit: usize,
    },
    /// A recording cannot be read.
    #[error("this is not a recording: {detail}")]
    Recording {
        /// What is wrong with it and where.
        detail: String,
    },
    /// A recording has no answer to this.
    #[error("the recording has no answer: {detail}")]
    Replay {
        /// Why not.
        detail: String,
    },
    /// The file of a recording cannot be written or read.
    #[error("the recording {} cannot be used: {reason}", .path.display())]
    RecordFile {
        /// Which file.
        path: PathBuf,
        /// What the system said.
        reason: String,
    },
    /// No loopback port could be opened.
    #[error("no port on 127.0.0.1 could be opened: {detail}; check that this system allows loopback sockets")]
    Listen {
        /// What the system said.
        detail: String,
    },
    /// The caller did not want it any more.
    #[error("cancelled")]
    Cancelled,
}
