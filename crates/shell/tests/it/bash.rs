//! A real bash in which every program is a recorder: it writes its name down
//! and does nothing else. Nothing but recorders and harmless wrappers is found.

use std::collections::BTreeSet;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use tempfile::TempDir;

/// Programs that are only recorded.
pub const RECORDED: [&str; 8] = ["alpha", "beta", "gamma", "delta", "rm", "cat", "curl", "git"];

/// Programs that really run, because they run others.
const REAL: [&str; 9] = ["env", "nice", "nohup", "timeout", "xargs", "find", "bash", "sh", "setsid"];

pub struct Laboratory {
    root: TempDir,
    programs: PathBuf,
    runs: AtomicUsize,
    records: AtomicUsize,
}

impl Laboratory {
    pub fn new() -> Self {
        let root = tempfile::tempdir().unwrap();
        let programs = root.path().join("programs");
        fs::create_dir(&programs).unwrap();
        fs::create_dir(root.path().join("here")).unwrap();
        for name in RECORDED {
            let path = programs.join(name);
            let script = format!(
                "#!/bin/sh\nu=$(printf '\\037')\nr={name}\nfor a; do r=\"$r$u$a\"; done\nprintf '%s\\036' \"$r\" >> \"$RECORDING\"\n"
            );
            fs::write(&path, script).unwrap();
            fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
        }
        for name in REAL {
            if let Some(real) = real(name) {
                symlink(real, programs.join(name)).unwrap();
            }
        }
        Self { root, programs, runs: AtomicUsize::new(0), records: AtomicUsize::new(0) }
    }

    /// The recorders that bash starts when it runs a text, each with its arguments.
    pub fn run(&self, text: &str) -> BTreeSet<Vec<String>> {
        // What an earlier text left in the background must not write into this one's.
        let number = self.runs.fetch_add(1, Ordering::Relaxed);
        let recording = self.root.path().join(format!("recording-{number}"));
        let here = self.root.path().join("here");
        for entry in fs::read_dir(&here).unwrap() {
            let _ = fs::remove_file(entry.unwrap().path());
        }
        let mut command = Command::new(real("bash").unwrap());
        command
            .arg("-c")
            .arg(text)
            .env_clear()
            .env("PATH", &self.programs)
            .env("HOME", &here)
            .env("RECORDING", &recording)
            .env("FUNCNEST", "20")
            .current_dir(&here)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null());
        let _ = command.status();
        let recorded = fs::read_to_string(&recording).unwrap_or_default();
        self.records.fetch_add(recorded.matches('\u{1e}').count(), Ordering::Relaxed);
        let records = recorded.split('\u{1e}').filter(|record| !record.is_empty());
        records.map(|record| record.split('\u{1f}').map(str::to_owned).collect()).collect()
    }

    /// How many programs have been started in all.
    pub fn records(&self) -> usize {
        self.records.load(Ordering::Relaxed)
    }

    pub fn here(&self) -> PathBuf {
        self.root.path().join("here")
    }
}

fn real(name: &str) -> Option<PathBuf> {
    ["/bin", "/usr/bin"].iter().map(|directory| Path::new(directory).join(name)).find(|path| path.exists())
}

/// Whether this machine has a bash to compare with.
pub fn exists() -> bool {
    real("bash").is_some()
}
