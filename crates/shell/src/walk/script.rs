//! Lists, pipelines and compound commands, in the order bash goes through them.

use super::simple::{Feed, Produced};
use super::{Context, Walker};
use crate::analysis::{Reason, Span};
use crate::state::State;
use crate::syntax::tree::{Join, Kind, Node, Pipeline, RawWord, Script, Step, Test};
use crate::word::{Why, Word};

/// How many words a loop may have for each to be followed on its own.
const UNROLLED: usize = 24;

impl Walker<'_> {
    /// Walks a list. What it prints is only known if it is one simple command.
    pub(crate) fn script(&mut self, script: &Script, state: &mut State, context: &Context) -> Produced {
        let mut produced = Produced::default();
        for step in &script.steps {
            let output = self.step(step, state, context);
            produced = if script.steps.len() == 1 { output } else { produced.and(output) };
        }
        produced
    }

    fn step(&mut self, step: &Step, state: &mut State, context: &Context) -> Produced {
        if !step.background {
            return self.joined(step, state, context);
        }
        let mut inner = context.clone();
        inner.place.background = true;
        self.joined(step, &mut state.clone(), &inner)
    }

    fn joined(&mut self, step: &Step, state: &mut State, context: &Context) -> Produced {
        let mut produced = self.pipeline(&step.first, state, context);
        if step.rest.is_empty() {
            settle(state);
            return produced;
        }
        let conditional = context.conditional();
        // States in which a command failed and what follows is skipped.
        let mut skipped: Vec<State> = Vec::new();
        for (join, pipeline) in &step.rest {
            let mut failed = state.clone();
            if let Some(directories) = state.failed.take() {
                failed.directories = directories;
                failed.failed = None;
            }
            match join {
                Join::And => {
                    let output = self.pipeline(pipeline, state, &conditional);
                    produced = produced.and(output);
                    if skipped.last().is_none_or(|last| !last.settled(&failed)) {
                        skipped.push(failed);
                    }
                }
                Join::Or => {
                    for other in skipped.drain(..) {
                        failed.join(&other);
                    }
                    let output = self.pipeline(pipeline, &mut failed, &conditional);
                    produced = produced.and(output);
                    if !diverges(pipeline) {
                        state.join(&failed);
                    }
                }
            }
            if skipped.len() > 4 {
                for other in skipped.drain(..) {
                    state.join(&other);
                }
            }
        }
        settle(state);
        for other in skipped {
            state.join(&other);
        }
        produced
    }

    fn pipeline(&mut self, pipeline: &Pipeline, state: &mut State, context: &Context) -> Produced {
        if let [only] = pipeline.commands.as_slice() {
            return self.node(only, state, context, &Feed::Inherited);
        }
        let mut feed = Feed::Inherited;
        let mut produced = Produced::default();
        for (index, node) in pipeline.commands.iter().enumerate() {
            let output = self.node(node, &mut state.clone(), context, &feed);
            produced = Produced { fetches: produced.fetches || output.fetches, ..output };
            if index + 1 < pipeline.commands.len() {
                feed = Feed::Pipe { text: produced.text.take(), fetched: produced.fetches };
            }
        }
        produced
    }

    pub(super) fn node(
        &mut self,
        node: &Node,
        state: &mut State,
        context: &Context,
        feed: &Feed,
    ) -> Produced {
        let span = context.span(node.span);
        if let Kind::Simple(simple) = &node.kind {
            return self.simple(simple, &node.redirections, span, state, context, feed);
        }
        let opened = self.redirections(&node.redirections, None, state, context);
        let feed = opened.feed.unwrap_or_else(|| feed.clone());
        let produced = self.compound(&node.kind, span, state, context, &feed);
        if produced.fetches {
            self.fetched.extend(opened.written);
        }
        if opened.diverted { Produced { text: None, number: false, ..produced } } else { produced }
    }

    fn compound(
        &mut self,
        kind: &Kind,
        span: Span,
        state: &mut State,
        context: &Context,
        feed: &Feed,
    ) -> Produced {
        match kind {
            Kind::Simple(_) => Produced::default(),
            Kind::Subshell(script) => self.fed(script, &mut state.clone(), context, feed),
            Kind::Group(script) => self.fed(script, state, context, feed),
            Kind::If { branches, otherwise } => {
                self.branches(branches, otherwise.as_ref(), state, context, feed)
            }
            Kind::While { condition, body } => self.repeated(state, context, |walker, state, context| {
                let first = walker.fed(condition, state, context, feed);
                first.and(walker.fed(body, state, context, feed))
            }),
            Kind::For { variable, words, body } => {
                self.iterated(variable, words.as_deref(), body, span, state, context, feed)
            }
            Kind::ArithmeticFor { header, body } => {
                self.arithmetic(header, span, state, context);
                self.repeated(state, context, |walker, state, context| {
                    walker.arithmetic(header, span, state, context);
                    walker.fed(body, state, context, feed)
                })
            }
            Kind::Case { subject, arms } => {
                self.value(&subject.parts, span, state, context);
                let before = state.clone();
                let conditional = context.conditional();
                let mut produced = Produced::default();
                for arm in arms {
                    for pattern in &arm.patterns {
                        self.value(&pattern.parts, span, state, context);
                    }
                    // An arm may be reached from the start, or fall through from the one before.
                    state.join(&before);
                    produced = produced.and(self.fed(&arm.body, state, &conditional, feed));
                }
                state.join(&before);
                produced
            }
            Kind::Function { name, body } => {
                self.defined(name, body, span, state, context);
                Produced::default()
            }
            Kind::Condition(tests) => {
                self.condition(tests, span, state, context);
                Produced::default()
            }
            Kind::Arithmetic(parts) => {
                self.arithmetic(parts, span, state, context);
                Produced::default()
            }
            Kind::Coprocess { body } => {
                let mut inner = context.clone();
                inner.place.background = true;
                self.node(body, &mut state.clone(), &inner, feed)
            }
        }
    }

    /// A list whose commands inherit an input.
    fn fed(&mut self, script: &Script, state: &mut State, context: &Context, feed: &Feed) -> Produced {
        if matches!(feed, Feed::Inherited) {
            return self.script(script, state, context);
        }
        let outer = std::mem::replace(&mut self.input, feed.unnamed());
        let produced = self.script(script, state, context);
        self.input = outer;
        produced
    }

    fn branches(
        &mut self,
        branches: &[(Script, Script)],
        otherwise: Option<&Script>,
        state: &mut State,
        context: &Context,
        feed: &Feed,
    ) -> Produced {
        let conditional = context.conditional();
        let mut produced = Produced::default();
        let mut after: Option<State> = None;
        let mut meet = |state: State| match &mut after {
            Some(after) => after.join(&state),
            None => after = Some(state),
        };
        for (condition, body) in branches {
            produced = produced.and(self.fed(condition, state, &conditional, feed));
            let mut taken = state.clone();
            produced = produced.and(self.fed(body, &mut taken, &conditional, feed));
            meet(taken);
        }
        if let Some(body) = otherwise {
            produced = produced.and(self.fed(body, state, &conditional, feed));
        }
        meet(state.clone());
        if let Some(after) = after {
            *state = after;
        }
        produced
    }

    /// Walks something that runs any number of times: until what is known at its start no longer changes.
    fn repeated(
        &mut self,
        state: &mut State,
        context: &Context,
        mut once: impl FnMut(&mut Self, &mut State, &Context) -> Produced,
    ) -> Produced {
        let conditional = context.conditional();
        let mut produced = Produced::default();
        for _ in 0..3 {
            if !self.repeat() {
                break;
            }
            let before = state.clone();
            let jumps = self.jumps.len();
            produced = produced.and(once(self, state, &conditional));
            self.landed(jumps, state);
            state.join(&before);
            if state.settled(&before) {
                return produced;
            }
        }
        // Whatever it may be by then.
        state.forget();
        state.directories = None;
        state.positional = None;
        let jumps = self.jumps.len();
        let produced = produced.and(once(self, state, &conditional));
        self.landed(jumps, state);
        produced
    }

    #[allow(clippy::too_many_arguments, reason = "the parts of one `for`")]
    fn iterated(
        &mut self,
        variable: &str,
        words: Option<&[RawWord]>,
        body: &Script,
        span: Span,
        state: &mut State,
        context: &Context,
        feed: &Feed,
    ) -> Produced {
        let values = match words {
            Some(words) => self.words(words, state, context),
            None => vec![Word::hole("$@", Why::Positional)],
        };
        let conditional = context.conditional();
        let certain = values.iter().all(|value| !value.holes().any(|hole| hole.many));
        let mut produced = Produced::default();
        if certain && values.len() <= UNROLLED {
            let before = state.clone();
            for value in values {
                if !self.repeat() {
                    state.forget();
                }
                self.assigned(variable, &value, span, state);
                let jumps = self.jumps.len();
                produced = produced.and(self.fed(body, state, &conditional, feed));
                self.landed(jumps, state);
                state.join(&before);
            }
            return produced;
        }
        let numbers = values.iter().all(|value| crate::state::is_number(Some(value)));
        let value = Word::hole(format!("${variable}"), if numbers { Why::Number } else { Why::Variable });
        self.repeated(state, context, |walker, state, context| {
            walker.assigned(variable, &value, span, state);
            walker.fed(body, state, context, feed)
        })
    }

    /// `[[ … ]]`: some operators evaluate their operands as arithmetic.
    fn condition(&mut self, tests: &[Test], span: Span, state: &mut State, context: &Context) {
        let mut values = Vec::new();
        for test in tests {
            values.push(match test {
                Test::Operator(operator) => Word::text(*operator),
                Test::Word(word) => self.value(&word.parts, span, state, context),
            });
        }
        for (index, value) in values.iter().enumerate() {
            let Some(operator) = value.literal() else { continue };
            let is_word = matches!(tests.get(index), Some(Test::Word(word)) if word.bare().is_some());
            if !is_word {
                continue;
            }
            let next = values.get(index + 1);
            match operator {
                "-eq" | "-ne" | "-lt" | "-le" | "-gt" | "-ge" if index > 0 => {
                    for operand in [values.get(index - 1), next].into_iter().flatten() {
                        self.evaluated(operand, span, state);
                    }
                }
                "-v" | "-R" => {
                    let plain = next.and_then(Word::literal).is_some_and(crate::syntax::cursor::is_name);
                    if !plain && next.is_some() {
                        self.unknown(Reason::Arithmetic, "[[ -v ]]", span);
                    }
                }
                _ => {}
            }
        }
    }
}

/// The directory is the new one or, where `cd` failed, the old one.
fn settle(state: &mut State) {
    if let Some(directories) = state.failed.take() {
        let mut failed = state.clone();
        failed.directories = directories;
        state.join(&failed);
    }
}

/// Whether nothing after the pipeline runs: it exits.
fn diverges(pipeline: &Pipeline) -> bool {
    let [node] = pipeline.commands.as_slice() else { return false };
    match &node.kind {
        Kind::Simple(simple) => {
            simple.words.first().and_then(RawWord::bare).is_some_and(|name| matches!(name, "exit" | "return"))
        }
        Kind::Group(script) => script
            .steps
            .last()
            .is_some_and(|step| step.rest.is_empty() && !step.background && diverges(&step.first)),
        _ => false,
    }
}
