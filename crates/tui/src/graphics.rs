//! Pictures in the terminal itself, where it is known to show them.
//!
//! Owns which terminals do, how many cells a picture gets, and the sequences.
//! The cells are reserved with blank lines first, so nothing scrolls while the
//! picture is drawn, and a picture is history like everything else.

use std::fmt::Write as _;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

use crate::image::{Shape, shape};

/// How the terminal wants pictures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Graphics {
    /// Not at all, or nobody knows.
    #[default]
    None,
    /// As kitty does; PNG only.
    Kitty,
    /// As iTerm2 does.
    Iterm,
}

/// A picture among finished lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Placed {
    /// The last of the blank lines that are reserved for it.
    pub line: usize,
    /// How many there are.
    pub rows: u16,
    /// What draws it, once the cursor is at its upper left corner.
    pub sequence: String,
}

/// A larger picture takes too long over a slow line.
const MOST_BYTES: usize = 2 * 1024 * 1024;
/// Bytes of base64 in one piece of kitty's.
const PIECE: usize = 4096;
const MOST_COLUMNS: u32 = 48;
const MOST_ROWS: u32 = 16;
/// Pixels of a cell, as most terminals have it.
const CELL: (u32, u32) = (8, 16);

impl Graphics {
    /// As the environment has it. Multiplexers pass pictures on wrongly or not at all.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Self {
        let value = |name: &str| variable(name).filter(|value| !value.is_empty()).unwrap_or_default();
        let term = value("TERM");
        let inside = ["TMUX", "STY", "ZELLIJ"].iter().any(|name| !value(name).is_empty())
            || term.starts_with("screen")
            || term.starts_with("tmux");
        let program = value("TERM_PROGRAM");
        if inside {
            Self::None
        } else if !value("KITTY_WINDOW_ID").is_empty() || term == "xterm-kitty" || program == "ghostty" {
            Self::Kitty
        } else if ["iTerm.app", "WezTerm"].contains(&program.as_str()) {
            Self::Iterm
        } else {
            Self::None
        }
    }

    /// The rows and the sequence for a picture; none if the terminal cannot show it.
    #[must_use]
    pub fn place(self, bytes: &[u8], columns: u16, height: u16) -> Option<(u16, String)> {
        let shape = shape(bytes).filter(|_| bytes.len() <= MOST_BYTES)?;
        let (columns, rows) = cells(shape, columns, height)?;
        let sequence = match self {
            Self::None => return None,
            Self::Kitty if shape.format != "png" => return None,
            Self::Kitty => kitty(bytes, columns, rows),
            Self::Iterm => format!(
                "\u{1b}]1337;File=inline=1;size={};width={columns};height={rows};preserveAspectRatio=1:{}\u{7}",
                bytes.len(),
                STANDARD.encode(bytes)
            ),
        };
        Some((rows, sequence))
    }
}

/// Columns and rows with the picture's proportions; never more than it has pixels for.
fn cells(shape: Shape, columns: u16, height: u16) -> Option<(u16, u16)> {
    if shape.width == 0 || shape.height == 0 {
        return None;
    }
    let widest = u32::from(columns).saturating_sub(4).min(MOST_COLUMNS);
    let highest = u32::from(height).saturating_sub(4).min(MOST_ROWS);
    let mut wide = shape.width.div_ceil(CELL.0).min(widest).max(1);
    let high_for = |wide: u32| {
        let pixels = u64::from(wide) * u64::from(CELL.0) * u64::from(shape.height) / u64::from(shape.width);
        u32::try_from(pixels.div_ceil(u64::from(CELL.1))).unwrap_or(u32::MAX).max(1)
    };
    let mut high = high_for(wide);
    if high > highest {
        wide = (wide * highest / high).max(1);
        high = high_for(wide).min(highest);
    }
    (highest > 0).then_some((u16::try_from(wide).ok()?, u16::try_from(high).ok()?))
}

/// Drawn where the cursor is, which stays there.
fn kitty(bytes: &[u8], columns: u16, rows: u16) -> String {
    let text = STANDARD.encode(bytes);
    let mut out = String::with_capacity(text.len() + text.len() / PIECE * 16);
    let mut rest = text.as_str();
    let mut head = format!("a=T,f=100,q=2,C=1,c={columns},r={rows},");
    while !rest.is_empty() {
        let (piece, after) = rest.split_at_checked(PIECE).unwrap_or((rest, ""));
        let more = u8::from(!after.is_empty());
        let _ = write!(out, "\u{1b}_G{head}m={more};{piece}\u{1b}\\");
        head.clear();
        rest = after;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn png(width: u32, height: u32) -> Vec<u8> {
        let head = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice();
        [head, &width.to_be_bytes(), &height.to_be_bytes(), &[0; 5000]].concat()
    }

    #[test]
    fn only_terminals_that_are_known_get_pictures() {
        let of = |pairs: &[(&str, &str)]| {
            Graphics::detect(|name| {
                pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(of(&[("TERM", "xterm-256color")]), Graphics::None);
        assert_eq!(of(&[("TERM", "xterm-kitty")]), Graphics::Kitty);
        assert_eq!(of(&[("TERM_PROGRAM", "iTerm.app"), ("TERM", "xterm")]), Graphics::Iterm);
        assert_eq!(of(&[("KITTY_WINDOW_ID", "1"), ("TMUX", "x")]), Graphics::None);
        assert_eq!(of(&[("TERM_PROGRAM", "WezTerm"), ("TERM", "screen-256color")]), Graphics::None);
    }

    #[test]
    fn a_picture_keeps_its_proportions_and_fits() {
        let rows = |width, height| Graphics::Iterm.place(&png(width, height), 80, 24).map(|(rows, _)| rows);
        assert_eq!(rows(640, 480), Some(16));
        assert_eq!(rows(16, 16), Some(1));
        assert_eq!(rows(4000, 40), Some(1));
        assert_eq!(rows(1, 60_000), Some(16));
        assert_eq!(rows(0, 5), None);
        assert_eq!(Graphics::Iterm.place(&png(640, 480), 80, 4), None);
        assert_eq!(Graphics::None.place(&png(640, 480), 80, 24), None);
        assert_eq!(Graphics::Kitty.place(b"GIF89a\x10\0\x10\0", 80, 24), None);
    }

    #[test]
    fn kitty_gets_pieces_and_whole_sequences() {
        let (_, sequence) = Graphics::Kitty.place(&png(64, 64), 80, 24).unwrap();
        let pieces: Vec<&str> = sequence.split("\u{1b}_G").skip(1).collect();
        assert_eq!(pieces.len(), 2);
        assert!(pieces[0].starts_with("a=T,f=100,q=2,C=1,c=8,r=4,m=1;"));
        assert!(pieces[1].starts_with("m=0;"));
        assert!(pieces.iter().all(|piece| piece.ends_with("\u{1b}\\")));
    }
}
