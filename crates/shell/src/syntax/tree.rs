//! The tree that the reader builds from a command line: bash's grammar, with
//! the quoting of every character kept.
//!
//! Nothing here knows what a command does. A tree is only ever built whole: a
//! text that bash would refuse gives an error beside the part before it.

use crate::analysis::Span;
use std::rc::Rc;

/// A list of steps: what `bash -c` runs, what stands between `do` and `done`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Script {
    pub steps: Vec<Step>,
}

/// Pipelines joined by `&&` and `||`, up to `;`, `&` or the end of the line.
#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub first: Pipeline,
    pub rest: Vec<(Join, Pipeline)>,
    pub background: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Join {
    And,
    Or,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Pipeline {
    pub commands: Vec<Node>,
}

/// One command of a pipeline with its redirections.
#[derive(Debug, Clone, PartialEq)]
pub struct Node {
    pub kind: Kind,
    pub redirections: Vec<Redirection>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Kind {
    Simple(Simple),
    Subshell(Script),
    Group(Script),
    If { branches: Vec<(Script, Script)>, otherwise: Option<Script> },
    While { condition: Script, body: Script },
    For { variable: String, words: Option<Vec<RawWord>>, body: Script },
    ArithmeticFor { header: Vec<Part>, body: Script },
    Case { subject: RawWord, arms: Vec<Arm> },
    Function { name: String, body: Rc<Node> },
    Condition(Vec<Test>),
    Arithmetic(Vec<Part>),
    Coprocess { body: Box<Node> },
}

#[derive(Debug, Clone, Default, PartialEq)]
pub struct Simple {
    pub assignments: Vec<Assignment>,
    pub words: Vec<RawWord>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Arm {
    pub patterns: Vec<RawWord>,
    pub body: Script,
}

/// One token between `[[` and `]]`.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    Operator(&'static str),
    Word(RawWord),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Assignment {
    pub name: String,
    pub subscript: Option<Vec<Part>>,
    pub append: bool,
    pub value: Assigned,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Assigned {
    Word(RawWord),
    Array(Vec<Element>),
}

/// One element of an array literal, `[key]=value` or `value`.
#[derive(Debug, Clone, PartialEq)]
pub struct Element {
    pub subscript: Option<Vec<Part>>,
    pub value: RawWord,
}

/// A word as written.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RawWord {
    pub parts: Vec<Part>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// Bare text: splits, globs, braces and tildes count in it.
    Text(String),
    /// Text from quotes or after a backslash: it is what it is.
    Quoted(String),
    /// The inside of double quotes; empty quotes are an empty list.
    Double(Vec<Part>),
    Parameter(Box<Parameter>),
    /// `$(…)` and backticks. `outer` is where a text that was unescaped first came from: the spans inside do not
    /// point into the command line then.
    Substitution {
        script: Box<Script>,
        outer: Option<Span>,
    },
    /// `<(…)` and `>(…)`.
    Process {
        script: Box<Script>,
    },
    /// `$((…))` and `$[…]`.
    Arithmetic(Vec<Part>),
    /// `=(…)` after `declare` and its kind.
    Array(Vec<Element>),
}

/// `$x` and all that `${…}` can be.
#[derive(Debug, Clone, PartialEq)]
pub struct Parameter {
    pub name: String,
    pub subscript: Option<Vec<Part>>,
    pub operation: Operation,
    pub shown: String,
}

#[derive(Debug, Clone, PartialEq)]
pub enum Operation {
    Plain,
    Length,
    /// `${!x}`, also with what follows: the value is a name that is expanded again.
    Indirect,
    /// `${!prefix*}` and `${!array[@]}`.
    Names,
    /// `-` and `:-`.
    Default {
        colon: bool,
        word: Vec<Part>,
    },
    /// `=` and `:=`.
    Assign {
        word: Vec<Part>,
    },
    /// `+` and `:+`.
    Alternate {
        word: Vec<Part>,
    },
    /// `?` and `:?`.
    Require {
        word: Vec<Part>,
    },
    /// `#`, `##`, `%` and `%%`.
    Trim {
        suffix: bool,
        longest: bool,
        pattern: Vec<Part>,
    },
    /// `/`, `//`, `^`, `,` and their kind: text in, text out.
    Rewrite {
        words: Vec<Part>,
    },
    /// `:offset:length`.
    Slice {
        header: Vec<Part>,
    },
    /// `@Q`, `@P` and the like.
    Transform(char),
}

#[derive(Debug, Clone, PartialEq)]
pub struct Redirection {
    pub operator: Operator,
    pub descriptor: Descriptor,
    pub target: RawWord,
    /// Which here-document belongs to it, by its place in [`super::Parsed::documents`].
    pub document: Option<usize>,
    pub span: Span,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Descriptor {
    Standard,
    Number(u32),
    Variable(String),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    Read,
    Write,
    Clobber,
    Append,
    ReadWrite,
    ReadDuplicate,
    WriteDuplicate,
    Both,
    BothAppend,
    HereDocument,
    HereDocumentTabs,
    HereString,
}

/// The body of a here-document.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Document {
    /// A body whose delimiter is quoted is data; the parts of one that is not expand.
    pub parts: Vec<Part>,
    pub quoted: bool,
    pub span: Span,
}

impl RawWord {
    /// The text of a word made of bare characters only: what a reserved word or a function's name must be.
    pub fn bare(&self) -> Option<&str> {
        match self.parts.as_slice() {
            [Part::Text(text)] => Some(text),
            _ => None,
        }
    }
}
