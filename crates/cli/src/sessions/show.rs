//! `rein sessions show`: what was said and done, for a person.

use std::io::{self, Write};

use rein_protocol::event::PartKind;
use rein_protocol::transcript::{CallItem, Item, Transcript};
use rein_protocol::{Block, CallStatus, Content, Snapshot, Tier, TodoList};

use super::{Form, moment};
use crate::error::CommandError;
use crate::headless::dollars;
use crate::stdout;
use crate::terminal::{Ink, Target, neutralise, one_line};

const WIDTH: usize = 100;
/// How much is shown of what a call printed.
const LINES: usize = 20;

pub(super) fn show(snapshot: &Snapshot, form: Form) -> Result<(), CommandError> {
    match form {
        Form::Json => stdout::print_json(snapshot),
        Form::Text => {
            let target = Target::of(&io::stdout());
            stdout::print(|out| write(snapshot, target.ink(), out))
        }
    }
}

/// The transcript. Everything in it is untrusted, so escapes are made visible whoever reads.
fn write(snapshot: &Snapshot, ink: Ink, out: &mut dyn Write) -> io::Result<()> {
    let info = &snapshot.info;
    writeln!(out, "{} {}", ink.bold("session"), info.id)?;
    writeln!(out, "  directory  {}", one_line(&info.workspace.display().to_string(), 200))?;
    if let Some(model) = &info.model {
        writeln!(out, "  model      {}", one_line(&model.to_string(), WIDTH))?;
    }
    writeln!(out, "  mode       {}", info.mode.name())?;
    writeln!(out, "  last used  {}", moment(info.updated))?;
    writeln!(
        out,
        "  tokens     {} in, {} out",
        snapshot.usage.total() - snapshot.usage.output,
        snapshot.usage.output
    )?;
    match dollars(snapshot.cost) {
        Some(cost) => writeln!(out, "  cost       ${cost:.4}")?,
        None => writeln!(out, "  cost       unknown")?,
    }
    for item in &Transcript::of(&snapshot.entries).items {
        write_item(item, ink, out)?;
    }
    Ok(())
}

fn write_item(item: &Item, ink: Ink, out: &mut dyn Write) -> io::Result<()> {
    match item {
        Item::User { content, .. } => {
            writeln!(out)?;
            for line in neutralise(&words(content)).lines() {
                writeln!(out, "{}", ink.bold(&format!("> {line}")))?;
            }
            Ok(())
        }
        Item::Said { kind: PartKind::Text, text, .. } => writeln!(out, "\n{}", neutralise(text.trim())),
        Item::Said { kind: PartKind::Reasoning, text, .. } if !text.trim().is_empty() => {
            writeln!(out)?;
            neutralise(text.trim())
                .lines()
                .try_for_each(|line| writeln!(out, "{}", ink.dim(&format!("~ {line}"))))
        }
        Item::Said { .. } => Ok(()),
        Item::Call(call) => write_call(call, ink, out),
        Item::Ended { stop, message } => {
            let message =
                message.as_deref().map(|message| format!(": {}", one_line(message, 300))).unwrap_or_default();
            writeln!(out, "\n{}", ink.yellow(&format!("[{}{message}]", stop.name())))
        }
        Item::Travelled => writeln!(out, "\n{}", ink.dim("── went to another place of the session ──")),
        Item::PersonRan(run) => {
            writeln!(out, "\n{}", ink.bold(&format!("$ {}", one_line(&run.command, WIDTH))))?;
            let printed = run.result.as_ref().map_or(run.output.clone(), |result| words(&result.content));
            neutralise(printed.trim_end()).lines().try_for_each(|line| writeln!(out, "  {line}"))
        }
        Item::Recovered { message } => {
            writeln!(out, "\n{}", ink.yellow(&format!("[{}]", one_line(message, 300))))
        }
        Item::Compacted(compaction) => {
            let (before, after) = (compaction.tokens_before, compaction.tokens_after);
            writeln!(out, "\n{}", ink.dim(&format!("── compacted: {before} tokens, now {after} ──")))
        }
    }
}

fn write_call(call: &CallItem, ink: Ink, out: &mut dyn Write) -> io::Result<()> {
    let (title, outcome) = headline(call);
    let mark = match call.result.as_ref().map(|result| result.status) {
        Some(CallStatus::Completed) => ink.green("✓"),
        Some(_) => ink.red("✗"),
        None => ink.yellow("…"),
    };
    writeln!(out, "\n{mark} {}{}", one_line(&title, WIDTH), ink.dim(&outcome))?;
    let text = details(call).into_iter().map(|detail| detail.text).collect::<Vec<String>>().join("\n");
    let shown = neutralise(text.trim_end());
    for line in shown.lines().take(LINES) {
        writeln!(out, "    {}", ink.dim(line))?;
    }
    match shown.lines().count().saturating_sub(LINES) {
        0 => Ok(()),
        more => writeln!(out, "    {}", ink.dim(&format!("… {more} more lines"))),
    }
}

/// Something about a call that is worth reading.
pub(super) struct Detail {
    /// What a Markdown fence is labelled with.
    pub(super) language: &'static str,
    pub(super) text: String,
}

/// What a call changed, printed or failed with. What it only read is left out.
pub(super) fn details(call: &CallItem) -> Vec<Detail> {
    let Some(result) = &call.result else { return Vec::new() };
    let mut details: Vec<Detail> = Vec::new();
    for block in &result.display.blocks {
        details.push(match block {
            Block::Text { text } => Detail { language: "text", text: text.clone() },
            Block::Diff { unified, .. } => Detail { language: "diff", text: unified.clone() },
            // The title has it already, and what it printed is below.
            Block::Command { .. } => continue,
            Block::Todo { items } => {
                Detail { language: "text", text: TodoList { items: items.clone() }.to_string() }
            }
        });
    }
    let executed = call.started.as_ref().is_some_and(|intent| intent.tier() == Tier::Exec);
    if executed || (result.status.is_error() && details.is_empty()) {
        details.push(Detail { language: "text", text: words(&result.content) });
    }
    details
}

/// What a call was about and what came of it.
pub(super) fn headline(call: &CallItem) -> (String, String) {
    match (&call.result, &call.started) {
        (Some(result), _) => {
            let status = match result.status {
                CallStatus::Completed => None,
                CallStatus::Failed => Some("failed"),
                CallStatus::Refused => Some("refused"),
                CallStatus::Rejected => Some("rejected"),
                CallStatus::Interrupted => Some("interrupted"),
                CallStatus::NotRun => Some("not run"),
                CallStatus::Withheld => Some("withheld"),
                CallStatus::Unknown => Some("effects unknown"),
            };
            let summary = result.display.summary.as_deref().map(|summary| one_line(summary, WIDTH));
            let summary = summary.as_deref().filter(|summary| Some(*summary) != status);
            let outcome: Vec<&str> = status.into_iter().chain(summary).collect();
            let outcome =
                if outcome.is_empty() { String::new() } else { format!("  ({})", outcome.join(", ")) };
            (result.display.title.clone(), outcome)
        }
        (None, Some(intent)) => (intent.display.title.clone(), "  (no result)".to_owned()),
        (None, None) => (call.tool.clone(), "  (not begun)".to_owned()),
    }
}

/// What a person said, as text.
pub(super) fn words(content: &[Content]) -> String {
    let pieces: Vec<String> = content
        .iter()
        .map(|piece| match piece {
            Content::Text { text } => text.clone(),
            Content::Image { media_type, .. } => format!("[{media_type}]"),
        })
        .collect();
    pieces.join("\n")
}
