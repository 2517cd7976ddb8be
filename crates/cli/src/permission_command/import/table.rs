//! What was found, line by line, and the text to add.

use std::fmt::Write;
use std::path::Path;

use rein_config::{RuleAdditions, Written};
use rein_permission::{Action, mask};

use super::sources::directories;
use super::{Agent, Outcome, Owner, Source};
use crate::terminal::{neutralise, one_line};
use crate::wiring::Places;

/// More of a form than this says nothing more.
const LONGEST: usize = 120;

/// Everything that a person should see before anything is written.
pub(super) fn render(
    sources: &[Source],
    user: &RuleAdditions,
    project: &RuleAdditions,
    places: &Places,
) -> String {
    let mut text = String::new();
    for source in sources {
        let whose = match source.owner {
            Owner::User => "",
            Owner::Project => "  (the project's: it can only narrow)",
        };
        // Writing to a string cannot fail.
        let _ = writeln!(text, "{}{whose}", source.file.display());
        for found in &source.found {
            row(&mut text, source, found);
        }
        if source.found.is_empty() {
            text.push_str("  nothing about permission\n");
        }
        text.push('\n');
    }
    if sources.is_empty() {
        text.push_str("no file of another agent was found; looked in\n");
        for agent in [Agent::Claude, Agent::Opencode, Agent::Codex] {
            for (_, directory) in directories(places, agent) {
                let _ = writeln!(text, "  {}", directory.display());
            }
        }
        return text;
    }
    summary(&mut text, sources);
    fragment(&mut text, user, &places.directories.user_file());
    fragment(&mut text, project, &places.project_root().join(".rein").join("config.toml"));
    text
}

/// What was done.
pub(super) fn conclusion(written: Option<&Written>, file: &Path) -> String {
    match written {
        None => String::new(),
        Some(Written { added: 0, .. }) => format!("\n{} has all of this already\n", file.display()),
        Some(Written { added, backup: None }) => format!("\nwrote {added} rules to {}\n", file.display()),
        Some(Written { added, backup: Some(backup) }) => {
            format!("\nwrote {added} rules to {}; as it was, it is in {}\n", file.display(), backup.display())
        }
    }
}

fn row(text: &mut String, source: &Source, found: &rein_permission::forms::Found) {
    let outcome = source.outcome(found);
    let (word, why) = match &outcome {
        Outcome::Same(_) => ("same", None),
        Outcome::Stricter(_, how) => ("stricter", Some(*how)),
        Outcome::NotTaken(why) => ("not taken", Some(why.as_str())),
    };
    let action = found.action.map_or("", Action::name);
    let form = one_line(&mask::secrets(&found.text), LONGEST);
    let _ = writeln!(text, "  {:>4}  {word:<9}  {action:<5}  {form}", found.line);
    let rules: Vec<String> = outcome.rules().iter().map(ToString::to_string).collect();
    if !rules.is_empty() {
        let _ = writeln!(text, "        → {}", neutralise(&rules.join(", ")));
    }
    if let Some(why) = why {
        let _ = writeln!(text, "        {}", neutralise(why));
    }
}

fn summary(text: &mut String, sources: &[Source]) {
    let (mut same, mut stricter, mut not_taken, mut narrowing) = (0, 0, 0, 0);
    for source in sources {
        for found in &source.found {
            match source.outcome(found) {
                Outcome::Same(_) => same += 1,
                Outcome::Stricter(..) => stricter += 1,
                Outcome::NotTaken(_) => {
                    not_taken += 1;
                    narrowing += usize::from(matches!(found.action, Some(Action::Ask | Action::Deny)));
                }
            }
        }
    }
    let _ = writeln!(text, "{same} with the same meaning, {stricter} stricter, {not_taken} not taken");
    if narrowing > 0 {
        let _ = writeln!(
            text,
            "{narrowing} of those not taken ask or deny: look at them before you rely on the rest"
        );
    }
}

fn fragment(text: &mut String, additions: &RuleAdditions, file: &Path) {
    if !additions.is_empty() {
        let _ = write!(text, "\nFor {}:\n\n{}", file.display(), additions.to_toml());
    }
}
