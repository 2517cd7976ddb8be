//! `rein permission import`: the rules of other agents, with the same meaning
//! or a stricter one.
//!
//! First everything is shown: what was understood, what became stricter and
//! why, what was not taken. Files of a project can only narrow: what they
//! allow is left out, and what they ask or deny is for the project's own file.
//! Only then, and only if asked to, the user's file is changed.
//!
//! `sources` finds and reads files; `table` shows what came of them.

mod sources;
mod table;

use std::path::PathBuf;

use rein_config::{RuleAdditions, Written};
use rein_permission::forms::{Found, NotUnderstood, Understood};
use rein_permission::{Action, Rule, mask};
use serde_json::{Value, json};

use crate::args::{ImportFrom, SharedArguments};
use crate::error::CommandError;
use crate::sessions::Form;
use crate::stdout;
use crate::wiring::{Places, wrong_settings};

/// What is done with the user's settings.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Files {
    /// The rules are added.
    Written,
    /// They are only shown.
    LeftAlone,
}

/// Another agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Agent {
    Claude,
    Opencode,
    Codex,
}

/// Whose file it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Owner {
    User,
    Project,
}

/// A file and what is in it.
#[derive(Debug)]
struct Source {
    agent: Agent,
    owner: Owner,
    file: PathBuf,
    found: Vec<Found>,
}

/// What becomes of a form.
#[derive(Debug)]
enum Outcome<'a> {
    /// Rules that mean the same.
    Same(&'a [Rule]),
    /// Rules that allow less, and how.
    Stricter(&'a [Rule], &'a str),
    /// Nothing, and why.
    NotTaken(String),
}

pub(super) fn execute(
    shared: &SharedArguments,
    from: ImportFrom,
    files: Files,
    form: Form,
) -> Result<(), CommandError> {
    let places = Places::find(shared)?;
    let sources = sources::read(&places, from)?;
    let user = additions(&sources, Owner::User);
    let project = additions(&sources, Owner::Project);
    let user_file = places.directories.user_file();
    if form == Form::Text {
        let text = table::render(&sources, &user, &project, &places);
        stdout::print(|out| out.write_all(text.as_bytes()))?;
    }
    let written = match files {
        Files::Written if !user.is_empty() => Some(user.write(&user_file).map_err(|error| {
            let is_order = matches!(error, rein_config::ConfigError::OrderMatters { .. });
            let failed = wrong_settings(error);
            if is_order {
                failed.hint("nothing was written; --from claude or --from codex can be")
            } else {
                failed
            }
        })?),
        Files::Written | Files::LeftAlone => None,
    };
    match form {
        Form::Text => {
            stdout::print(|out| out.write_all(table::conclusion(written.as_ref(), &user_file).as_bytes()))
        }
        Form::Json => stdout::print_json(&to_json(&sources, &user, &project, written.as_ref())),
    }
}

/// The rules to add for the files of the user, or of the project.
fn additions(sources: &[Source], owner: Owner) -> RuleAdditions {
    let mut additions = RuleAdditions::default();
    for source in sources.iter().filter(|source| source.owner == owner) {
        for rule in source.found.iter().flat_map(|found| source.outcome(found).rules().to_vec()) {
            // Where the last rule counts, the order has to be kept; a project's rules only narrow, in any order.
            if source.agent == Agent::Opencode && owner == Owner::User {
                additions.ordered.push((rule.permission, rule.pattern, config_action(rule.action)));
                continue;
            }
            let list = match rule.action {
                Action::Allow => &mut additions.allow,
                Action::Ask => &mut additions.ask,
                Action::Deny => &mut additions.deny,
            };
            let entry = rule.to_string();
            if !list.contains(&entry) {
                list.push(entry);
            }
        }
    }
    additions
}

impl Source {
    fn outcome<'a>(&self, found: &'a Found) -> Outcome<'a> {
        let Understood { rules, stricter } = match &found.reading {
            Ok(understood) => understood,
            Err(error @ NotUnderstood::Wrong(_)) => return Outcome::NotTaken(format!("{error}")),
            Err(error) => return Outcome::NotTaken(error.to_string()),
        };
        if self.owner == Owner::Project && found.action == Some(Action::Allow) {
            return Outcome::NotTaken("a project may ask or deny, but not allow".to_owned());
        }
        if rules.iter().any(|rule| mask::secrets(&rule.pattern) != rule.pattern) {
            return Outcome::NotTaken("it has what looks like a secret in it".to_owned());
        }
        match stricter {
            Some(how) => Outcome::Stricter(rules, how),
            None => Outcome::Same(rules),
        }
    }
}

impl Outcome<'_> {
    fn rules(&self) -> &[Rule] {
        match self {
            Self::Same(rules) | Self::Stricter(rules, _) => rules,
            Self::NotTaken(_) => &[],
        }
    }
}

impl Agent {
    fn name(self) -> &'static str {
        match self {
            Self::Claude => "claude",
            Self::Opencode => "opencode",
            Self::Codex => "codex",
        }
    }
}

fn config_action(action: Action) -> rein_config::Action {
    match action {
        Action::Allow => rein_config::Action::Allow,
        Action::Ask => rein_config::Action::Ask,
        Action::Deny => rein_config::Action::Deny,
    }
}

fn to_json(
    sources: &[Source],
    user: &RuleAdditions,
    project: &RuleAdditions,
    written: Option<&Written>,
) -> Value {
    let entry = |source: &Source, found: &Found| {
        let outcome = source.outcome(found);
        let (word, why) = match &outcome {
            Outcome::Same(_) => ("same", None),
            Outcome::Stricter(_, how) => ("stricter", Some((*how).to_owned())),
            Outcome::NotTaken(why) => ("not_taken", Some(why.clone())),
        };
        json!({
            "line": found.line,
            "text": mask::secrets(&found.text),
            "action": found.action.map(Action::name),
            "outcome": word,
            "why": why,
            "rules": outcome.rules().iter().map(ToString::to_string).collect::<Vec<_>>(),
        })
    };
    let toml = |additions: &RuleAdditions| (!additions.is_empty()).then(|| additions.to_toml());
    json!({
        "files": sources.iter().map(|source| json!({
            "agent": source.agent.name(),
            "file": source.file.to_string_lossy(),
            "project": source.owner == Owner::Project,
            "entries": source.found.iter().map(|found| entry(source, found)).collect::<Vec<_>>(),
        })).collect::<Vec<_>>(),
        "toml": toml(user),
        "project_toml": toml(project),
        "written": written.map(|written| json!({
            "added": written.added,
            "backup": written.backup.as_ref().map(|file| file.to_string_lossy().into_owned()),
        })),
    })
}
