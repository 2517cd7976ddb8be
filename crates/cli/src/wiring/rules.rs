//! Permission rules of settings and arguments as the gate takes them.

use rein_config::{FormRule, Loaded, PermissionRule, Source};
use rein_permission::forms::NotUnderstood;
use rein_permission::{Action, Layer, LayerKind, Rule, forms};

use crate::args::RunArguments;
use crate::error::CommandError;

/// Every layer, and the arguments' own.
pub(super) fn layers(loaded: &Loaded, arguments: &[Rule]) -> Vec<Layer> {
    let settings = loaded
        .permission
        .iter()
        .map(|layer| Layer { kind: kind(layer.source), rules: layer.rules.iter().map(rule).collect() });
    // What was allowed for good counts like what is allowed in a session: flags come after it.
    let granted = Layer { kind: LayerKind::Session, rules: loaded.grants.iter().map(rule).collect() };
    let own = Layer { kind: LayerKind::Session, rules: arguments.to_vec() };
    let (files, flags): (Vec<Layer>, Vec<Layer>) =
        settings.partition(|layer| layer.kind != LayerKind::Session);
    files.into_iter().chain([granted]).chain(flags).chain([own]).collect()
}

/// Whose layer rules from there belong to.
fn kind(source: Source) -> LayerKind {
    match source {
        Source::Managed => LayerKind::Managed,
        Source::Default | Source::User => LayerKind::User,
        Source::Project => LayerKind::Project,
        Source::Environment | Source::Flag | Source::Grant => LayerKind::Session,
    }
}

/// The rules that an entry of a list in the settings stands for.
pub(super) fn read_form(text: &str, action: rein_config::Action) -> Result<Vec<FormRule>, String> {
    let understood = forms::read(text, self::action(action), "").map_err(|error| error.to_string())?;
    let rule = |rule: Rule| FormRule { permission: rule.permission, pattern: rule.pattern, action };
    Ok(understood.rules.into_iter().map(rule).collect())
}

/// `--allow` and `--deny`.
pub(super) fn of_arguments(run: &RunArguments) -> Result<Vec<Rule>, CommandError> {
    let parse = |spec: &String, action: Action, flag: &str| {
        forms::read(spec, action, flag).map(|understood| understood.rules).map_err(|error| {
            CommandError::usage(match error {
                NotUnderstood::Wrong(error) => format!("{flag}: {error}"),
                other => format!("{flag}: `{spec}` cannot be taken: {other}"),
            })
        })
    };
    let mut rules = Vec::new();
    for spec in &run.allow {
        rules.extend(parse(spec, Action::Allow, "--allow")?);
    }
    for spec in &run.deny {
        rules.extend(parse(spec, Action::Deny, "--deny")?);
    }
    Ok(rules)
}

/// A rule of the settings as the gate takes it.
fn rule(rule: &PermissionRule) -> Rule {
    Rule::new(&rule.permission, &rule.pattern, action(rule.action), rule.origin.to_string())
}

/// The same word in the other crate.
fn action(action: rein_config::Action) -> Action {
    match action {
        rein_config::Action::Allow => Action::Allow,
        rein_config::Action::Ask => Action::Ask,
        rein_config::Action::Deny => Action::Deny,
    }
}
