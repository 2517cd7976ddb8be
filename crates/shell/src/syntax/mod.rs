//! Reads a command line into a tree, as bash 5 reads what follows `bash -c`.
//!
//! Layout: [`tree`] is what comes out; [`cursor`] knows line continuations;
//! [`words`], [`parameter`] and [`arithmetic`] read what words are made of;
//! [`command`], [`compound`] and [`condition`] are the grammar; [`redirection`]
//! and [`heredoc`] read where input comes from and output goes.
//!
//! The reader is strict: what bash refuses is an error, what it is known to
//! read in more than one way is an oddity. Either makes the whole unknown to
//! those who decide. Nesting is limited, so the stack is too.

mod arithmetic;
mod command;
mod compound;
mod condition;
pub mod cursor;
mod heredoc;
mod parameter;
mod redirection;
pub mod tree;
mod words;

use crate::analysis::{Reason, Span};
use cursor::Cursor;
use heredoc::Pending;
use tree::{Document, Script};

/// How deep constructs may nest. Beyond it nothing is read.
const DEPTH: usize = 32;

/// What was read, and why it may not be the whole truth.
pub struct Parsed {
    /// Everything up to the first error: bash runs earlier lines before it sees a later one.
    pub script: Script,
    pub documents: Vec<Document>,
    pub oddities: Vec<(Span, Reason)>,
    /// Where the text is not read in place: backticks and here-documents.
    pub detached: Vec<Span>,
    /// Where words stand that come before a command and look like one: `time`, `coproc`.
    pub keywords: Vec<usize>,
}

/// Reads a whole command line. `depth` is how deep the one who asks already is.
pub fn parse(text: &str, depth: usize) -> Parsed {
    let mut reader = Reader::new(text, depth);
    let script = reader.whole();
    Parsed {
        script,
        documents: reader.documents,
        oddities: reader.oddities,
        detached: reader.detached,
        keywords: reader.keywords,
    }
}

/// The reading stopped.
pub(in crate::syntax) struct Stop {
    at: usize,
    why: Reason,
}

type Read<T> = Result<T, Stop>;

pub(in crate::syntax) struct Reader<'a> {
    cursor: Cursor<'a>,
    depth: usize,
    /// Inside `$(…)`, where a here-document's end may share its line with the closing parenthesis.
    substituting: bool,
    pending: Vec<Pending>,
    documents: Vec<Document>,
    oddities: Vec<(Span, Reason)>,
    detached: Vec<Span>,
    keywords: Vec<usize>,
}

impl<'a> Reader<'a> {
    fn new(text: &'a str, depth: usize) -> Self {
        Self {
            cursor: Cursor::new(text),
            depth,
            substituting: false,
            pending: Vec::new(),
            documents: Vec::new(),
            oddities: Vec::new(),
            detached: Vec::new(),
            keywords: Vec::new(),
        }
    }

    /// Reads to the end of the text, and keeps what was complete when an error comes.
    fn whole(&mut self) -> Script {
        let mut script = Script::default();
        if let Err(stop) = self.steps(&mut script) {
            self.stopped(&stop);
            return script;
        }
        let at = self.cursor.place();
        if let Some(next) = self.cursor.peek() {
            let why = if next == ')' { "`)` closes nothing" } else { "a word that closes nothing" };
            self.stopped(&Stop { at, why: Reason::Syntax(why) });
        } else if let Err(stop) = self.unfinished_documents() {
            self.stopped(&stop);
        }
        script
    }

    fn stopped(&mut self, stop: &Stop) {
        let span = Span { start: stop.at, end: self.cursor.text().len() };
        self.oddities.push((span, stop.why));
    }

    /// Notes something that is read, but that bash may read otherwise.
    fn odd(&mut self, start: usize, why: &'static str) {
        let end = self.cursor.raw_place();
        self.oddities.push((Span { start, end }, Reason::Ambiguous(why)));
    }

    fn fail<T>(&mut self, why: &'static str) -> Read<T> {
        let at = self.cursor.place();
        Err(Stop { at, why: Reason::Syntax(why) })
    }

    /// Runs `read` one level deeper, unless that is too deep.
    fn deeper<T>(&mut self, read: impl FnOnce(&mut Self) -> Read<T>) -> Read<T> {
        if self.depth >= DEPTH {
            let at = self.cursor.place();
            return Err(Stop { at, why: Reason::Limit("constructs nest too deep") });
        }
        self.depth += 1;
        let result = read(self);
        self.depth -= 1;
        result
    }

    /// Reads a text that stands elsewhere, such as what backticks hold once it is unescaped. Its places are not
    /// places of this text, so what is odd in it is odd at `outer`.
    fn detached<T>(
        &mut self,
        text: &str,
        outer: Span,
        read: impl FnOnce(&mut Reader<'_>) -> Read<T>,
    ) -> Read<T> {
        self.detached.push(outer);
        let mut inner = Reader::new(text, self.depth);
        inner.documents = std::mem::take(&mut self.documents);
        let result = inner.deeper(read);
        self.documents = inner.documents;
        self.oddities.extend(inner.oddities.into_iter().map(|(_, why)| (outer, why)));
        result.map_err(|stop| Stop { at: outer.start, why: stop.why })
    }
}
