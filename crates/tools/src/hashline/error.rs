//! What can be wrong with edits by line, in words for the model.

use std::fmt;

/// Why edits by line were not made. None of them were.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HashlineError {
    /// There is no section.
    NoSections,
    /// A line is none that can stand there.
    Line {
        /// Its number in the input, counted from 1.
        line: usize,
        /// The line.
        text: String,
        /// What to write instead.
        instead: &'static str,
    },
    /// A section has no tag.
    NoTag {
        /// The file.
        path: String,
    },
    /// A section changes nothing.
    NoOperations {
        /// The file.
        path: String,
    },
    /// A line that is named is not there.
    NoSuchLine {
        /// Where it is named, in the input.
        line: usize,
        /// Its number.
        number: usize,
        /// How many there are.
        count: usize,
    },
    /// A range ends before it begins.
    Backwards {
        /// Where it is, in the input.
        line: usize,
        /// Its first line.
        first: usize,
        /// Its last line.
        last: usize,
    },
    /// Two operations are about the same line.
    Overlap {
        /// Where the second is, in the input.
        line: usize,
        /// Where the first is.
        other: usize,
    },
    /// The new lines repeat one beside the range, and there are too few to tell what was meant.
    Repeats {
        /// Where the range is, in the input.
        line: usize,
        /// Its first line.
        first: usize,
        /// Its last line.
        last: usize,
        /// The line beside it.
        beside: usize,
    },
    /// A range takes away a line without which the file cannot be parsed, and the new lines do not tell on
    /// which side of it they belong.
    Boundary {
        /// Where the range is, in the input.
        line: usize,
        /// The line that is needed.
        boundary: usize,
    },
    /// No block begins at a line.
    NoBlock {
        /// Where it is named, in the input.
        line: usize,
        /// The line.
        anchor: usize,
    },
}

impl std::error::Error for HashlineError {}

impl fmt::Display for HashlineError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoSections => f.write_str("The input must begin with [path#TAG], as read shows it."),
            Self::Line { line, text, instead } => {
                let text: String = text.chars().take(120).collect();
                write!(f, "Line {line} of the input, {text:?}: {instead}")
            }
            Self::NoTag { path } => write!(
                f,
                "The section of {path} has no tag. Write [{path}#TAG] as read shows it; to create a file, use write."
            ),
            Self::NoOperations { path } => {
                write!(f, "The section of {path} changes nothing. Use SWAP, DEL or INS below it.")
            }
            Self::NoSuchLine { line, number, count } => write!(
                f,
                "Line {line} of the input names line {number}, but the file has {count} lines. INS.TAIL: inserts at its end."
            ),
            Self::Backwards { line, first, last } => {
                write!(f, "Line {line} of the input: {first}.={last} ends before it begins.")
            }
            Self::Overlap { line, other } => write!(
                f,
                "Line {line} of the input is about lines that line {other} of it changes already. Make them one SWAP."
            ),
            Self::Repeats { line, first, last, beside } => write!(
                f,
                "Line {line} of the input: the new lines repeat line {beside}, which stays, and are fewer than lines {first} to {last}. Name only the lines that change, and write all that they become."
            ),
            Self::Boundary { line, boundary } => write!(
                f,
                "Line {line} of the input takes away line {boundary}, which the file needs, and it is not clear whether the new lines come before or after it. Leave it out of the range."
            ),
            Self::NoBlock { line, anchor } => write!(
                f,
                "Line {line} of the input: no block that can be told begins in line {anchor}. It may be blank, the end of a block, wrong, or of a language that is not known. Name its lines: SWAP {anchor}.=LAST:, DEL {anchor}.=LAST or INS.POST LAST:."
            ),
        }
    }
}
