//! Rules, layers and modes in; allow, ask or deny with the reason out.
//!
//! Everything here is pure: values in, values out. Nothing reads a file, waits
//! or starts anything; the engine holds a [`Policy`] and a [`Broker`] and does
//! the waiting.
//!
//! Layout: [`wildcard`] matches patterns; [`rule`] is one line of a rule list
//! and the peers' way to evaluate such lists; [`resource`] turns an effect into
//! the permissions it needs; [`policy`] judges them by layers and mode;
//! [`judgement`] is what comes out; [`offer`] is what "always" may cover;
//! [`broker`] keeps the questions that wait for a person; [`refusal`] says what
//! was refused and what would allow it.
//!
//! The invariant of the crate: a layer whose own answer is `deny` is never
//! overruled, by no mode, no grant and no other layer.

pub mod broker;
pub mod error;
pub mod judgement;
pub mod offer;
pub mod policy;
mod protect;
pub mod refusal;
pub mod resource;
pub mod rule;
pub mod wildcard;

pub use broker::{Broker, Outcome, Replied, Settled};
pub use error::PermissionError;
pub use judgement::{Detail, Judgement, Lift, Source};
pub use policy::{Layer, LayerKind, Policy};
pub use refusal::{Presence, refusal};
pub use rule::{Action, Evaluated, Rule, evaluate};
