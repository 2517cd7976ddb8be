//! Running a program whose output is read by rein and not by the model: its
//! standard error apart, both bounded, in constant memory.
//!
//! What it may do is judged before; how it is started and ended belongs to `rein_sandbox`.

use std::ffi::OsStr;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use rein_sandbox::{Exit, SandboxError, Spawn};
use rustix::pipe::{PipeFlags, pipe_with};
use tokio::io::AsyncReadExt;
use tokio::net::unix::pipe::Receiver;
use tokio_util::sync::CancellationToken;

/// As much of the end of standard error as is kept.
const ERRORS: usize = 8 * 1024;

/// How long somebody who outlived the program may keep its standard error open.
const SILENCE: Duration = Duration::from_millis(50);

/// A program that came to its end.
#[derive(Debug)]
pub(crate) struct Ran {
    /// How.
    pub(crate) exit: Exit,
    /// The end of what it wrote to its standard error.
    pub(crate) errors: String,
}

/// A program that came to its end, with its output.
#[derive(Debug)]
pub(crate) struct Collected {
    /// How it ended.
    pub(crate) exit: Exit,
    /// Its output, as far as it was wanted.
    pub(crate) output: Vec<u8>,
    /// Whether that is all of it.
    pub(crate) extent: Extent,
    /// The end of what it wrote to its standard error.
    pub(crate) errors: String,
}

/// How much of an output is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Extent {
    /// All of it.
    Whole,
    /// There was more; the program was ended when that was clear.
    Cut,
}

/// Runs a program and hands over its standard output as it comes.
pub(crate) async fn run(
    spawn: Spawn,
    take: &mut (dyn FnMut(&[u8]) + Send),
    cancel: &CancellationToken,
) -> Result<Ran, SandboxError> {
    let program = spawn.program.clone();
    let (mut errors, write) =
        Errors::new().map_err(|source| SandboxError::Resources { program, what: "pipe", source })?;
    let exit = {
        let running = rein_sandbox::run(spawn.errors(write), take, cancel);
        tokio::pin!(running);
        loop {
            tokio::select! {
                biased;
                exit = &mut running => break exit?,
                () = errors.read(), if errors.open => {}
            }
        }
    };
    while errors.open && tokio::time::timeout(SILENCE, errors.read()).await.is_ok() {}
    Ok(Ran { exit, errors: errors.text() })
}

/// Runs a program and keeps the first `most` bytes of its output; it is ended when it prints more.
pub(crate) async fn collect(
    spawn: Spawn,
    most: usize,
    cancel: &CancellationToken,
) -> Result<Collected, SandboxError> {
    let stop = cancel.child_token();
    let mut output = Vec::new();
    let mut extent = Extent::Whole;
    let mut take = |bytes: &[u8]| {
        let room = most.saturating_sub(output.len());
        output.extend_from_slice(bytes.get(..room).unwrap_or(bytes));
        if bytes.len() > room {
            extent = Extent::Cut;
            stop.cancel();
        }
    };
    let Ran { exit, errors } = run(spawn, &mut take, &stop).await?;
    Ok(Collected { exit, output, extent, errors })
}

/// A program of this name in the absolute directories of `PATH`: what a relative one finds
/// would depend on the project.
pub(crate) fn find(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path)
        .filter(|directory| directory.is_absolute())
        .map(|directory| directory.join(name))
        .find(|candidate| is_executable(candidate))
}

/// Whether it is a file that somebody may execute.
pub(crate) fn is_executable(path: &Path) -> bool {
    std::fs::metadata(path)
        .is_ok_and(|metadata| metadata.is_file() && metadata.permissions().mode() & 0o111 != 0)
}

/// A word as a shell reads it back.
pub(crate) fn quoted(word: &OsStr) -> String {
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || b"_-./:=@%+,".contains(byte);
    let text = word.to_string_lossy();
    if !text.is_empty() && word.as_bytes().iter().all(plain) {
        return text.into_owned();
    }
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// The reading end of a standard error, of which the end is kept.
struct Errors {
    pipe: Receiver,
    kept: Vec<u8>,
    open: bool,
}

impl Errors {
    fn new() -> std::io::Result<(Self, OwnedFd)> {
        let (read, write) = pipe_with(PipeFlags::CLOEXEC)?;
        let pipe = Receiver::from_owned_fd(read)?;
        Ok((Self { pipe, kept: Vec::new(), open: true }, write))
    }

    /// Takes what is there, or waits for it. Can be dropped.
    async fn read(&mut self) {
        let mut buffer = [0; ERRORS];
        match self.pipe.read(&mut buffer).await {
            Ok(count) if count > 0 => {
                self.kept.extend_from_slice(buffer.get(..count).unwrap_or_default());
                let surplus = self.kept.len().saturating_sub(ERRORS);
                self.kept.drain(..surplus);
            }
            Ok(_) | Err(_) => self.open = false,
        }
    }

    fn text(&self) -> String {
        String::from_utf8_lossy(&self.kept).into_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rein_sandbox::{Ended, Status};

    fn script(text: &str) -> Spawn {
        Spawn::new("sh", std::env::temp_dir()).arg("-c").arg(text)
    }

    #[tokio::test]
    async fn output_and_errors_are_told_apart() {
        let spawn = script("echo out; echo err >&2; cat; exit 3").input(*b"in");
        let collected = collect(spawn, 100, &CancellationToken::new()).await.unwrap();
        assert_eq!(collected.exit.status, Status::Code(3));
        assert_eq!(
            (collected.output.as_slice(), collected.errors.as_str(), collected.extent),
            (&b"out\nin"[..], "err\n", Extent::Whole)
        );
    }

    #[tokio::test]
    async fn a_flood_on_both_is_cut() {
        let flood = "yes error >&2 & yes output";
        let collected = collect(script(flood), 1000, &CancellationToken::new()).await.unwrap();
        assert_eq!((collected.output.len(), collected.extent), (1000, Extent::Cut));
        assert_eq!(collected.exit.ended, Ended::Cancelled);
        assert!(collected.errors.len() <= ERRORS);
    }

    #[test]
    fn words_are_quoted_when_they_must_be() {
        for (word, shown) in [
            ("src/a.rs", "src/a.rs"),
            ("", "''"),
            ("a b", "'a b'"),
            ("it's", r"'it'\''s'"),
            ("$(x)", "'$(x)'"),
            ("~", "'~'"),
            ("*.rs", "'*.rs'"),
            ("a\nb", "'a\nb'"),
        ] {
            assert_eq!(quoted(OsStr::new(word)), shown);
        }
    }
}
