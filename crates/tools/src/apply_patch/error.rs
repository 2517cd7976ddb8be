//! What can be wrong with a patch, in words for the model.

use std::fmt;

/// Why a patch was not applied. Nothing of it was.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PatchError {
    /// There is no `*** Begin Patch`.
    NoBegin,
    /// There is no `*** End Patch`: it may have been cut off.
    NoEnd,
    /// It changes nothing.
    Empty,
    /// A line is none that can stand there.
    Line {
        /// Its number in the patch, counted from 1.
        line: usize,
        /// The line.
        text: String,
        /// What can stand there.
        expected: &'static str,
    },
    /// An update has no hunk.
    NoHunks {
        /// The line of its header in the patch.
        line: usize,
        /// The file.
        path: String,
    },
    /// A file that is to be changed or deleted is not there.
    Missing {
        /// The file.
        path: String,
    },
    /// A hunk does not fit.
    Hunk {
        /// The file.
        path: String,
        /// The line of the hunk in the patch.
        line: usize,
        /// Why.
        why: Misfit,
    },
    /// An update leaves a file as it is.
    Unchanged {
        /// The file.
        path: String,
    },
}

/// Why a hunk does not fit.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Misfit {
    /// Its lines are not in the file.
    NotFound {
        /// What is there instead, in words.
        nearest: String,
    },
    /// They are there more than once, at these lines counted from 1.
    Ambiguous(Vec<usize>),
    /// The line after `@@` is not in the file, and the lines do not tell the place alone.
    NoContext(String),
    /// It has no lines to find, and its line number is beyond the end.
    Beyond {
        /// The line number.
        line: usize,
        /// Lines of the file.
        count: usize,
    },
    /// Another hunk changes the same lines.
    Overlaps,
}

impl std::error::Error for PatchError {}

impl fmt::Display for PatchError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NoBegin => f.write_str("The patch must begin with the line `*** Begin Patch`."),
            Self::NoEnd => f.write_str("The patch has no line `*** End Patch`; it may have been cut off. Send all of it."),
            Self::Empty => f.write_str(
                "The patch changes no file. Use `*** Add File: path`, `*** Update File: path` or `*** Delete File: path`.",
            ),
            Self::Line { line, text, expected } => {
                let text: String = text.chars().take(120).collect();
                write!(f, "Line {line} of the patch, {text:?}, cannot stand there: {expected}.")
            }
            Self::NoHunks { line, path } => {
                write!(f, "The update of {path} at line {line} of the patch has no lines to change.")
            }
            Self::Missing { path } => write!(f, "{path} does not exist."),
            Self::Hunk { path, line, why } => write!(f, "The hunk at line {line} of the patch does not fit {path}: {why}"),
            Self::Unchanged { path } => write!(f, "The patch would leave {path} as it is. Read it again."),
        }
    }
}

impl fmt::Display for Misfit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotFound { nearest } => f.write_str(nearest),
            Self::Ambiguous(lines) => {
                let named: Vec<String> = lines.iter().map(usize::to_string).collect();
                write!(
                    f,
                    "its lines are in the file more than once, at lines {}. Add lines that stay around it, or `@@` with a line above.",
                    named.join(", ")
                )
            }
            Self::NoContext(context) => {
                write!(f, "no line of the file is {context:?}, as its `@@` says. Copy a line of the file.")
            }
            Self::Beyond { line, count } => {
                write!(f, "it is to be at line {line}, but the file has {count} lines.")
            }
            Self::Overlaps => f.write_str("another hunk changes the same lines. Make them one hunk."),
        }
    }
}
