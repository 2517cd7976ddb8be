//! All rules of a policy, taken apart once, and what each layer answers.

use crate::pattern::{Pattern, Subject};
use crate::policy::{Layer, LayerKind};
use crate::rule::{Action, Rule};
use crate::wildcard;

/// Layers of rules, ready to be asked. Each rule is taken apart once, when it is added.
#[derive(Debug, Clone, Default)]
pub struct RuleBook {
    layers: Vec<Layer>,
    /// For every rule of every layer, in the same order.
    ready: Vec<Vec<Ready>>,
}

/// What is prepared of a rule.
#[derive(Debug, Clone)]
struct Ready {
    permission: Permission,
    pattern: Pattern,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Permission {
    Every,
    Named,
    Pattern,
}

/// What one layer says.
#[derive(Clone, Copy)]
pub(crate) struct Answer<'a> {
    pub layer: LayerKind,
    pub rule: &'a Rule,
    ready: &'a Ready,
}

impl Answer<'_> {
    /// Whether this is the administrator's or the user's word for exactly this resource.
    pub(crate) fn names_exactly(&self, permission: &str) -> bool {
        matches!(self.layer, LayerKind::Managed | LayerKind::User)
            && self.rule.action == Action::Allow
            && self.rule.permission == permission
            && self.ready.pattern.is_exact()
    }
}

impl RuleBook {
    /// The layers, in the order in which they were added.
    #[must_use]
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// Adds a layer.
    pub fn push(&mut self, layer: Layer) {
        self.ready.push(layer.rules.iter().map(Ready::new).collect());
        self.layers.push(layer);
    }

    /// Appends rules to the last session layer, or makes one.
    pub fn add_to_session(&mut self, rules: impl IntoIterator<Item = Rule>) {
        let last = self.layers.iter().rposition(|layer| layer.kind == LayerKind::Session);
        let place = last.and_then(|index| Some((self.layers.get_mut(index)?, self.ready.get_mut(index)?)));
        match place {
            Some((layer, ready)) => {
                for rule in rules {
                    ready.push(Ready::new(&rule));
                    layer.rules.push(rule);
                }
            }
            None => self.push(Layer { kind: LayerKind::Session, rules: rules.into_iter().collect() }),
        }
    }

    /// Leaves out of the session layers what is not to be kept.
    pub fn retain_in_session(&mut self, mut keep: impl FnMut(&Rule) -> bool) {
        let layers = self.layers.iter_mut().zip(&mut self.ready);
        for (layer, ready) in layers.filter(|(layer, _)| layer.kind == LayerKind::Session) {
            let all = std::mem::take(&mut layer.rules).into_iter().zip(std::mem::take(ready));
            (layer.rules, *ready) = all.filter(|(rule, _)| keep(rule)).unzip();
        }
    }

    /// What each layer says that says anything. Session layers speak as one.
    pub(crate) fn answers(&self, permission: &str, subject: &Subject) -> Vec<Answer<'_>> {
        let (session, apart): (Vec<_>, Vec<_>) =
            self.layers.iter().zip(&self.ready).partition(|(layer, _)| layer.kind == LayerKind::Session);
        let mut answers: Vec<Answer<'_>> = apart
            .into_iter()
            .filter_map(|(layer, ready)| answer(pairs(layer, ready), permission, subject))
            .collect();
        let session = session.into_iter().flat_map(|(layer, ready)| pairs(layer, ready));
        answers.extend(answer(session, permission, subject));
        answers
    }

    /// Every rule that matches, whether it decides or not.
    pub(crate) fn matching(&self, permission: &str, subject: &Subject) -> Vec<(LayerKind, Rule)> {
        let all = self.layers.iter().zip(&self.ready).flat_map(|(layer, ready)| pairs(layer, ready));
        all.filter(|one| one.matches(permission, subject)).map(|one| (one.layer, one.rule.clone())).collect()
    }

    /// Whether some layer forbids something of this permission.
    pub(crate) fn denies_some(&self, permission: &str) -> bool {
        let all =
            self.layers.iter().zip(&self.ready).flat_map(|(layer, ready)| layer.rules.iter().zip(ready));
        let mut denying =
            all.filter(|(rule, ready)| rule.action == Action::Deny && ready.concerns(rule, permission));
        denying.next().is_some()
    }
}

fn pairs<'a>(layer: &'a Layer, ready: &'a [Ready]) -> impl DoubleEndedIterator<Item = Answer<'a>> {
    layer.rules.iter().zip(ready).map(|(rule, ready)| Answer { layer: layer.kind, rule, ready })
}

/// The last rule that matches; among those of a session, a denial comes first.
fn answer<'a>(
    rules: impl DoubleEndedIterator<Item = Answer<'a>>,
    permission: &str,
    subject: &Subject,
) -> Option<Answer<'a>> {
    let mut matching = rules.rev().filter(|one| one.is_honoured() && one.matches(permission, subject));
    let last = matching.next()?;
    match last.layer {
        LayerKind::Session if last.rule.action != Action::Deny => {
            Some(matching.find(|one| one.rule.action == Action::Deny).unwrap_or(last))
        }
        LayerKind::Session | LayerKind::Managed | LayerKind::User | LayerKind::Project => Some(last),
    }
}

impl Answer<'_> {
    /// A project's `allow` is none.
    fn is_honoured(&self) -> bool {
        self.rule.action != Action::Allow || self.layer != LayerKind::Project
    }

    fn matches(&self, permission: &str, subject: &Subject) -> bool {
        self.ready.concerns(self.rule, permission) && self.ready.pattern.covers(subject, self.rule.action)
    }
}

impl Ready {
    fn new(rule: &Rule) -> Self {
        let permission = match rule.permission.as_str() {
            "*" => Permission::Every,
            name if wildcard::is_literal(name) => Permission::Named,
            _ => Permission::Pattern,
        };
        Self { permission, pattern: Pattern::new(&rule.pattern) }
    }

    fn concerns(&self, rule: &Rule, permission: &str) -> bool {
        match self.permission {
            Permission::Every => true,
            Permission::Named => rule.permission == permission,
            Permission::Pattern => wildcard::matches(&rule.permission, permission),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::policy::Policy;
    use crate::wildcard::COMPARED;
    use rein_protocol::{Effect, Intent, Mode};

    fn work(rules: Vec<Rule>) -> usize {
        let policy = Policy::new("/w", Mode::Tight).with_layer(LayerKind::User, rules);
        let effects = vec![Effect::Execute {
            command: "git push origin main".into(),
            cwd: "/w".into(),
            prelude: String::new(),
        }];
        let intent = Intent { effects, ..Intent::default() };
        COMPARED.with(|compared| compared.set(0));
        let _ = policy.judge(&intent);
        COMPARED.with(std::cell::Cell::get)
    }

    #[test]
    fn a_thousand_rules_about_other_programs_cost_next_to_nothing() {
        let rules = |action: Action| {
            (0..1_000).map(|index| Rule::new("bash", format!("tool{index} run *"), action, "")).collect()
        };
        assert!(work(rules(Action::Deny)) < 100, "{}", work(rules(Action::Deny)));
        assert!(work(rules(Action::Allow)) < 100, "{}", work(rules(Action::Allow)));
    }

    #[test]
    fn a_thousand_rules_about_the_same_program_cost_a_few_comparisons_each() {
        let rules = (0..1_000)
            .map(|index| Rule::new("bash", format!("git sub{index} *"), Action::Deny, ""))
            .collect();
        let work = work(rules);
        assert!(work < 40_000, "{work}");
    }
}
