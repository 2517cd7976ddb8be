//! The crate against real processes.
#![allow(clippy::unwrap_used, clippy::expect_used, clippy::panic, missing_docs)]

mod ending;
mod jail;
mod leaks;
mod orphans;
mod process;
mod running;
mod terminal;

use std::path::Path;

use rein_sandbox::{Exit, SandboxError, Spawn, run};
use tokio_util::sync::CancellationToken;

/// A shell script in a directory that exists.
fn script(text: &str) -> Spawn {
    Spawn::new("bash", std::env::temp_dir()).arg("-c").arg(text)
}

/// Runs it without cancelling and returns what it printed.
async fn finish(spawn: Spawn) -> Result<(Exit, String), SandboxError> {
    let mut printed = Vec::new();
    let exit = run(spawn, &mut |bytes| printed.extend_from_slice(bytes), &CancellationToken::new()).await?;
    Ok((exit, String::from_utf8_lossy(&printed).into_owned()))
}

/// Whether a process runs. A zombie does not.
fn runs(pid: &str) -> bool {
    let Ok(stat) = std::fs::read_to_string(Path::new("/proc").join(pid.trim()).join("stat")) else {
        return false;
    };
    let state = stat.rsplit_once(')').unwrap().1.trim_start().chars().next().unwrap();
    !matches!(state, 'Z' | 'X')
}

/// Whether any running process has this word in its command line.
fn somebody_runs(word: &str) -> bool {
    std::fs::read_dir("/proc").unwrap().filter_map(Result::ok).any(|entry| {
        let pid = entry.file_name().to_string_lossy().into_owned();
        pid.bytes().all(|byte| byte.is_ascii_digit())
            && runs(&pid)
            && std::fs::read(entry.path().join("cmdline"))
                .is_ok_and(|line| String::from_utf8_lossy(&line).contains(word))
    })
}
