//! The last steps before a helper's child is the program.

use std::os::unix::process::CommandExt;
use std::process::Command;

use rustix::process::{Signal, set_parent_process_death_signal, setsid};

use super::order::{Order, Walls};
use super::record::{Failure, Stage};
use crate::child::reset_signals;
use crate::jail::{Network, Way};
use crate::linux::landlock::{self, Effect};
use crate::linux::seccomp::{self, Debugging, Setting, Sockets};
use crate::linux::{calls, mounts};

/// Becomes the program, or says why not.
pub(super) fn become_program(order: &Order, proc: mounts::Proc) -> Failure {
    if let Err(failure) = prepare(order, proc) {
        return failure;
    }
    if order.program.is_empty() {
        std::process::exit(0);
    }
    let mut command = Command::new(&order.program);
    let error = command.args(&order.args).env_clear().envs(order.env.iter().map(|(n, v)| (n, v))).exec();
    let what = String::new();
    Failure { stage: Stage::Program, errno: error.raw_os_error().unwrap_or(libc::EINVAL), what }
}

fn prepare(order: &Order, proc: mounts::Proc) -> Result<(), Failure> {
    // It was forked just now and leads nothing: neither can fail.
    let _ = setsid();
    let _ = set_parent_process_death_signal(Some(Signal::KILL));
    calls::take_terminal();
    reset_signals();
    calls::unblock_signals();
    if let Err(error) = std::env::set_current_dir(&order.cwd) {
        let errno = error.raw_os_error().unwrap_or(0);
        return Err(Failure { stage: Stage::Directory, errno, what: String::new() });
    }
    match &order.walls {
        Some(walls) => close(walls, proc),
        None => Ok(()),
    }
}

/// What holds for the program, but not for the helper that attends it.
fn close(walls: &Walls, proc: mounts::Proc) -> Result<(), Failure> {
    let has_namespaces = matches!(walls.way, Way::BuiltIn | Way::Bubblewrap);
    if has_namespaces && !rustix::process::geteuid().is_root() {
        // In a user namespace its own processes are counted. Root is never limited this way.
        calls::limit_processes(u64::from(walls.processes));
    }
    let effect = landlock::restrict(&walls.plan, walls.way, walls.network).map_err(|error| Failure {
        stage: Stage::Walls,
        errno: 0,
        what: format!("restrict itself by Landlock ({error})"),
    })?;
    if effect == Effect::None && (!has_namespaces || proc == mounts::Proc::Outer) {
        let what = "restrict itself by Landlock, which this kernel does not have".to_owned();
        return Err(Failure { stage: Stage::Walls, errno: libc::EOPNOTSUPP, what });
    }
    let sockets = match (walls.network, has_namespaces) {
        (Network::On, _) | (Network::Off, true) => Sockets::Internet,
        (Network::Off, false) => Sockets::Local,
    };
    let debugging = if has_namespaces { Debugging::Allowed } else { Debugging::Refused };
    // The filter needs it; Landlock, where it is, has already set it.
    let _ = rustix::thread::set_no_new_privs(true);
    seccomp::restrict(Setting { sockets, debugging })
        .map_err(|error| Failure::wall("filter its system calls", &error))
}
