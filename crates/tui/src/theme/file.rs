//! A theme in a file: a line for a meaning, `accent = "#6cc7d6"`.
//!
//! The form is a small part of TOML, so that any editor knows it: keys, quoted
//! texts, comments. Colours are exact ones, names of the palette, or `default`.

use super::{ROLES, Theme};
use crate::line::Color;

/// Why a theme cannot be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ThemeError {
    /// A line is none of a theme.
    #[error("line {line}: write it like `accent = \"#6cc7d6\"`")]
    Form {
        /// Counted from 1.
        line: usize,
    },
    /// Nothing has that meaning.
    #[error(
        "line {line}: there is no `{role}`; there are text, dim, accent, good, bad, warning, note, special and faint"
    )]
    Role {
        /// Counted from 1.
        line: usize,
        /// As written.
        role: String,
    },
    /// It is no colour.
    #[error(
        "line {line}: `{color}` is not a colour; write `#rrggbb`, a name such as `bright-red`, or `default`"
    )]
    Color {
        /// Counted from 1.
        line: usize,
        /// As written.
        color: String,
    },
}

const NAMES: &[(&str, Color)] = &[
    ("black", Color::Black),
    ("red", Color::Red),
    ("green", Color::Green),
    ("yellow", Color::Yellow),
    ("blue", Color::Blue),
    ("magenta", Color::Magenta),
    ("cyan", Color::Cyan),
    ("white", Color::White),
    ("bright-black", Color::BrightBlack),
    ("bright-red", Color::BrightRed),
    ("bright-green", Color::BrightGreen),
    ("bright-yellow", Color::BrightYellow),
    ("bright-blue", Color::BrightBlue),
    ("bright-magenta", Color::BrightMagenta),
    ("bright-cyan", Color::BrightCyan),
    ("bright-white", Color::BrightWhite),
];

impl Theme {
    /// Reads a theme. What it does not mention is the terminal's.
    ///
    /// # Errors
    /// With the first line that cannot be understood.
    pub fn read(text: &str) -> Result<Self, ThemeError> {
        let mut theme = Self::default();
        for (number, line) in (1..).zip(text.lines()) {
            let line = line.trim();
            if line.is_empty() || line.starts_with('#') {
                continue;
            }
            let (role, color) = entry(line).ok_or(ThemeError::Form { line: number })?;
            let read =
                color_of(color).ok_or_else(|| ThemeError::Color { line: number, color: shown(color) })?;
            if !theme.set(role, read) {
                return Err(ThemeError::Role { line: number, role: shown(role) });
            }
        }
        Ok(theme)
    }

    /// The names that [`Theme::read`] knows.
    pub fn roles() -> impl Iterator<Item = &'static str> {
        ["text", "dim"].into_iter().chain(ROLES.iter().map(|(name, _)| *name))
    }
}

fn entry(line: &str) -> Option<(&str, &str)> {
    let (role, rest) = line.split_once('=')?;
    let rest = rest.trim();
    let quote = rest.chars().next().filter(|quote| matches!(quote, '"' | '\''))?;
    let (color, after) = rest.get(1..)?.split_once(quote)?;
    let after = after.trim();
    (after.is_empty() || after.starts_with('#')).then(|| (role.trim().trim_matches('"'), color.trim()))
}

/// `Some(None)` is the terminal's own.
fn color_of(text: &str) -> Option<Option<Color>> {
    let lower = text.to_ascii_lowercase();
    if lower == "default" {
        return Some(None);
    }
    if let Some((_, color)) = NAMES.iter().find(|(name, _)| *name == lower) {
        return Some(Some(*color));
    }
    let digits = lower.strip_prefix('#').filter(|digits| digits.len() == 6 && digits.is_ascii())?;
    let part = |at: usize| u8::from_str_radix(digits.get(at..at + 2)?, 16).ok();
    Some(Some(Color::Rgb(part(0)?, part(2)?, part(4)?)))
}

fn shown(text: &str) -> String {
    text.chars().take(40).filter(|letter| !letter.is_control()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::line::Style;

    #[test]
    fn a_file_says_what_is_painted() {
        let theme =
            Theme::read("# mine\naccent = \"#102030\" # dark\ngood='bright-blue'\n\ndim = \"default\"\n");
        let theme = theme.unwrap();
        let painted = |color| theme.apply(&Style::colored(color)).color;
        assert_eq!(painted(Color::Cyan), Some(Color::Rgb(16, 32, 48)));
        assert_eq!(painted(Color::Green), Some(Color::BrightBlue));
        assert_eq!(painted(Color::Red), Some(Color::Red));
    }

    #[test]
    fn mistakes_are_named_with_their_line() {
        let error = |text: &str| Theme::read(text).unwrap_err();
        assert_eq!(error("accent = red"), ThemeError::Form { line: 1 });
        assert_eq!(error("\naccnt = \"red\""), ThemeError::Role { line: 2, role: "accnt".into() });
        assert_eq!(error("bad = \"#12345\""), ThemeError::Color { line: 1, color: "#12345".into() });
        assert_eq!(error("bad = \"#12é45\""), ThemeError::Color { line: 1, color: "#12é45".into() });
    }
}
