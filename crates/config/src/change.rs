//! One setting in somebody's own file, written or taken out, with everything
//! else in the file as it was, comments too.

use std::path::Path;

use toml_edit::{DocumentMut, Item, TableLike};

use crate::check::Check;
use crate::document;
use crate::error::{ConfigError, Problem, ProblemKind, Problems};
use crate::flag::{self, Flag};
use crate::origin::{Origin, Source};
use crate::replace::{self, Lock};
use crate::shape;

/// Writes a setting into a file, which is made if there is none, or takes it out of there if there is no value.
/// The key is dotted and quoted as in TOML; where a text can stand, the value needs no quotes.
///
/// # Errors
/// If there is no such setting, if it does not take the value, or if the file
/// cannot be read, understood or written. Nothing has changed then.
pub fn change(file: &Path, key: &str, value: Option<&str>) -> Result<(), ConfigError> {
    let flag = Flag::assignment(key, &format!("{key}={}", value.unwrap_or_default()))?;
    let value = value.map(|_| checked(&flag)).transpose()?;
    let directory = file.parent().unwrap_or(Path::new("/"));
    let _lock = Lock::take(directory)?;
    let before = document::read(file)?.unwrap_or_default();
    check(file, &before)?;
    let mut document: DocumentMut = before.parse().map_err(|_| unreadable(file))?;
    match value {
        Some(value) => insert(document.as_table_mut(), flag.path(), value).ok_or_else(|| unreadable(file))?,
        None => remove(document.as_table_mut(), flag.path()),
    }
    let after = document.to_string();
    check(file, &after)?;
    if after == before {
        return Ok(());
    }
    replace::replace(file, &after)
}

/// The value as the setting takes it.
fn checked(flag: &Flag) -> Result<toml_edit::Value, ConfigError> {
    let mut problems = Vec::new();
    let leaves = flag::of_flags(shape::tree(), std::slice::from_ref(flag), &mut problems);
    if !problems.is_empty() {
        return Err(ConfigError::Invalid(Problems(problems)));
    }
    let leaf = leaves.into_iter().next().ok_or_else(|| wrong(Origin::flag("value")))?;
    // Written by one crate and read by its sibling: what is TOML there is TOML here.
    leaf.value.to_string().parse().map_err(|_| wrong(Origin::flag("value")))
}

fn check(file: &Path, text: &str) -> Result<(), ConfigError> {
    let check = Check::file(shape::tree(), Origin::file(Source::User, file), text);
    match check.problems.is_empty() {
        true => Ok(()),
        false => Err(ConfigError::Invalid(Problems(check.problems))),
    }
}

fn insert(table: &mut dyn TableLike, path: &[String], mut value: toml_edit::Value) -> Option<()> {
    let (key, below) = path.split_first()?;
    if below.is_empty() {
        // The comment beside the old value stays beside the new one.
        match table.get_mut(key).and_then(Item::as_value_mut) {
            Some(old) => {
                *value.decor_mut() = old.decor().clone();
                *old = value;
            }
            None => {
                table.insert(key, Item::Value(value));
            }
        }
        return Some(());
    }
    if table.get(key).is_none() {
        table.insert(key, Item::Table(toml_edit::Table::new()));
    }
    insert(table.get_mut(key)?.as_table_like_mut()?, below, value)
}

fn remove(table: &mut dyn TableLike, path: &[String]) {
    let Some((key, below)) = path.split_first() else { return };
    match below.is_empty() {
        true => {
            table.remove(key);
        }
        false => {
            if let Some(inner) = table.get_mut(key).and_then(Item::as_table_like_mut) {
                remove(inner, below);
            }
        }
    }
}

fn unreadable(file: &Path) -> ConfigError {
    wrong(Origin::file(Source::User, file))
}

fn wrong(origin: Origin) -> ConfigError {
    ConfigError::Invalid(Problems(vec![Problem { origin, column: None, kind: ProblemKind::Unusable }]))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_setting_is_written_changed_and_taken_out_and_the_rest_stays() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("rein/config.toml");
        change(&file, "theme", Some("dark")).unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap(), "theme = \"dark\"\n");
        fs::write(&file, "# mine\nmode = \"write\" # quick\n\n[bash]\ntimeout = 5\n").unwrap();
        change(&file, "mode", Some("plan")).unwrap();
        change(&file, "bash.most_jobs", Some("3")).unwrap();
        change(&file, "network.idle_timeout", Some("60")).unwrap();
        change(&file, "bash.timeout", None).unwrap();
        let text = fs::read_to_string(&file).unwrap();
        assert_eq!(
            text,
            "# mine\nmode = \"plan\" # quick\n\n[bash]\nmost_jobs = 3\n\n[network]\nidle_timeout = 60\n"
        );
    }

    #[test]
    fn what_makes_no_sense_changes_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let file = directory.path().join("config.toml");
        fs::write(&file, "mode = \"write\"\n").unwrap();
        assert!(change(&file, "mode", Some("loose")).is_err());
        assert!(change(&file, "mod", Some("plan")).is_err());
        assert!(change(&file, "bash.timeout", Some("soon")).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "mode = \"write\"\n");
        fs::write(&file, "mode = \n").unwrap();
        assert!(change(&file, "mode", Some("plan")).is_err());
        assert_eq!(fs::read_to_string(&file).unwrap(), "mode = \n");
    }
}
