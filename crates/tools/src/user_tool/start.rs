//! How a program of the user's is started, and whether it is still the same.

use std::ffi::OsString;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use rein_sandbox::Spawn;

use super::discover::Origin;
use crate::program::{find, is_executable, quoted};

/// What runs a script that is not executable itself.
const INTERPRETERS: &[(&str, &str)] =
    &[("py", "python3"), ("js", "node"), ("mjs", "node"), ("cjs", "node"), ("sh", "bash"), ("rb", "ruby")];

/// Files beside the programs that are none.
const BESIDES: &[&str] = &["cfg", "ini", "json", "lock", "md", "pyc", "toml", "txt", "yaml", "yml"];

/// A larger program is known by its size and time alone.
const MOST_HASHED: u64 = 64 * 1024 * 1024;

/// How a program is started.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Runner {
    /// Where it is.
    pub(super) path: PathBuf,
    /// Whose it is.
    pub(super) origin: Origin,
    interpreter: Option<PathBuf>,
}

/// What a file in a folder of tools is.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A program.
    Program(Runner),
    /// Something that lies beside them.
    Other,
    /// Perhaps meant as a program, but it cannot be started: what is wrong and what to do.
    Unusable(String, String),
}

impl Runner {
    /// How a file is started, if it can be.
    pub(super) fn of(path: &Path, origin: Origin) -> Kind {
        let runner = |interpreter| Kind::Program(Self { path: path.to_owned(), origin, interpreter });
        if is_executable(path) {
            return runner(None);
        }
        let extension = path.extension().map(|end| end.to_string_lossy().to_ascii_lowercase());
        let extension = extension.as_deref().unwrap_or_default();
        if BESIDES.contains(&extension) {
            return Kind::Other;
        }
        match INTERPRETERS.iter().find(|(end, _)| *end == extension) {
            Some((_, name)) => match find(name) {
                Some(interpreter) => runner(Some(interpreter)),
                None => Kind::Unusable(
                    format!("{name}, which would run it, is not installed"),
                    format!("Install {name}, or make the file executable with a first line like #!/path/to/it."),
                ),
            },
            None => Kind::Unusable(
                "it is not executable".to_owned(),
                "Make it executable with chmod +x (a script needs a first line like #!/usr/bin/env python3), or remove it."
                    .to_owned(),
            ),
        }
    }

    /// The line that somebody would type.
    pub(super) fn line(&self, verb: &str) -> String {
        let mut words: Vec<String> =
            self.interpreter.iter().chain([&self.path]).map(|word| quoted(word.as_os_str())).collect();
        words.push(verb.to_owned());
        words.join(" ")
    }
}

/// A program of the user's, ready to be started: the only place where one is made.
pub(super) fn spawn(runner: &Runner, cwd: &Path, verb: &str, timeout: Duration) -> Spawn {
    let program: OsString = runner.interpreter.as_ref().unwrap_or(&runner.path).into();
    let spawn = Spawn::new(program, cwd).timeout(timeout);
    let spawn = if runner.interpreter.is_some() { spawn.arg(&runner.path) } else { spawn };
    spawn.arg(verb)
}

/// What a file was at some time.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub(super) struct Stamp {
    size: u64,
    modified: Option<SystemTime>,
    content: Option<[u8; 32]>,
}

impl Stamp {
    /// What a file is now.
    pub(super) async fn of(path: &Path) -> io::Result<Self> {
        let path = path.to_owned();
        tokio::task::spawn_blocking(move || Self::read(&path)).await.map_err(io::Error::other)?
    }

    fn read(path: &Path) -> io::Result<Self> {
        let mut file = std::fs::File::open(path)?;
        let metadata = file.metadata()?;
        let size = metadata.len();
        if size > MOST_HASHED {
            return Ok(Self { size, modified: metadata.modified().ok(), content: None });
        }
        let mut hasher = blake3::Hasher::new();
        let mut buffer = vec![0; 64 * 1024];
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    hasher.update(buffer.get(..count).unwrap_or_default());
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
        Ok(Self { size, modified: metadata.modified().ok(), content: Some(*hasher.finalize().as_bytes()) })
    }
}
