//! Text on a terminal: colours where they are wanted, and untrusted words
//! without the power to move the cursor, change the title or hide themselves.

use std::borrow::Cow;
use std::io::IsTerminal;

/// Whether colours are used.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ink {
    /// No escape sequences at all.
    Plain,
    /// A few basic colours.
    Colour,
}

/// What a stream ends in.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Target {
    /// A person looks at it.
    Terminal,
    /// A file or another program.
    Elsewhere,
}

impl Target {
    /// Of a standard stream.
    pub fn of(stream: &impl IsTerminal) -> Self {
        if stream.is_terminal() { Self::Terminal } else { Self::Elsewhere }
    }

    /// Colours for a terminal whose person did not turn them off.
    pub fn ink(self) -> Ink {
        let refused = std::env::var_os("NO_COLOR").is_some_and(|value| !value.is_empty())
            || std::env::var_os("TERM").is_some_and(|value| value == "dumb");
        match self {
            Self::Terminal if !refused => Ink::Colour,
            Self::Terminal | Self::Elsewhere => Ink::Plain,
        }
    }

    /// Untrusted text as this stream may have it: bytes for programs, visible characters for persons.
    pub fn text(self, text: &str) -> Cow<'_, str> {
        match self {
            Self::Terminal => neutralise(text),
            Self::Elsewhere => Cow::Borrowed(text),
        }
    }
}

impl Ink {
    /// For what went wrong.
    pub fn red(self, text: &str) -> String {
        self.paint("31;1", text)
    }

    /// For what went well.
    pub fn green(self, text: &str) -> String {
        self.paint("32", text)
    }

    /// For what deserves a look.
    pub fn yellow(self, text: &str) -> String {
        self.paint("33", text)
    }

    /// For what to do next.
    pub fn cyan(self, text: &str) -> String {
        self.paint("36", text)
    }

    /// For what is less important.
    pub fn dim(self, text: &str) -> String {
        self.paint("2", text)
    }

    /// For headings.
    pub fn bold(self, text: &str) -> String {
        self.paint("1", text)
    }

    fn paint(self, code: &str, text: &str) -> String {
        match self {
            Self::Plain => text.to_owned(),
            Self::Colour => format!("\u{1b}[{code}m{text}\u{1b}[0m"),
        }
    }
}

/// Text in which every control character except line feed and tab, and every
/// character that reverses the reading direction, is visible as an escape.
pub fn neutralise(text: &str) -> Cow<'_, str> {
    if !text.chars().any(is_treacherous) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        match character {
            '\r' => safe.push_str("\\r"),
            other if is_treacherous(other) => safe.extend(other.escape_unicode()),
            other => safe.push(other),
        }
    }
    Cow::Owned(safe)
}

/// Untrusted text as one line of at most `width` characters.
pub fn one_line(text: &str, width: usize) -> String {
    let text = text.trim();
    let mut lines = text.lines();
    let first = lines.next().unwrap_or_default().trim_end();
    let cut = lines.next().is_some() || first.chars().count() > width;
    let first = first.replace('\t', " ");
    let mut line: String = neutralise(&first).chars().take(width).collect();
    if cut {
        line.push('…');
    }
    line
}

fn is_treacherous(character: char) -> bool {
    match character {
        '\n' | '\t' => false,
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{200e}' | '\u{200f}' => true,
        other => other.is_control(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn escape_sequences_become_visible_and_words_stay() {
        let hostile = "a\u{1b}]0;title\u{7}b\r\u{9b}31m\u{202e}c\u{7f}";
        assert_eq!(neutralise(hostile), "a\\u{1b}]0;title\\u{7}b\\r\\u{9b}31m\\u{202e}c\\u{7f}");
        assert_eq!(neutralise("tab\there\nünïcode → ok"), "tab\there\nünïcode → ok");
        assert_eq!(Target::Elsewhere.text(hostile), hostile);
        assert_eq!(Target::Terminal.text(hostile), neutralise(hostile));
    }

    #[test]
    fn one_line_is_one_line() {
        assert_eq!(one_line("  echo a\nrm b\n", 40), "echo a…");
        assert_eq!(one_line("0123456789", 4), "0123…");
        assert_eq!(one_line("0123456789\n", 10), "0123456789");
        assert_eq!(one_line("", 10), "");
    }

    #[test]
    fn plain_ink_adds_nothing() {
        assert_eq!(Ink::Plain.red("x"), "x");
        assert_eq!(Ink::Colour.red("x"), "\u{1b}[31;1mx\u{1b}[0m");
    }
}
