//! Colours for code: a small lexer driven by a table of languages.
//!
//! Works a line at a time and carries what is open (a comment, a string) to the next, so that a line is coloured once
//! and never again. No regular expressions, no grammars; a language is a row of data.
//! Invariant: the pieces of a line, joined, are the line.

mod languages;
mod lexer;

use crate::line::{Color, Span, Style};
use languages::Language;
use lexer::Inside;

/// What a piece of code is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Token {
    /// Anything else.
    Plain,
    /// A word of the language.
    Keyword,
    /// The name of a type.
    Type,
    /// What is called.
    Function,
    /// Text in quotes.
    Text,
    /// A number.
    Number,
    /// A constant such as `true`.
    Constant,
    /// A comment.
    Comment,
    /// The name of a field, an attribute, a variable.
    Name,
    /// A line that was added.
    Added,
    /// A line that was removed.
    Removed,
    /// A line that says where.
    Place,
}

impl Token {
    /// How it looks; colours of the terminal's own palette, so that they fit its background.
    pub fn style(self) -> Style {
        let color = match self {
            Self::Plain => None,
            Self::Keyword => Some(Color::Magenta),
            Self::Type | Self::Place => Some(Color::Cyan),
            Self::Function | Self::Name => Some(Color::Blue),
            Self::Text | Self::Added => Some(Color::Green),
            Self::Number | Self::Constant => Some(Color::Yellow),
            Self::Removed => Some(Color::Red),
            Self::Comment => None,
        };
        Style { color, dim: self == Self::Comment, ..Style::default() }
    }
}

/// Colours the lines of one text in one language, in order.
#[derive(Debug, Clone)]
pub struct Highlighter {
    language: Option<&'static Language>,
    inside: Option<Inside>,
}

impl Highlighter {
    /// A highlighter for a language by any of its names, or a file's extension; unknown ones stay plain.
    pub fn new(name: &str) -> Self {
        Self { language: languages::find(name), inside: None }
    }

    /// A highlighter for a file by its name.
    pub fn for_path(path: &str) -> Self {
        let name = path.rsplit(['/', '\\']).next().unwrap_or_default();
        let extension = name.rsplit_once('.').map_or(name, |(_, extension)| extension);
        Self::new(extension)
    }

    /// Whether the language is known.
    pub fn is_known(&self) -> bool {
        self.language.is_some()
    }

    /// What the pieces of the next line are.
    pub fn tokens<'a>(&mut self, line: &'a str) -> Vec<(Token, &'a str)> {
        match self.language {
            // Nobody reads the colours of a minified bundle.
            Some(language) if line.len() <= 10_000 => lexer::tokens(language, &mut self.inside, line),
            _ if line.is_empty() => Vec::new(),
            _ => vec![(Token::Plain, line)],
        }
    }

    /// The next line in colours.
    pub fn line(&mut self, line: &str) -> Vec<Span> {
        let tokens = self.tokens(line);
        tokens.into_iter().map(|(token, text)| Span { text: text.to_owned(), style: token.style() }).collect()
    }
}
