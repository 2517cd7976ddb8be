//! A session as a document.

use std::io::{self, Write};

use rein_protocol::Snapshot;
use rein_protocol::event::PartKind;
use rein_protocol::transcript::{CallItem, Item, PersonRun, Transcript};

use super::moment;
use super::show::{details, headline, words};
use crate::terminal::one_line;

/// Writes a session as a document.
pub fn write(snapshot: &Snapshot, out: &mut dyn Write) -> io::Result<()> {
    let info = &snapshot.info;
    writeln!(out, "# {}\n", one_line(&info.title, 120))?;
    writeln!(out, "- session: `{}`", info.id)?;
    writeln!(out, "- directory: `{}`", info.workspace.display())?;
    if let Some(model) = &info.model {
        writeln!(out, "- model: `{model}`")?;
    }
    writeln!(out, "- last used: {}", moment(info.updated))?;
    for item in &Transcript::of(&snapshot.entries).items {
        write_item(item, out)?;
    }
    Ok(())
}

fn write_item(item: &Item, out: &mut dyn Write) -> io::Result<()> {
    match item {
        Item::User { content, .. } => writeln!(out, "\n## You\n\n{}", words(content).trim_end()),
        Item::Said { kind: PartKind::Text, text, .. } => writeln!(out, "\n## Agent\n\n{}", text.trim()),
        Item::Said { .. } => Ok(()),
        Item::Call(call) => write_call(call, out),
        Item::Ended { stop, message } => {
            let message = message.as_deref().map(|message| format!(": {message}")).unwrap_or_default();
            writeln!(out, "\n*The turn ended ({}){message}*", stop.name())
        }
        Item::Travelled => writeln!(out, "\n---\n\n*Went to another place of the session.*"),
        Item::PersonRan(run) => write_run(run, out),
        Item::Recovered { message } => writeln!(out, "\n*{message}*"),
        Item::Compacted(compaction) => {
            writeln!(
                out,
                "\n---\n\n*Compacted: from here on the model is sent this in place of what is above.*"
            )?;
            writeln!(out, "\n{}\n\n---", compaction.summary.trim())
        }
    }
}

fn write_call(call: &CallItem, out: &mut dyn Write) -> io::Result<()> {
    let (title, outcome) = headline(call);
    writeln!(out, "\n### {}{outcome}", one_line(&title, 120))?;
    for detail in details(call) {
        let (fence, text) = (fence_around(&detail.text), detail.text.trim_end_matches('\n'));
        writeln!(out, "\n{fence}{}\n{text}\n{fence}", detail.language)?;
    }
    Ok(())
}

fn write_run(run: &PersonRun, out: &mut dyn Write) -> io::Result<()> {
    let printed = run.result.as_ref().map_or(run.output.clone(), |result| words(&result.content));
    let fence = fence_around(&printed);
    writeln!(out, "\n## You ran `{}`\n", one_line(&run.command, 120))?;
    writeln!(out, "{fence}\n{}\n{fence}", printed.trim_end_matches('\n'))
}

/// A fence that the text cannot close.
fn fence_around(text: &str) -> String {
    let longest = text.split(|character| character != '`').map(str::len).max().unwrap_or(0);
    "`".repeat(longest.max(2) + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fence_is_longer_than_any_inside() {
        assert_eq!(fence_around("plain"), "```");
        assert_eq!(fence_around("a ```` b ``"), "`````");
    }
}
