//! Texts to read about a session as a whole: what the model is sent, what was
//! changed, figures, and how the machine is.

use std::collections::BTreeMap;

use rein_protocol::event::PartKind;
use rein_protocol::transcript::{Item, Transcript};
use rein_protocol::{Block, CallStatus, ContextPart, ContextSection, ContextUse, Cost, EntryBody, Snapshot};

use super::{count, diff, duration, money, one_line};
use crate::host::{Finding, FindingState};
use crate::line::{Color, Line, Style};
use crate::neutral::{Sequences, neutral};

/// The widest bar.
const BAR: usize = 50;

/// A text as it is, in lines that fit.
pub(crate) fn plain(text: &str, columns: u16) -> Vec<Line> {
    let text = neutral(text, Sequences::Shown);
    text.lines().flat_map(|line| Line::plain(line).wrapped(usize::from(columns), 0)).collect()
}

/// What the next request consists of: how full the window is, by section, and every part.
pub(crate) fn context(parts: &[ContextPart], used: Option<ContextUse>, columns: u16) -> Vec<Line> {
    let sum: u64 = parts.iter().map(|part| part.tokens).fold(0, u64::saturating_add);
    let window = used.and_then(|used| used.window).filter(|window| *window > 0);
    let whole = window.unwrap_or(sum).max(sum).max(1);
    let cells = usize::from(columns).saturating_sub(2).min(BAR);
    let mut lines = vec![headline(sum, used), bar(parts, whole, cells), Line::empty()];
    for section in SECTIONS {
        let tokens: u64 = parts.iter().filter(|part| part.section == section).map(|part| part.tokens).sum();
        if tokens > 0 {
            lines.push(
                Line::styled("█ ", Style::colored(section_color(section)))
                    .with(format!("{:<14}", section_name(section)), Style::default())
                    .with(format!("{:>7}  {}", count(tokens), percent(tokens, whole)), Style::dimmed()),
            );
        }
    }
    if let Some(window) = window {
        let free = window.saturating_sub(sum);
        lines.push(
            Line::styled("░ ", Style::dimmed())
                .with(format!("{:<14}", "free"), Style::default())
                .with(format!("{:>7}  {}", count(free), percent(free, whole)), Style::dimmed()),
        );
    }
    lines.push(Line::empty());
    let mut section = None;
    for part in parts {
        if section != Some(part.section) {
            section = Some(part.section);
            lines.push(Line::styled(section_name(part.section), Style::heavy()));
        }
        let line = Line::plain(format!("{:>7}  ", count(part.tokens)))
            .with(one_line(&part.name, 120), Style::default())
            .with(format!("  {}", one_line(&part.why, 200)), Style::dimmed());
        lines.extend(line.wrapped(usize::from(columns), 9));
    }
    lines
}

const SECTIONS: [ContextSection; 5] = [
    ContextSection::Tools,
    ContextSection::Head,
    ContextSection::Instructions,
    ContextSection::Environment,
    ContextSection::Conversation,
];

fn headline(sum: u64, used: Option<ContextUse>) -> Line {
    let known = used.map(|used| used.used).filter(|used| *used > 0);
    let tokens = known.unwrap_or(sum);
    let mut text = format!("{} tokens", count(tokens));
    if let Some(window) = used.and_then(|used| used.window) {
        text = format!("{} of {} tokens · {}", count(tokens), count(window), percent(tokens, window));
    }
    if let Some(usable) = used.and_then(|used| used.usable) {
        text.push_str(&format!(" · room is made at {}", count(usable)));
    }
    Line::styled(text, Style::heavy())
}

fn bar(parts: &[ContextPart], whole: u64, cells: usize) -> Line {
    let mut line = Line::default();
    let mut filled = 0;
    let mut before = 0_u64;
    for section in SECTIONS {
        let tokens: u64 = parts.iter().filter(|part| part.section == section).map(|part| part.tokens).sum();
        before = before.saturating_add(tokens);
        let until = usize::try_from(before.saturating_mul(cells as u64) / whole).unwrap_or(cells).min(cells);
        // What is there is seen, however little it is.
        let until = if tokens > 0 { until.max(filled + 1).min(cells) } else { until };
        line.push("█".repeat(until.saturating_sub(filled)), Style::colored(section_color(section)));
        filled = filled.max(until);
    }
    line.with("░".repeat(cells.saturating_sub(filled)), Style::dimmed())
}

fn section_name(section: ContextSection) -> &'static str {
    match section {
        ContextSection::Tools => "tools",
        ContextSection::Head => "head",
        ContextSection::Instructions => "instructions",
        ContextSection::Environment => "environment",
        ContextSection::Conversation => "conversation",
    }
}

fn section_color(section: ContextSection) -> Color {
    match section {
        ContextSection::Tools => Color::Magenta,
        ContextSection::Head => Color::Blue,
        ContextSection::Instructions => Color::Green,
        ContextSection::Environment => Color::Yellow,
        ContextSection::Conversation => Color::Cyan,
    }
}

pub(crate) fn percent(part: u64, whole: u64) -> String {
    format!("{}%", part.saturating_mul(100).checked_div(whole).unwrap_or(0))
}

/// What was changed in a session, file by file in the order of the first change.
pub(crate) fn changes(snapshot: &Snapshot, columns: u16) -> Vec<Line> {
    let mut files: Vec<(String, usize, usize, Vec<Line>)> = Vec::new();
    for entry in &snapshot.entries {
        let EntryBody::CallEnded { result, .. } = &entry.body else { continue };
        if result.status != CallStatus::Completed {
            continue;
        }
        for block in &result.display.blocks {
            let Block::Diff { path, unified, added, removed } = block else { continue };
            let name = path.clone();
            let place = files.iter().position(|(known, ..)| *known == name).unwrap_or_else(|| {
                files.push((name, 0, 0, Vec::new()));
                files.len() - 1
            });
            if let Some((_, plus, minus, lines)) = files.get_mut(place) {
                *plus += added;
                *minus += removed;
                lines.extend(diff::lines(unified, columns, usize::MAX));
            }
        }
    }
    if files.is_empty() {
        return vec![Line::styled("nothing was changed by an edit in this session", Style::dimmed())];
    }
    let mut lines = Vec::new();
    if files.len() > 1 {
        lines.extend(files.iter().map(|(name, plus, minus, _)| change_head(name, *plus, *minus)));
        lines.push(Line::empty());
    }
    for (name, plus, minus, diff) in files {
        lines.push(change_head(&name, plus, minus));
        lines.extend(diff);
    }
    lines
}

fn change_head(name: &str, plus: usize, minus: usize) -> Line {
    Line::styled(one_line(name, 300), Style::heavy())
        .with(format!("  +{plus}"), Style::colored(Color::Green))
        .with(format!(" -{minus}"), Style::colored(Color::Red))
}

/// What the agent said last, to be copied.
pub(crate) fn last_answer(snapshot: &Snapshot) -> Option<String> {
    let items = Transcript::of(&snapshot.entries).items;
    let mut words = Vec::new();
    for item in items.iter().rev() {
        match item {
            Item::Said { kind: PartKind::Text, text, .. } if !text.trim().is_empty() => {
                words.push(text.trim().to_owned());
            }
            // What was said before a call was on the way to the answer.
            Item::User { .. } | Item::Call(_) if !words.is_empty() => break,
            _ => {}
        }
    }
    words.reverse();
    (!words.is_empty()).then(|| words.join("\n\n"))
}

/// A session in figures.
pub(crate) fn stats(snapshot: &Snapshot, columns: u16) -> Vec<Line> {
    let mut tally = Tally::default();
    for entry in &snapshot.entries {
        tally.entry(&entry.body);
    }
    let usage = &snapshot.usage;
    let read = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
    let money = match snapshot.cost {
        Cost::Known { .. } => money(snapshot.cost).unwrap_or_else(|| "nothing".to_owned()),
        Cost::Unknown => "not known".to_owned(),
    };
    let milliseconds = snapshot.info.updated.0.saturating_sub(snapshot.info.created.0);
    let age = std::time::Duration::from_millis(u64::try_from(milliseconds).unwrap_or(0));
    let rows = [
        ("entries", snapshot.info.entries.to_string()),
        ("from first to last", duration(age)),
        ("your messages", tally.messages.to_string()),
        ("steps of models", tally.steps.to_string()),
        ("tokens sent", format!("{} · {} from cache", count(read), percent(usage.cache_read, read))),
        ("tokens written", format!("{} · {} thinking", count(usage.output), count(usage.reasoning))),
        ("money", money),
        ("lines changed", format!("+{} -{} in {} files", tally.added, tally.removed, tally.files.len())),
    ];
    let mut lines: Vec<Line> = rows
        .into_iter()
        .map(|(name, value)| {
            Line::styled(format!("{name:<20} "), Style::dimmed()).with(value, Style::default())
        })
        .collect();
    if !tally.tools.is_empty() {
        lines.extend([Line::empty(), Line::styled("calls", Style::heavy())]);
    }
    let mut tools: Vec<_> = tally.tools.into_iter().collect();
    tools.sort_by(|(one, a), (other, b)| b.calls.cmp(&a.calls).then(one.cmp(other)));
    for (name, tool) in tools {
        let failed = if tool.failed > 0 { format!(" · {} failed", tool.failed) } else { String::new() };
        let took = duration(std::time::Duration::from_millis(tool.milliseconds));
        lines.push(
            Line::plain(format!("{:>5}  {:<14}", tool.calls, one_line(&name, 40)))
                .with(format!(" {took}{failed}"), Style::dimmed()),
        );
    }
    lines.into_iter().map(|line| line.truncated(usize::from(columns), "…")).collect()
}

#[derive(Default)]
struct Tally {
    messages: u64,
    steps: u64,
    added: usize,
    removed: usize,
    files: std::collections::BTreeSet<String>,
    names: BTreeMap<rein_protocol::CallId, String>,
    tools: BTreeMap<String, Tool>,
}

#[derive(Default)]
struct Tool {
    calls: u64,
    failed: u64,
    milliseconds: u64,
}

impl Tally {
    fn entry(&mut self, body: &EntryBody) {
        match body {
            EntryBody::User { .. } => self.messages += 1,
            EntryBody::StepStarted { .. } => self.steps += 1,
            EntryBody::Part { body: rein_protocol::message::AssistantPart::Call(call), .. } => {
                self.names.insert(call.id.clone(), call.tool.clone());
            }
            EntryBody::CallEnded { call, result } => {
                let name = self.names.remove(call).unwrap_or_else(|| "?".to_owned());
                let tool = self.tools.entry(name).or_default();
                tool.calls += 1;
                tool.failed += u64::from(result.status != CallStatus::Completed);
                tool.milliseconds = tool.milliseconds.saturating_add(result.duration_ms);
                for block in &result.display.blocks {
                    if let Block::Diff { path, added, removed, .. } = block {
                        self.files.insert(path.clone());
                        self.added += added;
                        self.removed += removed;
                    }
                }
            }
            _ => {}
        }
    }
}

/// How the machine is.
pub(crate) fn doctor(findings: &[Finding], columns: u16) -> Vec<Line> {
    let mut lines = Vec::new();
    for finding in findings {
        let (mark, style) = match finding.state {
            FindingState::Good => ("✓ ", Style::colored(Color::Green)),
            FindingState::Note => ("· ", Style::colored(Color::Yellow)),
            FindingState::Bad => ("✗ ", Style::colored(Color::Red).bold()),
        };
        let line = Line::styled(mark, style).with(one_line(&finding.what, 1000), Style::default());
        lines.extend(line.wrapped(usize::from(columns), 2));
        if let Some(next) = &finding.next {
            let line = Line::styled(format!("  {}", one_line(next, 1000)), Style::dimmed());
            lines.extend(line.wrapped(usize::from(columns), 2));
        }
    }
    if findings.iter().all(|finding| finding.state != FindingState::Bad) {
        lines.extend([Line::empty(), Line::styled("everything that a run needs is here", Style::dimmed())]);
    }
    lines
}
