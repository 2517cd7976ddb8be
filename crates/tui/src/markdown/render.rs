//! How every kind of block looks.

use super::tree::Node;
use super::wrap::{Breaking, Indent, Piece, wrap};
use super::{code_line, table};
use crate::highlight::Highlighter;
use crate::line::{Line, Span, Style};

const RULE_WIDTH: usize = 40;

/// Whether blocks have a blank row between them.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Spacing {
    Tight,
    Loose,
}

/// The rows of some blocks; `ordinal` is the number of the first item if they are a list.
pub(super) fn blocks(nodes: &[Node], ordinal: Option<u64>, width: usize) -> Vec<Line> {
    let mut lines = Vec::new();
    for (index, node) in nodes.iter().enumerate() {
        if index > 0 {
            lines.push(Line::default());
        }
        match (node, ordinal) {
            (Node::List { start: Some(_), items }, Some(_)) if index == 0 => {
                list(items, ordinal, &Indent::default(), width, &mut lines);
            }
            _ => block(node, &Indent::default(), width, &mut lines),
        }
    }
    lines
}

fn children(nodes: &[Node], indent: &Indent, width: usize, spacing: Spacing, lines: &mut Vec<Line>) {
    for (index, node) in nodes.iter().enumerate() {
        if index == 0 {
            block(node, indent, width, lines);
            continue;
        }
        if spacing == Spacing::Loose {
            lines.push(indent.blank());
        }
        block(node, &indent.continued(), width, lines);
    }
    if nodes.is_empty() {
        lines.push(Line { spans: indent.first.clone() });
    }
}

fn block(node: &Node, indent: &Indent, width: usize, lines: &mut Vec<Line>) {
    match node {
        Node::Paragraph(pieces) => lines.extend(wrap(pieces, indent, width, Breaking::Words)),
        Node::Heading(level, pieces) => {
            let pieces = heading(pieces, *level);
            lines.extend(wrap(&pieces, indent, width, Breaking::Words));
        }
        Node::Code { language, text } => {
            let mut highlighter = Highlighter::new(language);
            let mut indent = indent.clone();
            for line in text.lines() {
                lines.extend(code_line(&highlighter.line(line), &indent, width));
                indent = indent.continued();
            }
        }
        Node::Quote(nodes) => {
            let bar = Span { text: "│ ".to_owned(), style: Style { dim: true, ..Style::default() } };
            children(nodes, &indent.then(bar.clone(), bar, width), width, Spacing::Loose, lines);
        }
        Node::List { start, items } => list(items, *start, indent, width, lines),
        Node::Table(grid) => lines.extend(table::lines(grid, indent, width)),
        Node::Rule => {
            let length = width.saturating_sub(indent.width()).clamp(1, RULE_WIDTH);
            let style = Style { dim: true, ..Style::default() };
            let mut spans = indent.first.clone();
            spans.push(Span { text: "─".repeat(length), style });
            lines.push(Line { spans });
        }
        Node::Note(label, nodes) => {
            let mark = Span { text: format!("[^{}]: ", super::wrap::safe(label)), style: Style::default() };
            let space = Span { text: "  ".to_owned(), style: Style::default() };
            children(nodes, &indent.then(mark, space, width), width, Spacing::Loose, lines);
        }
    }
}

fn list(items: &[Vec<Node>], start: Option<u64>, indent: &Indent, width: usize, lines: &mut Vec<Line>) {
    let mut indent = indent.clone();
    let loose =
        items.iter().any(|nodes| nodes.iter().filter(|node| matches!(node, Node::Paragraph(_))).count() > 1);
    for (index, nodes) in items.iter().enumerate() {
        let marker = match start {
            Some(start) => format!("{}. ", start.saturating_add(index as u64)),
            None => "• ".to_owned(),
        };
        let space = " ".repeat(marker.chars().count());
        let plain = |text| Span { text, style: Style::default() };
        let inner = indent.then(plain(marker), plain(space), width);
        children(nodes, &inner, width, if loose { Spacing::Loose } else { Spacing::Tight }, lines);
        indent = indent.continued();
    }
}

fn heading(pieces: &[Piece], level: u8) -> Vec<Piece> {
    let styled = |style: &Style| match level {
        1 => Style { bold: true, underline: true, ..style.clone() },
        2 | 3 => Style { bold: true, ..style.clone() },
        _ => Style { bold: true, italic: true, ..style.clone() },
    };
    pieces
        .iter()
        .map(|piece| match piece {
            Piece::Text(span) => Piece::Text(Span { text: span.text.clone(), style: styled(&span.style) }),
            Piece::Break => Piece::Break,
        })
        .collect()
}
