//! Overlays: a text to read or a list to choose from, on the whole screen.

use crate::line::{Color, Line, Style};
use crate::model::Model;
use crate::model::overlay::{Choice, Overlay, Pager, page};
use crate::picker::Picker;
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
        lines.push(Line::plain(format!("/{}", input.shown())));
        return (lines, Some((column, row)));
    }
    let seen = (pager.top + height).min(pager.lines.len());
    let words = match pager.remark.is_empty() {
        false => pager.remark.clone(),
        true => {
            let unfolds = if pager.other.is_empty() { "" } else { " · e unfolds" };
            let count = pager.lines.len();
            format!("{seen}/{count} · ↑↓ PgUp PgDn g G · / searches, n next{unfolds} · Esc closes")
        }
    };
    lines.push(Line::styled(words, Style::dimmed()));
    (lines, None)
}

fn list_lines(model: &Model, list: &Picker<Choice>) -> (Vec<Line>, Option<(u16, u16)>) {
    let height = model.size.rows.saturating_sub(1).max(1);
    let mut lines = list.render(model.size.columns, height);
    lines.resize(usize::from(height), Line::empty());
    lines.push(Line::styled("↑↓ choose · type to filter · Enter takes it · Esc closes", Style::dimmed()));
    (lines, Some(list.cursor(model.size.columns, height)))
}
