//! The whole session for the pager, folded or unfolded, as it was recorded.

use rein_protocol::event::PartKind;
use rein_protocol::transcript::{CallItem, Item, Transcript};
use rein_protocol::{Block, Snapshot};

use super::{card, diff, note};
use crate::line::{Line, Style};
use crate::markdown;
use crate::model::fold::text_of as words;
use crate::neutral::{Sequences, neutral};

/// Lines of a call's result that are unfolded.
const RESULT_LINES: usize = 400;

/// How much of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Detail {
    /// A line for a call and for a thought.
    Folded,
    /// Everything.
    Whole,
}

/// Every line.
pub(crate) fn lines(snapshot: &Snapshot, detail: Detail, columns: u16) -> Vec<Line> {
    let mut transcript = Transcript::of(&snapshot.entries);
    for event in &snapshot.open {
        transcript.apply(event);
    }
    let mut lines = Vec::new();
    for item in &transcript.items {
        if !lines.is_empty() {
            lines.push(Line::empty());
        }
        lines.extend(match detail {
            Detail::Folded => folded_lines(item, columns),
            Detail::Whole => item_lines(item, columns),
        });
    }
    if lines.is_empty() {
        lines.push(Line::styled("nothing was said yet", Style::dimmed()));
    }
    lines
}

fn folded_lines(item: &Item, columns: u16) -> Vec<Line> {
    match item {
        Item::Said { kind: PartKind::Reasoning, text, .. } => {
            let style = Style { dim: true, italic: true, ..Style::default() };
            let line = Line::styled(format!("∗ {}", super::one_line(text, 400)), style);
            vec![line.truncated(usize::from(columns), "…")]
        }
        Item::Call(call) => match &call.result {
            Some(result) => card::finished(&call.tool, result, columns),
            None => call_lines(call, columns),
        },
        Item::PersonRan(run) => match &run.result {
            Some(result) => card::person_ran(&run.command, result, columns),
            None => item_lines(item, columns),
        },
        _ => item_lines(item, columns),
    }
}

fn item_lines(item: &Item, columns: u16) -> Vec<Line> {
    match item {
        Item::User { content, author, .. } => note::message(*author, &words(content), columns),
        Item::Said { kind: PartKind::Text, text, .. } => {
            markdown::render(&neutral(&text.replace('\r', ""), Sequences::Shown), columns)
        }
        Item::Said { text, .. } => note::whole_thought(text, columns),
        Item::Call(call) => call_lines(call, columns),
        Item::Ended { stop, message } => note::ended(*stop, message.as_deref(), columns),
        Item::Compacted(compaction) => note::divider(&note::compacted(compaction), columns),
        Item::Travelled => note::divider("went to another place of the session", columns),
        Item::PersonRan(run) => {
            let mut lines: Vec<Line> = match &run.result {
                Some(result) => card::person_ran(&run.command, result, columns).into_iter().take(1).collect(),
                None => vec![Line::plain(format!("! {}", super::one_line(&run.command, 400)))],
            };
            let output = run.result.as_ref().map_or(run.output.clone(), |result| words(&result.content));
            lines.extend(plain(&output, &Style::dimmed(), columns, RESULT_LINES));
            lines
        }
        Item::Recovered { message } => note::divider(&format!("recovered: {message}"), columns),
    }
}

fn call_lines(call: &CallItem, columns: u16) -> Vec<Line> {
    let Some(result) = &call.result else {
        let title = call.started.as_ref().map_or(call.tool.as_str(), |intent| &intent.display.title);
        return vec![Line::plain(format!("● {}", super::one_line(title, 400)))];
    };
    let mut lines: Vec<Line> = card::finished(&call.tool, result, columns).into_iter().take(1).collect();
    for reason in call.decision.iter().flat_map(|decision| &decision.reasons) {
        lines.push(Line::styled(format!("  {}", super::one_line(reason, 300)), Style::dimmed()));
    }
    for block in &result.display.blocks {
        match block {
            Block::Diff { unified, .. } => lines.extend(diff::lines(unified, columns, usize::MAX)),
            Block::Todo { items } => lines.extend(card::todo(items, usize::MAX, columns)),
            Block::Command { .. } | Block::Text { .. } => {}
        }
    }
    lines.extend(plain(&words(&result.content), &Style::dimmed(), columns, RESULT_LINES));
    lines
}

fn plain(text: &str, style: &Style, columns: u16, limit: usize) -> Vec<Line> {
    let text = neutral(text.trim_end(), Sequences::Dropped);
    let total = text.lines().count();
    let mut lines: Vec<Line> = text
        .lines()
        .take(limit)
        .flat_map(|line| Line::styled(format!("  {line}"), style.clone()).wrapped(usize::from(columns), 2))
        .collect();
    if total > limit {
        lines.push(Line::styled(format!("  … {} more lines", total - limit), Style::dimmed()));
    }
    lines
}
