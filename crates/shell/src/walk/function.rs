//! Functions that a line defines and calls, and the ways out of them and out of
//! loops.
//!
//! A function is walked where it is called, with what is known there. One that
//! may not have been defined may also be a program, and is taken for both.

use super::simple::Feed;
use super::{Context, NESTING, Walker};
use crate::analysis::{Danger, Reason, Span};
use crate::state::{Definition, Function, State};
use crate::syntax::tree::{Kind, Node, RawWord, Script};
use crate::word::Word;
use std::rc::Rc;

/// How many ways out of loops and functions are remembered at once.
const JUMPS: usize = 64;

impl Walker<'_> {
    pub(super) fn defined(
        &mut self,
        name: &str,
        body: &Rc<Node>,
        span: Span,
        state: &mut State,
        context: &Context,
    ) {
        let function = Function { body: Rc::clone(body), documents: Rc::clone(&context.documents) };
        if bombs(name, body) {
            let reason = "a function that starts itself again and again: a fork bomb";
            self.hazard(Danger::Catastrophic, reason, name, None, span);
        }
        let definition = Definition { functions: vec![function.clone()], certain: true };
        Rc::make_mut(&mut state.functions).insert(name.to_owned(), definition);
        let mut inner = context.clone();
        inner.place.function = true;
        self.uncalled.push((function, inner));
    }

    /// Runs what a name may stand for as a function that the line defined, with these arguments.
    pub(crate) fn call(
        &mut self,
        name: &str,
        arguments: &[Word],
        span: Span,
        state: &mut State,
        context: &Context,
    ) {
        let Some(definition) = state.functions.get(name).cloned() else { return };
        let before = state.clone();
        let mut after = (!definition.certain).then(|| before.clone());
        let mut inner = context.clone();
        inner.place.function = true;
        inner.nesting += 1;
        for function in &definition.functions {
            if context.nesting >= NESTING || !self.repeat() {
                self.unknown(Reason::Limit("functions call each other too deep"), name, span);
                return;
            }
            self.was_called(function);
            let mut inside = before.clone();
            inside.positional = Some(Rc::new(arguments.to_vec()));
            inside.in_function = true;
            inside.locals = Rc::default();
            let jumps = self.jumps.len();
            self.function_body(function, &inner, &mut inside);
            self.landed(jumps, &mut inside);
            inside.returned(&before);
            match &mut after {
                Some(after) => after.join(&inside),
                None => after = Some(inside),
            }
        }
        if let Some(after) = after {
            *state = after;
        }
    }

    pub(super) fn function_body(&mut self, function: &Function, context: &Context, state: &mut State) {
        let mut inner = context.clone();
        inner.documents = Rc::clone(&function.documents);
        self.node(&function.body, state, &inner, &Feed::Inherited);
    }

    /// A `return`, `break` or `continue`: what follows it may not run.
    pub(crate) fn jumped(&mut self, state: &mut State) {
        if self.jumps.len() < JUMPS {
            self.jumps.push(state.clone());
        } else {
            state.forget();
            state.directories = None;
        }
    }

    /// Where the ways out of a loop or a function end: the states that they left in count too.
    pub(super) fn landed(&mut self, since: usize, state: &mut State) {
        for jump in self.jumps.split_off(since.min(self.jumps.len())) {
            state.join(&jump);
        }
    }
}

/// Whether a body starts the function it belongs to in a pipe or in the background.
fn bombs(name: &str, body: &Node) -> bool {
    let mut nodes = vec![(body, false)];
    while let Some((node, parallel)) = nodes.pop() {
        let scripts: Vec<&Script> = match &node.kind {
            Kind::Simple(simple) => {
                if parallel && simple.words.first().and_then(RawWord::bare) == Some(name) {
                    return true;
                }
                continue;
            }
            Kind::Subshell(script) | Kind::Group(script) => vec![script],
            Kind::While { condition, body } => vec![condition, body],
            Kind::For { body, .. } | Kind::ArithmeticFor { body, .. } => vec![body],
            Kind::If { branches, otherwise } => {
                branches.iter().flat_map(|(one, two)| [one, two]).chain(otherwise).collect()
            }
            _ => continue,
        };
        for step in scripts.into_iter().flat_map(|script| &script.steps) {
            for pipeline in std::iter::once(&step.first).chain(step.rest.iter().map(|(_, next)| next)) {
                let parallel = parallel || step.background || pipeline.commands.len() > 1;
                nodes.extend(pipeline.commands.iter().map(|node| (node, parallel)));
            }
        }
    }
    false
}
