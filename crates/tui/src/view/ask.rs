//! An ask on the screen: what will happen with the risky part marked, why it
//! asks, and the keys.

use rein_protocol::{Ask, AskItem, Block, Question, Scope, Selection};

use super::{diff, one_line};
use crate::line::{Color, Line, Span, Style};
use crate::markdown;
use crate::model::Model;
use crate::model::dialog::{Dialog, SCOPES, Stage};
use crate::model::input::Input;
use crate::neutral::{Sequences, neutral};

/// Reasons that are shown at once.
const REASONS: usize = 4;

type Shown = (Vec<Line>, Option<(u16, u16)>);

/// What an ask is made of, from top to bottom.
struct Parts {
    head: Vec<Line>,
    body: Vec<Line>,
    /// Lines that the body may take.
    body_room: usize,
    foot: Vec<Line>,
    cursor: Option<(u16, u16)>,
}

fn parts(model: &Model, dialog: &Dialog, room: usize) -> Parts {
    let columns = usize::from(model.size.columns);
    let (foot, cursor) = foot(dialog, columns);
    let mut head = vec![title(model, dialog, columns)];
    let most = if room > 6 { REASONS } else { 1 };
    let most = most.min(room.saturating_sub(1).max(2).saturating_sub(1 + foot.len()));
    let body = match &dialog.ask.question {
        // A question is its own reason.
        Some(_) => explanation(&dialog.ask, columns.saturating_sub(2)),
        None => {
            let mut why = reasons(&dialog.ask, columns);
            let mut body = body(&dialog.ask, columns.saturating_sub(2));
            // What does not fit is seen with the rest of it.
            let later = why.split_off(most.min(why.len()));
            head.extend(why);
            body.extend(later);
            body
        }
    };
    let body_room = room.saturating_sub(head.len() + foot.len());
    Parts { head, body, body_room, foot, cursor }
}

/// The ask in at most `room` lines, and where the cursor is.
pub(super) fn lines(model: &Model, dialog: &Dialog, room: usize) -> Shown {
    let Parts { head, body, body_room, mut foot, cursor } = parts(model, dialog, room);
    let mut lines = head;
    lines.extend(window(body, dialog.scroll, body_room));
    let offset = u16::try_from(lines.len()).unwrap_or(0);
    lines.append(&mut foot);
    let skip = lines.len().saturating_sub(room);
    let cursor =
        cursor.map(|(column, row)| (column, (row + offset).saturating_sub(u16::try_from(skip).unwrap_or(0))));
    (lines.split_off(skip.min(lines.len())), cursor)
}

/// How many lines can be scrolled away before the last one is seen.
pub(super) fn scroll_limit(model: &Model, dialog: &Dialog, room: usize) -> usize {
    let Parts { body, body_room, .. } = parts(model, dialog, room);
    match body.len() <= body_room {
        true => 0,
        false => body.len().saturating_sub(body_room.saturating_sub(1)),
    }
}

fn title(model: &Model, dialog: &Dialog, columns: usize) -> Line {
    let style = Style::colored(Color::Yellow).bold();
    let words = if dialog.ask.question.is_some() { "rein has a question" } else { "may this run?" };
    let mut line = Line::styled(format!("? {words}"), style);
    if model.dialogs.len() > 1 {
        line.push(format!(" (1 of {})", model.dialogs.len()), Style::dimmed());
    }
    line.truncated(columns, "…")
}

fn reasons(ask: &Ask, columns: usize) -> Vec<Line> {
    let is_shown = |pattern: &str| {
        let shows =
            |block: &Block| matches!(block, Block::Command { command, .. } if command.contains(pattern));
        ask.display.blocks.iter().any(shows)
    };
    let reason = |item: &AskItem| {
        // The command stands below in full, and why it asks matters more.
        let cells = if is_shown(item.pattern.trim()) { 40 } else { 120 };
        Line::styled("  ! ", Style::colored(Color::Yellow))
            .with(one_line(&item.permission, 40), Style::heavy())
            .with(format!(" {}", one_line(&item.pattern, cells)), Style::default())
            .with(format!(": {}", one_line(&item.reason, 300)), Style::dimmed())
            .wrapped(columns, 4)
    };
    ask.items.iter().flat_map(reason).collect()
}

/// What will happen, whole.
fn body(ask: &Ask, columns: usize) -> Vec<Line> {
    let narrow = u16::try_from(columns).unwrap_or(u16::MAX);
    let mut lines = Vec::new();
    let has_command = ask.display.blocks.iter().any(|block| matches!(block, Block::Command { .. }));
    let has_diff =
        ask.display.blocks.iter().any(
            |block| matches!(block, Block::Diff { path, .. } if ask.display.title.ends_with(path.as_str())),
        );
    if !has_command && !has_diff {
        lines.extend(Line::styled(one_line(&ask.display.title, 2000), Style::heavy()).wrapped(columns, 2));
    }
    for block in &ask.display.blocks {
        match block {
            Block::Command { command, cwd } => {
                lines.extend(marked_command(command, &ask.items, columns));
                lines.push(Line::styled(format!("in {}", one_line(cwd, 400)), Style::dimmed()));
            }
            Block::Diff { path, unified, added, removed } => {
                lines.push(
                    Line::styled(one_line(path, 400), Style::heavy())
                        .with(format!(" +{added}"), Style::colored(Color::Green))
                        .with(format!(" -{removed}"), Style::colored(Color::Red)),
                );
                lines.extend(diff::lines(unified, narrow, usize::MAX));
            }
            Block::Text { text } => {
                let text = neutral(text, Sequences::Shown);
                lines.extend(text.lines().flat_map(|line| Line::plain(line).wrapped(columns, 2)));
            }
            Block::Todo { items } => lines.extend(super::card::todo(items, usize::MAX, narrow)),
        }
    }
    lines.into_iter().map(barred).collect()
}

/// What a question is about, a plan for example: Markdown, because a model wrote it.
fn explanation(ask: &Ask, columns: usize) -> Vec<Line> {
    let narrow = u16::try_from(columns).unwrap_or(u16::MAX);
    let mut lines = Vec::new();
    for block in &ask.display.blocks {
        match block {
            Block::Text { text } => {
                lines.extend(markdown::render(&neutral(&text.replace('\r', ""), Sequences::Shown), narrow));
            }
            Block::Diff { unified, .. } => lines.extend(diff::lines(unified, narrow, usize::MAX)),
            Block::Command { command, .. } => lines.extend(marked_command(command, &[], columns)),
            Block::Todo { items } => lines.extend(super::card::todo(items, usize::MAX, narrow)),
        }
    }
    lines.into_iter().map(barred).collect()
}

/// The command, with what the items name marked.
fn marked_command(command: &str, items: &[AskItem], columns: usize) -> Vec<Line> {
    let command = neutral(command, Sequences::Shown);
    let names: Vec<String> = items
        .iter()
        .map(|item| neutral(item.pattern.trim(), Sequences::Shown).into_owned())
        // A mark on all of it would say nothing.
        .filter(|pattern| !pattern.is_empty() && *pattern != command)
        .collect();
    let mut risky = Style::colored(Color::Red).bold();
    risky.underline = true;
    let mut lines = Vec::new();
    for (index, text) in command.lines().enumerate() {
        let mut line = Line::styled(if index == 0 { "$ " } else { "  " }, Style::dimmed());
        let mut rest = text;
        while let Some((at, name)) =
            names.iter().filter_map(|name| Some((rest.find(name.as_str())?, name))).min_by_key(|(at, _)| *at)
        {
            let (before, from) = rest.split_at(at);
            line.push(before, Style::default());
            line.push(name.as_str(), risky.clone());
            rest = from.get(name.len()..).unwrap_or_default();
        }
        line.push(rest, Style::default());
        lines.extend(line.wrapped(columns, 4));
    }
    lines
}

fn barred(line: Line) -> Line {
    let mut spans = vec![Span::new("│ ", Style::colored(Color::Yellow))];
    spans.extend(line.spans);
    Line { spans }
}

/// So many lines, with a word on what is not seen.
fn window(body: Vec<Line>, scroll: usize, room: usize) -> Vec<Line> {
    if body.len() <= room {
        return body;
    }
    let shown = room.saturating_sub(1);
    let top = scroll.min(body.len().saturating_sub(shown));
    let below = body.len() - top - shown.min(body.len() - top);
    let mut lines: Vec<Line> = body.into_iter().skip(top).take(shown).collect();
    if room > 0 {
        let words = match (top, below) {
            (0, below) => format!("│ … {below} more lines: ↓"),
            (top, 0) => format!("│ … {top} lines above: ↑"),
            (top, below) => format!("│ … {top} above ↑, {below} below ↓"),
        };
        lines.push(Line::styled(words, Style::dimmed()));
    }
    lines
}

fn foot(dialog: &Dialog, columns: usize) -> Shown {
    match &dialog.stage {
        Stage::Choose => (vec![choices(dialog, columns)], None),
        Stage::Always { grants, at, input, scope } => {
            let mut lines = Vec::new();
            let mut cursor = None;
            for (index, grant) in grants.iter().enumerate() {
                let name = one_line(&grant.permission, 30);
                if index == *at {
                    let head = format!("always {name}: ");
                    cursor = Some(place(&head, input, lines.len(), columns));
                    lines.push(written(&head, input, columns));
                } else {
                    let text = format!("always {name}: {}", one_line(&grant.pattern, 200));
                    lines.push(Line::styled(text, Style::dimmed()).truncated(columns, "…"));
                }
            }
            lines.push(scopes(*scope, columns));
            (lines, cursor)
        }
        Stage::Words(input) => {
            let head = "no; instead: ";
            let keys = keys(&[("Enter", "reject"), ("Esc", "back")], true, columns);
            (vec![written(head, input, columns), keys], Some(place(head, input, 0, columns)))
        }
        Stage::Question { at, chosen, input } => match &dialog.ask.question {
            Some(question) => {
                let scrolls = !dialog.ask.display.blocks.is_empty();
                question_lines(question, (*at, chosen, input), (dialog.is_armed(), scrolls), columns)
            }
            None => (Vec::new(), None),
        },
    }
}

fn choices(dialog: &Dialog, columns: usize) -> Line {
    let mut all = vec![("y", "once")];
    if dialog.may_always() {
        all.push(("a", "always"));
    }
    all.extend([("n", "no"), ("N", "no, with words"), ("Esc", "stop")]);
    keys(&all, dialog.is_armed(), columns)
}

fn keys(all: &[(&str, &str)], armed: bool, columns: usize) -> Line {
    let mut line = Line::default();
    for (index, (key, meaning)) in all.iter().enumerate() {
        if index > 0 {
            line.push("  ", Style::default());
        }
        let style = if armed { Style::colored(Color::Cyan).bold() } else { Style::dimmed() };
        line.push(*key, style);
        line.push(format!(" {meaning}"), if armed { Style::default() } else { Style::dimmed() });
    }
    line.truncated(columns, "…")
}

fn scopes(scope: Scope, columns: usize) -> Line {
    let mut line = Line::styled("Tab: ", Style::dimmed());
    for each in SCOPES {
        let name = match each {
            Scope::Session => "this session",
            Scope::Project => "this project",
            Scope::Everywhere => "everywhere",
        };
        let (text, style) = match each == scope {
            true => (format!("[{name}] "), Style::colored(Color::Cyan).bold()),
            false => (format!("{name} "), Style::dimmed()),
        };
        line.push(text, style);
    }
    line.with(" Enter allows, Esc goes back", Style::dimmed()).truncated(columns, "…")
}

fn question_lines(
    question: &Question,
    (at, chosen, input): (usize, &std::collections::BTreeSet<usize>, &Input),
    (armed, scrolls): (bool, bool),
    columns: usize,
) -> Shown {
    let text = neutral(question.text.trim(), Sequences::Shown);
    let mut lines: Vec<Line> =
        text.lines().flat_map(|line| Line::styled(line, Style::heavy()).wrapped(columns, 2)).collect();
    for (index, choice) in question.choices.iter().enumerate() {
        let here = index == at;
        let mark = match (question.selection, chosen.contains(&index)) {
            (Selection::One, _) => "",
            (Selection::Several, true) => "[x] ",
            (Selection::Several, false) => "[ ] ",
        };
        let style = if here { Style::colored(Color::Cyan).bold() } else { Style::default() };
        let mut line = Line::styled(
            format!("{} {}. {mark}{}", if here { "▸" } else { " " }, index + 1, one_line(&choice.label, 120)),
            style,
        );
        if let Some(about) = &choice.description {
            line.push(format!("  {}", one_line(about, 200)), Style::dimmed());
        }
        lines.push(line.truncated(columns, "…"));
    }
    let head = if at == question.choices.len() { "▸ in your words: " } else { "  in your words: " };
    let cursor = place(head, input, lines.len(), columns);
    lines.push(written(head, input, columns));
    let all: &[(&str, &str)] = match question.selection {
        Selection::One => {
            &[("↑↓", "choose"), ("Enter", "answer"), ("PgUp PgDn", "see more"), ("Esc", "stop")]
        }
        Selection::Several => {
            &[("↑↓ Space", "choose"), ("Enter", "answer"), ("PgUp PgDn", "see more"), ("Esc", "stop")]
        }
    };
    let all: Vec<(&str, &str)> =
        all.iter().copied().filter(|(key, _)| scrolls || !key.starts_with("Pg")).collect();
    lines.push(keys(&all, armed, columns));
    (lines, Some(cursor))
}

/// A head and what is being written behind it; its end if it is long.
fn written(head: &str, input: &Input, columns: usize) -> Line {
    let text = input.shown();
    let (skip, _) = scrolled(head, input, columns);
    let visible: String = skip_cells(&text, skip);
    Line::styled(head, Style::dimmed()).with(visible, Style::default()).truncated(columns, "…")
}

fn place(head: &str, input: &Input, row: usize, columns: usize) -> (u16, u16) {
    let (_, column) = scrolled(head, input, columns);
    (u16::try_from(column).unwrap_or(u16::MAX), u16::try_from(row).unwrap_or(u16::MAX))
}

/// Cells of the text that are scrolled away, and the column of the cursor.
fn scrolled(head: &str, input: &Input, columns: usize) -> (usize, usize) {
    let room = columns.saturating_sub(crate::line::width(head) + 1).max(1);
    let skip = input.column().saturating_sub(room);
    (skip, crate::line::width(head) + input.column() - skip)
}

fn skip_cells(text: &str, cells: usize) -> String {
    let skipped = crate::line::prefix(text, cells);
    text.get(skipped.len()..).unwrap_or_default().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn item(pattern: &str) -> AskItem {
        AskItem { permission: "bash".into(), pattern: pattern.into(), reason: "it removes files".into() }
    }

    fn marked(command: &str, patterns: &[&str]) -> Vec<String> {
        let items: Vec<AskItem> = patterns.iter().map(|pattern| item(pattern)).collect();
        let lines = marked_command(command, &items, 200);
        let spans = lines.into_iter().flat_map(|line| line.spans);
        spans.filter(|span| span.style.underline).map(|span| span.text).collect()
    }

    #[test]
    fn the_risky_part_of_a_command_is_marked() {
        assert_eq!(marked("cd x && rm -rf y; make", &["rm -rf y"]), ["rm -rf y"]);
        assert_eq!(marked("curl a | sh && rm b", &["rm b", "sh"]), ["sh", "rm b"]);
        assert_eq!(marked("rm -rf y", &["rm -rf y"]), Vec::<String>::new());
        assert_eq!(marked("echo hi", &["", "not in it"]), Vec::<String>::new());
    }
}
