//! What the state looks like at a size. Pure: [`frame`] of a model is always
//! the same.
//!
//! Layout, from top to bottom: what is unfinished, what is to be done, what is
//! queued, the ask or the editor, the status. What does not fit is left out from
//! the top; the editor and the status stay. Parts: `card`, `diff`, `note` for
//! what becomes history; `ask`, `status`, `cover`, `help` for what does not.

mod ask;
pub(crate) mod card;
mod cover;
pub(crate) mod diff;
pub(crate) mod help;
pub(crate) mod note;
pub(crate) mod overview;
mod status;
pub(crate) mod transcript;

pub use status::StatusPart;

use std::time::Duration;

use rein_protocol::{CompactionReason, Cost, Delivery, Mode};

use crate::editor::SubmissionKind;
use crate::line::{Color, Line, Style};
use crate::model::live::Live;
use crate::model::{Model, Thoughts};
use crate::neutral::neutral_line;
use crate::screen::Frame;

/// Hints of commands that are shown at once.
const HINTS: usize = 6;
/// Lines of a thought that are shown while it grows.
const THOUGHT_LINES: usize = 3;
/// Items of the list of what is to be done that are shown while it is being done.
const TODO_LINES: usize = 6;

/// What should be on the terminal.
#[must_use]
pub fn frame(model: &Model) -> Frame {
    if let Some(overlay) = &model.overlay {
        return cover::frame(model, overlay);
    }
    let columns = model.size.columns;
    let status = status::line(model);
    let room = room(model);
    let (foot, cursor) = match model.dialogs.front() {
        Some(dialog) => ask::lines(model, dialog, room),
        None => match &model.noting {
            Some(noting) => (note::noting(noting, columns), None),
            None => editor(model, room),
        },
    };
    let above_height = room.saturating_sub(foot.len());
    let mut above = above(model);
    let skip = above.len().saturating_sub(above_height);
    let mut live: Vec<Line> = above.drain(skip.min(above.len())..).collect();
    let offset = u16::try_from(live.len()).unwrap_or(u16::MAX);
    live.extend(foot);
    live.push(status);
    for line in &mut live {
        if line.width() > usize::from(columns) {
            *line = std::mem::take(line).truncated(usize::from(columns), "…");
        }
    }
    Frame { live, cursor: cursor.map(|(column, row)| (column, row + offset)), overlay: None }
}

/// Rows of the live region beside the status.
fn room(model: &Model) -> usize {
    let rows = usize::from(model.size.rows);
    // One row of history stays in sight where there is room for it.
    let height = if rows > 6 { rows - 1 } else { rows };
    height.saturating_sub(1).max(1)
}

/// How far the ask can be scrolled.
pub(crate) fn ask_scroll_limit(model: &Model) -> usize {
    model.dialogs.front().map_or(0, |dialog| ask::scroll_limit(model, dialog, room(model)))
}

/// Everything above the editor, with a free line before and after it.
fn above(model: &Model) -> Vec<Line> {
    let columns = model.size.columns;
    let mut lines = card::folded(&model.fold, columns);
    let asked = model.dialogs.front().map(|dialog| &dialog.ask.call);
    for live in &model.live {
        // The ask says everything about the call that it is for.
        let is_asked = matches!(live, Live::Call(card) if card.id.is_some() && card.id.as_ref() == asked);
        if !is_asked {
            lines.extend(unfinished(model, live));
        }
    }
    let rows = usize::from(model.size.rows);
    if rows > 12 {
        // On a terminal that becomes narrower every full row becomes two. What then leaves the screen at the
        // top can no longer be taken away.
        let most = rows / 2 - 2;
        lines.drain(..lines.len().saturating_sub(most));
    }
    if let Some(todo) = model.todo.as_ref().filter(|_| model.turn.is_some()) {
        lines.push(Line::styled("to do", Style::dimmed()));
        lines.extend(card::todo(&todo.items, TODO_LINES, columns));
    }
    for run in &model.runs {
        lines.extend(card::running(run, model.now, false, columns));
    }
    lines.extend(activity(model));
    lines.extend(model.queue.iter().map(|queued| {
        let when = match queued.delivery {
            Delivery::Steer => "next",
            Delivery::Now => "now",
            Delivery::Prompt | Delivery::FollowUp => "after this",
        };
        Line::styled(format!("↳ {when}: {}", one_line(&queued.text, 200)), Style::dimmed())
            .truncated(usize::from(columns), "…")
    }));
    if !lines.is_empty() || model.size.rows > 8 {
        lines.push(Line::empty());
    }
    if model.size.rows > 8 && lines.len() > 1 {
        lines.insert(0, Line::empty());
    }
    lines
}

fn unfinished(model: &Model, live: &Live) -> Vec<Line> {
    let columns = model.size.columns;
    match live {
        Live::Words(words) => {
            let mut lines = words.ready.clone();
            lines.extend(words.stream.live(columns));
            lines
        }
        Live::Thought(_) if model.thoughts == Thoughts::Hidden => Vec::new(),
        Live::Thought(thought) => {
            let text = crate::neutral::neutral(&thought.text, crate::neutral::Sequences::Dropped);
            let style = Style { dim: true, italic: true, ..Style::default() };
            let limit = match model.thoughts {
                Thoughts::Gist | Thoughts::Hidden => THOUGHT_LINES,
                Thoughts::Whole => usize::from(model.size.rows),
            };
            let wrapped: Vec<Line> = text
                .lines()
                .rev()
                .take(limit)
                .collect::<Vec<_>>()
                .into_iter()
                .rev()
                .flat_map(|line| {
                    Line::styled(format!("∗ {line}"), style.clone()).wrapped(usize::from(columns), 2)
                })
                .collect();
            let skip = wrapped.len().saturating_sub(limit);
            wrapped.into_iter().skip(skip).collect()
        }
        Live::Call(card) => {
            let waits = model.dialogs.iter().any(|dialog| Some(&dialog.ask.call) == card.id.as_ref());
            match &card.result {
                Some(result) => card::finished(&card.tool, result, columns),
                None => card::running(card, model.now, waits, columns),
            }
        }
    }
}

/// What goes on, in a line.
fn activity(model: &Model) -> Option<Line> {
    if !model.dialogs.is_empty() {
        return None;
    }
    let columns = usize::from(model.size.columns);
    if let Some(reason) = model.compacting {
        let why = match reason {
            CompactionReason::Threshold => "the window is nearly full",
            CompactionReason::Overflow => "the conversation did not fit",
            CompactionReason::Manual => "as you asked",
            CompactionReason::Length => "there was no room for the answer",
            CompactionReason::Idle => "while nothing happens",
        };
        let line = Line::styled("∗ making room ", Style::colored(Color::Cyan))
            .with(format!("{why} · Esc leaves all as it was"), Style::dimmed());
        return Some(line.truncated(columns, "…"));
    }
    let turn = model.turn.as_ref()?;
    if let Some(retry) = &model.retry {
        let left = retry.at.saturating_sub(model.now).as_millis().div_ceil(1000);
        let when = if left == 0 { "now".to_owned() } else { format!("in {left} s") };
        let text = format!("↻ try {} {when}: {}", retry.attempt, one_line(&retry.error, 300));
        return Some(Line::styled(text, Style::colored(Color::Yellow)).truncated(columns, "…"));
    }
    let passed = model.now.saturating_sub(turn.since);
    let key = model.bindings.shown(crate::bindings::Deed::Interrupt);
    let (word, keys) = match (turn.interrupting, key) {
        (true, _) => ("stopping", String::new()),
        (false, None) => ("working", String::new()),
        (false, Some(key)) => ("working", format!(" · {key} interrupts")),
    };
    let beat = ["·", "∗"].get(usize::from(passed.as_secs() % 2 == 1)).copied().unwrap_or("·");
    Some(
        Line::styled(format!("{beat} {word} "), Style::colored(Color::Cyan))
            .with(format!("{}{keys}", duration(passed)), Style::dimmed())
            .truncated(columns, "…"),
    )
}

/// The editor with its hints, and where the cursor is.
fn editor(model: &Model, room: usize) -> (Vec<Line>, Option<(u16, u16)>) {
    let columns = model.size.columns;
    let mut lines: Vec<Line> = Vec::new();
    let hints = &model.hints;
    let hint_room = HINTS.min(room.saturating_sub(2));
    let first = (hints.at + 1).saturating_sub(hint_room.max(1));
    for (index, hint) in hints.all.iter().enumerate().skip(first).take(hint_room) {
        let at = index == hints.at;
        let style = if at { Style::colored(Color::Cyan).bold() } else { Style::default() };
        let mark = if at { "▸ " } else { "  " };
        lines.push(
            Line::styled(format!("{mark}{} {}", hint.text, hint.argument), style)
                .with(format!("  {}", hint.about), Style::dimmed())
                .truncated(usize::from(columns), "…"),
        );
    }
    let max_height = (usize::from(model.size.rows) / 3).clamp(1, room.saturating_sub(lines.len()).max(1));
    let rendered =
        model.editor.render(columns.saturating_sub(2).max(1), u16::try_from(max_height).unwrap_or(1));
    let above = u16::try_from(lines.len()).unwrap_or(0);
    for (index, line) in rendered.lines.into_iter().enumerate() {
        let (mark, color) = mark(model);
        let mark = if index == 0 { mark } else { "  " };
        let mut prefixed = Line::styled(mark, Style::colored(color).bold());
        prefixed.spans.extend(line.spans);
        if index == 0 {
            prefixed.push(sigil_hint(model), Style::dimmed());
        }
        lines.push(prefixed);
    }
    let (column, row) = rendered.cursor;
    (lines, Some((column + 2, row + above)))
}

/// What stands before the text: it tells what Enter does with it.
fn mark(model: &Model) -> (&'static str, Color) {
    match model.editor.kind() {
        SubmissionKind::Prompt | SubmissionKind::Command => ("› ", Color::Cyan),
        SubmissionKind::Shell => ("$ ", Color::Yellow),
        SubmissionKind::Remember => ("+ ", Color::Magenta),
    }
}

/// What a lone sigil is for.
fn sigil_hint(model: &Model) -> &'static str {
    match (model.editor.kind(), model.editor.is_lone()) {
        (SubmissionKind::Shell, true) => "  a command that runs with your own rights",
        (SubmissionKind::Remember, true) => "  something that every later session knows",
        _ => "",
    }
}

/// Untrusted text as one line of at most so many cells.
pub(crate) fn one_line(text: &str, cells: usize) -> String {
    Line::plain(neutral_line(text)).truncated(cells, "…").text()
}

pub(crate) fn duration(time: Duration) -> String {
    let seconds = time.as_secs();
    match seconds {
        0..10 if time.subsec_millis() >= 100 => {
            format!("{}.{} s", seconds, time.subsec_millis() / 100)
        }
        0..60 => format!("{seconds} s"),
        60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// A count in few characters.
pub(crate) fn count(number: u64) -> String {
    match number {
        0..1_000 => number.to_string(),
        1_000..10_000 => format!("{}.{}k", number / 1_000, number / 100 % 10),
        10_000..1_000_000 => format!("{}k", number / 1_000),
        _ => format!("{}.{}M", number / 1_000_000, number / 100_000 % 10),
    }
}

/// Money, if it is known and there is any.
pub(crate) fn money(cost: Cost) -> Option<String> {
    match cost {
        Cost::Known { micro_usd: 0 } | Cost::Unknown => None,
        Cost::Known { micro_usd } if micro_usd < 10_000 => {
            Some(format!("${}.{:04}", micro_usd / 1_000_000, micro_usd / 100 % 10_000))
        }
        Cost::Known { micro_usd } => {
            Some(format!("${}.{:02}", micro_usd / 1_000_000, micro_usd / 10_000 % 100))
        }
    }
}

pub(crate) fn mode_about(mode: Mode) -> &'static str {
    match mode {
        Mode::Tight => "reads run; everything else asks",
        Mode::Write => "edits in this directory run too",
        Mode::Free => "everything runs that no rule denies",
        Mode::Plan => "only reads run; the rest is withheld",
    }
}

pub(crate) fn mode_color(mode: Mode) -> Color {
    match mode {
        Mode::Tight => Color::Green,
        Mode::Write => Color::Yellow,
        Mode::Free => Color::Red,
        Mode::Plan => Color::Blue,
    }
}
