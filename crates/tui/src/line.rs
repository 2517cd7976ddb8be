//! Styled text in lines: what every part of the face hands to the renderer.
//!
//! Owns the types, their width in terminal cells, and cutting and wrapping by
//! it. Leaves colours on a certain terminal to `paint` and untrusted text to
//! `neutral`. A line has no line break in it; widths count cells, never bytes.

use std::sync::Arc;

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

/// A colour: of the terminal's palette, or an exact one.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
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

/// How a span looks.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Style {
    /// Of the text; the terminal's own if absent.
    pub color: Option<Color>,
    /// Behind the text; the terminal's own if absent.
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
    /// Where it leads to.
    pub link: Option<Arc<str>>,
}

/// Text with one style.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Span {
    /// Without control characters.
    pub text: String,
    /// How it looks.
    pub style: Style,
}

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Default)]
pub struct Line {
    /// From left to right.
    pub spans: Vec<Span>,
}

impl Color {
    /// What most terminals show for bright black.
    pub const GRAY: Self = Self::BrightBlack;
}

impl Style {
    /// With a colour.
    #[must_use]
    pub fn colored(color: Color) -> Self {
        Self { color: Some(color), ..Self::default() }
    }

    /// Fainter than the rest.
    #[must_use]
    pub fn dimmed() -> Self {
        Self { dim: true, ..Self::default() }
    }

    /// Heavier than the rest.
    #[must_use]
    pub fn heavy() -> Self {
        Self { bold: true, ..Self::default() }
    }

    /// The same, heavier.
    #[must_use]
    pub fn bold(mut self) -> Self {
        self.bold = true;
        self
    }

    /// The same, fainter.
    #[must_use]
    pub fn dim(mut self) -> Self {
        self.dim = true;
        self
    }
}

impl Span {
    /// Text with a style.
    pub fn new(text: impl Into<String>, style: Style) -> Self {
        Self { text: text.into(), style }
    }

    /// Text as the terminal shows it by itself.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::new(text, Style::default())
    }

    /// How many cells it takes.
    #[must_use]
    pub fn width(&self) -> usize {
        width(&self.text)
    }
}

impl Line {
    /// Nothing.
    #[must_use]
    pub fn empty() -> Self {
        Self::default()
    }

    /// One span with a style.
    pub fn styled(text: impl Into<String>, style: Style) -> Self {
        Self { spans: vec![Span::new(text, style)] }
    }

    /// One span as the terminal shows it by itself.
    pub fn plain(text: impl Into<String>) -> Self {
        Self::styled(text, Style::default())
    }

    /// With another span at its end.
    #[must_use]
    pub fn with(mut self, text: impl Into<String>, style: Style) -> Self {
        self.push(text, style);
        self
    }

    /// Adds a span at the end.
    pub fn push(&mut self, text: impl Into<String>, style: Style) {
        let text = text.into();
        if !text.is_empty() {
            self.spans.push(Span { text, style });
        }
    }

    /// How many cells it takes.
    #[must_use]
    pub fn width(&self) -> usize {
        self.spans.iter().map(Span::width).sum()
    }

    /// Its words without their style.
    #[must_use]
    pub fn text(&self) -> String {
        self.spans.iter().map(|span| span.text.as_str()).collect()
    }

    /// At most so many cells of it, with `ellipsis` where something was cut.
    #[must_use]
    pub fn truncated(self, cells: usize, ellipsis: &str) -> Self {
        if self.width() <= cells {
            return self;
        }
        let mut room = cells.saturating_sub(width(ellipsis));
        let mut cut = Self::default();
        for span in self.spans {
            let taken = prefix(&span.text, room);
            room -= width(taken);
            let whole = taken.len() == span.text.len();
            cut.push(taken, span.style.clone());
            if !whole {
                cut.push(prefix(ellipsis, cells), span.style);
                break;
            }
        }
        cut
    }

    /// In pieces of at most so many cells, broken between words where there are any;
    /// every piece but the first begins with `indent` spaces.
    #[must_use]
    pub fn wrapped(self, cells: usize, indent: usize) -> Vec<Self> {
        let cells = cells.max(1);
        if self.width() <= cells {
            return vec![self];
        }
        // An indent must leave room for words.
        let indent = if indent * 2 > cells || indent + 2 > cells { 0 } else { indent };
        let mut wrap = Wrap { cells, indent, done: Vec::new(), line: Self::default(), used: 0, floor: 0 };
        for span in &self.spans {
            for word in words(&span.text) {
                wrap.word(word, &span.style);
            }
        }
        wrap.done.push(wrap.line);
        wrap.done
    }
}

/// The pieces between which a line may be broken: what closes stays with what is before it, what opens with
/// what follows.
fn words(text: &str) -> impl Iterator<Item = &str> {
    let closes = |word: &str| matches!(word, "." | "," | ";" | ":" | "!" | "?" | ")" | "]" | "}" | "…");
    let opens = |word: &str| matches!(word, "(" | "[" | "{");
    let mut pieces = text.split_word_bound_indices().peekable();
    std::iter::from_fn(move || {
        let (start, first) = pieces.next()?;
        let (mut end, mut last) = (start + first.len(), first);
        let is_space = first.chars().all(char::is_whitespace);
        while let Some((at, next)) = pieces
            .next_if(|(_, next)| !is_space && (closes(next) || (opens(last) && !next.trim().is_empty())))
        {
            (end, last) = (at + next.len(), next);
        }
        text.get(start..end)
    })
}

struct Wrap {
    cells: usize,
    indent: usize,
    done: Vec<Line>,
    line: Line,
    used: usize,
    /// Cells of the current line that are indent.
    floor: usize,
}

impl Wrap {
    fn word(&mut self, word: &str, style: &Style) {
        let wide = width(word);
        if self.used + wide > self.cells {
            if word.chars().all(char::is_whitespace) {
                // A break swallows the space that it replaces.
                self.next();
                return;
            }
            if self.used > self.floor && wide <= self.cells - self.indent {
                self.next();
            }
            if wide > self.cells.saturating_sub(self.used) {
                self.pieces(word, style);
                return;
            }
        }
        self.put(word, wide, style);
    }

    fn pieces(&mut self, word: &str, style: &Style) {
        for cluster in word.graphemes(true) {
            let wide = width(cluster);
            if self.used + wide > self.cells && self.used > self.floor {
                self.next();
            }
            self.put(cluster, wide, style);
        }
    }

    fn put(&mut self, text: &str, wide: usize, style: &Style) {
        match self.line.spans.last_mut() {
            Some(last) if last.style == *style => last.text.push_str(text),
            _ => self.line.push(text, style.clone()),
        }
        self.used += wide;
    }

    fn next(&mut self) {
        self.done.push(std::mem::take(&mut self.line));
        self.line.push(" ".repeat(self.indent), Style::default());
        (self.used, self.floor) = (self.indent, self.indent);
    }
}

/// How many cells a text takes.
#[must_use]
pub fn width(text: &str) -> usize {
    if text.is_ascii() { text.len() } else { UnicodeWidthStr::width(text) }
}

/// The longest beginning of a text that takes at most so many cells.
#[must_use]
pub fn prefix(text: &str, cells: usize) -> &str {
    if width(text) <= cells {
        return text;
    }
    let mut used = 0;
    for (start, cluster) in text.grapheme_indices(true) {
        used += width(cluster);
        if used > cells {
            return text.get(..start).unwrap_or_default();
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn wide_characters_take_two_cells_and_are_never_halved() {
        let line = Line::plain("日本語 text");
        assert_eq!(line.width(), 11);
        assert_eq!(line.clone().truncated(6, "…").text(), "日本…");
        let wrapped: Vec<String> = line.wrapped(5, 0).iter().map(Line::text).collect();
        assert_eq!(wrapped, ["日本", "語 ", "text"]);
    }

    #[test]
    fn lines_break_between_words_and_keep_their_style() {
        let line = Line::plain("one two ").with("three four", Style::heavy());
        let wrapped = line.wrapped(9, 2);
        assert_eq!(wrapped.iter().map(Line::text).collect::<Vec<_>>(), ["one two ", "  three ", "  four"]);
        assert!(wrapped[1].spans.iter().any(|span| span.style.bold && span.text == "three "));
    }

    #[test]
    fn punctuation_stays_with_its_word() {
        let wrapped = |text: &str| {
            let lines = Line::plain(text).wrapped(12, 0);
            lines.iter().map(|line| line.text().trim_end().to_owned()).collect::<Vec<_>>()
        };
        assert_eq!(wrapped("a model name. next"), ["a model", "name. next"]);
        assert_eq!(wrapped("it changes (makes files)"), ["it changes", "(makes", "files)"]);
        assert_eq!(wrapped("日本語日本語日本"), ["日本語日本語", "日本"]);
    }

    proptest! {
        #[test]
        fn no_piece_is_wider_than_asked(text in "[a-z 日é👩‍👩‍👧]{0,60}", cells in 2usize..20, indent in 0usize..6) {
            let text = text.replace(['\n', '\t'], " ");
            for piece in Line::plain(text.clone()).wrapped(cells, indent) {
                prop_assert!(piece.width() <= cells, "{piece:?}");
            }
            prop_assert!(Line::plain(text).truncated(cells, "…").width() <= cells);
        }
    }
}
