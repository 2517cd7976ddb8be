//! The ladder: ways to find `old` in a text, from strict to loose. Pure.
//!
//! A rung that finds one place ends the climb, and so does one that finds
//! several: a looser one could only find more. What is looser than exact is
//! never a part of a word, and what is only alike must be alike in every line,
//! because everything that is found will be replaced.

mod anchored;
mod context;
mod escaped;
mod indented;
pub(super) mod outline;
mod trimmed;
pub(super) mod unicode;
mod whitespace;

use std::fmt;
use std::ops::Range;

pub(super) use escaped::unescaped;
use outline::Outline;

use super::stream::all_places;
use super::work::Work;

/// How `old` was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Rung {
    /// As it is.
    Exact,
    /// But for white space at line ends.
    Trimmed,
    /// But for the indentation of the whole block.
    Indented,
    /// But for white space.
    Whitespace,
    /// Once its escape sequences were read.
    Escaped,
    /// But for typographic characters.
    Unicode,
    /// By its first and last lines, with everything between alike.
    Anchored,
    /// By most of its lines, with the others alike.
    Context,
}

impl Rung {
    /// Whether several places may be replaced at once when it found them.
    fn may_be_many(self) -> bool {
        match self {
            Self::Exact
            | Self::Trimmed
            | Self::Indented
            | Self::Whitespace
            | Self::Escaped
            | Self::Unicode => true,
            Self::Anchored | Self::Context => false,
        }
    }
}

impl fmt::Display for Rung {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Exact => "exactly",
            Self::Trimmed => "ignoring white space at line ends",
            Self::Indented => "ignoring indentation",
            Self::Whitespace => "ignoring white space",
            Self::Escaped => "after undoing escapes",
            Self::Unicode => "ignoring typographic quotes, dashes and spaces",
            Self::Anchored => "by its first and last lines",
            Self::Context => "by most of its lines",
        })
    }
}

/// Where `old` was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Found {
    pub(super) rung: Rung,
    /// In ascending order. They may overlap.
    pub(super) places: Vec<Range<usize>>,
}

/// Climbs until something is found. `old` is not empty.
pub(super) fn climb(text: &str, old: &str, work: &mut Work) -> Option<Found> {
    let found =
        |rung: Rung, places: Vec<Range<usize>>| (!places.is_empty()).then_some(Found { rung, places });
    found(Rung::Exact, exact(text.as_bytes(), old.as_bytes()))
        .or_else(|| found(Rung::Trimmed, trimmed::find(text, old)))
        .or_else(|| found(Rung::Indented, indented::find(text, old)))
        .or_else(|| found(Rung::Whitespace, whitespace::find(text, old)))
        .or_else(|| found(Rung::Escaped, escaped::find(text, old)))
        .or_else(|| found(Rung::Unicode, unicode::find(text, old)))
        .or_else(|| {
            let outline = Outline::of(text, old)?;
            found(Rung::Anchored, anchored::find(text, old, &outline, work))
                .or_else(|| found(Rung::Context, context::find(text, old, &outline, work)))
        })
}

/// Whether all of the places may be replaced.
pub(super) fn many_allowed(rung: Rung) -> bool {
    rung.may_be_many()
}

/// The first rung, also for what is no text.
pub(super) fn exact(content: &[u8], old: &[u8]) -> Vec<Range<usize>> {
    all_places(content, old).into_iter().map(|at| at..at + old.len()).collect()
}
