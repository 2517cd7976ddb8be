//! Themes: which colours stand for which meaning.
//!
//! Views speak in the sixteen names of a terminal's palette, each with a
//! meaning; a theme says what is painted for them. The default paints the names
//! themselves, so the terminal's own palette decides. Leaves bytes to `paint`
//! and the question what is behind the text to `background`.

pub mod background;
mod builtin;
mod file;

pub use builtin::{AUTO, BUILTIN, builtin};
pub use file::ThemeError;

use crate::line::{Color, Style};

/// Meanings that have a colour, by the names that a file uses.
pub const ROLES: &[(&str, Color)] = &[
    ("accent", Color::Cyan),
    ("good", Color::Green),
    ("bad", Color::Red),
    ("warning", Color::Yellow),
    ("note", Color::Blue),
    ("special", Color::Magenta),
    ("faint", Color::BrightBlack),
];

/// How many colours can be shown.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Depth {
    /// Exact ones.
    True,
    /// 256 fixed ones.
    Indexed,
    /// The sixteen of the palette.
    Palette,
}

impl Depth {
    /// As the environment has it.
    pub fn detect(variable: impl Fn(&str) -> Option<String>) -> Self {
        let has = |name: &str, words: &[&str]| {
            variable(name).is_some_and(|value| words.iter().any(|word| value.to_lowercase().contains(word)))
        };
        if has("COLORTERM", &["truecolor", "24bit"]) {
            Self::True
        } else if has("TERM", &["256", "kitty", "alacritty", "ghostty", "foot", "wezterm", "direct"]) {
            Self::Indexed
        } else {
            Self::Palette
        }
    }
}

/// What is painted for a meaning.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Theme {
    /// In the order of [`ROLES`]; the name itself if absent.
    roles: [Option<Color>; 7],
    /// What less important text is painted with; fainter letters if absent.
    dim: Option<Color>,
    /// Ordinary text; the terminal's own colour if absent.
    text: Option<Color>,
    depth: Depth,
}

impl Default for Theme {
    fn default() -> Self {
        Self { roles: [None; 7], dim: None, text: None, depth: Depth::True }
    }
}

impl Theme {
    /// With another number of colours.
    #[must_use]
    pub fn at(self, depth: Depth) -> Self {
        Self { depth, ..self }
    }

    /// How many colours it uses at most.
    #[must_use]
    pub fn depth(&self) -> Depth {
        self.depth
    }

    /// The same style in this theme's colours.
    #[must_use]
    pub fn apply(&self, style: &Style) -> Style {
        let mut painted = style.clone();
        painted.color = match style.color {
            Some(color) => Some(self.color(color)),
            None if style.dim => self.dim.or(self.text),
            None => self.text,
        };
        painted.background = style.background.map(|color| self.color(color));
        // Two ways of being faint would be too faint.
        painted.dim = style.dim && (self.dim.is_none() || style.color.is_some());
        painted
    }

    fn color(&self, color: Color) -> Color {
        let place = ROLES.iter().position(|(_, name)| *name == plain(color));
        place.and_then(|place| *self.roles.get(place)?).unwrap_or(color)
    }

    fn set(&mut self, role: &str, color: Option<Color>) -> bool {
        match role {
            "text" => self.text = color,
            "dim" => self.dim = color,
            _ => match ROLES.iter().position(|(name, _)| *name == role) {
                Some(place) => {
                    if let Some(slot) = self.roles.get_mut(place) {
                        *slot = color;
                    }
                }
                None => return false,
            },
        }
        true
    }
}

/// A bright colour means what its plain one means.
fn plain(color: Color) -> Color {
    match color {
        Color::BrightRed => Color::Red,
        Color::BrightGreen => Color::Green,
        Color::BrightYellow => Color::Yellow,
        Color::BrightBlue => Color::Blue,
        Color::BrightMagenta => Color::Magenta,
        Color::BrightCyan => Color::Cyan,
        other => other,
    }
}

/// The nearest of the 256 fixed colours: of the cube or of the greys.
#[must_use]
pub fn indexed(red: u8, green: u8, blue: u8) -> u8 {
    const STEPS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let distance = |a: (u8, u8, u8)| {
        let one = |x: u8, y: u8| u32::from(x.abs_diff(y)).pow(2);
        one(a.0, red) + one(a.1, green) + one(a.2, blue)
    };
    let step =
        |value: u8| (0_u8..).zip(STEPS).min_by_key(|(_, step)| step.abs_diff(value)).unwrap_or_default();
    let ((r, red_step), (g, green_step), (b, blue_step)) = (step(red), step(green), step(blue));
    let cube = (distance((red_step, green_step, blue_step)), 16 + 36 * r + 6 * g + b);
    let grey = (0..24_u8).map(|index| {
        let level = 8 + 10 * index;
        (distance((level, level, level)), 232 + index)
    });
    grey.chain([cube]).min().map_or(7, |(_, index)| index)
}

/// The nearest of the palette's sixteen colours, as most terminals have them.
#[must_use]
pub fn named(red: u8, green: u8, blue: u8) -> Color {
    const NAMES: [(Color, (u8, u8, u8)); 16] = [
        (Color::Black, (0, 0, 0)),
        (Color::Red, (205, 0, 0)),
        (Color::Green, (0, 205, 0)),
        (Color::Yellow, (205, 205, 0)),
        (Color::Blue, (0, 0, 238)),
        (Color::Magenta, (205, 0, 205)),
        (Color::Cyan, (0, 205, 205)),
        (Color::White, (229, 229, 229)),
        (Color::BrightBlack, (127, 127, 127)),
        (Color::BrightRed, (255, 0, 0)),
        (Color::BrightGreen, (0, 255, 0)),
        (Color::BrightYellow, (255, 255, 0)),
        (Color::BrightBlue, (92, 92, 255)),
        (Color::BrightMagenta, (255, 0, 255)),
        (Color::BrightCyan, (0, 255, 255)),
        (Color::BrightWhite, (255, 255, 255)),
    ];
    let one = |x: u8, y: u8| u32::from(x.abs_diff(y)).pow(2);
    let distance = |(_, (r, g, b)): &(Color, (u8, u8, u8))| one(*r, red) + one(*g, green) + one(*b, blue);
    NAMES.iter().min_by_key(|name| distance(name)).map_or(Color::White, |(name, _)| *name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_theme_paints_meanings_and_leaves_the_rest() {
        let theme = builtin("dark").unwrap();
        let accent = theme.apply(&Style::colored(Color::BrightCyan).bold());
        assert!(matches!(accent.color, Some(Color::Rgb(..))) && accent.bold);
        assert_eq!(theme.apply(&Style::colored(Color::White)).color, Some(Color::White));
        let faint = theme.apply(&Style::dimmed());
        assert!(faint.color.is_some() && !faint.dim);
        assert_eq!(Theme::default().apply(&Style::dimmed()), Style::dimmed());
    }

    #[test]
    fn colours_that_cannot_be_shown_become_the_nearest() {
        assert_eq!([indexed(0, 0, 0), indexed(255, 255, 255), indexed(255, 0, 0)], [16, 231, 196]);
        assert_eq!(indexed(128, 128, 128), 244);
        assert_eq!([named(250, 10, 10), named(10, 10, 10)], [Color::BrightRed, Color::Black]);
    }

    #[test]
    fn the_environment_says_how_many_colours_there_are() {
        let of = |pairs: &'static [(&str, &str)]| {
            Depth::detect(|name| {
                pairs.iter().find(|(key, _)| *key == name).map(|(_, text)| (*text).to_owned())
            })
        };
        assert_eq!(of(&[("COLORTERM", "truecolor"), ("TERM", "xterm")]), Depth::True);
        assert_eq!(of(&[("TERM", "tmux-256color")]), Depth::Indexed);
        assert_eq!(of(&[("TERM", "xterm")]), Depth::Palette);
    }
}
