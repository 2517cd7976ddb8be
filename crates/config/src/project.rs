//! The workspace, its files of settings, and what they may not do.
//!
//! Whoever can commit to a repository can write these files. So a project may
//! only narrow what the user allows; what would widen it is ignored, with a
//! warning. A setting that says nothing about projects is closed to them.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use rein_protocol::Mode;
use toml::Value;

use crate::check::Leaf;
use crate::error::{ConfigError, Refusal, Warning};
use crate::origin::Origin;
use crate::permission::{self, Action};
use crate::quote;
use crate::shape::{Node, ProjectMay};

/// Where the agent works, and the files that may speak for the project.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Workspace {
    pub root: PathBuf,
    /// From the root down to where rein was started; they need not exist.
    pub files: Vec<PathBuf>,
}

impl Workspace {
    /// The repository around a directory, or the directory itself.
    pub fn find(start: &Path) -> Result<Self, ConfigError> {
        if !start.is_absolute() {
            return Err(ConfigError::RelativeStart { start: start.to_owned() });
        }
        // `.git` is a file in a worktree and in a submodule.
        let is_repository = |directory: &&Path| fs::symlink_metadata(directory.join(".git")).is_ok();
        let root = start.ancestors().find(is_repository).unwrap_or(start);
        let mut files: Vec<PathBuf> = start
            .ancestors()
            .take_while(|directory| directory.starts_with(root))
            .map(|directory| directory.join(".rein").join("config.toml"))
            .collect();
        files.reverse();
        Ok(Self { root: root.to_owned(), files })
    }
}

/// Values so far, with their origins, by path.
pub(crate) type Values = BTreeMap<Vec<String>, (Value, Origin)>;

/// What of a project's file counts, given what holds without it.
pub(crate) fn narrow(
    root: &Node,
    leaves: Vec<Leaf>,
    values: &Values,
    warnings: &mut Vec<Warning>,
) -> Vec<Leaf> {
    let mut closed: Vec<Vec<String>> = Vec::new();
    let mut kept = Vec::new();
    for leaf in leaves {
        match judge(root, &leaf, values) {
            Judgement::Counts => kept.push(leaf),
            // One warning for a whole table is enough.
            Judgement::Closed { path, reason } if !closed.contains(&path) => {
                let refusal = Refusal::NotForProjects { reason };
                warnings.push(Warning { origin: leaf.origin, key: quote::key(&path), refusal });
                closed.push(path);
            }
            Judgement::Closed { .. } => {}
            Judgement::Refused(refusal) => {
                warnings.push(Warning { origin: leaf.origin, key: quote::key(&leaf.path), refusal });
            }
        }
    }
    kept
}

enum Judgement {
    Counts,
    Closed { path: Vec<String>, reason: &'static str },
    Refused(Refusal),
}

fn judge(root: &Node, leaf: &Leaf, values: &Values) -> Judgement {
    let mut node = root;
    let mut may = ProjectMay::NotSet;
    for (depth, key) in leaf.path.iter().enumerate() {
        let below = node.child(key).filter(|child| may != ProjectMay::NotSet || child.is_open_to_projects());
        let Some(child) = below else {
            let path = leaf.path.get(..=depth).unwrap_or_default().to_vec();
            return Judgement::Closed { reason: reason(&path), path };
        };
        node = child;
        if child.project != ProjectMay::NotSet {
            may = child.project;
        }
    }
    match may {
        ProjectMay::Set => Judgement::Counts,
        ProjectMay::Narrow => match looser(root, leaf, values) {
            None => Judgement::Counts,
            Some(refusal) => Judgement::Refused(refusal),
        },
        ProjectMay::NotSet => Judgement::Closed { reason: reason(&leaf.path), path: leaf.path.clone() },
    }
}

/// What a project could do with a setting that is closed to it.
fn reason(path: &[String]) -> &'static str {
    match path.first().map(String::as_str) {
        Some("provider") => "it could send your keys and your code elsewhere",
        Some("shell") => "it could run a program of its own with every command",
        Some("network") => "it could read what you send",
        Some("sandbox") => "it could let commands out of their sandbox",
        Some("web") => "it could make your machine fetch from your own network",
        Some("otlp") => "it could tell others what you do",
        Some("verify") => "it could run a program of its own after every turn",
        Some("store") => "your sessions are kept for all projects alike",
        _ => "it is for you to decide",
    }
}

/// Why a value allows more than what holds without it. A key that cannot be compared is refused.
fn looser(root: &Node, leaf: &Leaf, values: &Values) -> Option<Refusal> {
    if leaf.path.first().is_some_and(|key| key == permission::TABLE) {
        let action = permission::action(leaf);
        return (action.is_none_or(|action| action == Action::Allow)).then_some(Refusal::Allow);
    }
    let (limit, limit_origin) = match values.get(&leaf.path) {
        Some((value, origin)) => (value.clone(), origin.clone()),
        None => (root.default_at(&leaf.path), Origin::default_value()),
    };
    let measure: fn(&Value) -> Option<u64> = match leaf.path.as_slice() {
        [key] if key == "mode" => mode_freedom,
        [key] if key == "max_steps" => step_freedom,
        [table, ..] if table == "budget" => cap_freedom,
        _ => |_| None,
    };
    match (measure(&leaf.value), measure(&limit)) {
        (Some(wanted), Some(allowed)) if wanted <= allowed => None,
        _ => Some(Refusal::Looser { value: shown(&leaf.value), limit: shown(&limit), limit_origin }),
    }
}

fn mode_freedom(value: &Value) -> Option<u64> {
    Mode::ALL.into_iter().find(|mode| Some(mode.name()) == value.as_str()).map(freedom)
}

/// How much runs in a mode, compared with the others.
pub(crate) fn freedom(mode: Mode) -> u64 {
    match mode {
        Mode::Plan => 0,
        Mode::Tight => 1,
        Mode::Write => 2,
        Mode::Free => 3,
    }
}

fn step_freedom(value: &Value) -> Option<u64> {
    match value.as_integer()? {
        0 => Some(u64::MAX),
        steps => u64::try_from(steps).ok(),
    }
}

/// In millionths, so that dollars can be compared.
fn cap_freedom(value: &Value) -> Option<u64> {
    #[allow(clippy::cast_precision_loss)] // Who caps at more than that does not cap.
    let cap = value.as_float().or_else(|| value.as_integer().map(|number| number as f64))?;
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)] // Such a cast saturates.
    Some(if cap <= 0.0 { u64::MAX } else { (cap * 1e6).ceil() as u64 })
}

fn shown(value: &Value) -> String {
    match value {
        Value::String(text) => quote::string(text),
        other => other.to_string(),
    }
}
