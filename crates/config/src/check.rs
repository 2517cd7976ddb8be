//! Compares a TOML document with the tree of settings. Out come single values
//! with their places, and everything that is wrong, at once.
//!
//! A value that comes out has the type, the range and the form that its field
//! asks for. Messages never repeat a text that could be a secret.

use rein_protocol::ModelRef;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

use crate::document::{self, DEEPEST, Lines};
use crate::error::{Problem, ProblemKind, words};
use crate::nearest::nearest;
use crate::origin::Origin;
use crate::quote;
use crate::shape::{Choice, Format, Names, Node, Secrecy, Shape};

/// How many problems of one document are reported. More would not be read, and
/// finding a column takes time in a file that is one long line.
const MOST_PROBLEMS: usize = 100;

/// A value that one layer sets.
#[derive(Debug, Clone)]
pub(crate) struct Leaf {
    pub path: Vec<String>,
    pub value: toml::Value,
    pub origin: Origin,
    /// Where its key begins: the order of the file.
    pub position: usize,
}

/// A run over one document, or over the value of one flag or variable.
pub(crate) struct Check<'a> {
    root: &'a Node,
    origin: Origin,
    lines: Option<Lines<'a>>,
    path: Vec<String>,
    pub leaves: Vec<Leaf>,
    pub problems: Vec<Problem>,
}

impl<'a> Check<'a> {
    /// Of a file with this text.
    pub fn file(root: &'a Node, origin: Origin, text: &'a str) -> Self {
        let mut check = Self { lines: Some(Lines::of(text)), ..Self::of_text(root, origin) };
        if let Some(at) = document::too_deep(text) {
            let message = format!("brackets are nested more than {DEEPEST} deep, or some are not closed");
            check.problem(at, ProblemKind::Syntax { message });
            return check;
        }
        let (parsed, errors) = DeTable::parse_recoverable(text);
        for error in &errors {
            // What a file means after a syntax error is a guess, so nothing else is said about it.
            let at = error.span().map_or(0, |span| span.start);
            check.problem(at, ProblemKind::Syntax { message: error.message().to_owned() });
        }
        if errors.is_empty() {
            check.entries(root, parsed.get_ref());
            check.leaves.sort_by_key(|leaf| leaf.position);
        }
        check.problems.sort_by_key(|problem| (problem.origin.line, problem.column));
        check.problems.dedup();
        check
    }

    /// Of a flag or a variable.
    pub fn of_text(root: &'a Node, origin: Origin) -> Self {
        Self { root, origin, lines: None, path: Vec::new(), leaves: Vec::new(), problems: Vec::new() }
    }

    /// Goes on below a key, if there can be such a key.
    pub fn enter<'n>(&mut self, node: &'n Node, key: &str, key_at: usize) -> Option<&'n Node> {
        if let Shape::Map { names, .. } = &node.shape
            && let Some(message) = misnamed(key, *names)
        {
            self.problem(
                key_at,
                ProblemKind::Malformed { key: self.key_of(key), message: message.to_owned() },
            );
            return None;
        }
        let child = node.child(key);
        match child {
            Some(_) => self.path.push(key.to_owned()),
            None => self.unknown(node, key, key_at),
        }
        child
    }

    /// The value of the key that was entered last.
    pub fn entry(&mut self, parent: &Node, child: &Node, value: &Spanned<DeValue<'_>>, key_at: usize) {
        self.value(child, value, key_at);
        // `[provider.x.models.y]` with nothing in it says that there is such a model.
        if let (Shape::Map { .. }, Shape::Table(_), DeValue::Table(table)) =
            (&parent.shape, &child.shape, value.get_ref())
            && table.is_empty()
        {
            self.leaf(toml::Value::Table(toml::Table::new()), key_at);
        }
    }

    fn value(&mut self, node: &Node, value: &Spanned<DeValue<'_>>, key_at: usize) {
        match (&node.shape, value.get_ref()) {
            (Shape::Table(_) | Shape::Map { .. }, DeValue::Table(table)) => self.entries(node, table),
            (Shape::Either(alternatives), found) => {
                match alternatives.iter().find(|alternative| takes(&alternative.shape, found)) {
                    Some(alternative) => self.value(alternative, value, key_at),
                    None => self.wrong_type(node, found, value.span().start),
                }
            }
            (Shape::Each(item), DeValue::Array(items)) => {
                for found in items {
                    let at = found.span().start;
                    match self.scalar(item, found.get_ref()) {
                        Ok(converted) => self.leaf(converted, at),
                        Err(kind) => self.problem(at, kind),
                    }
                }
            }
            (_, found) => match self.scalar(node, found) {
                Ok(converted) => self.leaf(converted, key_at),
                Err(kind) => self.problem(value.span().start, kind),
            },
        }
    }

    fn unknown(&mut self, parent: &Node, key: &str, key_at: usize) {
        let valid: Vec<String> = match &parent.shape {
            Shape::Table(fields) => fields.iter().map(|(name, _)| name.clone()).collect(),
            _ => Vec::new(),
        };
        let nearest = nearest(key, valid.iter().map(String::as_str))
            .map(|name| self.key_of(name))
            .or_else(|| self.elsewhere(key));
        self.problem(key_at, ProblemKind::UnknownKey { key: self.key_of(key), nearest, valid });
    }

    /// A key of the same name in another table.
    fn elsewhere(&self, key: &str) -> Option<String> {
        let mut found = None;
        self.root.visit_fixed(&mut Vec::new(), &mut |path, _| {
            if found.is_none() && path.last().is_some_and(|last| last == key) {
                found = Some(quote::key(path));
            }
        });
        found
    }

    fn entries(&mut self, node: &Node, table: &DeTable<'_>) {
        for (key, value) in table {
            let key_at = key.span().start;
            if let Some(child) = self.enter(node, key.get_ref(), key_at) {
                self.entry(node, child, value, key_at);
                self.path.pop();
            }
        }
    }

    fn scalar(&self, node: &Node, found: &DeValue<'_>) -> Result<toml::Value, ProblemKind> {
        match (&node.shape, found) {
            (Shape::Text { format, secrecy }, DeValue::String(text)) => {
                match malformed(text, *format, *secrecy) {
                    None => Ok(toml::Value::String(text.clone().into_owned())),
                    Some(message) => Err(ProblemKind::Malformed { key: self.key(), message }),
                }
            }
            (Shape::Choice(choices), DeValue::String(text)) => self.choice(choices, text),
            (Shape::Integer { minimum, maximum }, DeValue::Integer(number)) => {
                let value = i64::from_str_radix(number.as_str(), number.radix());
                match value {
                    Ok(value) if (*minimum..=*maximum).contains(&value) => Ok(toml::Value::Integer(value)),
                    Ok(value) if value < *minimum => {
                        Err(self.out_of_range(number.to_string(), range(*minimum, *maximum)))
                    }
                    _ => {
                        let range = format!("an integer from {minimum} to {maximum}");
                        Err(self.out_of_range(number.to_string(), range))
                    }
                }
            }
            (Shape::Number { minimum }, DeValue::Integer(_) | DeValue::Float(_)) => {
                let written = match found {
                    DeValue::Integer(number) => {
                        i64::from_str_radix(number.as_str(), number.radix()).unwrap_or(i64::MAX).to_string()
                    }
                    DeValue::Float(number) => number.to_string(),
                    _ => String::new(),
                };
                let number: f64 = written.parse().unwrap_or(f64::NAN);
                if number.is_finite() && number >= *minimum {
                    return Ok(toml::Value::Float(number));
                }
                Err(self.out_of_range(written, format!("a number from {minimum}")))
            }
            (Shape::Boolean, DeValue::Boolean(value)) => Ok(toml::Value::Boolean(*value)),
            (Shape::List(item), DeValue::Array(items)) => items
                .iter()
                .map(|found| self.scalar(item, found.get_ref()))
                .collect::<Result<_, _>>()
                .map(toml::Value::Array),
            _ => Err(self.mismatch(node, found)),
        }
    }

    fn choice(&self, choices: &[Choice], text: &str) -> Result<toml::Value, ProblemKind> {
        if choices.iter().any(|choice| choice.word == text) {
            return Ok(toml::Value::String(text.to_owned()));
        }
        Err(ProblemKind::NotAChoice {
            key: self.key(),
            value: text.to_owned(),
            nearest: nearest(text, choices.iter().map(|choice| choice.word.as_str())).map(str::to_owned),
            choices: choices.iter().map(|choice| choice.word.clone()).collect(),
        })
    }

    fn out_of_range(&self, value: String, range: String) -> ProblemKind {
        ProblemKind::OutOfRange { key: self.key(), value, range }
    }

    fn mismatch(&self, node: &Node, found: &DeValue<'_>) -> ProblemKind {
        ProblemKind::WrongType { key: self.key(), expected: expected(&node.shape), found: type_of(found) }
    }

    fn wrong_type(&mut self, node: &Node, found: &DeValue<'_>, at: usize) {
        let kind = self.mismatch(node, found);
        self.problem(at, kind);
    }

    fn leaf(&mut self, value: toml::Value, position: usize) {
        let origin = match &self.lines {
            Some(lines) => self.origin.at_line(lines.line(position)),
            None => self.origin.clone(),
        };
        self.leaves.push(Leaf { path: self.path.clone(), value, origin, position });
    }

    pub fn problem(&mut self, at: usize, kind: ProblemKind) {
        if self.problems.len() >= MOST_PROBLEMS {
            return;
        }
        let (origin, column) = match &self.lines {
            Some(lines) => (self.origin.at_line(lines.line(at)), Some(lines.column(at))),
            None => (self.origin.clone(), None),
        };
        self.problems.push(Problem { origin, column, kind });
    }

    fn key(&self) -> String {
        quote::key(&self.path)
    }

    fn key_of(&self, below: &str) -> String {
        quote::key(&[self.path.as_slice(), &[below.to_owned()]].concat())
    }
}

/// Whether a value is at least of the right type.
fn takes(shape: &Shape, found: &DeValue<'_>) -> bool {
    match (shape, found) {
        (Shape::Text { .. } | Shape::Choice(_), DeValue::String(_))
        | (Shape::Integer { .. } | Shape::Number { .. }, DeValue::Integer(_))
        | (Shape::Number { .. }, DeValue::Float(_))
        | (Shape::Boolean, DeValue::Boolean(_))
        | (Shape::List(_) | Shape::Each(_), DeValue::Array(_))
        | (Shape::Map { .. } | Shape::Table(_), DeValue::Table(_)) => true,
        (Shape::Either(alternatives), found) => {
            alternatives.iter().any(|alternative| takes(&alternative.shape, found))
        }
        _ => false,
    }
}

/// What a shape takes, with its article.
pub(crate) fn expected(shape: &Shape) -> String {
    match shape {
        Shape::Text { .. } => "a string".to_owned(),
        Shape::Choice(choices) => {
            words(&choices.iter().map(|choice| choice.word.clone()).collect::<Vec<_>>(), "or")
        }
        Shape::Integer { minimum, maximum } => range(*minimum, *maximum),
        Shape::Number { minimum } => format!("a number from {minimum}"),
        Shape::Boolean => "true or false".to_owned(),
        Shape::List(item) | Shape::Each(item) => match item.shape {
            Shape::Text { .. } => "a list of strings".to_owned(),
            _ => "a list".to_owned(),
        },
        Shape::Map { .. } | Shape::Table(_) => "a table".to_owned(),
        Shape::Either(alternatives) => {
            let each: Vec<String> =
                alternatives.iter().map(|alternative| expected(&alternative.shape)).collect();
            each.join(" or ")
        }
    }
}

/// A range, without an end that nobody would come near to.
fn range(minimum: i64, maximum: i64) -> String {
    if maximum >= i64::from(u32::MAX) {
        return format!("an integer from {minimum}");
    }
    format!("an integer from {minimum} to {maximum}")
}

fn type_of(value: &DeValue<'_>) -> &'static str {
    match value {
        DeValue::String(_) => "a string",
        DeValue::Integer(_) => "an integer",
        DeValue::Float(_) => "a float",
        DeValue::Boolean(_) => "a boolean",
        DeValue::Datetime(_) => "a date or time",
        DeValue::Array(_) => "a list",
        DeValue::Table(_) => "a table",
    }
}

fn misnamed(name: &str, names: Names) -> Option<&'static str> {
    if name.is_empty() {
        return Some("must have a name");
    }
    match names {
        Names::WithoutSlash if name.contains('/') => {
            Some("must not have a `/` in its name, because a model is named `provider/model`")
        }
        Names::WithoutSlash | Names::Any => None,
    }
}

/// What is wrong with how a text is written, as the end of a sentence.
fn malformed(text: &str, format: Format, secrecy: Secrecy) -> Option<String> {
    if text.is_empty() {
        return Some("must not be empty".to_owned());
    }
    if secrecy == Secrecy::Secret && text.contains(char::is_control) {
        return Some("must not have line breaks or control characters in it".to_owned());
    }
    match format {
        Format::Any => None,
        Format::Model => text.parse::<ModelRef>().err().map(|_| {
            format!(
                "must be written `provider/model`, for example `openai/gpt-5`, but it is `{}`",
                quote::brief(text)
            )
        }),
        Format::Program => (text.contains('/') && !text.starts_with('/'))
            .then(|| "must be an absolute path, or a name without `/`".to_owned()),
        Format::HttpUrl => misaddressed(text, &["http", "https"]),
        Format::ProxyUrl => misaddressed(text, &["http", "https", "socks5", "socks5h"]),
        Format::Variable => {
            let good = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
            (!text.bytes().all(good) || text.starts_with(|first: char| first.is_ascii_digit()))
                .then(|| "must be the name of an environment variable, not the key itself".to_owned())
        }
    }
}

/// What is wrong with an address. Does not repeat it: it may hold a password.
fn misaddressed(text: &str, schemes: &[&str]) -> Option<String> {
    let (scheme, rest) = text.split_once("://").unwrap_or_default();
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    let good = schemes.contains(&scheme)
        && !host.is_empty()
        && !host.starts_with(':')
        && !text.contains(|character: char| character.is_whitespace() || character.is_control());
    let schemes: Vec<String> = schemes.iter().map(|scheme| format!("{scheme}://")).collect();
    (!good).then(|| format!("must be an address that begins with {}", words(&schemes, "or")))
}
