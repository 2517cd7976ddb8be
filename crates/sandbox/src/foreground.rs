//! A program of the person on the person's own terminal: the editor of their
//! choice. It has the person's own rights, because it is the person who asked
//! for it; nothing is confined, captured or timed, and nobody ends it.
//!
//! It belongs to the group of processes that has the terminal, so that stopping
//! it stops rein with it, and both go on together. Whatever it did with the
//! terminal's foreground, it is put back.

use std::ffi::{OsStr, OsString};
use std::io;
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::Command;

use rustix::process::getpgrp;
use rustix::termios::{tcgetpgrp, tcsetpgrp};

use crate::error::SandboxError;
use crate::hidden;
use crate::run::Status;

/// Runs a program with this process's own input, output and terminal, and waits for its end. It is told
/// everything that this process is, without the secrets that rein hides. Blocks: not for a thread that
/// must not wait.
pub fn run_on_terminal(program: &OsStr, args: &[OsString], cwd: &Path) -> Result<Status, SandboxError> {
    let failed = |source| SandboxError::Program { program: program.to_owned(), source };
    let mut command = Command::new(program);
    command.args(args).current_dir(cwd).env_clear().envs(hidden::visible(std::env::vars_os()));
    let status = command.status().map_err(failed);
    // Without a terminal there is nothing to put back.
    let _ = take_foreground();
    let status = status?;
    Ok(match (status.code(), status.signal()) {
        (Some(code), _) => Status::Code(code),
        (None, signal) => Status::Signal(signal.unwrap_or_default()),
    })
}

/// Makes the own group of processes the one that has the terminal.
fn take_foreground() -> io::Result<()> {
    let terminal = io::stdin();
    if tcgetpgrp(&terminal)? == getpgrp() {
        return Ok(());
    }
    // From the background this would stop the process, unless the signal for it is held back.
    let _held = HeldBack::new()?;
    Ok(tcsetpgrp(&terminal, getpgrp())?)
}

/// SIGTTOU does not reach this thread while this lives.
struct HeldBack {
    before: libc::sigset_t,
}

impl HeldBack {
    #[allow(unsafe_code)]
    fn new() -> io::Result<Self> {
        // SAFETY: both sets are plain memory that lives here, and the calls only read and write them.
        unsafe {
            let mut wanted: libc::sigset_t = std::mem::zeroed();
            let mut before: libc::sigset_t = std::mem::zeroed();
            libc::sigemptyset(&raw mut wanted);
            libc::sigaddset(&raw mut wanted, libc::SIGTTOU);
            match libc::pthread_sigmask(libc::SIG_BLOCK, &raw const wanted, &raw mut before) {
                0 => Ok(Self { before }),
                error => Err(io::Error::from_raw_os_error(error)),
            }
        }
    }
}

impl Drop for HeldBack {
    #[allow(unsafe_code)]
    fn drop(&mut self) {
        // SAFETY: the set is the one that the call in `new` filled.
        unsafe {
            libc::pthread_sigmask(libc::SIG_SETMASK, &raw const self.before, std::ptr::null_mut());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shell(text: &str, cwd: &Path) -> Result<Status, SandboxError> {
        run_on_terminal(OsStr::new("sh"), &["-c".into(), text.into()], cwd)
    }

    #[test]
    fn it_runs_where_and_as_it_should_and_says_how_it_ended() {
        let home = tempfile::tempdir().unwrap();
        assert_eq!(shell("echo text > file; exit 7", home.path()).unwrap(), Status::Code(7));
        assert_eq!(std::fs::read_to_string(home.path().join("file")).unwrap(), "text\n");
        assert_eq!(shell("kill -9 $$", home.path()).unwrap(), Status::Signal(9));
    }

    #[test]
    fn a_program_that_is_not_there_is_named() {
        let home = tempfile::tempdir().unwrap();
        let error = run_on_terminal(OsStr::new("no-such-editor"), &[], home.path()).unwrap_err();
        assert!(error.to_string().starts_with("cannot start no-such-editor: "), "{error}");
    }
}
