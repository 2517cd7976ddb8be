//! Rules that are to be added to somebody's settings: as text to look at, and
//! merged into the file with its comments kept.
//!
//! Entries of lists can be added to any file, because they allow nothing that
//! the file's tables do not (see `permission`). Rules in tables count in their
//! order, so they are added only to a file that has none.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use toml_edit::{Array, DocumentMut, Item, TableLike, Value};

use crate::check::Check;
use crate::document;
use crate::error::{ConfigError, Problem, ProblemKind, Problems};
use crate::origin::{Origin, Source};
use crate::permission::{self, Action};
use crate::quote;
use crate::replace::{self, Lock};
use crate::shape;

/// Rules that are to be added.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RuleAdditions {
    /// Entries of the list `allow`.
    pub allow: Vec<String>,
    /// Entries of the list `ask`.
    pub ask: Vec<String>,
    /// Entries of the list `deny`.
    pub deny: Vec<String>,
    /// Rules whose order matters: permission, pattern, action.
    pub ordered: Vec<(String, String, Action)>,
}

/// What was done to a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Written {
    /// How many rules the file did not have.
    pub added: usize,
    /// Where the file is as it was, if there was one.
    pub backup: Option<PathBuf>,
}

impl RuleAdditions {
    /// Whether there is nothing to add.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ordered.is_empty() && self.lists().iter().all(|(_, entries)| entries.is_empty())
    }

    /// As a file of settings would say it.
    #[must_use]
    pub fn to_toml(&self) -> String {
        let mut text = format!("[{}]\n", permission::TABLE);
        for (name, entries) in self.lists() {
            if entries.is_empty() {
                continue;
            }
            // Writing to a String cannot fail.
            let _ = writeln!(text, "{name} = [");
            for entry in entries {
                let _ = writeln!(text, "    {},", quote::string(entry));
            }
            text.push_str("]\n");
        }
        for (permission, pattern, action) in self.last_of_each() {
            let key = quote::key(&[permission.clone(), pattern.clone()]);
            let _ = writeln!(text, "{key} = {}", quote::string(action.name()));
        }
        text
    }

    /// Merges them into a file of settings, which is made if there is none. Nothing that is in it is changed, and
    /// what it was is kept beside it.
    ///
    /// # Errors
    /// If the file cannot be read, understood or written, or if it has rules in
    /// tables and there are some to add. Nothing has changed then.
    pub fn write(&self, file: &Path) -> Result<Written, ConfigError> {
        let directory = file.parent().unwrap_or(Path::new("/"));
        let _lock = Lock::take(directory)?;
        let before = document::read(file)?.unwrap_or_default();
        check(file, &before)?;
        let (after, added) = self.merged(file, &before)?;
        check(file, &after)?;
        if added == 0 {
            return Ok(Written { added, backup: None });
        }
        let backup = replace::back_up(file)?;
        replace::replace(file, &after)?;
        Ok(Written { added, backup })
    }

    fn merged(&self, file: &Path, before: &str) -> Result<(String, usize), ConfigError> {
        let unreadable = || wrong(file, "it cannot be edited: put the rules in by hand");
        let mut document: DocumentMut = before.parse().map_err(|_| unreadable())?;
        let Some(table) = document.get_mut(permission::TABLE) else {
            let blank = if before.is_empty() || before.ends_with("\n\n") { "" } else { "\n" };
            let end = if before.is_empty() || before.ends_with('\n') { "" } else { "\n" };
            let added =
                self.lists().iter().map(|(_, entries)| entries.len()).sum::<usize>() + self.ordered.len();
            return Ok((format!("{before}{end}{blank}{}", self.to_toml()), added));
        };
        let table = table.as_table_like_mut().ok_or_else(unreadable)?;
        if !self.ordered.is_empty() {
            return Err(ConfigError::OrderMatters { file: file.to_owned() });
        }
        let mut added = 0;
        for (name, entries) in self.lists() {
            added += extend(table, name, entries).ok_or_else(unreadable)?;
        }
        Ok((document.to_string(), added))
    }

    fn lists(&self) -> [(&'static str, &[String]); 3] {
        [
            (Action::Allow.name(), &self.allow),
            (Action::Ask.name(), &self.ask),
            (Action::Deny.name(), &self.deny),
        ]
    }

    /// The ordered rules without those that a later one of the same pattern makes void.
    fn last_of_each(&self) -> impl Iterator<Item = &(String, String, Action)> {
        self.ordered.iter().enumerate().filter_map(|(index, rule)| {
            let later = self.ordered.get(index + 1..).unwrap_or_default();
            let is_void = later.iter().any(|other| (&other.0, &other.1) == (&rule.0, &rule.1));
            (!is_void).then_some(rule)
        })
    }
}

/// Adds to a list what it has not got, and says how much that is.
fn extend(table: &mut dyn TableLike, name: &str, entries: &[String]) -> Option<usize> {
    if entries.is_empty() {
        return Some(0);
    }
    if table.get(name).is_none() {
        table.insert(name, Item::Value(Value::Array(Array::new())));
    }
    let list = table.get_mut(name)?.as_array_mut()?;
    let known: Vec<String> = list.iter().filter_map(Value::as_str).map(str::to_owned).collect();
    let new: Vec<&String> = entries.iter().filter(|entry| !known.contains(entry)).collect();
    for entry in &new {
        let mut value = Value::from(entry.as_str());
        value.decor_mut().set_prefix("\n    ");
        list.push_formatted(value);
    }
    if !new.is_empty() {
        list.set_trailing_comma(true);
        // What stands before the closing bracket may be a comment.
        if !list.trailing().as_str().is_some_and(|trailing| trailing.contains('\n')) {
            list.set_trailing("\n");
        }
    }
    Some(new.len())
}

fn check(file: &Path, text: &str) -> Result<(), ConfigError> {
    let problems = Check::file(shape::tree(), Origin::file(Source::User, file), text).problems;
    if problems.is_empty() { Ok(()) } else { Err(ConfigError::Invalid(Problems(problems))) }
}

fn wrong(file: &Path, message: &str) -> ConfigError {
    let kind = ProblemKind::Syntax { message: message.to_owned() };
    ConfigError::Invalid(Problems(vec![Problem {
        origin: Origin::file(Source::User, file),
        column: None,
        kind,
    }]))
}
