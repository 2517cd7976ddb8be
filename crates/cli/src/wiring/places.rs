//! Where rein works and where it keeps its files.

use std::io;
use std::path::{Path, PathBuf};

use rein_config::{Directories, Environment};

use super::wrong_settings;
use crate::args::SharedArguments;
use crate::error::CommandError;

/// Where rein works and where it keeps its files.
#[derive(Debug, Clone)]
pub struct Places {
    /// The directory to work in: absolute, with links resolved.
    pub directory: PathBuf,
    /// The variables of the process.
    pub environment: Environment,
    /// Where rein keeps its files.
    pub directories: Directories,
}

impl Places {
    /// As the arguments and the process have it.
    pub fn find(shared: &SharedArguments) -> Result<Self, CommandError> {
        let wanted = match &shared.cwd {
            Some(directory) => directory.clone(),
            None => std::env::current_dir().map_err(|error| {
                CommandError::usage("the current directory cannot be used")
                    .caused_by(error)
                    .hint("name another with -C DIR")
            })?,
        };
        Self::at(&wanted)
    }

    /// The repository around the directory to work in, or that directory.
    pub fn project_root(&self) -> PathBuf {
        let is_repository = |directory: &&Path| directory.join(".git").symlink_metadata().is_ok();
        self.directory.ancestors().find(is_repository).unwrap_or(&self.directory).to_owned()
    }

    /// The files that may speak for the project, from its root downwards.
    pub fn project_files(&self) -> Vec<PathBuf> {
        let root = self.project_root();
        let mut files: Vec<PathBuf> = self
            .directory
            .ancestors()
            .take_while(|directory| directory.starts_with(&root))
            .map(|directory| directory.join(".rein").join("config.toml"))
            .collect();
        files.reverse();
        files
    }

    /// The directories that rein itself writes to, with links resolved as far as they exist.
    pub(super) fn own_directories(&self) -> Vec<PathBuf> {
        let Directories { config, data, state, cache } = &self.directories;
        [config, data, state, cache].into_iter().map(|path| resolved(path)).collect()
    }

    pub(super) fn at(directory: &Path) -> Result<Self, CommandError> {
        let wrong = |error: io::Error| {
            CommandError::usage(format!("{} is no directory to work in", directory.display()))
                .caused_by(error)
                .hint("name another with -C DIR")
        };
        let resolved = directory.canonicalize().map_err(wrong)?;
        if !resolved.is_dir() {
            return Err(wrong(io::ErrorKind::NotADirectory.into()));
        }
        let environment = Environment::of_process();
        let directories = Directories::find(&environment).map_err(wrong_settings)?;
        Ok(Self { directory: resolved, environment, directories })
    }
}

/// A path with links resolved in the part of it that exists.
pub fn resolved(path: &Path) -> PathBuf {
    let existing = path.ancestors().find_map(|above| Some((above, above.canonicalize().ok()?)));
    match existing {
        Some((above, real)) => {
            path.strip_prefix(above).map_or_else(|_| path.to_owned(), |below| real.join(below))
        }
        None => path.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_are_resolved_also_above_what_does_not_exist_yet() {
        let root = tempfile::tempdir().unwrap();
        let real = root.path().canonicalize().unwrap();
        std::fs::create_dir(real.join("there")).unwrap();
        std::os::unix::fs::symlink("there", real.join("link")).unwrap();
        assert_eq!(resolved(&real.join("link/not/yet")), real.join("there/not/yet"));
        assert_eq!(resolved(&real.join("link")), real.join("there"));
    }
}
