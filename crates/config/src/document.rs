//! Files and their text. Tells "there is no file" from every other way of not
//! getting at one, finds lines and columns in it, and keeps texts away from the
//! parser that would exhaust the stack.

use std::fs::{self, File};
use std::io::{ErrorKind, Read};
use std::path::Path;

use toml_parser::Source;
use toml_parser::lexer::TokenKind;

use crate::error::{ConfigError, FileProblem};

/// What is read of a file at most.
pub(crate) const LIMIT: u64 = 1_000_000;

/// The text of a file without its byte order mark, or none if there is no file.
pub(crate) fn read(file: &Path) -> Result<Option<String>, ConfigError> {
    text(file).map_err(|problem| ConfigError::File { file: file.to_owned(), problem })
}

fn text(file: &Path) -> Result<Option<String>, FileProblem> {
    let metadata = match fs::metadata(file) {
        Ok(metadata) => metadata,
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return match fs::symlink_metadata(file) {
                Ok(_) => Err(FileProblem::DanglingLink),
                Err(_) => Ok(None),
            };
        }
        Err(error) => return Err(FileProblem::Unreadable(error)),
    };
    // Asked before opening, because opening a pipe would wait for its other end.
    if metadata.is_dir() {
        return Err(FileProblem::Directory);
    }
    if !metadata.is_file() {
        return Err(FileProblem::NotRegular);
    }
    let mut bytes = Vec::new();
    File::open(file)
        .and_then(|opened| opened.take(LIMIT + 1).read_to_end(&mut bytes))
        .map_err(FileProblem::Unreadable)?;
    if bytes.len() as u64 > LIMIT {
        return Err(FileProblem::TooLarge { limit: LIMIT });
    }
    let text = String::from_utf8(bytes).map_err(|error| {
        let good = error.as_bytes().get(..error.utf8_error().valid_up_to()).unwrap_or_default();
        FileProblem::NotUtf8 { line: good.iter().filter(|byte| **byte == b'\n').count() + 1 }
    })?;
    Ok(Some(match text.strip_prefix('\u{FEFF}') {
        Some(rest) => rest.to_owned(),
        None => text,
    }))
}

/// How deep brackets may be nested; settings need four.
pub(crate) const DEEPEST: usize = 8;

/// Where brackets are nested too deep, or were never closed often enough to look like it.
///
/// The parser bounds the depth of values and the length of dotted keys, but not
/// their product, and dropping a tree takes as much stack as it is deep.
pub(crate) fn too_deep(text: &str) -> Option<usize> {
    let mut open = Vec::new();
    for token in Source::new(text).lex() {
        match token.kind() {
            kind @ (TokenKind::LeftSquareBracket | TokenKind::LeftCurlyBracket) => open.push(kind),
            TokenKind::RightSquareBracket => close(&mut open, TokenKind::LeftSquareBracket),
            TokenKind::RightCurlyBracket => close(&mut open, TokenKind::LeftCurlyBracket),
            _ => {}
        }
        if open.len() > DEEPEST {
            return Some(token.span().start());
        }
    }
    None
}

fn close(open: &mut Vec<TokenKind>, kind: TokenKind) {
    if open.last() == Some(&kind) {
        open.pop();
    }
}

/// Where the lines of a text begin.
pub(crate) struct Lines<'a> {
    text: &'a str,
    starts: Vec<usize>,
}

impl<'a> Lines<'a> {
    pub fn of(text: &'a str) -> Self {
        let after_breaks = text.bytes().enumerate().filter(|(_, byte)| *byte == b'\n').map(|(at, _)| at + 1);
        Self { text, starts: std::iter::once(0).chain(after_breaks).collect() }
    }

    /// The line of a place in the text, from 1.
    pub fn line(&self, offset: usize) -> usize {
        self.starts.partition_point(|start| *start <= offset)
    }

    /// Where a line begins, from 1.
    pub fn start(&self, line: usize) -> usize {
        self.starts.get(line.saturating_sub(1)).copied().unwrap_or(0)
    }

    /// The column of a place in the text, in characters from 1.
    pub fn column(&self, offset: usize) -> usize {
        let start = self.starts.get(self.line(offset).saturating_sub(1)).copied().unwrap_or(0);
        self.text.get(start..offset).map_or(1, |before| before.chars().count() + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_count_lines_and_characters_from_one() {
        let lines = Lines::of("ab\r\nÄß = 1\n\nx");
        for (offset, place) in [
            (0, (1, 1)),
            (1, (1, 2)),
            (4, (2, 1)),
            (8, (2, 3)),
            (9, (2, 4)),
            (13, (3, 1)),
            (14, (4, 1)),
            (15, (4, 2)),
        ] {
            assert_eq!((lines.line(offset), lines.column(offset)), place, "{offset}");
        }
    }
}
