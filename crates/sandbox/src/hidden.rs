//! Secrets that only this process knows to be such: variables that settings
//! name, and values that are keys, whatever the variable is called. And the
//! process itself, whose own environment holds them.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt;
use std::sync::{PoisonError, RwLock};

/// A shorter value says nothing: it may well be the value of other things.
const SHORTEST: usize = 8;
/// A value of this length is also found inside of others.
const TELLING: usize = 16;

static HIDDEN: RwLock<Hidden> = RwLock::new(Hidden { names: Vec::new(), values: Vec::new() });

/// What children must not be told.
struct Hidden {
    names: Vec<OsString>,
    values: Vec<OsString>,
}

impl Hidden {
    fn holds(&self, name: &OsStr, value: &OsStr) -> bool {
        self.names.iter().any(|hidden| hidden == name)
            || self.values.iter().any(|hidden| reveals(value.as_bytes(), hidden.as_bytes()))
    }
}

/// From now on no child of this process gets a variable of these names, or one whose value is,
/// or if it is long enough contains, one of these values.
pub fn hide_variables(names: impl IntoIterator<Item = OsString>, values: impl IntoIterator<Item = OsString>) {
    let mut hidden = HIDDEN.write().unwrap_or_else(PoisonError::into_inner);
    for name in names {
        if !hidden.names.contains(&name) {
            hidden.names.push(name);
        }
    }
    for value in values {
        if !hidden.values.contains(&value) {
            hidden.values.push(value);
        }
    }
}

/// Keeps other processes of the same user, above all the own children, from reading this one's
/// environment and memory. Children that are programs of their own are not affected.
pub fn protect_process() {
    #[cfg(target_os = "linux")]
    {
        use rustix::process::{DumpableBehavior, set_dumpable_behavior};
        // A kernel that refuses this leaves things as they are everywhere else.
        let _ = set_dumpable_behavior(DumpableBehavior::NotDumpable);
    }
}

/// The variables without those that are hidden.
pub(crate) fn visible(
    variables: impl IntoIterator<Item = (OsString, OsString)>,
) -> Vec<(OsString, OsString)> {
    let hidden = HIDDEN.read().unwrap_or_else(PoisonError::into_inner);
    variables.into_iter().filter(|(name, value)| !hidden.holds(name, value)).collect()
}

fn reveals(value: &[u8], secret: &[u8]) -> bool {
    match secret.len() {
        0..SHORTEST => false,
        SHORTEST..TELLING => value == secret,
        length => value.windows(length).any(|window| window == secret),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_or_a_value_is_enough() {
        let hidden = Hidden {
            names: vec!["LLM".into()],
            values: vec!["on".into(), "hunter2-hunter2".into(), "sk-0123456789abcdef".into()],
        };
        let holds = |name: &str, value: &str| hidden.holds(name.as_ref(), value.as_ref());
        assert!(holds("LLM", ""));
        assert!(holds("COPY", "hunter2-hunter2"));
        assert!(holds("HEADERS", "authorization: Bearer sk-0123456789abcdef"));
        assert!(!holds("LLM_MODEL", "x") && !holds("llm", "x"));
        assert!(!holds("FLAG", "on"), "too short to be a secret");
        assert!(!holds("PATH", "/home/hunter2-hunter2/bin"), "too short to be looked for inside");
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_protected_process_cannot_be_looked_into() {
        use rustix::process::{DumpableBehavior, dumpable_behavior};
        protect_process();
        assert_eq!(dumpable_behavior().unwrap(), DumpableBehavior::NotDumpable);
    }
}
