//! Environment variables as a value, so that what depends on them can be
//! tried without touching those of the process.
//!
//! Variables hold keys: their values are never printed.

use std::collections::BTreeMap;
use std::ffi::{OsStr, OsString};
use std::fmt;

/// Environment variables and their values.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Environment(BTreeMap<OsString, OsString>);

impl Environment {
    /// Those of this process, as they are now.
    #[must_use]
    pub fn of_process() -> Self {
        Self(std::env::vars_os().collect())
    }

    /// The value of a variable. An empty one counts as not set, as most programs have it.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&OsStr> {
        self.0.get(OsStr::new(name)).map(OsString::as_os_str).filter(|value| !value.is_empty())
    }
}

impl<Name: Into<OsString>, Value: Into<OsString>> FromIterator<(Name, Value)> for Environment {
    fn from_iter<Pairs: IntoIterator<Item = (Name, Value)>>(pairs: Pairs) -> Self {
        Self(pairs.into_iter().map(|(name, value)| (name.into(), value.into())).collect())
    }
}

impl fmt::Debug for Environment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Environment").field(&self.0.keys().collect::<Vec<_>>()).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_never_printed_and_empty_is_not_set() {
        let environment = Environment::from_iter([("KEY", "hunter2"), ("EMPTY", "")]);
        assert_eq!(format!("{environment:?}"), r#"Environment(["EMPTY", "KEY"])"#);
        assert_eq!(environment.get("KEY"), Some(OsStr::new("hunter2")));
        assert_eq!(environment.get("EMPTY"), None);
        assert_eq!(environment.get("ABSENT"), None);
    }
}
