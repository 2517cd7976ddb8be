//! From styled pieces to rows of a width.
//!
//! Breaks at spaces and between wide characters, inside a word only if it is longer than a row. Everything that
//! is shown passes [`safe`] here. Invariant: no row is wider than asked, no grapheme is split.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::line::{Line, Span, Style};

/// What a run of text consists of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Piece {
    Text(Span),
    Break,
}

/// Where rows may break.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Breaking {
    /// At words; white space at a break is dropped.
    Words,
    /// Anywhere; every character is kept.
    Anywhere,
}

/// What stands before the first row and before the others.
#[derive(Debug, Clone, Default)]
pub(super) struct Indent {
    pub(super) first: Vec<Span>,
    pub(super) rest: Vec<Span>,
}

/// A row keeps at least this much room for text, whatever it is indented by.
const ROOM: usize = 8;

impl Indent {
    /// This indent with another one inside it; unchanged if there would be no room left.
    pub(super) fn then(&self, first: Span, rest: Span, width: usize) -> Self {
        if spans_width(&self.rest) + rest.text.width() + ROOM > width {
            return Self { first: self.first.clone(), rest: self.rest.clone() };
        }
        let join = |spans: &[Span], span: Span| spans.iter().cloned().chain([span]).collect();
        Self { first: join(&self.first, first), rest: join(&self.rest, rest) }
    }

    /// The same for what comes after the first row.
    pub(super) fn continued(&self) -> Self {
        Self { first: self.rest.clone(), rest: self.rest.clone() }
    }

    pub(super) fn width(&self) -> usize {
        spans_width(&self.rest).max(spans_width(&self.first))
    }

    /// A row with nothing but the indent.
    pub(super) fn blank(&self) -> Line {
        let mut spans = self.rest.clone();
        if let Some(last) = spans.last_mut() {
            last.text.truncate(last.text.trim_end().len());
        }
        spans.retain(|span| !span.text.is_empty());
        Line { spans }
    }
}

pub(super) fn spans_width(spans: &[Span]) -> usize {
    spans.iter().map(|span| cells_of(&span.text)).sum()
}

/// Columns that a text takes when drawn cluster by cluster.
pub(super) fn cells_of(text: &str) -> usize {
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

struct Cell<'a> {
    text: &'a str,
    width: usize,
    style: &'a Style,
}

impl Cell<'_> {
    fn is_space(&self) -> bool {
        self.text == " "
    }
}

/// The rows of some pieces.
pub(super) fn wrap(pieces: &[Piece], indent: &Indent, width: usize, breaking: Breaking) -> Vec<Line> {
    let mut lines = Vec::new();
    let room = width.saturating_sub(indent.width()).max(1);
    for paragraph in pieces.split(|piece| *piece == Piece::Break) {
        let clean: Vec<(String, &Style)> = paragraph
            .iter()
            .filter_map(|piece| match piece {
                Piece::Text(span) => Some((safe(&span.text), &span.style)),
                Piece::Break => None,
            })
            .collect();
        let cells: Vec<Cell<'_>> = clean
            .iter()
            .flat_map(|(text, style)| text.graphemes(true).map(move |text| (text, *style)))
            .map(|(text, style)| match text.width() {
                wide if wide > room => Cell { text: "?", width: 1, style },
                width => Cell { text, width, style },
            })
            .collect();
        for row in rows(&cells, room, breaking) {
            let prefix = if lines.is_empty() { &indent.first } else { &indent.rest };
            lines.push(joined(prefix, row));
        }
    }
    lines
}

fn rows<'c, 'a>(cells: &'c [Cell<'a>], room: usize, breaking: Breaking) -> Vec<&'c [Cell<'a>]> {
    let mut rows = Vec::new();
    let mut start = 0;
    let mut used = 0;
    let mut chance = None;
    for (index, cell) in cells.iter().enumerate() {
        if breaking == Breaking::Words && index > start && may_break(cells, index) {
            chance = Some(index);
        }
        let hangs = breaking == Breaking::Words && cell.is_space();
        while used + cell.width > room && index > start && !hangs {
            let cut = chance.filter(|chance| *chance > start).unwrap_or(index);
            rows.push(trimmed(cells.get(start..cut).unwrap_or_default(), breaking));
            start = cut;
            chance = None;
            used = cells.get(start..index).unwrap_or_default().iter().map(|cell| cell.width).sum();
        }
        used += cell.width;
    }
    rows.push(trimmed(cells.get(start..).unwrap_or_default(), breaking));
    rows
}

/// Whether a row may begin with the cell at `index`.
fn may_break(cells: &[Cell<'_>], index: usize) -> bool {
    let (Some(before), Some(cell)) = (index.checked_sub(1).and_then(|at| cells.get(at)), cells.get(index))
    else {
        return false;
    };
    let closes = cell.text.starts_with(['。', '、', '，', '．', '！', '？', '」', '』', '）', '：', '；']);
    let opens = before.text.starts_with(['「', '『', '（']);
    let wide = (before.width == 2 || cell.width == 2) && !closes && !opens;
    !cell.is_space() && (before.is_space() || (wide && !before.text.starts_with(['"', '(', '\''])))
}

fn trimmed<'c, 'a>(row: &'c [Cell<'a>], breaking: Breaking) -> &'c [Cell<'a>] {
    match breaking {
        Breaking::Anywhere => row,
        Breaking::Words => {
            let end = row.iter().rposition(|cell| !cell.is_space()).map_or(0, |last| last + 1);
            row.get(..end).unwrap_or_default()
        }
    }
}

fn joined(prefix: &[Span], row: &[Cell<'_>]) -> Line {
    let mut spans: Vec<Span> = prefix.to_vec();
    if row.is_empty() {
        return Indent { rest: spans, ..Indent::default() }.blank();
    }
    let begin = spans.len();
    for cell in row {
        match spans.get_mut(begin..).and_then(<[Span]>::last_mut) {
            Some(span) if span.style == *cell.style => span.text.push_str(cell.text),
            _ => spans.push(Span { text: cell.text.to_owned(), style: cell.style.clone() }),
        }
    }
    Line { spans }
}

/// Text that a terminal takes for nothing but text: control characters shown as pictures, direction overrides gone.
pub(super) fn safe(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\t' => out.push_str("    "),
            '\n' | '\r' => out.push(' '),
            '\u{7f}' => out.push('␡'),
            c if (c as u32) < 0x20 => out.extend(char::from_u32(0x2400 + c as u32)),
            c if c.is_control() => out.push(char::REPLACEMENT_CHARACTER),
            '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => {}
            c => out.push(c),
        }
    }
    out
}
