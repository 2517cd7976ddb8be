//! The themes that come with rein, each in the form of a user's own.

use super::Theme;

/// Dark or light, whichever fits what is behind the text.
pub const AUTO: &str = "auto";

/// Every theme that comes with rein and what it is for.
pub const BUILTIN: &[(&str, &str)] = &[
    ("terminal", "the terminal's own palette"),
    (AUTO, "dark or light, by what is behind the text"),
    ("dark", "for a dark background"),
    ("light", "for a light background"),
    ("high-contrast", "the brightest colours of the palette, nothing faint"),
    ("colour-blind", "no red against green: blue, orange and letters tell things apart"),
];

const DARK: &str = "\
accent = \"#6cc7d6\"\ngood = \"#8bc98a\"\nbad = \"#f07f7f\"\nwarning = \"#e2c26a\"\nnote = \"#8ab4f8\"
special = \"#c79bf0\"\nfaint = \"#8a8f98\"\ndim = \"#8a8f98\"\n";

const LIGHT: &str = "\
accent = \"#0b6e7f\"\ngood = \"#1a7a2e\"\nbad = \"#b3261e\"\nwarning = \"#8a5a00\"\nnote = \"#1a56c4\"
special = \"#7a3db8\"\nfaint = \"#5f6670\"\ndim = \"#5f6670\"\n";

const HIGH_CONTRAST: &str = "\
accent = \"bright-cyan\"\ngood = \"bright-green\"\nbad = \"bright-red\"\nwarning = \"bright-yellow\"
note = \"bright-blue\"\nspecial = \"bright-magenta\"\nfaint = \"default\"\ndim = \"white\"\n";

/// After Okabe and Ito: told apart with every common kind of colour vision.
const COLOUR_BLIND: &str = "\
accent = \"#56b4e9\"\ngood = \"#3f9be0\"\nbad = \"#e69f00\"\nwarning = \"#f0e442\"\nnote = \"#cc79a7\"
special = \"#d55e00\"\nfaint = \"#999999\"\n";

/// The theme with a name; [`AUTO`] is none, because it depends on the terminal.
#[must_use]
pub fn builtin(name: &str) -> Option<Theme> {
    let text = match name {
        "terminal" => return Some(Theme::default()),
        "dark" => DARK,
        "light" => LIGHT,
        "high-contrast" => HIGH_CONTRAST,
        "colour-blind" => COLOUR_BLIND,
        _ => return None,
    };
    Theme::read(text).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_theme_that_comes_with_rein_can_be_read() {
        for (name, _) in BUILTIN.iter().filter(|(name, _)| *name != AUTO) {
            assert!(builtin(name).is_some(), "{name}");
        }
        for text in [DARK, LIGHT, HIGH_CONTRAST, COLOUR_BLIND] {
            Theme::read(text).unwrap();
        }
    }
}
