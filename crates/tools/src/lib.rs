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
//! [`arguments`] reads what a model wrote; [`bound`] keeps output small, and
//! [`terminal`] makes text of it; [`fence`] marks what strangers wrote.
//! [`edit`], [`apply_patch`] and [`hashline`] are the forms of one tool. [`jobs`]
//! runs commands; [`memory`] knows which files were read, [`instructions`] which
//! instruction files were shown; [`picture`] makes pictures fit for models;
//! `encoding` and `text` tell how a text is written down; `path`, `files`,
//! `diff`, `change`, `walk`, `ignored`, `deadline`, `crowd`, `listing`, `near` and
//! `program` are what several tools share; [`user_tool`] makes tools of programs that users write.

pub mod apply_patch;
pub mod arguments;
mod ask;
pub mod bash;
pub mod bound;
mod change;
pub mod contract;
mod crowd;
mod deadline;
mod diff;
pub mod edit;
mod encoding;
pub mod fence;
mod files;
mod git;
mod glob;
mod grep;
pub mod hashline;
mod ignored;
pub mod instructions;
mod job;
pub mod jobs;
mod list;
mod listing;
pub mod memory;
mod near;
mod path;
pub mod picture;
mod program;
mod read;
pub mod registry;
mod schema;
pub mod terminal;
mod text;
pub mod todo;
mod tool_search;
pub mod user_tool;
mod walk;
mod walls;
pub mod web_search;
pub mod webfetch;
mod write;

pub use bash::SharedShellState;
pub use contract::{
    ArtifactSource, Complaint, ImageSupport, NoSnapshots, Outcome, Output, Picture, Plan, Scene, Snapshots,
    Tool,
};
pub use edit::EditForm;
pub use instructions::Instructions;
pub use jobs::{JobSettings, Jobs};
pub use memory::FileMemory;
pub use registry::Registry;
/// What may hold a process, for those who fill a [`Scene`].
pub use rein_sandbox::jail;
pub use todo::TodoBoard;
pub use walls::Walls;
