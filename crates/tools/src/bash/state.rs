//! What commands leave behind for later ones: where the shell is, variables that
//! were exported, functions that were defined.
//!
//! A later command gets its functions only if it names them, so that what it
//! gets is what [`Carried::prelude`] says: the gate reads it before the command.
//! What is secret or makes programs load code is never kept.

use std::collections::{BTreeSet, HashSet};
use std::ffi::OsStr;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::shell::{Slot, Told};

/// Bytes of variables and functions that are kept.
const MOST_BYTES: usize = 64 * 1024;

/// Variables of the shell itself.
const OWN_VARIABLES: &[&str] = &["PWD", "OLDPWD", "SHLVL", "_", "REIN_RUN", "LINES", "COLUMNS"];

/// Functions that would change how every command runs, or what keeps the state.
const OWN_FUNCTIONS: &[&str] = &[
    "builtin",
    "cd",
    "command",
    "command_not_found_handle",
    "compgen",
    "declare",
    "eval",
    "exec",
    "exit",
    "export",
    "local",
    "printf",
    "read",
    "return",
    "set",
    "shift",
    "source",
    "test",
    "trap",
    "unset",
];

static COUNT: AtomicU64 = AtomicU64::new(0);

/// What a shell left behind.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ShellState {
    /// Where it was; the workspace if nothing is said.
    pub cwd: Option<PathBuf>,
    /// Exported variables that differ from those of rein.
    pub variables: Vec<(String, String)>,
    /// Functions with their source.
    pub functions: Vec<(String, String)>,
    /// Whether programs are looked up elsewhere than by rein.
    pub path_changed: bool,
}

/// The part of a state that a command is run with.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Carried {
    pub(super) variables: Vec<(String, String)>,
    pub(super) functions: Vec<(String, String)>,
}

impl ShellState {
    /// All variables, and the functions that a command names, or that those name.
    pub(super) fn carried_into(&self, command: &str) -> Carried {
        let mut named: BTreeSet<usize> = BTreeSet::new();
        let mut texts = vec![command];
        while let Some(text) = texts.pop() {
            let words: HashSet<&str> = words(text).collect();
            for (index, (name, source)) in self.functions.iter().enumerate() {
                if words.contains(name.as_str()) && named.insert(index) {
                    texts.push(source);
                }
            }
        }
        let functions = named.iter().filter_map(|index| self.functions.get(*index).cloned()).collect();
        Carried { variables: self.variables.clone(), functions }
    }

    /// The state after a command that was run with a part of this one. If it is too large, only the
    /// directory counts, and what was too large is said.
    fn after(&self, carried: &Carried, told: Told) -> (Self, Option<String>) {
        let cwd = Some(told.cwd);
        let was_kept = |name: &str| self.variables.iter().any(|(kept, _)| kept == name);
        let variables: Vec<(String, String)> = told
            .after
            .into_iter()
            .filter(|(name, value)| told.before.get(name) != Some(value) || was_kept(name))
            .filter(|(name, value)| is_name(name) && may_be_kept(name, value))
            .collect();
        let was_carried = |name: &str| carried.functions.iter().any(|(carried, _)| carried == name);
        let told_anew = |name: &str| told.functions.iter().any(|(told, _)| told == name);
        let untouched = self.functions.iter().filter(|(name, _)| !was_carried(name) && !told_anew(name));
        let mut functions: Vec<(String, String)> = untouched.cloned().collect();
        functions.extend(told.functions.iter().filter(|(name, _)| is_kept_function(name)).cloned());
        let size = |pairs: &[(String, String)]| {
            pairs.iter().map(|(name, value)| name.len() + value.len()).sum::<usize>()
        };
        let bytes = size(&variables) + size(&functions);
        if bytes > MOST_BYTES {
            let notice = format!(
                "variables and functions are kept as before this command: {bytes} bytes are more than {MOST_BYTES}"
            );
            return (Self { cwd, ..self.clone() }, Some(notice));
        }
        let path_changed = variables.iter().any(|(name, _)| name == "PATH");
        (Self { cwd, variables, functions, path_changed }, None)
    }
}

impl Carried {
    /// Shell text that defines the functions.
    pub(super) fn definitions(&self) -> String {
        self.functions.iter().map(|(_, source)| format!("{source}\n")).collect()
    }

    /// Shell text that says all of it.
    pub(super) fn prelude(&self) -> String {
        let variables = self
            .variables
            .iter()
            .map(|(name, value)| format!("export {name}='{}'\n", value.replace('\'', r"'\''")));
        variables.collect::<String>() + &self.definitions()
    }
}

/// What could be names of functions in a text.
fn words(text: &str) -> impl Iterator<Item = &str> {
    text.split(|character: char| {
        !(character.is_alphanumeric() || matches!(character, '_' | '-' | '.' | ':' | '+' | '@' | ','))
    })
    .filter(|word| !word.is_empty())
}

fn is_name(name: &str) -> bool {
    name.starts_with(|first: char| first.is_ascii_alphabetic() || first == '_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
}

fn may_be_kept(name: &str, value: &str) -> bool {
    !OWN_VARIABLES.contains(&name) && rein_sandbox::may_be_told(OsStr::new(name), OsStr::new(value))
}

fn is_kept_function(name: &str) -> bool {
    let is_word = !name.is_empty() && words(name).next() == Some(name);
    is_word && !name.starts_with("__rein_") && !OWN_FUNCTIONS.contains(&name)
}

/// The state of a conversation's shell.
#[derive(Debug, Default)]
pub struct SharedShellState {
    inside: Mutex<Inside>,
    /// Given by the owner, or made when it is needed.
    given: Option<PathBuf>,
}

#[derive(Debug, Default)]
struct Inside {
    state: ShellState,
    /// Made here, and removed with this value.
    made: Option<PathBuf>,
    slots: u64,
    hinted: HashSet<&'static str>,
}

impl SharedShellState {
    /// One whose shells tell their state through files in this directory, which they must be able to
    /// write to and others must not. Without one, a private directory for temporary files is made.
    #[must_use]
    pub fn in_directory(directory: PathBuf) -> Self {
        Self { inside: Mutex::default(), given: Some(directory) }
    }

    /// What was left behind last.
    #[must_use]
    pub fn get(&self) -> ShellState {
        self.inside().state.clone()
    }

    /// The directory that shells must be able to write to; made now if there is none yet.
    #[must_use]
    pub fn directory(&self) -> Option<PathBuf> {
        let mut inside = self.inside();
        if let Some(directory) = self.given.as_ref().or(inside.made.as_ref()) {
            return Some(directory.clone());
        }
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
        let name = format!("rein-shell-{}-{count}-{}", std::process::id(), now.as_nanos());
        let directory = std::env::temp_dir().join(name);
        // Fails if somebody else was there first.
        std::fs::DirBuilder::new().mode(0o700).create(&directory).ok()?;
        inside.made = Some(directory.clone());
        Some(directory)
    }

    /// Where the next shell tells its state.
    pub(super) fn slot(&self) -> Option<Slot> {
        let directory = self.directory()?;
        let mut inside = self.inside();
        inside.slots += 1;
        Some(Slot::new(directory.join(format!("state-{}", inside.slots))))
    }

    /// Takes what a shell told. Says what could not be kept.
    pub(super) fn take(&self, carried: &Carried, told: Told) -> Option<String> {
        let mut inside = self.inside();
        let (state, notice) = inside.state.after(carried, told);
        inside.state = state;
        notice
    }

    /// Whether a hint of this kind is given for the first time.
    pub(super) fn is_new_hint(&self, kind: &'static str) -> bool {
        self.inside().hinted.insert(kind)
    }

    fn inside(&self) -> MutexGuard<'_, Inside> {
        self.inside.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for SharedShellState {
    fn drop(&mut self) {
        if let Some(made) = self.inside().made.take() {
            // What cannot be removed is empty files in the directory for temporary ones.
            let _ = std::fs::remove_dir_all(made);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state() -> ShellState {
        let function = |name: &str, body: &str| (name.to_owned(), format!("{name} () \n{{ \n    {body}\n}}"));
        ShellState {
            cwd: None,
            variables: vec![("A".into(), "it's".into())],
            functions: vec![
                function("greet", "say hello"),
                function("say", "echo \"$@\""),
                function("other", "ls"),
            ],
            path_changed: false,
        }
    }

    #[test]
    fn a_command_gets_the_functions_that_it_names_and_those_that_these_name() {
        let names = |command: &str| {
            let carried = state().carried_into(command);
            carried.functions.into_iter().map(|(name, _)| name).collect::<Vec<_>>()
        };
        assert_eq!(names("greet"), ["greet", "say"]);
        assert_eq!(names("x=$(say hi)"), ["say"]);
        assert_eq!(names("ls greeting sayer"), Vec::<String>::new());
        assert_eq!(
            state().carried_into("say x").prelude(),
            "export A='it'\\''s'\nsay () \n{ \n    echo \"$@\"\n}\n"
        );
    }

    #[test]
    fn what_is_secret_or_treacherous_is_not_kept() {
        let told = |after: &[(&str, &str)]| Told {
            cwd: "/w".into(),
            after: after.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
            ..Told::default()
        };
        let (state, notice) = ShellState::default().after(
            &Carried::default(),
            told(&[
                ("PLAIN", "1"),
                ("PATH", "/x"),
                ("API_TOKEN", "2"),
                ("LD_PRELOAD", "x"),
                ("BASH_ENV", "x"),
                ("PWD", "/w"),
                ("PAGER", "less"),
                ("odd name", "x"),
            ]),
        );
        assert_eq!(state.variables, [("PLAIN".into(), "1".into()), ("PATH".into(), "/x".into())]);
        assert!(state.path_changed && notice.is_none());
        let (state, notice) = state.after(&Carried::default(), told(&[("BIG", &"x".repeat(70_000))]));
        assert_eq!(state.variables.len(), 2, "as before");
        assert!(notice.is_some_and(|notice| notice.contains("70003 bytes are more than 65536")));
    }
}
