//! Real jails around real processes, by every means that there is.
//!
//! Where a means is missing these tests fail, unless `REIN_TEST_WITHOUT_JAIL=1`
//! says that it may be: then they say nothing.

mod attending;
mod builds;
mod files;
mod kept;
mod limits;
mod outside;

use std::path::{Path, PathBuf};
use std::sync::Arc;

use rein_sandbox::jail::{Jail, JailRequest, Preference};
use rein_sandbox::{Exit, SandboxError, Spawn, Status, helper};

use crate::finish;

/// The means that hold everything.
const WHOLE: [Preference; 2] = [Preference::BuiltIn, Preference::Bubblewrap];

/// A directory with a workspace in it, and others beside.
struct Place {
    root: PathBuf,
    _directory: tempfile::TempDir,
}

impl Place {
    /// Somewhere that is not replaced inside: a test about what is outside would prove nothing there.
    fn new() -> Self {
        let own = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
        let is_replaced = ["/tmp", "/var/tmp", "/run", "/dev"].iter().any(|path| own.starts_with(path));
        let bases = if is_replaced { vec!["/srv".into(), "/var/lib".into(), own] } else { vec![own] };
        let directory = bases.iter().find_map(|base| tempfile::tempdir_in(base).ok()).unwrap();
        let root = directory.path().canonicalize().unwrap();
        std::fs::create_dir(root.join("work")).unwrap();
        std::fs::create_dir(root.join("home")).unwrap();
        Self { root, _directory: directory }
    }

    fn work(&self) -> PathBuf {
        self.root.join("work")
    }

    fn request(&self) -> JailRequest {
        let mut request = JailRequest::new(self.work());
        request.home = Some(self.root.join("home"));
        request
    }

    fn jail(&self, preference: Preference) -> Jail {
        let mut jail = Jail::standard(&self.request());
        jail.preference = preference;
        jail
    }
}

/// Runs a script in a jail. Nothing if the means is missing and may be.
async fn run_in(jail: Jail, cwd: &Path, text: &str) -> Option<(Exit, String)> {
    let spawn = Spawn::new("bash", cwd).arg("-c").arg(text);
    settle(finish(jailed(spawn, jail)).await)
}

/// What came of it, unless the means is missing and may be.
fn settle(result: Result<(Exit, String), SandboxError>) -> Option<(Exit, String)> {
    let may_be_missing = std::env::var_os("REIN_TEST_WITHOUT_JAIL").is_some_and(|value| value == "1");
    match result {
        Err(SandboxError::Unavailable { .. }) if may_be_missing => None,
        other => Some(other.unwrap()),
    }
}

fn jailed(spawn: Spawn, jail: Jail) -> Spawn {
    helper::use_program(env!("CARGO_BIN_EXE_rein-jail"));
    spawn.jailed(Arc::new(jail))
}

/// What a script prints in a jail of each whole means.
async fn in_each(place: &Place, text: &str) -> Vec<(Preference, Exit, String)> {
    let mut all = Vec::new();
    for preference in WHOLE {
        if let Some((exit, printed)) = run_in(place.jail(preference), &place.work(), text).await {
            all.push((preference, exit, printed));
        }
    }
    all
}

/// Whether it ended well.
fn is_well(exit: &Exit) -> bool {
    exit.status == Status::Code(0)
}
