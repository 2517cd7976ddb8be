//! What holds for one permission.
//!
//! 1. Each layer gives its own answer: the last rule in it that matches. In the
//!    session layer any `deny` that matches comes first, because grants are
//!    appended there. An `allow` of the project layer is dropped before that.
//! 2. What would destroy something for good is denied, and so is what a layer
//!    denies. Nothing lifts either.
//! 3. Plan mode denies whatever does more than look.
//! 4. A protected place asks, or is refused, unless a managed or user rule
//!    names exactly that file.
//! 5. A layer that asks decides, with one exception: what the person allowed
//!    for this session lifts an `ask` of the user's or the project's rules,
//!    because the person has just answered it. It does not lift a managed one.
//! 6. A layer that allows decides.
//! 7. Otherwise the mode does.

use std::path::{Path, PathBuf};

use rein_protocol::{Mode, Tier};

use crate::book::Answer;
use crate::judgement::{Detail, Lift, Source};
use crate::offer;
use crate::pattern::Subject;
use crate::policy::{Confinement, LayerKind, Policy};
use crate::protect::{self, Guard};
use crate::resource::{Hand, Need, Reach, Target};
use crate::rule::{Action, BASH, EDIT, EXTERNAL_DIRECTORY, READ, Rule, WEBFETCH};

/// Directories for what is thrown away, which a sandbox lets commands write to.
const SCRATCH: [&str; 6] =
    ["/tmp", "/var/tmp", "/private/tmp", "/private/var/tmp", "/var/folders", "/private/var/folders"];

/// Directories that a build makes again.
const MADE_AGAIN: [&str; 25] = [
    "target",
    "node_modules",
    "dist",
    "build",
    "out",
    "bin",
    "obj",
    "coverage",
    "htmlcov",
    "tmp",
    "temp",
    "logs",
    "__pycache__",
    ".pytest_cache",
    ".mypy_cache",
    ".ruff_cache",
    ".next",
    ".nuxt",
    ".turbo",
    ".cache",
    ".gradle",
    ".parcel-cache",
    ".svelte-kit",
    ".tox",
    ".venv",
];

impl Policy {
    pub(crate) fn decide(&self, need: &Need) -> Detail {
        let guard = protect::guard(need, &self.workspace, self.home.as_deref(), &self.protected);
        if let Some(Guard::Catastrophic(reason)) = guard {
            return detail(need, Action::Deny, reason, Source::Catastrophic, Vec::new());
        }
        let subject = Subject::of(need, self.home.as_deref());
        let answers = self.rules.answers(&need.permission, &subject);
        if let Some(answer) = denying(&answers) {
            return by_rule(need, answer, Vec::new());
        }
        if self.mode == Mode::Plan && need.tier != Tier::Read {
            return by_plan(need);
        }
        if let Some(guard) = guard
            && !answers.iter().any(|answer| answer.names_exactly(&need.permission))
        {
            return guarded(need, guard);
        }
        if let Some(answer) = binding_ask(&answers) {
            let liftable = answer.layer != LayerKind::Managed;
            let lifts = if liftable { vec![flag(need)] } else { Vec::new() };
            let mut asked = by_rule(need, answer, lifts);
            if liftable {
                asked.grants = offer::grants(need, self.places());
            }
            return asked;
        }
        match answers.iter().find(|answer| answer.rule.action == Action::Allow) {
            Some(answer) => by_rule(need, answer, Vec::new()),
            None => self.by_mode(need),
        }
    }

    fn by_mode(&self, need: &Need) -> Detail {
        let mode = self.mode;
        let least = self.enough(need);
        if need.permission == READ || least.is_some_and(|least| permits(mode, least)) {
            return detail(need, Action::Allow, allowed(need, mode), Source::Mode(mode), Vec::new());
        }
        let lifts = [flag(need)].into_iter().chain(least.map(Lift::Mode)).collect();
        let mut asked = detail(need, Action::Ask, default_reason(need, mode), Source::Mode(mode), lifts);
        asked.grants = offer::grants(need, self.places());
        asked
    }

    fn is_secret(&self, need: &Need) -> bool {
        let content = Need { permission: READ.to_owned(), hand: Hand::Command, ..need.clone() };
        protect::guard(&content, &self.workspace, self.home.as_deref(), &self.protected).is_some()
    }

    /// The mildest mode that allows this without a rule, if one does.
    fn enough(&self, need: &Need) -> Option<Mode> {
        let held = self.confinement == Confinement::Confined && need.hand != Hand::Tool;
        let scratch = held && is_scratch(need);
        match (need.permission.as_str(), &need.target) {
            (EDIT, Target::Inside { .. }) => {
                Some(if removes_work(need) || is_device_name(need) { Mode::Free } else { Mode::Write })
            }
            (EXTERNAL_DIRECTORY, _) if need.hand == Hand::Lists && self.is_secret(need) => Some(Mode::Free),
            (EDIT | EXTERNAL_DIRECTORY, _) if scratch && need.hand != Hand::Runs => Some(Mode::Write),
            (EXTERNAL_DIRECTORY, _)
                if held
                    && matches!(need.tier, Tier::Read | Tier::Exec)
                    && need.hand != Hand::Runs
                    && !self.reaches_home(need) =>
            {
                Some(Mode::Write)
            }
            (EDIT | BASH | WEBFETCH | EXTERNAL_DIRECTORY, _) => Some(Mode::Free),
            _ => None,
        }
    }

    /// Whether all of a home directory may be read, secrets and all.
    fn reaches_home(&self, need: &Need) -> bool {
        let Some(path) = need.path().filter(|_| need.hand == Hand::Command) else { return false };
        let is_pattern =
            |part: &std::path::Component<'_>| part.as_os_str().to_string_lossy().contains(['*', '?', '[']);
        let base: PathBuf = path.components().take_while(|part| !is_pattern(part)).collect();
        let homes = ["/home", "/Users", "/root"].map(Path::new);
        let a_home = homes.iter().any(|homes| base == **homes || base.parent() == Some(homes));
        a_home || base.parent().is_none() || self.home.as_ref().is_some_and(|home| home.starts_with(&base))
    }
}

/// Whether a whole directory goes that nothing makes again.
fn removes_work(need: &Need) -> bool {
    let made_again = Path::new(&need.resource).components().any(|component| {
        let name = component.as_os_str().to_string_lossy();
        MADE_AGAIN.contains(&name.as_ref()) || name.ends_with(".egg-info") || name.ends_with(".dSYM")
    });
    need.reach == Reach::Tree && !made_again
}

fn is_scratch(need: &Need) -> bool {
    let within = |path: &Path| {
        SCRATCH.iter().any(|scratch| {
            path.starts_with(scratch) && (need.reach != Reach::Tree || path != Path::new(scratch))
        })
    };
    need.path().is_some_and(within)
}

/// Names that are devices on some systems, wherever they are.
fn is_device_name(need: &Need) -> bool {
    let name = Path::new(&need.resource).file_name().map(|name| name.to_string_lossy().to_lowercase());
    need.hand != Hand::Tool && name.is_some_and(|name| matches!(name.as_str(), "nul" | "con" | "prn" | "aux"))
}

/// Whether a mode is at least as permissive as another; plan mode permits nothing.
pub(crate) fn permits(mode: Mode, least: Mode) -> bool {
    match mode {
        Mode::Plan => false,
        Mode::Tight => least == Mode::Tight,
        Mode::Write => matches!(least, Mode::Tight | Mode::Write),
        Mode::Free => matches!(least, Mode::Tight | Mode::Write | Mode::Free),
    }
}

pub(crate) fn denying<'a, 'b>(answers: &'b [Answer<'a>]) -> Option<&'b Answer<'a>> {
    answers.iter().find(|answer| answer.rule.action == Action::Deny)
}

/// The `ask` that decides, if one does.
pub(crate) fn binding_ask<'a, 'b>(answers: &'b [Answer<'a>]) -> Option<&'b Answer<'a>> {
    let asks =
        |kind: LayerKind| answers.iter().find(move |one| one.layer == kind && one.rule.action == Action::Ask);
    let granted =
        || answers.iter().any(|one| one.layer == LayerKind::Session && one.rule.action == Action::Allow);
    asks(LayerKind::Managed)
        .or_else(|| asks(LayerKind::Session))
        .or_else(|| if granted() { None } else { asks(LayerKind::User).or_else(|| asks(LayerKind::Project)) })
}

fn guarded(need: &Need, guard: Guard) -> Detail {
    let lifts = vec![Lift::UserRule(format!("{}:{}", need.permission, need.resource))];
    match guard {
        Guard::Asked(reason) => detail(need, Action::Ask, reason, Source::Protected, lifts),
        Guard::Refused(reason) => detail(need, Action::Deny, reason, Source::Protected, lifts),
        Guard::Catastrophic(reason) => detail(need, Action::Deny, reason, Source::Catastrophic, Vec::new()),
    }
}

fn by_plan(need: &Need) -> Detail {
    let what = match need.permission.as_str() {
        EDIT => "no file is changed",
        BASH => "no command runs",
        WEBFETCH => "the network is not used",
        _ => "nothing is done",
    };
    let least = match (need.permission.as_str(), &need.target) {
        (EDIT, Target::Inside { .. }) => Some(Mode::Write),
        (EDIT | BASH | WEBFETCH | EXTERNAL_DIRECTORY, _) => Some(Mode::Free),
        _ => None,
    };
    let reason = format!("plan mode: {what} until the plan is approved");
    detail(need, Action::Deny, reason, Source::Plan, least.map(Lift::Mode).into_iter().collect())
}

pub(crate) fn by_rule(need: &Need, answer: &Answer<'_>, lifts: Vec<Lift>) -> Detail {
    let (action, reason, source) = said(answer);
    detail(need, action, reason, source, lifts)
}

/// What a rule says, with its reason.
pub(crate) fn said(answer: &Answer<'_>) -> (Action, String, Source) {
    let rule = answer.rule;
    let verb = match rule.action {
        Action::Allow => "allows it",
        Action::Ask => "asks first",
        Action::Deny => "denies it",
    };
    let reason = format!("{} {verb}", described(rule, answer.layer));
    (rule.action, reason, Source::Rule { layer: answer.layer, rule: rule.clone() })
}

fn described(rule: &Rule, layer: LayerKind) -> String {
    match rule.origin.as_str() {
        "" => format!("the {} rule `{} {rule}`", layer.name(), rule.action.name()),
        origin => format!("the {} rule `{} {rule}` ({origin})", layer.name(), rule.action.name()),
    }
}

fn allowed(need: &Need, mode: Mode) -> String {
    match (mode, need.permission.as_str()) {
        (_, READ) => format!("reads only: {}", need.resource),
        (Mode::Free, _) => "mode `free` does what no rule denies".to_owned(),
        (Mode::Tight | Mode::Write | Mode::Plan, _) => format!("mode `{}` allows it", mode.name()),
    }
}

fn default_reason(need: &Need, mode: Mode) -> String {
    let before = match (need.permission.as_str(), &need.target, need.reach) {
        (EDIT, Target::Outside { .. }, _) => "a file outside of the workspace is changed",
        (EDIT, _, Reach::Tree) => "a whole directory is removed",
        (EDIT, _, _) => "a file is changed",
        (WEBFETCH, _, _) => "the network is used",
        (EXTERNAL_DIRECTORY, _, _) if need.hand == Hand::Runs => "a program outside of the workspace is run",
        (EXTERNAL_DIRECTORY, _, _) => "anything outside of the workspace is touched",
        (permission, _, _) => return format!("no rule speaks about `{permission}`, so a person is asked"),
    };
    format!("mode `{}` asks before {before}", mode.name())
}

fn flag(need: &Need) -> Lift {
    Lift::Flag(format!("{}:{}", need.permission, need.resource))
}

pub(crate) fn detail(
    need: &Need,
    action: Action,
    reason: String,
    source: Source,
    lifts: Vec<Lift>,
) -> Detail {
    Detail {
        permission: need.permission.clone(),
        resource: need.resource.clone(),
        action,
        reason,
        source,
        grants: Vec::new(),
        lifts,
        span: None,
    }
}
