//! Settings for people and programs to look at, with where each comes from.
//!
//! Built from what [`Settings`](crate::Settings) serialises to, which masks
//! secrets: there is nothing here that could show one.

use std::fmt::Write;

use serde_json::{Value, json};

use crate::load::Loaded;
use crate::origin::Origin;
use crate::permission;
use crate::quote;
use crate::shape::{self, Node, Shape};

/// Whether to say where a value comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ShowOrigin {
    /// As a comment behind each.
    Yes,
    /// Values only.
    No,
}

impl Loaded {
    /// Every setting and every rule, one a line, as TOML with dotted keys.
    #[must_use]
    pub fn show(&self, origin: ShowOrigin) -> String {
        let mut shown = String::new();
        let mut line = |key: &str, value: &str, from: &Origin| {
            // Writing to a String cannot fail.
            let _ = match origin {
                ShowOrigin::Yes => writeln!(shown, "{key} = {value}  # {from}"),
                ShowOrigin::No => writeln!(shown, "{key} = {value}"),
            };
        };
        let mut unset = Vec::new();
        for (path, value, from) in self.entries() {
            match value {
                Value::Null => unset.push(path),
                value => line(&quote::key(&path), &toml_text(&value), &from),
            }
        }
        for rule in self.permission.iter().flat_map(|layer| &layer.rules) {
            let path = [permission::TABLE, &rule.permission, &rule.pattern].map(str::to_owned);
            line(&quote::key(&path), &quote::string(rule.action.name()), &rule.origin);
        }
        for path in unset {
            let _ = writeln!(shown, "# {} is not set", quote::key(&path));
        }
        shown
    }

    /// The same for programs, with warnings and the files that were read.
    #[must_use]
    pub fn show_json(&self) -> Value {
        let settings: Vec<Value> = self
            .entries()
            .into_iter()
            .map(
                |(path, value, origin)| json!({ "key": quote::key(&path), "value": value, "origin": origin }),
            )
            .collect();
        let rules: Vec<Value> =
            self.permission.iter().flat_map(|layer| &layer.rules).map(|rule| json!(rule)).collect();
        json!({
            "workspace": self.workspace.to_string_lossy(),
            "files": self.files.iter().map(|file| file.to_string_lossy()).collect::<Vec<_>>(),
            "settings": settings,
            "permission": rules,
            "grants": self.grants,
            "warnings": self.warnings.iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    }

    /// Every value in the order of the types, and below a map in the order of names.
    pub(crate) fn entries(&self) -> Vec<(Vec<String>, Value, Origin)> {
        let values = serde_json::to_value(&self.settings).unwrap_or_default();
        let mut entries = Vec::new();
        self.collect(shape::tree(), &values, &mut Vec::new(), &mut entries);
        entries
    }

    fn collect(
        &self,
        node: &Node,
        value: &Value,
        path: &mut Vec<String>,
        entries: &mut Vec<(Vec<String>, Value, Origin)>,
    ) {
        if path.first().is_some_and(|key| key == permission::TABLE) {
            return;
        }
        let origin = self.origins.get(&quote::key(path));
        match (&node.shape, value) {
            (Shape::Table(fields), value) => {
                if let Some(origin) = origin {
                    entries.push((path.clone(), json!({}), origin.clone()));
                }
                for (name, field) in fields {
                    path.push(name.clone());
                    self.collect(field, value.get(name).unwrap_or(&Value::Null), path, entries);
                    path.pop();
                }
            }
            (Shape::Map { node, .. }, Value::Object(below)) => {
                for (name, value) in below {
                    path.push(name.clone());
                    self.collect(node, value, path, entries);
                    path.pop();
                }
            }
            // What nobody set about a provider is not worth a line.
            (_, value) => {
                if let Some(origin) = origin {
                    entries.push((path.clone(), value.clone(), origin.clone()));
                }
            }
        }
    }
}

pub(crate) fn toml_text(value: &Value) -> String {
    match value {
        Value::String(text) => quote::string(text),
        Value::Array(items) => format!("[{}]", items.iter().map(toml_text).collect::<Vec<_>>().join(", ")),
        other => other.to_string(),
    }
}
