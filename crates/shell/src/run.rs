//! One command with its arguments: what it stands for, what it runs, what it
//! does. Everything that expansion made, and everything that a wrapper runs,
//! comes through [`Walker::run`].

use crate::analysis::{Danger, Program, Reason, SimpleCommand, Span, Usage, Wrapper};
use crate::effect::Effect;
use crate::paths;
use crate::program::{self, Resolved};
use crate::state::State;
use crate::walk::{Context, Feed, NESTING, Produced, Walker};
use crate::word::{Why, Word, line};
use crate::{builtin, find, git, hook, peel};
use std::borrow::Cow;
use std::rc::Rc;

/// A command about to be looked at.
#[derive(Clone)]
pub(crate) struct Invocation {
    pub argv: Vec<Word>,
    /// Variables set for it only.
    pub assignments: Vec<(String, Word)>,
    pub span: Span,
    pub feed: Feed,
    pub reach: Reach,
}

/// What a bare name may stand for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// This shell runs it: functions, builtins and programs.
    Shell,
    /// `command` and `builtin`: builtins and programs.
    Builtins,
    /// Another program runs it: programs.
    Programs,
}

/// What is known about one command so far.
#[derive(Default)]
pub(crate) struct Judged {
    pub effects: Vec<(Effect, Cow<'static, str>)>,
    pub paths: Vec<(Word, Usage)>,
    pub hazards: Vec<(Danger, String, String)>,
    /// Paths that are changed with all that is under them.
    pub trees: Vec<Word>,
    pub produced: Produced,
    /// No name that a table has may be trusted to be the program of that name.
    pub changes_lookup: bool,
}

impl Judged {
    pub fn effect(&mut self, effect: Effect, why: impl Into<Cow<'static, str>>) {
        self.effects.push((effect, why.into()));
    }

    pub fn hazard(&mut self, class: Danger, reason: impl Into<String>, shown: impl Into<String>) {
        self.hazards.push((class, reason.into(), shown.into()));
    }
}

impl Walker<'_> {
    /// Looks at one command and everything it runs.
    pub(crate) fn run(&mut self, invocation: Invocation, state: &mut State, context: &Context) -> Produced {
        let Some(head) = invocation.argv.first() else { return Produced::default() };
        if context.nesting >= NESTING {
            self.unknown(
                Reason::Limit("commands in commands, too deep"),
                line(&invocation.argv),
                invocation.span,
            );
            return Produced::default();
        }
        let Some(name) = head.literal().filter(|name| !name.is_empty()).map(str::to_owned) else {
            return self.unknown_command(&invocation, state, context);
        };
        let program = self.identify(&name, &invocation, state);
        match &program {
            Program::Function(_) => {
                let judged = Judged {
                    effects: vec![(Effect::Shell, "a function of this line".into())],
                    ..Judged::default()
                };
                let index = self.write_down(&invocation, program, None, judged, state, context);
                if state.functions.get(&name).is_some_and(|definition| !definition.certain) {
                    // Where the line did not define it, the name is a program after all.
                    let invocation = Invocation { reach: Reach::Builtins, ..invocation.clone() };
                    self.run(invocation, &mut state.clone(), context);
                }
                let arguments = invocation.argv.get(1..).unwrap_or_default();
                self.call(&name, arguments, invocation.span, state, context);
                Produced { command: Some(index), ..Produced::default() }
            }
            Program::Unknown => {
                self.unknown(Reason::Redefined, name, invocation.span);
                self.unknown_command(&invocation, state, context)
            }
            Program::Builtin(_) => match self.builtin(&name, &invocation, state, context) {
                Some(produced) => produced,
                None => self.program(invocation, program, state, context),
            },
            Program::Named(_) | Program::File(_) => self.program(invocation, program, state, context),
        }
    }

    fn identify(&self, name: &str, invocation: &Invocation, state: &State) -> Program {
        if name.contains(['/', '\\']) {
            return match program::system_name(name) {
                Some(bare) => Program::Named(bare.to_owned()),
                None => Program::File(name.to_owned()),
            };
        }
        let shell = invocation.reach == Reach::Shell;
        if shell && state.aliases.contains(name) {
            return Program::Unknown;
        }
        if shell && state.functions.contains_key(name) {
            return Program::Function(name.to_owned());
        }
        if invocation.reach != Reach::Programs && builtin::is_builtin(name) {
            return Program::Builtin(name.to_owned());
        }
        Program::Named(name.to_owned())
    }

    /// The first word is only known when it runs.
    fn unknown_command(&mut self, invocation: &Invocation, state: &mut State, context: &Context) -> Produced {
        self.unknown(Reason::Command, line(&invocation.argv), invocation.span);
        let mut judged = Judged::default();
        judged.effect(Effect::Unknown, Reason::Command.to_string());
        for word in invocation.argv.iter().skip(1) {
            judged.paths.extend(paths::suspected(word).map(|word| (word, Usage::Unknown)));
        }
        let index = self.write_down(invocation, Program::Unknown, None, judged, state, context);
        state.forget();
        Produced { command: Some(index), ..Produced::default() }
    }

    /// A program of the tables, a file, or a stranger.
    fn program(
        &mut self,
        invocation: Invocation,
        program: Program,
        state: &mut State,
        context: &Context,
    ) -> Produced {
        let name = program.name().map(|name| program::file_name(name).to_owned()).unwrap_or_default();
        let arguments = invocation.argv.get(1..).unwrap_or_default();
        let searches = program::table_name(&name, self.tables).filter(|name| matches!(*name, "find" | "fd"));
        let (arguments, actions) = match searches {
            Some(name) => {
                let (rest, actions) = find::split(name, arguments);
                (Cow::Owned(rest), actions)
            }
            None => (Cow::Borrowed(arguments), Vec::new()),
        };
        let arguments = arguments.as_ref();
        let resolved = program::resolve(&name, arguments, self.tables);
        let mut judged = Judged::default();
        if let (Program::File(_), Some(head)) = (&program, invocation.argv.first()) {
            file(head, &invocation.argv, &mut judged);
        }
        match &resolved {
            Some(resolved) => self.judge(resolved, &invocation, state, &mut judged),
            None => stranger(&name, &program, arguments, &mut judged),
        }
        if matches!(program, Program::File(_)) {
            // A file is not the program that a table knows, so what is only known to read may do anything.
            judged.effects.retain(|(effect, _)| *effect >= Effect::Project);
        }
        let produced = std::mem::take(&mut judged.produced);
        if produced.fetches {
            for (word, _) in judged.paths.iter().filter(|(_, usage)| *usage == Usage::Write) {
                self.fetched.extend(paths::resolve(word, state).into_iter().filter_map(|(path, _)| path));
            }
        }
        if let Some(resolved) = resolved.as_ref().filter(|resolved| resolved.row.inner.is_some())
            && let Some(produced) = self.peel(resolved, &invocation, &program, &mut judged, state, context)
        {
            return produced;
        }
        if let Some(resolved) = resolved.as_ref().filter(|resolved| resolved.row.inner.is_none()) {
            self.scripts_inside(resolved, &invocation, state, context);
        }
        if let Some(module) = resolved.as_ref().and_then(|resolved| self.module(resolved)) {
            let wrapper = peel::module_wrapper(&invocation);
            let inner = Invocation { argv: module, reach: Reach::Programs, ..invocation };
            return self.inner(wrapper, inner, state, &context.with(Effect::Project, "runs a module"));
        }
        let index = self.write_down(&invocation, program, resolved.as_ref(), judged, state, context);
        for action in actions {
            self.action(action, searches.unwrap_or_default(), arguments, &invocation, state, context);
        }
        Produced { command: Some(index), ..produced }
    }

    /// Scripts in options and aliases: they run, whatever else the command does.
    fn scripts_inside(
        &mut self,
        resolved: &Resolved,
        invocation: &Invocation,
        state: &State,
        context: &Context,
    ) {
        self.option_scripts(resolved, invocation, &mut Judged::default(), state, context);
        for alias in git::aliases(resolved) {
            let wrapper = peel::plain_wrapper("git alias", invocation, "an alias of git runs this");
            self.inner_script(wrapper, &alias, invocation.span, &mut state.child(), context);
        }
    }

    /// A command that `find` runs on what it finds.
    fn action(
        &mut self,
        action: find::Action,
        program: &str,
        arguments: &[Word],
        invocation: &Invocation,
        state: &State,
        context: &Context,
    ) {
        if !action.complete || action.argv.is_empty() {
            self.unknown(Reason::Wrapper, line(&invocation.argv), invocation.span);
            return;
        }
        let starts = find::starts(program, arguments);
        let starts = match starts.len() {
            1..=4 => starts,
            _ => vec![Word::hole("…", Why::Variable)],
        };
        for start in starts {
            let mut argv: Vec<Word> = action.argv.iter().map(|word| find::filled(word, &start)).collect();
            if program == "fd" && !action.argv.iter().any(|word| word.start().contains('{')) {
                argv.push(find::filled(&Word::text("{}"), &start));
            }
            let name = format!("{program} {}", action.name);
            let wrapper = peel::plain_wrapper(&name, invocation, "runs a command on what it finds");
            let inner = Invocation {
                argv,
                assignments: invocation.assignments.clone(),
                span: invocation.span,
                feed: Feed::Nothing,
                reach: Reach::Programs,
            };
            self.inner(wrapper, inner, &mut state.clone(), context);
        }
    }

    /// Adds a command to the analysis, with its paths and hazards.
    pub(crate) fn write_down(
        &mut self,
        invocation: &Invocation,
        program: Program,
        resolved: Option<&Resolved>,
        mut judged: Judged,
        state: &State,
        context: &Context,
    ) -> usize {
        self.environment(invocation, &mut judged);
        let bare = matches!(program, Program::Named(_))
            && invocation.argv.first().and_then(Word::literal).is_some_and(|name| !name.contains('/'));
        if bare && (!state.usual_lookup || judged.changes_lookup) {
            judged.effect(Effect::Unknown, "the name may mean another program here");
        }
        judged.effects.extend(context.effects.iter().cloned());
        if judged.effects.is_empty() {
            judged.effect(Effect::Unknown, "no table knows it");
        }
        judged.effects.sort_by(|(one, _), (other, _)| other.cmp(one));
        judged.effects.dedup_by_key(|(effect, _)| *effect);
        let mut canonical = match resolved {
            // The commands that a search runs belong to it.
            Some(resolved) if !matches!(resolved.key.as_str(), "find" | "fd") => resolved.canonical(),
            _ => canonical(&program, &invocation.argv),
        };
        if let (Program::File(_), Some(name), Some(path)) =
            (&program, canonical.first_mut(), invocation.argv.first())
        {
            // A file is named by its path, never by the name of a program that it may only look like.
            *name = path.clone();
        }
        let command = SimpleCommand {
            argv: invocation.argv.clone(),
            canonical,
            assignments: invocation.assignments.clone(),
            via: context.via.to_vec(),
            program,
            effects: judged.effects,
            span: invocation.span,
            place: context.place,
        };
        let index = self.record(command);
        for (word, usage) in judged.paths {
            if !context.elsewhere {
                self.path(&word, usage, Some(index), invocation.span, state);
            }
            self.device(&word, usage, Some(index), invocation.span);
            self.deletion(&word, usage, index, invocation.span, state);
        }
        for word in judged.trees {
            self.tree(&word, index, invocation.span, state);
        }
        for (class, reason, shown) in judged.hazards {
            self.hazard(class, reason, shown, Some(index), invocation.span);
        }
        index
    }

    /// Runs what a wrapper runs, with the wrapper noted.
    pub(crate) fn inner(
        &mut self,
        wrapper: Wrapper,
        invocation: Invocation,
        state: &mut State,
        context: &Context,
    ) -> Produced {
        let context = wrapped(wrapper, context);
        self.run(invocation, state, &context)
    }

    /// Reads and walks a script that a command runs.
    pub(crate) fn inner_script(
        &mut self,
        wrapper: Wrapper,
        script: &str,
        span: Span,
        state: &mut State,
        context: &Context,
    ) -> Produced {
        let mut context = wrapped(wrapper, context);
        if context.nesting >= NESTING {
            self.unknown(Reason::Limit("commands in commands, too deep"), script, span);
            return Produced::default();
        }
        let outer = context.outer.unwrap_or(span);
        let parsed = crate::syntax::parse(script, context.nesting);
        for (_, reason) in parsed.oddities {
            self.unknown(reason, script, outer);
        }
        context.documents = Rc::new(parsed.documents);
        context.outer = Some(outer);
        self.script(&parsed.script, state, &context)
    }
}

fn wrapped(wrapper: Wrapper, context: &Context) -> Context {
    let mut inner = context.clone();
    Rc::make_mut(&mut inner.via).push(wrapper);
    inner.nesting += 1;
    inner
}

/// The words of a command that no row is about, with a system directory taken off.
fn canonical(program: &Program, argv: &[Word]) -> Vec<Word> {
    let mut words = argv.to_vec();
    if let (Program::Named(name) | Program::Builtin(name), Some(first)) = (program, words.first_mut()) {
        *first = Word::text(name.clone());
    }
    words
}

/// A program that is named by a path.
fn file(head: &Word, argv: &[Word], judged: &mut Judged) {
    judged.paths.push((head.clone(), Usage::Execute));
    judged.effect(Effect::Project, "runs a file, not the program of that name");
    if head.start().starts_with("/dev/") {
        judged.effect(Effect::Unknown, "this is not a program");
    }
    if argv.iter().any(hook::says_outside) {
        judged.effect(Effect::Publish, "the name of the script says that it changes something outside");
    }
}

/// A program that no table knows.
fn stranger(name: &str, program: &Program, arguments: &[Word], judged: &mut Judged) {
    for word in arguments {
        judged.paths.extend(paths::suspected(word).map(|word| (word, Usage::Unknown)));
    }
    let informs = arguments.iter().any(|word| word.literal().is_some_and(is_information))
        && arguments.iter().all(|word| word.literal().is_some_and(|word| !word.contains('/')));
    if matches!(program, Program::File(_)) {
        return;
    }
    if informs {
        judged.effect(Effect::Guarded, format!("`{name}` is only asked for its version or help"));
    } else {
        judged.effect(Effect::Unknown, format!("no table knows `{name}`"));
    }
}

/// Options that make nearly every program print and end.
pub(crate) fn is_information(word: &str) -> bool {
    matches!(word, "--version" | "--help" | "-V" | "-version" | "-help" | "help" | "version")
}
