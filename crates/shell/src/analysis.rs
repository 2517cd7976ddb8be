//! What an analysis says. See [`crate::analyze`].
//!
//! The types carry facts, never a decision: allow, ask and deny are for the
//! permission layer.

use crate::arity;
use crate::effect::Effect;
use crate::word::{Word, line};
use serde::Deserialize;
use std::borrow::Cow;
use std::fmt;

/// A range of bytes in the command line.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Span {
    /// The first byte.
    pub start: usize,
    /// The byte after the last.
    pub end: usize,
}

/// What a command line would do.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Analysis {
    /// Every simple command that would or could run, at any depth, wrappers taken off.
    pub commands: Vec<SimpleCommand>,
    /// Every redirection that opens a file. `2>&1` and `>/dev/null` are none.
    pub redirects: Vec<Redirect>,
    /// Every path and how it is used.
    pub paths: Vec<PathUse>,
    /// What cannot be understood without running it. If there is one, nothing of the line may run unasked.
    pub unknowns: Vec<Unknown>,
    /// Escape hatches and other dangers that were found. One asks even under a broad rule.
    pub hazards: Vec<Hazard>,
    /// Characters that do not look like what they are.
    pub notes: Vec<Note>,
}

impl Analysis {
    /// Whether everything in it is understood and looks like what it is. Otherwise it is never allowed unasked.
    #[must_use]
    pub fn is_understood(&self) -> bool {
        self.unknowns.is_empty() && self.notes.is_empty()
    }

    /// The pattern to offer for "always allow" one of the commands. None if only the exact command may be offered:
    /// also for one with a hazard, which no pattern would cover, and for one that runs with other rights, elsewhere or
    /// later. A command that runs through a runner of the project is named with it: `uv run pytest *`.
    #[must_use]
    pub fn always(&self, index: usize) -> Option<String> {
        let command = self.commands.get(index)?;
        if self.hazards.iter().any(|hazard| hazard.command.is_none_or(|command| command == index)) {
            return None;
        }
        match command.via.iter().find(|wrapper| wrapper.effect > Effect::Write) {
            None => command.always(),
            Some(wrapper) if wrapper.effect <= Effect::Project => {
                let program = Program::Named(wrapper.name.split(' ').next().unwrap_or_default().to_owned());
                command.always().and_then(|_| arity::always(&wrapper.canonical, &program))
            }
            Some(_) => None,
        }
    }

    /// The loudest effect of all commands; [`Effect::Unknown`] if something is not understood.
    #[must_use]
    pub fn loudest(&self) -> Effect {
        if !self.is_understood() {
            return Effect::Unknown;
        }
        self.commands.iter().map(SimpleCommand::loudest).max().unwrap_or(Effect::Shell)
    }
}

/// One command with its arguments.
#[derive(Debug, Clone, PartialEq)]
pub struct SimpleCommand {
    /// The program and its arguments, as the program would see them.
    pub argv: Vec<Word>,
    /// The same without options that stand before a sub-command (`git -C x`) and with a system directory taken off
    /// the program. What rules should match.
    pub canonical: Vec<Word>,
    /// Variables that are set for this command only.
    pub assignments: Vec<(String, Word)>,
    /// What it runs through, outermost first.
    pub via: Vec<Wrapper>,
    /// What the first word stands for.
    pub program: Program,
    /// What it does, loudest first; never empty.
    pub effects: Vec<(Effect, Cow<'static, str>)>,
    /// Where it stands in the command line.
    pub span: Span,
    /// How it is reached.
    pub place: Place,
}

impl SimpleCommand {
    /// The loudest of its effects.
    #[must_use]
    pub fn loudest(&self) -> Effect {
        self.effects.iter().map(|(effect, _)| *effect).max().unwrap_or(Effect::Unknown)
    }

    /// The words that name what is run, without options: `npm run build`.
    #[must_use]
    pub fn prefix(&self) -> Vec<String> {
        arity::named(&self.canonical)
    }

    /// The pattern to offer for "always", such as `npm run build *`. None if nothing broader than the exact command,
    /// its [`text`](Self::text), may be offered: for what destroys, runs or sends anything, for a program that is not
    /// known, and for a name that would itself be a pattern.
    #[must_use]
    pub fn always(&self) -> Option<String> {
        arity::always(&self.canonical, &self.program)
    }

    /// The command as one line, for rules: each word quoted where it needs to be.
    #[must_use]
    pub fn text(&self) -> String {
        line(&self.canonical)
    }

    /// Every spelling that a deny rule should be tried on: as rules match it, as written, and with each wrapper.
    #[must_use]
    pub fn spellings(&self) -> Vec<String> {
        let mut spellings = vec![self.text()];
        let mut add = |spelling: String| {
            if !spellings.contains(&spelling) {
                spellings.push(spelling);
            }
        };
        add(line(&self.argv));
        for wrapper in &self.via {
            add(line(&wrapper.canonical));
            add(wrapper.text());
        }
        spellings
    }
}

/// How a command is reached.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct Place {
    /// It goes on when the line has ended.
    pub background: bool,
    /// It may be skipped: after `&&`, in a branch or a loop.
    pub conditional: bool,
    /// Its output is taken, by `$(…)`, backticks or `<(…)`.
    pub substitution: bool,
    /// It stands in a function, and runs when that is called.
    pub function: bool,
}

/// What the first word of a command stands for.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Program {
    /// Part of the shell.
    Builtin(String),
    /// A bare name, looked up in `PATH`, or one in a system directory.
    Named(String),
    /// A file: not the trusted program of the same name.
    File(String),
    /// A function that the line defines; its body is among the commands.
    Function(String),
    /// Only known when it runs.
    Unknown,
}

impl Program {
    /// The name that tables know it by, if any.
    #[must_use]
    pub fn name(&self) -> Option<&str> {
        match self {
            Self::Builtin(name) | Self::Named(name) => Some(name),
            Self::File(path) => path.rsplit('/').next(),
            Self::Function(_) | Self::Unknown => None,
        }
    }
}

/// Something that runs another command.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wrapper {
    /// Its name: `sudo`, `xargs`, `bash -c`.
    pub name: String,
    /// The whole command that it is, what it runs included.
    pub argv: Vec<Word>,
    /// The same as rules should match it.
    pub canonical: Vec<Word>,
    /// What it adds to all that runs through it.
    pub effect: Effect,
    /// Why it counts as one.
    pub reason: &'static str,
}

impl Wrapper {
    /// The whole command as one line.
    #[must_use]
    pub fn text(&self) -> String {
        line(&self.argv)
    }
}

/// A redirection to or from a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Redirect {
    /// What is done with the target.
    pub kind: RedirectKind,
    /// The descriptor it is for; none for the usual one.
    pub descriptor: Option<u32>,
    /// The target as bash would see it.
    pub target: Word,
    /// Where it stands.
    pub span: Span,
}

/// What a redirection does with its target.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum RedirectKind {
    /// `<`.
    Read,
    /// `>`, `>|`, `&>`.
    Write,
    /// `>>`, `&>>`.
    Append,
    /// `<>`.
    ReadWrite,
}

/// A path and how it is used.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PathUse {
    /// The absolute path, as known as it is: `~`, variables and the directory after `cd` are filled in; `..` and
    /// links are not followed. None if it is not known.
    pub path: Option<String>,
    /// Whether the path is a pattern for several.
    pub glob: bool,
    /// As the command line has it.
    pub shown: String,
    /// How it is used.
    pub usage: Usage,
    /// Which command uses it; none for a redirection that has no command.
    pub command: Option<usize>,
    /// Where it stands.
    pub span: Span,
}

/// How a path is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Usage {
    /// Its name or attributes are listed.
    List,
    /// Its content is read.
    Read,
    /// It is made or changed.
    Write,
    /// It is removed.
    Delete,
    /// It is removed with all that is under it.
    DeleteTree,
    /// It is run, or loaded as code.
    Execute,
    /// A program that no table knows gets it.
    Unknown,
}

/// Something that cannot be understood without running it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unknown {
    /// Why.
    pub reason: Reason,
    /// What it is about, for a person; may be empty.
    pub detail: String,
    /// Where it stands.
    pub span: Span,
}

/// Why something cannot be understood.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// Bash refuses the text.
    Syntax(&'static str),
    /// Bash may read the text in another way.
    Ambiguous(&'static str),
    /// It is too long, too deep or too much.
    Limit(&'static str),
    /// Which program runs is only known when it runs.
    Command,
    /// Text that is only known when it runs is run as code.
    Code(&'static str),
    /// Text that is only known when it runs is evaluated as arithmetic, which can run commands.
    Arithmetic,
    /// A wrapper has an option or a form that no table knows, so what it runs is not known.
    Wrapper,
    /// A name gets another meaning: an alias, a rehashed command, a nameref.
    Redefined,
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Syntax(why) => write!(f, "not valid bash: {why}"),
            Self::Ambiguous(why) => write!(f, "can be read in more than one way: {why}"),
            Self::Limit(why) => write!(f, "not analysed to the end: {why}"),
            Self::Command => f.write_str("which program runs is only known when it runs"),
            Self::Code(why) => write!(f, "runs code that is not known: {why}"),
            Self::Arithmetic => f.write_str("evaluates text that is not known, which can run commands"),
            Self::Wrapper => f.write_str("what this wrapper runs is not known"),
            Self::Redefined => f.write_str("gives a command another meaning"),
        }
    }
}

/// An escape hatch, or another danger.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Hazard {
    /// What it leads to.
    pub class: Danger,
    /// Why, for a person.
    pub reason: String,
    /// The word that it is about.
    pub shown: String,
    /// Which command has it, if one does.
    pub command: Option<usize>,
    /// Where it stands.
    pub span: Span,
}

/// What a hazard leads to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Danger {
    /// Does not end by itself, or fills what it is given.
    Unbounded,
    /// Writes where the command does not look like writing.
    Writes,
    /// Runs a program or code that the command does not look like running.
    Executes,
    /// Sends data away where the command does not look like it.
    Exfiltrates,
    /// Reads secrets, such as the environment.
    Secrets,
    /// Gives rights, or takes protection away.
    Privilege,
    /// Makes something run later.
    Persistence,
    /// Destroys what cannot be brought back: refused in every mode.
    Catastrophic,
}

/// A character that does not look like what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Note {
    /// The character.
    pub character: char,
    /// Where it stands.
    pub at: usize,
    /// What is wrong with it.
    pub reason: &'static str,
}
