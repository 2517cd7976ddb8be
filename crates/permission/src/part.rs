//! One command of a command line: its names for rules, what its mode says about
//! what it does, and what "always" may offer for it.

use rein_protocol::Mode;
use rein_protocol::ask::Grant;
use rein_shell::{Analysis, Effect, Program, SimpleCommand, Word, line};

use crate::command::{bash, spanned, writes_known_files};
use crate::decide::{binding_ask, denying, detail, permits, said};
use crate::judgement::{Detail, Lift, Source};
use crate::pattern::{CommandNames, Subject, head};
use crate::policy::{Confinement, LayerKind, Policy};
use crate::rule::{Action, BASH};
use crate::wildcard;

/// The longest pattern that is offered.
const LONGEST: usize = 200;

impl Policy {
    /// The answer for one command.
    pub(crate) fn part(&self, analysis: &Analysis, index: usize) -> Option<Detail> {
        let command = analysis.commands.get(index)?;
        let names = self.names(analysis, index);
        let text = names.all.first().cloned().unwrap_or_default();
        let allow = names.allow.clone();
        let offered = || offer(command, allow.as_deref());
        let subject = Subject::Command(names);
        let answers = self.rules.answers(BASH, &subject);
        let need = bash(&text);
        let decided = if let Some(answer) = denying(&answers) {
            let (action, reason, source) = said(answer);
            detail(&need, action, reason, source, Vec::new())
        } else if self.mode == Mode::Plan {
            self.decide(&need)
        } else if let Some(answer) = binding_ask(&answers) {
            let (action, reason, source) = said(answer);
            let offered = if answer.layer == LayerKind::Managed { None } else { offered() };
            let lifts = offered.iter().map(|pattern| Lift::Flag(format!("{BASH}:{pattern}"))).collect();
            granted(detail(&need, action, reason, source, lifts), offered)
        } else if let Some(answer) = answers.iter().find(|answer| answer.rule.action == Action::Allow) {
            let (action, reason, source) = said(answer);
            detail(&need, action, reason, source, Vec::new())
        } else {
            self.part_by_mode(analysis, index, command, offered, &text)
        };
        Some(spanned(decided, command.span))
    }

    fn part_by_mode(
        &self,
        analysis: &Analysis,
        index: usize,
        command: &SimpleCommand,
        offered: impl FnOnce() -> Option<String>,
        text: &str,
    ) -> Detail {
        let need = bash(text);
        let mode = self.mode;
        let follows = if follows_links(command) { Effect::Guarded } else { Effect::Shell };
        let effect = command.loudest().max(follows);
        let least = self.least(effect, writes_known_files(analysis, Some(index)));
        if permits(mode, least) {
            let reason = match (mode, effect) {
                (_, Effect::Shell) => format!("changes only the shell: {text}"),
                (_, Effect::Read) => format!("reads only: {text}"),
                (Mode::Free, _) => "mode `free` does what no rule denies".to_owned(),
                _ => format!("mode `{}` runs what {effect}: {text}", mode.name()),
            };
            return detail(&need, Action::Allow, reason, Source::Mode(mode), Vec::new());
        }
        let why = command.effects.first().map(|(_, why)| AsRef::<str>::as_ref(why)).unwrap_or_default();
        let why: String = why.chars().take(LONGEST).collect();
        let reason = format!("mode `{}` asks before a command runs: it {effect} ({why})", mode.name());
        let offered = offered();
        let flag = offered.iter().map(|pattern| Lift::Flag(format!("{BASH}:{pattern}")));
        let lifts = flag.chain([Lift::Mode(least)]).collect();
        granted(detail(&need, Action::Ask, reason, Source::Mode(mode), lifts), offered)
    }

    /// The mildest mode that lets a command with this effect run.
    fn least(&self, effect: Effect, writes_known_files: bool) -> Mode {
        match self.confinement {
            _ if effect <= Effect::Read => Mode::Tight,
            Confinement::Confined if effect.quiet_when_confined() => Mode::Write,
            Confinement::Unconfined | Confinement::Unavailable
                if effect == Effect::Write && writes_known_files =>
            {
                Mode::Write
            }
            Confinement::Confined | Confinement::Unconfined | Confinement::Unavailable => Mode::Free,
        }
    }

    /// The names that rules may know a command by.
    pub(crate) fn names(&self, analysis: &Analysis, index: usize) -> CommandNames {
        let Some(command) = analysis.commands.get(index) else { return CommandNames::default() };
        let mut names = CommandNames { all: command.spellings(), ..CommandNames::default() };
        let mut words = vec![known(&command.canonical), known(&command.argv)];
        if let (Program::File(path), Some(first)) = (&command.program, command.canonical.first()) {
            // What a rule denies by its name is denied wherever the program lies.
            let name = path.rsplit(['/', '\\']).next().unwrap_or(path);
            let rest = command.canonical.get(1..).unwrap_or_default().iter().cloned();
            let renamed: Vec<Word> = std::iter::once(Word::text(name)).chain(rest).collect();
            if first.literal().is_some() {
                names.all.push(line(&renamed));
                words.push(known(&renamed));
            }
        }
        for shown in words.iter().map(|words| words.join(" ")) {
            if !names.all.contains(&shown) {
                names.all.push(shown);
            }
        }
        names.heads = names.all.iter().filter_map(|name| head(name)).map(str::to_owned).collect();
        names.words = words;
        names.only_moves = matches!(&command.program, Program::Builtin(name) if matches!(name.as_str(), "cd" | "pushd" | "popd"));
        names.allow = allowable(command);
        names.by_name_only = command.loudest() >= Effect::Secret && command.loudest() != Effect::Unknown;
        names
    }
}

/// Options that make a command that only reads follow links out of the workspace.
const FOLLOWING: [(&[&str], &[&str]); 3] = [
    (&["find", "du", "fd"], &["-L", "-follow", "--follow", "--dereference"]),
    (&["rg", "ag"], &["-L", "--follow"]),
    (&["tree"], &["-l"]),
];

fn follows_links(command: &SimpleCommand) -> bool {
    let Some(name) = command.program.name() else { return false };
    let given = |option: &str| {
        command.argv.iter().skip(1).map(Word::start).take_while(|word| *word != "--").any(|word| {
            let letters = word.strip_prefix('-').filter(|rest| !rest.starts_with('-'));
            match (option.strip_prefix("--"), option.strip_prefix('-')) {
                (Some(_), _) => word.len() > 4 && option.starts_with(word),
                (None, Some(letter)) if letter.len() == 1 => {
                    letters.is_some_and(|letters| letters.contains(letter))
                }
                _ => word == option,
            }
        })
    };
    FOLLOWING
        .iter()
        .any(|(names, options)| names.contains(&name) && options.iter().any(|option| given(option)))
}

fn known(words: &[Word]) -> Vec<String> {
    words.iter().map(|word| word.shown().into_owned()).collect()
}

fn granted(detail: Detail, offered: Option<String>) -> Detail {
    let grants = offered.map(|pattern| Grant { permission: BASH.to_owned(), pattern }).into_iter().collect();
    Detail { grants, ..detail }
}

/// What an `allow` must cover: the command, or the wrapper that gives it other rights or another machine.
fn allowable(command: &SimpleCommand) -> Option<String> {
    if matches!(command.program, Program::Unknown) {
        return None;
    }
    let outer = command.via.iter().find(|wrapper| wrapper.effect >= Effect::Process);
    Some(outer.map_or_else(|| command.text(), |wrapper| line(&wrapper.canonical)))
}

/// What may be offered for a command: a pattern for its like, or exactly it.
fn offer(command: &SimpleCommand, allow: Option<&str>) -> Option<String> {
    let text = allow?;
    let wrapped = text != command.text();
    if wrapped || matches!(command.program, Program::Unknown | Program::Function(_)) {
        return None;
    }
    let broad = command.always().filter(|pattern| wildcard::matches(pattern, text));
    let whole = command.canonical.iter().all(|word| word.literal().is_some());
    let offered = broad.or_else(|| (whole && wildcard::is_literal(text)).then(|| text.to_owned()));
    // Nobody reads a longer one before saying yes to it for good.
    offered.filter(|pattern| pattern.chars().count() <= LONGEST)
}
