//! Permission rules as they are written: which layer says what about which
//! pattern, in the order of the file.
//!
//! Rules of different layers are not merged here and nothing is decided: that
//! takes the permission crate. The order matters to it, because within a layer
//! the last match wins.

use std::path::PathBuf;

use schemars::JsonSchema;
use schemars::generate::SchemaGenerator;
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::check::Leaf;
use crate::origin::{Origin, Source};

/// The table that the rules are in.
pub(crate) const TABLE: &str = "permission";

/// What a rule can be about. A name that is not here is an error: a rule that
/// silently never matches would be worse.
const PERMISSIONS: [(&str, &str); 7] = [
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

/// The rule that a checked value below [`TABLE`] is.
pub(crate) fn rule(leaf: &Leaf) -> Option<PermissionRule> {
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
        .collect();
    json!({
        "description": "What runs without asking, in each case one action for everything or one for each pattern. \
                        The last rule that matches counts. A project can only ask or deny.",
        "type": "object",
        "properties": properties,
        "additionalProperties": false,
    })
}
