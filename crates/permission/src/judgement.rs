//! What the gate says about a call: one answer, and for every permission that
//! the call needs the answer, its reason, its source and what would lift it.
//!
//! A command line has one detail for every command in it, one for every path
//! that it touches, and one for everything in it that is dangerous or not
//! understood; each says where it stands.

use std::collections::HashSet;
use std::hash::Hash;

use rein_protocol::ask::Grant;
use rein_protocol::{AskItem, Mode};
pub use rein_shell::{Danger, Span};

use crate::policy::LayerKind;
use crate::rule::{Action, Rule};

/// The answer for a whole call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Judgement {
    /// The strictest answer among the details.
    pub action: Action,
    /// Why, one sentence each: the reasons of the details that decided.
    pub reasons: Vec<String>,
    /// What a person has to say yes to; empty unless the action is `Ask`.
    pub items: Vec<AskItem>,
    /// What would make this call and its like run without asking for the rest
    /// of the session; empty unless it would settle every item.
    pub always: Vec<Grant>,
    /// The answer for every permission needed.
    pub details: Vec<Detail>,
}

/// The answer for one permission.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detail {
    /// Which permission.
    pub permission: String,
    /// For what, as a rule would name it.
    pub resource: String,
    /// The answer.
    pub action: Action,
    /// Why, as a sentence.
    pub reason: String,
    /// Where the answer comes from.
    pub source: Source,
    /// What a person may allow for the rest of the session; empty if nothing.
    pub grants: Vec<Grant>,
    /// What would make it an `Allow`, each for itself.
    pub lifts: Vec<Lift>,
    /// Where in a command line it stands, in bytes; none for everything else.
    pub span: Option<Span>,
}

/// Where an answer comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// A rule.
    Rule {
        /// In which layer.
        layer: LayerKind,
        /// Which.
        rule: Rule,
    },
    /// The mode, because no rule spoke.
    Mode(Mode),
    /// Plan mode, whatever the rules say.
    Plan,
    /// The place is protected: only a rule of the user that names exactly it allows it.
    Protected,
    /// It would destroy what nobody can bring back. Nothing allows it.
    Catastrophic,
    /// A command is turned into something else than it looks like.
    Hazard(Danger),
    /// What it would do cannot be understood without running it.
    NotUnderstood,
    /// It needs more rights than the sandbox gives, or there is no sandbox.
    Sandbox,
    /// The model asks the person.
    Question,
}

/// Something that a person can do so that it would be allowed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Lift {
    /// `--allow` with this rule.
    Flag(String),
    /// `--mode` with this mode.
    Mode(Mode),
    /// This `allow` rule in the user's own settings.
    UserRule(String),
}

impl Judgement {
    pub(crate) fn of(details: Vec<Detail>) -> Self {
        let Some(action) = details.iter().map(|detail| detail.action).max() else {
            return Self {
                action: Action::Allow,
                reasons: vec!["it touches nothing outside of rein".to_owned()],
                items: Vec::new(),
                always: Vec::new(),
                details,
            };
        };
        let deciding = || details.iter().filter(|detail| detail.action == action);
        let reasons = distinct(deciding().map(|detail| detail.reason.clone()), String::clone);
        let (items, always) = match action {
            Action::Ask => {
                let items = deciding().map(item);
                (distinct(items, |item| (item.permission.clone(), item.pattern.clone())), offered(deciding()))
            }
            Action::Allow | Action::Deny => (Vec::new(), Vec::new()),
        };
        Self { action, reasons, items, always, details }
    }

    /// The details that decided.
    pub fn deciding(&self) -> impl Iterator<Item = &Detail> {
        self.details.iter().filter(|detail| detail.action == self.action)
    }
}

fn item(detail: &Detail) -> AskItem {
    AskItem {
        permission: detail.permission.clone(),
        pattern: detail.resource.clone(),
        reason: detail.reason.clone(),
    }
}

/// Half of an "always" would leave the person asked again, so it is all or nothing.
fn offered<'a>(asking: impl Iterator<Item = &'a Detail>) -> Vec<Grant> {
    let mut grants = Vec::new();
    for detail in asking {
        if detail.grants.is_empty() {
            return Vec::new();
        }
        grants.extend(detail.grants.iter().cloned());
    }
    distinct(grants, Grant::clone)
}

/// The first of each kind, in order.
fn distinct<T, K: Eq + Hash>(all: impl IntoIterator<Item = T>, key: impl Fn(&T) -> K) -> Vec<T> {
    let mut seen = HashSet::new();
    all.into_iter().filter(|one| seen.insert(key(one))).collect()
}
