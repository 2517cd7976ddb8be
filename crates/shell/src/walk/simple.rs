//! Simple commands: assignments, words, redirections, in the order bash takes
//! them, and then whatever the words run.

use super::{Context, Walker};
use crate::analysis::Span;
use crate::run::{Invocation, Reach};
use crate::state::{State, Value, variable};
use crate::syntax::tree::{Assigned, Assignment, Redirection, Simple};
use crate::word::Word;

/// What a command reads.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) enum Feed {
    /// Whatever the shell reads.
    #[default]
    Inherited,
    /// Nothing: `/dev/null`, or closed.
    Nothing,
    /// What other commands print; the text if it is known.
    Pipe { text: Option<String>, fetched: bool },
    /// A here-document or here-string; the text if it is known.
    Text(Option<String>),
    /// A file.
    File(Word),
}

impl Feed {
    /// The same for several readers, none of which is sure to get the whole text.
    pub(super) fn unnamed(&self) -> Self {
        match self {
            Self::Pipe { fetched, .. } => Self::Pipe { text: None, fetched: *fetched },
            Self::Text(_) => Self::Text(None),
            other => other.clone(),
        }
    }
}

/// What a command prints, as far as it is known.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Produced {
    pub text: Option<String>,
    /// It is a number.
    pub number: bool,
    /// It comes from another machine.
    pub fetches: bool,
    /// The command that was written down for it.
    pub command: Option<usize>,
}

impl Produced {
    /// What two commands print one after the other.
    pub fn and(self, other: Self) -> Self {
        Self { text: None, number: false, fetches: self.fetches || other.fetches, command: None }
    }
}

impl Walker<'_> {
    pub(super) fn simple(
        &mut self,
        simple: &Simple,
        redirections: &[Redirection],
        span: Span,
        state: &mut State,
        context: &Context,
        feed: &Feed,
    ) -> Produced {
        if !self.count(span) {
            return Produced::default();
        }
        let argv = self.words(&simple.words, state, context);
        let paths = self.out.paths.len();
        let opened = self.redirections(redirections, None, state, context);
        let opened_paths = self.out.paths.len();
        let feed = match (&opened.feed, feed) {
            (Some(opened), _) => opened.clone(),
            (None, Feed::Inherited) => self.input.clone(),
            (None, feed) => feed.clone(),
        };
        if argv.is_empty() {
            for assignment in &simple.assignments {
                self.assign(assignment, state, context);
            }
            return opened.produced();
        }
        let mut assignments = Vec::new();
        for assignment in &simple.assignments {
            let value = self.assigned_value(assignment, state, context);
            assignments.push((assignment.name.clone(), value));
        }
        let invocation = Invocation { argv, assignments, span, feed, reach: Reach::Shell };
        let produced = self.run(invocation, state, context);
        for path in self.out.paths.iter_mut().take(opened_paths).skip(paths) {
            path.command = produced.command;
        }
        if produced.fetches {
            self.fetched.extend(opened.written.iter().cloned());
        }
        if opened.diverted { Produced { text: None, number: false, ..produced } } else { produced }
    }

    /// An assignment that stands alone, and so stays.
    fn assign(&mut self, assignment: &Assignment, state: &mut State, context: &Context) {
        let value = self.assigned_value(assignment, state, context);
        self.assigned(&assignment.name, &value, context.span(assignment.span), state);
    }

    fn assigned_value(&mut self, assignment: &Assignment, state: &mut State, context: &Context) -> Word {
        let span = context.span(assignment.span);
        if let Some(subscript) = &assignment.subscript {
            self.arithmetic(subscript, span, state, context);
        }
        let value = match &assignment.value {
            Assigned::Word(word) => self.value(&word.parts, span, state, context),
            Assigned::Array(elements) => {
                self.elements(elements, span, state, context);
                variable(&assignment.name)
            }
        };
        if assignment.subscript.is_some() {
            return variable(&assignment.name);
        }
        if !assignment.append {
            return value;
        }
        match state.get(&assignment.name) {
            Value::Set(mut old) => {
                value.pieces().iter().for_each(|piece| old.push(piece.clone()));
                old
            }
            Value::Environment => {
                let mut old = variable(&assignment.name);
                value.pieces().iter().for_each(|piece| old.push(piece.clone()));
                old
            }
        }
    }

    /// A variable of this shell gets a value.
    pub(crate) fn assigned(&mut self, name: &str, value: &Word, span: Span, state: &mut State) {
        let judged = self.variable(name, value, None, span);
        if judged.changes_lookup {
            state.usual_lookup = false;
        }
        state.set(name, value.clone());
    }
}
