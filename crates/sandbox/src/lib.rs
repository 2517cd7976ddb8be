//! Every child process of rein: how it is started, how its output is read, and
//! how it and all that it started are ended.
//!
//! Nothing else in rein starts a process. What a command may do at all is
//! judged elsewhere; what it may print to a model is bounded elsewhere.
//!
//! The invariant: when [`run`] is over or a [`Process`] is dropped, by whatever
//! way, so is the process and everything that it started. In a program that called [`helper::main`], a
//! helper stands between it and the process, to which every orphan comes back,
//! and which ends all when rein is gone. Without a helper three things can slip
//! away: a process that leaves the session by a double fork *and* wipes its
//! environment; one that changed its user; and, when rein itself is killed with
//! SIGKILL, what the direct child had started. The direct child dies with rein
//! by `PR_SET_PDEATHSIG`; for the rest there is [`end_orphans`], to be called
//! when rein starts. A rein that must exit at once calls [`end_all`] before.
//!
//! What a process may do is a [`jail::Jail`], enforced by the kernel.
//!
//! Layout: `environment` is what a child is told, and `hidden` what it is not told
//! besides; `child` starts and reaps; `input` is what it reads and `output` what it prints; `family` finds relatives
//! through `/proc`; `process` is a process that runs, `pty` its terminal if it has
//! one, `foreground` a program on the person's own terminal, and `run` its course from start to end; `ladder` ends it; `registry` knows
//! those that run. `jail` says what a process may do, `helper`
//! is the process that sees to it, `linux` and `macos` are the walls.

#[cfg(target_os = "linux")]
mod attended;
mod child;
mod environment;
mod error;
mod family;
mod foreground;
pub mod helper;
mod hidden;
mod input;
pub mod jail;
mod ladder;
#[cfg(target_os = "linux")]
mod linux;
pub mod macos;
mod output;
mod process;
mod pty;
mod registry;
mod run;
mod spawn;

pub use environment::{clean_environment, may_be_told};
pub use error::SandboxError;
pub use family::end_orphans;
pub use foreground::run_on_terminal;
pub use hidden::{hide_variables, protect_process};
pub use process::{Event, Leftover, Process};
pub use pty::{Terminal, TerminalSize};
pub use registry::end_all;
pub use run::{Ended, Exit, Leftovers, Status, run};
pub use spawn::{Grace, Spawn};
