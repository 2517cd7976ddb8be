//! Permission rules as they are written: which layer says what about which
//! pattern, in the order of the file.
//!
//! Rules of different layers are not merged here and nothing is decided: that
//! takes the permission crate. The order matters to it, because within a layer
//! the last match wins. What the entries of lists mean is for a
//! [`FormReader`] to say.
//!
//! A file makes up to two layers. In the first are the entries of `allow`, then
//! the tables in their order: so a table can narrow what a list allows, and
//! where a list stands does not matter. In the second are `ask` and `deny`:
//! nothing in the same file loosens them.

use std::path::{Path, PathBuf};

use schemars::JsonSchema;
use schemars::generate::SchemaGenerator;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::check::Leaf;
use crate::error::{Problem, ProblemKind};
use crate::origin::{Origin, Source};
use crate::quote;

/// The table that the rules are in.
pub(crate) const TABLE: &str = "permission";

/// What a rule can be about. A name that is not here is an error: a rule that
/// silently never matches would be worse.
pub(crate) const PERMISSIONS: [(&str, &str); 7] = [
    ("read", "Reading files."),
    ("edit", "Creating and changing files."),
    ("bash", "Running commands."),
    ("webfetch", "Getting something from a server."),
    ("external_directory", "Touching what is outside of the workspace."),
    ("doom_loop", "Going on although the same call was made several times in a row."),
    ("*", "Everything."),
];

/// What a rule says.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Action {
    /// It runs. Ignored in the file of a project.
    Allow,
    /// A person is asked.
    Ask,
    /// It does not run.
    Deny,
}

impl Action {
    /// The word that users write.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Allow => "allow",
            Self::Ask => "ask",
            Self::Deny => "deny",
        }
    }

    fn from_name(name: &str) -> Option<Self> {
        [Self::Allow, Self::Ask, Self::Deny].into_iter().find(|action| action.name() == name)
    }
}

/// One rule.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PermissionRule {
    /// What it is about: `edit`, `bash`, …; `*` for everything.
    pub permission: String,
    /// Which paths, commands or hosts, with `*` and `?` as wildcards; `*` if the file gives none.
    pub pattern: String,
    /// What it says.
    pub action: Action,
    /// Where it is written.
    pub origin: Origin,
}

/// The rules of one file, or of all flags, in the order they are written in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct PermissionLayer {
    /// Who speaks.
    pub source: Source,
    /// The file, if it is one.
    pub file: Option<PathBuf>,
    /// What they say.
    pub rules: Vec<PermissionRule>,
}

/// Reads an entry of a list, and gives the rules that it stands for.
///
/// The message of an error follows after the entry: "it is more than one command".
pub type FormReader = fn(&str, Action) -> Result<Vec<FormRule>, String>;

/// A rule that an entry of a list stands for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FormRule {
    /// What it is about.
    pub permission: String,
    /// Which of it.
    pub pattern: String,
    /// What it says.
    pub action: Action,
}

/// The layers that the checked values below [`TABLE`] of one file make.
pub(crate) fn layers(
    leaves: &[Leaf],
    source: Source,
    file: Option<&Path>,
    forms: FormReader,
    problems: &mut Vec<Problem>,
) -> Vec<PermissionLayer> {
    let mut listed = |wanted: Action| -> Vec<PermissionRule> {
        let entries = leaves.iter().filter(|leaf| list(leaf) == Some(wanted));
        entries.flat_map(|leaf| entry(leaf, wanted, forms, problems)).collect()
    };
    let mut first = listed(Action::Allow);
    let mut second = listed(Action::Ask);
    second.append(&mut listed(Action::Deny));
    first.extend(leaves.iter().filter_map(rule));
    [first, second]
        .into_iter()
        .filter(|rules| !rules.is_empty())
        .map(|rules| PermissionLayer { source, file: file.map(Path::to_owned), rules })
        .collect()
}

/// What a checked value below [`TABLE`] says is to be done.
pub(crate) fn action(leaf: &Leaf) -> Option<Action> {
    list(leaf).or_else(|| rule(leaf).map(|rule| rule.action))
}

/// The list that a value stands in, if it is one of a list.
fn list(leaf: &Leaf) -> Option<Action> {
    match leaf.path.as_slice() {
        [_, list] => Action::from_name(list),
        _ => None,
    }
}

fn entry(leaf: &Leaf, action: Action, forms: FormReader, problems: &mut Vec<Problem>) -> Vec<PermissionRule> {
    let text = leaf.value.as_str().unwrap_or_default();
    let rule = |FormRule { permission, pattern, action }| PermissionRule {
        permission,
        pattern,
        action,
        origin: leaf.origin.clone(),
    };
    match forms(text, action) {
        Ok(rules) => rules.into_iter().map(rule).collect(),
        Err(message) => {
            let message = format!("has `{}`, which cannot be taken: {message}", quote::brief(text));
            let kind = ProblemKind::Malformed { key: quote::key(&leaf.path), message };
            problems.push(Problem { origin: leaf.origin.clone(), column: None, kind });
            Vec::new()
        }
    }
}

/// The rule that a checked value in a table below [`TABLE`] is.
fn rule(leaf: &Leaf) -> Option<PermissionRule> {
    if list(leaf).is_some() {
        return None;
    }
    let action = leaf.value.as_str().and_then(Action::from_name)?;
    let (permission, pattern) = match leaf.path.as_slice() {
        [_, permission] => (permission.as_str(), "*"),
        [_, permission, pattern] => (permission.as_str(), pattern.as_str()),
        _ => return None,
    };
    Some(PermissionRule {
        permission: permission.to_owned(),
        pattern: pattern.to_owned(),
        action,
        origin: leaf.origin.clone(),
    })
}

/// The schema of the table.
pub(crate) fn schema(generator: &mut SchemaGenerator) -> Value {
    let action = generator.subschema_for::<Action>().to_value();
    let lists = [Action::Allow, Action::Ask, Action::Deny].map(|action| {
        let field = json!({
            "description": match action {
                Action::Allow => "Rules for what runs: `PERMISSION:PATTERN`, or as Claude Code has them, `Bash(git log:*)`. \
                                  They count before the rules in the tables.",
                Action::Ask => "Rules for what a person is asked about, written as in `allow`. They hold whatever else \
                                the file says.",
                Action::Deny => "Rules for what does not run, written as in `allow`. They hold whatever else the file \
                                 says.",
            },
            "type": "array",
            "items": { "type": "string" },
            "x-rein-each": true,
            "x-rein-project": "narrower",
        });
        (action.name().to_owned(), field)
    });
    let properties: Map<String, Value> = PERMISSIONS
        .iter()
        .map(|(name, description)| {
            let patterns = json!({
                "type": "object", "x-rein-entry": "PATTERN", "additionalProperties": action.clone(),
            });
            let field = json!({
                "description": description,
                "anyOf": [action.clone(), patterns],
                "x-rein-project": "narrower",
            });
            ((*name).to_owned(), field)
        })
        .chain(lists)
        .collect();
    json!({
        "description": "What runs without asking, in each case one action for everything or one for each pattern. \
                        The last rule that matches counts. A project can only ask or deny.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}
