//! Commands of the shell itself: those that change what later commands mean,
//! and those that can run code where none seems to be.

use crate::analysis::{Danger, Program, Reason, Usage};
use crate::effect::Effect;
use crate::peel::{assignment, plain_wrapper};
use crate::run::{Invocation, Judged, Reach};
use crate::state::State;
use crate::syntax::cursor::is_name;
use crate::walk::{Context, Produced, Walker};
use crate::word::{Why, Word, line};
use std::rc::Rc;

/// Names that this shell runs itself.
const BUILTINS: &str = ". : [ alias bg bind break builtin caller cd command compgen complete compopt continue declare \
     dirs disown echo enable eval exec exit export false fc fg getopts hash help history jobs kill \
     let local logout mapfile popd printf pushd pwd read readarray readonly return set shift shopt \
     source suspend test times trap true type typeset ulimit umask unalias unset wait chdir";

/// Settings of `shopt` that change no meaning of what follows.
const QUIET_SETTINGS: &str = "nullglob globstar dotglob nocaseglob failglob nocasematch checkwinsize histappend \
     cdspell inherit_errexit globasciiranges pipefail";

pub(crate) fn is_builtin(name: &str) -> bool {
    BUILTINS.split_whitespace().any(|builtin| builtin == name)
}

impl Walker<'_> {
    /// Handles a builtin. None for those that a table describes like any program: `echo`, `test`, `kill`.
    pub(crate) fn builtin(
        &mut self,
        name: &str,
        invocation: &Invocation,
        state: &mut State,
        context: &Context,
    ) -> Option<Produced> {
        let mut judged = Judged::default();
        let words = invocation.argv.get(1..).unwrap_or_default();
        let before = state.clone();
        match name {
            "eval" => return Some(self.eval(words, invocation, state, context)),
            "exec" | "command" | "builtin" => {
                if let Some(produced) = self.prefixed(name, words, invocation, state, context) {
                    return Some(produced);
                }
            }
            "source" | "." => self.source(words, invocation, state, &mut judged),
            "cd" | "chdir" | "pushd" | "popd" => self.changed_directory(name, words, state, &mut judged),
            "export" | "declare" | "typeset" | "local" | "readonly" => {
                self.declaration(name, words, invocation, state, &mut judged);
            }
            "alias" => self.alias(words, invocation, state, &mut judged),
            "unset" => self.unset(words, invocation, state),
            "read" | "mapfile" | "readarray" | "getopts" => {
                self.reading(name, words, invocation, state, context)
            }
            "printf" => self.printing(words, invocation, state),
            "test" | "[" => self.testing(words, invocation),
            "let" => words.iter().for_each(|word| self.evaluated(word, invocation.span, state)),
            "trap" => self.trap(words, invocation, state, context),
            "set" => self.settings(words, invocation, state, &mut judged),
            "shift" => state.positional = None,
            "return" | "break" | "continue" => self.jumped(state),
            "shopt" | "enable" | "hash" | "bind" | "complete" | "compgen" | "fc" | "jobs" => {
                self.meaning(name, words, invocation, &mut judged);
            }
            "wait" if words.iter().any(|word| word.literal() == Some("-p")) => state.forget(),
            _ => {}
        }
        if matches!(name, "echo" | "printf" | "test" | "[" | "kill" | "pwd" | "true" | "false" | ":") {
            return None;
        }
        judged.effect(Effect::Shell, "part of the shell");
        let program = Program::Builtin(name.to_owned());
        // Its paths are relative to where it is called, not to where it leads.
        let index = self.write_down(invocation, program, None, judged, &before, context);
        Some(Produced { command: Some(index), ..Produced::default() })
    }

    fn eval(
        &mut self,
        words: &[Word],
        invocation: &Invocation,
        state: &mut State,
        context: &Context,
    ) -> Produced {
        let texts: Option<Vec<&str>> = words.iter().map(Word::literal).collect();
        let Some(texts) = texts else {
            let shown = line(&invocation.argv);
            if words.iter().any(Word::is_fetched) {
                let reason = "runs what another machine answers";
                self.hazard(Danger::Catastrophic, reason, shown.clone(), None, invocation.span);
            }
            self.unknown(Reason::Code("part of it is only known when it runs"), shown, invocation.span);
            state.forget();
            state.usual_lookup = false;
            let mut judged = Judged::default();
            judged.effect(Effect::Unknown, "runs code that is not known");
            let program = Program::Builtin("eval".into());
            let index = self.write_down(invocation, program, None, judged, state, context);
            return Produced { command: Some(index), ..Produced::default() };
        };
        let wrapper = plain_wrapper("eval", invocation, "runs its arguments as a script");
        self.inner_script(wrapper, &texts.join(" "), invocation.span, state, context)
    }

    /// `command ls`, `builtin cd x`, `exec ls`.
    fn prefixed(
        &mut self,
        name: &str,
        words: &[Word],
        invocation: &Invocation,
        state: &mut State,
        context: &Context,
    ) -> Option<Produced> {
        let mut rest = words;
        while let Some(option) = rest.first().and_then(Word::literal).filter(|word| word.starts_with('-')) {
            rest = rest.get(1..).unwrap_or_default();
            match (name, option) {
                (_, "--") => break,
                ("command", "-v" | "-V" | "-pv" | "-pV") => return None,
                ("command", "-p") | ("exec", "-c" | "-l" | "-cl" | "-lc") => {}
                ("exec", "-a" | "-la" | "-ca" | "-cla") => rest = rest.get(1..).unwrap_or_default(),
                _ => self.unknown(Reason::Wrapper, line(&invocation.argv), invocation.span),
            }
        }
        if rest.is_empty() {
            return None;
        }
        let reason = "runs the command that follows it";
        let wrapper = plain_wrapper(name, invocation, reason);
        let reach = if name == "exec" { Reach::Programs } else { Reach::Builtins };
        let inner = Invocation {
            argv: rest.to_vec(),
            assignments: invocation.assignments.clone(),
            span: invocation.span,
            feed: invocation.feed.clone(),
            reach,
        };
        Some(self.inner(wrapper, inner, state, context))
    }

    fn source(&mut self, words: &[Word], invocation: &Invocation, state: &mut State, judged: &mut Judged) {
        let Some(file) = words.first() else { return };
        judged.effect(Effect::Project, "runs a script in this shell");
        judged.paths.push((file.clone(), Usage::Execute));
        judged.paths.push((file.clone(), Usage::Read));
        if file.is_pipe() {
            if file.is_fetched() {
                crate::code::fetched(judged);
            }
            self.unknown(Reason::Code("a script from a pipe"), line(&invocation.argv), invocation.span);
        }
        let home = state.get("HOME");
        state.forget();
        if let crate::state::Value::Set(home) = home {
            state.set("HOME", home);
        }
    }

    fn changed_directory(&mut self, name: &str, words: &[Word], state: &mut State, judged: &mut Judged) {
        let target =
            words.iter().find(|word| !matches!(word.literal(), Some("-P" | "-L" | "-e" | "-@" | "--")));
        let home = state.get("HOME");
        let before = state.directories.clone();
        let resolved = match (name, target) {
            ("cd" | "chdir", None) => match home {
                crate::state::Value::Set(home) => home.literal().map(|home| vec![home.to_owned()]),
                crate::state::Value::Environment => None,
            },
            (_, Some(word))
                if !word.has_glob() && word.literal() != Some("-") && !word.start().starts_with('+') =>
            {
                judged.paths.push((word.clone(), Usage::List));
                let all = crate::paths::resolve(word, state);
                all.into_iter().map(|(path, pattern)| path.filter(|_| !pattern)).collect()
            }
            _ => None,
        };
        state.directories = resolved.filter(|directories: &Vec<String>| !directories.is_empty()).map(Rc::new);
        state.failed = Some(before);
    }

    fn declaration(
        &mut self,
        name: &str,
        words: &[Word],
        invocation: &Invocation,
        state: &mut State,
        judged: &mut Judged,
    ) {
        let mut named = false;
        for word in words {
            let option = word.literal().filter(|word| word.starts_with(['-', '+']));
            if let Some(option) = option {
                if option.contains('n') && name != "export" {
                    self.unknown(Reason::Redefined, line(&invocation.argv), invocation.span);
                }
                if option.contains('i') {
                    self.unknown(Reason::Arithmetic, line(&invocation.argv), invocation.span);
                }
                named |= option.contains(['f', 'F']);
                continue;
            }
            named = true;
            let plain = word.literal().filter(|word| is_name(word));
            if let Some((variable, value)) = assignment(word) {
                self.assigned(&variable, &value, invocation.span, state);
                localise(name, &variable, state);
            } else if let Some(variable) = plain {
                localise(name, variable, state);
            } else {
                self.unknown(
                    Reason::Code("a name that is not plain is evaluated"),
                    word.shown(),
                    invocation.span,
                );
                state.forget();
            }
        }
        if !named && name != "local" {
            judged.hazard(Danger::Secrets, "prints variables, which may hold keys", line(&invocation.argv));
        }
    }

    fn alias(&mut self, words: &[Word], invocation: &Invocation, state: &mut State, judged: &mut Judged) {
        for word in words {
            match word.start().split_once('=') {
                Some((name, _)) => {
                    Rc::make_mut(&mut state.aliases).insert(name.to_owned());
                    judged.hazard(Danger::Executes, "gives a name another meaning", word.shown());
                }
                None if word.has_hole() => self.unknown(Reason::Redefined, word.shown(), invocation.span),
                None => {}
            }
        }
    }

    fn unset(&mut self, words: &[Word], invocation: &Invocation, state: &mut State) {
        let functions = words.iter().any(|word| word.literal() == Some("-f"));
        for word in words.iter().filter(|word| !word.start().starts_with('-')) {
            match word.literal().filter(|word| is_name(word)) {
                Some(name) => {
                    state.set_unknown(name);
                    state.usual_lookup &= name != "PATH";
                    if functions {
                        // The name means the program again, or still the function where this did not run.
                        Rc::make_mut(&mut state.functions).remove(name);
                    }
                }
                None => self.unknown(Reason::Arithmetic, word.shown(), invocation.span),
            }
        }
    }

    fn reading(
        &mut self,
        name: &str,
        words: &[Word],
        invocation: &Invocation,
        state: &mut State,
        context: &Context,
    ) {
        let mut names = Vec::new();
        let mut index = 0;
        while let Some(word) = words.get(index) {
            index += 1;
            let text = word.literal().unwrap_or_default();
            let letter = text.strip_prefix('-').and_then(|rest| rest.chars().last());
            match (name, letter) {
                ("read", Some('d' | 'i' | 'n' | 'N' | 'p' | 't' | 'u')) => index += 1,
                ("mapfile" | "readarray", Some('C')) => {
                    let callback: Vec<Word> = words.get(index).cloned().into_iter().collect();
                    let wrapper = plain_wrapper(&format!("{name} -C"), invocation, "runs a callback");
                    match callback.first().and_then(Word::literal) {
                        Some(script) => {
                            let reason = "runs a callback for lines that it reads";
                            self.hazard(Danger::Executes, reason, script, None, invocation.span);
                            self.inner_script(wrapper, script, invocation.span, &mut state.clone(), context);
                        }
                        None => {
                            self.unknown(Reason::Code("a callback"), line(&invocation.argv), invocation.span)
                        }
                    }
                    index += 1;
                }
                ("mapfile" | "readarray", Some('d' | 'n' | 'O' | 's' | 'u' | 'c')) => index += 1,
                (_, Some(_)) => {}
                ("getopts", None) if index == 1 => {}
                (_, None) => names.push(word.clone()),
            }
        }
        for word in names {
            match word.literal().filter(|name| is_name(name)) {
                Some(name) => self.assigned_unknown(name, invocation, state),
                None if name == "getopts" => {}
                None => {
                    self.unknown(Reason::Arithmetic, word.shown(), invocation.span);
                    state.forget();
                }
            }
        }
        state.set_unknown("REPLY");
        state.set_unknown("OPTARG");
    }

    fn printing(&mut self, words: &[Word], invocation: &Invocation, state: &mut State) {
        if words.first().is_some_and(|word| word.may_be_option() && word.literal().is_none()) {
            self.unknown(Reason::Arithmetic, line(&invocation.argv), invocation.span);
        }
        let Some(option) = words.first().and_then(Word::literal).and_then(|word| word.strip_prefix("-v"))
        else {
            return;
        };
        let attached = Word::text(option);
        let name = if option.is_empty() { words.get(1) } else { Some(&attached) };
        match name.and_then(Word::literal).filter(|name| is_name(name)) {
            Some(name) => self.assigned_unknown(name, invocation, state),
            None => self.unknown(Reason::Arithmetic, line(&invocation.argv), invocation.span),
        }
    }

    fn assigned_unknown(&mut self, name: &str, invocation: &Invocation, state: &mut State) {
        self.assigned(name, &crate::state::variable(name), invocation.span, state);
    }

    /// `test -v 'a[$(cmd)]'` runs `cmd`.
    fn testing(&mut self, words: &[Word], invocation: &Invocation) {
        for pair in words.windows(2) {
            let [operator, operand] = pair else { continue };
            let asks = matches!(operator.literal(), Some("-v" | "-R"));
            let plain = operand
                .literal()
                .is_some_and(|name| is_name(name) || matches!(name, "]" | "=" | "!=" | "-a" | "-o"));
            if asks && !plain {
                self.unknown(Reason::Arithmetic, operand.shown(), invocation.span);
            }
        }
        // What a command prints may bring an operator of its own, where it is not in quotes.
        let printed = |word: &Word| {
            word.holes().any(|hole| hole.many && matches!(hole.why, Why::Output | Why::Fetched | Why::Input))
        };
        if words.iter().any(printed) {
            self.unknown(Reason::Arithmetic, line(&invocation.argv), invocation.span);
        }
    }

    fn trap(&mut self, words: &[Word], invocation: &Invocation, state: &State, context: &Context) {
        let rest =
            if words.first().and_then(Word::literal) == Some("--") { words.get(1..) } else { Some(words) };
        let Some([code, _, ..]) = rest else { return };
        match code.literal() {
            Some("-" | "" | "-p" | "-l") => {}
            Some(script) => {
                let reason = "runs when a signal comes or the shell ends";
                let wrapper = plain_wrapper("trap", invocation, reason);
                self.inner_script(wrapper, script, invocation.span, &mut state.later(), context);
            }
            None => self.trap_with_holes(code, invocation),
        }
    }

    fn trap_with_holes(&mut self, code: &Word, invocation: &Invocation) {
        self.unknown(Reason::Code("part of it is only known when it runs"), code.shown(), invocation.span);
    }

    fn settings(&mut self, words: &[Word], invocation: &Invocation, state: &mut State, judged: &mut Judged) {
        if words.is_empty() {
            judged.hazard(Danger::Secrets, "prints all variables, which may hold keys", "set");
        }
        let mut expects_name = false;
        for (index, word) in words.iter().enumerate() {
            let Some(text) = word.literal() else {
                self.unknown(Reason::Ambiguous("a setting that is not known"), word.shown(), invocation.span);
                return;
            };
            if expects_name {
                expects_name = false;
                if matches!(text, "posix" | "history" | "histexpand") {
                    self.unknown(
                        Reason::Ambiguous("a setting that changes how lines are read"),
                        text,
                        invocation.span,
                    );
                }
                continue;
            }
            match text {
                "--" | "-" => {
                    state.positional = Some(Rc::new(words.iter().skip(index + 1).cloned().collect()));
                    return;
                }
                option if option.starts_with(['-', '+']) => expects_name = option.ends_with('o'),
                _ => {
                    state.positional = None;
                    return;
                }
            }
        }
    }

    /// Builtins that give names another meaning or run code on the side.
    fn meaning(&mut self, name: &str, words: &[Word], invocation: &Invocation, judged: &mut Judged) {
        let has = |letters: &[char]| {
            words.iter().any(|word| {
                word.start().starts_with('-') && word.start().contains(letters) || word.has_hole()
            })
        };
        let shown = line(&invocation.argv);
        let harmless = match name {
            "shopt" => {
                let settings = words.iter().filter(|word| !word.start().starts_with('-'));
                let quiet = |word: &Word| {
                    word.literal()
                        .is_some_and(|word| QUIET_SETTINGS.split_whitespace().any(|quiet| quiet == word))
                };
                !has(&['s', 'u']) || settings.clone().all(quiet)
            }
            "hash" => !has(&['p']),
            "enable" => words.is_empty(),
            "bind" | "fc" => words.iter().all(|word| matches!(word.literal(), Some("-l" | "-p" | "-P"))),
            "complete" | "compgen" => !has(&['C', 'F', 'W']),
            "jobs" => !has(&['x']),
            _ => true,
        };
        if !harmless {
            judged.hazard(
                Danger::Executes,
                "changes what names or lines mean, or runs code on the side",
                shown.clone(),
            );
            self.unknown(Reason::Redefined, shown, invocation.span);
        }
    }
}

fn localise(command: &str, variable: &str, state: &mut State) {
    if state.in_function && matches!(command, "local" | "declare" | "typeset") {
        Rc::make_mut(&mut state.locals).insert(variable.to_owned());
    }
}
