//! Permission rules of settings and arguments as the gate takes them.

use rein_config::{Loaded, PermissionRule, Source};
use rein_permission::rule::BASH;
use rein_permission::{Action, Layer, LayerKind, Rule};

use crate::args::RunArguments;
use crate::error::CommandError;

/// Every layer, and the arguments' own.
pub(super) fn layers(loaded: &Loaded, arguments: &[Rule]) -> Vec<Layer> {
    let settings = loaded.permission.iter().map(|layer| Layer {
        kind: match layer.source {
            Source::Default | Source::User => LayerKind::User,
            Source::Project => LayerKind::Project,
            Source::Environment | Source::Flag => LayerKind::Session,
        },
        rules: layer.rules.iter().map(rule).collect(),
    });
    let own = Layer { kind: LayerKind::Session, rules: arguments.to_vec() };
    settings.chain(std::iter::once(own)).collect()
}

/// `--allow` and `--deny`.
pub(super) fn of_arguments(run: &RunArguments) -> Result<Vec<Rule>, CommandError> {
    let parse = |spec: &String, action: Action, flag: &str| {
        Rule::parse(spec, action, flag).map_err(|error| CommandError::usage(format!("{flag}: {error}")))
    };
    let mut rules = Vec::new();
    for spec in &run.allow {
        let rule = parse(spec, Action::Allow, "--allow")?;
        if rule.permission == BASH {
            return Err(CommandError::usage(format!("--allow: `{spec}` cannot allow commands, {NOT_YET}"))
                .hint("--mode free runs every command that no rule denies"));
        }
        rules.push(rule);
    }
    for spec in &run.deny {
        rules.push(parse(spec, Action::Deny, "--deny")?);
    }
    Ok(rules)
}

/// Rules of the settings that the gate drops, in words.
pub(super) fn without_effect(loaded: &Loaded) -> Vec<String> {
    let rules = loaded.permission.iter().flat_map(|layer| &layer.rules);
    rules
        .filter(|rule| rule.permission == BASH && rule.action == rein_config::Action::Allow)
        .map(|rule| format!("{}: `allow` for commands is ignored, {NOT_YET}", rule.origin))
        .collect()
}

const NOT_YET: &str = "because a pattern does not tell what a command line does";

fn rule(rule: &PermissionRule) -> Rule {
    let action = match rule.action {
        rein_config::Action::Allow => Action::Allow,
        rein_config::Action::Ask => Action::Ask,
        rein_config::Action::Deny => Action::Deny,
    };
    Rule::new(&rule.permission, &rule.pattern, action, rule.origin.to_string())
}
