//! What can be pressed and said, as it holds now.

use crate::bindings::Place;
use crate::editor::Action;
use crate::line::{Color, Line, Style};
use crate::model::Model;
use crate::model::command::TABLE;

const WRITTEN: &[(&str, &str)] = &[
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
    ("up, down, pageup, pagedown", "see more of it"),
    ("esc", "stop the turn"),
];

const LISTS: &[(&str, &str)] = &[
    ("letters", "filter"),
    ("up, down, pageup, pagedown", "point at another"),
    ("enter", "take it"),
    ("ctrl-f, ctrl-r, ctrl-d", "fork, rename, remove, where the last line says so"),
    ("esc", "close"),
];

const TEXTS: &[(&str, &str)] =
    &[("up, down, pageup, pagedown, g, G", "move"), ("/", "search; n next, N previous"), ("esc, q", "close")];

/// Keys and commands.
pub(crate) fn lines(model: &Model) -> Vec<Line> {
    let columns = model.size.columns;
    let mut lines = around(model);
    fixed(&mut lines, "when rein asks", ASKS, columns);
    let commands = TABLE.iter().map(|entry| (format!("/{} {}", entry.name, entry.argument), entry.about));
    section(&mut lines, "commands", commands, columns);
    writing(&mut lines, model);
    fixed(&mut lines, "in lists", LISTS, columns);
    fixed(&mut lines, "in texts", TEXTS, columns);
    lines
}

/// Keys only, with the names that settings have for them.
pub(crate) fn keys(model: &Model) -> Vec<Line> {
    let columns = model.size.columns;
    let mut lines = Vec::new();
    let named = |keys: Vec<String>| if keys.is_empty() { "none".to_owned() } else { keys.join(", ") };
    let deeds = model.bindings.list();
    let around = deeds.into_iter().map(|(deed, keys)| (deed.name(), named(keys), deed.about()));
    let writing = model.editor.keymap().list();
    let writing =
        writing.into_iter().map(|bound| (bound.action.name(), named(bound.keys), bound.action.about()));
    for (title, rows) in [("around the editor", around.collect::<Vec<_>>()), ("writing", writing.collect())] {
        if !lines.is_empty() {
            lines.push(Line::empty());
        }
        lines.push(Line::styled(title, Style::heavy()));
        for (name, keys, about) in rows {
            let line = Line::styled(format!("  {name:<18} "), Style::default())
                .with(format!("{keys:<24} "), Style::colored(Color::Cyan))
                .with(about, Style::dimmed());
            lines.extend(line.wrapped(usize::from(columns), below(columns, 46)));
        }
    }
    lines.push(Line::empty());
    let how = "In settings: [keys] transcript = [\"f2\"] gives an action other keys, an empty list none. \
               vim = true edits as vi does.";
    lines.extend(Line::styled(how, Style::dimmed()).wrapped(usize::from(columns), 0));
    lines
}

fn around(model: &Model) -> Vec<Line> {
    let mut lines = Vec::new();
    let deeds = model.bindings.list().into_iter().filter(|(_, keys)| !keys.is_empty());
    let rows = deeds.map(|(deed, keys)| {
        let twice = deed.place() == Place::Empty && deed == crate::bindings::Deed::Earlier;
        let key = keys.join(", ");
        (if twice { format!("{key} {key}") } else { key }, deed.about())
    });
    let written = WRITTEN.iter().map(|(key, about)| ((*key).to_owned(), *about));
    section(&mut lines, "keys", rows.chain(written), model.size.columns);
    lines
}

fn writing(lines: &mut Vec<Line>, model: &Model) {
    // Cancelling is told above, where it has more than one meaning.
    let bindings =
        model.editor.keymap().list().into_iter().filter(|binding| binding.action != Action::Cancel);
    let rows = bindings.filter(|binding| !binding.keys.is_empty());
    section(
        lines,
        "writing",
        rows.map(|binding| (binding.keys.join(", "), binding.action.about())),
        model.size.columns,
    );
}

/// Where the rest of a row goes on: below its last column, if there is room for words.
fn below(columns: u16, column: usize) -> usize {
    if usize::from(columns) >= column * 2 { column } else { 6 }
}

fn fixed(lines: &mut Vec<Line>, title: &str, rows: &[(&str, &'static str)], columns: u16) {
    section(lines, title, rows.iter().map(|(key, about)| ((*key).to_owned(), *about)), columns);
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
        lines.extend(line.wrapped(usize::from(columns), below(columns, 31)));
    }
}
