//! Compound commands: groups, conditionals, loops, `case`, functions.

use super::cursor::is_name;
use super::tree::{Arm, Kind, Node, RawWord, Script};
use super::{Read, Reader};
use crate::analysis::Span;
use std::rc::Rc;

impl Reader<'_> {
    /// The compound command at the cursor, if one begins there.
    pub(super) fn compound(&mut self) -> Read<Option<Node>> {
        let start = self.cursor.place();
        let kind = if self.cursor.peek() == Some('(') {
            self.parenthesis()?
        } else {
            let Some(keyword) = self.keyword_ahead() else { return Ok(None) };
            match keyword.text() {
                "{" => {
                    self.eat_keyword("{");
                    Kind::Group(self.group_rest()?)
                }
                "[[" => {
                    self.eat_keyword("[[");
                    Kind::Condition(self.condition()?)
                }
                "if" => self.conditional()?,
                "while" | "until" => self.repetition(keyword.text())?,
                "for" | "select" => self.iteration(keyword.text())?,
                "case" => self.case()?,
                "function" => return self.function(start).map(Some),
                "coproc" => self.coprocess()?,
                _ if RESERVED.contains(&keyword.text()) => {
                    return self.fail("a reserved word where a command should be");
                }
                _ => return Ok(None),
            }
        };
        let redirections = self.redirections()?;
        Ok(Some(Node { kind, redirections, span: self.since(start) }))
    }

    fn since(&self, start: usize) -> Span {
        Span { start, end: self.cursor.raw_place() }
    }

    fn parenthesis(&mut self) -> Read<Kind> {
        if self.cursor.second() == Some('(') && self.arithmetic_ahead() {
            self.cursor.bump();
            self.cursor.bump();
            let parts = self.arithmetic_until(')')?;
            self.expect(')', "`((` is not closed")?;
            self.expect(')', "`((` is not closed")?;
            return Ok(Kind::Arithmetic(parts));
        }
        self.cursor.bump();
        let script = self.required_list()?;
        self.expect(')', "`(` is not closed")?;
        Ok(Kind::Subshell(script))
    }

    fn group_rest(&mut self) -> Read<Script> {
        let script = self.required_list()?;
        self.closing("}", "`{` is not closed")?;
        Ok(script)
    }

    fn closing(&mut self, keyword: &str, why: &'static str) -> Read<()> {
        if self.eat_keyword(keyword) { Ok(()) } else { self.fail(why) }
    }

    fn conditional(&mut self) -> Read<Kind> {
        self.eat_keyword("if");
        let mut branches = Vec::new();
        let mut otherwise = None;
        loop {
            let condition = self.required_list()?;
            self.closing("then", "`if` without `then`")?;
            branches.push((condition, self.required_list()?));
            if self.eat_keyword("elif") {
                continue;
            }
            if self.eat_keyword("else") {
                otherwise = Some(self.required_list()?);
            }
            self.closing("fi", "`if` without `fi`")?;
            return Ok(Kind::If { branches, otherwise });
        }
    }

    fn repetition(&mut self, keyword: &str) -> Read<Kind> {
        self.eat_keyword(keyword);
        let condition = self.required_list()?;
        let body = self.loop_body()?;
        Ok(Kind::While { condition, body })
    }

    fn loop_body(&mut self) -> Read<Script> {
        if self.eat_keyword("{") {
            return self.group_rest();
        }
        self.closing("do", "a loop without `do`")?;
        let body = self.required_list()?;
        self.closing("done", "a loop without `done`")?;
        Ok(body)
    }

    fn iteration(&mut self, keyword: &str) -> Read<Kind> {
        self.eat_keyword(keyword);
        self.blanks();
        if self.cursor.peek() == Some('(') && self.cursor.second() == Some('(') && keyword == "for" {
            return self.arithmetic_for();
        }
        let Some(variable) = self.word()?.as_ref().and_then(RawWord::bare).map(str::to_owned) else {
            return self.fail("a loop without a variable");
        };
        if !is_name(&variable) {
            return self.fail("a loop without a variable");
        }
        self.line_breaks()?;
        let words = if self.eat_keyword("in") { Some(self.loop_words()?) } else { None };
        self.blanks();
        self.cursor.eat(';');
        self.line_breaks()?;
        let body = self.loop_body()?;
        Ok(Kind::For { variable, words, body })
    }

    fn loop_words(&mut self) -> Read<Vec<RawWord>> {
        let mut words = Vec::new();
        loop {
            self.blanks();
            match self.word()? {
                Some(word) => words.push(word),
                None if matches!(self.cursor.peek(), Some(';' | '\n')) => return Ok(words),
                None => return self.fail("the words of a loop do not end"),
            }
        }
    }

    fn arithmetic_for(&mut self) -> Read<Kind> {
        self.cursor.bump();
        self.cursor.bump();
        let header = self.arithmetic_until(')')?;
        self.expect(')', "`for ((` is not closed")?;
        self.expect(')', "`for ((` is not closed")?;
        self.blanks();
        self.cursor.eat(';');
        self.line_breaks()?;
        let body = self.loop_body()?;
        Ok(Kind::ArithmeticFor { header, body })
    }

    fn case(&mut self) -> Read<Kind> {
        self.eat_keyword("case");
        self.blanks();
        let Some(subject) = self.word()? else { return self.fail("`case` without a word") };
        self.line_breaks()?;
        self.closing("in", "`case` without `in`")?;
        let mut arms = Vec::new();
        loop {
            self.line_breaks()?;
            if self.eat_keyword("esac") {
                return Ok(Kind::Case { subject, arms });
            }
            let patterns = self.patterns()?;
            let body = self.list()?;
            arms.push(Arm { patterns, body });
            let (next, second, third) = (self.cursor.peek(), self.cursor.second(), self.cursor.third());
            let length = match (next, second, third) {
                (Some(';'), Some(';'), Some('&')) => 3,
                (Some(';'), Some(';' | '&'), _) => 2,
                _ => 0,
            };
            for _ in 0..length {
                self.cursor.bump();
            }
            if length == 0 {
                self.closing("esac", "`case` without `esac`")?;
                return Ok(Kind::Case { subject, arms });
            }
        }
    }

    fn patterns(&mut self) -> Read<Vec<RawWord>> {
        self.cursor.eat('(');
        let mut patterns = Vec::new();
        loop {
            self.blanks();
            let Some(pattern) = self.word()? else { return self.fail("a pattern is missing") };
            patterns.push(pattern);
            self.blanks();
            if self.cursor.eat(')') {
                return Ok(patterns);
            }
            self.expect('|', "a pattern is not closed")?;
        }
    }

    fn function(&mut self, start: usize) -> Read<Node> {
        self.eat_keyword("function");
        self.blanks();
        let Some(name) = self.word()?.as_ref().and_then(RawWord::bare).map(str::to_owned) else {
            return self.fail("a function without a name");
        };
        self.blanks();
        if self.cursor.peek() == Some('(') && self.cursor.second() == Some(')') {
            self.cursor.bump();
            self.cursor.bump();
        }
        self.function_body(name, start)
    }

    pub(super) fn function_body(&mut self, name: String, start: usize) -> Read<Node> {
        self.line_breaks()?;
        let Some(body) = self.deeper(Self::compound)? else { return self.fail("a function without a body") };
        let kind = Kind::Function { name, body: Rc::new(body) };
        Ok(Node { kind, redirections: Vec::new(), span: self.since(start) })
    }

    fn coprocess(&mut self) -> Read<Kind> {
        let place = self.cursor.place();
        self.keywords.push(place);
        self.eat_keyword("coproc");
        self.blanks();
        if let Some(body) = self.deeper(Self::compound)? {
            return Ok(Kind::Coprocess { body: Box::new(body) });
        }
        let before = self.cursor;
        let named = self.word()?.as_ref().and_then(RawWord::bare).is_some_and(is_name);
        self.blanks();
        if named && let Some(body) = self.deeper(Self::compound)? {
            return Ok(Kind::Coprocess { body: Box::new(body) });
        }
        self.cursor = before;
        Ok(Kind::Coprocess { body: Box::new(self.deeper(Self::simple)?) })
    }
}

/// Words that cannot begin a command.
const RESERVED: [&str; 8] = ["then", "do", "done", "fi", "elif", "else", "esac", "}"];
