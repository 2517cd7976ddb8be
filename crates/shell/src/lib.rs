//! What would this command line do?
//!
//! [`analyze`] reads a command line as bash would, follows what is known about
//! variables and directories, takes wrappers off, and says which commands,
//! files and dangers are in it. It runs nothing and reads nothing: values in,
//! values out.
//!
//! Layout: [`syntax`] reads the text into a tree and [`second`] has another
//! reader check that; [`walk`] goes through the tree with a [`state`]; [`run`]
//! looks at one command: [`builtin`], [`peel`], [`program`], [`judge`] with its
//! helpers; [`tables`] are what is known about programs, as data; [`analysis`]
//! is what comes out.
//!
//! The invariant: what is not understood is in [`Analysis::unknowns`]. A program
//! that bash would run is among the commands, or there is an unknown.
//!
//! ```
//! use rein_shell::{Effect, Surroundings, analyze};
//!
//! let here = Surroundings::new("/work");
//! let analysis = analyze("cd src && cargo test 2>&1 | tail -5", &here);
//! let commands: Vec<String> = analysis.commands.iter().map(|command| command.text()).collect();
//! assert_eq!(commands, ["cd src", "cargo test", "tail -5"]);
//! assert_eq!(analysis.loudest(), Effect::Project);
//!
//! assert!(!analyze("$(cat name) -rf x", &here).is_understood());
//! ```

mod address;
pub mod analysis;
pub mod arity;
mod builtin;
mod catastrophe;
pub mod characters;
mod code;
mod effect;
mod environment;
mod find;
mod git;
mod glob;
mod hook;
mod judge;
mod map;
mod operands;
mod options;
pub mod paths;
mod peel;
mod precious;
mod program;
mod run;
mod script;
mod second;
mod state;
mod syntax;
#[cfg(test)]
mod table_tests;
mod tables;
mod walk;
mod word;

pub use analysis::{
    Analysis, Danger, Hazard, Note, PathUse, Place, Program, Reason, Redirect, RedirectKind, SimpleCommand,
    Span, Unknown, Usage, Wrapper,
};
pub use effect::{Effect, Tier};
pub use word::{Hole, Piece, Why, Word, line};

use state::State;
use std::collections::BTreeMap;
use walk::{Context, Walker};

/// Longer texts are not read at all.
const LONGEST: usize = 512 * 1024;

/// Where a command line runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Surroundings<'s> {
    /// The directory it runs in, absolute.
    pub directory: &'s str,
    /// The user's home directory, if there is one.
    pub home: Option<&'s str>,
    /// Further variables whose values are known, such as `TMPDIR`.
    pub variables: &'s [(&'s str, &'s str)],
}

impl<'s> Surroundings<'s> {
    /// Surroundings of which only the directory is known.
    #[must_use]
    pub fn new(directory: &'s str) -> Self {
        Self { directory, home: None, variables: &[] }
    }

    /// The same with a home directory.
    #[must_use]
    pub fn with_home(self, home: &'s str) -> Self {
        Self { home: Some(home), ..self }
    }
}

/// Says what a command line would do.
///
/// It never fails: what cannot be read, followed or bounded is an [`Unknown`] of the result. The time it takes grows
/// with the length of the text, the stack does not.
#[must_use]
pub fn analyze(command: &str, surroundings: &Surroundings<'_>) -> Analysis {
    let whole = Span { start: 0, end: command.len() };
    let unread = |reason: Reason| Analysis {
        unknowns: vec![Unknown { reason, detail: String::new(), span: whole }],
        notes: characters::notes(command.get(..command.len().min(4096)).unwrap_or_default()),
        ..Analysis::default()
    };
    let Some(tables) = tables::tables() else {
        return unread(Reason::Limit("the tables of programs cannot be read"));
    };
    if command.len() > LONGEST {
        return unread(Reason::Limit("the text is too long"));
    }
    let mut walker = Walker::new(surroundings, tables);
    walker.out.notes = characters::notes(command);
    if let Some(start) = paths::share_in(command) {
        let shown = excerpt(command.get(start..).unwrap_or_default());
        let span = Span { start, end: command.len() };
        walker.hazard(Danger::Exfiltrates, "this path is on another machine", shown, None, span);
    }
    let parsed = syntax::parse(command, 0);
    for (span, reason) in &parsed.oddities {
        walker.unknown(*reason, command.get(span.start..span.end).map(excerpt).unwrap_or_default(), *span);
    }
    if let Some((span, reason)) = second::check(command, &parsed) {
        walker.unknown(reason, command.get(span.start..span.end).map(excerpt).unwrap_or_default(), span);
    }
    let mut variables: BTreeMap<String, Word> =
        surroundings.variables.iter().map(|(name, value)| ((*name).to_owned(), Word::text(*value))).collect();
    if let Some(home) = surroundings.home {
        variables.insert("HOME".into(), Word::text(home));
    }
    let mut state = State::new(surroundings.directory, variables);
    let context = Context::new(parsed.documents);
    walker.script(&parsed.script, &mut state, &context);
    walker.finish(&state)
}

/// The start of a text, for a person.
fn excerpt(text: &str) -> String {
    text.chars().take(80).collect()
}
