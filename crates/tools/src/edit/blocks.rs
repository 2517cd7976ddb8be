//! Edits written as blocks of `<<<<<<< SEARCH`, `=======` and `>>>>>>> REPLACE`
//! under the name of a file. Pure.

use std::fmt;

/// A block: in this file, this text by that one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Block {
    /// The file as the text names it.
    pub path: String,
    /// What is to be replaced. Its last line has a line end.
    pub old: String,
    /// By what.
    pub new: String,
}

/// Why a text has no blocks that can be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum BlockError {
    /// A block begins at this line, counted from 1, and this mark is missing.
    Unfinished {
        /// Where the block begins.
        line: usize,
        /// What was expected.
        expected: &'static str,
    },
    /// A block begins at this line, and no line before it names a file.
    Nameless {
        /// Where.
        line: usize,
    },
}

impl std::error::Error for BlockError {}

impl fmt::Display for BlockError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Unfinished { line, expected } => {
                write!(
                    f,
                    "The block at line {line} is not finished: there is no `{expected}`. Nothing was changed."
                )
            }
            Self::Nameless { line } => write!(
                f,
                "No line before the block at line {line} names a file. Write the path on the line above it. Nothing was changed."
            ),
        }
    }
}

const MIDDLE: &str = "=======";
const END: &str = ">>>>>>> REPLACE";

/// How many lines before a block are looked at for the name of a file.
const NAME_WITHIN: usize = 3;

/// Whether a text seems to have blocks.
pub(crate) fn has_marks(text: &str) -> bool {
    text.lines().any(is_begin) && text.lines().any(|line| line.trim_end() == MIDDLE)
}

/// Reads the blocks of a text. `path` is the file of those that name none.
///
/// # Errors
///
/// [`BlockError`] for a block that is not whole.
pub fn parse(text: &str, path: Option<&str>) -> Result<Vec<Block>, BlockError> {
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let mut blocks: Vec<Block> = Vec::new();
    let mut index = 0;
    let mut free_from = 0;
    while let Some(line) = lines.get(index) {
        if !is_begin(line) {
            index += 1;
            continue;
        }
        let begin = index;
        let before = lines.get(free_from..begin).unwrap_or_default();
        let named = file_name(before).or_else(|| blocks.last().map(|block| block.path.clone()));
        let Some(path) = named.or_else(|| path.map(str::to_owned)) else {
            return Err(BlockError::Nameless { line: begin + 1 });
        };
        let unfinished = |expected| BlockError::Unfinished { line: begin + 1, expected };
        let middle = lines.iter().skip(begin + 1).position(|line| line.trim_end() == MIDDLE);
        let middle = begin + 1 + middle.ok_or(unfinished(MIDDLE))?;
        let end = lines.iter().skip(middle + 1).position(|line| is_end(line) || is_begin(line));
        let end = middle + 1 + end.ok_or(unfinished(END))?;
        if lines.get(end).is_some_and(|line| is_begin(line)) {
            return Err(unfinished(END));
        }
        let between = |from: usize, to: usize| lines.get(from..to).unwrap_or_default().concat();
        blocks.push(Block { path, old: between(begin + 1, middle), new: between(middle + 1, end) });
        index = end + 1;
        free_from = index;
    }
    Ok(blocks)
}

fn is_begin(line: &str) -> bool {
    let line = line.trim_end();
    let rest = line.trim_start_matches('<');
    (5..=9).contains(&(line.len() - rest.len()))
        && ["SEARCH", "ORIGINAL"].contains(&rest.trim().trim_end_matches('>'))
}

fn is_end(line: &str) -> bool {
    let line = line.trim_end();
    let rest = line.trim_start_matches('>');
    (5..=9).contains(&(line.len() - rest.len())) && ["REPLACE", "UPDATED", ""].contains(&rest.trim())
}

/// The name of a file in the last lines before a block.
fn file_name(before: &[&str]) -> Option<String> {
    let candidates: Vec<String> =
        before.iter().rev().take(NAME_WITHIN).filter_map(|line| as_name(line)).collect();
    candidates
        .iter()
        .find(|name| name.contains(['.', '/']) && !name.contains(char::is_whitespace))
        .or_else(|| candidates.iter().find(|name| !name.contains(char::is_whitespace)))
        .cloned()
}

/// A line as the name of a file, without what stands around names.
fn as_name(line: &str) -> Option<String> {
    let line = line.trim();
    let line = match line.strip_prefix("```") {
        // A fence may name the file instead of a language.
        Some(rest) if rest.contains(['.', '/']) => rest.trim().rsplit(':').next().unwrap_or_default(),
        Some(_) => return None,
        None => line,
    };
    let name = line
        .trim_start_matches('#')
        .trim()
        .trim_end_matches(':')
        .trim_matches(|character| "`*\"'".contains(character))
        .trim_end_matches(':')
        .trim();
    let is_none =
        name.is_empty() || name.chars().all(|character| character == '.') || is_end(line) || is_begin(line);
    (!is_none).then(|| name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn block(path: &str, old: &str, new: &str) -> Block {
        Block { path: path.into(), old: old.into(), new: new.into() }
    }

    #[test]
    fn blocks_are_read_with_the_files_above_them() {
        let text = "Here:\n\n```text\na/b.txt\n<<<<<<< SEARCH\ntwo\n=======\n2\n>>>>>>> REPLACE\n```\n\n\
                    **`c.rs`**:\n```rust\n<<<<<<< SEARCH\n=======\nnew\n>>>>>>> REPLACE\n```\n\
                    <<<<<<< SEARCH\nx\n=======\n>>>>>>> REPLACE";
        assert_eq!(
            parse(text, None),
            Ok(vec![block("a/b.txt", "two\n", "2\n"), block("c.rs", "", "new\n"), block("c.rs", "x\n", "")])
        );
    }

    #[test]
    fn what_is_not_whole_is_an_error() {
        let unfinished = |line, expected| Err(BlockError::Unfinished { line, expected });
        assert_eq!(parse("a.txt\n<<<<<<< SEARCH\nx\n=======\ny\n", None), unfinished(2, END));
        assert_eq!(parse("a.txt\n<<<<<<< SEARCH\nx\n", None), unfinished(2, MIDDLE));
        let block = "<<<<<<< SEARCH\nx\n=======\ny\n>>>>>>> REPLACE\n";
        assert_eq!(parse(block, None), Err(BlockError::Nameless { line: 1 }));
        assert_eq!(parse(block, Some("a.txt")).map(|blocks| blocks.len()), Ok(1));
        assert_eq!(parse("```text\n\nHere's the change:\n", None), Ok(vec![]));
    }

    proptest! {
        #[test]
        fn nothing_panics(text in "(<<<<<<< SEARCH|=======|>>>>>>> REPLACE|```|a.rs|[a-z <>=\n]){0,12}") {
            let _ = parse(&text.replace(' ', "\n"), None);
        }
    }
}
