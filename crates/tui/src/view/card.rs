//! Calls: a line when they are done, a few more while they run, and what there
//! is to see of a change.

use std::time::Duration;

use rein_protocol::{Block, CallResult, CallStatus, Content, TodoItem, TodoState};

use super::{diff, duration, one_line};
use crate::line::{Color, Line, Style};
use crate::model::live::{Card, Fold, Look};
use crate::neutral::{Sequences, neutral};

/// Lines of a diff that stay in the scrollback; the pager has all of them.
const DIFF_LINES: usize = 24;
/// Lines of what a failed call said.
const ERROR_LINES: usize = 4;
/// Lines of what a command of the person printed that stay in the scrollback.
const RUN_LINES: usize = 24;
/// Lines of what a running command printed.
const TAIL_LINES: usize = 5;

/// A call that is over.
pub(crate) fn finished(tool: &str, result: &CallResult, columns: u16) -> Vec<Line> {
    let mut lines = vec![headline(tool, result, columns)];
    let inner = columns.saturating_sub(2).max(8);
    for block in &result.display.blocks {
        match block {
            Block::Diff { unified, .. } => {
                lines.extend(diff::lines(unified, inner, DIFF_LINES).into_iter().map(indented));
            }
            // The list is shown below while it is worked on.
            Block::Text { .. } | Block::Command { .. } | Block::Todo { .. } => {}
        }
    }
    if result.status.is_error() && !matches!(result.status, CallStatus::Rejected | CallStatus::Withheld) {
        lines.extend(text_end(result, ERROR_LINES, columns));
    }
    lines
}

/// A command of the person that is over, with the end of what it printed.
pub(crate) fn person_ran(command: &str, result: &CallResult, columns: u16) -> Vec<Line> {
    let wide = usize::from(columns);
    let (_, color) = icon(result.status);
    let mut after = Line::default();
    match (&result.display.summary, outcome(result.status)) {
        (Some(summary), _) => after.push(format!(" · {}", one_line(summary, 80)), Style::dimmed()),
        (None, Some(outcome)) => after.push(format!(" · {outcome}"), Style::colored(color)),
        (None, None) => {}
    }
    if result.duration_ms >= 1000 {
        let took = duration(Duration::from_millis(result.duration_ms));
        after.push(format!(" · {took}"), Style::dimmed());
    }
    let title = Line::styled("! ", Style::colored(Color::Yellow).bold())
        .with(one_line(command, 400), Style::heavy())
        .truncated(wide.saturating_sub(after.width()).max(8), "…");
    let mut head = title;
    head.spans.extend(after.spans);
    let mut lines = vec![head.truncated(wide, "…")];
    lines.extend(text_end(result, RUN_LINES, columns));
    lines
}

fn headline(tool: &str, result: &CallResult, columns: u16) -> Line {
    let (icon, color) = icon(result.status);
    let title = match one_line(&result.display.title, 400) {
        title if title.is_empty() => one_line(tool, 60),
        title => title,
    };
    let mut line = Line::styled(format!("{icon} "), Style::colored(color));
    let mut after = Line::default();
    match (&result.display.summary, outcome(result.status)) {
        (Some(summary), _) => after.push(format!(" · {}", one_line(summary, 80)), Style::dimmed()),
        (None, Some(outcome)) => after.push(format!(" · {outcome}"), Style::colored(color)),
        (None, None) => {}
    }
    if result.duration_ms >= 1000 {
        let took = duration(Duration::from_millis(result.duration_ms));
        after.push(format!(" · {took}"), Style::dimmed());
    }
    let room = usize::from(columns).saturating_sub(2 + after.width()).max(8);
    let title = Line::plain(title).truncated(room, "…");
    line.spans.extend(title.spans);
    line.spans.extend(after.spans);
    line.truncated(usize::from(columns), "…")
}

fn icon(status: CallStatus) -> (&'static str, Color) {
    match status {
        CallStatus::Completed => ("✓", Color::Green),
        CallStatus::Failed => ("✗", Color::Red),
        CallStatus::Refused | CallStatus::Rejected => ("⊘", Color::Yellow),
        CallStatus::Withheld => ("◇", Color::Blue),
        CallStatus::Interrupted | CallStatus::NotRun | CallStatus::Unknown => ("■", Color::Yellow),
    }
}

fn outcome(status: CallStatus) -> Option<&'static str> {
    match status {
        CallStatus::Completed => None,
        CallStatus::Failed => Some("failed"),
        CallStatus::Refused => Some("not permitted"),
        CallStatus::Rejected => Some("rejected"),
        CallStatus::Interrupted => Some("interrupted"),
        CallStatus::NotRun => Some("not run"),
        CallStatus::Withheld => Some("withheld"),
        CallStatus::Unknown => Some("unknown: the process died while it ran"),
    }
}

/// The end of what a result says.
fn text_end(result: &CallResult, limit: usize, columns: u16) -> Vec<Line> {
    let text: Vec<&str> = result
        .content
        .iter()
        .filter_map(|content| match content {
            Content::Text { text } => Some(text.as_str()),
            Content::Image { .. } => None,
        })
        .collect();
    let text = text.join("\n");
    let text = neutral(text.trim(), Sequences::Dropped);
    let all: Vec<&str> = text.lines().filter(|line| !line.trim().is_empty()).collect();
    let skipped = all.len().saturating_sub(limit);
    // The end of what a command printed says what went wrong.
    let mut lines: Vec<Line> = all
        .iter()
        .skip(skipped)
        .map(|line| {
            // What stands at its end is not worth a sign that something is missing.
            Line::styled(format!("  {}", line.trim_end()), Style::dimmed())
                .truncated(usize::from(columns), "…")
        })
        .collect();
    if skipped > 0 {
        // A result that is itself cut does not say how many there were.
        let words = match result.artifact {
            Some(_) => "  … more lines before".to_owned(),
            None => format!("  … {skipped} lines before"),
        };
        lines.insert(0, Line::styled(words, Style::dimmed()));
    }
    lines
}

/// Looks in one line.
pub(crate) fn folded(fold: &Fold, columns: u16) -> Vec<Line> {
    match fold.looks.as_slice() {
        [] => Vec::new(),
        [(_, result)] => vec![headline("", result, columns)],
        looks => {
            let mut words = Vec::new();
            for look in [Look::Read, Look::Search, Look::List] {
                let count = looks.iter().filter(|(kind, _)| *kind == look).count();
                if count > 0 {
                    words.push(look.counted(count));
                }
            }
            let titles: Vec<String> = looks.iter().map(|(look, result)| subject(*look, result)).collect();
            let line = Line::styled("✓ ", Style::colored(Color::Green))
                .with(words.join(", "), Style::default())
                .with(format!(" · {}", titles.join(", ")), Style::dimmed());
            vec![line.truncated(usize::from(columns), "…")]
        }
    }
}

/// What was looked at: the title without its verb.
fn subject(look: Look, result: &CallResult) -> String {
    let title = one_line(&result.display.title, 80);
    match (look, title.split_once(' ')) {
        (Look::Read | Look::List, Some((_, rest))) => rest.to_owned(),
        (Look::Search, Some((_, rest))) => rest.to_owned(),
        (_, None) => title,
    }
}

/// A call that is not over.
pub(crate) fn running(card: &Card, now: Duration, waits: bool, columns: u16) -> Vec<Line> {
    let columns_wide = usize::from(columns);
    let title = match &card.display {
        Some(display) if !display.title.is_empty() => one_line(&display.title, 400),
        _ => one_line(&card.tool, 60),
    };
    let mut line = Line::styled("● ", Style::colored(if waits { Color::Yellow } else { Color::Cyan }));
    line.push(title, Style::default());
    match (card.since, waits) {
        (_, true) => line.push(" · waits for you", Style::colored(Color::Yellow)),
        (Some(since), _) => {
            let passed = now.saturating_sub(since);
            if passed >= Duration::from_secs(1) {
                line.push(format!(" · {}", duration(passed)), Style::dimmed());
            }
        }
        (None, _) if card.id.is_none() && card.arguments > 1024 => {
            line.push(format!(" · {} kB", card.arguments / 1024), Style::dimmed());
        }
        (None, _) => {}
    }
    let mut lines = vec![line.truncated(columns_wide, "…")];
    let tail = card.tail.lines(TAIL_LINES);
    lines.extend(
        tail.into_iter()
            .map(|text| Line::styled(format!("  │ {text}"), Style::dimmed()).truncated(columns_wide, "…")),
    );
    lines
}

/// What the agent means to do; at most `limit` lines, the open ones first if there are more.
pub(crate) fn todo(items: &[TodoItem], limit: usize, columns: u16) -> Vec<Line> {
    let mut skip = 0;
    if items.len() > limit {
        let first_open = items.iter().position(|item| item.state.is_open()).unwrap_or(0);
        skip = first_open.min(items.len() - limit);
    }
    let shown = items.iter().skip(skip).take(limit);
    let mut lines: Vec<Line> = shown
        .map(|item| {
            let (mark, style) = match item.state {
                TodoState::Done => ("✓", Style { strike: true, dim: true, ..Style::default() }),
                TodoState::Active => ("▸", Style::colored(Color::Cyan).bold()),
                TodoState::Pending => ("·", Style::default()),
                TodoState::Dropped => ("×", Style::dimmed()),
            };
            let mark_style = Style { strike: false, ..style.clone() };
            Line::styled(format!("  {mark} "), mark_style)
                .with(one_line(&item.text, 200), style)
                .truncated(usize::from(columns), "…")
        })
        .collect();
    let hidden = items.len().saturating_sub(skip + lines.len());
    if hidden > 0 {
        lines.push(Line::styled(format!("    … {hidden} more"), Style::dimmed()));
    }
    lines
}

fn indented(line: Line) -> Line {
    let mut spans = vec![crate::line::Span::plain("  ")];
    spans.extend(line.spans);
    Line { spans }
}
