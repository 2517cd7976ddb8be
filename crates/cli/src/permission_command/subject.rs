//! Something that could be done, to be judged without doing it.

use std::path::{Path, PathBuf};

use rein_permission::rule::{BASH, EDIT, EXTERNAL_DIRECTORY, READ, WEBFETCH};
use rein_permission::{Judgement, LayerKind, Policy, Rule, Source};
use rein_protocol::{Effect, Intent, Mode};

use crate::args::ExplainArguments;
use crate::wiring::resolved;

/// Something that could be done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Subject {
    /// Running a command line.
    Command(String),
    /// Changing a file.
    Edit(PathBuf),
    /// Reading a file.
    Read(PathBuf),
    /// Getting something from a server.
    Fetch(String),
    /// What is no effect of a tool.
    Named { permission: String, pattern: String },
}

/// A rule that speaks about a subject, and about what of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Matched {
    pub(super) layer: LayerKind,
    pub(super) rule: Rule,
    pub(super) about: String,
}

impl Subject {
    /// What the arguments name; none if they name nothing.
    pub(super) fn of(arguments: &ExplainArguments) -> Option<Self> {
        None.or_else(|| arguments.command.clone().map(Self::Command))
            .or_else(|| arguments.edit.clone().map(Self::Edit))
            .or_else(|| arguments.read.clone().map(Self::Read))
            .or_else(|| arguments.fetch.clone().map(Self::Fetch))
    }

    /// What a permission and a resource mean.
    pub(super) fn named(permission: &str, pattern: &str) -> Self {
        match permission {
            BASH => Self::Command(pattern.to_owned()),
            EDIT => Self::Edit(pattern.into()),
            READ => Self::Read(pattern.into()),
            WEBFETCH => Self::Fetch(pattern.to_owned()),
            _ => Self::Named { permission: permission.to_owned(), pattern: pattern.to_owned() },
        }
    }

    /// In a few words.
    pub(super) fn shown(&self) -> String {
        match self {
            Self::Command(command) => command.clone(),
            Self::Edit(path) => format!("edit {}", path.display()),
            Self::Read(path) => format!("read {}", path.display()),
            Self::Fetch(url) => format!("fetch {url}"),
            Self::Named { permission, pattern } => format!("{permission}:{pattern}"),
        }
    }

    /// What would become of it.
    pub(super) fn judged(&self, policy: &Policy) -> Judgement {
        match (self, self.effect(policy)) {
            (Self::Named { permission, pattern }, _) => policy.judge_named(permission, pattern),
            (_, Some(effect)) => policy.judge(&Intent { effects: vec![effect], ..Intent::default() }),
            (_, None) => policy.judge(&Intent::default()),
        }
    }

    /// Every rule that speaks about it, whether it decides or not, in the order of the layers.
    pub(super) fn matched(&self, policy: &Policy) -> Vec<Matched> {
        let mut found: Vec<Matched> = Vec::new();
        if let Self::Command(command) = self {
            let explained = policy.explain(command, &policy.workspace);
            for (part, rules) in explained.analysis.commands.iter().zip(explained.matched) {
                let about = command.get(part.span.start..part.span.end).unwrap_or(command);
                let matched = |(layer, rule)| Matched { layer, rule, about: about.trim().to_owned() };
                found.extend(rules.into_iter().map(matched));
            }
        }
        for layer in policy.layers() {
            for rule in &layer.rules {
                if let Some(about) = self.speaks_alone(policy, layer.kind, rule)
                    && !found.iter().any(|one| one.layer == layer.kind && one.rule == *rule)
                {
                    found.push(Matched { layer: layer.kind, rule: rule.clone(), about });
                }
            }
        }
        found
    }

    /// Whether a rule would decide about it if there were no other, and about what of it.
    fn speaks_alone(&self, policy: &Policy, layer: LayerKind, rule: &Rule) -> Option<String> {
        let alone = Policy {
            home: policy.home.clone(),
            paths: policy.paths.clone(),
            ..Policy::new(&policy.workspace, Mode::Tight)
        };
        let judgement = self.judged(&alone.with_layer(layer, vec![rule.clone()]));
        let decided =
            judgement.details.into_iter().find(|detail| matches!(detail.source, Source::Rule { .. }))?;
        Some(match decided.permission.as_str() {
            BASH => decided.resource,
            permission => format!("{permission} {}", decided.resource),
        })
    }

    fn effect(&self, policy: &Policy) -> Option<Effect> {
        let path = |path: &Path| resolved(&policy.workspace.join(path));
        match self {
            Self::Command(command) => Some(Effect::Execute {
                command: command.clone(),
                cwd: policy.workspace.clone(),
                prelude: String::new(),
            }),
            Self::Edit(file) => Some(Effect::Write { path: path(file) }),
            Self::Read(file) => Some(Effect::Read { path: path(file) }),
            Self::Fetch(url) => Some(Effect::Fetch { url: url.clone() }),
            Self::Named { permission, pattern } if permission == EXTERNAL_DIRECTORY => {
                Some(Effect::Read { path: path(Path::new(pattern)) })
            }
            Self::Named { .. } => None,
        }
    }
}
