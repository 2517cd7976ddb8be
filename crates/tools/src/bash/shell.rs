//! How a shell gets what earlier commands left behind, and tells what it leaves.
//!
//! The command line is evaluated by a script of one line, so that line numbers
//! in messages stay those of the command. Variables come by the environment,
//! functions as a text that defines those which the command names. When the
//! command is over, by its end, by `exit` or by a signal that can be caught, the
//! shell writes its state to a file. A command that sets its own trap for the
//! exit and then exits early keeps its trap, and its state is not known; so it
//! is with one that is killed or replaces the shell.
//!
//! The file holds texts that end with NUL: variables as `name=value`; and, with
//! a blank before, which no name has, ` C` and the directory, ` F` and a function
//! with its source in the next text, and ` E` at its end.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::io::Read;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, OFlags};

/// A file that is larger says nothing that could be kept.
const MOST_BYTES: u64 = 1024 * 1024;

/// `$1` is the file, `$2` defines functions, `$3` is the command.
const BASH: &str = concat!(
    r#"__rein_file=$1 __rein_command=$3 __rein_done=; "#,
    r#"__rein_variables() { builtin compgen -e >| "$__rein_file.names"; "#,
    r#"while IFS= builtin read -r __rein_name; do builtin printf '%s=%s\0' "$__rein_name" "${!__rein_name}"; "#,
    r#"done < "$__rein_file.names"; }; "#,
    r#"__rein_functions() { builtin declare -F >| "$__rein_file.names"; "#,
    r#"while IFS= builtin read -r __rein_name; do __rein_name=${__rein_name##* }; "#,
    r#"builtin printf ' F%s\0' "$__rein_name"; builtin declare -f "$__rein_name"; builtin printf '\0'; "#,
    r#"done < "$__rein_file.names"; }; "#,
    r#"__rein_end() { __rein_code=$?; builtin local -; builtin set +euxv; "#,
    r#"if builtin test -z "$__rein_done"; then __rein_done=1; { builtin printf ' C%s\0' "$PWD"; "#,
    r#"__rein_variables; __rein_functions; builtin printf ' E\0'; } >| "$__rein_file.after"; fi; "#,
    r#"builtin return $__rein_code; }; "#,
    r#"{ __rein_variables >| "$__rein_file.before"; builtin eval "$2"; } 2>/dev/null; builtin set --; "#,
    r#"builtin trap '{ __rein_end; } >/dev/null 2>&1' EXIT; "#,
    r#"builtin eval "$__rein_command"; { __rein_end; } >/dev/null 2>&1"#,
);

/// The same without functions, for shells that cannot list them.
const PLAIN: &str = concat!(
    r#"__rein_file=$1 __rein_command=$3 __rein_done=; "#,
    r#"__rein_end() { __rein_code=$?; set +euxv; if [ -z "$__rein_done" ]; then __rein_done=1; "#,
    r#"{ printf ' C%s\0' "$PWD"; /usr/bin/env -0; printf ' E\0'; } >| "$__rein_file.after"; fi; "#,
    r#"return $__rein_code; }; "#,
    r#"{ /usr/bin/env -0 >| "$__rein_file.before"; } 2>/dev/null; set --; "#,
    r#"trap '{ __rein_end; } >/dev/null 2>&1' EXIT; "#,
    r#"eval "$__rein_command"; { __rein_end; } >/dev/null 2>&1"#,
);

/// Nothing is told.
const BASH_SILENT: &str = r#"__rein_command=$3; { builtin eval "$2"; } 2>/dev/null; builtin set --; builtin eval "$__rein_command""#;
const PLAIN_SILENT: &str = r#"__rein_command=$3; set --; eval "$__rein_command""#;

/// Where a shell tells its state.
#[derive(Debug)]
pub(super) struct Slot {
    file: PathBuf,
}

/// What a shell told.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    pub(super) cwd: PathBuf,
    /// At the beginning and at the end.
    pub(super) before: HashMap<String, String>,
    pub(super) after: Vec<(String, String)>,
    pub(super) functions: Vec<(String, String)>,
}

/// The script that evaluates a command.
pub(super) fn script(shell: &Path, slot: Option<&Slot>) -> &'static str {
    let is_bash = shell.file_name().is_some_and(|name| name.as_bytes().starts_with(b"bash"));
    match (is_bash, slot) {
        (true, Some(_)) => BASH,
        (true, None) => BASH_SILENT,
        (false, Some(_)) => PLAIN,
        (false, None) => PLAIN_SILENT,
    }
}

impl Slot {
    pub(super) fn new(file: PathBuf) -> Self {
        Self { file }
    }

    pub(super) fn file(&self) -> &Path {
        &self.file
    }

    fn part(&self, name: &str) -> PathBuf {
        let mut path = self.file.clone().into_os_string();
        path.push(".");
        path.push(name);
        path.into()
    }

    /// What the shell told, if it came to that.
    pub(super) fn read(&self) -> Option<Told> {
        let before = read(&self.part("before"))?;
        let after = read(&self.part("after"))?;
        let before = texts(&before).filter_map(variable).collect();
        let mut told = Told { before, ..Told::default() };
        let mut is_whole = false;
        let mut parts = texts(&after);
        while let Some(part) = parts.next() {
            match part {
                b" E" => is_whole = true,
                [b' ', b'C', cwd @ ..] => told.cwd = PathBuf::from(OsStr::from_bytes(cwd)),
                [b' ', b'F', name @ ..] => {
                    let source = parts.next()?;
                    if let (Ok(name), Ok(source)) = (std::str::from_utf8(name), std::str::from_utf8(source)) {
                        told.functions.push((name.to_owned(), source.trim_end().to_owned()));
                    }
                }
                other => told.after.extend(variable(other)),
            }
        }
        (is_whole && told.cwd.is_absolute()).then_some(told)
    }
}

impl Drop for Slot {
    fn drop(&mut self) {
        for name in ["before", "after", "names"] {
            // Most were never there, or are gone with their directory.
            let _ = std::fs::remove_file(self.part(name));
        }
    }
}

/// A file that the command may have put there: it could be a link, a pipe, or endless.
fn read(path: &Path) -> Option<Vec<u8>> {
    let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let file = std::fs::File::from(rustix::fs::open(path, flags, Mode::empty()).ok()?);
    if !file.metadata().ok()?.is_file() {
        return None;
    }
    let mut bytes = Vec::new();
    let read = file.take(MOST_BYTES + 1).read_to_end(&mut bytes).ok()?;
    (read as u64 <= MOST_BYTES).then_some(bytes)
}

fn texts(bytes: &[u8]) -> impl Iterator<Item = &[u8]> {
    bytes.split(|byte| *byte == 0).filter(|text| !text.is_empty())
}

/// One that is no UTF-8 is not kept.
fn variable(text: &[u8]) -> Option<(String, String)> {
    let (name, value) = std::str::from_utf8(text).ok()?.split_once('=')?;
    Some((name.to_owned(), value.to_owned()))
}
