//! Text for the clipboard of whoever sits at the terminal (OSC 52), also across
//! SSH and through terminals within terminals.
//!
//! Pure: it makes the bytes. Terminals drop sequences that are too long without
//! a word, so what is too long is not sent at all.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// Bytes of text that common terminals take: 100 000 in their encoded form, with what is around them.
pub(crate) const MOST: usize = 74_994;
/// Bytes of one piece that GNU screen passes on.
const SCREEN_PIECE: usize = 720;

/// What stands between the face and the terminal.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Between {
    /// Nothing.
    Nothing,
    /// tmux.
    Tmux,
    /// GNU screen.
    Screen,
}

impl Between {
    pub(crate) fn detect(variable: impl Fn(&str) -> Option<String>) -> Self {
        let set = |name: &str| variable(name).is_some_and(|value| !value.is_empty());
        match (set("TMUX"), set("STY")) {
            (true, _) => Self::Tmux,
            (false, true) => Self::Screen,
            (false, false) => Self::Nothing,
        }
    }
}

/// The bytes that put a text there; nothing if it is too long.
pub(crate) fn copy(text: &str, between: Between) -> Option<String> {
    if text.len() > MOST {
        return None;
    }
    let plain = format!("\u{1b}]52;c;{}\u{7}", STANDARD.encode(text));
    Some(match between {
        Between::Nothing => plain,
        // One is obeyed with `set-clipboard on`, the other with `allow-passthrough on`.
        Between::Tmux => {
            let passed = plain.replace('\u{1b}', "\u{1b}\u{1b}");
            format!("{plain}\u{1b}Ptmux;{passed}\u{1b}\\")
        }
        Between::Screen => {
            let mut out = String::new();
            let mut rest = plain.as_str();
            while !rest.is_empty() {
                // The sequence is ASCII: every place is between two characters.
                let (piece, after) = rest.split_at_checked(SCREEN_PIECE).unwrap_or((rest, ""));
                out.push_str(&format!("\u{1b}P{piece}\u{1b}\\"));
                rest = after;
            }
            out
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_way_to_the_terminal_has_its_form() {
        assert_eq!(copy("hi", Between::Nothing).as_deref(), Some("\u{1b}]52;c;aGk=\u{7}"));
        let tmux = copy("hi", Between::Tmux).unwrap();
        assert_eq!(tmux, "\u{1b}]52;c;aGk=\u{7}\u{1b}Ptmux;\u{1b}\u{1b}]52;c;aGk=\u{7}\u{1b}\\");
        let screen = copy(&"x".repeat(1000), Between::Screen).unwrap();
        let pieces: Vec<&str> = screen.split("\u{1b}P").skip(1).collect();
        assert_eq!(pieces.len(), 2);
        assert!(pieces.iter().all(|piece| piece.len() <= SCREEN_PIECE + 2 && piece.ends_with("\u{1b}\\")));
    }

    #[test]
    fn what_a_terminal_would_drop_is_not_sent() {
        assert_eq!(copy(&"x".repeat(MOST + 1), Between::Nothing), None);
        assert!(copy(&"x".repeat(MOST), Between::Nothing).unwrap().len() <= 100_000);
    }
}
