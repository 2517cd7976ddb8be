//! What is known about the shell at one point of a command line: variables,
//! directory, functions.
//!
//! The invariant: a known value is the value on every way that leads here.
//! Where ways meet, what differs becomes a hole.

use crate::syntax::tree::{Document, Node};
use crate::word::{Hole, Piece, Why, Word};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// How many variables are followed. A script with more is not one that a model writes.
const VARIABLES: usize = 200;

/// How long a value may get: doubling a variable often enough would fill any memory.
const VALUE: usize = 8 * 1024;

/// How many pieces a value may have.
const PIECES: usize = 64;

/// How many directories the shell may be in before that is called unknown.
const DIRECTORIES: usize = 4;

/// A function that the line defines.
#[derive(Debug, Clone)]
pub struct Function {
    pub body: Rc<Node>,
    pub documents: Rc<Vec<Document>>,
}

impl Function {
    pub fn is(&self, other: &Self) -> bool {
        Rc::ptr_eq(&self.body, &other.body)
    }
}

/// What a name may stand for as a function.
#[derive(Debug, Clone, Default)]
pub struct Definition {
    pub functions: Vec<Function>,
    /// It is one of them on every way that leads here; otherwise it may still be a program.
    pub certain: bool,
}

impl Definition {
    fn join(&mut self, other: &Self) {
        self.certain &= other.certain;
        for function in &other.functions {
            if !self.functions.iter().any(|known| known.is(function)) {
                self.functions.push(function.clone());
            }
        }
    }

    fn is(&self, other: &Self) -> bool {
        let (mine, theirs) = (&self.functions, &other.functions);
        self.certain == other.certain
            && mine.len() == theirs.len()
            && mine.iter().all(|function| theirs.iter().any(|other| other.is(function)))
    }
}

/// What a name stands for.
#[derive(Debug, Clone, PartialEq)]
pub enum Value {
    /// Set by the line, or handed in as known.
    Set(Word),
    /// Never set by the line: what the environment says.
    Environment,
}

#[derive(Debug, Clone)]
pub struct State {
    variables: Rc<BTreeMap<String, Word>>,
    /// Some assignments were not followed: a name that is not among the variables may have been set.
    lost: bool,
    /// Where the shell may be. None if that is not known.
    pub directories: Option<Rc<Vec<String>>>,
    /// Where the shell is if the `cd` that ran last failed.
    pub failed: Option<Option<Rc<Vec<String>>>>,
    pub functions: Rc<BTreeMap<String, Definition>>,
    pub aliases: Rc<BTreeSet<String>>,
    /// Words split at spaces, tabs and line ends; false once `IFS` has changed.
    pub usual_splitting: bool,
    /// Bare names are looked up where they always are; false once `PATH` or its like has changed.
    pub usual_lookup: bool,
    /// `$1`, `$2` …; none if they are not known.
    pub positional: Option<Rc<Vec<Word>>>,
    /// Names that the function being run has made local.
    pub locals: Rc<BTreeSet<String>>,
    /// Inside a function that is being run.
    pub in_function: bool,
}

impl State {
    pub fn new(directory: &str, variables: BTreeMap<String, Word>) -> Self {
        Self {
            variables: Rc::new(variables),
            lost: false,
            directories: Some(Rc::new(vec![directory.to_owned()])),
            failed: None,
            functions: Rc::default(),
            aliases: Rc::default(),
            usual_splitting: true,
            usual_lookup: true,
            positional: None,
            locals: Rc::default(),
            in_function: false,
        }
    }

    /// The state that code which runs at some other time finds: only functions are known.
    pub fn later(&self) -> Self {
        let mut state = self.clone();
        state.forget();
        state.directories = None;
        state.positional = None;
        state
    }

    /// The state that a script started here finds: the directory and the home are the same, variables are not known.
    pub fn child(&self) -> Self {
        let mut state = self.later();
        state.directories.clone_from(&self.directories);
        if let Value::Set(home) = self.get("HOME") {
            state.set("HOME", home);
        }
        state.functions = Rc::default();
        state.aliases = Rc::default();
        state
    }

    pub fn get(&self, name: &str) -> Value {
        match self.variables.get(name) {
            Some(word) => Value::Set(word.clone()),
            None if self.lost => Value::Set(variable(name)),
            None => Value::Environment,
        }
    }

    pub fn set(&mut self, name: &str, value: Word) {
        let length: usize = value.pieces().iter().map(piece_length).sum();
        let value = if length > VALUE || value.pieces().len() > PIECES {
            Word::hole(format!("${name}"), Why::Limit)
        } else {
            value
        };
        if name == "IFS" && value.literal() != Some(" \t\n") {
            self.usual_splitting = false;
        }
        if self.variables.len() >= VARIABLES && !self.variables.contains_key(name) {
            self.lost = true;
            return;
        }
        if self.variables.get(name) != Some(&value) {
            Rc::make_mut(&mut self.variables).insert(name.to_owned(), value);
        }
    }

    /// The name holds something that is not known.
    pub fn set_unknown(&mut self, name: &str) {
        self.set(name, variable(name));
    }

    pub fn set_number(&mut self, name: &str) {
        self.set(name, Word::hole(format!("${name}"), Why::Number));
    }

    /// Any variable may hold anything.
    pub fn forget(&mut self) {
        self.variables = Rc::default();
        self.lost = true;
    }

    /// The directory, if it is the only one that the shell may be in.
    pub fn directory(&self) -> Option<&str> {
        match self.directories.as_deref().map(Vec::as_slice) {
            Some([only]) => Some(only),
            _ => None,
        }
    }

    /// What is known where two ways meet.
    pub fn join(&mut self, other: &Self) {
        if !Rc::ptr_eq(&self.variables, &other.variables) {
            let differing: Vec<String> = self
                .variables
                .keys()
                .chain(other.variables.keys())
                .filter(|name| self.variables.get(*name) != other.variables.get(*name))
                .cloned()
                .collect();
            for name in differing {
                let numbers = is_number(self.variables.get(&name)) && is_number(other.variables.get(&name));
                if numbers { self.set_number(&name) } else { self.set_unknown(&name) }
            }
        }
        self.lost |= other.lost;
        self.directories = joined(self.directories.take(), other.directories.as_ref());
        if !Rc::ptr_eq(&self.functions, &other.functions) {
            let functions = Rc::make_mut(&mut self.functions);
            let none = Definition::default();
            for (name, definition) in functions.iter_mut() {
                definition.join(other.functions.get(name).unwrap_or(&none));
            }
            for (name, definition) in other.functions.iter() {
                let maybe = || Definition { certain: false, ..definition.clone() };
                functions.entry(name.clone()).or_insert_with(maybe);
            }
        }
        if !Rc::ptr_eq(&self.aliases, &other.aliases) {
            Rc::make_mut(&mut self.aliases).extend(other.aliases.iter().cloned());
        }
        self.usual_splitting &= other.usual_splitting;
        self.usual_lookup &= other.usual_lookup;
        if self.positional != other.positional {
            self.positional = None;
        }
    }

    /// Whether nothing that a loop must care about differs.
    pub fn settled(&self, other: &Self) -> bool {
        (Rc::ptr_eq(&self.variables, &other.variables) || self.variables == other.variables)
            && self.directories == other.directories
            && self.lost == other.lost
            && self.usual_lookup == other.usual_lookup
            && self.usual_splitting == other.usual_splitting
            && self.positional == other.positional
            && self.same_functions(other)
            && self.aliases.len() == other.aliases.len()
    }

    fn same_functions(&self, other: &Self) -> bool {
        let mut pairs = self.functions.iter().zip(other.functions.iter());
        Rc::ptr_eq(&self.functions, &other.functions)
            || self.functions.len() == other.functions.len()
                && pairs.all(|((name, mine), (other, theirs))| name == other && mine.is(theirs))
    }

    /// What holds after a function returned: its local variables are as they were.
    pub fn returned(&mut self, before: &Self) {
        for name in self.locals.iter().cloned().collect::<Vec<_>>() {
            match before.get(&name) {
                Value::Set(word) => self.set(&name, word),
                Value::Environment => {
                    Rc::make_mut(&mut self.variables).remove(&name);
                }
            }
        }
        self.locals = Rc::clone(&before.locals);
        self.positional = before.positional.clone();
        self.in_function = before.in_function;
    }
}

/// A word that stands for the unknown value of a variable.
pub fn variable(name: &str) -> Word {
    Word::hole(format!("${name}"), Why::Variable)
}

/// Whether a word is digits and at most a sign, whatever they are.
pub fn is_number(word: Option<&Word>) -> bool {
    let Some(word) = word else { return false };
    match word.pieces() {
        [] => true,
        pieces => pieces.iter().all(|piece| match piece {
            Piece::Text(text) => text.chars().all(|next| next.is_ascii_digit() || next == '-'),
            Piece::Hole(Hole { why: Why::Number | Why::Background, .. }) => true,
            Piece::Glob(_) | Piece::Hole(_) => false,
        }),
    }
}

fn piece_length(piece: &Piece) -> usize {
    match piece {
        Piece::Text(text) | Piece::Glob(text) => text.len(),
        Piece::Hole(hole) => hole.shown.len(),
    }
}

fn joined(mine: Option<Rc<Vec<String>>>, other: Option<&Rc<Vec<String>>>) -> Option<Rc<Vec<String>>> {
    let (mut all, other) = (mine?, other?);
    if Rc::ptr_eq(&all, other) {
        return Some(all);
    }
    for directory in other.iter() {
        if !all.contains(directory) {
            Rc::make_mut(&mut all).push(directory.clone());
        }
    }
    (all.len() <= DIRECTORIES).then_some(all)
}
