//! Rules, layers and modes in; allow, ask or deny with the reason out.
//!
//! Everything here is pure: values in, values out. Nothing reads a file, waits
//! or starts anything; the engine holds a [`Policy`] and a [`Broker`] and does
//! the waiting. Who has a disk hands in a [`Paths`] that follows links.
//!
//! Layout: [`wildcard`] matches patterns; [`rule`] is one line of a rule list
//! and the peers' way to evaluate such lists; [`book`] holds all rules taken
//! apart (`pattern`, `flags`); [`resource`] turns an effect into the permissions
//! it needs; [`policy`] is everything that decides, `decide` what holds for one
//! permission, `command` what holds for a command line and `part` for one
//! command of it; `protect` are the guards; [`judgement`] is what comes out;
//! [`explain`] is the same with everything that led to it; [`offer`] is what
//! "always" may cover; [`broker`] keeps the questions that wait for a person;
//! [`refusal`] says what was refused and what would allow it; [`forms`] reads
//! the rules of other agents; [`mask`] hides secrets in what is recorded.
//!
//! The invariant of the crate: a layer whose own answer is `deny` is never
//! overruled, by no mode, no grant and no other layer, whatever the command is
//! spelled like; and what is not understood is never allowed by a rule.

pub mod book;
pub mod broker;
mod command;
mod decide;
pub mod error;
pub mod explain;
mod flags;
pub mod forms;
pub mod judgement;
pub mod mask;
pub mod offer;
mod part;
mod pattern;
pub mod place;
pub mod policy;
mod protect;
pub mod refusal;
pub mod resource;
pub mod rights;
pub mod rule;
pub mod wildcard;

pub use book::RuleBook;
pub use broker::{Broker, Outcome, Replied, Settled};
pub use error::PermissionError;
pub use explain::Explanation;
pub use judgement::{Detail, Judgement, Lift, Source};
pub use place::{Lexical, Paths};
pub use policy::{Confinement, Layer, LayerKind, NetworkSetting, Policy};
pub use refusal::{Presence, refusal};
pub use rights::{Network, Rights, Walls};
pub use rule::{Action, Evaluated, Rule, evaluate};
