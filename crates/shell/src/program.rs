//! Which row of the tables a command is, and what its words are then.

use crate::effect::Effect;
use crate::options::{Told, Until};
use crate::tables::{Inner, Row, Tables};
use crate::word::Word;

/// Directories whose programs are those that bare names mean.
const SYSTEM: [&str; 11] = [
    "/bin",
    "/sbin",
    "/usr/bin",
    "/usr/sbin",
    "/usr/local/bin",
    "/usr/local/sbin",
    "/opt/homebrew/bin",
    "/opt/homebrew/sbin",
    "/opt/local/bin",
    "/snap/bin",
    "/run/current-system/sw/bin",
];

/// A command, found in the tables.
pub(crate) struct Resolved {
    pub row: &'static Row,
    /// The key of the row: `git log`.
    pub key: String,
    /// Options before the sub-command, with the key of the row they belong to.
    pub globals: Vec<(String, Told)>,
    /// Options and operands after it.
    pub told: Told,
    /// The words after the sub-command.
    pub rest: Vec<Word>,
    /// The words up to and with the sub-command, options left out.
    pub names: Vec<Word>,
    /// A sub-command stands there that no row is about.
    pub stranger: Option<Word>,
}

impl Resolved {
    /// The words as rules should match them.
    pub fn canonical(&self) -> Vec<Word> {
        self.names.iter().chain(&self.rest).cloned().collect()
    }
}

/// The name that tables know a program by. The ending of Windows' programs and, for languages and compilers, a
/// version are taken off: `python3.11`, `MSBuild.exe`. A version is not taken off what only reads, so that `cat2` is
/// not `cat`.
pub(crate) fn table_name<'t>(name: &str, tables: &'t Tables) -> Option<&'t str> {
    if let Some(known) = known(name, tables) {
        return Some(known);
    }
    let lower = name.to_lowercase();
    let stem = [".exe", ".cmd", ".bat"].iter().find_map(|ending| lower.strip_suffix(ending));
    if let Some(known) = stem.and_then(|stem| known(stem, tables)) {
        return Some(known);
    }
    let stem = stem.unwrap_or(name);
    let unversioned = stem.trim_end_matches(|last: char| last.is_ascii_digit() || last == '.' || last == '-');
    known(unversioned, tables)
        .filter(|known| tables.rows.get(*known).is_some_and(|row| row.effect >= Effect::Project))
}

fn known<'t>(name: &str, tables: &'t Tables) -> Option<&'t str> {
    match tables.rows.get_key_value(name) {
        Some((name, _)) => Some(name),
        None => tables.synonyms.get(name).map(String::as_str),
    }
}

/// The bare name of a program in a system directory.
pub(crate) fn system_name(path: &str) -> Option<&str> {
    let (directory, name) = path.rsplit_once('/')?;
    (SYSTEM.contains(&directory) && !name.is_empty()).then_some(name)
}

/// The last part of a path, in either style.
pub(crate) fn file_name(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Finds the row for a program and its arguments.
pub(crate) fn resolve(name: &str, arguments: &[Word], tables: &'static Tables) -> Option<Resolved> {
    let mut key = table_name(name, tables)?.to_owned();
    let mut row = tables.rows.get(&key)?;
    let mut names = vec![Word::text(name)];
    let mut globals = Vec::new();
    let mut rest = arguments;
    let mut stranger = None;
    while row.branches {
        let told = row.options.tell(rest, Until::Operand);
        let Some(word) = rest.get(told.length) else { break };
        let child = word.literal().map(|word| format!("{key} {word}"));
        let Some((child, found)) = child.and_then(|child| tables.rows.get(&child).map(|row| (child, row)))
        else {
            stranger = Some(word.clone());
            rest = rest.get(told.length..).unwrap_or_default();
            globals.push((key.clone(), told));
            break;
        };
        rest = rest.get(told.length + 1..).unwrap_or_default();
        names.push(word.clone());
        globals.push((std::mem::replace(&mut key, child), told));
        row = found;
    }
    let until = match (row.interpreter, row.inner) {
        (true, _) => Until::Program,
        (false, Some(inner)) if inner != Inner::Options => Until::Operand,
        _ => Until::End,
    };
    let told = row.options.tell(rest, until);
    Some(Resolved { row, key, globals, told, rest: rest.to_vec(), names, stranger })
}
