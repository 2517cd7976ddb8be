//! The core of rein: sessions as actors, the turn, dispatch, and what a model
//! is sent.
//!
//! The way in is [`Engine`], which implements `protocol::Service`. A session is
//! one actor that alone writes its journal, judges calls and publishes events;
//! a turn is a task that asks the model and dispatches its calls, and records
//! everything through the actor before it happens.
//!
//! Layout: `service` finds and opens sessions; `session` is the actor with its
//! journal, its gatekeeper and the link to it; `turn` and `step` are the loop;
//! `assembler` demultiplexes a stream; `dispatch` takes a call through intent,
//! gate, run, bound and record; `context` and `prompt` make what is sent, and
//! `room` makes it fit; `request` puts them together for a model; `instructions` finds the files that it
//! begins with; `small` asks small models by the way;
//! `closing` is what lies between a model that is done and the end of its turn:
//! `plan_mode` has a plan approved and `verify` the work proved;
//! `spending` keeps to what may be spent; `hub` serves subscribers; `paths` follows links;
//! `confinement` says what commands may reach, `scratch` where they may write, `pictures` what models are shown;
//! `inspect` shows pieces to checks; `doom`, `recover`, `remember` and `options` are what they say.

mod assembler;
mod closing;
mod confinement;
mod context;
mod dispatch;
mod doom;
mod hub;
mod inspect;
mod instructions;
mod options;
mod paths;
mod pictures;
mod plan_mode;
mod prompt;
mod recover;
mod remember;
mod request;
mod room;
mod scratch;
mod service;
mod session;
mod small;
mod spending;
mod step;
mod turn;
mod verify;

pub use confinement::{Commands, JailSettings};
pub use context::rehearse::{Rehearsal, rehearse};
pub use inspect::{instruction_files, usable_window};
pub use options::{CompactionSettings, EngineOptions, EngineSettings};
pub use paths::FileSystemPaths;
pub use prompt::{PromptPart, PromptSection};
pub use rein_permission::Presence;
pub use service::Engine;
pub use small::PageReader;
pub use spending::{Caps, DayCaps};
pub use verify::Verify;
