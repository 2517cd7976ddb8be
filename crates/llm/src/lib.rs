//! Models behind one contract: wires as sans-I/O codecs, errors, retries, the
//! catalog.
//!
//! [`Models`] is the way in: it knows which providers can be used, asks a
//! model once and hands back what it says as a stream of [`ModelEvent`]s. To
//! ask again after an error is left to the caller; [`retry`] says when. Keys
//! are read here and never leave but in a header of a request: neither errors
//! nor debug output show them.
//!
//! Layout: [`request`] and [`event`] are what a model is sent and says;
//! [`wire`] encodes and decodes, without sockets or secrets; [`error`] names
//! what went wrong in words and kinds; [`retry`] says how long to wait;
//! [`auth`] is who asks;
//! [`catalog`] is what is known of providers and models; [`models`], [`stream`]
//! and [`choose`] put them together; [`discovery`] finds servers on this
//! machine.

pub mod auth;
pub mod catalog;
pub mod choose;
pub mod discovery;
pub mod error;
pub mod event;
pub mod models;
pub mod request;
pub mod retry;
mod scrub;
mod sending;
mod sigv4;
pub mod stream;
pub mod wire;

pub use auth::{AuthError, FileVault, Keychain, OAuth, SecretCommand};
pub use catalog::{Catalog, Limits, ModelInfo, Prices, Provider, ProviderConfig, Quirks, cost};
pub use discovery::LocalServer;
pub use error::{ErrorKind, ModelError, classify};
pub use event::ModelEvent;
pub use models::{Endpoint, Models, ModelsOptions};
pub use request::{CacheLifetime, CachePlan, Effort, ModelRequest, ToolChoice};
pub use sending::{AwsKeys, Credential};
pub use stream::ModelStream;
pub use wire::{EncodedRequest, Wire};
