//! Walks a tree the way bash would run it, and writes down what it meets.
//!
//! Layout: [`script`] follows lists, pipelines and compound commands, and
//! [`function`] what they define and call;
//! [`simple`] expands a simple command and hands it to [`crate::run`];
//! [`expand`], [`parameter`], [`brace`] and [`arithmetic`] turn raw words into
//! known words and holes; [`redirect`] looks at files that are opened.
//!
//! The invariant: every command that bash could run is written down, or an
//! unknown is. What is bounded (time, depth, number of words) ends in an
//! unknown, never in silence.

mod arithmetic;
mod brace;
mod expand;
mod function;
mod parameter;
mod redirect;
mod script;
mod simple;

pub(crate) use redirect::is_harmless_device;
pub(crate) use simple::{Feed, Produced};

use crate::Surroundings;
use crate::analysis::{
    Analysis, Danger, Hazard, PathUse, Place, Reason, SimpleCommand, Span, Unknown, Usage, Wrapper,
};
use crate::effect::Effect;
use crate::state::{Function, State};
use crate::syntax::tree::Document;
use crate::tables::Tables;
use crate::word::Word;
use std::borrow::Cow;
use std::collections::hash_map::DefaultHasher;
use std::collections::{BTreeMap, BTreeSet};
use std::hash::{Hash, Hasher};
use std::rc::Rc;

/// How many commands are followed.
const COMMANDS: usize = 30_000;

/// How often loops and functions are gone through again with better knowledge.
const REPEATS: usize = 400;

/// How deep code in code in code is followed: `bash -c`, `eval`, functions.
pub(crate) const NESTING: usize = 12;

/// How much text expansion may produce.
const TEXT: usize = 2 * 1024 * 1024;

pub(crate) struct Walker<'s> {
    pub surroundings: &'s Surroundings<'s>,
    pub tables: &'static Tables,
    pub out: Analysis,
    seen: BTreeMap<u64, usize>,
    commands: usize,
    repeats: usize,
    text: usize,
    /// What commands inside a group read when nothing else feeds them.
    input: Feed,
    /// Files that something fetched from elsewhere was written to.
    pub fetched: BTreeSet<String>,
    /// Functions that have not been called yet.
    pub uncalled: Vec<(Function, Context)>,
    called: Vec<Function>,
    /// States at `return`, `break` and `continue`: what follows them may not have run.
    jumps: Vec<State>,
}

/// Where in the line, and under what, something runs.
#[derive(Clone)]
pub(crate) struct Context {
    pub documents: Rc<Vec<Document>>,
    /// What it runs through.
    pub via: Rc<Vec<Wrapper>>,
    /// Where a text that is not part of the line comes from: all its places are this one.
    pub outer: Option<Span>,
    pub place: Place,
    /// Effects that everything here has because of what it runs through.
    pub effects: Rc<Vec<(Effect, Cow<'static, str>)>>,
    /// On another machine or in a container: its paths are not paths here.
    pub elsewhere: bool,
    /// How deep code in code is.
    pub nesting: usize,
}

impl Context {
    pub fn new(documents: Vec<Document>) -> Self {
        Self {
            documents: Rc::new(documents),
            via: Rc::default(),
            outer: None,
            place: Place::default(),
            effects: Rc::default(),
            elsewhere: false,
            nesting: 0,
        }
    }

    /// The place in the command line that a place in the text being walked stands for.
    pub fn span(&self, span: Span) -> Span {
        self.outer.unwrap_or(span)
    }

    /// The same with one more effect for all that runs in it.
    pub fn with(&self, effect: Effect, why: &'static str) -> Self {
        let mut context = self.clone();
        Rc::make_mut(&mut context.effects).push((effect, Cow::Borrowed(why)));
        context
    }

    pub fn conditional(&self) -> Self {
        let mut context = self.clone();
        context.place.conditional = true;
        context
    }
}

impl<'s> Walker<'s> {
    pub fn new(surroundings: &'s Surroundings<'s>, tables: &'static Tables) -> Self {
        Self {
            surroundings,
            tables,
            out: Analysis::default(),
            seen: BTreeMap::new(),
            commands: 0,
            repeats: 0,
            text: 0,
            input: Feed::Inherited,
            fetched: BTreeSet::new(),
            uncalled: Vec::new(),
            called: Vec::new(),
            jumps: Vec::new(),
        }
    }

    /// Walks the bodies of functions that nothing called: something that is not followed might.
    pub fn finish(mut self, state: &State) -> Analysis {
        for _ in 0..REPEATS {
            let Some((function, context)) = self.uncalled.pop() else { break };
            if self.called.iter().any(|called| called.is(&function)) {
                continue;
            }
            let mut later = state.later();
            later.in_function = true;
            self.function_body(&function, &context, &mut later);
        }
        if !self.uncalled.is_empty() {
            self.unknown(Reason::Limit("too many functions"), "", Span::default());
        }
        self.out
    }

    fn was_called(&mut self, function: &Function) {
        self.called.push(function.clone());
    }

    pub fn unknown(&mut self, reason: Reason, detail: impl Into<String>, span: Span) {
        let unknown = Unknown { reason, detail: detail.into(), span };
        if self.out.unknowns.len() < 1000 && !self.out.unknowns.contains(&unknown) {
            self.out.unknowns.push(unknown);
        }
    }

    pub fn hazard(
        &mut self,
        class: Danger,
        reason: impl Into<String>,
        shown: impl Into<String>,
        command: Option<usize>,
        span: Span,
    ) {
        let hazard = Hazard { class, reason: reason.into(), shown: shown.into(), command, span };
        let known = self.out.hazards.iter().rev().take(50).any(|other| *other == hazard);
        if !known {
            self.out.hazards.push(hazard);
        }
    }

    /// Writes a command down, unless the same one at the same place is there already. Says which one it is.
    pub fn record(&mut self, command: SimpleCommand) -> usize {
        let mut hasher = DefaultHasher::new();
        command.argv.hash(&mut hasher);
        command.span.hash(&mut hasher);
        command.via.len().hash(&mut hasher);
        for wrapper in &command.via {
            wrapper.argv.hash(&mut hasher);
        }
        let next = self.out.commands.len();
        let index = *self.seen.entry(hasher.finish()).or_insert(next);
        if index == next {
            self.out.commands.push(command);
        }
        index
    }

    /// Writes a path down for each directory that it could be relative to.
    pub fn path(&mut self, word: &Word, usage: Usage, command: Option<usize>, span: Span, state: &State) {
        if crate::paths::is_share(word.start()) {
            let reason = "this path is on another machine";
            self.hazard(Danger::Exfiltrates, reason, word.shown(), command, span);
        }
        for (path, glob) in crate::paths::resolve(word, state) {
            let shown = word.shown().into_owned();
            let path = PathUse { path, glob, shown, usage, command, span };
            let known = self.out.paths.iter().rev().take(50).any(|other| *other == path);
            if !known {
                self.out.paths.push(path);
            }
        }
    }

    /// Counts a command; false if there have been too many.
    fn count(&mut self, span: Span) -> bool {
        self.commands += 1;
        if self.commands > COMMANDS {
            self.unknown(Reason::Limit("too many commands"), "", span);
        }
        self.commands <= COMMANDS
    }

    /// Whether something may be gone through once more.
    pub fn repeat(&mut self) -> bool {
        self.repeats += 1;
        self.repeats <= REPEATS
    }

    /// Counts text that expansion made; false if there has been too much.
    fn spend(&mut self, bytes: usize) -> bool {
        self.text += bytes;
        self.text <= TEXT
    }
}
