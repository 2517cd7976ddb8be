//! Rows of a list: marked letters, cut to a width, two columns side by side.

use unicode_segmentation::UnicodeSegmentation;
use unicode_width::UnicodeWidthStr;

use crate::line::{Color, Line, Span, Style};

pub(super) fn dim() -> Style {
    Style { dim: true, ..Style::default() }
}

/// Columns that a text takes when drawn cluster by cluster.
pub(super) fn width_of(text: &str) -> usize {
    text.graphemes(true).map(UnicodeWidthStr::width).sum()
}

/// A text with the characters at some byte offsets marked.
pub(super) fn with_marks(text: &str, positions: &[usize], base: &Style) -> Vec<Span> {
    let marked = Style { color: Some(Color::Green), underline: true, dim: false, ..base.clone() };
    let mut spans: Vec<Span> = Vec::new();
    for (at, cluster) in text.grapheme_indices(true) {
        let hit = positions.iter().any(|position| (at..at + cluster.len()).contains(position));
        let style = if hit { &marked } else { base };
        match spans.last_mut() {
            Some(span) if span.style == *style => span.text.push_str(cluster),
            _ => spans.push(Span { text: cluster.to_owned(), style: style.clone() }),
        }
    }
    spans
}

/// A row that is cut, with a sign of it, where it is too wide.
pub(super) fn fitted(spans: impl IntoIterator<Item = Span>, width: u16) -> Line {
    let width = usize::from(width);
    let spans: Vec<Span> = spans.into_iter().map(visible).filter(|span| !span.text.is_empty()).collect();
    let total: usize = spans.iter().map(|span| width_of(&span.text)).sum();
    if total <= width {
        return Line { spans };
    }
    let mut left = width.saturating_sub(1);
    let mut cut = Vec::new();
    for span in spans {
        let mut text = String::new();
        let mut full = false;
        for cluster in span.text.graphemes(true) {
            let Some(rest) = left.checked_sub(cluster.width()) else {
                full = true;
                break;
            };
            left = rest;
            text.push_str(cluster);
        }
        if full {
            if width > 0 {
                text.push('…');
            }
            cut.push(Span { text, style: span.style });
            break;
        }
        cut.push(Span { text, style: span.style });
    }
    cut.retain(|span| !span.text.is_empty());
    Line { spans: cut }
}

/// Titles come from sessions, files and models: nothing in them may reach the terminal as a command.
fn visible(span: Span) -> Span {
    let bad = |c: char| c.is_control() || matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}');
    match span.text.contains(bad) {
        true => Span { text: span.text.chars().map(|c| if bad(c) { ' ' } else { c }).collect(), ..span },
        false => span,
    }
}

/// Puts a preview to the right of a list.
pub(super) fn beside(list: &mut Vec<Line>, preview: Vec<Line>, width: u16, preview_width: u16, rows: usize) {
    let height = list.len().max(preview.len().min(rows));
    list.resize(height, Line::default());
    let mut preview = preview.into_iter();
    for line in list {
        let used: usize = line.spans.iter().map(|span| width_of(&span.text)).sum();
        let space = " ".repeat(usize::from(width).saturating_sub(used));
        line.spans.push(Span { text: space, style: Style::default() });
        line.spans.push(Span { text: " │ ".to_owned(), style: dim() });
        line.spans.extend(fitted(preview.next().unwrap_or_default().spans, preview_width).spans);
    }
}
