//! What is said once: the person's words, thoughts in a line, dividers, errors
//! with their hint, the banner.

use rein_protocol::{Author, Cost, MemoryPlace, StopReason};

use super::{count, duration, money, one_line};
use crate::line::{Color, Line, Style};
use crate::model::Model;
use crate::model::live::Thought;
use crate::model::sigil::Noting;
use crate::neutral::{Sequences, neutral};

/// Lines of a message of the person that are shown; who pasted more knows it.
const USER_LINES: usize = 30;

/// A message to the model: the person's words, or that rein had something to tell it.
pub(crate) fn message(author: Author, text: &str, columns: u16) -> Vec<Line> {
    match author {
        Author::Person => user(text, columns),
        Author::ApprovedPlan => divider("the plan is approved: rein carries it out", columns),
        Author::FailedCheck => divider("the check failed: rein reads what it printed", columns),
    }
}

/// The person's words.
pub(crate) fn user(text: &str, columns: u16) -> Vec<Line> {
    let text = neutral(text.trim(), Sequences::Shown);
    let all: Vec<&str> = text.lines().collect();
    let mut lines = Vec::new();
    for (index, line) in all.iter().take(USER_LINES).enumerate() {
        let mark = if index == 0 { "› " } else { "  " };
        let line = Line::styled(mark, Style::colored(Color::Cyan).bold()).with(*line, Style::heavy());
        lines.extend(line.wrapped(usize::from(columns), 2));
    }
    if all.len() > USER_LINES {
        lines.push(Line::styled(format!("  … {} more lines", all.len() - USER_LINES), Style::dimmed()));
    }
    lines
}

/// A thought, in a line.
pub(crate) fn thought(thought: &Thought, columns: u16) -> Vec<Line> {
    let gist = one_line(&thought.text, 400);
    if gist.is_empty() {
        return Vec::new();
    }
    let took = thought.took.filter(|took| took.as_secs() > 0);
    let head = took.map_or("thought".to_owned(), |took| format!("thought for {}", duration(took)));
    let style = Style { dim: true, italic: true, ..Style::default() };
    vec![
        Line::styled(format!("∗ {head} · "), Style::dimmed())
            .with(gist, style)
            .truncated(usize::from(columns), "…"),
    ]
}

/// All of a thought.
pub(crate) fn whole_thought(text: &str, columns: u16) -> Vec<Line> {
    let text = neutral(text.trim(), Sequences::Dropped);
    let style = Style { dim: true, italic: true, ..Style::default() };
    let line = |(index, line): (usize, &str)| {
        let mark = if index == 0 { "∗ " } else { "  " };
        Line::styled(format!("{mark}{line}"), style.clone()).wrapped(usize::from(columns), 2)
    };
    text.lines().enumerate().flat_map(line).collect()
}

/// That what was said before is a summary from here on.
pub(crate) fn compacted(compaction: &rein_protocol::compaction::Compaction) -> String {
    format!("summarised: {} → {} tokens", compaction.tokens_before, compaction.tokens_after)
}

/// A line across the screen with a few words.
pub(crate) fn divider(words: &str, columns: u16) -> Vec<Line> {
    let columns = usize::from(columns);
    let line = Line::styled(format!("── {} ", one_line(words, 400)), Style::dimmed());
    let rest = columns.min(60).saturating_sub(line.width());
    vec![line.with("─".repeat(rest), Style::dimmed()).truncated(columns, "…")]
}

/// A few dim words.
pub(crate) fn remark(words: &str, columns: u16) -> Vec<Line> {
    Line::styled(words, Style::dimmed()).wrapped(usize::from(columns), 2)
}

/// Something that the person should know.
pub(crate) fn notice(words: &str, columns: u16) -> Vec<Line> {
    let text = neutral(words.trim(), Sequences::Shown);
    let mut lines = Vec::new();
    for (index, part) in text.lines().take(12).enumerate() {
        let head = if index == 0 { "note: " } else { "  " };
        let line = Line::styled(head, Style::colored(Color::Yellow)).with(part, Style::default());
        lines.extend(line.wrapped(usize::from(columns), 2));
    }
    lines
}

/// A line that is remembered from now on.
pub(crate) fn noted(note: &str, file: &std::path::Path, columns: u16) -> Vec<Line> {
    let place = one_line(&file.to_string_lossy(), 200);
    Line::styled("+ ", Style::colored(Color::Magenta).bold())
        .with(one_line(note, 400), Style::default())
        .with(format!(" · remembered in {place}"), Style::dimmed())
        .wrapped(usize::from(columns), 2)
}

/// Where a line is to be remembered.
pub(crate) fn noting(noting: &Noting, columns: u16) -> Vec<Line> {
    let wide = usize::from(columns);
    let choice = |place: MemoryPlace, key: &str, words: &str| {
        let here = noting.place == place;
        let style = if here { Style::colored(Color::Cyan).bold() } else { Style::default() };
        Line::styled(format!("{} {key}. {words}", if here { "▸" } else { " " }), style).truncated(wide, "…")
    };
    vec![
        Line::styled("+ ", Style::colored(Color::Magenta).bold())
            .with(one_line(&noting.note, 400), Style::heavy())
            .truncated(wide, "…"),
        choice(MemoryPlace::Project, "1", "for this project"),
        choice(MemoryPlace::User, "2", "for you, in all projects"),
        Line::styled("↑↓ choose · Enter remembers · Esc goes back", Style::dimmed()).truncated(wide, "…"),
    ]
}

/// What went wrong, and what to do.
pub(crate) fn error(message: &str, hint: Option<&str>, columns: u16) -> Vec<Line> {
    let text = neutral(message.trim(), Sequences::Shown);
    let mut lines = Vec::new();
    for (index, part) in text.lines().take(12).enumerate() {
        let head = if index == 0 { "error: " } else { "  " };
        let line = Line::styled(head, Style::colored(Color::Red).bold()).with(part, Style::default());
        lines.extend(line.wrapped(usize::from(columns), 2));
    }
    if let Some(hint) = hint {
        let line = Line::styled("hint: ", Style::colored(Color::Cyan)).with(hint, Style::default());
        lines.extend(line.wrapped(usize::from(columns), 2));
    }
    lines
}

/// How a turn ended, where there is something to say.
pub(crate) fn ended(stop: StopReason, message: Option<&str>, columns: u16) -> Vec<Line> {
    let (words, hint) = match stop {
        StopReason::EndTurn => return Vec::new(),
        StopReason::Interrupted => return divider("interrupted", columns),
        StopReason::Rejected => return divider("rejected: say what to do instead", columns),
        StopReason::MaxSteps => ("the cap on steps was reached", "say `go on`, or raise max_steps"),
        StopReason::DoomLoop => ("the model repeated itself", "say what to try instead"),
        StopReason::ModelError => ("the model could not be reached", "say `go on` to try again"),
        StopReason::Length => ("the answer was cut off by the model's limit", "say `go on`"),
        StopReason::Refusal => ("the model declined to answer", "put it in other words"),
        StopReason::Budget => ("the budget is spent", "raise it and say `go on`"),
        StopReason::VerifyFailed => {
            ("the check went on failing", "look at what it printed and say what to do")
        }
        StopReason::InternalError => ("rein failed", "what was recorded is kept: try again"),
    };
    let told = message.map_or(words.to_owned(), |message| match stop {
        StopReason::ModelError | StopReason::InternalError => message.to_owned(),
        _ => format!("{words}: {message}"),
    });
    error(&told, Some(hint), columns)
}

/// Tokens and money so far.
pub(crate) fn cost(model: &Model) -> Vec<Line> {
    let usage = &model.usage;
    let money = match model.cost {
        Cost::Known { .. } => money(model.cost).unwrap_or_default(),
        Cost::Unknown => "not known".to_owned(),
    };
    let text = format!(
        "tokens: {} in, {} out, {} read from cache, {} written to it · cost: {money}",
        count(usage.input),
        count(usage.output),
        count(usage.cache_read),
        count(usage.cache_write),
    );
    remark(&text, model.size.columns)
}

/// The first lines.
pub(crate) fn banner(model: &Model, title: Option<&str>) -> Vec<Line> {
    let columns = usize::from(model.size.columns);
    if let Some(title) = title {
        let title = if title.is_empty() { "new session" } else { title };
        return divider(&format!("session: {}", one_line(title, 60)), model.size.columns);
    }
    let name = model.model.as_ref().map_or("no model".to_owned(), ToString::to_string);
    vec![
        Line::styled("rein", Style::colored(Color::Cyan).bold())
            .with(format!(" {}", env!("CARGO_PKG_VERSION")), Style::dimmed())
            .with(format!(" · {}", one_line(&name, 80)), Style::default())
            .truncated(columns, "…"),
        Line::styled("? for help · / for commands · Ctrl-C twice quits", Style::dimmed())
            .truncated(columns, "…"),
    ]
}
