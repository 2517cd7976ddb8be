//! Tables that fit: as they are, with wrapped cells, or one record a row.

use pulldown_cmark::Alignment;

use super::tree::Table;
use super::wrap::{Breaking, Indent, Piece, cells_of, safe, spans_width, wrap};
use crate::line::{Line, Span, Style};

const SEPARATOR: &str = " │ ";
/// A column is not made narrower than this, nor than its longest word up to [`LONG_WORD`]; without the room, rows become records.
const NARROWEST: usize = 6;
const LONG_WORD: usize = 14;

/// The rows of a table.
pub(super) fn lines(table: &Table, indent: &Indent, width: usize) -> Vec<Line> {
    let columns = table.head.len();
    if columns == 0 {
        return Vec::new();
    }
    let room = width.saturating_sub(indent.width());
    let separators = cells_of(SEPARATOR) * (columns - 1);
    let natural: Vec<usize> = (0..columns).map(|column| natural_width(table, column)).collect();
    let readable = |widths: &Vec<usize>| {
        widths.iter().enumerate().all(|(column, width)| *width >= longest_word(table, column).min(LONG_WORD))
    };
    match fitted(&natural, room.saturating_sub(separators)).filter(readable) {
        Some(widths) => grid(table, &widths, indent),
        None => records(table, indent, width),
    }
}

fn all_rows(table: &Table) -> impl Iterator<Item = &Vec<Vec<Piece>>> {
    std::iter::once(&table.head).chain(&table.rows)
}

fn natural_width(table: &Table, column: usize) -> usize {
    all_rows(table).filter_map(|row| row.get(column)).map(|cell| cell_width(cell)).max().unwrap_or(0).max(1)
}

fn longest_word(table: &Table, column: usize) -> usize {
    let words = |piece: &Piece| match piece {
        // Wide characters break anywhere and make no long words.
        Piece::Text(span) if span.text.is_ascii() => {
            span.text.split_whitespace().map(str::len).max().unwrap_or(0)
        }
        Piece::Text(_) | Piece::Break => 0,
    };
    all_rows(table).filter_map(|row| row.get(column)).flatten().map(words).max().unwrap_or(0)
}

fn cell_width(cell: &[Piece]) -> usize {
    let width = |piece: &Piece| match piece {
        Piece::Text(span) => cells_of(&safe(&span.text)),
        Piece::Break => 0,
    };
    cell.iter().map(width).sum()
}

/// Widths that fit into the room: the widest columns give first. None if a column would get too narrow.
fn fitted(natural: &[usize], room: usize) -> Option<Vec<usize>> {
    if natural.iter().sum::<usize>() <= room {
        return Some(natural.to_vec());
    }
    let mut sorted = natural.to_vec();
    sorted.sort_unstable();
    let mut left = room;
    let mut limit = 0;
    for (index, width) in sorted.iter().enumerate() {
        let share = left / (sorted.len() - index);
        limit = share;
        if *width > share {
            break;
        }
        left -= width;
    }
    (limit >= NARROWEST).then(|| natural.iter().map(|width| (*width).min(limit)).collect())
}

fn grid(table: &Table, widths: &[usize], indent: &Indent) -> Vec<Line> {
    let dim = Style { dim: true, ..Style::default() };
    let mut lines = Vec::new();
    for (index, row) in all_rows(table).enumerate() {
        let cells: Vec<Vec<Line>> = widths
            .iter()
            .enumerate()
            .map(|(column, width)| {
                let cell = row.get(column).map(Vec::as_slice).unwrap_or_default();
                let cell = if index == 0 { bold(cell) } else { cell.to_vec() };
                wrap(&cell, &Indent::default(), *width, Breaking::Words)
            })
            .collect();
        let height = cells.iter().map(Vec::len).max().unwrap_or(1);
        for level in 0..height {
            let mut spans = if lines.is_empty() { indent.first.clone() } else { indent.rest.clone() };
            for (column, (cell, width)) in cells.iter().zip(widths).enumerate() {
                if column > 0 {
                    spans.push(Span { text: SEPARATOR.to_owned(), style: dim.clone() });
                }
                let content = cell.get(level).map(|line| line.spans.clone()).unwrap_or_default();
                let alignment = table.alignments.get(column).copied().unwrap_or(Alignment::None);
                let last = column + 1 == widths.len();
                push_aligned(
                    &mut spans,
                    content,
                    *width,
                    alignment,
                    if last { Fill::None } else { Fill::Spaces },
                );
            }
            lines.push(Line { spans });
        }
        if index == 0 {
            let rule: Vec<String> = widths.iter().map(|width| "─".repeat(*width)).collect();
            let mut spans = indent.rest.clone();
            spans.push(Span { text: rule.join("─┼─"), style: dim.clone() });
            lines.push(Line { spans });
        }
    }
    lines
}

/// Whether a cell is filled up to its width.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Fill {
    Spaces,
    None,
}

fn push_aligned(spans: &mut Vec<Span>, content: Vec<Span>, width: usize, alignment: Alignment, fill: Fill) {
    let missing = width.saturating_sub(spans_width(&content));
    let before = match alignment {
        Alignment::None | Alignment::Left => 0,
        Alignment::Center => missing / 2,
        Alignment::Right => missing,
    };
    let space = |count: usize| Span { text: " ".repeat(count), style: Style::default() };
    if before > 0 {
        spans.push(space(before));
    }
    spans.extend(content);
    if missing > before && fill == Fill::Spaces {
        spans.push(space(missing - before));
    }
}

/// One line a cell, with the name of its column.
fn records(table: &Table, indent: &Indent, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    let mut indent = indent.clone();
    let plain = |text: &str| Span { text: text.to_owned(), style: Style::default() };
    for row in &table.rows {
        if !lines.is_empty() {
            lines.push(indent.blank());
        }
        for (name, cell) in table.head.iter().zip(row) {
            let mut pieces = bold(name);
            if !pieces.is_empty() {
                pieces.push(Piece::Text(plain(": ")));
            }
            pieces.extend(cell.iter().cloned());
            let hanging =
                Indent { first: indent.first.clone(), ..indent.then(plain(""), plain("  "), width) };
            lines.extend(wrap(&pieces, &hanging, width, Breaking::Words));
            indent = indent.continued();
        }
    }
    if table.rows.is_empty() {
        let names: Vec<Piece> =
            table.head.iter().flat_map(|name| [bold(name), vec![Piece::Break]].concat()).collect();
        lines.extend(wrap(
            names.get(..names.len().saturating_sub(1)).unwrap_or_default(),
            &indent,
            width,
            Breaking::Words,
        ));
    }
    lines
}

fn bold(pieces: &[Piece]) -> Vec<Piece> {
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(span) => Piece::Text(Span {
                text: span.text.clone(),
                style: Style { bold: true, ..span.style.clone() },
            }),
            Piece::Break => Piece::Break,
        })
        .collect()
}
