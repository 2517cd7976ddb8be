//! Overlays: a text to read or a list to choose from, on the whole screen.

use crate::line::{Color, Line, Style};
use crate::model::Model;
use crate::model::overlay::{List, Overlay, Pager, page};
use crate::screen::Frame;

/// The whole screen.
pub(super) fn frame(model: &Model, overlay: &Overlay) -> Frame {
    let columns = usize::from(model.size.columns);
    let (mut lines, cursor) = match overlay {
        Overlay::Pager(pager) => pager_lines(model, pager),
        Overlay::List(list) => list_lines(model, list),
    };
    if !model.dialogs.is_empty()
        && let Some(last) = lines.last_mut()
    {
        *last = Line::styled("rein waits for your answer: Esc", Style::colored(Color::Yellow).bold());
    }
    let lines = lines.into_iter().map(|line| line.truncated(columns, "…")).collect();
    Frame { live: Vec::new(), cursor, overlay: Some(lines) }
}

fn title(text: &str) -> Line {
    Line::styled(text, Style::colored(Color::Cyan).bold())
}

fn pager_lines(model: &Model, pager: &Pager) -> (Vec<Line>, Option<(u16, u16)>) {
    let height = page(model.size.rows);
    let mut lines = vec![title(&pager.title)];
    lines.extend(pager.lines.iter().skip(pager.top).take(height).cloned());
    lines.resize(height + 1, Line::empty());
    let row = u16::try_from(lines.len()).unwrap_or(0);
    if let Some(input) = &pager.search {
        let column = u16::try_from(input.column() + 1).unwrap_or(0);
        lines.push(Line::plain(format!("/{}", input.text())));
        return (lines, Some((column, row)));
    }
    let seen = (pager.top + height).min(pager.lines.len());
    let words = match pager.remark.is_empty() {
        false => pager.remark.clone(),
        true => format!("{seen}/{} · ↑↓ PgUp PgDn g G · / searches, n next · Esc closes", pager.lines.len()),
    };
    lines.push(Line::styled(words, Style::dimmed()));
    (lines, None)
}

fn list_lines(model: &Model, list: &List) -> (Vec<Line>, Option<(u16, u16)>) {
    let height = page(model.size.rows).saturating_sub(1).max(1);
    let fitting = list.fitting();
    let head = format!("{}: ", list.title);
    let column = crate::line::width(&head) + list.filter.column();
    let mut lines = vec![title(&head).with(list.filter.text(), Style::default())];
    let top = (list.at + 1).saturating_sub(height);
    for (index, row) in fitting.iter().enumerate().skip(top).take(height) {
        let here = index == list.at;
        let style = if here { Style::colored(Color::Cyan).bold() } else { Style::default() };
        lines.push(
            Line::styled(format!("{} {}", if here { "▸" } else { " " }, row.label), style)
                .truncated(usize::from(model.size.columns).saturating_sub(row.detail.len() + 2).max(12), "…")
                .with(format!("  {}", row.detail), Style::dimmed()),
        );
    }
    if fitting.is_empty() {
        lines.push(Line::styled("  nothing fits", Style::dimmed()));
    }
    lines.resize(height + 2, Line::empty());
    lines.push(Line::styled("↑↓ choose · type to filter · Enter takes it · Esc closes", Style::dimmed()));
    (lines, Some((u16::try_from(column).unwrap_or(0), 0)))
}
