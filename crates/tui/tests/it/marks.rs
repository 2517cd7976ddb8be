//! Lines as text with marks for their styles, for snapshots.

use rein_tui::line::{Line, Style};

/// Rows as text; a styled piece is `{marks:text}`.
pub fn marked(lines: &[Line]) -> String {
    lines.iter().map(|line| row(line) + "\n").collect()
}

/// Rows as plain text.
pub fn plain(lines: &[Line]) -> String {
    lines.iter().map(|line| text(line) + "\n").collect()
}

/// A row as plain text.
pub fn text(line: &Line) -> String {
    line.spans.iter().map(|span| span.text.as_str()).collect()
}

fn row(line: &Line) -> String {
    line.spans
        .iter()
        .map(|span| match marks(&span.style) {
            marks if marks.is_empty() => span.text.clone(),
            marks => format!("{{{marks}:{}}}", span.text),
        })
        .collect()
}

fn marks(style: &Style) -> String {
    let flags = [
        (style.bold, "b"),
        (style.dim, "d"),
        (style.italic, "i"),
        (style.underline, "u"),
        (style.strike, "s"),
    ];
    let mut marks: Vec<String> =
        flags.iter().filter(|(on, _)| *on).map(|(_, mark)| (*mark).to_owned()).collect();
    marks.extend(style.color.map(|color| format!("{color:?}").to_lowercase()));
    marks.extend(style.background.map(|color| format!("on-{color:?}").to_lowercase()));
    marks.extend(style.link.as_ref().map(|link| format!("<{link}>")));
    marks.join(" ")
}
