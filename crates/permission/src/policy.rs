//! The gate: layers of rules, a mode, and an intent in; a judgement out.
//!
//! For every permission that an intent needs:
//!
//! 1. Each layer gives its own answer: the last rule in it that matches. In the
//!    session layer any `deny` that matches comes first, because grants are
//!    appended there. An `allow` of the project layer is dropped before that,
//!    and so is every `allow` for `bash`: a pattern says nothing about what a
//!    command line does.
//! 2. A layer that denies decides. Nothing lifts it.
//! 3. Plan mode denies whatever does more than look.
//! 4. A write to a protected place asks, unless a managed or user rule names
//!    exactly that file.
//! 5. A layer that asks decides, with one exception: what the person allowed
//!    for this session lifts an `ask` of the user's or the project's rules,
//!    because the person has just answered it. It does not lift a managed one.
//! 6. A layer that allows decides.
//! 7. Otherwise the mode does.

use std::path::{Path, PathBuf};

use rein_protocol::{Intent, Mode, Tier};

use crate::judgement::{Detail, Judgement, Lift, Source};
use crate::offer;
use crate::protect;
use crate::resource::{Need, Places, Target};
use crate::rule::{Action, BASH, EDIT, EXTERNAL_DIRECTORY, READ, Rule, WEBFETCH};
use crate::wildcard;

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

/// Everything that decides about calls.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    /// The layers, in any order. Several session layers are one list; several of
    /// another kind are independent of each other.
    pub layers: Vec<Layer>,
    /// What holds where no rule speaks.
    pub mode: Mode,
    /// Where the session works: absolute, with symbolic links resolved.
    pub workspace: PathBuf,
    /// What `~` stands for in patterns.
    pub home: Option<PathBuf>,
    /// rein's own directories: absolute, with symbolic links resolved.
    pub protected: Vec<PathBuf>,
}

impl Policy {
    /// A policy without rules.
    pub fn new(workspace: impl Into<PathBuf>, mode: Mode) -> Self {
        Self { layers: Vec::new(), mode, workspace: workspace.into(), home: None, protected: Vec::new() }
    }

    /// With one more layer.
    #[must_use]
    pub fn with_layer(mut self, kind: LayerKind, rules: Vec<Rule>) -> Self {
        self.layers.push(Layer { kind, rules });
        self
    }

    /// Appends rules to the session layer.
    pub fn add_to_session(&mut self, rules: impl IntoIterator<Item = Rule>) {
        match self.layers.iter_mut().rfind(|layer| layer.kind == LayerKind::Session) {
            Some(layer) => layer.rules.extend(rules),
            None => {
                self.layers.push(Layer { kind: LayerKind::Session, rules: rules.into_iter().collect() });
            }
        }
    }

    /// Judges a call by what it would do. A call that does nothing is allowed.
    #[must_use]
    pub fn judge(&self, intent: &Intent) -> Judgement {
        let needs = intent.effects.iter().flat_map(|effect| Need::of(effect, self.places()));
        Judgement::of(needs.map(|need| self.decide(&need)).collect())
    }

    /// Judges something that is no effect, such as `doom_loop`.
    #[must_use]
    pub fn judge_named(&self, permission: &str, resource: &str) -> Judgement {
        Judgement::of(vec![self.decide(&Need::named(permission, resource, Tier::Read))])
    }

    fn places(&self) -> Places<'_> {
        Places { workspace: &self.workspace, home: self.home.as_deref() }
    }

    fn decide(&self, need: &Need) -> Detail {
        let answers = self.answers(need);
        if let Some(answer) = answers.iter().find(|answer| answer.rule.action == Action::Deny) {
            return self.by_rule(need, answer, Vec::new());
        }
        if self.mode == Mode::Plan && need.tier != Tier::Read {
            return self.by_plan(need);
        }
        if let Some(reason) = self.protection(need)
            && !answers.iter().any(|answer| answer.names_exactly(need))
        {
            let lifts = vec![Lift::UserRule(format!("{}:{}", need.permission, need.resource))];
            return detail(need, Action::Ask, reason, Source::Protected, lifts);
        }
        if let Some(answer) = binding_ask(&answers) {
            let liftable = answer.layer != LayerKind::Managed && need.permission != BASH;
            let lifts = if liftable { vec![flag(need)] } else { Vec::new() };
            let mut asked = self.by_rule(need, answer, lifts);
            if liftable {
                asked.grants = offer::grants(need, self.places());
            }
            return asked;
        }
        match answers.iter().find(|answer| answer.rule.action == Action::Allow) {
            Some(answer) => self.by_rule(need, answer, Vec::new()),
            None => self.by_mode(need),
        }
    }

    /// What each layer says that says anything. Session layers speak as one.
    fn answers(&self, need: &Need) -> Vec<Answer<'_>> {
        let (session, apart): (Vec<&Layer>, Vec<&Layer>) =
            self.layers.iter().partition(|layer| layer.kind == LayerKind::Session);
        let session = session.into_iter().flat_map(|layer| layer.rules.iter());
        apart
            .into_iter()
            .filter_map(|layer| self.answer(layer.kind, layer.rules.iter(), need))
            .chain(self.answer(LayerKind::Session, session, need))
            .collect()
    }

    fn answer<'a>(
        &self,
        layer: LayerKind,
        rules: impl DoubleEndedIterator<Item = &'a Rule>,
        need: &Need,
    ) -> Option<Answer<'a>> {
        let mut matching =
            rules.rev().filter(|rule| is_honoured(layer, rule, need) && self.matches(rule, need)).peekable();
        let last = *matching.peek()?;
        let denying = match layer {
            LayerKind::Session => matching.find(|rule| rule.action == Action::Deny),
            LayerKind::Managed | LayerKind::User | LayerKind::Project => None,
        };
        Some(Answer { layer, rule: denying.unwrap_or(last) })
    }

    fn matches(&self, rule: &Rule, need: &Need) -> bool {
        rule.concerns(&need.permission) && need.is_covered_by(&rule.pattern, self.places())
    }

    fn protection(&self, need: &Need) -> Option<String> {
        if need.permission != EDIT {
            return None;
        }
        match &need.target {
            Target::Inside { path } => protect::reason(path, Path::new(&need.resource), &self.protected),
            Target::Outside { path } => protect::reason(path, path, &self.protected),
            Target::Text => None,
        }
    }

    fn by_rule(&self, need: &Need, answer: &Answer<'_>, lifts: Vec<Lift>) -> Detail {
        let rule = answer.rule;
        let verb = match rule.action {
            Action::Allow => "allows it",
            Action::Ask => "asks first",
            Action::Deny => "denies it",
        };
        let reason = self.with_unhonoured(need, format!("{} {verb}", described(rule, answer.layer)));
        let source = Source::Rule { layer: answer.layer, rule: rule.clone() };
        detail(need, rule.action, reason, source, lifts)
    }

    fn by_plan(&self, need: &Need) -> Detail {
        let what = match need.permission.as_str() {
            EDIT => "no file is changed",
            BASH => "no command runs",
            WEBFETCH => "the network is not used",
            _ => "nothing is done",
        };
        let lifts = enough(need).map(Lift::Mode).into_iter().collect();
        detail(
            need,
            Action::Deny,
            format!("plan mode: {what} until the plan is approved"),
            Source::Plan,
            lifts,
        )
    }

    fn by_mode(&self, need: &Need) -> Detail {
        let mode = self.mode;
        let allowed = need.permission == READ || enough(need).is_some_and(|least| permits(mode, least));
        if allowed {
            let reason = match mode {
                Mode::Free => "mode `free` does what no rule denies".to_owned(),
                Mode::Tight | Mode::Write | Mode::Plan => format!("mode `{}` allows it", mode.name()),
            };
            return detail(need, Action::Allow, reason, Source::Mode(mode), Vec::new());
        }
        let reason = self.with_unhonoured(need, default_reason(need, mode));
        let mut lifts = if need.permission == BASH { Vec::new() } else { vec![flag(need)] };
        lifts.extend(enough(need).map(Lift::Mode));
        let mut asked = detail(need, Action::Ask, reason, Source::Mode(mode), lifts);
        asked.grants = offer::grants(need, self.places());
        asked
    }

    /// Says so where an `allow` for a command line would have been expected to count.
    fn with_unhonoured(&self, need: &Need, reason: String) -> String {
        let unhonoured = (need.permission == BASH).then(|| {
            self.layers.iter().flat_map(|layer| layer.rules.iter().map(move |rule| (layer.kind, rule))).find(
                |(kind, rule)| {
                    *kind != LayerKind::Project && rule.action == Action::Allow && self.matches(rule, need)
                },
            )
        });
        match unhonoured.flatten() {
            Some((kind, rule)) => format!(
                "{reason}; {} is not honoured: a pattern does not say what a command line does",
                described(rule, kind)
            ),
            None => reason,
        }
    }
}

/// Whether a mode is at least as permissive as another; plan mode permits nothing.
fn permits(mode: Mode, least: Mode) -> bool {
    match mode {
        Mode::Tight | Mode::Plan => false,
        Mode::Write => least == Mode::Write,
        Mode::Free => matches!(least, Mode::Write | Mode::Free),
    }
}

/// The mildest mode that allows this without a rule, if one does.
fn enough(need: &Need) -> Option<Mode> {
    match (need.permission.as_str(), &need.target) {
        (EDIT, Target::Inside { .. }) => Some(Mode::Write),
        (EDIT | BASH | WEBFETCH | EXTERNAL_DIRECTORY, _) => Some(Mode::Free),
        _ => None,
    }
}

fn default_reason(need: &Need, mode: Mode) -> String {
    let before = match (need.permission.as_str(), &need.target) {
        (EDIT, Target::Outside { .. }) => "a file outside of the workspace is changed",
        (EDIT, _) => "a file is changed",
        (BASH, _) => "a command runs",
        (WEBFETCH, _) => "the network is used",
        (EXTERNAL_DIRECTORY, _) => "anything outside of the workspace is touched",
        (permission, _) => return format!("no rule speaks about `{permission}`, so a person is asked"),
    };
    format!("mode `{}` asks before {before}", mode.name())
}

/// What one layer says.
struct Answer<'a> {
    layer: LayerKind,
    rule: &'a Rule,
}

impl Answer<'_> {
    /// Whether this is the administrator's or the user's word for exactly this resource.
    fn names_exactly(&self, need: &Need) -> bool {
        matches!(self.layer, LayerKind::Managed | LayerKind::User)
            && self.rule.action == Action::Allow
            && self.rule.permission == need.permission
            && wildcard::is_literal(&self.rule.pattern)
            && !self.rule.pattern.ends_with(['/', '\\'])
    }
}

/// The `ask` that decides, if one does.
fn binding_ask<'a, 'b>(answers: &'b [Answer<'a>]) -> Option<&'b Answer<'a>> {
    let asks =
        |kind: LayerKind| answers.iter().find(move |one| one.layer == kind && one.rule.action == Action::Ask);
    let granted =
        || answers.iter().any(|one| one.layer == LayerKind::Session && one.rule.action == Action::Allow);
    asks(LayerKind::Managed)
        .or_else(|| asks(LayerKind::Session))
        .or_else(|| if granted() { None } else { asks(LayerKind::User).or_else(|| asks(LayerKind::Project)) })
}

fn is_honoured(kind: LayerKind, rule: &Rule, need: &Need) -> bool {
    rule.action != Action::Allow || (kind != LayerKind::Project && need.permission != BASH)
}

fn described(rule: &Rule, layer: LayerKind) -> String {
    match rule.origin.as_str() {
        "" => format!("the {} rule `{} {rule}`", layer.name(), rule.action.name()),
        origin => format!("the {} rule `{} {rule}` ({origin})", layer.name(), rule.action.name()),
    }
}

fn flag(need: &Need) -> Lift {
    Lift::Flag(format!("{}:{}", need.permission, need.resource))
}

fn detail(need: &Need, action: Action, reason: String, source: Source, lifts: Vec<Lift>) -> Detail {
    Detail {
        permission: need.permission.clone(),
        resource: need.resource.clone(),
        action,
        reason,
        source,
        grants: Vec::new(),
        lifts,
    }
}
