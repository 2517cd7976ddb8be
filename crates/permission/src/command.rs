//! A command line, taken apart into the permissions that it needs.
//!
//! Every command in it is judged by itself, and so is every path; the strictest
//! answer holds for the line. What is dangerous or not understood has a detail
//! of its own, which no rule can allow.

use std::borrow::Cow;
use std::collections::HashSet;
use std::path::Path;

use rein_protocol::{Mode, Tier};
use rein_shell::{Analysis, Danger, Hazard, PathUse, Span, Surroundings, Usage, analyze};

use crate::book::Answer;
use crate::decide::{denying, detail, said};
use crate::judgement::{Detail, Lift, Source};
use crate::pattern::{CommandNames, Subject};
use crate::policy::{Confinement, Policy};
use crate::resource::{Hand, Need, Reach};
use crate::rule::{Action, BASH, EDIT, READ};

/// The longest piece of a command line that stands for something not understood.
const SHOWN: usize = 120;

impl Policy {
    /// Every detail of a command line that runs in `cwd`, in a shell that has gone through `prelude`.
    pub(crate) fn command_line(&self, command: &str, cwd: &Path, prelude: &str) -> Vec<Detail> {
        let text = in_full(prelude, command);
        let mut details = self.analyzed(&text, &self.analysis(&text, cwd));
        // Places are those of the line that the person sees.
        let before = text.len() - command.len();
        for detail in &mut details {
            let inside = detail.span.filter(|span| span.start >= before);
            detail.span = inside.map(|span| Span { start: span.start - before, end: span.end - before });
        }
        details
    }

    /// What the command line would do.
    pub(crate) fn analysis(&self, command: &str, cwd: &Path) -> Analysis {
        let cwd = crate::place::absolute(cwd, &self.workspace);
        let (cwd, home) = (cwd.to_string_lossy(), self.home.as_deref().map(Path::to_string_lossy));
        analyze(command, &Surroundings { directory: &cwd, home: home.as_deref(), variables: &[] })
    }

    pub(crate) fn analyzed(&self, command: &str, analysis: &Analysis) -> Vec<Detail> {
        let mut details: Vec<Detail> = Vec::new();
        for index in 0..analysis.commands.len() {
            details.extend(self.part(analysis, index));
        }
        if analysis.commands.is_empty() && analysis.is_understood() {
            details.push(self.no_command(command));
        }
        details.extend(self.whole_line(command, analysis));
        let apart = analysis.hazards.iter().filter(|hazard| self.stands_apart(hazard, analysis));
        details.extend(apart.map(|hazard| self.hazard(hazard, command)));
        details.extend(self.sweeps(command, analysis));
        details.extend(self.not_understood(command, analysis));
        details.extend(self.share(command));
        details.extend(self.confinement_details(analysis));
        let mut seen = HashSet::new();
        for used in &analysis.paths {
            details.extend(self.path(used, &mut seen));
        }
        details
    }

    /// A line without any command: a comment, or variables that are set.
    fn no_command(&self, command: &str) -> Detail {
        let need = bash(command.trim());
        if self.mode == Mode::Plan {
            return self.decide(&need);
        }
        detail(&need, Action::Allow, "no command runs".to_owned(), Source::Mode(self.mode), Vec::new())
    }

    /// A rule that speaks about the line as a whole, and about no command in it.
    fn whole_line(&self, command: &str, analysis: &Analysis) -> Option<Detail> {
        let line = command.trim();
        if analysis.commands.len() == 1 && self.names(analysis, 0).all.iter().any(|name| name == line) {
            return None;
        }
        let single = |names: CommandNames| Subject::Command(names);
        let whole = single(CommandNames {
            all: vec![line.to_owned()],
            heads: heads(line),
            ..CommandNames::default()
        });
        let answers = self.rules.answers(BASH, &whole);
        let strict = |answer: &&Answer<'_>| answer.rule.action != Action::Allow;
        if !answers.iter().any(|answer| strict(&answer)) {
            return None;
        }
        let parts: Vec<Subject> =
            (0..analysis.commands.len()).map(|index| single(self.names(analysis, index))).collect();
        let about_a_part = |answer: &&Answer<'_>| {
            parts.iter().any(|part| {
                self.rules
                    .matching(BASH, part)
                    .iter()
                    .any(|(layer, rule)| *layer == answer.layer && rule == answer.rule)
            })
        };
        let answer = denying(&answers).filter(|answer| !about_a_part(answer)).or_else(|| {
            answers.iter().find(|answer| answer.rule.action == Action::Ask && !about_a_part(answer))
        })?;
        let (action, reason, source) = said(answer);
        Some(detail(&bash(line), action, reason, source, Vec::new()))
    }

    /// Whether a hazard is no matter of the command that has it.
    fn stands_apart(&self, hazard: &Hazard, analysis: &Analysis) -> bool {
        match hazard.class {
            Danger::Catastrophic => !self.deletes_inside(hazard, analysis),
            Danger::Unbounded if self.confinement == Confinement::Confined => false,
            // The files that it writes are judged as such, where they are known.
            Danger::Writes => !writes_known_files(analysis, hazard.command),
            Danger::Unbounded
            | Danger::Executes
            | Danger::Exfiltrates
            | Danger::Secrets
            | Danger::Privilege
            | Danger::Persistence => true,
        }
    }

    /// `find / -delete`: what a search begins at is removed with all that is under it.
    fn sweeps(&self, command: &str, analysis: &Analysis) -> Vec<Detail> {
        let home = self.home.as_deref().map(Path::to_string_lossy);
        let irreplaceable = |path: &str| {
            let path = self.paths.resolve(Path::new(path));
            let above = self.workspace.starts_with(&path) && path != self.workspace;
            let at_home = self.home.as_ref().is_some_and(|home| home.starts_with(&path));
            let system = || rein_shell::paths::system(&path.to_string_lossy(), home.as_deref()).is_some();
            above || at_home || !path.starts_with(&self.workspace) && system()
        };
        let removing = analysis
            .hazards
            .iter()
            .filter(|hazard| hazard.class == Danger::Writes && hazard.shown == "-delete");
        let found = removing.flat_map(|hazard| {
            let begins = analysis.paths.iter().filter(|used| used.command == hazard.command);
            begins.filter(|used| used.path.as_deref().is_some_and(irreplaceable)).map(|used| Hazard {
                class: Danger::Catastrophic,
                reason: "everything below this is removed".to_owned(),
                shown: used.shown.clone(),
                command: hazard.command,
                span: hazard.span,
            })
        });
        found.map(|hazard| self.hazard(&hazard, command)).collect()
    }

    /// Whether what is said to be irreplaceable is a part of the workspace after all: then it is a change like any
    /// other, which the mode judges.
    fn deletes_inside(&self, hazard: &Hazard, analysis: &Analysis) -> bool {
        let workspace = &self.workspace;
        let whole = workspace.parent().is_none()
            || self.home.as_ref().is_some_and(|home| home.starts_with(workspace));
        let mut deleted = analysis
            .paths
            .iter()
            .filter(|used| matches!(used.usage, Usage::Delete | Usage::DeleteTree))
            .filter(|used| used.command == hazard.command && used.shown == hazard.shown)
            .peekable();
        !whole
            && deleted.peek().is_some()
            && deleted.all(|used| {
                let path = used.path.as_deref().map(|path| self.paths.resolve(Path::new(path)));
                path.is_some_and(|path| path.starts_with(workspace) && path != *workspace)
            })
    }

    fn hazard(&self, hazard: &Hazard, command: &str) -> Detail {
        let shown = shown(&hazard.shown, command, hazard.span);
        let need = bash(&shown);
        let reason = match hazard.shown.as_str() {
            "" => hazard.reason.clone(),
            shown => format!("`{shown}`: {}", hazard.reason),
        };
        let (action, source, lifts) = match hazard.class {
            Danger::Catastrophic => {
                let reason = format!("refused in every mode: {reason}");
                return spanned(
                    detail(&need, Action::Deny, reason, Source::Catastrophic, Vec::new()),
                    hazard.span,
                );
            }
            _ if self.mode == Mode::Plan => return spanned(self.decide(&need), hazard.span),
            Danger::Persistence => (Action::Ask, Source::Protected, vec![]),
            class => match self.mode {
                Mode::Free => (Action::Allow, Source::Mode(Mode::Free), vec![]),
                Mode::Tight | Mode::Write | Mode::Plan => {
                    (Action::Ask, Source::Hazard(class), vec![Lift::Mode(Mode::Free)])
                }
            },
        };
        spanned(detail(&need, action, reason, source, lifts), hazard.span)
    }

    /// A name such as `\\\\host\\share`, with which some systems open a file of another machine.
    fn share(&self, command: &str) -> Option<Detail> {
        let starts = command.match_indices("\\\\").map(|(at, _)| at);
        let at = starts.into_iter().find(|at| is_share(command, *at))?;
        let span = Span { start: at, end: command.len() };
        let word: String = command.get(at..)?.chars().take_while(|next| !next.is_whitespace()).collect();
        Some(self.hazard(&other_machine(word, span), command))
    }

    fn not_understood(&self, command: &str, analysis: &Analysis) -> Vec<Detail> {
        let unknowns = analysis.unknowns.iter().map(|unknown| {
            let shown = shown(&unknown.detail, command, unknown.span);
            (shown, unknown.reason.to_string(), unknown.span)
        });
        let notes = analysis.notes.iter().take(3).map(|note| {
            let span = Span { start: note.at, end: note.at + note.character.len_utf8() };
            let reason = format!("has U+{:04X} in it: {}", u32::from(note.character), note.reason);
            (shown("", command, Span { start: 0, end: command.len() }), reason, span)
        });
        let runs = self.mode == Mode::Free && !self.rules.denies_some(BASH) && analysis.notes.is_empty();
        let all = unknowns.chain(notes).map(|(shown, reason, span)| {
            let need = bash(&shown);
            if self.mode == Mode::Plan {
                return spanned(self.decide(&need), span);
            }
            let (action, source, lifts) = if runs {
                (Action::Allow, Source::Mode(Mode::Free), Vec::new())
            } else if self.mode == Mode::Free {
                (Action::Ask, Source::NotUnderstood, Vec::new())
            } else {
                (Action::Ask, Source::NotUnderstood, vec![Lift::Mode(Mode::Free)])
            };
            spanned(detail(&need, action, format!("not understood: {reason}"), source, lifts), span)
        });
        all.collect()
    }

    fn path(&self, used: &PathUse, seen: &mut HashSet<Need>) -> Vec<Detail> {
        let (permission, hand) = match used.usage {
            Usage::List => (READ, Hand::Lists),
            Usage::Read | Usage::Unknown => (READ, Hand::Command),
            Usage::Execute => (READ, Hand::Runs),
            Usage::Write | Usage::Delete | Usage::DeleteTree => (EDIT, Hand::Command),
        };
        let Some(path) = used.path.as_deref() else {
            let need = Need { hand, ..Need::named(permission, &used.shown, tier(permission)) };
            if !seen.insert(need.clone()) {
                return Vec::new();
            }
            let guessed = self.guessed(used, permission, hand);
            return guessed
                .chain([self.unknown_path(&need)])
                .map(|detail| spanned(detail, used.span))
                .collect();
        };
        let host = path
            .strip_prefix("//")
            .filter(|rest| rest.starts_with(|next: char| next.is_ascii_alphanumeric()));
        if host.is_some_and(|rest| rest.contains('/')) {
            return vec![self.hazard(&other_machine(path.to_owned(), used.span), path)];
        }
        let (path, reach) = match (used.usage, used.glob) {
            (Usage::DeleteTree, _) => (path.strip_suffix("/*").unwrap_or(path), Reach::Tree),
            (Usage::Delete, true) if path.ends_with("/*") => (path.trim_end_matches("/*"), Reach::Tree),
            (_, true) => (path, Reach::Glob),
            (_, false) => (path, Reach::One),
        };
        let path = if path.is_empty() { "/" } else { path };
        Need::of_path(permission, Path::new(path), reach, hand, self.places())
            .into_iter()
            .filter(|need| seen.insert(need.clone()))
            .map(|need| spanned(self.decide(&need), used.span))
            .collect()
    }

    /// What a path that is not known most likely stands for, where that is guarded.
    fn guessed(&self, used: &PathUse, permission: &str, hand: Hand) -> impl Iterator<Item = Detail> {
        let home = self.home.as_deref().map(Path::to_string_lossy).unwrap_or_default();
        let below = ["~", "$HOME", "${HOME}"].iter().find_map(|home| used.shown.strip_prefix(home));
        let path = match below.filter(|rest| rest.starts_with('/')) {
            Some(rest) => format!("{home}{rest}"),
            None => used.shown.clone(),
        };
        let needs = Need::of_path(permission, Path::new(&path), Reach::One, hand, self.places());
        let details: Vec<Detail> = needs.iter().map(|need| self.decide(need)).collect();
        details.into_iter().filter(|detail| matches!(detail.source, Source::Protected | Source::Catastrophic))
    }

    /// A path that is only known when the command runs.
    fn unknown_path(&self, need: &Need) -> Detail {
        if self.mode == Mode::Plan {
            return self.decide(need);
        }
        let reads = need.permission == READ;
        let denied = self.rules.denies_some(&need.permission);
        let held = self.mode == Mode::Write && self.confinement == Confinement::Confined;
        let quiet = self.mode == Mode::Free || held && reads && need.hand != Hand::Runs;
        let what = match (reads, need.hand) {
            (false, _) => "changes",
            (true, Hand::Runs) => "runs",
            (true, _) => "reads",
        };
        let reason = format!("which file it {what} is only known when it runs: `{}`", need.resource);
        if denied && !reads {
            let reason = format!("{reason}; a rule denies changes to some files, and this may be one");
            return detail(need, Action::Deny, reason, Source::NotUnderstood, Vec::new());
        }
        if quiet && !denied {
            return detail(need, Action::Allow, reason, Source::Mode(self.mode), Vec::new());
        }
        let lifts = if denied { Vec::new() } else { vec![Lift::Mode(Mode::Free)] };
        detail(need, Action::Ask, reason, Source::NotUnderstood, lifts)
    }
}

/// What the shell reads: what it already knows, and then the line.
pub(crate) fn in_full<'t>(prelude: &str, command: &'t str) -> Cow<'t, str> {
    match prelude.is_empty() {
        true => Cow::Borrowed(command),
        false => Cow::Owned(format!("{prelude}\n{command}")),
    }
}

fn other_machine(shown: String, span: Span) -> Hazard {
    let reason = "a file of another machine, which learns who asks".to_owned();
    Hazard { class: Danger::Exfiltrates, reason, shown, command: None, span }
}

fn is_share(command: &str, at: usize) -> bool {
    let before = command.get(..at).and_then(|text| text.chars().next_back());
    if before.is_some_and(|before| !before.is_whitespace() && !matches!(before, '"' | '\'' | '=')) {
        return false;
    }
    let Some(rest) = command.get(at + 2..) else { return false };
    let host = rest
        .chars()
        .take_while(|next| next.is_ascii_alphanumeric() || matches!(next, '.' | '-' | '_'))
        .count();
    let mut after = rest.chars().skip(host);
    host >= 2 && after.next() == Some('\\') && after.any(|next| next.is_ascii_alphanumeric())
}

/// Whether it is known which files a command changes.
pub(crate) fn writes_known_files(analysis: &Analysis, command: Option<usize>) -> bool {
    let mut changed = analysis
        .paths
        .iter()
        .filter(|used| used.command == command)
        .filter(|used| matches!(used.usage, Usage::Write | Usage::Delete | Usage::DeleteTree));
    changed.next().is_some()
}

/// The need to run something.
pub(crate) fn bash(resource: &str) -> Need {
    Need { hand: Hand::Command, ..Need::named(BASH, resource, Tier::Exec) }
}

fn tier(permission: &str) -> Tier {
    if permission == READ { Tier::Read } else { Tier::Write }
}

pub(crate) fn spanned(detail: Detail, span: Span) -> Detail {
    Detail { span: Some(span), ..detail }
}

/// The first word of a line, if rules could name it.
pub(crate) fn heads(line: &str) -> Vec<String> {
    line.split(' ').next().map(str::to_owned).into_iter().collect()
}

fn shown(text: &str, command: &str, span: Span) -> String {
    let text = match text.trim() {
        "" => command.get(span.start..span.end).unwrap_or(command).trim(),
        text => text,
    };
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}
