//! Every child process of rein: how it is started, how its output is read, and
//! how it and all that it started are ended.
//!
//! Nothing else in rein starts a process. What a command may do at all is
//! judged elsewhere; what it may print to a model is bounded elsewhere.
//!
//! The invariant: when [`run`] is over, by whatever way, so is the process and
//! everything that it started. Three things can still slip away, and only
//! kernel confinement, which belongs into this crate as a further field of
//! [`Spawn`], can hold them: a process that leaves the session by a double
//! fork *and* wipes its environment; one that changed its user; and, when rein
//! itself is killed with SIGKILL, what the direct child had started. The direct
//! child dies with rein by `PR_SET_PDEATHSIG`; for the rest there is
//! [`end_orphans`], to be called when rein starts. A rein that must exit at once
//! calls [`end_all`] before.
//!
//! Layout: `environment` is what a child is told, and `hidden` what it is not told
//! besides; `child` starts and reaps; `input` is what it reads; `output` reads; `family` finds relatives
//! through `/proc`; `run` is the course of one process; `ladder` ends it;
//! `registry` knows those that run.

mod child;
mod environment;
mod error;
mod family;
mod hidden;
mod input;
mod ladder;
mod output;
mod registry;
mod run;
mod spawn;

pub use environment::clean_environment;
pub use error::SandboxError;
pub use family::end_orphans;
pub use hidden::{hide_variables, protect_process};
pub use registry::end_all;
pub use run::{Ended, Exit, Leftovers, Status, run};
pub use spawn::{Grace, Spawn};
