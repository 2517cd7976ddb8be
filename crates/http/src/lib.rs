//! The one HTTP client: TLS, proxies, limits, SSE framing, replay.
//!
//! Nobody else opens a socket. A request is sent once: there are no automatic
//! retries and no redirects are followed, so credentials go where they were
//! addressed and nowhere else. Waiting is always bounded, by a timeout or by a
//! cancellation token. What a body means is left to the callers.
//!
//! Layout: [`client`] sends; [`request`] and [`response`] are what goes out
//! and comes back; [`error`] names every way it can fail; [`sse`] frames event
//! streams without any I/O; [`replay`] serves recorded exchanges on loopback;
//! [`callback`] is the port that a browser comes back to after a login.

pub mod callback;
pub mod client;
pub mod error;
mod failure;
pub mod replay;
pub mod request;
pub mod response;
pub mod sse;
mod transport;

pub use callback::{CallbackListener, CallbackRequest};
pub use client::{Client, ClientOptions, ProxyMode, Reach};
pub use error::HttpError;
pub use request::{Method, Request};
pub use response::{BodyEnd, Headers, Response};
pub use tokio_util::sync::CancellationToken;
