//! `rein permission explain`: whether something would run, and everything that
//! leads to the answer.

use std::fmt::Write;

use rein_permission::{Action, Detail, Judgement, Lift, Source};
use serde_json::{Value, json};

use super::subject::{Matched, Subject};
use crate::args::{ExplainArguments, RunArguments, SharedArguments};
use crate::error::CommandError;
use crate::stdout;
use crate::terminal::{Target, neutralise};
use crate::wiring::Setup;

pub(super) fn execute(shared: &SharedArguments, arguments: &ExplainArguments) -> Result<(), CommandError> {
    let setup = Setup::load(shared, &RunArguments::default())?;
    let subject = Subject::of(arguments).ok_or_else(|| CommandError::usage("nothing is named to explain"))?;
    let mode = arguments.mode.unwrap_or(setup.settings().settings.mode);
    let policy = setup.policy(setup.layers(), mode);
    let judgement = subject.judged(&policy);
    let matched = subject.matched(&policy);
    if arguments.json {
        return stdout::print_json(&to_json(&subject, policy.mode.name(), &judgement, &matched));
    }
    setup.print_warnings();
    let mut text = render(&judgement);
    text.push_str(&rules(&matched));
    let _ = writeln!(text, "mode    {}", policy.mode.name());
    let heading = format!("{}: {}\n", judgement.action.name(), subject.shown());
    stdout::print(|out| {
        let target = Target::of(&std::io::stdout());
        out.write_all(target.text(&heading).as_bytes())?;
        out.write_all(target.text(&text).as_bytes())
    })
}

/// A judgement for a person: an answer for every part with its reason, what would be offered for good, and what
/// would allow it.
pub(super) fn render(judgement: &Judgement) -> String {
    let mut text = String::new();
    for detail in &judgement.details {
        // Writing to a string cannot fail.
        let _ = writeln!(
            text,
            "  {:<5} {} {}\n        {}",
            detail.action.name(),
            detail.permission,
            one_line(&detail.resource),
            detail.reason
        );
    }
    if judgement.details.is_empty() {
        for reason in &judgement.reasons {
            let _ = writeln!(text, "        {reason}");
        }
    }
    if judgement.action == Action::Ask {
        let offered: Vec<String> =
            judgement.always.iter().map(|grant| format!("{}:{}", grant.permission, grant.pattern)).collect();
        let always = if offered.is_empty() {
            "nothing can be allowed for good".to_owned()
        } else {
            offered.join(", ")
        };
        let _ = writeln!(text, "always  {always}");
    }
    let mut lifts: Vec<String> = Vec::new();
    for lift in judgement.deciding().flat_map(|detail| &detail.lifts).map(lift) {
        if !lifts.contains(&lift) {
            lifts.push(lift);
        }
    }
    if judgement.action != Action::Allow && !lifts.is_empty() {
        let _ = writeln!(text, "lifted by {}", lifts.join(", or by "));
    }
    text
}

fn rules(matched: &[Matched]) -> String {
    let mut text = String::new();
    for Matched { layer, rule, about } in matched {
        let origin = if rule.origin.is_empty() { String::new() } else { format!("  ({})", rule.origin) };
        let _ = writeln!(
            text,
            "rule    {} {} {rule}{origin}\n        matches {}",
            layer.name(),
            rule.action.name(),
            one_line(about)
        );
    }
    if matched.is_empty() {
        text.push_str("rule    none matches\n");
    }
    text
}

fn lift(lift: &Lift) -> String {
    match lift {
        Lift::Flag(rule) => format!("--allow '{rule}'"),
        Lift::Mode(mode) => format!("--mode {}", mode.name()),
        Lift::UserRule(rule) => format!("a rule of yours that allows exactly `{rule}`"),
    }
}

fn to_json(subject: &Subject, mode: &str, judgement: &Judgement, matched: &[Matched]) -> Value {
    json!({
        "subject": subject.shown(),
        "mode": mode,
        "action": judgement.action.name(),
        "reasons": judgement.reasons,
        "details": judgement.details.iter().map(detail).collect::<Vec<_>>(),
        "items": judgement.items,
        "always": judgement.always,
        "rules": matched.iter().map(|one| json!({
            "layer": one.layer.name(),
            "permission": one.rule.permission,
            "pattern": one.rule.pattern,
            "action": one.rule.action.name(),
            "origin": one.rule.origin,
            "matches": one.about,
        })).collect::<Vec<_>>(),
    })
}

fn detail(detail: &Detail) -> Value {
    json!({
        "permission": detail.permission,
        "resource": detail.resource,
        "action": detail.action.name(),
        "reason": detail.reason,
        "source": source(&detail.source),
        "always": detail.grants,
        "lifted_by": detail.lifts.iter().map(lift).collect::<Vec<_>>(),
        "span": detail.span.map(|span| json!([span.start, span.end])),
    })
}

fn source(source: &Source) -> Value {
    match source {
        Source::Rule { layer, rule } => json!({
            "type": "rule", "layer": layer.name(), "rule": rule.to_string(), "origin": rule.origin,
        }),
        Source::Mode(mode) => json!({ "type": "mode", "mode": mode.name() }),
        Source::Plan => json!({ "type": "plan" }),
        Source::Protected => json!({ "type": "protected" }),
        Source::Sandbox => json!({ "type": "sandbox" }),
        Source::Question => json!({ "type": "question" }),
        Source::Catastrophic => json!({ "type": "catastrophic" }),
        Source::Hazard(_) => json!({ "type": "hazard" }),
        Source::NotUnderstood => json!({ "type": "not_understood" }),
    }
}

/// A resource on one line, whole: a command must be seen to its end.
fn one_line(text: &str) -> String {
    neutralise(text).replace('\n', "\\n")
}
