//! As much of Starlark as rule files need: calls at the beginning of a line
//! with named arguments that are texts and lists of them.
//!
//! Everything else is skipped and told. A call that is indented belongs to a
//! function or a condition, and whether it is ever made is not known.

use std::iter::Peekable;
use std::vec::IntoIter;

/// How deep lists may be nested.
const DEEPEST: usize = 8;

/// A call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Call {
    pub line: usize,
    pub function: String,
    /// The named arguments; none if it has others, or some that are not plain.
    pub arguments: Option<Vec<(String, Plain)>>,
}

/// A plain value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Plain {
    Text(String),
    List(Vec<Plain>),
}

/// What stands at the beginning of a line of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Statement {
    Call(Call),
    /// Anything else, by its first word.
    Other {
        line: usize,
        word: String,
    },
}

#[derive(Debug, Clone, PartialEq, Eq)]
struct Token {
    line: usize,
    /// Whether it is the first in its line and not indented.
    leads: bool,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Kind {
    Name(String),
    Text(String),
    Sign(char),
}

/// The statements of a file.
pub(super) fn statements(text: &str) -> Vec<Statement> {
    let mut tokens = tokens(text).into_iter().peekable();
    let mut found = Vec::new();
    while let Some(token) = tokens.next() {
        if !token.leads {
            continue;
        }
        let Kind::Name(word) = token.kind else {
            found.push(Statement::Other { line: token.line, word: String::new() });
            continue;
        };
        if tokens.peek().is_some_and(|next| next.kind == Kind::Sign('(') && !next.leads) {
            tokens.next();
            let arguments = arguments(&mut tokens);
            found.push(Statement::Call(Call { line: token.line, function: word, arguments }));
        } else {
            found.push(Statement::Other { line: token.line, word });
        }
    }
    found
}

/// The arguments up to the closing bracket, which is consumed. Whatever is wrong with them, the tokens stand
/// after the call, or before the next line that is not indented.
fn arguments(tokens: &mut Peekable<IntoIter<Token>>) -> Option<Vec<(String, Plain)>> {
    let mut inside = Vec::new();
    let mut depth = 1;
    loop {
        // A bracket alone may close a call at the beginning of a line; anything else there is a new statement.
        let token = tokens.next_if(|token| !token.leads || matches!(token.kind, Kind::Sign(')' | ']')))?;
        match token.kind {
            Kind::Sign('(' | '[' | '{') => depth += 1,
            Kind::Sign(')' | ']' | '}') => depth -= 1,
            Kind::Name(_) | Kind::Text(_) | Kind::Sign(_) => {}
        }
        if depth == 0 {
            break;
        }
        inside.push(token);
    }
    let mut inside = inside.into_iter().peekable();
    let mut found = Vec::new();
    while let Some(token) = inside.next() {
        let Kind::Name(name) = token.kind else { return None };
        inside.next_if(|next| next.kind == Kind::Sign('='))?;
        found.push((name, plain(&mut inside, 0)?));
        if inside.next_if(|next| next.kind == Kind::Sign(',')).is_none() && inside.peek().is_some() {
            return None;
        }
    }
    Some(found)
}

fn plain(tokens: &mut Peekable<IntoIter<Token>>, depth: usize) -> Option<Plain> {
    if depth > DEEPEST {
        return None;
    }
    match tokens.next()?.kind {
        Kind::Text(text) => Some(Plain::Text(text)),
        Kind::Sign('[') => {
            let mut items = Vec::new();
            loop {
                if tokens.next_if(|next| next.kind == Kind::Sign(']')).is_some() {
                    return Some(Plain::List(items));
                }
                items.push(plain(tokens, depth + 1)?);
                if tokens.next_if(|next| next.kind == Kind::Sign(',')).is_none() {
                    tokens.next_if(|next| next.kind == Kind::Sign(']'))?;
                    return Some(Plain::List(items));
                }
            }
        }
        Kind::Name(_) | Kind::Sign(_) => None,
    }
}

fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.chars().peekable();
    let (mut line, mut leads) = (1, true);
    while let Some(character) = rest.next() {
        let begins = line;
        let kind = match character {
            '\n' => {
                (line, leads) = (line + 1, true);
                continue;
            }
            '#' => {
                while rest.next_if(|next| *next != '\n').is_some() {}
                continue;
            }
            blank if blank.is_whitespace() => {
                // What follows in this line is indented.
                leads = false;
                continue;
            }
            '"' | '\'' => match string(character, &mut rest, &mut line) {
                Some(text) => Kind::Text(text),
                None => Kind::Sign(character),
            },
            letter if letter.is_alphanumeric() || letter == '_' => {
                let mut name = String::from(letter);
                while let Some(next) = rest.next_if(|next| next.is_alphanumeric() || *next == '_') {
                    name.push(next);
                }
                Kind::Name(name)
            }
            sign => Kind::Sign(sign),
        };
        tokens.push(Token { line: begins, leads, kind });
        leads = false;
    }
    tokens
}

/// The text of a string whose first quote was read; none if it does not end.
fn string(quote: char, rest: &mut Peekable<std::str::Chars<'_>>, line: &mut usize) -> Option<String> {
    let mut text = String::new();
    let mut quotes = 1;
    while quotes < 3 && rest.next_if_eq(&quote).is_some() {
        quotes += 1;
    }
    if quotes == 2 {
        return Some(text);
    }
    let mut run = 0;
    // The end of a line ends a string that is not closed, and begins what follows.
    while let Some(character) = rest.next_if(|next| quotes == 3 || *next != '\n') {
        if character == '\n' {
            *line += 1;
        }
        run = if character == quote { run + 1 } else { 0 };
        if run == quotes {
            text.truncate(text.len() - (quotes - 1));
            return Some(text);
        }
        match character {
            '\\' => match rest.next_if(|next| *next != '\n')? {
                'n' => text.push('\n'),
                't' => text.push('\t'),
                'r' => text.push('\r'),
                plain @ ('\\' | '"' | '\'') => text.push(plain),
                // Not worth knowing, and not to be guessed.
                _ => return None,
            },
            plain => text.push(plain),
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn text(text: &str) -> Plain {
        Plain::Text(text.to_owned())
    }

    #[test]
    fn calls_with_plain_arguments_are_read_and_others_are_told() {
        let file = "# mine\nf(a = [\"x\", ['y', \"z\\\"\"],], b='''w''',)\n\ng(\n  a = \"1\", # one\n)\nh(1)\nx = f(a=\"no\")\nif y:\n  f(a=\"no\")\nk(a=b + \"c\")\nl(a=\"open)\nm(a=\"ok\")\n";
        let call = |line, function: &str, arguments| {
            Statement::Call(Call { line, function: function.to_owned(), arguments })
        };
        let other = |line, word: &str| Statement::Other { line, word: word.to_owned() };
        assert_eq!(
            statements(file),
            [
                call(
                    2,
                    "f",
                    Some(vec![
                        (
                            "a".to_owned(),
                            Plain::List(vec![text("x"), Plain::List(vec![text("y"), text("z\"")])])
                        ),
                        ("b".to_owned(), text("w")),
                    ])
                ),
                call(4, "g", Some(vec![("a".to_owned(), text("1"))])),
                call(7, "h", None),
                other(8, "x"),
                other(9, "if"),
                call(11, "k", None),
                call(12, "l", None),
                call(13, "m", Some(vec![("a".to_owned(), text("ok"))])),
            ]
        );
    }

    proptest! {
        #![proptest_config(ProptestConfig { cases: 1_000, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn it_never_panics(text in "[fx()\\[\\]{}='\",#\\\\\n é]{0,60}") {
            let _ = statements(&text);
        }
    }
}
