//! What the guided choice looks like. Pure. Of a key only its length is seen.

use super::state::{Stage, Way, Welcome};
use crate::line::{Color, Line, Style};
use crate::neutral::neutral_line;
use crate::screen::Size;

/// Marks that stand for a key; more would only say how long it is.
const MARKS: usize = 24;

/// Every line, and where the cursor is.
#[must_use]
pub fn lines(welcome: &Welcome, size: Size) -> (Vec<Line>, Option<(u16, u16)>) {
    let columns = usize::from(size.columns);
    let mut lines = vec![
        Line::styled("rein", Style::colored(Color::Cyan).bold())
            .with(format!(" {}", env!("CARGO_PKG_VERSION")), Style::dimmed()),
    ];
    let mut cursor = None;
    match &welcome.stage {
        Stage::Ways(at) => {
            let words = match welcome.servers.is_empty() {
                true => "No model can be used yet: no key is set, and no server runs on this machine.",
                false => "A server runs on this machine.",
            };
            lines.extend(Line::plain(words).wrapped(columns, 0));
            lines.push(Line::empty());
            lines.push(Line::styled("How do you want to begin?", Style::heavy()));
            lines.extend(welcome.ways().iter().enumerate().map(|(place, way)| row(way, place, *at)));
            lines.push(Line::styled("↑↓ choose · Enter takes it · Esc leaves", Style::dimmed()));
        }
        Stage::Providers(list) => {
            let height = size.rows.saturating_sub(3).clamp(3, 14);
            let above = u16::try_from(lines.len()).unwrap_or(0);
            lines.extend(list.render(size.columns, height));
            let (column, row) = list.cursor(size.columns, height);
            cursor = Some((column, row + above));
            lines.push(Line::styled("type to filter · Enter takes it · Esc goes back", Style::dimmed()));
        }
        Stage::Key { provider, secret } => {
            let title = neutral_line(&provider.title);
            lines.push(Line::styled(format!("Paste the key for {title}"), Style::heavy()));
            if let Some(page) = &provider.page {
                lines.extend(link(page).wrapped(columns, 2));
            }
            let count = secret.chars().count();
            let marks = "•".repeat(count.min(MARKS));
            let told = if count == 0 { String::new() } else { format!("  {count} characters") };
            let head = "key: ";
            let column = head.len() + count.min(MARKS);
            cursor = Some((u16::try_from(column).unwrap_or(0), u16::try_from(lines.len()).unwrap_or(0)));
            lines.push(
                Line::styled(head, Style::colored(Color::Cyan).bold())
                    .with(marks, Style::default())
                    .with(told, Style::dimmed()),
            );
            let keys = "it is not shown · Enter stores it for you alone · Ctrl-U clears · Esc goes back";
            lines.extend(Line::styled(keys, Style::dimmed()).wrapped(columns, 0));
        }
    }
    if !welcome.remark.is_empty() {
        let line = Line::styled(neutral_line(&welcome.remark), Style::colored(Color::Yellow));
        lines.extend(line.wrapped(columns, 2));
    }
    let lines = lines.into_iter().map(|line| line.truncated(columns, "…")).collect();
    (lines, cursor)
}

fn link(page: &str) -> Line {
    let style = Style { underline: true, dim: true, link: Some(page.into()), ..Style::default() };
    Line::styled("get one at ", Style::dimmed()).with(neutral_line(page), style)
}

fn row(way: &Way, place: usize, at: usize) -> Line {
    let (words, about) = match way {
        Way::Server(model) => (format!("use {}", neutral_line(&model.to_string())), "on this machine"),
        Way::Key => ("paste a key of a provider".to_owned(), "kept in your keyring, or in a file of yours"),
        Way::Look => {
            ("look for a server on this machine".to_owned(), "Ollama, LM Studio, llama.cpp and others")
        }
        Way::Demo => ("see the demo".to_owned(), "a recorded session; needs no model"),
        Way::Leave => ("leave".to_owned(), ""),
    };
    let here = place == at;
    let style = if here { Style::colored(Color::Cyan).bold() } else { Style::default() };
    let mark = if here { "▸" } else { " " };
    Line::styled(format!("{mark} {}. {words}", place + 1), style).with(format!("  {about}"), Style::dimmed())
}
