//! Overlays: a text to read or a list to choose from, on the whole screen.

use crate::line::{Color, Line, Span, Style};
use crate::model::Model;
use crate::model::overlay::{Asking, Choice, Extra, List, Overlay};
use crate::model::pager::{Pager, page};
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
    let shown = pager.lines.iter().skip(pager.top).take(height);
    lines.extend(shown.map(|line| marked(line, &pager.sought)));
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
            let place = format!("{seen}/{}", pager.lines.len());
            let whole = format!("{place} · ↑↓ PgUp PgDn g G · / searches{unfolds} · Esc closes");
            // The way out matters most.
            match crate::line::width(&whole) <= usize::from(model.size.columns) {
                true => whole,
                false => format!("{place} · Esc closes"),
            }
        }
    };
    lines.push(Line::styled(words, Style::dimmed()));
    (lines, None)
}

/// A line with what is sought made visible. Only ASCII letters are sought in either case, so that places stay places.
fn marked(line: &Line, sought: &str) -> Line {
    if sought.is_empty() || !line.text().to_lowercase().contains(sought) {
        return line.clone();
    }
    let mut spans = Vec::new();
    for span in &line.spans {
        let mut rest = span.text.as_str();
        while let Some(at) = rest.to_ascii_lowercase().find(sought) {
            let (before, from) = rest.split_at_checked(at).unwrap_or((rest, ""));
            let (hit, after) = from.split_at_checked(sought.len()).unwrap_or((from, ""));
            spans.push(Span::new(before, span.style.clone()));
            let style = Style { underline: true, bold: true, dim: false, ..span.style.clone() };
            spans.push(Span::new(hit, Style { color: Some(Color::Yellow), ..style }));
            rest = after;
        }
        spans.push(Span::new(rest, span.style.clone()));
    }
    spans.retain(|span| !span.text.is_empty());
    Line { spans }
}

fn list_lines(model: &Model, list: &List) -> (Vec<Line>, Option<(u16, u16)>) {
    let height = model.size.rows.saturating_sub(1).max(1);
    let mut lines = list.picker.render(model.size.columns, height);
    lines.resize(usize::from(height), Line::empty());
    let row = height;
    match &list.asking {
        Some(Asking::Line(extra, input)) => {
            let label = label(*extra, list);
            let column = crate::line::width(&label) + input.column();
            lines.push(Line::styled(label, Style::heavy()).with(input.shown(), Style::default()));
            (lines, Some((u16::try_from(column).unwrap_or(u16::MAX), row)))
        }
        Some(Asking::Sure(extra)) => {
            let words = format!("{}? y yes · any other key no", label(*extra, list).trim_end_matches(": "));
            lines.push(Line::styled(words, Style::colored(Color::Yellow).bold()));
            (lines, None)
        }
        None => {
            lines.push(Line::styled(foot(list), Style::dimmed()));
            (lines, Some(list.picker.cursor(model.size.columns, height)))
        }
    }
}

fn label(extra: Extra, list: &List) -> String {
    let choice = list.picker.selected_item().map(|item| &item.value);
    match (extra, choice) {
        (Extra::Rename, _) => "name: ".to_owned(),
        (Extra::Edit, Some(Choice::Setting(setting))) => format!("{} = ", setting.key),
        (Extra::Remove, Some(Choice::Grant(_))) => "take it back: ".to_owned(),
        (Extra::Remove, Some(Choice::Setting(setting))) => format!("take {} out of your file: ", setting.key),
        (Extra::Remove, _) => "remove it: ".to_owned(),
        (Extra::Edit | Extra::Fork, _) => "value: ".to_owned(),
    }
}

/// The keys, the most important first: a narrow terminal cuts the rest.
fn foot(list: &List) -> String {
    let mut words = format!("Enter {} · Esc closes", list.enter);
    for extra in list.extras {
        let (letter, verb) = extra.key();
        words.push_str(&format!(" · Ctrl-{} {verb}", letter.to_ascii_uppercase()));
    }
    words.push_str(" · type to filter");
    words
}
