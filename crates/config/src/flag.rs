//! Settings that are given as text: flags and environment variables.
//!
//! The text becomes a value by what the setting takes: where a string can
//! stand, nobody needs to write quotes.

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::check::{Check, Leaf};
use crate::environment::Environment;
use crate::error::{ConfigError, Problem, ProblemKind, Problems};
use crate::origin::Origin;
use crate::shape::{Node, Secrecy, Shape};

/// A setting from the command line.
#[derive(Clone, PartialEq, Eq)]
pub struct Flag {
    name: String,
    path: Vec<String>,
    value: String,
}

impl std::fmt::Debug for Flag {
    /// Without the value, which could be a key.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Flag").field("name", &self.name).field("path", &self.path).finish_non_exhaustive()
    }
}

impl Flag {
    /// What the flag `name` (`--model`) sets: a path of keys, not quoted.
    pub fn new<Key: Into<String>>(
        name: impl Into<String>,
        path: impl IntoIterator<Item = Key>,
        value: impl Into<String>,
    ) -> Self {
        Self { name: name.into(), path: path.into_iter().map(Into::into).collect(), value: value.into() }
    }

    /// The keys that lead to the setting.
    pub(crate) fn path(&self) -> &[String] {
        &self.path
    }

    /// What a flag `name` (`-c`) with `KEY=VALUE` sets. The key is dotted and quoted as in TOML.
    ///
    /// # Errors
    /// If there is no `=` after something that is a key.
    pub fn assignment(name: &str, assignment: &str) -> Result<Self, ConfigError> {
        let places = assignment.char_indices().filter(|(_, character)| *character == '=').map(|(at, _)| at);
        places
            .filter_map(|at| Some((assignment.get(..at)?, assignment.get(at + 1..)?)))
            .find_map(|(key, value)| Some(Self::new(name, keys(key)?, value.trim())))
            .ok_or_else(|| {
                let kind = ProblemKind::NotAnAssignment;
                ConfigError::Invalid(Problems(vec![Problem {
                    origin: Origin::flag(name),
                    column: None,
                    kind,
                }]))
            })
    }
}

/// The parts of a dotted key.
fn keys(dotted: &str) -> Option<Vec<String>> {
    if dotted.contains(['\n', '\r']) {
        return None;
    }
    let document = format!("{dotted}=0");
    let parsed = DeTable::parse(&document).ok()?;
    let mut path = Vec::new();
    let mut table = parsed.get_ref();
    loop {
        let (key, value) = table.iter().next()?;
        path.push(key.get_ref().clone().into_owned());
        match value.get_ref() {
            DeValue::Table(below) => table = below,
            _ => return Some(path),
        }
    }
}

/// What the flags set, in their order.
pub(crate) fn of_flags(root: &Node, flags: &[Flag], problems: &mut Vec<Problem>) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    for flag in flags {
        let mut found = of_text(root, Origin::flag(&flag.name), &flag.path, &flag.value);
        leaves.append(&mut found.leaves);
        problems.append(&mut found.problems);
    }
    leaves
}

/// What the environment sets.
pub(crate) fn of_environment(
    root: &Node,
    environment: &Environment,
    problems: &mut Vec<Problem>,
) -> Vec<Leaf> {
    let mut leaves = Vec::new();
    root.visit_fixed(&mut Vec::new(), &mut |path, node| {
        let Some(name) = variable(path, node) else { return };
        let Some(value) = environment.get(&name) else { return };
        let origin = Origin::environment(&name);
        match value.to_str() {
            Some(text) => {
                let mut found = of_text(root, origin, path, text);
                leaves.append(&mut found.leaves);
                problems.append(&mut found.problems);
            }
            None => problems.push(Problem { origin, column: None, kind: ProblemKind::NotUtf8 }),
        }
    });
    leaves
}

/// The environment variable for a setting, if it can have one: rules cannot.
pub(crate) fn variable(path: &[String], node: &Node) -> Option<String> {
    match &node.shape {
        Shape::Text { secrecy: Secrecy::Open, .. }
        | Shape::Choice(_)
        | Shape::Integer { .. }
        | Shape::Number { .. }
        | Shape::Boolean => Some(format!("REIN_{}", path.join("_").to_uppercase())),
        Shape::Text { secrecy: Secrecy::Secret, .. }
        | Shape::List(_)
        | Shape::Each(_)
        | Shape::Map { .. }
        | Shape::Table(_)
        | Shape::Either(_) => None,
    }
}

fn of_text<'a>(root: &'a Node, origin: Origin, path: &[String], text: &str) -> Check<'a> {
    let mut check = Check::of_text(root, origin);
    let found = path.iter().try_fold((root, root), |(_, node), key| Some((node, check.enter(node, key, 0)?)));
    if let Some((parent, node)) = found {
        check.entry(parent, node, &value(&node.shape, text), 0);
        check.leaves.sort_by_key(|leaf| leaf.position);
    }
    check
}

fn value<'a>(shape: &Shape, text: &'a str) -> Spanned<DeValue<'a>> {
    let is_text = match shape {
        Shape::Text { .. } | Shape::Choice(_) => true,
        Shape::Either(alternatives) => {
            alternatives.iter().any(|node| matches!(node.shape, Shape::Text { .. } | Shape::Choice(_)))
        }
        _ => false,
    };
    let as_string = || Spanned::new(0..text.len(), DeValue::String(text.into()));
    if is_text && !text.starts_with(['"', '\'', '{', '[']) {
        return as_string();
    }
    DeValue::parse(text).unwrap_or_else(|_| as_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_assignment_is_split_where_the_key_ends() {
        for (text, path, value) in [
            ("mode=plan", vec!["mode"], "plan"),
            (" bash.timeout = 5 ", vec!["bash", "timeout"], "5"),
            ("model=a/b=c", vec!["model"], "a/b=c"),
            (r#"permission.bash."A=1 *"=deny"#, vec!["permission", "bash", "A=1 *"], "deny"),
            ("permission.bash.'x=y'=ask", vec!["permission", "bash", "x=y"], "ask"),
            ("model=", vec!["model"], ""),
        ] {
            assert_eq!(Flag::assignment("-c", text).unwrap(), Flag::new("-c", path, value), "{text}");
        }
        for text in ["", "mode", "=x", "a b=c", "a.=c", "a=1\nb", "[x]\na=1"] {
            let wrong = Flag::assignment("-c", text);
            if text == "a=1\nb" {
                assert_eq!(wrong.unwrap(), Flag::new("-c", ["a"], "1\nb"));
                continue;
            }
            assert_eq!(
                wrong.unwrap_err().to_string(),
                "-c: write KEY=VALUE, for example `mode=plan`",
                "{text}"
            );
        }
    }

    #[test]
    fn a_flag_is_printed_without_its_value() {
        let flag = Flag::new("-c", ["provider", "x", "key"], "hunter2");
        assert_eq!(format!("{flag:?}"), r#"Flag { name: "-c", path: ["provider", "x", "key"], .. }"#);
    }
}
