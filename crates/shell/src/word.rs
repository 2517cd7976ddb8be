//! A word as bash would hand it to a program: text where that is known, and a
//! hole with its reason where it is not.
//!
//! The invariant: text in a word is exactly what would be there. What could be
//! something else is a hole, never a guess.

use std::borrow::Cow;
use std::sync::Arc;

/// One argument, after quotes, escapes, tildes, braces and known variables.
///
/// Words are copied around a lot, so copies share their pieces.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct Word {
    /// None for an empty word.
    pieces: Option<Arc<Vec<Piece>>>,
}

/// A piece of a word.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Piece {
    /// Known text.
    Text(String),
    /// An unquoted pattern: file names that match stand in its place, or the pattern itself if none does.
    Glob(String),
    /// Something that is only known when it runs.
    Hole(Hole),
}

/// A piece whose text is not known.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Hole {
    /// As the command line has it, such as `$x` or `$(…)`.
    pub shown: String,
    /// Why it is not known.
    pub why: Why,
    /// Whether it may become several words or none.
    pub many: bool,
}

/// Why a piece is not known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Why {
    /// A variable of the environment, or one whose value depends on what ran.
    Variable,
    /// `$1`, `$@`: what a script or function is called with.
    Positional,
    /// What a command prints.
    Output,
    /// What a command prints that asked another machine.
    Fetched,
    /// The name of a pipe from such a command.
    FetchedPipe,
    /// Digits and at most a sign: `$?`, `$$`, `$((…))`.
    Number,
    /// The process that this shell started last: `$!`.
    Background,
    /// A file name that `find` hands to its `-exec`: under its starting points.
    Found,
    /// An argument that `xargs` or `parallel` reads from its input.
    Input,
    /// The name of a pipe that `<(…)` or `>(…)` stands for.
    Pipe,
    /// The home directory of another user, or one that is not known.
    Home,
    /// Too long or too much to follow.
    Limit,
}

impl Word {
    /// A word that is known in full.
    #[must_use]
    pub fn text(text: impl Into<String>) -> Self {
        let text = text.into();
        if text.is_empty() { Self::default() } else { Self::one(Piece::Text(text)) }
    }

    /// A word that is not known at all.
    #[must_use]
    pub fn hole(shown: impl Into<String>, why: Why) -> Self {
        Self::one(Piece::Hole(Hole { shown: shown.into(), why, many: false }))
    }

    fn one(piece: Piece) -> Self {
        Self { pieces: Some(Arc::new(vec![piece])) }
    }

    /// A word from its pieces; neighbouring texts become one.
    pub fn from_pieces(pieces: impl IntoIterator<Item = Piece>) -> Self {
        let mut word = Self::default();
        for piece in pieces {
            word.push(piece);
        }
        word
    }

    /// Adds a piece at the end.
    pub fn push(&mut self, piece: Piece) {
        if matches!(&piece, Piece::Text(text) if text.is_empty()) {
            return;
        }
        let pieces = Arc::make_mut(self.pieces.get_or_insert_default());
        match (pieces.last_mut(), piece) {
            (Some(Piece::Text(last)), Piece::Text(text)) => last.push_str(&text),
            (_, piece) => pieces.push(piece),
        }
    }

    /// The pieces, in order. Two texts never stand side by side.
    #[must_use]
    pub fn pieces(&self) -> &[Piece] {
        self.pieces.as_deref().map(Vec::as_slice).unwrap_or_default()
    }

    /// The whole text, if all of it is known.
    #[must_use]
    pub fn literal(&self) -> Option<&str> {
        match self.pieces() {
            [] => Some(""),
            [Piece::Text(text)] => Some(text),
            _ => None,
        }
    }

    /// The known text that the word begins with.
    #[must_use]
    pub fn start(&self) -> &str {
        match self.pieces().first() {
            Some(Piece::Text(text)) => text,
            _ => "",
        }
    }

    /// Whether part of it is only known when it runs. Globs do not count.
    #[must_use]
    pub fn has_hole(&self) -> bool {
        self.holes().next().is_some()
    }

    /// Whether it has an unquoted pattern in it.
    #[must_use]
    pub fn has_glob(&self) -> bool {
        self.pieces().iter().any(|piece| matches!(piece, Piece::Glob(_)))
    }

    /// The pieces that are not known.
    pub fn holes(&self) -> impl Iterator<Item = &Hole> {
        self.pieces().iter().filter_map(|piece| match piece {
            Piece::Hole(hole) => Some(hole),
            Piece::Text(_) | Piece::Glob(_) => None,
        })
    }

    /// Whether it may become several words, or none.
    #[must_use]
    pub fn is_many(&self) -> bool {
        self.has_glob() || self.holes().any(|hole| hole.many)
    }

    /// Whether a program could take it for an option: it begins with `-`, or with something that is not known.
    #[must_use]
    pub fn may_be_option(&self) -> bool {
        match self.pieces().first() {
            None => false,
            Some(Piece::Text(text)) => {
                text.starts_with('-') && text.len() > 1 || text == "-" && self.pieces().len() > 1
            }
            Some(Piece::Glob(_)) => true,
            Some(Piece::Hole(hole)) => match hole.why {
                Why::Background | Why::Found | Why::Pipe | Why::FetchedPipe | Why::Home => hole.many,
                Why::Number => false,
                Why::Variable | Why::Positional | Why::Output | Why::Fetched | Why::Input | Why::Limit => {
                    true
                }
            },
        }
    }

    /// The word for a person: holes as the command line has them.
    #[must_use]
    pub fn shown(&self) -> Cow<'_, str> {
        match self.pieces() {
            [] => Cow::Borrowed(""),
            [Piece::Text(text) | Piece::Glob(text)] => Cow::Borrowed(text),
            pieces => pieces
                .iter()
                .map(|piece| match piece {
                    Piece::Text(text) | Piece::Glob(text) => text.as_str(),
                    Piece::Hole(hole) => hole.shown.as_str(),
                })
                .collect::<String>()
                .into(),
        }
    }

    /// The word as it could be typed: in quotes where its text needs them. Two different words never look the same,
    /// and a blank inside a word never looks like one between words.
    #[must_use]
    pub fn quoted(&self) -> Cow<'_, str> {
        let plain =
            |character: char| character.is_alphanumeric() || "-_./,:=@%+^~{}[]#!?".contains(character);
        if self.pieces().len() > 1 || self.has_hole() || self.has_glob() {
            let known = self.pieces().iter().all(|piece| match piece {
                Piece::Text(text) => text.chars().all(plain),
                Piece::Glob(_) | Piece::Hole(_) => true,
            });
            return if known { self.shown() } else { Cow::Owned(format!("\"{}\"", self.shown())) };
        }
        let text = self.start();
        if !text.is_empty() && text.chars().all(plain) {
            Cow::Borrowed(text)
        } else {
            Cow::Owned(format!("'{}'", text.replace('\'', "'\\''")))
        }
    }

    /// Whether what another machine answers is in it.
    #[must_use]
    pub fn is_fetched(&self) -> bool {
        self.holes().any(|hole| matches!(hole.why, Why::Fetched | Why::FetchedPipe))
    }

    /// Whether it is the name of a pipe.
    #[must_use]
    pub fn is_pipe(&self) -> bool {
        self.holes().any(|hole| matches!(hole.why, Why::Pipe | Why::FetchedPipe))
    }

    /// What follows `prefix`, if the word is known to begin with it.
    #[must_use]
    pub fn strip_start(&self, prefix: &str) -> Option<Self> {
        let rest = self.start().strip_prefix(prefix)?;
        let mut word = Self::text(rest);
        for piece in self.pieces().iter().skip(1) {
            word.push(piece.clone());
        }
        Some(word)
    }
}

impl From<&str> for Word {
    fn from(text: &str) -> Self {
        Self::text(text)
    }
}

/// Words as one line, each quoted where it needs to be.
#[must_use]
pub fn line(words: &[Word]) -> String {
    let mut line = String::new();
    for (index, word) in words.iter().enumerate() {
        if index > 0 {
            line.push(' ');
        }
        line.push_str(&word.quoted());
    }
    line
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbouring_texts_become_one() {
        let word =
            Word::from_pieces([Piece::Text("a".into()), Piece::Text(String::new()), Piece::Text("b".into())]);
        assert_eq!(word, Word::text("ab"));
        assert_eq!(word.literal(), Some("ab"));
        assert_eq!(Word::text("").literal(), Some(""));
    }

    #[test]
    fn a_line_shows_which_blanks_are_inside_words() {
        let hole = Word::hole("$x", Why::Variable);
        let mut mixed = Word::text("a ");
        mixed.push(hole.pieces()[0].clone());
        let words = [Word::text("git status"), Word::text("it's"), Word::text(""), hole, mixed];
        assert_eq!(line(&words), r#"'git status' 'it'\''s' '' $x "a $x""#);
    }

    #[test]
    fn only_words_that_could_begin_with_a_dash_may_be_options() {
        for word in ["-x", "--long", "-"] {
            assert_eq!(Word::text(word).may_be_option(), word != "-", "{word}");
        }
        assert!(!Word::text("x").may_be_option());
        assert!(Word::hole("$x", Why::Variable).may_be_option());
        assert!(!Word::hole("$?", Why::Number).may_be_option());
        assert!(Word::from_pieces([Piece::Glob("*".into())]).may_be_option());
        assert!(!Word::from_pieces([Piece::Text("./".into()), Piece::Glob("*".into())]).may_be_option());
    }
}
