//! What a row of the terminal is: styled text and nothing else.
//!
//! Everything that is drawn becomes lines first; how they reach the terminal is for others.
//! Invariant: a line holds no newline and no control character.

use std::sync::Arc;

/// One row.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Line {
    /// Pieces from left to right.
    pub spans: Vec<Span>,
}

/// A piece of a row in one style.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Span {
    /// What is shown.
    pub text: String,
    /// How it is shown.
    pub style: Style,
}

/// How text is shown.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Style {
    /// Foreground; the terminal's own if none.
    pub color: Option<Color>,
    /// Background; the terminal's own if none.
    pub background: Option<Color>,
    /// Heavier.
    pub bold: bool,
    /// Fainter.
    pub dim: bool,
    /// Slanted.
    pub italic: bool,
    /// With a line below.
    pub underline: bool,
    /// With a line through it.
    pub strike: bool,
    /// Where a click leads (OSC 8).
    pub link: Option<Arc<str>>,
}

/// A colour of the terminal's palette, or an exact one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Color {
    Black,
    Red,
    Green,
    Yellow,
    Blue,
    Magenta,
    Cyan,
    White,
    BrightBlack,
    BrightRed,
    BrightGreen,
    BrightYellow,
    BrightBlue,
    BrightMagenta,
    BrightCyan,
    BrightWhite,
    Rgb(u8, u8, u8),
}
