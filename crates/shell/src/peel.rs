//! Wrappers: commands that run another. The table says where the inner command
//! begins; what it does not know is unknown, never safe.

use crate::analysis::{Danger, Program, Reason, Usage, Wrapper};
use crate::effect::Effect;
use crate::options::{Argument, Until};
use crate::program::{Resolved, table_name};
use crate::run::{Invocation, Judged, Reach};
use crate::state::State;
use crate::syntax::cursor::is_name;
use crate::tables::Inner;
use crate::walk::{Context, Feed, Produced, Walker};
use crate::word::{Hole, Piece, Why, Word, line};
use std::borrow::Cow;
use std::rc::Rc;

impl Walker<'_> {
    /// Runs what a wrapper runs. None if it runs nothing here, and is a command like any other.
    pub(crate) fn peel(
        &mut self,
        resolved: &Resolved,
        invocation: &Invocation,
        program: &Program,
        judged: &mut Judged,
        state: &mut State,
        context: &Context,
    ) -> Option<Produced> {
        let inner = resolved.row.inner?;
        let unclear = resolved.told.strangers().next().is_some() || !resolved.told.suspects.is_empty();
        if unclear && !resolved.row.options.any {
            self.unknown(Reason::Wrapper, line(&invocation.argv), invocation.span);
        }
        let rest = resolved.rest.get(resolved.told.length..).unwrap_or_default();
        let mut words = rest.get(resolved.row.skip.min(rest.len())..).unwrap_or_default().to_vec();
        if resolved.row.skip > 0 && words.first().is_some_and(Word::may_be_option) {
            // Options may also follow the first operand: `setarch x86_64 -R ls`.
            let told = resolved.row.options.tell(&words, Until::Operand);
            if told.strangers().next().is_some() || !told.suspects.is_empty() {
                self.unknown(Reason::Wrapper, line(&invocation.argv), invocation.span);
            }
            words.drain(..told.length.min(words.len()));
        }
        let mut assignments = Vec::new();
        match inner {
            Inner::Environment => {
                while let Some(assignment) = words.first().and_then(setting) {
                    assignments.push(assignment);
                    words.remove(0);
                }
            }
            Inner::Dashes => {
                let dashes = rest.iter().position(|word| word.literal() == Some("--"));
                words = match dashes {
                    Some(dashes) => rest.get(dashes + 1..).unwrap_or_default().to_vec(),
                    None if resolved.told.dashes => rest.to_vec(),
                    None => Vec::new(),
                };
            }
            Inner::Shell => return self.shell(resolved, invocation, program, judged, state, context),
            Inner::Arguments => words = with_input(words, resolved),
            Inner::Argv | Inner::Script | Inner::Package | Inner::Options => {}
        }
        let scripts = self.option_scripts(resolved, invocation, judged, state, context);
        if words.is_empty() || inner == Inner::Options {
            return self.nothing_inside(resolved, judged, scripts);
        }
        let mut context = self.through(resolved, invocation, judged, state, context);
        if inner == Inner::Package {
            self.package(&words, resolved, &mut context);
        }
        if resolved.key == "parallel" {
            let reason = Reason::Code("arguments from its input become part of it");
            self.unknown(reason, line(&invocation.argv), invocation.span);
        }
        let script = words.first().and_then(Word::literal).is_some_and(|name| name.ends_with(".py"));
        if script && resolved.key == "uv run" {
            words.insert(0, Word::text("python"));
        }
        let wrapper = wrapper(resolved, invocation);
        let mut inside = if resolved.row.effect == Effect::Remote { state.later() } else { state.clone() };
        if inner == Inner::Script {
            return Some(self.joined_script(wrapper, &words, invocation, &mut inside, &context));
        }
        let assignments = invocation.assignments.iter().cloned().chain(assignments).collect();
        let feed = if inner == Inner::Arguments { Feed::Nothing } else { invocation.feed.clone() };
        let invocation =
            Invocation { argv: words, assignments, span: invocation.span, feed, reach: Reach::Programs };
        Some(self.inner(wrapper, invocation, &mut inside, &context))
    }

    /// A wrapper without a command: `sudo -l`, `env`. It is judged by what its row says about that.
    fn nothing_inside(
        &mut self,
        resolved: &Resolved,
        judged: &mut Judged,
        scripts: bool,
    ) -> Option<Produced> {
        if scripts {
            return Some(Produced::default());
        }
        let effect = resolved.row.bare.unwrap_or(resolved.row.effect);
        judged.effect(effect, resolved.row.why.as_str());
        if resolved.key == "env" {
            judged.hazard(Danger::Secrets, "prints the environment, which may hold keys", "env");
        }
        None
    }

    /// Scripts that options carry: `su -c`, `script -c`, `git rebase --exec`.
    pub(crate) fn option_scripts(
        &mut self,
        resolved: &Resolved,
        invocation: &Invocation,
        judged: &mut Judged,
        state: &State,
        context: &Context,
    ) -> bool {
        let mut any = false;
        for found in &resolved.told.options {
            let (Argument::Script, Some(value)) = (found.argument, &found.value) else { continue };
            any = true;
            let context = self.through(resolved, invocation, judged, state, context);
            let words = [value.clone()];
            self.joined_script(
                wrapper(resolved, invocation),
                &words,
                invocation,
                &mut state.child(),
                &context,
            );
        }
        any
    }

    fn joined_script(
        &mut self,
        wrapper: Wrapper,
        words: &[Word],
        invocation: &Invocation,
        state: &mut State,
        context: &Context,
    ) -> Produced {
        let texts: Option<Vec<&str>> = words.iter().map(Word::literal).collect();
        match texts {
            Some(texts) => self.inner_script(wrapper, &texts.join(" "), invocation.span, state, context),
            None => {
                if words.iter().any(Word::is_fetched) {
                    let reason = "runs what another machine answers";
                    self.hazard(Danger::Catastrophic, reason, line(words), None, invocation.span);
                }
                self.unknown(
                    Reason::Code("part of the script is only known when it runs"),
                    line(words),
                    invocation.span,
                );
                Produced::default()
            }
        }
    }

    /// The context of what a wrapper runs: it adds its own effect, and its own paths and hazards are noted.
    fn through(
        &mut self,
        resolved: &Resolved,
        invocation: &Invocation,
        judged: &mut Judged,
        state: &State,
        context: &Context,
    ) -> Context {
        self.environment(invocation, judged);
        for (word, usage) in judged.paths.drain(..) {
            self.path(&word, usage, None, invocation.span, state);
        }
        for (class, reason, shown) in judged.hazards.drain(..) {
            self.hazard(class, reason, shown, None, invocation.span);
        }
        let mut context = context.clone();
        let effects = Rc::make_mut(&mut context.effects);
        effects.extend(judged.effects.iter().filter(|(effect, _)| *effect > Effect::Write).cloned());
        if resolved.row.effect > Effect::Read {
            effects.push((resolved.row.effect, Cow::Borrowed(resolved.row.why.as_str())));
        }
        context.elsewhere |=
            matches!(resolved.row.effect, Effect::Remote | Effect::Container | Effect::Cloud);
        context
    }

    /// `python -m pip install x` is `pip install x`, if a table knows the module as a program.
    pub(crate) fn module(&self, resolved: &Resolved) -> Option<Vec<Word>> {
        let found = resolved.told.options.iter().find(|found| found.argument == Argument::Module)?;
        let module = found.value.as_ref()?;
        table_name(module.literal()?, self.tables)?;
        let rest = resolved.rest.get(resolved.told.length..).unwrap_or_default();
        Some(std::iter::once(module.clone()).chain(rest.iter().cloned()).collect())
    }

    /// `npx tool`: a tool that projects have is run, any other is fetched first.
    fn package(&self, words: &[Word], resolved: &Resolved, context: &mut Context) {
        let name = words.first().and_then(Word::literal).unwrap_or_default();
        let other = resolved.told.has(&["-p", "--package", "--from", "--with"]);
        let known = table_name(name, self.tables)
            .and_then(|name| self.tables.rows.get(name))
            .is_some_and(|row| row.effect != Effect::Unknown || row.branches);
        if !known || other {
            let why = format!("`{name}` may be fetched first");
            Rc::make_mut(&mut context.effects).push((Effect::Install, Cow::Owned(why)));
        }
    }

    /// A shell: `-c script`, a file, or its input.
    fn shell(
        &mut self,
        resolved: &Resolved,
        invocation: &Invocation,
        program: &Program,
        judged: &mut Judged,
        state: &mut State,
        context: &Context,
    ) -> Option<Produced> {
        let mut rest = resolved.rest.get(resolved.told.length..).unwrap_or_default();
        if rest.first().and_then(Word::literal) == Some("-") {
            // The end of the options, to a shell.
            rest = rest.get(1..).unwrap_or_default();
        }
        let changes = rest.first().is_some_and(|word| word.start().starts_with('+'))
            || resolved.told.has(&["-O", "+O"]);
        if changes {
            self.unknown(Reason::Wrapper, line(&invocation.argv), invocation.span);
        }
        let mut inside = state.child();
        for (name, value) in &invocation.assignments {
            inside.set(name, value.clone());
        }
        let name = program.name().unwrap_or_default();
        let odd_shell = matches!(name, "fish" | "csh" | "tcsh" | "nu" | "xonsh" | "elvish");
        if odd_shell {
            self.unknown(Reason::Code("another shell's language"), line(&invocation.argv), invocation.span);
        }
        let script = rest.first().and_then(Word::literal).filter(|_| resolved.told.has(&["-c"]));
        if matches!(name, "sh" | "dash" | "ash" | "posh") && script.is_some_and(beyond_posix) {
            let reason = Reason::Ambiguous("not every `sh` reads this as bash does");
            self.unknown(reason, line(&invocation.argv), invocation.span);
        }
        if resolved.told.has(&["-c"]) {
            let Some(script) = rest.first() else {
                self.unknown(Reason::Wrapper, line(&invocation.argv), invocation.span);
                return None;
            };
            inside.positional = Some(Rc::new(rest.iter().skip(2).cloned().collect()));
            let wrapper = Wrapper { name: format!("{name} -c"), ..wrapper(resolved, invocation) };
            let context = self.through(resolved, invocation, judged, state, context);
            inside.usual_lookup = state.usual_lookup && !judged.changes_lookup;
            return Some(self.joined_script(
                wrapper,
                std::slice::from_ref(script),
                invocation,
                &mut inside,
                &context,
            ));
        }
        let from_input = |word: &&Word| word.literal().is_some_and(is_standard_input);
        if let Some(script) =
            rest.first().filter(|_| !resolved.told.has(&["-s"])).filter(|word| !from_input(word))
        {
            if script.start().starts_with("/dev/fd/") || script.start().starts_with("/proc/") {
                self.unknown(
                    Reason::Code("a script from a descriptor"),
                    line(&invocation.argv),
                    invocation.span,
                );
            }
            if script.holes().any(|hole| hole.why == Why::FetchedPipe) {
                crate::code::fetched(judged);
            } else if script.is_pipe() {
                self.unknown(Reason::Code("a script from a pipe"), line(&invocation.argv), invocation.span);
            }
            if resolved.told.has(&["-n"]) {
                judged.effect(Effect::Read, "only checks the script's syntax");
                judged.paths.push((script.clone(), Usage::Read));
            } else {
                judged.effect(Effect::Project, "runs a script");
                judged.paths.push((script.clone(), Usage::Execute));
                if rest.iter().any(crate::hook::says_outside) {
                    judged.effect(
                        Effect::Publish,
                        "the name of the script says that it changes something outside",
                    );
                }
            }
            for word in rest.iter().skip(1) {
                judged.paths.extend(crate::paths::suspected(word).map(|word| (word, Usage::Unknown)));
            }
            return None;
        }
        self.shell_input(resolved, invocation, judged, &mut inside, context)
    }

    /// A shell that reads its commands.
    fn shell_input(
        &mut self,
        resolved: &Resolved,
        invocation: &Invocation,
        judged: &mut Judged,
        state: &mut State,
        context: &Context,
    ) -> Option<Produced> {
        if resolved.told.has(&["--version", "--help"]) {
            judged.effect(Effect::Guarded, "is only asked for its version or help");
            return None;
        }
        match &invocation.feed {
            Feed::Text(Some(script)) | Feed::Pipe { text: Some(script), fetched: false } => {
                let context = self.through(resolved, invocation, judged, state, context);
                let wrapper = wrapper(resolved, invocation);
                Some(self.inner_script(wrapper, script, invocation.span, state, &context))
            }
            Feed::File(file) if !file.is_fetched() => {
                judged.effect(Effect::Project, "runs a script");
                judged.paths.push((file.clone(), Usage::Execute));
                None
            }
            feed => {
                if matches!(feed, Feed::Pipe { fetched: true, .. } | Feed::File(_)) {
                    crate::code::fetched(judged);
                }
                let shown = line(&invocation.argv);
                self.unknown(
                    Reason::Code("a shell reads its commands from its input"),
                    shown,
                    invocation.span,
                );
                judged.effect(Effect::Unknown, "runs commands from its input");
                None
            }
        }
    }
}

/// Names of the standard input.
fn is_standard_input(path: &str) -> bool {
    matches!(path, "/dev/stdin" | "/dev/fd/0" | "/proc/self/fd/0")
}

/// Whether a script has something that only bash and its kin know.
fn beyond_posix(script: &str) -> bool {
    let marks = ["$'", "$\"", "<(", ">(", "[[", "&>", "|&", "<<<", "coproc", "function", "=(", "+="];
    marks.iter().any(|mark| script.contains(mark)) || script.replace("$((", "").contains("((")
}

pub(crate) fn module_wrapper(invocation: &Invocation) -> Wrapper {
    plain_wrapper("python -m", invocation, "runs a module as a program")
}

pub(crate) fn wrapper(resolved: &Resolved, invocation: &Invocation) -> Wrapper {
    Wrapper {
        name: resolved.key.clone(),
        argv: invocation.argv.clone(),
        canonical: resolved.canonical(),
        effect: resolved.row.effect,
        reason: resolved.row.why.as_str(),
    }
}

/// A wrapper that adds nothing of its own.
pub(crate) fn plain_wrapper(name: &str, invocation: &Invocation, reason: &'static str) -> Wrapper {
    Wrapper {
        name: name.to_owned(),
        argv: invocation.argv.clone(),
        canonical: invocation.argv.clone(),
        effect: Effect::Shell,
        reason,
    }
}

/// `NAME=value` as a word.
pub(crate) fn assignment(word: &Word) -> Option<(String, Word)> {
    let (name, _) = word.start().split_once('=')?;
    is_name(name).then(|| Some((name.to_owned(), word.strip_start(&format!("{name}="))?)))?
}

/// `anything=value`: a program that sets variables does not care whether a shell could.
fn setting(word: &Word) -> Option<(String, Word)> {
    let (name, _) = word.start().split_once('=')?;
    (!name.is_empty()).then(|| Some((name.to_owned(), word.strip_start(&format!("{name}="))?)))?
}

/// The command of `xargs` with the arguments that it reads: at the end, or in the place of what `-I` names.
fn with_input(words: Vec<Word>, resolved: &Resolved) -> Vec<Word> {
    let words = if words.is_empty() { vec![Word::text("echo")] } else { words };
    let hole = |many| Piece::Hole(Hole { shown: "…".into(), why: Why::Input, many });
    let replaced = resolved.told.value(&["-I", "-J"]).cloned();
    let replaced = match replaced {
        Some(word) => word.literal().map(str::to_owned),
        None if resolved.told.has(&["-i", "--replace"]) => Some("{}".to_owned()),
        None if resolved.key == "parallel" && words.iter().any(|word| word.start().contains("{}")) => {
            Some("{}".into())
        }
        None => None,
    };
    let Some(mark) = replaced.filter(|mark| !mark.is_empty()) else {
        let mut words = words;
        words.push(Word::from_pieces([hole(true)]));
        return words;
    };
    words
        .iter()
        .map(|word| {
            let mut filled = Word::default();
            for piece in word.pieces() {
                let Piece::Text(text) = piece else {
                    filled.push(piece.clone());
                    continue;
                };
                for (index, part) in text.split(mark.as_str()).enumerate() {
                    if index > 0 {
                        filled.push(hole(false));
                    }
                    filled.push(Piece::Text(part.to_owned()));
                }
            }
            filled
        })
        .collect()
}
