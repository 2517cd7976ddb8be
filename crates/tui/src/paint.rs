//! Lines as the bytes that a certain terminal understands.
//!
//! The last door before the terminal: whatever a span holds, nothing but
//! printable text and our own sequences leaves here, and never more cells than
//! the line was laid out for.

use std::fmt::Write as _;

use unicode_segmentation::UnicodeSegmentation;

use crate::line::{Color, Line, Style, width};
use crate::neutral::is_harmless;
use crate::theme::{Depth, Theme, indexed, named};

/// What the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Palette {
    /// Colours.
    pub ink: Ink,
    /// Characters.
    pub letters: Letters,
}

/// Which colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// None; bold and faint text at most.
    Plain,
    /// Those of the terminal's palette and exact ones.
    Colour,
}

/// Which characters the terminal can show.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Letters {
    /// All of them.
    Unicode,
    /// Those of ASCII.
    Ascii,
}

impl Palette {
    /// As the environment has it.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).filter(|value| !value.is_empty());
        let terminal = set("TERM").unwrap_or_default();
        let ink = match set("NO_COLOR").is_some() || terminal == "dumb" {
            true => Ink::Plain,
            false => Ink::Colour,
        };
        let locale = set("LC_ALL").or_else(|| set("LC_CTYPE")).or_else(|| set("LANG"));
        let unicode = locale.is_none_or(|locale| {
            let locale = locale.to_lowercase();
            locale.contains("utf-8") || locale.contains("utf8")
        });
        Self { ink, letters: if unicode && terminal != "linux" { Letters::Unicode } else { Letters::Ascii } }
    }

    /// The bytes of a line in the terminal's own colours, with every attribute turned off at its end.
    #[must_use]
    pub fn paint(self, line: &Line) -> String {
        self.paint_in(&Theme::default(), line)
    }

    /// The same in the colours of a theme.
    #[must_use]
    pub fn paint_in(self, theme: &Theme, line: &Line) -> String {
        let mut out = String::new();
        for span in &line.spans {
            let codes = match self.ink {
                Ink::Plain => self.codes(&span.style, theme.depth()),
                Ink::Colour => self.codes(&theme.apply(&span.style), theme.depth()),
            };
            if !codes.is_empty() {
                let _ = write!(out, "\u{1b}[{codes}m");
            }
            let link = span.style.link.as_deref().filter(|link| self.may_link(link));
            if let Some(link) = link {
                let _ = write!(out, "\u{1b}]8;;{link}\u{1b}\\");
            }
            self.put(&mut out, &span.text);
            if link.is_some() {
                out.push_str("\u{1b}]8;;\u{1b}\\");
            }
            if !codes.is_empty() {
                out.push_str("\u{1b}[0m");
            }
        }
        out
    }

    fn put(self, out: &mut String, text: &str) {
        if text.chars().all(is_harmless) && (self.letters == Letters::Unicode || text.is_ascii()) {
            out.push_str(text);
            return;
        }
        for cluster in text.graphemes(true) {
            let harmless = cluster.chars().all(is_harmless);
            match (self.letters, harmless) {
                (_, true) if cluster.is_ascii() => out.push_str(cluster),
                (Letters::Unicode, true) => out.push_str(cluster),
                (Letters::Ascii, true) => out.push_str(&ascii(cluster)),
                (_, false) => out.extend(std::iter::repeat_n('?', width(cluster))),
            }
        }
    }

    fn may_link(self, link: &str) -> bool {
        self.ink == Ink::Colour
            && ["http://", "https://", "file://"].iter().any(|scheme| link.starts_with(scheme))
            && link.chars().all(|character| is_harmless(character) && !character.is_whitespace())
    }

    fn codes(self, style: &Style, depth: Depth) -> String {
        let mut codes = Vec::new();
        let attributes = [
            (style.bold, "1"),
            (style.dim, "2"),
            (style.italic, "3"),
            (style.underline, "4"),
            (style.strike, "9"),
        ];
        codes.extend(attributes.iter().filter(|(on, _)| *on).map(|(_, code)| (*code).to_owned()));
        if self.ink == Ink::Colour {
            codes.extend(style.color.map(|color| code(color, 30, depth)));
            codes.extend(style.background.map(|color| code(color, 40, depth)));
        }
        codes.join(";")
    }
}

fn code(color: Color, base: u8, depth: Depth) -> String {
    let number = match color {
        Color::Black => base,
        Color::Red => base + 1,
        Color::Green => base + 2,
        Color::Yellow => base + 3,
        Color::Blue => base + 4,
        Color::Magenta => base + 5,
        Color::Cyan => base + 6,
        Color::White => base + 7,
        Color::BrightBlack => base + 60,
        Color::BrightRed => base + 61,
        Color::BrightGreen => base + 62,
        Color::BrightYellow => base + 63,
        Color::BrightBlue => base + 64,
        Color::BrightMagenta => base + 65,
        Color::BrightCyan => base + 66,
        Color::BrightWhite => base + 67,
        Color::Rgb(red, green, blue) => {
            return match depth {
                Depth::True => format!("{};2;{red};{green};{blue}", base + 8),
                Depth::Indexed => format!("{};5;{}", base + 8, indexed(red, green, blue)),
                Depth::Palette => code(named(red, green, blue), base, depth),
            };
        }
    };
    number.to_string()
}

/// As many ASCII characters as the cluster has cells, as like to it as can be.
fn ascii(cluster: &str) -> String {
    let like = match cluster {
        "›" | "❯" | "▸" | "▶" | "→" => ">",
        "‹" | "←" => "<",
        "─" | "━" | "╌" | "–" | "—" | "‐" => "-",
        "│" | "┃" | "▌" | "▏" | "▎" | "┆" => "|",
        "┌" | "┐" | "└" | "┘" | "├" | "┤" | "┬" | "┴" | "┼" | "╭" | "╮" | "╰" | "╯" => {
            "+"
        }
        "•" | "·" | "●" | "✻" | "○" | "◦" | "∗" => "*",
        "…" => "~",
        "✓" | "✔" => "+",
        "✗" | "✘" | "×" | "⊘" => "x",
        "■" | "◇" => "o",
        "↳" => "`",
        "↻" => "@",
        "⚠" => "!",
        "“" | "”" | "„" => "\"",
        "‘" | "’" => "'",
        "↑" => "^",
        "↓" => "v",
        "█" | "▓" | "▒" | "░" => "#",
        "\u{a0}" => " ",
        _ => return "?".repeat(width(cluster)),
    };
    like.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const COLOUR: Palette = Palette { ink: Ink::Colour, letters: Letters::Unicode };
    const PLAIN: Palette = Palette { ink: Ink::Plain, letters: Letters::Ascii };

    #[test]
    fn colours_links_and_characters_follow_the_terminal() {
        let mut style = Style::colored(Color::BrightRed).bold();
        style.link = Some("https://example.com/".into());
        let line = Line::plain("a ").with("b…", style);
        assert_eq!(
            COLOUR.paint(&line),
            "a \u{1b}[1;91m\u{1b}]8;;https://example.com/\u{1b}\\b…\u{1b}]8;;\u{1b}\\\u{1b}[0m"
        );
        assert_eq!(PLAIN.paint(&line), "a \u{1b}[1mb~\u{1b}[0m");
    }

    #[test]
    fn a_theme_is_painted_with_the_colours_that_there_are() {
        let theme = crate::theme::builtin("dark").unwrap();
        let line = Line::styled("x", Style::colored(Color::Red));
        let painted = |depth| COLOUR.paint_in(&theme.at(depth), &line);
        assert_eq!(painted(Depth::True), "\u{1b}[38;2;240;127;127mx\u{1b}[0m");
        assert_eq!(painted(Depth::Indexed), "\u{1b}[38;5;210mx\u{1b}[0m");
        assert_eq!(painted(Depth::Palette), "\u{1b}[90mx\u{1b}[0m");
        assert_eq!(PLAIN.paint_in(&theme, &line), "x");
    }

    #[test]
    fn the_environment_says_what_can_be_shown() {
        let of = |pairs: &'static [(&str, &str)]| {
            Palette::detect(|name| {
                pairs.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
            })
        };
        assert_eq!(of(&[]), COLOUR);
        assert_eq!(of(&[("LANG", "C"), ("NO_COLOR", "1")]), PLAIN);
        assert_eq!(of(&[("LANG", "C"), ("LC_ALL", "en_US.UTF-8")]), COLOUR);
        assert_eq!(of(&[("TERM", "dumb"), ("LANG", "de_DE.utf8")]), Palette { ink: Ink::Plain, ..COLOUR });
    }

    proptest! {
        #[test]
        fn painting_adds_no_sequence_of_the_text(text in "(\\PC|[\\x00-\\x1f\\x7f-\\x9f]){0,40}") {
            for palette in [COLOUR, PLAIN] {
                let painted = palette.paint(&Line::plain(text.clone()));
                prop_assert!(painted.chars().all(is_harmless), "{painted:?}");
                if palette.letters == Letters::Ascii {
                    prop_assert!(painted.is_ascii());
                }
            }
        }
    }
}
