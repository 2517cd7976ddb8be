//! Lists, pipelines and simple commands.

use super::cursor::{continues_name, is_meta, starts_name};
use super::tree::{
    Assigned, Assignment, Element, Join, Kind, Node, Part, Pipeline, RawWord, Script, Simple, Step,
};
use super::{Read, Reader};
use crate::analysis::Span;

/// Commands whose arguments may be array literals.
const DECLARATIONS: [&str; 5] = ["declare", "typeset", "local", "export", "readonly"];

/// Words that end a list, and the list's owner decides whether it is the right one.
const CLOSERS: [&str; 8] = ["then", "do", "done", "fi", "elif", "else", "esac", "}"];

/// A short word that may be reserved. It is looked for before every command, so it is kept without an allocation.
#[derive(Default)]
pub(super) struct Keyword {
    bytes: [u8; 8],
    length: usize,
}

impl Keyword {
    pub(super) fn text(&self) -> &str {
        self.bytes.get(..self.length).and_then(|bytes| std::str::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

impl Reader<'_> {
    /// A list up to whatever closes it, which is left in place.
    pub(super) fn list(&mut self) -> Read<Script> {
        let mut script = Script::default();
        self.steps(&mut script)?;
        Ok(script)
    }

    /// A list that must not be empty.
    pub(super) fn required_list(&mut self) -> Read<Script> {
        let script = self.list()?;
        if script.steps.is_empty() { self.fail("a command is missing") } else { Ok(script) }
    }

    /// Adds steps one by one, so that those before an error are kept.
    pub(super) fn steps(&mut self, script: &mut Script) -> Read<()> {
        loop {
            self.line_breaks()?;
            if self.at_closer() {
                return Ok(());
            }
            let first = self.pipeline()?;
            let mut step = Step { first, rest: Vec::new(), background: false };
            self.joined(&mut step)?;
            match self.cursor.peek() {
                Some(';') if self.cursor.second() == Some(';') || self.cursor.second() == Some('&') => {
                    script.steps.push(step);
                    return Ok(());
                }
                Some(';') => {
                    self.cursor.bump();
                }
                Some('&') => {
                    self.cursor.bump();
                    step.background = true;
                }
                Some('\n') | None | Some(')') => {}
                Some(_) => return self.fail("something after a command that does not belong there"),
            }
            script.steps.push(step);
        }
    }

    fn joined(&mut self, step: &mut Step) -> Read<()> {
        loop {
            self.blanks();
            let join = match (self.cursor.peek(), self.cursor.second()) {
                (Some('&'), Some('&')) => Join::And,
                (Some('|'), Some('|')) => Join::Or,
                _ => return Ok(()),
            };
            self.cursor.bump();
            self.cursor.bump();
            self.line_breaks()?;
            step.rest.push((join, self.pipeline()?));
        }
    }

    fn at_closer(&mut self) -> bool {
        match self.cursor.peek() {
            None | Some(')') => true,
            Some(';') => matches!(self.cursor.second(), Some(';' | '&')),
            Some('t' | 'd' | 'f' | 'e' | '}') => {
                self.keyword_ahead().is_some_and(|word| CLOSERS.contains(&word.text()))
            }
            Some(_) => false,
        }
    }

    /// The bare word at the cursor, if it is short enough to be reserved and nothing but letters.
    pub(super) fn keyword_ahead(&self) -> Option<Keyword> {
        let mut ahead = self.cursor;
        let mut keyword = Keyword::default();
        while let Some(next) = ahead.peek() {
            if is_meta(next) {
                break;
            }
            let byte = u8::try_from(next)
                .ok()
                .filter(|byte| byte.is_ascii_lowercase() || b"{}![]".contains(byte))?;
            *keyword.bytes.get_mut(keyword.length)? = byte;
            keyword.length += 1;
            ahead.bump();
        }
        Some(keyword)
    }

    /// Takes the reserved word `wanted` if it stands at the cursor.
    pub(super) fn eat_keyword(&mut self, wanted: &str) -> bool {
        let found = self.keyword_ahead().is_some_and(|word| word.text() == wanted);
        if found {
            for _ in wanted.chars() {
                self.cursor.bump();
            }
        }
        found
    }

    fn pipeline(&mut self) -> Read<Pipeline> {
        loop {
            self.blanks();
            if self.eat_keyword("!") {
                continue;
            }
            let place = self.cursor.place();
            if !self.eat_keyword("time") {
                break;
            }
            self.keywords.push(place);
            self.blanks();
            if self.option_p_ahead() {
                self.cursor.bump();
                self.cursor.bump();
            }
        }
        let mut commands = vec![self.deeper(Self::command)?];
        loop {
            self.blanks();
            if self.cursor.peek() != Some('|') || self.cursor.second() == Some('|') {
                return Ok(Pipeline { commands });
            }
            self.cursor.bump();
            self.cursor.eat('&');
            self.line_breaks()?;
            commands.push(self.deeper(Self::command)?);
        }
    }

    fn option_p_ahead(&self) -> bool {
        let mut ahead = self.cursor;
        ahead.eat('-') && ahead.eat('p') && ahead.peek().is_none_or(is_meta)
    }

    pub(super) fn command(&mut self) -> Read<Node> {
        self.blanks();
        if let Some(node) = self.compound()? {
            return Ok(node);
        }
        self.simple()
    }

    pub(super) fn simple(&mut self) -> Read<Node> {
        let start = self.cursor.place();
        let mut simple = Simple::default();
        let mut redirections = Vec::new();
        loop {
            self.blanks();
            if let Some(redirection) = self.redirection()? {
                redirections.push(redirection);
                continue;
            }
            let first = simple.words.first().and_then(RawWord::bare);
            let declares = first.is_some_and(|first| DECLARATIONS.contains(&first));
            if simple.words.is_empty()
                && let Some(assignment) = self.assignment()?
            {
                simple.assignments.push(assignment);
                continue;
            }
            let Some(mut word) = self.word()? else { break };
            if self.cursor.peek() == Some('(') && declares && ends_with_equals(&word) {
                word.parts.push(Part::Array(self.array()?));
                word.span.end = self.cursor.raw_place();
            }
            let may_define =
                simple.words.is_empty() && simple.assignments.is_empty() && redirections.is_empty();
            simple.words.push(word);
            if may_define {
                self.blanks();
                if self.cursor.peek() == Some('(') {
                    return self.function_after(&simple, start);
                }
            }
        }
        if simple.words.is_empty() && simple.assignments.is_empty() && redirections.is_empty() {
            return self.fail("a command is missing");
        }
        let span = Span { start, end: self.cursor.raw_place() };
        Ok(Node { kind: Kind::Simple(simple), redirections, span })
    }

    fn function_after(&mut self, simple: &Simple, start: usize) -> Read<Node> {
        let Some(name) = simple.words.first().and_then(RawWord::bare).map(str::to_owned) else {
            return self.fail("`(` after a word");
        };
        self.cursor.bump();
        self.blanks();
        self.expect(')', "`(` after a word")?;
        self.function_body(name, start)
    }

    /// `name=`, `name+=` or `name[…]=` with its value.
    fn assignment(&mut self) -> Read<Option<Assignment>> {
        let before = self.cursor;
        let start = self.cursor.place();
        let mut name = String::new();
        while let Some(next) = self.cursor.peek().filter(|next| continues_name(*next)) {
            self.cursor.bump();
            name.push(next);
        }
        let next = self.cursor.peek();
        if !name.starts_with(starts_name) || !matches!(next, Some('=' | '+' | '[')) {
            self.cursor = before;
            return Ok(None);
        }
        let subscript = if next == Some('[') {
            if !self.subscript_assigned() {
                self.cursor = before;
                return Ok(None);
            }
            Some(self.subscript()?)
        } else {
            None
        };
        let append = self.cursor.eat('+');
        if !self.cursor.eat('=') {
            self.cursor = before;
            return Ok(None);
        }
        let value = if self.cursor.peek() == Some('(') && subscript.is_none() {
            Assigned::Array(self.array()?)
        } else {
            Assigned::Word(self.word()?.unwrap_or_default())
        };
        let span = Span { start, end: self.cursor.raw_place() };
        Ok(Some(Assignment { name, subscript, append, value, span }))
    }

    /// Whether the bracket at the cursor closes before a blank and an `=` follows: otherwise it is a glob.
    fn subscript_assigned(&self) -> bool {
        let mut ahead = self.cursor;
        let mut open = 0_usize;
        for _ in 0..4096 {
            match ahead.bump() {
                Some('[') => open += 1,
                Some(']') => open -= 1,
                Some(_) => {}
                None => return false,
            }
            if open == 0 {
                return matches!(ahead.peek(), Some('=' | '+'));
            }
        }
        false
    }

    /// `(…)` with the elements of an array.
    fn array(&mut self) -> Read<Vec<Element>> {
        self.cursor.bump();
        let mut elements = Vec::new();
        loop {
            self.line_breaks()?;
            if self.cursor.eat(')') {
                if self.cursor.peek().is_some_and(|next| !is_meta(next)) {
                    // Bash takes it for the rest of the same word.
                    return self.fail("text right after an array");
                }
                return Ok(elements);
            }
            let subscript = if self.cursor.peek() == Some('[') && self.subscript_assigned() {
                let subscript = self.subscript()?;
                self.cursor.eat('+');
                self.cursor.eat('=');
                Some(subscript)
            } else {
                None
            };
            match self.word()? {
                Some(value) => elements.push(Element { subscript, value }),
                None if subscript.is_some() => {
                    elements.push(Element { subscript, value: RawWord::default() })
                }
                None => return self.fail("an array is not closed"),
            }
        }
    }

    /// Spaces, tabs and comments, but no line end.
    pub(super) fn blanks(&mut self) {
        while matches!(self.cursor.peek(), Some(' ' | '\t')) {
            self.cursor.bump();
        }
        if self.cursor.peek() == Some('#') {
            while self.cursor.raw_peek().is_some_and(|next| next != '\n') {
                self.cursor.raw_bump();
            }
        }
    }

    /// Blanks, comments and line ends; the bodies of here-documents stand after a line end.
    pub(super) fn line_breaks(&mut self) -> Read<()> {
        loop {
            self.blanks();
            if !self.cursor.eat('\n') {
                return Ok(());
            }
            self.bodies()?;
        }
    }

    /// Nothing may be left.
    pub(super) fn expect_end(&mut self) -> Read<()> {
        if self.cursor.peek().is_some() {
            return self.fail("something that closes nothing");
        }
        self.unfinished_documents()
    }
}

fn ends_with_equals(word: &RawWord) -> bool {
    matches!(word.parts.as_slice(), [Part::Text(text)] if text.ends_with('='))
}
