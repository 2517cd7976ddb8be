//! From the buffer to rows of cells.
//!
//! Wraps at words where it can, never splits a wide character, and finds rows and columns for byte positions and back.
//! Invariant: every row is at most as wide as asked, and the cursor's column is inside it.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use super::chips::Chips;
use crate::line::{Color, Line, Span, Style};

const TAB: &str = "    ";

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Look {
    Plain,
    Chip,
}

#[derive(Debug, Clone)]
struct Cell {
    at: usize,
    text: String,
    width: usize,
    look: Look,
    space: bool,
}

/// One row of the screen.
#[derive(Debug, Clone)]
struct Row {
    start: usize,
    end: usize,
    cells: Vec<Cell>,
    /// Goes on in the next row.
    wrapped: bool,
}

/// The text in rows of a width, and where the cursor is in them.
#[derive(Debug, Clone)]
pub(super) struct Layout {
    rows: Vec<Row>,
    pub(super) row: usize,
    pub(super) column: usize,
}

impl Layout {
    pub(super) fn new(text: &str, cursor: usize, chips: &Chips, width: usize) -> Self {
        let width = width.max(1);
        let mut rows = Vec::new();
        let mut start = 0;
        for line in text.split('\n') {
            wrap(cells(line, start, chips, width), start, line.len(), width, &mut rows);
            let end = start + line.len();
            let full = rows.last().is_some_and(|row| row.width() >= width);
            if cursor == end && full {
                if let Some(row) = rows.last_mut() {
                    row.wrapped = true;
                }
                rows.push(Row { start: end, end, cells: Vec::new(), wrapped: false });
            }
            start = end + 1;
        }
        let mut layout = Self { rows, row: 0, column: 0 };
        (layout.row, layout.column) = layout.place(cursor);
        layout
    }

    fn place(&self, cursor: usize) -> (usize, usize) {
        let holds = |row: &Row| cursor < row.end || (cursor == row.end && !row.wrapped);
        let index = self.rows.iter().position(holds).unwrap_or(self.rows.len().saturating_sub(1));
        let column = self.rows.get(index).map_or(0, |row| {
            row.cells.iter().take_while(|cell| cell.at < cursor).map(|cell| cell.width).sum()
        });
        (index, column)
    }

    pub(super) fn height(&self) -> usize {
        self.rows.len()
    }

    /// The byte position at or before a column of a row.
    pub(super) fn position(&self, row: usize, column: usize) -> Option<usize> {
        let row = self.rows.get(row)?;
        let mut reached = 0;
        for cell in &row.cells {
            if reached + cell.width > column {
                return Some(cell.at);
            }
            reached += cell.width;
        }
        let last = row.cells.last().map_or(row.start, |cell| cell.at);
        Some(if row.wrapped { last } else { row.end })
    }

    /// Some of the rows as lines.
    pub(super) fn lines(&self, top: usize, height: usize) -> Vec<Line> {
        self.rows.iter().skip(top).take(height).map(Row::line).collect()
    }
}

impl Row {
    fn width(&self) -> usize {
        self.cells.iter().map(|cell| cell.width).sum()
    }

    fn line(&self) -> Line {
        let mut spans: Vec<Span> = Vec::new();
        let mut look = None;
        for cell in &self.cells {
            match spans.last_mut() {
                Some(span) if look == Some(cell.look) => span.text.push_str(&cell.text),
                _ => {
                    let color = (cell.look == Look::Chip).then_some(Color::Cyan);
                    spans.push(Span { text: cell.text.clone(), style: Style { color, ..Style::default() } });
                }
            }
            look = Some(cell.look);
        }
        Line { spans }
    }
}

fn cells(line: &str, start: usize, chips: &Chips, width: usize) -> Vec<Cell> {
    let mut cells = Vec::new();
    for (offset, cluster) in line.grapheme_indices(true) {
        let at = start + offset;
        let mut push = |text: &str, look| {
            let natural = text.width();
            let (text, natural) = if natural > width { ("?", 1) } else { (text, natural) };
            let space = look == Look::Plain && text.chars().all(char::is_whitespace);
            cells.push(Cell { at, text: text.to_owned(), width: natural, look, space });
        };
        let chip = cluster.chars().next().and_then(|c| Some((chips.label(c)?, cluster.get(c.len_utf8()..)?)));
        match chip {
            Some((label, rest)) => {
                label.graphemes(true).for_each(|cluster| push(cluster, Look::Chip));
                if !rest.is_empty() {
                    push(rest, Look::Chip);
                }
            }
            None if cluster == "\t" => TAB.graphemes(true).for_each(|space| push(space, Look::Plain)),
            None => push(cluster, Look::Plain),
        }
    }
    cells
}

fn wrap(cells: Vec<Cell>, start: usize, length: usize, width: usize, rows: &mut Vec<Row>) {
    let mut row = Row { start, end: start + length, cells: Vec::new(), wrapped: false };
    let mut used = 0;
    for cell in cells {
        // Twice at most: what is left of a row after its last space may still be too wide for a wide character.
        while used + cell.width > width && !row.cells.is_empty() {
            let after_space = row.cells.iter().rposition(|cell| cell.space).map(|index| index + 1);
            // The whole row without a space, or white space up to its end: cut where it is full.
            let cut = after_space.filter(|_| !cell.space).unwrap_or(row.cells.len());
            let rest = row.cells.split_off(cut);
            let begin = rest.first().map_or(cell.at, |cell| cell.at);
            rows.push(Row { end: begin, wrapped: true, ..row });
            used = rest.iter().map(|cell| cell.width).sum();
            row = Row { start: begin, end: start + length, cells: rest, wrapped: false };
        }
        used += cell.width;
        row.cells.push(cell);
    }
    rows.push(row);
}
