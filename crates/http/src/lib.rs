//! The one HTTP client: TLS, proxies, limits, SSE framing, replay.
//!
//! Nobody else opens a socket. A request is sent once: there are no automatic
//! retries and no redirects are followed, so credentials go where they were
//! addressed and nowhere else. Waiting is always bounded, by a timeout or by a
//! cancellation token. What a body means is left to the callers.
//!
//! A URL that a model or a page chose goes through [`fetch`] instead, which reaches public hosts only.
//!
//! Layout: [`client`] sends; [`request`] and [`response`] are what goes out
//! and comes back; [`error`] names every way it can fail; [`sse`] frames event
//! streams without any I/O; [`record`] writes exchanges to a file and plays them
//! back without a network; [`replay`] serves exchanges on loopback; [`callback`]
//! is the port that a browser comes back to after a login.

mod address;
pub mod callback;
pub mod client;
pub mod error;
mod failure;
pub mod fetch;
pub mod guard;
pub mod record;
pub mod replay;
pub mod request;
pub mod response;
pub mod sse;
mod transport;

pub use callback::{CallbackListener, CallbackRequest};
pub use client::{Client, ClientOptions, ProxyMode, Reach};
pub use error::HttpError;
pub use fetch::{Ending, FetchError, FetchOptions, Fetched, Fetcher, Page};
pub use guard::{Guard, Refusal};
pub use record::{Divergence, Player, Recorder};
pub use request::{Method, Request};
pub use reqwest::Url;
pub use response::{BodyEnd, Headers, Response};
pub use tokio_util::sync::CancellationToken;
