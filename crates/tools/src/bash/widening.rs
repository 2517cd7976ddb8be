//! Rights that a command asks for beyond those of its sandbox, and what the
//! sandbox refused one that failed.

use std::path::{Path, PathBuf};

use rein_protocol::{JobState, Right};
use rein_sandbox::Status;
use rein_sandbox::jail::{self, Jail, Refusal};

use crate::contract::Complaint;

/// A right as the model writes it.
pub(super) fn right(text: &str, cwd: &Path) -> Result<Right, Complaint> {
    let text = text.trim();
    let (word, rest) = text.split_once(char::is_whitespace).unwrap_or((text, ""));
    match (word, rest.trim()) {
        ("network", "") => Ok(Right::Network),
        ("off", "") => Ok(Right::Unconfined),
        ("write", path) if !path.is_empty() => {
            let path: PathBuf = cwd.join(path);
            let path = path.canonicalize().unwrap_or(path);
            Ok(Right::Write { path })
        }
        _ => Err(Complaint(format!(
            "`widen` has \"{text}\", which is none of \"network\", \"write PATH\" and \"off\"."
        ))),
    }
}

/// What the sandbox refused a command that failed, for the model: what it was, and how to ask for it.
pub(super) fn refused(jail: &Jail, state: JobState, tail: &[u8]) -> Option<String> {
    let status = match state {
        JobState::Exited { code } | JobState::Daemon { code } => Status::Code(code),
        JobState::Signalled { signal } => Status::Signal(signal),
        JobState::Running | JobState::TimedOut | JobState::Killed => return None,
    };
    let refused = jail::explain(jail, status, tail)?;
    let asks = match &refused.what {
        Refusal::Network(_) => "`widen: [\"network\"]`".to_owned(),
        Refusal::Write(path) => format!("`widen: [\"write {}\"]`", directory(path).display()),
        Refusal::Read(_) | Refusal::Syscall(_) | Refusal::Processes | Refusal::Space => {
            "`widen: [\"off\"]`".to_owned()
        }
    };
    Some(format!(
        "sandbox: {} If it is needed, run it again with {asks}: the user will be asked",
        refused.sentence
    ))
}

/// What has to be writable for a path to be made.
fn directory(path: &Path) -> &Path {
    if path.exists() { path } else { path.parent().unwrap_or(path) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rights_are_read_as_they_are_described() {
        let cwd = Path::new("/nowhere");
        assert_eq!(right(" network ", cwd).unwrap(), Right::Network);
        assert_eq!(right("off", cwd).unwrap(), Right::Unconfined);
        assert_eq!(right("write out", cwd).unwrap(), Right::Write { path: "/nowhere/out".into() });
        assert_eq!(right("write /srv/x y", cwd).unwrap(), Right::Write { path: "/srv/x y".into() });
        for wrong in ["", "write", "network on", "read /etc"] {
            assert!(right(wrong, cwd).unwrap_err().0.contains("none of"), "{wrong}");
        }
    }
}
