//! The gate: layers of rules, a mode, and an intent in; a judgement out.
//!
//! This file holds what a policy consists of. [`crate::decide`] says what holds
//! for one permission, and [`crate::command`] takes a command line apart into
//! the permissions that it needs.

use std::path::PathBuf;
use std::sync::Arc;

use rein_protocol::{Effect, Intent, Mode, Question, Tier};

use crate::book::RuleBook;
use crate::judgement::{Detail, Judgement, Source};
use crate::place::{Lexical, Paths};
use crate::resource::{Need, Places};
use crate::rule::{Action, QUESTION, Rule};

/// Who wrote a layer of rules.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum LayerKind {
    /// The administrator of the machine.
    Managed,
    /// The user.
    User,
    /// The repository. It can only narrow.
    Project,
    /// Flags of this run and what the person allowed while it went on.
    Session,
}

impl LayerKind {
    /// In words, for reasons.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Managed => "managed",
            Self::User => "user",
            Self::Project => "project",
            Self::Session => "session",
        }
    }
}

/// Rules of one author, first to last.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layer {
    /// Who wrote them.
    pub kind: LayerKind,
    /// The rules.
    pub rules: Vec<Rule>,
}

/// Whether the kernel holds the commands that run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Confinement {
    /// Commands can write only to the workspace and a temporary directory, and reach no other machine.
    Confined,
    /// Commands run with all the rights of the user, because the user said so.
    #[default]
    Unconfined,
    /// They run with all the rights of the user, because this machine lacks the means.
    Unavailable,
}

/// Whether confined commands reach other machines.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum NetworkSetting {
    /// In mode `free`, and where a command that was allowed needs it.
    #[default]
    AsNeeded,
    /// Always.
    On,
    /// Only where a person widened a command's rights.
    Off,
}

/// Everything that decides about calls.
#[derive(Debug, Clone)]
pub struct Policy {
    /// What holds where no rule speaks.
    pub mode: Mode,
    /// Whether commands are confined.
    pub confinement: Confinement,
    /// Whether confined commands reach other machines.
    pub network: NetworkSetting,
    /// Where the session works: absolute, with symbolic links resolved.
    pub workspace: PathBuf,
    /// What `~` stands for.
    pub home: Option<PathBuf>,
    /// rein's own directories: absolute, with symbolic links resolved.
    pub protected: Vec<PathBuf>,
    /// Where paths lead.
    pub paths: Arc<dyn Paths>,
    /// The rules, taken apart.
    pub rules: RuleBook,
}

impl Policy {
    /// A policy without rules.
    pub fn new(workspace: impl Into<PathBuf>, mode: Mode) -> Self {
        Self {
            mode,
            confinement: Confinement::default(),
            network: NetworkSetting::default(),
            workspace: workspace.into(),
            home: None,
            protected: Vec::new(),
            paths: Arc::new(Lexical),
            rules: RuleBook::default(),
        }
    }

    /// With one more layer. Several session layers are one list; several of
    /// another kind are independent of each other.
    #[must_use]
    pub fn with_layer(mut self, kind: LayerKind, rules: Vec<Rule>) -> Self {
        self.rules.push(Layer { kind, rules });
        self
    }

    /// With more layers.
    #[must_use]
    pub fn with_layers(mut self, layers: impl IntoIterator<Item = Layer>) -> Self {
        layers.into_iter().for_each(|layer| self.rules.push(layer));
        self
    }

    /// The layers, in the order in which they were added.
    #[must_use]
    pub fn layers(&self) -> &[Layer] {
        self.rules.layers()
    }

    /// Appends rules to the session layer.
    pub fn add_to_session(&mut self, rules: impl IntoIterator<Item = Rule>) {
        self.rules.add_to_session(rules);
    }

    /// Leaves out of the session layers what is not to be kept.
    pub fn retain_in_session(&mut self, keep: impl FnMut(&Rule) -> bool) {
        self.rules.retain_in_session(keep);
    }

    /// Judges a call by what it would do. A call that does nothing is allowed.
    #[must_use]
    pub fn judge(&self, intent: &Intent) -> Judgement {
        let details = intent.effects.iter().flat_map(|effect| self.details(effect));
        Judgement::of(details.collect())
    }

    /// Judges something that is no effect, such as `doom_loop`.
    #[must_use]
    pub fn judge_named(&self, permission: &str, resource: &str) -> Judgement {
        Judgement::of(vec![self.decide(&Need::named(permission, resource, Tier::Read))])
    }

    fn details(&self, effect: &Effect) -> Vec<Detail> {
        let needs = Need::of(effect, self.places()).into_iter();
        let mut details: Vec<Detail> = needs.map(|need| self.decide(&need)).collect();
        match effect {
            Effect::Execute { command, cwd, prelude } => {
                details.extend(self.command_line(command, cwd, prelude));
            }
            Effect::Widen { right } => details.extend(self.widened(right)),
            Effect::Consult { question } => details.push(self.question(question)),
            Effect::Read { .. } | Effect::Write { .. } | Effect::Fetch { .. } => {}
        }
        details
    }

    /// A question is what is asked; a rule can only deny it.
    fn question(&self, question: &Question) -> Detail {
        let need = Need::named(QUESTION, &question.text, Tier::Read);
        let judged = self.decide(&need);
        match judged.action {
            Action::Deny => judged,
            Action::Allow | Action::Ask => {
                let reason = "the model asks you".to_owned();
                crate::decide::detail(&need, Action::Ask, reason, Source::Question, Vec::new())
            }
        }
    }

    pub(crate) fn places(&self) -> Places<'_> {
        Places { workspace: &self.workspace, home: self.home.as_deref(), paths: &*self.paths }
    }
}
