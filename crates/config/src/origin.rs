//! Where a value came from.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::{Serialize, Serializer};

use crate::quote;

/// The layers, from the one that yields to all others to the one that wins.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Source {
    /// Nobody said anything.
    Default,
    /// The user's file.
    User,
    /// A file in the repository: may only narrow.
    Project,
    /// An environment variable.
    Environment,
    /// The command line.
    Flag,
    /// What the user allowed with "always".
    Grant,
    /// The administrator's file: holds whatever the others say.
    Managed,
}

/// The place that a value comes from.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize)]
pub struct Origin {
    /// Which layer.
    pub source: Source,
    /// The file, if it is one.
    #[serde(skip_serializing_if = "Option::is_none", serialize_with = "lossy")]
    pub file: Option<PathBuf>,
    /// The line in the file, from 1.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub line: Option<usize>,
    /// The environment variable, the flag or the grant, if it is one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

impl Origin {
    /// What is so because nobody said otherwise.
    #[must_use]
    pub fn default_value() -> Self {
        Self { source: Source::Default, file: None, line: None, name: None }
    }

    pub(crate) fn file(source: Source, file: &Path) -> Self {
        Self { source, file: Some(file.to_owned()), line: None, name: None }
    }

    pub(crate) fn at_line(&self, line: usize) -> Self {
        Self { line: Some(line), ..self.clone() }
    }

    pub(crate) fn grant(file: &Path, line: usize, id: &str) -> Self {
        Self {
            source: Source::Grant,
            file: Some(file.to_owned()),
            line: Some(line),
            name: Some(id.to_owned()),
        }
    }

    pub(crate) fn environment(variable: &str) -> Self {
        Self { source: Source::Environment, file: None, line: None, name: Some(variable.to_owned()) }
    }

    pub(crate) fn flag(name: &str) -> Self {
        Self { source: Source::Flag, file: None, line: None, name: Some(name.to_owned()) }
    }
}

impl fmt::Display for Origin {
    /// `default`, `/path/config.toml:3`, `/path/grants.toml:3 (g4k2p)`, `$REIN_MODEL` or `--model`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (&self.file, &self.name) {
            (Some(file), _) => f.write_str(&quote::plain(&file.to_string_lossy()))?,
            (None, Some(name)) if self.source == Source::Environment => write!(f, "${name}")?,
            (None, Some(name)) => f.write_str(&quote::plain(name))?,
            (None, None) => f.write_str("default")?,
        }
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        match (&self.file, &self.name) {
            (Some(_), Some(name)) => write!(f, " ({})", quote::plain(name)),
            _ => Ok(()),
        }
    }
}

fn lossy<S: Serializer>(file: &Option<PathBuf>, serializer: S) -> Result<S::Ok, S::Error> {
    match file {
        Some(file) => serializer.collect_str(&file.display()),
        None => serializer.serialize_none(),
    }
}
