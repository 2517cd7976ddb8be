//! A child that a helper attends: the same life as in `child`, with the helper's words for its turns.

use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::os::fd::OwnedFd;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::process::Pid;
use tokio::sync::oneshot;

use crate::child::{Running, announce};
use crate::environment::clean_environment;
use crate::error::SandboxError;
use crate::family::{Family, Helper, MARK, mark, new_word};
use crate::helper::launch::launch;
use crate::helper::order::{Order, Walls};
use crate::helper::record::{Failure, Others, Record, Stage};
use crate::hidden;
use crate::jail::{Jail, Way, choose, plan, probe};
use crate::run::Status;
use crate::spawn::Spawn;

/// The life of the thread that accompanies a helper.
pub(crate) fn accompany(
    spawn: Spawn,
    output: OwnedFd,
    started: oneshot::Sender<Result<Running, SandboxError>>,
) {
    let word = new_word();
    let prepared = prepare(&spawn, &word).and_then(|(order, helper)| {
        let source_of = |source| SandboxError::Program { program: spawn.program.clone(), source };
        let input = input(&output).map_err(source_of)?;
        let has_ghosts = order.walls.as_ref().is_some_and(|walls| !walls.plan.ghosts.is_empty());
        let launched = launch(&helper, &order, input, output).map_err(source_of)?;
        Ok((launched, generations(&order), has_ghosts))
    });
    let (mut launched, generations, has_ghosts) = match prepared {
        Ok(prepared) => prepared,
        Err(error) => {
            let _ = started.send(Err(error));
            return;
        }
    };
    if let Err(error) = wait_for_start(&spawn, &mut launched.records) {
        drop(launched.control);
        let _ = launched.child.wait();
        let _ = started.send(Err(error));
        return;
    }
    let Some(id) = i32::try_from(launched.child.id()).ok().and_then(Pid::from_raw) else { return };
    let over = Arc::new(AtomicBool::new(false));
    let helper = Helper { generations, over: over.clone() };
    let (exited, released) = announce(Family::attended(id, word, helper), started);
    let status = wait_for_end(&mut launched.records, &over);
    if has_ghosts && over.load(Ordering::Acquire) {
        // The helper takes its ghosts away now; whoever looks at the workspace next must not see them.
        let _ = launched.child.wait();
    }
    let _ = exited.send(Ok(status));
    let _ = released.recv();
    drop(launched.control);
    let _ = launched.child.wait();
}

/// A terminal is read from as well as written to.
fn input(output: &OwnedFd) -> io::Result<Stdio> {
    use std::io::IsTerminal;
    Ok(if output.is_terminal() { output.try_clone()?.into() } else { Stdio::null() })
}

fn prepare(spawn: &Spawn, word: &str) -> Result<(Order, std::path::PathBuf), SandboxError> {
    let walls = spawn.jail.as_deref().map(walls).transpose()?;
    let helper = crate::helper::program().ok_or_else(|| SandboxError::Unavailable {
        why: "this program has no helper".to_owned(),
        remedy: "call `helper::main` at the start of `main`".to_owned(),
    })?;
    let mut env = clean_environment(hidden::visible(std::env::vars_os()), &spawn.keep);
    let mut set = |name: OsString, value: OsString| {
        env.retain(|(known, _)| *known != name);
        env.push((name, value));
    };
    match &walls {
        // The private directory is where everybody expects the common one.
        Some(Walls { way: Way::BuiltIn | Way::Bubblewrap, .. }) => set("TMPDIR".into(), "/tmp".into()),
        Some(Walls { plan: plan::Plan { temporary: Some(path), .. }, .. }) => {
            set("TMPDIR".into(), path.into())
        }
        Some(_) | None => {}
    }
    for (name, value) in &spawn.env {
        set(name.clone(), value.clone());
    }
    set(MARK.into(), mark(word));
    let order = Order {
        walls,
        program: spawn.program.clone(),
        args: spawn.args.clone(),
        env,
        cwd: spawn.cwd.clone(),
    };
    Ok((order, helper))
}

fn walls(jail: &Jail) -> Result<Walls, SandboxError> {
    let way = choose(jail.preference)?;
    probe::walls(way, plan::plan(jail), jail.network, jail.limits.processes)
        .map_err(|missing| SandboxError::Unavailable { why: missing.why, remedy: missing.remedy })
}

/// How many helpers are below the first one.
fn generations(order: &Order) -> usize {
    match order.walls.as_ref().map(|walls| walls.way) {
        None | Some(Way::LandlockAlone | Way::Seatbelt) => 0,
        Some(Way::BuiltIn) => 1,
        Some(Way::Bubblewrap) => 2,
    }
}

fn wait_for_start(spawn: &Spawn, records: &mut File) -> Result<(), SandboxError> {
    let program = spawn.program.clone();
    match Record::read(records) {
        Some(Record::Started) => Ok(()),
        Some(Record::Failed(Failure { stage: Stage::Program, errno, .. })) => {
            Err(SandboxError::Program { program, source: io::Error::from_raw_os_error(errno) })
        }
        Some(Record::Failed(Failure { stage: Stage::Directory, errno, .. })) => {
            let source = io::Error::from_raw_os_error(errno);
            Err(SandboxError::Directory { cwd: spawn.cwd.clone(), source })
        }
        Some(Record::Failed(failure)) => {
            Err(SandboxError::Confinement { program, what: probe::sentence(&failure) })
        }
        Some(Record::Exited(..)) | None => {
            Err(SandboxError::Confinement { program, what: "the helper ended without a word".to_owned() })
        }
    }
}

/// A helper that ends without saying how the program ended was killed, and the program with it.
fn wait_for_end(records: &mut File, over: &AtomicBool) -> Status {
    loop {
        match Record::read(&mut *records) {
            Some(Record::Exited(status, others)) => {
                over.store(others == Others::Gone, Ordering::Release);
                return status;
            }
            Some(Record::Started | Record::Failed(_)) => {}
            None => {
                over.store(true, Ordering::Release);
                return Status::Signal(libc::SIGKILL);
            }
        }
    }
}
