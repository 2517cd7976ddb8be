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
//! [`wire`] encodes and decodes, without sockets or secrets; [`dialect`] finds
//! calls in text; [`error`] names
//! what went wrong in words and kinds; [`retry`] says how long to wait;
//! [`auth`] is who asks; [`catalog`] is what is known of providers and models;
//! [`models`], [`endpoint`], [`stream`] and [`choose`] put them together;
//! [`discovery`] finds servers on this
//! machine, and [`window`] how much really fits into their models; [`listing`]
//! says what can be used and why not; [`role`] is which model does what,
//! [`fallback`] who comes next, [`small`] what is asked by the way.

pub mod auth;
pub mod catalog;
pub mod choose;
pub mod dialect;
pub mod discovery;
pub mod endpoint;
pub mod error;
pub mod event;
pub mod fallback;
mod guard;
pub mod listing;
pub mod models;
mod opened;
pub mod request;
pub mod retry;
pub mod role;
mod scrub;
mod sending;
mod sigv4;
pub mod small;
pub mod stream;
pub mod window;
pub mod wire;

pub use auth::{AuthError, FileVault, Keychain, OAuth, SecretCommand};
pub use catalog::{
    Catalog, EditForm, Family, ImageSupport, Limits, ModelInfo, Prices, Provider, ProviderConfig, Quirks,
    Spending, Table, TableError, cost,
};
pub use dialect::Dialect;
pub use discovery::LocalServer;
pub use endpoint::Endpoint;
pub use error::{ErrorKind, ModelError, NextKey, classify};
pub use event::ModelEvent;
pub use fallback::{FallbackChain, Switch};
pub use listing::{ListedModel, ListedProvider, Usability};
pub use models::{Models, ModelsOptions};
pub use opened::Begins;
pub use request::{CacheLifetime, CachePlan, Effort, ModelRequest, ToolChoice};
pub use role::{InvalidRoleModel, Role, RoleChoice, RoleModel, Roles};
pub use sending::{AwsKeys, Credential};
pub use small::SmallAnswer;
pub use stream::ModelStream;
pub use window::LocalWindow;
pub use wire::{EncodedRequest, Wire};
