//! The status line: the parts that settings name, in their order; what does not
//! fit is left out, the least important first.

use rein_protocol::Mode;

use super::overview::percent;
use super::{count, mode_color, money, one_line};
use crate::editor::VimMode;
use crate::line::{Color, Line, Span, Style};
use crate::model::Model;

macro_rules! parts {
    ($($variant:ident $name:literal $rank:literal $about:literal,)*) => {
        /// A part of the status line.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
        pub enum StatusPart { $(#[doc = $about] $variant,)* }

        impl StatusPart {
            /// Every part, in the order that holds if nobody says otherwise.
            pub const ALL: &[StatusPart] = &[$(StatusPart::$variant,)*];

            /// The name in a file of settings.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(StatusPart::$variant => $name,)* }
            }

            /// The part with a name.
            #[must_use]
            pub fn from_name(name: &str) -> Option<Self> {
                Self::ALL.iter().copied().find(|part| part.name() == name)
            }

            /// A higher one is left out first.
            fn rank(self) -> u8 {
                match self { $(StatusPart::$variant => $rank,)* }
            }
        }
    };
}

parts! {
    Mode "mode" 0 "How much runs without asking.",
    Model "model" 1 "The model that answers.",
    Effort "effort" 6 "How much it thinks, if that was said.",
    Directory "directory" 5 "The name of the directory.",
    Branch "branch" 7 "The branch of the repository.",
    Context "context" 3 "How full the model's window is.",
    Cost "cost" 4 "Money so far.",
    Cache "cache" 8 "How much of what was sent came from a cache.",
    Jobs "jobs" 2 "Commands in the background.",
    Queue "queue" 2 "Messages that wait.",
    Help "help" 9 "How to get help.",
}

/// A piece of the line.
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
    let mut pieces: Vec<Piece> = model.status.iter().filter_map(|part| piece(model, *part)).collect();
    if model.editor.vim_mode() == Some(VimMode::Normal) {
        // Whoever types there does not write: that has to be seen whatever the settings say.
        pieces.insert(0, Piece { rank: 0, text: "NORMAL".to_owned(), style: Style::heavy() });
    }
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

fn piece(model: &Model, part: StatusPart) -> Option<Piece> {
    let (text, style) = match part {
        StatusPart::Mode => (mode_word(model.mode), Style::colored(mode_color(model.mode)).bold()),
        StatusPart::Model => {
            let name = model.model.as_ref().map(|name| one_line(&name.model, 40));
            (name.unwrap_or_else(|| "no model".to_owned()), Style::default())
        }
        StatusPart::Effort => (format!("effort {}", model.effort?.name()), Style::dimmed()),
        StatusPart::Directory => {
            (one_line(&model.workspace.file_name()?.to_string_lossy(), 30), Style::dimmed())
        }
        StatusPart::Branch => (one_line(model.branch.as_ref()?, 30), Style::dimmed()),
        StatusPart::Context => context(model)?,
        StatusPart::Cost => (money(model.cost)?, Style::dimmed()),
        StatusPart::Cache => (cache(model)?, Style::dimmed()),
        StatusPart::Jobs => {
            let jobs = model.jobs.iter().filter(|job| job.state.is_alive()).count();
            let word = if jobs == 1 { "job" } else { "jobs" };
            ((jobs > 0).then(|| format!("{jobs} {word}"))?, Style::default())
        }
        StatusPart::Queue => {
            let waiting = model.queue.len();
            ((waiting > 0).then(|| format!("{waiting} queued"))?, Style::default())
        }
        StatusPart::Help => {
            let idle = model.turn.is_none() && model.editor.is_empty();
            let key = model.bindings.shown(crate::bindings::Deed::Help).filter(|_| idle)?;
            (format!("{key} for help"), Style::dimmed())
        }
    };
    (!text.is_empty()).then(|| Piece { rank: part.rank(), text, style })
}

fn mode_word(mode: Mode) -> String {
    mode.name().to_owned()
}

/// How full the window is; in colours once that matters.
fn context(model: &Model) -> Option<(String, Style)> {
    if model.context == 0 {
        return None;
    }
    let Some(window) = model.window.filter(|window| *window > 0) else {
        return Some((format!("{} tokens", count(model.context)), Style::dimmed()));
    };
    let style = match model.context.saturating_mul(100) / window {
        0..70 => Style::dimmed(),
        70..90 => Style::colored(Color::Yellow),
        _ => Style::colored(Color::Red),
    };
    Some((format!("{} of {}", percent(model.context, window), count(window)), style))
}

fn cache(model: &Model) -> Option<String> {
    let usage = &model.usage;
    let sent = usage.input.saturating_add(usage.cache_read).saturating_add(usage.cache_write);
    (usage.cache_read > 0).then(|| format!("cache {}", percent(usage.cache_read, sent)))
}
