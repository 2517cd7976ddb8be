//! The agent's hands: one folder a tool, each with its description for the
//! model, by a contract of two steps.
//!
//! [`Tool::plan`] says what a call would do and does nothing; [`Plan::run`] does
//! it. Whether it may is judged in between and elsewhere, and so are keeping,
//! bounding and recording what it prints. No tool asks, and none can forget to.
//!
//! The invariant: a plan's [`rein_protocol::Intent`] names everything that its
//! run will touch, by the resolved path, and the run refuses when that path
//! leads elsewhere by then.
//!
//! Layout: [`contract`] is the two steps; [`registry`] the one list of tools;
//! [`arguments`] reads what a model wrote; [`bound`] keeps output small;
//! [`memory`] knows which files were read; `path`, `files`, `text`, `diff`,
//! `change`, `walk`, `ignored`, `deadline`, `crowd`, `listing` and `near` are
//! what several tools share.

pub mod arguments;
pub mod bash;
pub mod bound;
mod change;
pub mod contract;
mod crowd;
mod deadline;
mod diff;
pub mod edit;
mod files;
mod glob;
mod grep;
mod ignored;
mod list;
mod listing;
pub mod memory;
mod near;
mod path;
mod read;
pub mod registry;
mod schema;
mod text;
pub mod todo;
mod tool_search;
mod walk;
mod write;

pub use contract::{
    ArtifactSource, Complaint, ImageSupport, NoSnapshots, Outcome, Output, Picture, Plan, Scene, Snapshots,
    Tool,
};
pub use memory::FileMemory;
pub use registry::Registry;
pub use todo::TodoBoard;
