//! The status line: what fits of it, the least important left out first.

use super::{count, mode_color, money, one_line};
use crate::line::{Line, Span, Style};
use crate::model::Model;

/// A piece of the line; a higher rank is left out first.
struct Piece {
    rank: u8,
    text: String,
    style: Style,
}

/// The line.
pub(super) fn line(model: &Model) -> Line {
    let columns = usize::from(model.size.columns);
    if let Some((text, _)) = &model.remark {
        return Line::styled(one_line(text, columns), Style::default());
    }
    let mut pieces = pieces(model);
    while width(&pieces) > columns && pieces.len() > 1 {
        let Some(worst) = (0..pieces.len()).max_by_key(|index| pieces.get(*index).map(|piece| piece.rank))
        else {
            break;
        };
        pieces.remove(worst);
    }
    let mut line = Line::default();
    for (index, piece) in pieces.into_iter().enumerate() {
        if index > 0 {
            line.push(" · ", Style::dimmed());
        }
        line.spans.push(Span::new(piece.text, piece.style));
    }
    line.truncated(columns, "…")
}

fn width(pieces: &[Piece]) -> usize {
    pieces.iter().map(|piece| crate::line::width(&piece.text)).sum::<usize>()
        + 3 * pieces.len().saturating_sub(1)
}

fn pieces(model: &Model) -> Vec<Piece> {
    let mut pieces = Vec::new();
    let mut put = |rank: u8, text: String, style: Style| {
        if !text.is_empty() {
            pieces.push(Piece { rank, text, style });
        }
    };
    put(0, model.mode.name().to_owned(), Style::colored(mode_color(model.mode)).bold());
    let name = model.model.as_ref().map(|name| one_line(&name.model, 40));
    put(1, name.unwrap_or_else(|| "no model".to_owned()), Style::default());
    let directory = model.workspace.file_name().map(|name| one_line(&name.to_string_lossy(), 30));
    put(4, directory.unwrap_or_default(), Style::dimmed());
    if model.context > 0 {
        put(3, format!("{} tokens", count(model.context)), Style::dimmed());
    }
    put(5, money(model.cost).unwrap_or_default(), Style::dimmed());
    let jobs = model.jobs.iter().filter(|job| job.state.is_alive()).count();
    if jobs > 0 {
        put(2, format!("{jobs} {}", if jobs == 1 { "job" } else { "jobs" }), Style::default());
    }
    if !model.queue.is_empty() {
        put(2, format!("{} queued", model.queue.len()), Style::default());
    }
    if model.turn.is_none() && model.editor.is_empty() {
        put(9, "? for help".to_owned(), Style::dimmed());
    }
    pieces
}
