//! What can be pressed and said, and what runs in the background.

use rein_protocol::JobInfo;

use super::one_line;
use crate::editor::Action;
use crate::line::{Color, Line, Style};
use crate::model::Model;
use crate::model::command::TABLE;

const KEYS: &[(&str, &str)] = &[
    ("esc", "interrupt"),
    ("ctrl-c", "clear; interrupt; twice: quit"),
    ("ctrl-d", "quit, when nothing is written"),
    ("shift-tab", "next mode: tight, write, plan"),
    ("ctrl-o", "the whole session, to read and search"),
    ("ctrl-t", "thoughts whole, or a line of each"),
    ("ctrl-l", "draw again"),
    ("ctrl-z", "suspend"),
    ("?", "this, when nothing is written"),
    ("@", "a file"),
    ("/", "a command"),
    ("!", "a command of your own, run with your own rights"),
    ("#", "a line that every later session knows"),
];

const ASKS: &[(&str, &str)] = &[
    ("y", "yes, this once"),
    ("a", "always: shows the pattern and where it holds; both can be changed"),
    ("n", "no; the turn ends"),
    ("N", "no, with words: rein goes on with them"),
    ("Up, Down, PgUp, PgDn", "see more of it"),
    ("Esc", "stop the turn"),
];

/// Keys and commands.
pub(crate) fn lines(model: &Model) -> Vec<Line> {
    let columns = model.size.columns;
    let mut lines = Vec::new();
    section(&mut lines, "keys", KEYS.iter().map(|(key, about)| ((*key).to_owned(), *about)), columns);
    section(
        &mut lines,
        "when rein asks",
        ASKS.iter().map(|(key, about)| ((*key).to_owned(), *about)),
        columns,
    );
    let commands = TABLE.iter().map(|entry| (format!("/{} {}", entry.name, entry.argument), entry.about));
    section(&mut lines, "commands", commands, columns);
    // Cancelling is told above, where it has more than one meaning.
    let bindings =
        model.editor.keymap().list().into_iter().filter(|binding| binding.action != Action::Cancel);
    let writing = bindings.map(|binding| (binding.keys.join(", "), binding.action.about()));
    section(&mut lines, "writing", writing, columns);
    lines
}

fn section<'a>(
    lines: &mut Vec<Line>,
    title: &str,
    rows: impl Iterator<Item = (String, &'a str)>,
    columns: u16,
) {
    if !lines.is_empty() {
        lines.push(Line::empty());
    }
    lines.push(Line::styled(title, Style::heavy()));
    for (key, about) in rows {
        let line =
            Line::styled(format!("  {key:<28} "), Style::colored(Color::Cyan)).with(about, Style::default());
        lines.extend(line.wrapped(usize::from(columns), 6));
    }
}

/// Commands in the background.
pub(crate) fn jobs(jobs: &[JobInfo], columns: u16) -> Vec<Line> {
    if jobs.is_empty() {
        return vec![Line::styled("no command runs in the background", Style::dimmed())];
    }
    jobs.iter()
        .map(|job| {
            let style = if job.state.is_alive() { Style::colored(Color::Cyan) } else { Style::dimmed() };
            Line::styled(format!("{} ", job.id), style)
                .with(one_line(&job.command, 300), Style::default())
                .with(format!(" · {} · {} bytes", job.state, job.output_bytes), Style::dimmed())
                .truncated(usize::from(columns), "…")
        })
        .collect()
}
