//! Differences that are meant, with their reasons.

use std::collections::BTreeMap;
use std::path::Path;

use serde::Deserialize;

use crate::error::XtaskError;

/// Ids of cases with the reason for differing.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Deliberate {
    #[serde(default)]
    deliberate: BTreeMap<String, String>,
}

impl Deliberate {
    /// Reads the list; one that is not there is empty.
    pub fn load(path: &Path) -> Result<Self, XtaskError> {
        let text = match std::fs::read_to_string(path) {
            Ok(text) => text,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Self::default()),
            Err(error) => return Err(XtaskError::Read { path: path.to_path_buf(), error }),
        };
        toml::from_str(&text).map_err(|error| XtaskError::Strange {
            what: path.display().to_string(),
            detail: error.to_string(),
        })
    }

    /// Why a case differs on purpose, if it does.
    pub fn reason(&self, id: &str) -> Option<&str> {
        self.deliberate.get(id).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_is_read_and_a_missing_one_is_empty() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("list.toml");
        assert_eq!(Deliberate::load(&path).unwrap().reason("a"), None);
        std::fs::write(&path, "[deliberate]\na = \"because\"\n").unwrap();
        assert_eq!(Deliberate::load(&path).unwrap().reason("a"), Some("because"));
        std::fs::write(&path, "[other]\n").unwrap();
        assert!(Deliberate::load(&path).is_err());
    }
}
